"""Lecture 001, Table 3.1: the word of each newsgroup with the largest score θ log(θ / θ_rest).

θ is P(word | group) and θ_rest that of all other groups. The lecture does not say how it cut posts into words: here
headers, quotes, footers, English stop words and words of fewer than 50 posts or more than 30 % of them are left out.
Needs a copy of the posts: by default newsgroups20_original.jsonl.xz among the shared data, or the archive, folder or
file that the environment variable NEWSGROUPS names.
"""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt

from deciban import TextClassifier, datasets, plots

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
path = Path(os.environ.get("NEWSGROUPS", SHARED / "newsgroups20" / "newsgroups20_original.jsonl.xz"))
if not path.exists():
    sys.exit(f"there is no {path}: name a copy of 20 Newsgroups by NEWSGROUPS=PATH")

texts, groups = datasets.load_20newsgroups(path, remove="all")
model = TextClassifier(counts=True, alpha=1, stop_words="english", min_df=50, max_df=0.3).fit(texts, groups)
top = model.top_words(5)

lecture = [  # by group, in the order of their names
    *("atheism", "jpeg", "windows", "scsi", "mac", "window", "sale", "car", "bike", "baseball", "hockey", "clipper"),
    *("circuit", "patients", "space", "god", "gun", "armenian", "stephanopoulos", "god"),
]
print(f"{'group':<26}{'lecture':<16}{'first':<12}{'score':>8}{'θ':>9}   next")
for word, (group, words) in zip(lecture, sorted(top.items()), strict=True):
    best, score = words[0]
    others = ", ".join(other for other, _ in words[1:])
    print(f"{group:<26}{word:<16}{best:<12}{score:8.4f}{words.theta[0]:9.4f}   {others}")

found = {
    first: sum(word in dict(words[:first]) for word, (_, words) in zip(lecture, sorted(top.items()), strict=True))
    for first in (1, 2, 5)
}
print("words of the lecture among the first 1, 2, 5:", *found.values())
frame = top.to_frame()  # group, word, score and θ

figure, axes = plt.subplots(2, 2, figsize=(9.5, 6), layout="constrained")
for ax, group in zip(axes.flat, ("alt.atheism", "comp.graphics", "talk.politics.guns", "sci.space"), strict=True):
    plots.top_words(top[group], ax=ax, title=group, both=False)

if __name__ == "__main__":
    plt.show()
