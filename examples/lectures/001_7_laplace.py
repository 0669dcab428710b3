"""Lecture 001, Laplace smoothing: Pr(x_j = 1 | y) = (count + 1) / (rows + 2), and (count + 1) / (rows + k) of k levels.

Without rows of a class the estimate is 1/2. If x_j = 1 in all n rows, Pr(x_j = 0) is 1/(n + 2) and not 0 (the lecture
prints 1/(n + 1)). A frequent word is only slightly biased.
"""

import matplotlib.pyplot as plt
import numpy as np

from deciban import BernoulliNB, CategoricalNB

# Class 1 has no rows.
empty = BernoulliNB().partial_fit([[1, 0], [1, 1]], [0, 0], classes=[0, 1])
without_rows = empty.feature_prob_[1]
print("no rows of the class:", without_rows)

# All of n rows have x = 1.
always = BernoulliNB().fit([[1]] * 8, [0] * 8)
never_seen = 1 - always.feature_prob_.item()
print(f"8 of 8: Pr(x = 0) = {never_seen:.3f}")

# 400 of 1,000.
word = [[1]] * 400 + [[0]] * 600
frequent = [BernoulliNB(alpha=alpha).fit(word, [0] * 1000).feature_prob_.item() for alpha in (0, 1)]
print(f"400 of 1000: {frequent[0]:.4f} without, {frequent[1]:.4f} with smoothing")

# Four outcomes that occurred 2, 1, 3 and 0 times.
outcomes = [[0], [0], [1], [2], [2], [2]]
four = CategoricalNB(min_categories=4).fit(outcomes, [0] * 6).feature_prob_[0][0]
print("2, 1, 3, 0 of 6:", four)

# By the number of rows: the estimate after n rows of which 40 % have x = 1, and after n rows that all have it.
sizes = np.array([5, 10, 20, 50, 100, 200, 500, 1000])
curves = {}
for share in (0.4, 1.0):
    tables = [np.arange(n)[:, None] < round(share * n) for n in sizes]
    curves[share] = [BernoulliNB().fit(rows.astype(int), [0] * len(rows)).feature_prob_.item() for rows in tables]

figure, ax = plt.subplots(figsize=(7.5, 4.4), layout="constrained")
for (share, curve), colour, marker in zip(curves.items(), ("#0072b2", "#d55e00"), "os", strict=True):
    label = f"{100 * share:.0f} % of the rows have x = 1"
    ax.plot(sizes, curve, color=colour, marker=marker, lw=1.8, ms=5, label=label)
    ax.axhline(share, color=colour, ls="--", lw=1)
ax.set(xscale="log", ylim=(0, 1.05), xlabel="rows of the class", ylabel="Pr(x = 1 | class)")
ax.set_xticks([5, 10, 50, 100, 500, 1000], ["5", "10", "50", "100", "500", "1000"], minor=False)
ax.minorticks_off()
ax.set_title("Laplace estimates; dashed: shares of the rows", loc="left", fontsize=10.5)
ax.legend(frameon=False, loc="lower right", fontsize=9)
ax.spines[["top", "right"]].set_visible(False)

if __name__ == "__main__":
    plt.show()
