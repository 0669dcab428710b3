"""Lecture 004, the update rule: least squares (LMS) and logistic regression have one rule with two h.

    θ ← θ + α (y − h(x)) x        LMS: h(x) = θᵀx        logistic regression: h(x) = g(θᵀx)

Left: why the sigmoid is needed: a line of least squares leaves [0, 1], and one far row turns it. Right: θ after each
pass of both rules over the same three rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from deciban import LeastSquaresClassifier, LogisticRegression, sigmoid

# One pass over three rows, by the rule itself and by the classifiers. The first column is x₀ = 1.
X, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([0, 0, 1])
alpha = 0.1
for name, h in {"LMS": float, "logistic": sigmoid}.items():
    theta = np.zeros(2)
    for row, label in zip(X, y, strict=True):
        theta = theta + alpha * (label - h(row @ theta)) * row
    print(f"{name:<9} by hand {theta.round(5)}")

rule = {"solver": "online", "learning_rate": alpha, "fit_intercept": False, "max_iter": 40, "tol": 0, "history": True}
models = {
    "LMS, h = θᵀx": LeastSquaresClassifier(**rule).fit(X, y),
    "logistic, h = g(θᵀx)": LogisticRegression(C=np.inf, **rule).fit(X, y),
}
first = {name: model.history_.parameters[1] for name, model in models.items()}
for name, theta in first.items():
    print(f"{name:<22} first pass {theta.round(5)}")

# A line through 0/1 labels: outside of [0, 1] far from the rows, and turned by one row that is certain anyway.
x, label = np.array([-3.0, -2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 3.0, 16.0]), np.array([0, 0, 0, 0, 1, 1, 1, 1, 1])
near, far = slice(0, 8), slice(0, 9)
lines = {"line": near, "line, with the row at 16": far}
fits = {name: LeastSquaresClassifier().fit(x[some, None], label[some]) for name, some in lines.items()}
curve = LogisticRegression().fit(x[:, None], label)
at = np.array([[-3.0], [0.6], [30.0]])
response = {name: fit.response(at) for name, fit in fits.items()}
proba = curve.predict_proba(at)[:, 1]
print("\nx              ", at[:, 0])
for name, value in {**response, "logistic curve": proba}.items():
    print(f"{name:<26}", value.round(3))

figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 4.4), layout="constrained")
grid = np.linspace(-5, 18, 300)[:, None]
left.axhspan(0, 1, color="0.93", zorder=0)
for (name, fit), colour, dashes in zip(fits.items(), ("#0072B2", "#D55E00"), ("-", "--"), strict=True):
    left.plot(grid, fit.response(grid), color=colour, ls=dashes, label=name)
left.plot(grid, curve.predict_proba(grid)[:, 1], color="#009E73", ls="-.", label="logistic curve, with it")
left.plot(x, label, "o", color="black", ms=5)
left.set(xlabel="x", ylabel="h(x)", ylim=(-1, 2), title="a line leaves [0, 1]")
left.legend(frameon=False, loc="lower right")
for (name, model), colour, marker in zip(models.items(), ("#0072B2", "#009E73"), ("o", "s"), strict=True):
    right.plot(*model.history_.parameters.T, color=colour, marker=marker, ms=4, label=name)
right.annotate("start", (0, 0), (8, -3), textcoords="offset points")
right.set(xlabel="θ₀", ylabel="θ₁", xlim=(-1.7, 0.5), title="θ after each of 40 passes, α = 0.1")
right.set_xticks([-1.5, -1.0, -0.5, 0.0, 0.5])
right.legend(frameon=False)

if __name__ == "__main__":
    plt.show()
