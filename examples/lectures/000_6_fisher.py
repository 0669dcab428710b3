"""Fisher's discriminant: the direction of the largest signal to noise (lecture 000, section 7.4, eq 7.46).

w = (Σ_k + Σ_l)⁻¹ (μ_l − μ_k) maximises the variance between the classes over the variance within them,
(w·(μ_l − μ_k))² / (wᵀ(Σ_k + Σ_l)w), without the assumption of normal classes. `coef_` is 2w, so that the decision
function is log odds: with equal covariances it is that of LDA.
"""

import matplotlib.pyplot as plt
import numpy as np

from deciban import FisherDiscriminant, GaussianNB, LinearDiscriminantAnalysis, datasets, metrics, plots

X, y = datasets.two_gaussians()
k, l = X[y == "k"], X[y == "l"]
difference = l.mean(axis=0) - k.mean(axis=0)
w = np.linalg.solve(np.cov(k.T, bias=True) + np.cov(l.T, bias=True), difference)

fisher = FisherDiscriminant().fit(X, y)
print(f"w = {w.round(6)}, coef_ / 2 = {(fisher.coef_[0] / 2).round(6)}")

# the ratio along w, and along the line from one mean to the other
ratio, other_ratio = float(fisher.fisher_ratio_[0]), metrics.fisher_ratio(X, y, difference)
print(f"ratio of variances: {ratio:.4f} along w, {other_ratio:.4f} along the difference of the means")

# classes with equal covariances (the second is the first, mirrored and moved): the same coefficients as LDA
mirrored, labels = np.concatenate([k, 2 * k.mean(axis=0) + [2, 1] - k]), np.repeat(["k", "l"], len(k))
equal_fisher = FisherDiscriminant().fit(mirrored, labels).coef_[0]
equal_lda = LinearDiscriminantAnalysis().fit(mirrored, labels).coef_[0]
print(f"equal covariances: Fisher {equal_fisher.round(6)}, LDA {equal_lda.round(6)}")

# the rows along both directions of length 1, with a normal density for each class
directions = {f"w: ratio {ratio:.2f}": w, f"the difference of the means: ratio {other_ratio:.2f}": difference}
figure, axes = plt.subplots(2, 1, figsize=(7, 6), layout="constrained", sharex=True)
for ax, (name, direction) in zip(axes, directions.items(), strict=True):
    along = X @ direction[:, None] / np.linalg.norm(direction)
    plots.densities(along, y, ax=ax, model=GaussianNB().fit(along, y), bins=16, title=f"along {name}")
    ax.set_xlabel("place of a row along the direction")

if __name__ == "__main__":
    plt.show()
