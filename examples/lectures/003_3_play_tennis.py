"""Lecture 003, play tennis: counts, fractions, the product on the board, and the posterior 0.795 for `no`.

The day is sunny, cool, humid and windy: P(yes) Π P(x | yes) = 9/14 · 2/9 · 3/9 · 3/9 · 3/9 = 0.0053, against 0.0206 for
no. `alpha=0` is the lecture's rule without pseudo-counts; by default held-out rows choose them. Above: the whole model
as a nomogram (a level that a class never had is an arrow); below: the evidence of this day, in decibans.
"""

import matplotlib.pyplot as plt
import numpy as np

from deciban import MixedNB, datasets, plots

days, play = datasets.play_tennis()
day = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "windy": "true"}

model = MixedNB(alpha=0).fit(days, play)
print(model.counts_table(), model.counts_table(fractions=True), sep="\n\n", end="\n\n")

working = model.explain(day, form="fractions")
print(working, end="\n\n")

joint = np.exp(model.predict_joint_log_proba(day))[0]
posterior = model.predict_proba(day)[0]
print("classes  ", model.classes_)
print("joint    ", joint.round(6))
print("posterior", posterior.round(4))

defaults = MixedNB().fit(days, play).predict_proba(day)[0]
print("posterior by pseudo-counts that held-out rows choose", defaults.round(4), end="\n\n")

evidence = model.explain(day, of="no", against="yes")
print(evidence)

figure, (above, below) = plt.subplots(2, 1, figsize=(8, 8), layout="constrained", height_ratios=[5, 4])
plots.nomogram(model, of="no", against="yes", ax=above)
plots.waterfall(evidence, ax=below)

if __name__ == "__main__":
    plt.show()
