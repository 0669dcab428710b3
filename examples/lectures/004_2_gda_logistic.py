"""Lecture 004, GDA and logistic regression: which is better by number of rows, and when the assumptions are wrong.

Left: two normal classes with one covariance in eight dimensions, as GDA assumes. GDA needs fewer rows than logistic
regression without penalty, whose maximum is at infinity where 20 rows are separated; a penalty removes that difference.
With many rows none is better. Right: 15 % of one class is moved far away, to its own side of the boundary. The normal
density of that class no longer fits, while logistic regression only needs the boundary.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from deciban import LinearDiscriminantAnalysis, LogisticRegression, SeparationWarning, learning_curve

# GDA as a generative model: y ~ Bernoulli(1/2), x | y ~ N(μ_y, I).
shift = np.full(8, 0.7)
source = LinearDiscriminantAnalysis.from_parameters(means=[0 * shift, shift], covariance=np.eye(8))
X, y = source.sample(4000, random_state=0)
moved = (y == 1) & (np.random.default_rng(0).random(4000) < 0.15)
outliers = X + moved[:, None] * 25 / np.sqrt(8)  # away from the other class, and so on the right side

models = {
    "GDA": LinearDiscriminantAnalysis(),
    "logistic regression, no penalty": LogisticRegression(C=np.inf),
    "logistic regression, C = 1": LogisticRegression(),
}
sizes = [20, 50, 100, 200, 500, 2000]
curves, wrong = {}, {}
with warnings.catch_warnings():
    warnings.simplefilter("ignore", SeparationWarning)  # of samples of 20 rows
    for name, model in models.items():
        curves[name] = learning_curve(model, X, y, sizes, repeats=10)
        wrong[name] = learning_curve(model, outliers, y, sizes, repeats=10)

print("held-out accuracy by rows " + "".join(f"{n:>8}" for n in sizes))
for title, found in {"assumptions hold": curves, "15 % of a class moved": wrong}.items():
    print(title)
    for name, curve in found.items():
        print(f"  {name:<32}" + "".join(f"{value:8.3f}" for value in curve.mean()))

figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 4.4), layout="constrained", sharey=True)
for ax, found, title in (
    (left, curves, "normal classes, one covariance"),
    (right, wrong, "15 % of a class moved by 25"),
):
    for name, curve in found.items():
        curve.plot(ax, label=name)
    ax.set_title(title, loc="left", fontsize=10.5)
left.set_ylabel("held-out accuracy, mean ± deviation of 10 repeats")
right.set_ylabel("")
right.get_legend().remove()

if __name__ == "__main__":
    plt.show()
