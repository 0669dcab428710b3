"""Which classifier for these rows? All that suit them, cross-validated on the same folds and ranked by log loss.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> y = np.repeat(["a", "b"], 60)
>>> X = rng.normal(size=(120, 2)) + 2.0 * (y == "b")[:, None]
>>> out = compare(X, y, ["gaussian", "lda"])
>>> [trial.name for trial in out.trials], out.best.held_out.accuracy > 0.8
(['lda', 'gaussian'], True)
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from deciban import ingest
from deciban.classifiers.counts import BernoulliNB, ComplementNB, MultinomialNB, PoissonNB
from deciban.classifiers.fisher import FisherDiscriminant
from deciban.classifiers.gaussian import GaussianNB
from deciban.classifiers.linear_discriminant import LinearDiscriminantAnalysis
from deciban.classifiers.logistic import LogisticRegression
from deciban.classifiers.mixed import MixedNB
from deciban.classifiers.quadratic_discriminant import QuadraticDiscriminantAnalysis, RegularizedDiscriminantAnalysis
from deciban.classifiers.text import TextClassifier
from deciban.errors import DataError, DecibanError
from deciban.scores import shares_log_loss
from deciban.usable import Columns, Readable
from deciban.validate import CrossValidation, cross_validate

MOST = 10_000  # rows that are tried, evenly spaced


@dataclass(frozen=True)
class Kind:
    """A classifier as it is tried: how to make one, what it needs, and what it is in a few words."""

    name: str
    make: Callable[[], Any]
    words: str
    needs: Callable[[Columns], str] = lambda columns: ""  # what it lacks, or ""
    updates: bool = False  # whether rows can be added and forgotten later
    texts: bool = False  # whether it reads one column of texts

    def lacks(self, found: Readable) -> str:
        """What stands against it, or ""."""
        if self.texts != (found.text is not None):
            return "reads one column of texts alone" if self.texts else "does not read texts"
        return self.needs(found.columns)


def _numbers(columns: Columns) -> str:
    return "" if columns.numeric else "needs numbers in every column"


def _no_holes(columns: Columns) -> str:
    return _numbers(columns) or ("needs every cell" if columns.holes else "")


def _counts(columns: Columns) -> str:
    return "" if columns.whole and not columns.holes else "needs counts in every column"


def _ones(columns: Columns) -> str:
    return "" if columns.binary and not columns.holes else "needs 0 and 1 in every column"


KINDS = {
    kind.name: kind
    for kind in (
        Kind("mixed", MixedNB, "naive Bayes, each column by its own density", updates=True),
        Kind("calibrated", lambda: MixedNB(calibrate=True), "naive Bayes with honest probabilities"),
        Kind("weighted", lambda: MixedNB(weights="discriminative"), "naive Bayes with a weight for each column"),
        Kind("gaussian", GaussianNB, "naive Bayes of bell curves", _numbers, True),
        Kind("lda", LinearDiscriminantAnalysis, "bell curves of one shape, linear borders", _numbers, True),
        Kind("qda", QuadraticDiscriminantAnalysis, "bell curves of any shape, curved borders", _numbers, True),
        Kind("rda", RegularizedDiscriminantAnalysis, "between lda and qda", _numbers, True),
        Kind("fisher", FisherDiscriminant, "the direction that separates best", _numbers, True),
        Kind("logistic", lambda: LogisticRegression(C="auto"), "linear borders, no densities", _no_holes),
        Kind("bernoulli", BernoulliNB, "naive Bayes of presences", _ones, True),
        Kind("multinomial", MultinomialNB, "naive Bayes of counts", _counts, True),
        Kind("complement", ComplementNB, "naive Bayes of counts, by what a class is not", _counts, True),
        Kind("poisson", PoissonNB, "naive Bayes of rates", _counts, True),
        Kind("text", TextClassifier, "naive Bayes of words", updates=True, texts=True),
        Kind(
            "text-calibrated",
            lambda: TextClassifier(calibrate=True),
            "naive Bayes of words with honest probabilities",
            texts=True,
        ),
        Kind("text-logistic", lambda: TextClassifier("nb-logistic"), "a weight for each word, learned", texts=True),
    )
}
AUTO = ("mixed", "calibrated", "weighted", "lda", "logistic", "text", "text-calibrated", "text-logistic")


@dataclass(frozen=True)
class Trial:
    """What folds say of one classifier."""

    kind: Kind
    held_out: CrossValidation
    seconds: float  # of all folds

    @property
    def name(self) -> str:
        return self.kind.name

    @cached_property
    def spread(self) -> float:
        """Standard error of the log loss, from the folds."""
        each = self.held_out.by_fold["log_loss"]
        return float(np.std(each, ddof=1) / np.sqrt(len(each))) if len(each) > 1 else float("nan")


@dataclass(frozen=True)
class Comparison:
    """Classifiers from the best to the worst, those that do not suit the rows with the reason, and advice."""

    trials: list[Trial]
    unfit: dict[str, str]  # classifiers, and what they lack
    left_out: dict[Any, str]  # columns, and why
    rows: int
    base: float  # log loss of the class shares

    @property
    def best(self) -> Trial:
        return self.trials[0]

    @property
    def advice(self) -> str:
        """What to use, in plain words."""
        best = self.best
        if best.held_out.log_loss > 0.98 * self.base:
            return "None of them knows more than the class shares: these columns say nothing about the class."
        words = [f"Use `{best.name}` ({best.kind.words}): the least log loss."]
        near = [trial for trial in self.trials[1:] if trial.held_out.log_loss <= best.held_out.log_loss + best.spread]
        if near:
            words.append(f"{_listed([t.name for t in near])} cannot be told from it by these rows.")
        if not best.kind.updates:
            later = next((trial for trial in self.trials if trial.kind.updates), None)
            if later is not None:
                words.append(f"If rows come later or must be forgotten, use `{later.name}`.")
        return " ".join(words)

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "ranked": [
                {
                    "name": t.name,
                    "log_loss": t.held_out.log_loss,
                    "spread": t.spread,
                    "accuracy": t.held_out.accuracy,
                    "brier": t.held_out.brier,
                    "calibration_error": t.held_out.calibration_error,
                    "seconds": t.seconds,
                }
                for t in self.trials
            ],
            "class_shares_log_loss": self.base,
            "advice": self.advice,
            "unfit": self.unfit,
            "left_out": {str(name): why for name, why in self.left_out.items()},
            "rows": self.rows,
        }

    def __str__(self) -> str:
        wide = max(len("class shares"), *(len(t.name) for t in self.trials))
        head = f"{'':{wide}}  log loss       ±  accuracy   Brier  calibration     time"
        lines = [
            f"{t.name:{wide}}  {t.held_out.log_loss:8.4f}  {t.spread:6.4f}  {t.held_out.accuracy:8.4f}  "
            f"{t.held_out.brier:6.4f}  {t.held_out.calibration_error:11.4f}  {t.seconds:6.2f} s"
            for t in self.trials
        ]
        last = f"{'class shares':{wide}}  {self.base:8.4f}"
        return "\n".join([head, *lines, last])


def compare(
    X: Any,
    y: Any,
    names: Iterable[str] | None = None,
    folds: int = 5,
    tell: Callable[[str, float], None] | None = None,
    text: Any = None,
) -> Comparison:
    """Cross-validate the classifiers of these names, or all that suit X (a frame or an array), on the same folds.

    `tell(name, share)` hears which one is next and how much is done. `text` names a column whose words are to be read
    alone; where only one column of free text could be used, that is done anyway.

    >>> X, y = [[0.0], [0.4], [1.0], [4.0], [4.5], [5.0]], [0, 0, 0, 1, 1, 1]
    >>> compare(X, y, ["gaussian", "poisson"], folds=3).unfit
    {'poisson': 'needs counts in every column'}
    """
    classes, codes = ingest.labels(np.asarray(y), None)
    if len(classes) < 2:
        raise DataError(f"all rows are of one class, {classes.tolist()}\n\nhint: give rows of at least two classes")
    folds = min(folds, len(codes))
    at = np.linspace(0, len(codes) - 1, min(len(codes), MOST)).astype(np.int64)
    found = Readable.of(X, text)
    wanted = [kind.name for kind in KINDS.values() if kind.texts == (found.text is not None)]
    chosen = [named(name) for name in (wanted if names is None else names)]
    unfit = {kind.name: why for kind in chosen if (why := kind.lacks(found))}
    suited = [kind for kind in chosen if kind.name not in unfit]
    rows, labels = _safe_indexing(found.rows(X), at), np.asarray(y)[at]
    trials = []
    for number, kind in enumerate(suited):
        if tell is not None:
            tell(kind.name, number / len(suited))
        try:
            trials.append(_tried(kind, rows, labels, folds))
        except (DecibanError, np.linalg.LinAlgError, ValueError) as error:
            unfit[kind.name] = str(error).split("\n")[0]
    if not trials:
        raise DataError(f"no classifier can learn from these rows: {unfit}\n\nhint: see whether the target is right")
    base = shares_log_loss(codes)
    return Comparison(sorted(trials, key=lambda trial: trial.held_out.log_loss), unfit, found.left_out, len(at), base)


def _tried(kind: Kind, X: Any, y: np.ndarray, folds: int) -> Trial:
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a fold lacks is no news of the whole
        held_out = cross_validate(kind.make(), X, y, folds, random_state=0)
    return Trial(kind, held_out, time.perf_counter() - start)


def named(name: str) -> Kind:
    """The kind of that name.

    >>> named("lda").words
    'bell curves of one shape, linear borders'
    """
    if name not in KINDS:
        close = get_close_matches(name, KINDS, 1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(KINDS)}"
        raise DataError(f"no classifier is called {name!r}\n\nhint: {hint}")
    return KINDS[name]


def classifier_guide() -> dict[str, str]:
    """Each classifier that `compare` and `learn` know by name, in a few words.

    >>> classifier_guide()["lda"]
    'bell curves of one shape, linear borders'
    """
    return {name: kind.words for name, kind in KINDS.items()}


def _listed(names: list[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
