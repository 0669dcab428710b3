"""Language identification: 75 languages from runs of one to five characters, and how many words it takes.

The model is multinomial naive Bayes of characters; it is learned from sentences, and asked about sentences, pairs of
words, single words, and the first words of each sentence.

    python examples/language.py [language_id.csv.gz] [--text "Où est la gare ?"]

Needs a CSV file with the columns text, label, kind and split, by default ../shared/data/language_id/language_id.csv.gz;
takes about ten seconds.
"""

import argparse
import csv
import gzip
from pathlib import Path

import numpy as np

from deciban import TextClassifier

SENTENCES = Path(__file__).resolve().parents[2] / "shared" / "data" / "language_id" / "language_id.csv.gz"
FIRST = (1, 2, 3, 5, 8)  # words of a sentence


def read(path: Path, every: int = 1) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """(rows to learn from, rows to ask about), every so many-th of each."""
    with gzip.open(path, "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    return tuple([row for row in rows if row["split"] == part][::every] for part in ("train", "test"))  # type: ignore


def learned(rows: list[dict[str, str]]) -> TextClassifier:
    return TextClassifier(features="chars").fit([row["text"] for row in rows], [row["label"] for row in rows])


def share(model: TextClassifier, texts: list[str], right: list[str]) -> float:
    return float((model.predict(texts) == np.array(right)).mean())


def table(path: Path = SENTENCES, every: int = 1) -> dict[str, float]:
    """Accuracy by kind of text, and by the number of words of a sentence that are known."""
    train, test = read(path, every)
    model, out = learned(train), {}
    for kind in ("sentence", "word_pair", "word"):
        some = [row for row in test if row["kind"] == kind]
        out[kind.replace("_", " ")] = share(model, [row["text"] for row in some], [row["label"] for row in some])
    spaced = [row for row in test if row["kind"] == "sentence" and len(row["text"].split()) >= max(FIRST)]
    for n in FIRST:
        starts = [" ".join(row["text"].split()[:n]) for row in spaced]
        out[f"first {n} word{'s' * (n > 1)}"] = share(model, starts, [row["label"] for row in spaced])
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description="Language identification from a few words.")
    parser.add_argument("path", nargs="?", type=Path, default=SENTENCES, help="CSV with text, label, kind and split")
    parser.add_argument("--text", help="predict the language of this text instead")
    given = parser.parse_args()
    if not given.path.exists():
        parser.error(f"there is no file {given.path}: give a CSV file with text, label, kind and split")
    if given.text:
        model = learned(read(given.path)[0])
        chance = model.predict_proba([given.text])[0]
        for c in np.argsort(-chance)[:3]:
            print(f"{model.classes_[c]}  {chance[c]:.3f}")
        return
    print(f"{'accuracy':16} {'%':>6}")
    for name, part in table(given.path).items():
        print(f"  {name:14} {100 * part:6.2f}")


if __name__ == "__main__":
    main()
