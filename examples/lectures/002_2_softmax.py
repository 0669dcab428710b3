"""Lecture 002, K classes: softmax regression with one w̃_k for each class, its cross-entropy, gradient and Hessian.

    y_nk = exp(a_nk) / Σ_j exp(a_nj),  a_nk = w̃_kᵀx̃_n        E = −Σ_n Σ_k t_nk ln y_nk
    ∇_k E = Σ_n (y_nk − t_nk) x̃_n                              ∇_k∇_j E = Σ_n y_nk (1{k = j} − y_nj) x̃_n x̃_nᵀ

Three irises by petal length and width: nine parameters, and nine blocks of 3 × 3 in the Hessian. Left: the regions of
the classes, whose boundaries are lines; right: the Hessian of the cross-entropy at the fit.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from deciban import LogisticRegression, plots

flowers = load_iris(as_frame=True)
X, y = flowers.data.iloc[:, 2:], flowers.target_names[flowers.target]
model = LogisticRegression().fit(X, y)  # a penalty, as setosa is separated from the others: no maximum without one
W = np.column_stack([model.coef_, model.intercept_])
print(
    "w̃ of each class:", *(f"{name:>12}  {row.round(3)}" for name, row in zip(model.classes_, W, strict=True)), sep="\n"
)

# The likelihood at these parameters (without the penalty), and its derivatives.
E = -model.log_likelihood(X, y)
entropy = LogisticRegression(C=np.inf).objective(X, y)
gradient, hessian = entropy.slope(W.ravel())[1].reshape(W.shape), entropy.hessian(W.ravel())
print(f"cross-entropy E = {E:.4f} nats, {E / 150:.4f} a flower (without the model: {np.log(3):.4f})")

# The same by the formulas of the lecture.
design, T = np.column_stack([X, np.ones(150)]), np.eye(3)[flowers.target]
Y = np.exp(design @ W.T)
Y /= Y.sum(axis=1, keepdims=True)
E_by_hand = -np.sum(T * np.log(Y))
gradient_by_hand = (Y - T).T @ design
weight = Y[:, :, None] * (np.eye(3) - Y[:, None, :])  # (n, k, j)
blocks = np.einsum("nkj,na,nb->kajb", weight, design, design)
print("largest difference from the formulas:")
print(f"  E         {abs(E - E_by_hand):.1e}")
print(f"  gradient  {np.abs(gradient - gradient_by_hand).max():.1e}")
print(f"  Hessian   {np.abs(hessian - blocks.reshape(9, 9)).max():.1e}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 4.4), layout="constrained")
plots.decision_regions(model, X, y, left, equal=False, title=f"{model.score(X, y):.1%} of the rows right")
left.legend(frameon=False, loc="upper left", fontsize=9)
largest = np.abs(hessian).max()
image = right.imshow(hessian, cmap="PuOr", vmin=-largest, vmax=largest)
for edge in (2.5, 5.5):
    right.axhline(edge, color="black", lw=1)
    right.axvline(edge, color="black", lw=1)
right.set_xticks([1, 4, 7], model.classes_)
right.set_yticks([1, 4, 7], model.classes_, rotation=90, va="center")
right.set(xlabel="class j", ylabel="class k")
right.set_title("Hessian: blocks ∇_k∇_j E\n(length, width, 1 in each)", loc="left", fontsize=10.5)
figure.colorbar(image, ax=right, shrink=0.7)

if __name__ == "__main__":
    plt.show()
