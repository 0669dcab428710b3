"""Lecture 002, feature space: logistic regression is linear in φ(x), so that its boundaries in x may be curves.

XOR: class 1 where both coordinates have the same sign. No line separates the classes, but the plane x₁x₂ = 0 in
φ(x) = (x₁, x₂, x₁², x₁x₂, x₂²) does. Left: logistic regression in x; right: in φ(x).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from deciban import LogisticRegression, plots

X = np.random.default_rng(0).normal(size=(400, 2))
y = (X[:, 0] * X[:, 1] > 0).astype(int)

plain = LogisticRegression().fit(X, y)
squares = make_pipeline(PolynomialFeatures(2, include_bias=False), LogisticRegression(C=1000)).fit(X, y)
accuracy = {"x": plain.score(X, y), "φ(x)": squares.score(X, y)}
for name, value in accuracy.items():
    print(f"logistic regression in {name:<5} accuracy {value:.4f}")

phi, logistic = squares[0], squares[-1]
print("coefficients in φ(x):", dict(zip(phi.get_feature_names_out(), logistic.coef_[0].round(2).tolist(), strict=True)))
print("separable in x:   ", LogisticRegression().separation(X, y).kind)
print("separable in φ(x):", LogisticRegression().separation(phi.transform(X), y).kind)

figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 4.4), layout="constrained")
plots.decision_regions(plain, X, y, left, title=f"linear in x: {accuracy['x']:.1%} right")
plots.decision_regions(squares, X, y, right, title=f"linear in φ(x): {accuracy['φ(x)']:.1%} right")

if __name__ == "__main__":
    plt.show()
