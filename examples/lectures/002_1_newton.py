"""Lecture 002, Newton's method: w ← w − H⁻¹∇E of the cross-entropy E(w), from a good start and from a bad one.

Two irises (versicolor and virginica) by sepal length and width. Above: E over both coefficients with the steps on it
(the lecture's figure of Newton's method); below: the same runs by iteration. The method is not guaranteed to converge:
from (3, 3, 3) the first step ends at coefficients of 10¹², unless a line search shortens it.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from deciban import LogisticRegression, plots

flowers = load_iris(as_frame=True)
two = flowers.target > 0
X, y = flowers.data.loc[two].iloc[:, :2], flowers.target[two]
X.columns = ["sepal length", "sepal width"]

# From zeros: quadratic convergence, the gradient is of the order of rounding after five steps.
newton = {"C": np.inf, "solver": "newton", "history": True}
good = LogisticRegression(tol=0, max_iter=7, **newton).fit(X, y)
print("from zeros:", good.history_, sep="\n", end="\n\n")

# One step by hand, from E's gradient and Hessian at w = 0.
error = good.objective(X, y)
w = np.zeros(3)
by_hand = w - np.linalg.solve(error.hessian(w), error.slope(w)[1])
print("first step by hand:", by_hand.round(4), end="\n\n")

# From (3, 3, 3) all rows are at the flat end of the sigmoid: H is nearly singular, and H⁻¹∇E is a huge step.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)  # the divergence that is shown here
    bad = LogisticRegression(line_search=False, init=[3, 3, 3], **newton).fit(X, y)
print("from (3, 3, 3), plain steps:", bad.history_, sep="\n", end="\n\n")

# A line search shortens the steps until E falls: the same start ends at the minimum.
damped = LogisticRegression(init=[3, 3, 3], **newton).fit(X, y)
print("from (3, 3, 3), line search:", damped.history_, sep="\n")

# The picture: columns less their means, so that the intercept stays near 0 and a plane of two coefficients shows E.
centred = X - X.mean()
settings = {
    "from zeros": {},
    "from (4, 4, 0), line search": {"init": [4, 4, 0]},
    "from (4, 4, 0), plain": {"init": [4, 4, 0], "line_search": False},
}
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)
    runs = {name: LogisticRegression(**newton, **one).fit(centred, y) for name, one in settings.items()}

figure, (above, below) = plt.subplots(2, 1, figsize=(8, 8), layout="constrained", height_ratios=[3, 2])
plots.error_surface(runs, centred, y, above, limits=((-3, 7), (-6, 8)))
above.set_title("E over two coefficients", loc="left", fontsize=10.5)
plots.training(runs, below)
below.get_legend().remove()
below.set_title("log-likelihood −E by iteration", loc="left", fontsize=10.5)

if __name__ == "__main__":
    plt.show()
