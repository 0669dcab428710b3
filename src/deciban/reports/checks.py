"""Warnings of a report: possible leakage, duplicates of training rows, classes of few rows, and drift.

Drift of a column is measured by groups of its cells. Numbers are cut at the deciles of the training rows, levels are
their own groups (rare ones together), and missing cells are a group. The distance is half the sum of the absolute
differences of the groups' shares (total variation), 0 … 1: the least share of rows that must have changed. A column is
named if the distance is large and Pearson's test of the two rows of counts rules out chance.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> found = drift(rng.normal(size=(500, 2)), rng.normal(size=(500, 2)) + [0, 2])
>>> [(one.column, round(one.distance, 1)) for one in found]
[('x1', 0.7)]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import xlogy
from scipy.stats import chi2, chi2_contingency

from deciban.data import frames
from deciban.display import format_list, truncate
from deciban.errors import DecibanError
from deciban.model_selection.cross_validation import not_scored_note
from deciban.model_selection.labelled_rows import training_counts
from deciban.model_selection.leakage import find_leakage
from deciban.reports.data import ReportData

FEW = 10  # rows of a class that are too few
NAMED = 8  # warnings of one kind, at most
CLASS_DISTANCE = 0.05  # smallest change of the class frequencies that is a warning
DISTANCE = 0.1  # smallest change of a column, or of the share of texts with a word
CHANCE = 0.001  # probability of chance that is ruled out, over all columns or words together
DUPLICATES = 0.02  # share of duplicates
OPTIMISTIC = "the scores may be optimistic"


def run_checks(facts: ReportData) -> list[str]:
    """All warnings, the most serious first."""
    return [warning for check in (OF_TABLES if facts.texts is None else OF_TEXTS) for warning in check(facts)]


def _first(warnings: list[str], what: str) -> list[str]:
    return warnings if len(warnings) <= NAMED else [*warnings[:NAMED], f"And {len(warnings) - NAMED} more {what}."]


# tables


def _leakage(facts: ReportData) -> list[str]:
    if facts.columns is None:
        return []
    try:
        found = find_leakage(facts.X, facts.classes[facts.y])
    except DecibanError:  # a table that no column model reads
        return []
    name = {column.label: facts.column_name(column) for column in facts.columns}
    warnings = [f"Leak? `{name[one.column]}` {one.words}. Is it known before the outcome is?" for one in found]
    return _first(warnings, "columns that predict the class almost alone")


def _duplicates(facts: ReportData) -> list[str]:
    """Rows that are training rows, more of them than rows of training are equal by chance."""
    if facts.train is None or facts.columns is None or sparse.issparse(facts.train[0]):
        return []
    known, rows = Counter(_row_bytes(facts.train[0])), _row_bytes(facts.X)
    share = sum(row in known for row in rows) / len(rows)
    usual = sum(times for times in known.values() if times > 1) / max(known.total(), 1)
    if share < usual + DUPLICATES:
        return []
    return [f"{100 * share:.0f} % of these rows are duplicates of training rows: {OPTIMISTIC}."]


def _row_bytes(X: Any) -> list[bytes]:
    """Every row as bytes that are equal for equal cells."""
    codes = [
        c.values.astype(np.float64) if c.levels is None else np.array([*map(hash, map(str, c.levels)), 0])[c.values]
        for c in frames.columns(X)
    ]
    table = np.ascontiguousarray(np.column_stack([np.asarray(c, dtype=np.float64) + 0.0 for c in codes]))
    return [row.tobytes() for row in table]


def _column_drift(facts: ReportData) -> list[str]:
    if facts.train is None or facts.columns is None:
        return []
    warnings = [f"Drift: {one.words}." for one in drift(facts.train[0], facts.X)]
    return _first(warnings, "columns whose distribution changed")


# tables and texts


def _zero_probability(facts: ReportData) -> list[str]:
    known = facts.known[facts.y] & facts.judged
    n = int(np.isneginf(facts.log_proba[np.arange(facts.n), facts.y])[known].sum())
    if not n:
        return []
    rows = "1 row has a true class" if n == 1 else f"{n:,} rows have a true class"
    return [f"{rows} with predicted probability 0, so the log loss is infinite. Increase the smoothing."]


def _unknown_classes(facts: ReportData) -> list[str]:
    present = np.bincount(facts.y, minlength=len(facts.classes)) > 0
    names = [truncate(facts.names[c], 30) for c in np.flatnonzero(~facts.known & present)]
    rows = int((~facts.known[facts.y]).sum())
    return (
        [f"{rows:,} rows are of classes that the model does not know: {format_list(names, quote='')}."] if names else []
    )


def _not_scored(facts: ReportData) -> list[str]:
    codes, rows = np.unique(facts.y[~facts.judged], return_counts=True)
    counts = {truncate(facts.names[c], 30): int(n) for c, n in zip(codes, rows, strict=True)}
    return [f"{note[0].upper()}{note[1:]}." for note in not_scored_note(counts)]


def _small_classes(facts: ReportData) -> list[str]:
    counts = np.bincount(facts.y, minlength=len(facts.classes))
    few = [f"`{truncate(facts.names[c], 30)}` ({counts[c]})" for c in np.flatnonzero(counts < FEW)]
    out = [f"Few rows to evaluate (fewer than {FEW}): {format_list(few, NAMED, '')}."] if few else []
    training = training_counts(facts.model)
    if training is not None:
        pairs = zip(facts.model.classes_.tolist(), training, strict=True)
        few = [f"`{truncate(str(label), 30)}` ({count:g})" for label, count in pairs if count < FEW]
        out += [f"Few training rows (fewer than {FEW}): {format_list(few, NAMED, '')}."] if few else []
    return out


def _class_drift(facts: ReportData) -> list[str]:
    before, classes = training_counts(facts.model), facts.model.classes_
    if facts.train is not None and facts.train[1] is not None:
        before = np.array([(facts.train[1] == label).sum() for label in classes])
    if before is None:
        return []
    after = np.bincount(facts.y, minlength=len(facts.classes))[np.searchsorted(facts.classes, classes)]
    distance, chance = shares_moved(np.asarray(before), after)
    if distance < CLASS_DISTANCE or chance > CHANCE:
        return []
    shares = np.asarray(before) / np.sum(before), after / max(after.sum(), 1)
    c = int(np.abs(shares[1] - shares[0]).argmax())
    return [
        f"Drift of classes: `{truncate(str(classes[c]), 30)}` is {100 * shares[1][c]:.0f} % of these rows, "
        f"{100 * shares[0][c]:.0f} % of the training rows. Predict with `priors=`, or see `adapt_priors`."
    ]


# texts

SKILL = 0.8  # share of the information about the class in a word that may be leakage
LEAST = 20  # texts, to suspect a word
UNKNOWN = 0.2  # share of words that are not in the training texts
NAMED_WORDS = 3


def _word_leakage(facts: ReportData) -> list[str]:
    """A word whose presence alone predicts the class."""
    if facts.n < LEAST:
        return []
    classes = np.bincount(facts.y, minlength=len(facts.classes))
    counts = _texts_with(facts)
    loss = _log_loss(counts) + _log_loss(classes - counts)
    base = _log_loss(classes[None])[0]
    word = int(loss.argmin()) if len(loss) and base > 0 else 0
    if not len(loss) or not base or 1 - loss[word] / base < SKILL:
        return []
    right = counts[word].max() + (classes - counts[word]).max()
    return [
        f"Leak? The presence of `{facts.model.vocabulary_[word]}` alone predicts the class of "
        f"{100 * right / facts.n:.1f} % of the texts. Is it known before the class is?"
    ]


def _texts_with(facts: ReportData) -> np.ndarray:
    """The number of texts of each class with each word, (d, k)."""
    x = facts.words
    rows = np.repeat(np.arange(facts.n), np.diff(x.indptr))[x.data > 0]
    words, k = x.indices[x.data > 0], len(facts.classes)
    return np.bincount(words * np.int64(k) + facts.y[rows], minlength=x.shape[1] * k).reshape(-1, k)


def _log_loss(counts: np.ndarray) -> np.ndarray:
    """The summed log loss of predicting so many texts of each class by the shares of the classes, (d,)."""
    return -xlogy(counts, counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)).sum(axis=1)


def _duplicate_texts(facts: ReportData) -> list[str]:
    """Texts that occur with two classes, more than once, or in training."""
    assert facts.texts is not None
    times = Counter(facts.texts)
    classes = Counter(text for text, _ in set(zip(facts.texts, facts.y.tolist(), strict=True)))
    both = sum(count > 1 for count in classes.values())
    out = [f"{both:,} texts occur with more than one class: at least one of the labels is wrong."] if both else []
    share = sum(count for count in times.values() if count > 1) / facts.n
    if facts.cross_validated and share > DUPLICATES:
        out.append(f"{100 * share:.0f} % of the texts are duplicates of others: {OPTIMISTIC}.")
    if facts.train is not None and not facts.cross_validated:
        known = set(facts.train[0])
        share = sum(text in known for text in facts.texts) / facts.n
        if share > DUPLICATES:
            out.append(f"{100 * share:.0f} % of these texts are duplicates of training texts: {OPTIMISTIC}.")
    return out


def _no_known_words(facts: ReportData) -> list[str]:
    n = int((np.diff(facts.words.indptr) == 0).sum())
    return [f"{n:,} texts contain no known word; they are predicted from the class frequencies."] if n else []


def _word_drift(facts: ReportData) -> list[str]:
    """Words that are more or less frequent than in training: Pearson's test of each."""
    if facts.cross_validated:
        return []
    view = facts.model._view()
    before, after = np.asarray(view.words.texts), _texts_with(facts).sum(axis=1)
    n, m = float(view.tally.n.sum()), float(facts.n)
    pooled = (before + after) / (n + m)
    change = after / m - before / n
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = change**2 / (pooled * (1 - pooled) * (1 / n + 1 / m))
    far = (np.abs(change) >= DISTANCE) & (chi2.sf(np.nan_to_num(statistic), 1) * max(len(change), 1) < CHANCE)
    order = [j for j in np.argsort(-np.abs(change), kind="stable")[: NAMED_WORDS + far.sum()] if far[j]]
    out = [
        f"Drift: `{facts.model.vocabulary_[j]}` is in {100 * after[j] / m:.0f} % of these texts, in "
        f"{100 * before[j] / n:.0f} % of the training texts."
        for j in order[:NAMED_WORDS]
    ]
    left = len(order) - NAMED_WORDS
    return [*out, f"And {left} more words whose frequency changed."] if left > 0 else out


