"""Lecture 003, the zero-frequency problem: one factor 0 decides alone; pseudo-counts prevent it.

No day without play was overcast, so that P(no | overcast, …) is 0 for any other attributes. With one pseudo-count a
level (Laplace) it is 0.278, with half of one 0.198. Many pseudo-counts take the evidence of all columns away: the
posterior tends to the class shares.
"""

import matplotlib.pyplot as plt
import numpy as np

from deciban import MixedNB, datasets
from deciban.display import GREY, NEGATIVE, POSITIVE

days, play = datasets.play_tennis()
sunny = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "windy": "true"}
overcast = {**sunny, "outlook": "overcast"}

print(MixedNB(alpha=0).fit(days, play).explain(overcast, form="fractions"), end="\n\n")
print(MixedNB(alpha=1).fit(days, play).explain(overcast, form="fractions"), end="\n\n")

alphas = np.linspace(0, 10, 101)
models = [MixedNB(alpha=float(alpha)).fit(days, play) for alpha in alphas]
curve, other = (np.array([model.predict_proba(day)[0, 0] for model in models]) for day in (overcast, sunny))
marked = {alpha: float(curve[alphas == alpha][0]) for alpha in (0.0, 0.5, 1.0)}
print("P(no | overcast, …):", {f"alpha = {alpha:g}": round(p, 3) for alpha, p in marked.items()})

figure, ax = plt.subplots(figsize=(8, 4.4), layout="constrained")
ax.plot(alphas, other, color=NEGATIVE, ls="--", label="sunny, cool, high, windy")
ax.plot(alphas, curve, color=POSITIVE, label="overcast, cool, high, windy")
ax.plot(list(marked), list(marked.values()), "o", color=POSITIVE)
for alpha, p in marked.items():
    ax.annotate(f"{p:.3f}", (alpha, p), (8, -9), textcoords="offset points", fontsize=9)
ax.axhline(5 / 14, color=GREY, ls=":", label="class share 5/14")
ax.set_xlabel("pseudo-counts of each level (alpha)")
ax.set_ylabel("P(no | day)")
ax.set_ylim(-0.05, 1)
ax.set_title("A level that a class never had", loc="left", fontsize=10.5)
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, ncols=3, loc="upper right")

if __name__ == "__main__":
    plt.show()
