"""`python -m bench.sets`: coverage and size of the sets of `predict_set` on shared data; writes SETS.md.

Each set of rows is split at random, several times, into rows to learn, rows to calibrate and rows to test. MAPIE (where
it is installed) makes sets by split conformal prediction from the same probabilities of the same rows. Figures are
means over the splits.

Example:
    python -m bench.sets --splits 5
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import train_test_split

import deciban
from bench import tables
from bench.report import machine, markdown

PAGE = Path(__file__).with_name("SETS.md")
COVERAGE = 0.9
MODELS: dict[str, list[Callable[[], Any]]] = {
    "adult": [
        lambda: deciban.MixedNB(calibrate=True),
        lambda: deciban.MixedNB(weights="discriminative"),
        lambda: deciban.LogisticRegression(),
    ],
    "letter": [
        lambda: deciban.MixedNB(calibrate=True),
        lambda: deciban.QuadraticDiscriminantAnalysis(reg_param=0.01, calibrate=True),
        lambda: deciban.LinearDiscriminantAnalysis(),
    ],
    "sms": [lambda: deciban.TextClassifier(), lambda: deciban.TextClassifier("nb-logistic")],
}
HEAD = ("rows", "model", "calibrated by", "coverage", "by class: coverage", "size", "size by class", "empty", "CPU")
TEXT = f"""# Sets of classes

`python -m bench.sets` writes this page: sets of `predict_set(coverage={COVERAGE})`, means over random splits of the
rows into 60 % to learn, 15 % to calibrate and 25 % to test. "coverage" is the share of test rows whose set has the
true class. "by class: coverage" are the least and the largest share of a class with `by_class=True`, over the test rows
of all splits. "size" is the mean number of classes in a set. The sets of MAPIE come from its
`SplitConformalClassifier(conformity_score="lac")`, with the probabilities of the same model for the same rows. "CPU"
is the processor time of calibration and prediction.

"""


class Known(ClassifierMixin, BaseEstimator):
    """Probabilities that are known, by the number of a row: for MAPIE."""

    def __init__(self, proba=None):
        self.proba = proba
        self.classes_ = np.arange(proba.shape[1])
        self.n_features_in_ = 1

    def predict_proba(self, X):
        return self.proba[np.asarray(X)[:, 0].astype(int)]

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)


@dataclass
class Found:
    """Sets of the test rows of all splits."""

    inside: list[np.ndarray] = field(default_factory=list)  # whether the true class is in the set
    y: list[np.ndarray] = field(default_factory=list)
    sizes: list[float] = field(default_factory=list)
    empty: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def add(self, sets: np.ndarray, y: np.ndarray, seconds: float) -> None:
        self.inside.append(sets[np.arange(len(y)), y])
        self.y.append(y)
        self.sizes.append(float(sets.sum(axis=1).mean()))
        self.empty.append(float((~sets.any(axis=1)).mean()))
        self.seconds.append(seconds)

    @property
    def coverage(self) -> float:
        return float(np.concatenate(self.inside).mean())

    @property
    def of_classes(self) -> np.ndarray:
        inside, y = np.concatenate(self.inside), np.concatenate(self.y)
        return np.bincount(y, inside) / np.bincount(y)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.sets", description="Coverage and size of sets.")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--only", default="adult,letter,sms", metavar="NAME,…")
    args = parser.parse_args(argv)
    lines = []
    for name in args.only.split(","):
        X, y = read(name)
        for make in MODELS[name]:
            for line in measured(name, X, y, make, args.splits):
                print(*line, sep=" | ", flush=True)
                lines.append(line)
    PAGE.write_text(f"{TEXT}{machine()} {args.splits} splits.\n\n{markdown(HEAD, lines, 3)}\n")


def read(name: str) -> tuple[Any, np.ndarray]:
    if name == "sms":
        rows = pd.read_csv(tables.SHARED / "sms_spam" / "sms_spam.csv.gz")
        return rows["text"].to_numpy(object), rows["label"].to_numpy(object).astype(str)
    table = next(iter(tables.load((name,), tables.SHARED)))
    return table.X, table.labels


def measured(name: str, X: Any, y: np.ndarray, make: Callable[[], Any], splits: int) -> Iterator[tuple[str, ...]]:
    """A line for each way to calibrate."""
    found: dict[str, tuple[Found, Found]] = {}
    for seed in range(splits):
        rest, test = train_test_split(np.arange(len(y)), test_size=0.25, random_state=seed)
        learn, fresh = train_test_split(rest, test_size=0.2, random_state=seed)
        few, whole = make().fit(at(X, learn), y[learn]), make().fit(at(X, rest), y[rest])
        true = np.searchsorted(whole.classes_, y[test])
        new, kept = (at(X, fresh), y[fresh]), (at(X, rest), y[rest])
        ways = {
            "fresh rows": (few, {"calibration": new}),
            "training rows": (whole, {"calibration": kept, "learned": True}),
        }
        ways["rows that it keeps"] = whole, {}
        for way, (model, how) in ways.items():
            for place, by_class in enumerate((False, True)):
                start = time.process_time()
                try:
                    sets = model.predict_set(at(X, test), COVERAGE, by_class, **how)
                except deciban.errors.DataError:  # it keeps none
                    break
                found.setdefault(way, (Found(), Found()))[place].add(sets, true, time.process_time() - start)
        if (sets := by_mapie(few, at(X, fresh), np.searchsorted(few.classes_, y[fresh]), at(X, test))) is not None:
            found.setdefault("MAPIE, fresh rows", (Found(), Found()))[0].add(sets, true, 0.0)
    title = repr(make()).replace("deciban.", "")
    for way, (plain, each) in found.items():
        by = (
            ("", "")
            if not each.y
            else (f"{each.of_classes.min():.3f} – {each.of_classes.max():.3f}", f"{np.mean(each.sizes):.3f}")
        )
        cpu = "" if way.startswith("MAPIE") else f"{np.mean(plain.seconds):.2f} s"
        yield (
            name, f"`{title}`", way, f"{plain.coverage:.4f}", by[0], f"{np.mean(plain.sizes):.4f}", by[1],
            f"{np.mean(plain.empty):.4f}", cpu,
        )  # fmt: skip


def at(X: Any, rows: np.ndarray) -> Any:
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]


def by_mapie(model: Any, X: Any, y: np.ndarray, test: Any) -> np.ndarray | None:
    """The sets (n, k) of MAPIE's split conformal prediction; None: it is not installed."""
    try:
        from mapie.classification import SplitConformalClassifier
    except ImportError:
        return None
    proba = np.concatenate([np.asarray(model.predict_proba(part)) for part in (X, test)])
    rows = np.arange(len(proba))[:, None]
    sets = SplitConformalClassifier(Known(proba), confidence_level=COVERAGE, conformity_score="lac", prefit=True)
    sets.conformalize(rows[: len(y)], y)
    return np.asarray(sets.predict_set(rows[len(y) :])[1])[:, :, 0]


if __name__ == "__main__":
    main()
