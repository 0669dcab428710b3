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

from deciban import ingest, tabular
from deciban.classifiers.counts import BernoulliNB, ComplementNB, MultinomialNB, PoissonNB
from deciban.classifiers.fisher import FisherDiscriminant
from deciban.classifiers.gaussian import GaussianNB
from deciban.classifiers.linear_discriminant import LinearDiscriminantAnalysis
from deciban.classifiers.logistic import LogisticRegression
from deciban.classifiers.mixed import MixedNB
from deciban.classifiers.quadratic_discriminant import QuadraticDiscriminantAnalysis, RegularizedDiscriminantAnalysis
from deciban.classifiers.text import TextClassifier
from deciban.errors import DataError, DecibanError
from deciban.learning.teaching import Rows
from deciban.sampling import folds_by_content, sample_rows
from deciban.scores import shares_log_loss
from deciban.usable import Columns, Readable
from deciban.validate import CrossValidation, apart, validated

MOST = 10_000  # rows that are tried, drawn class by class
LONE = "every class has one row"
FOLDS = 10
ENOUGH = 3  # folds after which one that takes long may be given up
REPEATS = 3  # deals of folds
SMALL = 400_000  # cells of a table that is dealt out so often
WORDS = 50  # columns that a text counts for
MOST_FOLDS = 50
SLIGHT = 0.002  # nats of log loss that are not worth a more complex classifier
WORST = 1000.0  # nats: what a row of probability 0 costs where two classifiers are compared


@dataclass(frozen=True, repr=False)
class Kind:
    """A classifier as it is tried: how to make one, what it needs, and what it is in a few words."""

    name: str
    make: Callable[[], Any]
    words: str
    needs: Callable[[Columns], str] = lambda columns: ""  # what it lacks, or ""
    updates: bool = False  # whether rows can be added and forgotten later
    texts: bool = False  # whether it reads one column of texts
    complexity: int = 0  # of two that the rows cannot tell apart, the one with less is chosen
    fewest: int = 0  # rows, below which `learn` does not choose it: as if what few rows estimate were known

    def __repr__(self) -> str:
        return f"{self.name}: {self.words}"

    def lacks(self, found: Readable) -> str:
        """What stands against it, or ""."""
        if self.texts != (found.text is not None):
            return "reads one column of texts alone" if self.texts else "does not read texts"
        return self.needs(found.columns)


NUMBERS, CELLS = "needs numbers in every column", "needs every cell"
COUNTS, ONES = "needs counts in every column", "needs 0 and 1 in every column"


def _numbers(columns: Columns) -> str:
    return "" if columns.numeric else NUMBERS


def _no_holes(columns: Columns) -> str:
    return _numbers(columns) or (CELLS if columns.holes else "")


def _counts(columns: Columns) -> str:
    return "" if columns.whole and not columns.holes else COUNTS


def _ones(columns: Columns) -> str:
    return "" if columns.binary and not columns.holes else ONES


KINDS = {
    kind.name: kind
    for kind in (
        Kind("mixed", MixedNB, "naive Bayes, each column by its own density", updates=True),
        Kind("calibrated", lambda: MixedNB(calibrate=True), "calibrated naive Bayes", complexity=1),
        Kind(
            "weighted",
            lambda: MixedNB(weights="discriminative"),
            "naive Bayes with a weight for each column",
            complexity=2,
        ),
        Kind("gaussian", GaussianNB, "naive Bayes of bell curves", _numbers, True),
        Kind(
            "lda",
            LinearDiscriminantAnalysis,
            "bell curves of one shape, linear borders",
            _numbers,
            True,
            complexity=1,
            fewest=20,
        ),
        Kind(
            "qda",
            QuadraticDiscriminantAnalysis,
            "bell curves of any shape, curved borders",
            _numbers,
            True,
            complexity=2,
        ),
        Kind("rda", RegularizedDiscriminantAnalysis, "between lda and qda", _numbers, True, complexity=2),
        Kind("fisher", FisherDiscriminant, "the direction that separates best", _numbers, True, complexity=1),
        Kind(
            "logistic",
            lambda: LogisticRegression(C="auto"),
            "linear borders, no densities",
            _no_holes,
            complexity=2,
            fewest=20,
        ),
        Kind("bernoulli", BernoulliNB, "naive Bayes of presences", _ones, True),
        Kind("multinomial", MultinomialNB, "naive Bayes of counts", _counts, True),
        Kind("complement", ComplementNB, "naive Bayes of counts, by what a class is not", _counts, True),
        Kind("poisson", PoissonNB, "naive Bayes of rates", _counts, True),
        Kind("text", TextClassifier, "naive Bayes of words", updates=True, texts=True),
        Kind(
            "text-calibrated",
            lambda: TextClassifier(calibrate=True),
            "calibrated naive Bayes of words",
            texts=True,
            complexity=1,
        ),
        Kind(
            "text-logistic",
            lambda: TextClassifier("nb-logistic"),
            "a weight for each word, learned",
            texts=True,
            complexity=2,
        ),
    )
}
AUTO = ("mixed", "calibrated", "lda", "logistic", "weighted", "text", "text-calibrated", "text-logistic")


