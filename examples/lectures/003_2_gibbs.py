"""Lecture 003, the Gibbs classifier: on average its error is at most twice that of the Bayes-optimal classifier.

The average is over concepts drawn from the prior, here half-planes. Few rows are labelled by one of them; P(h | D) is
uniform over those that agree with all rows (the version space). Bayes-optimal takes the vote of all of them, Gibbs the
answer of one that is drawn, MAP the answer of the first. `examples/gibbs.py` has the reason for the bound.
"""

import matplotlib.pyplot as plt
import numpy as np

from deciban import BayesOptimal, Gibbs, datasets
from deciban.display import GREY, NEGATIVE, POSITIVE

# P(h | D) of one data set: 17 of 200 half-planes agree with eight points.
X, y, lines = datasets.half_planes()
vote = BayesOptimal(lines).fit(X, y)
print(
    f"{(vote.weights_ > 0).sum()} of {len(lines)} hypotheses agree with all rows, P(h | D) = {vote.weights_.max():.4f}"
)
noisy = BayesOptimal(lines, noise=0.1).fit(X, y)
print(f"one label in ten wrong: the most probable has P(h | D) = {noisy.weights_.max():.4f}")

# Mean errors over many concepts, by number of rows.
rng = np.random.default_rng(0)
lines = lines[:50]
rows, concepts = (1, 2, 4, 8, 16), 40
errors = np.zeros((len(rows), 3))
for at, n in enumerate(rows):
    for _ in range(concepts):
        truth = lines[rng.integers(len(lines))]
        X, new = rng.uniform(-1, 1, (n, 2)), rng.uniform(-1, 1, (400, 2))
        average = BayesOptimal(lines).fit(X, truth(X))
        drawn = Gibbs.of(lines, average.weights_, classes=average.classes_, random_state=int(rng.integers(1 << 31)))
        for j, model in enumerate((average, drawn, average.map_)):
            errors[at, j] += np.mean(model.predict(new) != truth(new)) / concepts
ratios = errors[:, 1] / errors[:, 0]
print("rows  Bayes-optimal  Gibbs   MAP  Gibbs/Bayes-optimal")
for n, (best, gibbs, single), ratio in zip(rows, errors, ratios, strict=True):
    print(f"{n:4d}  {best:13.3f}  {gibbs:.3f}  {single:.3f}  {ratio:.2f}")

figure, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
ax.plot(rows, 2 * errors[:, 0], color=GREY, ls="--", label="twice Bayes-optimal: the bound")
ax.plot(rows, errors[:, 1], color=NEGATIVE, marker="s", label="Gibbs: one hypothesis drawn")
ax.plot(rows, errors[:, 0], color=POSITIVE, marker="o", label="Bayes-optimal: the vote of all")
ax.fill_between(rows, errors[:, 0], 2 * errors[:, 0], color=GREY, alpha=0.12, lw=0)
ax.set_xscale("log", base=2)
ax.set_xticks(rows, [str(n) for n in rows])
ax.set_ylim(0)
ax.set_xlabel("training rows")
ax.set_ylabel("mean error")
ax.set_title("Half-planes drawn from the prior", loc="left", fontsize=10.5)
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)

if __name__ == "__main__":
    plt.show()