def _unknown_words(facts: ReportData) -> list[str]:
    if facts.cross_validated:
        return []
    view = facts.model._view()
    if not view.reader.features.open_ended:  # such a vectorizer counts only the words that it knows
        return []
    terms, x = view.reader.features.counts(view.reader.read(facts.X))
    known = np.isin(np.array(terms.strings(), dtype=object), np.array(view.tally.terms.strings(), dtype=object))
    counts = np.asarray(x.sum(axis=0)).ravel()
    share = counts[~known].sum() / max(counts.sum(), 1)
    if share < UNKNOWN:
        return []
    return [f"Drift: {100 * share:.0f} % of the words of these texts do not occur in the training texts."]


# drift of columns

DECILES = np.arange(1, 10) / 10
LEVELS = 30  # that are a group of their own
NONE = -1


@dataclass(frozen=True)
class Drift:
    """A column whose distribution changed."""

    column: str
    distance: float
    words: str


def drift(before: Any, after: Any) -> list[Drift]:
    """The columns (of equal names, or positions) whose distribution changed, the largest distance first.

    >>> drift([[1.0], [2.0]], [[1.0], [2.0]])
    []
    """
    if sparse.issparse(before) or sparse.issparse(after):
        return []
    old, new = ({c.name: c for c in _columns(X)} for X in (before, after))
    both = [name for name in old if name in new]
    found = [_compare(old[name], new[name], CHANCE / max(len(both), 1)) for name in both]
    return sorted((one for one in found if one is not None), key=lambda one: -one.distance)


