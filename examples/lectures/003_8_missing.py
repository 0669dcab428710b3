"""Lecture 003, missing values: average over the values that an attribute may have, or leave the attribute out.

A mail has the word lottery, and nobody looked for Viagra: P(spam | lottery) = Σ_v P(v) P(spam | v, lottery), that is
0.9 · 0.65 + 0.1 · 0.40 = 0.625. Naive Bayes leaves the factor of a missing attribute out: Σ_v P(v | class) is 1. With
`missing="average"` it averages posteriors as the lecture does, by the shares of the values in all rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from deciban import MixedNB, datasets
from deciban.display import NEGATIVE, POSITIVE

full, _ = datasets.viagra_networks()
posterior = full.query("y", {"lottery": 1})
known = {v: float(full.query("y", {"lottery": 1, "viagra": v})["spam"]) for v in (0, 1)}
print("P(y | lottery) =", posterior.values.round(4), "by hand", 0.9 * 0.65 + 0.1 * 0.40)
print("a missing cell is summed out:", full.predict_proba({"viagra": [None], "lottery": [1]}).round(4), full.classes_)

# Play tennis with the outlook unknown.
days, play = datasets.play_tennis()
day = {"outlook": None, "temperature": "cool", "humidity": "high", "windy": "true"}
left_out = MixedNB(alpha=0).fit(days, play).predict_proba(day)[0, 0]
averaged = MixedNB(alpha=0, missing="average").fit(days, play).predict_proba(day)[0, 0]
levels, counts = np.unique(days["outlook"], return_counts=True)
model = MixedNB(alpha=0).fit(days, play)
each = [model.predict_proba({**day, "outlook": level})[0, 0] for level in levels]
by_hand = float(counts @ each / counts.sum())
print(f"P(no | day): outlook left out {left_out:.4f}, averaged {averaged:.4f}, by hand {by_hand:.4f}")

# In training a missing cell is in no count: sunny days without play become 2 of 4.
gap = days.assign(outlook=[None, *days["outlook"][1:]])
with_gap = MixedNB(alpha=0).fit(gap, play)
print(with_gap.counts_table(fractions=True))

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained", width_ratios=[3, 4])
bars = left.bar(range(3), [known[0], known[1], posterior["spam"]], color=[POSITIVE, POSITIVE, NEGATIVE], width=0.6)
left.bar_label(bars, fmt="{:.3f}", padding=2)
left.set_xticks(range(3), ["no Viagra", "Viagra", "unknown"])
left.set_ylabel("P(spam | lottery, …)")
bars = right.bar(range(5), [*each, left_out, averaged], color=[POSITIVE] * 3 + [NEGATIVE] * 2, width=0.6)
right.bar_label(bars, fmt="{:.3f}", padding=2)
right.set_xticks(range(5), [*levels, "left out", "averaged"])
right.set_ylabel("P(no | day)")
for ax, title in ((left, "A mail with the word lottery"), (right, "A cool, humid, windy day by outlook")):
    ax.set_ylim(0, 1)
    ax.set_title(title, loc="left", fontsize=10.5)
    ax.spines[["top", "right"]].set_visible(False)

if __name__ == "__main__":
    plt.show()
