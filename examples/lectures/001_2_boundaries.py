"""Lecture 001, Fig 4.1 and 4.6: linear boundaries, and two ways to quadratic ones.

Three normal classes with different covariances. LDA in (x₁, x₂) has linear boundaries (Fig 4.1 left). LDA in the five
columns x₁, x₂, x₁x₂, x₁², x₂² is linear there and quadratic in the plane (Fig 4.1 right, 4.6 left). QDA has an own
covariance for each class (Fig 4.6 right). The last two differ little.
"""

import matplotlib.pyplot as plt
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from deciban import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, datasets, plots

X, y = datasets.three_classes()
models = {
    "LDA": LinearDiscriminantAnalysis(),
    "LDA in five dimensions": make_pipeline(PolynomialFeatures(2, include_bias=False), LinearDiscriminantAnalysis()),
    "QDA": QuadraticDiscriminantAnalysis(),
}
accuracy = {name: model.fit(X, y).score(X, y) for name, model in models.items()}
lda, coded, qda = models.values()
alike = (coded.predict(X) == qda.predict(X)).mean()

# Free parameters: means, covariances and K − 1 priors.
n_parameters = [lda.n_parameters_, coded[-1].n_parameters_, qda.n_parameters_]
for (name, share), count in zip(accuracy.items(), n_parameters, strict=True):
    print(f"{name:<24}training accuracy {share:.4f}, {count} parameters")
print(f"LDA in five dimensions and QDA agree in {100 * alike:.1f} % of the rows")

figure, axes = plt.subplots(1, 3, figsize=(10, 4), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    plots.decision_regions(model, X, y, ax, contours=False, title=f"{name}: {100 * accuracy[name]:.1f} % right")
    ax.set(xlabel="x₁", ylabel="x₂")
    ax.label_outer()
for ax in axes[:-1]:
    ax.get_legend().remove()

if __name__ == "__main__":
    plt.show()