def shares_moved(before: np.ndarray, after: np.ndarray) -> tuple[float, float]:
    """(distance, p-value of Pearson's test) of two rows of counts of the same groups.

    >>> [round(float(v), 3) for v in shares_moved(np.array([50, 50]), np.array([80, 20]))]
    [0.3, 0.0]
    """
    counts = np.stack([before, after]).astype(np.float64)
    counts = counts[:, counts.sum(axis=0) > 0]
    rows = counts.sum(axis=1, keepdims=True)
    if counts.shape[1] < 2 or (rows == 0).any():
        return 0.0, 1.0
    distance = float(np.abs(np.diff(counts / rows, axis=0)).sum() / 2)
    return distance, float(chi2_contingency(counts, correction=False).pvalue)


def _columns(X: Any) -> list[frames.Column]:
    return frames.columns(X if frames.is_frame(X) else np.asarray(X))


def _compare(old: frames.Column, new: frames.Column, chance: float) -> Drift | None:
    if (old.levels is None) != (new.levels is None):
        old, new = old.as_levels(), new.as_levels()
    numbers = old.levels is None
    a, b, groups, unknown = _groups_of_numbers(old, new) if numbers else _groups_of_levels(old, new)
    distance, p = shares_moved(np.bincount(a, minlength=groups), np.bincount(b, minlength=groups))
    if distance < DISTANCE or p > chance:
        return None
    words = f"`{old.label}` differs from training in at least {100 * distance:.0f} % of the rows"
    if numbers and not (np.isnan(old.values).all() or np.isnan(new.values).all()):
        words += f" (median {np.nanmedian(old.values):.4g} → {np.nanmedian(new.values):.4g})"
    elif unknown:
        words += f" ({100 * unknown:.0f} % have a category that no training row has)"
    return Drift(old.label, distance, words)


