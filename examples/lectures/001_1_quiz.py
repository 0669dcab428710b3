"""Lecture 001, quiz Q3: five rows of three bits, and the class of a sixth row x₆ = (0, 0, 0).

A plane separates the classes (y = x₀ and x₁), so the likelihood grows with the length of w, and logistic regression
without penalty has no finite answer. Any penalty has one, and so has Jeffreys' prior (Firth); all predict class 0. The
picture shows coefficients that grow without bound as the penalty vanishes.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from deciban import LogisticRegression, SeparationWarning, datasets, plots

X, y = datasets.quiz()
x6 = [[0, 0, 0]]

ridge = LogisticRegression().fit(X, y)
print(f"C = 1: x₆ is of class {ridge.predict(x6)[0]}, P = {ridge.predict_proba(x6)[0, 0]:.3f}")

# Without penalty: a warning names the columns that separate the classes.
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    plain = LogisticRegression(C=np.inf).fit(X, y)
separation = plain.separation()
warned = [one for one in caught if issubclass(one.category, SeparationWarning)]
print(f"no penalty: class {plain.predict(x6)[0]}; {separation.kind} separation by {' and '.join(separation.columns)}")

firth = LogisticRegression(penalty="jeffreys").fit(X, y)
print(f"Jeffreys' prior: class {firth.predict(x6)[0]}, P = {firth.predict_proba(x6)[0, 0]:.3f}")

# From a strong penalty to nearly none: the coefficients of x₀ and x₁ follow log C, and P(class 0 | x₆) goes to 1.
strengths = np.logspace(-2, 6, 33)
path = LogisticRegression().path(X, y, strengths)
chances = [LogisticRegression(C=C).fit(X, y).predict_proba(x6)[0, 0] for C in strengths]

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
plots.coefficient_path(path, left, standard=False)
left.set_title("Coefficients of five separated rows", loc="left", fontsize=10.5)
right.plot(strengths, chances, color="#0072b2", lw=1.8, label="penalty 1/C")
right.axhline(firth.predict_proba(x6)[0, 0], color="black", ls="--", lw=1, label="Jeffreys' prior")
right.set(xscale="log", ylim=(0.5, 1.02), xlabel="C (penalty strong → weak)", ylabel="P(class 0 | x₆)")
right.set_title("The prediction for x₆ = (0, 0, 0)", loc="left", fontsize=10.5)
right.legend(frameon=False, loc="lower right", fontsize=9)
right.spines[["top", "right"]].set_visible(False)

if __name__ == "__main__":
    plt.show()
