"""Lecture 001, QDA: more parameters mean less bias and more variance; LDA against QDA by the number of rows.

Two normal classes in six dimensions. Left: one covariance, as LDA assumes; QDA estimates 21 numbers more, loses with
few rows and is as good with many. Right: the second class has deviations of 1.6; LDA is biased, more rows do not help,
and QDA overtakes it.
"""

import matplotlib.pyplot as plt
import numpy as np

from deciban import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, learning_curve

n, d = 3000, 6
y = np.repeat([0, 1], n // 2)
normal = np.random.default_rng(0).normal(size=(n, d))
second = y[:, None] == 1
tables = {
    "one covariance": normal + 0.6 * second,
    "two covariances": np.where(second, 1.6 * normal + 0.8, normal),
}
models = {"LDA": LinearDiscriminantAnalysis(), "QDA": QuadraticDiscriminantAnalysis()}
sizes = [20, 40, 100, 300, 1000, 2000]
curves = {
    (title, name): learning_curve(model, X, y, sizes) for title, X in tables.items() for name, model in models.items()
}

n_parameters = [model.fit(normal, y).n_parameters_ for model in models.values()]
print(f"parameters: LDA {n_parameters[0]}, QDA {n_parameters[1]}")
print("held-out accuracy by rows" + "".join(f"{size:>8}" for size in sizes))
for (title, name), curve in curves.items():
    print(f"{title + ', ' + name:<25}" + "".join(f"{share:8.3f}" for share in curve.mean()))

figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharey=True)
for ax, title in zip(axes, tables, strict=True):
    for name in models:
        curves[title, name].plot(ax, label=name)
    ax.set_title(f"{title}: mean ± deviation of 5 repeats", loc="left", fontsize=10.5)
    ax.label_outer()

if __name__ == "__main__":
    plt.show()
