"""Text → posterior, side by side with scikit-learn's pipeline: one short message, and 75 languages.

    python -m bench.text_classifier [--rounds 3]

Runs are interleaved and the quickest of each counts, so that other load of the machine affects both. Writes its table
into README.md.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable

import numpy as np
from sklearn.feature_extraction import text as theirs
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from bench import report
from bench.text_tasks import TASKS, rows
from deciban import CountVectorizer, TextClassifier
from deciban.model_selection.cross_validation import learning_curve


def quickest(tasks: dict[str, Callable[[], object]], rounds: int, repeat: int = 1) -> dict[str, float]:
    """The least seconds of each, one after the other in every round."""
    best = dict.fromkeys(tasks, np.inf)
    for _ in range(rounds):
        for name, run in tasks.items():
            for _ in range(repeat):
                start = time.perf_counter()
                run()
                best[name] = min(best[name], time.perf_counter() - start)
    return best


def one_message(rounds: int) -> dict[str, float]:
    """A text message of 147 letters, by a model of 5,574."""
    found = rows("sms_spam/sms_spam.csv.gz")
    texts, labels = [row["text"] for row in found], [row["label"] for row in found]
    ours = TextClassifier().fit(texts, labels)
    pipeline = make_pipeline(theirs.CountVectorizer(), MultinomialNB()).fit(texts, labels)
    message = [texts[5]]
    tasks = {"deciban": lambda: ours.predict_proba(message), "scikit-learn": lambda: pipeline.predict_proba(message)}
    return quickest(tasks, 20 * rounds, repeat=20)


def languages(rounds: int) -> dict[str, float]:
    """75 languages: fit sentences, predict others, character n-grams of 1 to 4."""
    split = next(TASKS["languages"]())
    settings = {"analyzer": "char_wb", "ngram_range": (1, 4)}

    def ours() -> np.ndarray:
        model = TextClassifier(features=CountVectorizer(**settings), counts=True, smoothing="even", alpha=0.01)
        return model.fit(split.texts, split.labels).predict(split.new)

    def pipeline() -> np.ndarray:
        model = make_pipeline(theirs.CountVectorizer(**settings), MultinomialNB(alpha=0.01))
        return model.fit(split.texts, split.labels).predict(split.new)

    return quickest({"deciban": ours, "scikit-learn": pipeline}, rounds)


def curve(rounds: int) -> dict[str, float]:
    """20 Newsgroups as first collected: a learning curve of 11 sizes, a third held out, compared with one fit."""
    found = rows("newsgroups20/newsgroups20_original.jsonl.xz")
    texts, labels = [row["text"] for row in found], np.array([row["label"] for row in found])
    sizes = np.unique(np.geomspace(20, len(texts) * 2 // 3, 11).astype(int))
    some = np.random.default_rng(0).permutation(len(texts))[: sizes[-1]]
    part, part_labels = [texts[i] for i in some], labels[some]
    tasks = {
        "fit": lambda: TextClassifier().fit(texts, labels),
        "fit of the largest size": lambda: TextClassifier().fit(part, part_labels),
        "curve": lambda: learning_curve(TextClassifier(), texts, labels, sizes, repeats=1),
    }
    return quickest(tasks, 3 * rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1)
    rounds = parser.parse_args().rounds
    print(f"load {os.getloadavg()[0]:.1f} on {len(os.sched_getaffinity(0))} cores", file=sys.stderr)
    lines = []
    for task, required, aim in ((one_message, "5×", "≤ 40 µs"), (languages, "10×", "25×")):
        best = task(rounds)
        ratio = report.times(best["scikit-learn"] / best["deciban"])
        cells = (str(task.__doc__), *(report.seconds(best[name]) for name in ("scikit-learn", "deciban")))
        lines.append((*cells, ratio, required, aim))
        print(*lines[-1], sep=" | ", file=sys.stderr)
    best = curve(rounds)
    head = ("task", "scikit-learn", "deciban", "ratio", "required", "aim")
    table = report.markdown(head, lines, left=1)
    fits = " and ".join(
        f"{report.times(best['curve'] / best[name])} the {report.seconds(best[name])} of a fit of {what}"
        for name, what in (("fit of the largest size", "the texts it learns from"), ("fit", "all texts"))
    )
    note = f"{curve.__doc__} The curve takes {report.seconds(best['curve'])}: {fits} (required: less than 3×)."
    report.between(report.HERE / "README.md", "text classifier", f"{table}\n\n{note}")


if __name__ == "__main__":
    main()