@dataclass(frozen=True, repr=False)
class Trial:
    """What folds say of one classifier."""

    kind: Kind
    held_out: CrossValidation
    seconds: float  # of all folds

    def __repr__(self) -> str:
        out = self.held_out
        return f"{self.name}: log loss {out.log_loss:.4f} ± {self.spread:.4f}, accuracy {out.accuracy:.4f}"

    @property
    def name(self) -> str:
        return self.kind.name

    @cached_property
    def spread(self) -> float:
        """Standard error of the log loss, from the folds."""
        each = self.held_out.by_fold["log_loss"]
        each = each[~np.isnan(each)]  # a fold may have no row that is scored
        once = len(each) / self.held_out.repeats  # to deal again is no news of other rows
        return float(np.std(each, ddof=1) / np.sqrt(once)) if len(each) > 1 else float("nan")

    def worse(self, other: Trial) -> tuple[float, float]:
        """(by how much its log loss is larger than another's, standard error of that), row by row: both were asked
        about the same rows."""
        mine, theirs = (np.minimum(trial.held_out.losses, WORST) for trial in (self, other))
        more = mine - theirs
        more = more[~np.isnan(more)]
        return float(more.mean()), float(more.std(ddof=1) / np.sqrt(len(more))) if len(more) > 1 else 0.0


