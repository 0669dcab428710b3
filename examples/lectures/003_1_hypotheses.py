"""Lecture 003, Bayes-optimal classification: the most probable hypothesis and the most probable class can differ.

Three hypotheses have P(h | D) = 0.4, 0.3, 0.3 and answer +, −, −. The MAP hypothesis answers +, but P(− | D), the sum
of P(v | h) P(h | D) over all hypotheses, is 0.6. Gibbs draws one hypothesis by P(h | D) for each row.
"""

import matplotlib.pyplot as plt
import numpy as np

from deciban import BayesOptimal, Gibbs, datasets
from deciban.display import NEGATIVE, POSITIVE

answers, weights = datasets.votes()
vote = BayesOptimal.of(answers, weights)

most_probable = vote.map_.predict([[0]])[0]
posterior = dict(zip(vote.classes_.tolist(), vote.predict_proba([[0]])[0].tolist(), strict=True))
print("MAP hypothesis:", vote.names_[np.argmax(vote.weights_)], "answers", most_probable)
print("P(v | D):", {label: round(p, 3) for label, p in posterior.items()}, "answer", vote.predict([[0]])[0])

drawn = Gibbs.of(answers, weights, random_state=0).predict([[0]] * 10_000)
share = float(np.mean(drawn == "+"))
print(f"Gibbs answers + in {share:.1%} of 10,000 rows")

# Hypotheses may answer by probabilities: P(+) = 0.4 · 0.9 + 0.6 · 0.2.
soft = [lambda X: np.tile([0.9, 0.1], (len(X), 1)), lambda X: np.tile([0.2, 0.8], (len(X), 1))]
mixed = BayesOptimal.of(soft, [0.4, 0.6], classes=["+", "-"]).predict_proba([[0]])[0]
print("soft hypotheses: P(+ | D) =", mixed[0].round(3))

colours = {"+": POSITIVE, "-": NEGATIVE}
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained", sharey=True)
for ax, names, values, labels, title in (
    (left, list(answers), weights, list(answers.values()), "P(h | D): the MAP hypothesis answers +"),
    (right, list(posterior), list(posterior.values()), list(posterior), "P(v | D): the most probable class is −"),
):
    bars = ax.bar(range(len(names)), values, color=[colours[label] for label in labels], width=0.6)
    ax.bar_label(bars, [f"{value:.1f}" for value in values], padding=2)
    ax.set_title(title, loc="left", fontsize=10.5)
    ax.spines[["top", "right"]].set_visible(False)
left.set_xticks(range(3), [f"{name}: {label.replace('-', '−')}" for name, label in answers.items()])
right.set_xticks(range(2), [label.replace("-", "−") for label in posterior])
left.set_xlabel("hypothesis and its answer")
right.set_xlabel("class")
left.set_ylabel("probability")
left.set_ylim(0, 0.7)

if __name__ == "__main__":
    plt.show()
