"""Lecture 001, the decision boundary of naive Bayes with bits: log odds = w₀ + Σ_j w_j x_j.

A word that is absent adds w_j0 = log P(x_j = 0 | spam) / P(x_j = 0 | ham) to the log odds, one that is present adds
w_j1. So w₀ = log prior odds + Σ w_j0 and w_j = w_j1 − w_j0. Eight mails, the words a, b and c.
"""

import matplotlib.pyplot as plt
import numpy as np

from deciban import BernoulliNB, datasets, plots

X, y = datasets.eight_mails("presence")
model = BernoulliNB().fit(X, y)
rule = model.as_logistic(of="spam")

print("word       " + "".join(f"{word:>10}" for word in X))
print("P(x=1|ham) " + "".join(f"{share:10.4f}" for share in model.feature_prob_[0]))
print("P(x=1|spam)" + "".join(f"{share:10.4f}" for share in model.feature_prob_[1]))
print("w_j0       " + "".join(f"{weight:10.6f}" for weight in rule.absent_[0]))
print("w_j1       " + "".join(f"{weight:10.6f}" for weight in rule.present_[0]))
print("w_j        " + "".join(f"{weight:10.6f}" for weight in rule.coef_[0]))
print(f"w₀ {rule.intercept_[0]:18.6f}", end="\n\n")

# The same by hand, and the same posterior.
ham, spam = model.feature_prob_
by_hand = np.log(spam / ham) - np.log((1 - spam) / (1 - ham))
posterior = rule.predict_proba(X)

# One mail with the words a and b: what each word adds, in decibans.
mail = {"a": 1, "b": 1, "c": 0}
explanation = model.explain(mail, of="spam")
print(explanation)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
place = np.arange(3)
left.bar(place - 0.2, rule.absent_[0], 0.38, color="#d55e00", hatch="//", edgecolor="white", label="absent: w_j0")
left.bar(place + 0.2, rule.present_[0], 0.38, color="#0072b2", label="present: w_j1")
left.axhline(0, color="black", lw=0.8)
left.set_xticks(place, list(X))
left.set(xlabel="word", ylabel="log odds of spam (nats)")
left.set_title("What a word adds to the log odds", loc="left", fontsize=10.5)
left.legend(frameon=False, fontsize=9)
left.spines[["top", "right"]].set_visible(False)
plots.waterfall(explanation, ax=right)

if __name__ == "__main__":
    plt.show()
