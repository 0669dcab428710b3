"""Warnings of a report: possible leakage, duplicates of training rows, classes of few rows, and drift.

Drift is measured as in `model_selection.drift`.

>>> shares_moved(np.array([5, 5]), np.array([5, 5]))
(0.0, 1.0)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import xlogy
from scipy.stats import chi2

from deciban.data import frames
from deciban.display import format_list, truncate
from deciban.errors import DecibanError
from deciban.model_selection.cross_validation import not_scored_note
from deciban.model_selection.drift import CHANCE, DISTANCE, drift, shares_moved
from deciban.model_selection.labelled_rows import training_counts
from deciban.model_selection.leakage import find_leakage
from deciban.reports.data import ReportData

FEW = 10  # rows of a class that are too few
NAMED = 8  # warnings of one kind, at most
CLASS_DISTANCE = 0.05  # smallest change of the class frequencies that is a warning
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
