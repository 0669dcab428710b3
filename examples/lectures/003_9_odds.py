"""Lecture 003, odds: posterior odds from the full table P(y | Viagra, lottery) against marginal likelihood ratios.

The full table has the odds 0.45, 1.86, 4.0 and 0.67 (neither word, lottery, Viagra, both); the ratios of the words
alone, multiplied, are 0.62, 1.10, 3.03 and 5.38. Three of four decisions agree: in this table a mail with both words is
ham though each word alone makes it spam, which no product of ratios of single words can express.
"""

import matplotlib.pyplot as plt
import numpy as np

from deciban import BernoulliNB, datasets
from deciban.display import GREY, NEGATIVE, POSITIVE

full, naive = datasets.viagra_networks()
mails = {"viagra": [0, 0, 1, 1], "lottery": [0, 1, 0, 1]}
names = ["neither word", "lottery", "Viagra", "both words"]

spam = full.classes_.tolist().index("spam")
odds = full.odds(mails)[:, spam]
ratios = naive.likelihood_ratio(mails, "spam", "ham")

# The same naive model from its two tables.
tables = BernoulliNB.from_parameters([[0.40, 0.21], [0.12, 0.13]], classes=["spam", "ham"])
same = tables.likelihood_ratio(np.column_stack(list(mails.values())), "spam", "ham")
by_hand = np.array([a * b for a in (0.60 / 0.88, 0.40 / 0.12) for b in (0.79 / 0.87, 0.21 / 0.13)])

answers, naive_answers = full.predict(mails), naive.predict(mails)
agree = int((answers == naive_answers).sum())
print("mail          odds  answer  ratio  answer")
for name, one, answer, ratio, other in zip(names, odds, answers, ratios, naive_answers, strict=True):
    print(f"{name:<12} {one:5.2f}  {answer:<6}  {ratio:5.2f}  {other}")
print(f"{agree} of 4 decisions agree")

figure, ax = plt.subplots(figsize=(8, 4.4), layout="constrained")
at = np.arange(4)
for values, side, colour, label in (
    (odds, -0.2, POSITIVE, "posterior odds, full table"),
    (ratios, 0.2, NEGATIVE, "product of the words' likelihood ratios"),
):
    bars = ax.bar(at + side, values - 1, 0.38, bottom=1, color=colour, label=label)
    ax.bar_label(bars, [f"{value:.2f}" for value in values], padding=2, fontsize=9)
ax.axhline(1, color=GREY, lw=1)
ax.set_yscale("log")
ax.set_yticks([0.25, 0.5, 1, 2, 4, 8], ["1/4", "1/2", "1", "2", "4", "8"], minor=False)
ax.minorticks_off()
ax.set_ylim(0.25, 10)
ax.set_xticks(at, names)
ax.set_ylabel("odds of spam (above 1: spam)")
ax.set_title("Full table and naive model", loc="left", fontsize=10.5)
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper left")

if __name__ == "__main__":
    plt.show()
