"""Two normal classes with one covariance have a line as boundary (lecture 000, figure 7.2A, eq 7.35 to 7.43).

The log odds are a + w·x with w = Σ⁻¹(μ_l − μ_k) and a = −½ (μ_k + μ_l)·w + log(φ_l / φ_k). The boundary a + w·x = 0 is
at a right angle to w, which is in general not the direction from one mean to the other.
"""

import matplotlib.pyplot as plt
import numpy as np

from deciban import LinearDiscriminantAnalysis, LogisticRegression, datasets, plots

X, y = datasets.two_gaussians()
lda = LinearDiscriminantAnalysis().fit(X, y)
φ, μ, Σ = lda.class_prior_, lda.means_, lda.covariance_
print("φ =", φ, " μ =", μ.round(3).tolist(), " Σ =", Σ.round(3).tolist())

# w and a by the formulas, and those of the model
w = np.linalg.solve(Σ, μ[1] - μ[0])
a = -w @ (μ[0] + μ[1]) / 2 + np.log(φ[1] / φ[0])
print(f"w = {w.round(6)}, a = {a:.6f};  coef_ = {lda.coef_[0].round(6)}, intercept_ = {lda.intercept_[0]:.6f}")

# two points of the boundary: the line through them is at a right angle to w
first, second = (np.array([x0, (-lda.intercept_[0] - lda.coef_[0, 0] * x0) / lda.coef_[0, 1]]) for x0 in (1.0, 2.0))
along = (second - first) / np.linalg.norm(second - first)
cosine = float(along @ lda.coef_[0] / np.linalg.norm(lda.coef_))
print(f"cosine of the angle between w and the boundary: {cosine:.1e}")

# logistic regression has a posterior of the same form, with other numbers
logistic = LogisticRegression(C=np.inf).fit(X, y)
accuracies = lda.score(X, y), logistic.score(X, y)
print(f"logistic regression: w = {logistic.coef_[0].round(3)}; accuracy {accuracies[1]:.3f}, LDA {accuracies[0]:.3f}")

ax = plots.decision_regions(lda, X, y, normal=True, title="Two normal classes: contours, boundary and w")

if __name__ == "__main__":
    plt.show()
