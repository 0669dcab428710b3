"""Accuracy and log loss of `TextClassifier()` compared with scikit-learn's `CountVectorizer()` + `MultinomialNB()`.

python -m bench.quality_text_losses [task …]   → a table on stdout, bench/results/text_losses.csv

Each collection by its column `split`, or with a third held out (random_state=0). Pieces are ten words in a row of each
text held out, asked of the model of whole texts. Languages: `features="chars"` compared with `char_wb` of 1 to 3
characters."""

import csv
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from bench.text_tasks import DATA, rows
from deciban import TextClassifier

RESULTS = Path(__file__).parent / "results" / "text_losses.csv"
FIELDS = ("task", "texts", "ours_accuracy", "theirs_accuracy", "ours_log_loss", "theirs_log_loss", "chosen")
WORDS = 10  # of a piece


class Task(NamedTuple):
    texts: list[str]
    new: list[str]
    labels: np.ndarray
    right: np.ndarray
    pieces: bool = False  # whether pieces of the new texts are asked too
    chars: bool = False


def _third(name: str, pieces: bool = False) -> Task:
    found = rows(name)
    labels = np.array([row["label"] for row in found])
    return Task(*train_test_split([row["text"] for row in found], labels, test_size=1 / 3, random_state=0), pieces)


def _split(name: str, text: Callable[[str], str] = str, pieces: bool = False, chars: bool = False) -> Task:
    found = rows(name)
    parts = [[row for row in found if row["split"] == part] for part in ("train", "test")]
    texts = [[text(row["text"]) for row in part] for part in parts]
    labels = [np.array([row["label"] for row in part]) for part in parts]
    return Task(*texts, *labels, pieces, chars)


def _subject(post: str) -> str:
    found = re.search(r"(?m)^Subject:(.*)$", post)
    return found[1] if found else ""


NEWS = "newsgroups20/newsgroups20_bydate.jsonl.xz"
TASKS: dict[str, Callable[[], Task]] = {
    "sms": lambda: _third("sms_spam/sms_spam.csv.gz"),
    "news": lambda: _split(NEWS, pieces=True),
    "news, subject lines": lambda: _split(NEWS, _subject),
    "movies": lambda: _third("movie_polarity/movie_polarity.jsonl.xz", pieces=True),
    "languages": lambda: _split("language_id/language_id.csv.gz", chars=True),
}


def measured(name: str) -> Iterator[tuple]:
    """A row of results for the task, and one for pieces of its texts."""
    task = TASKS[name]()
    ours = TextClassifier(features="chars" if task.chars else "words")
    vectorizer = CountVectorizer(analyzer="char_wb", ngram_range=(1, 3)) if task.chars else CountVectorizer()
    theirs = make_pipeline(vectorizer, MultinomialNB())
    with threadpool_limits(1):
        for model in (ours, theirs):
            model.fit(task.texts, task.labels)
        asked = {name: (task.new, task.right)}
        if task.pieces:
            asked[f"{name}, pieces of {WORDS} words"] = _pieces(task)
        for what, (texts, right) in asked.items():
            (accuracy, loss), (their_accuracy, their_loss) = (_judged(model, texts, right) for model in (ours, theirs))
            chosen = " ".join(f"{key}={value}" for key, value in ours.tuned_.items())
            yield what, len(right), accuracy, their_accuracy, loss, their_loss, chosen


def _pieces(task: Task) -> tuple[list[str], np.ndarray]:
    rng, found = np.random.default_rng(0), []
    for text, label in zip(task.new, task.right, strict=True):
        words = re.findall(r"\w\w+", text)
        if len(words) >= WORDS:
            at = rng.integers(len(words) - WORDS + 1)
            found.append((" ".join(words[at : at + WORDS]), label))
    return [text for text, _ in found], np.array([label for _, label in found])


def _judged(model: Any, texts: list[str], right: np.ndarray) -> tuple[float, float]:
    """(accuracy, log loss)."""
    proba = np.concatenate([model.predict_proba(texts[at : at + 5000]) for at in range(0, len(texts), 5000)])
    place = np.searchsorted(model.classes_, right)
    own = proba[np.arange(len(right)), place]
    return float((proba.argmax(axis=1) == place).mean()), -float(np.log(np.maximum(own, 1e-300)).mean())


def main(names: list[str]) -> None:
    if not DATA.exists():
        sys.exit(f"no data at {DATA}")
    print(f"{'':32} {'texts':>7}  accuracy: ours theirs  log loss: ours theirs")
    found = []
    for name in names or list(TASKS):
        for row in measured(name):
            print(
                f"{row[0]:32} {row[1]:7,}  {row[2]:14.4f} {row[3]:6.4f}  {row[4]:14.4f} {row[5]:6.4f}  {row[6]}",
                flush=True,
            )
            found.append([value if isinstance(value, str | int) else f"{value:.4f}" for value in row])
    kept = [] if not RESULTS.exists() else list(csv.reader(RESULTS.open(newline="")))[1:]
    done = {row[0] for row in found}
    with RESULTS.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerows([FIELDS, *(row for row in kept if row[0] not in done), *found])


if __name__ == "__main__":
    main(sys.argv[1:])
