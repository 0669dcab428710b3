"""Naive Bayes features in logistic regression, on film reviews (Wang and Manning, "Baselines and Bigrams", ACL 2012).

A word's log-count ratio is what multinomial naive Bayes weighs it by, so it is read off the model that is learned:

    r = log (p / |p|) / (q / |q|)        p, q: 1 + the texts of either class that have the word
    x → x ∘ r                            the words a text has, each with its ratio as its value

Logistic regression of x ∘ r is naive Bayes where its weights are all 1, and may correct each of them from there.

    python examples/nbsvm.py [movie_polarity.jsonl.xz]

Needs lines of JSON with text, label and fold, by default ../shared/data/movie_polarity/movie_polarity.jsonl.xz; takes
about ten seconds.
"""

import argparse
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from threadpoolctl import threadpool_limits

from deciban import LogisticRegression, MultinomialNB

REVIEWS = Path(__file__).resolve().parents[2] / "shared" / "data" / "movie_polarity" / "movie_polarity.jsonl.xz"
Method = Callable[[sparse.csr_array, np.ndarray, sparse.csr_array], np.ndarray]  # rows, labels, new rows → labels


def read(path: Path) -> tuple[list[str], np.ndarray, np.ndarray]:
    """(texts, labels, the fold of each)."""
    with lzma.open(path, "rt") as file:
        rows = [json.loads(line) for line in file]
    return [row["text"] for row in rows], np.array([row["label"] for row in rows]), np.array([r["fold"] for r in rows])


def naive_bayes(X, y, new):
    return MultinomialNB().fit(X, y).predict(new)


def naive_bayes_of_presence(X, y, new):
    return MultinomialNB().fit(X.sign(), y).predict(new.sign())


def logistic(X, y, new):
    return LogisticRegression().fit(X.sign(), y).predict(new.sign())


def logistic_of_ratios(X, y, new):
    ratio = sparse.diags_array(MultinomialNB().fit(X.sign(), y).as_logistic().coef_[0])
    return LogisticRegression().fit(X.sign() @ ratio, y).predict(new.sign() @ ratio)


METHODS: dict[str, Method] = {
    "multinomial naive Bayes": naive_bayes,
    "the same of presence": naive_bayes_of_presence,
    "logistic regression": logistic,
    "logistic regression of ratios": logistic_of_ratios,
}


def accuracy(method: Method, X: sparse.csr_array, y: np.ndarray, fold: np.ndarray) -> float:
    """Cross-validated accuracy: the mean over folds."""
    return float(
        np.mean([(method(X[fold != f], y[fold != f], X[fold == f]) == y[fold == f]).mean() for f in set(fold)])
    )


def table(path: Path = REVIEWS, every: int = 1) -> dict[str, float]:
    """The accuracy of each method, of every so many-th review."""
    texts, y, fold = read(path)
    X = sparse.csr_array(CountVectorizer(token_pattern=r"\S+", dtype=np.float64).fit_transform(texts[::every]))
    with threadpool_limits(1):  # products of small vectors: threads would only wait for each other
        return {name: accuracy(method, X, y[::every], fold[::every]) for name, method in METHODS.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Naive Bayes features in logistic regression, on film reviews.")
    parser.add_argument("path", nargs="?", type=Path, default=REVIEWS, help="lines of JSON with text, label and fold")
    given = parser.parse_args()
    if not given.path.exists():
        parser.error(f"there is no file {given.path}: give lines of JSON with text, label and fold")
    print(f"{'accuracy by the 10 canonical folds':32} {'%':>6}")
    for name, share in table(given.path).items():
        print(f"  {name:30} {100 * share:6.2f}")


if __name__ == "__main__":
    main()
