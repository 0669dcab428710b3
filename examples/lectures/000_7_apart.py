"""A generative model learns each class alone; priors can be replaced later (lecture 000, section 7.3, eq 7.25 to 7.28).

p(x | y) of a class depends on its own rows only, so that models of single classes can be added. The priors p(y) are the
class frequencies of the rows, or are known otherwise: Bayes' rule takes both.
"""

import matplotlib.pyplot as plt
import numpy as np

from deciban import QuadraticDiscriminantAnalysis, datasets, plots

X, y = datasets.two_gaussians()
k, l = (QuadraticDiscriminantAnalysis().fit(X[y == name], y[y == name]) for name in "kl")
both = k + l
whole = QuadraticDiscriminantAnalysis().fit(X, y)
largest = float(np.abs(both.predict_proba(X) - whole.predict_proba(X)).max())
print(f"learned apart and added, against one fit: largest difference of posteriors {largest:.1e}")

# p(x | y), p(y) and p(x) of the first row, and the posterior from them
row = X[:1]
likelihood, prior = np.exp(both.class_log_likelihood(row))[0], both.class_prior_
evidence = float(np.exp(both.score_samples(row))[0])
posterior = likelihood * prior / evidence
print(f"p(x | y) = {likelihood.round(6)}, p(y) = {prior}, p(x) = {evidence:.6f}: p(y | x) = {posterior.round(6)}")

# the same row where 90 % are known to be of class l
known = {"k": 0.1, "l": 0.9}
known_posterior = both.predict_proba(row, priors=known)[0]
print(f"with priors {known}: p(k | x) = {posterior[0]:.3f} becomes {known_posterior[0]:.3f}")

# the boundary moves towards class k
given = {"means": both.means_, "covariance": both.covariance_, "classes": both.classes_}
moved = QuadraticDiscriminantAnalysis.from_parameters(**given, class_prior=known)
figure, axes = plt.subplots(1, 2, figsize=(8, 4.2), layout="constrained", sharey=True)
for ax, model, title in ((axes[0], both, "p(k) = 0.6, p(l) = 0.4"), (axes[1], moved, "p(k) = 0.1, p(l) = 0.9")):
    plots.decision_regions(model, X, y, ax, title=title)
    ax.plot(*row[0], "*", ms=16, color="black", mec="white", zorder=9, label="first row")
    ax.legend(frameon=False, fontsize=8.5, loc="lower right")

if __name__ == "__main__":
    plt.show()