@dataclass(frozen=True, repr=False)
class Comparison:
    """Classifiers from the best to the worst, those that do not suit the rows with the reason, and advice."""

    trials: list[Trial]
    unfit: dict[str, str]  # classifiers, and what they lack
    left_out: dict[Any, str]  # columns, and why
    rows: int  # that were used
    total: int  # that there are
    folds: int
    base: float  # log loss of the class shares
    wordy: tuple[Any, ...] = ()  # columns that hold words
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> Trial:
        """The one with the least log loss."""
        return self.trials[0]

    @cached_property
    def chosen(self) -> Trial:
        """The best of those that are as simple as the simplest whose log loss is within one standard error (or 0.002)
        of the least. The standard error is that of the difference, row by row."""
        near = []
        for trial in self.trials:
            more, error = trial.worse(self.best)
            near += [trial] if trial is self.best or more <= max(error, SLIGHT) else []
        simplest = min(trial.kind.complexity for trial in near)
        return next(trial for trial in self.trials if trial.kind.complexity <= simplest)

    @property
    def unknown(self) -> dict[Any, int]:
        """Classes with rows that are in no score, as the other folds have none of the class, and how many."""
        return self.best.held_out.unknown

    @property
    def how(self) -> str:
        """How rows were held out, in words."""
        times = max(trial.held_out.repeats for trial in self.trials)
        once = [trial.name for trial in self.trials if trial.held_out.repeats < times]
        return folds_of(self.folds, self.rows, self.total, times) + (f" ({', '.join(once)}: once)" if once else "")

    @property
    def advice(self) -> str:
        """What to use, in plain words."""
        best, chosen = self.best, self.chosen
        if best.held_out.log_loss > 0.98 * self.base:
            return "None of them knows more than the class shares: these columns say nothing about the class."
        if chosen is best:
            words = [f"Use `{best.name}` ({best.kind.words}): the least log loss."]
        else:
            words = [
                f"Use `{chosen.name}` ({chosen.kind.words}): simpler than `{best.name}`, and by these rows "
                "not clearly worse."
            ]
        near = []
        for trial in self.trials:
            more, error = trial.worse(best)
            near += [trial] if trial not in (best, chosen) and more <= 2 * error else []
        if near:
            words.append(f"{_listed([t.name for t in near])} cannot be told from `{best.name}` by these rows.")
        if not chosen.kind.updates:
            later = next((trial for trial in self.trials if trial.kind.updates), None)
            if later is not None:
                words.append(f"If rows come later or must be forgotten, use `{later.name}`.")
        return " ".join(words)

    @property
    def not_tried(self) -> list[str]:
        """For each reason one line: what was not tried."""
        reasons: dict[str, list[str]] = {}
        for name, why in self.unfit.items():
            reasons.setdefault(why, []).append(name)
        words = [f"`{name}`" for name in self.wordy]
        named = f"{_and(words[:4])}{' and more' if len(words) > 4 else ''} {'is' if len(words) == 1 else 'are'} words"
        told: dict[str, list[str]] = {}
        for why, names in reasons.items():
            because = named if words and why in (NUMBERS, COUNTS, ONES) else _plural(why, len(names))
            told.setdefault(because, []).extend(names)
        return [f"not tried, because {why}: {', '.join(names)}" for why, names in told.items()]

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
            "chosen": self.chosen.name,
            "class_shares_log_loss": self.base,
            "advice": self.advice,
            "unfit": self.unfit,
            "left_out": {str(name): why for name, why in self.left_out.items()},
            "rows": self.rows,
            "of_rows": self.total,
            "folds": self.folds,
            "not_scored": {str(label): rows for label, rows in self.unknown.items()},
            "notes": list(self.notes),
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
        return "\n".join([head, *lines, last, f"by {self.how}", *apart(self.unknown)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return tabular.preformatted(str(self))


def lone(y: np.ndarray) -> bool:
    """Whether no class has a second row, so that none can be left out and still be known.

    >>> lone(np.array(["a", "b"])), lone(np.array(["a", "b", "a"]))
    (True, False)
    """
    return bool(np.bincount(ingest.labels(y, None)[1]).max() < 2)


def folds_of(folds: int, rows: int, total: int, times: int = 1) -> str:
    """How rows were held out, in words.

    >>> folds_of(10, 10_000, 20_000), folds_of(6, 6, 6), folds_of(10, 150, 150, 3)
    ('10 folds of 10,000 of 20,000 rows', '6 folds of one row each (leave-one-out)', '10 folds, dealt 3 times')
    """
    alone = " of one row each (leave-one-out)" if folds == rows else ""
    again = f", dealt {times} times" if times > 1 else ""
    return f"{folds} folds{alone}" + (f" of {rows:,} of {total:,} rows" if rows < total else "") + again


def compare(
    X: Any,
    y: Any,
    names: Iterable[str] | None = None,
    folds: int = FOLDS,
    tell: Callable[[str, float], None] | None = None,
    text: Any = None,
) -> Comparison:
    """Cross-validate the classifiers of these names, or all that suit X, on the same folds.

    Of more than 10,000 rows as many are drawn, class by class and at least a few of each class. Which rows are drawn,
    and which are held out together, depends on their cells and not on their order. There are at most as many folds as
    rows, and at most 50.

    Parameters
    ----------
    X : frame, array of shape (n, d), or dictionaries
        The rows.
    y : array of shape (n,), or str
        Their classes, or the name of the column of X that holds them.
    names : iterable of str, optional
        The classifiers to try. By default all that suit the columns.
    folds : int, default 10
        How many parts the rows are dealt into; each is predicted by a model of the others.
    tell : callable, optional
        Called as `tell(name, share)` before each classifier: which one is next and how much is done.
    text : str or int, optional
        A column whose words are to be read alone. Where only one column of free text could be used, that is done
        anyway.

    Returns
    -------
    Comparison
        `trials` from the best to the worst, `chosen`, `advice`, and which classifiers and columns were left out.

    Examples
    --------
    >>> X, y = [[0.0], [0.4], [1.0], [4.0], [4.5], [5.0]], [0, 0, 0, 1, 1, 1]
    >>> compare(X, y, ["gaussian", "poisson"], folds=3).unfit
    {'poisson': 'needs counts in every column'}
    """
    X, y = ingest.labelled(X, y)
    found = Readable.of(X, text)
    return compare_readable(found, found.rows(X), np.asarray(y), names, folds, tell)


def compare_readable(
    found: Readable,
    rows: Any,
    y: np.ndarray,
    names: Iterable[str] | None = None,
    folds: int = FOLDS,
    tell: Callable[[str, float], None] | None = None,
    race: bool = False,
) -> Comparison:
    """The same of columns that were looked at before. `race`: those that take long come last, and are given up after a
    few folds where they do not get ahead of the best until then."""
    classes, codes = ingest.labels(y, None)
    if len(classes) < 2:
        raise DataError(f"all rows are of one class, {classes.tolist()}\n\nhint: give rows of at least two classes")
    if lone(y):
        raise DataError(f"{LONE}: none can be held out to compare by\n\nhint: give two rows of a class, or more")
    wanted = [kind.name for kind in KINDS.values() if kind.texts == (found.text is not None)]
    chosen = [named(name) for name in (wanted if names is None else names)]
    unfit = {kind.name: why for kind in chosen if (why := kind.lacks(found))}
    suited = [kind for kind in chosen if kind.name not in unfit]
    suited = sorted(suited, key=lambda kind: kind.complexity) if race else suited
    at = sample_rows(rows, codes, MOST)
    drawn, labels = ingest.rows_at(rows, at) if len(at) < len(codes) else rows, y[at]
    most = min(folds, len(at), MOST_FOLDS)
    times = 1 if most == len(at) else repeats(found, len(at))  # rows that are folds are always the same folds
    notes = [] if most == folds else [f"{folds} folds were asked for; {most} are used, for {len(at):,} rows"]
    deals = [folds_by_content(drawn, codes[at], most, seed) for seed in range(times)]
    trials: list[Trial] = []
    for number, kind in enumerate(suited):
        if tell is not None:
            tell(kind.name, number / len(suited))
        try:
            rival = min(trials, key=lambda trial: trial.held_out.log_loss, default=None) if race else None
            trials.append(_tried(kind, drawn, labels, deals, rival))
        except (DecibanError, np.linalg.LinAlgError, ValueError) as error:
            unfit[kind.name] = str(error).split("\n")[0].rstrip(".")
    if not trials:
        raise DataError(f"no classifier can learn from these rows: {unfit}\n\nhint: see whether the target is right")
    trials.sort(key=lambda trial: trial.held_out.log_loss)
    base = shares_log_loss(codes[at][~np.isnan(trials[0].held_out.losses)])
    words = tuple(found.columns.words)
    return Comparison(trials, unfit, found.left_out, len(at), len(codes), most, base, words, tuple(notes))


def repeats(found: Readable, rows: int) -> int:
    """How often folds are dealt out for classifiers that learn fast: one deal is a matter of luck."""
    wide = len(found.columns.kept) if found.text is None else WORDS
    return REPEATS if rows * wide <= SMALL else 1


def deal(
    kind: Kind, X: Any, y: np.ndarray, deals: list[np.ndarray], rival: CrossValidation | None = None
) -> CrossValidation:
    """What models of that kind say of rows that they have not seen, by one deal of folds or several; those that take
    long have one deal, and stop early where they do not get ahead of a rival."""
    long = kind.complexity > 1

    def keeps_up(folds: int, losses: np.ndarray) -> bool:
        if rival is None or not long or folds != ENOUGH:
            return True
        more = np.minimum(losses, WORST) - np.minimum(rival.losses, WORST)
        more = more[~np.isnan(more)]
        if len(more) < 2:
            return True
        error = more.std(ddof=1) / np.sqrt(len(more))  # to be chosen, it must be better by more than that in the end
        return bool(more.mean() < -SLIGHT or (more.mean() <= error / 2 and error > SLIGHT))

    rows = Rows.of(X, y, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a fold lacks is no news of the whole
        parts = [validated(kind.make(), rows, fold, keeps_up) for fold in (deals[:1] if long else deals)]
    return CrossValidation.joined(parts)


def _tried(kind: Kind, X: Any, y: np.ndarray, deals: list[np.ndarray], rival: Trial | None) -> Trial:
    start = time.perf_counter()
    held_out = deal(kind, X, y, deals, None if rival is None else rival.held_out)
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
    return _and([f"`{name}`" for name in names])


def _and(names: list[str]) -> str:
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else "".join(names)


def _plural(why: str, many: int) -> str:
    """What one or several classifiers lack, as the end of a sentence."""
    first, _, rest = why.partition(" ")
    verbs = {"needs": "need", "reads": "read", "does": "do"}
    if first not in verbs:
        return why
    return f"it {why}" if many == 1 else f"they {verbs[first]} {rest}"