def _groups_of_numbers(old: frames.Column, new: frames.Column) -> tuple[np.ndarray, np.ndarray, int, float]:
    """Groups of the cells of both columns, their number, and 0."""
    values = [np.asarray(column.values, dtype=np.float64) for column in (old, new)]
    known = values[0][~np.isnan(values[0])]
    cuts = np.unique(np.quantile(known, DECILES)) if len(known) else np.zeros(0)
    if len(cuts) and len(np.unique(known)) <= len(cuts) + 1:
        cuts = np.unique(known)  # few values: each is its own group
    a, b = (np.where(np.isnan(v), 2 * len(cuts) + 1, _group(cuts, v)) for v in values)
    return a, b, 2 * len(cuts) + 2, 0.0


def _group(cuts: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Between which cuts, or on which: a value that many rows have is a group of its own."""
    return np.searchsorted(cuts, values, side="left") + np.searchsorted(cuts, values, side="right")


def _groups_of_levels(old: frames.Column, new: frames.Column) -> tuple[np.ndarray, np.ndarray, int, float]:
    """Groups (the commonest levels, all others of training, those that are not in training, missing cells) of both
    columns, their number, and the share of levels that are not in training."""
    assert old.levels is not None
    assert new.levels is not None
    order = np.argsort(-np.bincount(old.values[~old.missing], minlength=len(old.levels)), kind="stable")
    rank = np.empty(len(order) + 1, dtype=np.int64)
    rank[order] = np.minimum(np.arange(len(order)), LEVELS)
    rank[NONE] = LEVELS + 2
    place = {level: i for i, level in enumerate(old.levels)}
    ranks = np.array([rank[place[level]] if level in place else LEVELS + 1 for level in new.levels] + [LEVELS + 2])
    b = ranks[new.values]
    return rank[old.values], b, LEVELS + 3, float((b == LEVELS + 1).mean())


OF_TABLES: tuple[Callable[[ReportData], list[str]], ...] = (
    _leakage,
    _duplicates,
    _zero_probability,
    _unknown_classes,
    _not_scored,
    _small_classes,
    _class_drift,
    _column_drift,
)
OF_TEXTS: tuple[Callable[[ReportData], list[str]], ...] = (
    _word_leakage,
    _duplicate_texts,
    _zero_probability,
    _unknown_classes,
    _not_scored,
    _no_known_words,
    _small_classes,
    _class_drift,
    _word_drift,
    _unknown_words,
)
