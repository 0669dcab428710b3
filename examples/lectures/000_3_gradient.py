"""Gradient ascent, step by step, and what a too large step does (lecture 000, section 7.2, eq 7.13 to 7.23).

Batch rule: θ ← θ + α Σ (y − h(x)) x over all rows. Per-example rule: θ ← θ + α (y − h(x)) x, row after row. With
line_search=False the steps are the plain rule with the learning rate α, and history=True keeps each of them.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from deciban import LogisticRegression, plots

warnings.simplefilter("ignore", ConvergenceWarning)  # the rules below stop after a given number of steps

# three rows (the first column is the constant 1), three batch steps and one pass of the per-example rule, from θ = 0
X, y = [[1, 0], [1, 1], [1, 2]], [0, 0, 1]
rule = {"C": np.inf, "fit_intercept": False, "learning_rate": 0.1, "history": True}
batch = LogisticRegression(solver="gradient", line_search=False, max_iter=3, **rule).fit(X, y)
online = LogisticRegression(solver="online", max_iter=1, **rule).fit(X, y)
print(batch.history_)
print("one pass of the per-example rule:", online.coef_[0].round(6))

# the way to the maximum on another three rows, whose classes overlap
overlap = [[1, 0], [1, 1], [1, 2]], [0, 1, 0]
long = {
    "batch": LogisticRegression(solver="gradient", line_search=False, max_iter=200, **rule).fit(*overlap),
    "per example": LogisticRegression(solver="online", max_iter=200, **rule).fit(*overlap),
}
surface = plots.error_surface(long, *overlap)
surface.set(xlabel="θ0", ylabel="θ1")
surface.set_title("−l(θ), and 200 steps of both rules, α = 0.1", loc="left", fontsize=10.5)

# three learning rates on two kinds of iris: too small, right, too large
sepals, kinds = load_iris().data[50:, :2], load_iris().target[50:]
rates = {
    f"α = {α:g}": LogisticRegression(
        C=np.inf, solver="gradient", learning_rate=α, line_search=False, max_iter=400, history=True
    ).fit(sepals, kinds)
    for α in (0.0001, 0.0015, 0.01)
}
steps = {name: model.history_.log_likelihood for name, model in rates.items()}
for name, values in steps.items():
    print(f"{name}: l = {', '.join(f'{value:.1f}' for value in values[:5])}, …")
ax = plots.training(rates)
ax.set(ylim=(-75, -64))
ax.set_title("Three learning rates; with α = 0.01, l falls below −700", loc="left", fontsize=10.5)

if __name__ == "__main__":
    plt.show()
