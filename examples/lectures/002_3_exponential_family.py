"""Lecture 002, exponential family: classes of many other distributions than the normal have a logistic posterior.

    ln p(x, C₁)/p(x, C₂) is linear in x:   Poisson ln(λ₁/λ₂) x − (λ₁ − λ₂),   Bernoulli and multinomial Σ_j x_j ln(…)

Left: P(1 | x) of Poisson counts with the rates 2 and 5, from the rates themselves, by Poisson naive Bayes, and by
logistic regression, which does not know the family. Right: a table of counts and waiting times (Poisson and
exponential), whose boundary is a line as well.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from deciban import BernoulliNB, LogisticRegression, MixedNB, MultinomialNB, PoissonNB, plots

# Known parameters: the coefficients are the formulas.
rates = PoissonNB.from_parameters(rate=[[2.0], [5.0]])
bits = BernoulliNB.from_parameters(feature_prob=[[0.2, 0.5], [0.5, 0.5]])
words = MultinomialNB.from_parameters(feature_prob=[[0.2, 0.8], [0.5, 0.5]])
for name, model in {"Poisson": rates, "Bernoulli": bits, "multinomial": words}.items():
    linear = model.as_logistic()
    print(f"{name:<12} w = {linear.coef_[0].round(4)}, w₀ = {linear.intercept_[0]:.4f}")
print(f"{'by hand':<12} ln 2.5 = {np.log(2.5):.4f}, −3;  ln 4 = {np.log(4):.4f};  ln 0.625 = {np.log(0.625):.4f}\n")

# Rows drawn from these rates: the generative and the discriminative model estimate the same line.
rng = np.random.default_rng(0)
y = np.repeat([0, 1], 1000)
visits = rng.poisson(np.where(y, 5.0, 2.0))[:, None]
generative = PoissonNB().fit(visits, y)
discriminative = LogisticRegression(C=np.inf).fit(visits, y)
for name, linear in {"PoissonNB": generative.as_logistic(), "logistic regression": discriminative}.items():
    print(f"{name:<20} w = {linear.coef_[0, 0]:.3f}, w₀ = {linear.intercept_[0]:.3f}")

# A table with a column of each: the log odds are the sum of those of the columns.
table = pd.DataFrame({"visits": visits[:, 0], "wait": rng.exponential(np.where(y, 1.0, 3.0))})
mixed = MixedNB(families={"visits": "poisson", "wait": "exponential"}).fit(table, y)
linear = mixed.as_logistic()
print("visits and wait      ", dict(zip(linear.columns_, linear.coef_[0].round(3).tolist(), strict=True)))
print(f"by hand               ln 2.5 = {np.log(2.5):.3f}, 1/3 − 1 = {1 / 3 - 1:.3f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 4.4), layout="constrained", width_ratios=[3, 2])
curves = {"rates 2 and 5": rates, "PoissonNB": generative, "logistic regression": discriminative}
plots.sigmoid(curves, visits, y, left, xlabel="visits", title="P(1 | visits) of Poisson counts")
left.legend(frameon=False, loc="center right", fontsize=9)
title = "Poisson visits, exponential waits"
logistic = LogisticRegression.from_parameters(linear.coef_, linear.intercept_, feature_names=linear.columns_)
plots.decision_regions(logistic, table, y, right, normal=True, points=300, title=title)
right.legend(frameon=False, loc="upper right", fontsize=9)

if __name__ == "__main__":
    plt.show()
