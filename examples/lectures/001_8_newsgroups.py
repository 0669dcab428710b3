"""Lecture 001, 20 Newsgroups: 1,000 posts of each of 20 groups, a third held out; naive Bayes has 89 %.

Headers that name the group (Newsgroups, Xref, Followup-To, Path) are left out. The curve is the held-out accuracy by
number of posts; its band is the deviation over random draws. One model of 20 classes is compared with 20 models of one
group against all others, which are unbalanced. Needs a copy of the posts: by default newsgroups20_original.jsonl.xz
among the shared data, or the archive, folder or file that the environment variable NEWSGROUPS names.
"""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from deciban import TextClassifier, datasets, learning_curve, plots

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
path = Path(os.environ.get("NEWSGROUPS", SHARED / "newsgroups20" / "newsgroups20_original.jsonl.xz"))
if not path.exists():
    sys.exit(f"there is no {path}: name a copy of 20 Newsgroups by NEWSGROUPS=PATH")

texts, groups = datasets.load_20newsgroups(path)
held_out = np.random.default_rng(0).permutation(len(texts)) < len(texts) // 3
known, new = ([texts[i] for i in np.flatnonzero(some)] for some in (~held_out, held_out))
classes, right = groups[~held_out], groups[held_out]

naive = {"alpha": 1, "smoothing": "corpus"}
models = {
    "without headers that name the group": TextClassifier(strip="group headers", **naive),
    "without all headers": TextClassifier(strip="headers", **naive),
    "counts of words, Laplace's rule": TextClassifier(strip="group headers", counts=True, alpha=1),
    "defaults": TextClassifier(strip="group headers"),
}
accuracy = {name: one.fit(known, classes).score(new, right) for name, one in models.items()}
for name, share in accuracy.items():
    print(f"{name:<38}{share:.3f}")
model = models["without headers that name the group"]
predicted = model.predict(new)

# One against all: from the same counts, without learning again. 500 posts are asked about.
rest = model.one_vs_rest()
unbalanced = rest["sci.space"].class_count_
together, apart = ((one.predict(new[:500]) == right[:500]).mean() for one in (model, rest))
print(f"sci.space against all others: {unbalanced[1]:.0f} posts against {unbalanced[0]:.0f}")
print(f"of 500 posts, one model of 20 groups {together:.3f}, 20 models of one against all {apart:.3f}")

curve = learning_curve(model, texts, groups, [100, 300, 1000, 3000, 13000], test=held_out, repeats=3)
print(curve)

recall = {group: (predicted[right == group] == group).mean() for group in model.classes_}
figure, (left, ax) = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
plots.learning_curve(curve, left, label="naive Bayes")
left.axhline(0.89, color="black", ls="--", lw=1)
left.text(100, 0.91, "lecture: 89 %", fontsize=9)
left.set_ylim(0, 1)
left.set_title("Mean ± deviation of 3 draws", loc="left", fontsize=10.5)
ax.barh(list(recall)[::-1], [100 * share for share in recall.values()][::-1], color="#0072b2")
ax.set(xlabel="right (%)", xlim=(0, 100))
ax.tick_params(axis="y", labelsize=8, length=0)
ax.set_title("Held-out posts of each group", loc="left", fontsize=10.5)
ax.spines[["top", "right"]].set_visible(False)

if __name__ == "__main__":
    plt.show()
