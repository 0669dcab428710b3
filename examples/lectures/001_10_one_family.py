"""Lecture 001, Gaussian naive Bayes: LDA, QDA and naive Bayes are one family of normal densities.

One covariance for all classes: LDA. An own one for each: QDA. Own ones that are diagonal: Gaussian naive Bayes. One
that is diagonal: naive Bayes with shared variances, whose posterior is linear again. A model that is a special case of
another has no larger log-likelihood of the sample. Irises; the picture is of petal length and width.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from deciban import GaussianNB, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, plots

flowers = load_iris(as_frame=True)
X, y = flowers.data, flowers.target_names[flowers.target]
models = {
    "QDA: own Σ": QuadraticDiscriminantAnalysis(),
    "LDA: one Σ": LinearDiscriminantAnalysis(),
    "naive Bayes: own diagonal Σ": GaussianNB(),
    "naive Bayes: one diagonal Σ": GaussianNB(variances="shared"),
}
log_likelihood, n_parameters = {}, {}
for name, model in models.items():
    log_likelihood[name] = model.fit(X, y).log_likelihood(X, y)
    n_parameters[name] = model.n_parameters_
    right = 100 * model.score(X, y)
    print(f"{name:<30}log L = {log_likelihood[name]:9.4f}, {n_parameters[name]:3} parameters, {right:.1f} % right")

# The diagonal of QDA is naive Bayes.
diagonal = QuadraticDiscriminantAnalysis(diagonal=True).fit(X, y)
difference = abs(diagonal.predict_proba(X) - models["naive Bayes: own diagonal Σ"].predict_proba(X)).max()
print(f"QDA(diagonal=True) differs from naive Bayes by {difference:.1e}")

# Shared variances: linear, with w = Σ⁻¹(μ₂ − μ₁). Versicolor and virginica alone:
two = y != "setosa"
linear = GaussianNB(variances="shared").fit(X[two], y[two]).as_logistic(of="virginica")
print(linear)

petals = X[["petal length (cm)", "petal width (cm)"]]
figure, axes = plt.subplots(2, 2, figsize=(9.5, 5), layout="constrained", sharex=True, sharey=True)
for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
    drawn = type(model)(**model.get_params()).fit(petals, y)
    plots.decision_regions(drawn, petals, y, ax, title=name)
    ax.label_outer()
    ax.get_legend().remove()
axes[0, 0].legend(loc="lower right", frameon=False, fontsize=8.5)

if __name__ == "__main__":
    plt.show()
