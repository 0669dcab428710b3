"""Lecture 001, scaling up: the language of a text from its first few words.

Naive Bayes of sequences of one to five characters, learned from 4,000 sentences in five languages. Needs a CSV file
with the columns text, label, kind ("sentence") and split ("train" or "test"): by default language_id.csv.gz among the
shared data, or the file that the environment variable LANGUAGES names.
"""

import csv
import gzip
import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from deciban import TextClassifier, plots

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
path = Path(os.environ.get("LANGUAGES", SHARED / "language_id" / "language_id.csv.gz"))
if not path.exists():
    sys.exit(f"there is no {path}: name a file of sentences by LANGUAGES=FILE")

languages = {"de": "German", "en": "English", "es": "Spanish", "fr": "French", "it": "Italian"}
with gzip.open(path, "rt", newline="") as file:
    rows = [row for row in csv.DictReader(file) if row["kind"] == "sentence" and row["label"] in languages]
known, new = ([row for row in rows if row["split"] == split] for split in ("train", "test"))
model = TextClassifier(features="chars").fit([row["text"] for row in known], [languages[row["label"]] for row in known])

right = np.array([languages[row["label"]] for row in new])
accuracy = {}
for n in (1, 2, 3, 5, 8, None):
    starts = [" ".join(row["text"].split()[:n]) for row in new]
    accuracy[n] = model.score(starts, right)
    print(f"{'whole sentence' if n is None else f'first words: {n}':<16}{accuracy[n]:.3f}")
words = [row["text"].split()[0] for row in new]

figure, (left, ax) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
left.plot(
    [str(n or "all") for n in accuracy], [100 * share for share in accuracy.values()], "o-", color="#0072b2", lw=1.8
)
left.axhline(20, color="grey", ls="--", lw=1, label="by chance")
left.set(xlabel="number of first words", ylabel="right (%)", ylim=(0, 103))
left.set_title(f"Language of {len(new):,} sentences", loc="left", fontsize=10.5)
left.legend(frameon=False, loc="lower right", fontsize=9)
left.spines[["top", "right"]].set_visible(False)
plots.confusion_matrix(right, model.predict(words), ax, title="From one word")

if __name__ == "__main__":
    plt.show()
