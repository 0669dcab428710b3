"""What to doubt before believing a model: columns that know too much, classes of few rows, rows of another kind.

What to doubt about a model of texts: words that decide alone, texts that come again, texts of another kind.

Whether rows still look like those that were learned from: column by column, by the share of rows that moved.

Numbers are cut at the tenths of the first rows, levels are themselves (rare ones together), and missing cells are a
group of their own. The distance is half the sum of the differences of the groups' shares (total variation): 0 … 1, the
least share of rows that must have changed. Chance is ruled out by Pearson's test of the two rows of counts.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> found = drift(rng.normal(size=(500, 2)), rng.normal(size=(500, 2)) + [0, 2])
>>> [(one.column, round(one.distance, 1)) for one in found]
[('x1', 0.7)]
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import xlogy
from scipy.stats import chi2, chi2_contingency

from deciban.data import frames
from deciban.display import format_list, truncate
from deciban.errors import DecibanError
from deciban.model_selection.cross_validation import apart
from deciban.model_selection.leakage import find_leakage
from deciban.reports.data import ReportData

SKILL = 0.8  # share of what is to be known about the class, that a single word tells
LEAST = 20  # texts, to suspect a word
TWINS = 0.02  # share of texts that come again
STRANGE = 0.2  # share of words that the model has never seen
FAR = 0.1  # change of the share of texts that have a word
CHANCE = 0.001  # that is ruled out, over all words together
NAMED_WORDS = 3


def text_leaks(facts: ReportData) -> list[str]:
    """Words that tell the class alone, by whether they are there."""
    if facts.n < LEAST:
        return []
    classes = np.bincount(facts.y, minlength=len(facts.classes))
    there = _texts_with(facts)
    known = _surprise(there) + _surprise(classes - there)
    base = _surprise(classes[None])[0]
    word = int(known.argmin()) if len(known) and base > 0 else 0
    if not len(known) or not base or 1 - known[word] / base < SKILL:
        return []
    right = there[word].max() + (classes - there[word]).max()
    name = facts.model.vocabulary_[word]
    return [
        f"Leak? Whether `{name}` is there tells the class of {100 * right / facts.n:.1f} % of the texts. Is it "
        "there before the class is known?"
    ]


def _texts_with(facts: ReportData) -> np.ndarray:
    """How many texts of each class have each word, (d, k)."""
    x = facts.words
    rows = np.repeat(np.arange(facts.n), np.diff(x.indptr))[x.data > 0]
    words, k = x.indices[x.data > 0], len(facts.classes)
    return np.bincount(words * np.int64(k) + facts.y[rows], minlength=x.shape[1] * k).reshape(-1, k)


def _surprise(counts: np.ndarray) -> np.ndarray:
    """Nats that it takes to tell the classes of so many texts, (d,)."""
    return -xlogy(counts, counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)).sum(axis=1)


def repeated(facts: ReportData) -> list[str]:
    """Texts that come again: with another class, among themselves, or in training."""
    assert facts.texts is not None
    times = Counter(facts.texts)
    classes = Counter(text for text, _ in set(zip(facts.texts, facts.y.tolist(), strict=True)))
    both = sum(count > 1 for count in classes.values())
    out = [f"{both:,} texts come with more than one class: at least one of the labels is wrong."] if both else []
    twins = sum(count for count in times.values() if count > 1) / facts.n
    if facts.cross_validated and twins > TWINS:
        out.append(f"{100 * twins:.0f} % of the texts have a twin among them: the numbers may flatter the model.")
    if facts.train is not None and not facts.cross_validated:
        known = set(facts.train[0])
        again = sum(text in known for text in facts.texts) / facts.n
        if again > TWINS:
            out.append(
                f"{100 * again:.0f} % of these texts are among the training texts: the numbers may flatter the model."
            )
    return out


def _no_known_words(facts: ReportData) -> list[str]:
    """Texts without any word that the model knows."""
    none = int((np.diff(facts.words.indptr) == 0).sum())
    return [f"{none:,} texts have no word that the model knows: they get the class shares."] if none else []


def text_drift(facts: ReportData) -> list[str]:
    """Words that are more or less common than in training, and words that were never seen."""
    if facts.cross_validated:
        return []
    view = facts.model._view()
    before, after = np.asarray(view.words.texts), _texts_with(facts).sum(axis=1)
    n, m = float(view.tally.n.sum()), float(facts.n)
    pooled = (before + after) / (n + m)
    change = after / m - before / n
    with np.errstate(divide="ignore", invalid="ignore"):
        square = change**2 / (pooled * (1 - pooled) * (1 / n + 1 / m))
    far = (np.abs(change) >= FAR) & (chi2.sf(np.nan_to_num(square), 1) * max(len(change), 1) < CHANCE)
    order = [j for j in np.argsort(-np.abs(change), kind="stable")[: NAMED_WORDS + far.sum()] if far[j]]
    vocabulary = facts.model.vocabulary_
    out = [
        f"Drift: `{vocabulary[j]}` is in {100 * after[j] / m:.0f} % of these texts, in {100 * before[j] / n:.0f} % of "
        "the training texts."
        for j in order[:NAMED_WORDS]
    ]
    out += [f"And {len(order) - NAMED_WORDS} more words that moved."] if len(order) > NAMED_WORDS else []
    return out + _never_seen(facts)


def _never_seen(facts: ReportData) -> list[str]:
    view = facts.model._view()
    if not view.features.open:  # such a vectoriser counts the words that it knows, and nothing else
        return []
    terms, x = view.features.read(facts.model._texts(facts.X))
    known = np.isin(np.array(terms.strings(), dtype=object), np.array(view.tally.terms.strings(), dtype=object))
    whole = np.asarray(x.sum(axis=0)).ravel()
    share = whole[~known].sum() / max(whole.sum(), 1)
    if share < STRANGE:
        return []
    return [f"Drift: {100 * share:.0f} % of the words of these texts were never seen in training."]


TENTHS = np.arange(1, 10) / 10
LEVELS = 30  # that are a group of their own


NONE = -1


@dataclass(frozen=True)
class Drift:
    """A column that moved."""

    column: str
    distance: float
    words: str


def drift(before: Any, after: Any) -> list[Drift]:
    """The columns (of the same names, or places) whose cells moved, the furthest first.

    >>> drift([[1.0], [2.0]], [[1.0], [2.0]])
    []
    """
    if sparse.issparse(before) or sparse.issparse(after):
        return []
    old, new = ({c.name: c for c in _columns(X)} for X in (before, after))
    both = [name for name in old if name in new]
    found = [_moved(old[name], new[name], CHANCE / max(len(both), 1)) for name in both]
    return sorted((one for one in found if one is not None), key=lambda one: -one.distance)


def shares_moved(before: np.ndarray, after: np.ndarray) -> tuple[float, float]:
    """(distance, probability of such counts by chance) of two rows of counts of the same groups.

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


def _moved(old: frames.Column, new: frames.Column, chance: float) -> Drift | None:
    if (old.levels is None) != (new.levels is None):
        old, new = old.as_levels(), new.as_levels()
    numbers = old.levels is None
    a, b, groups, strange = _tenths(old, new) if numbers else _levels(old, new)
    distance, by_chance = shares_moved(np.bincount(a, minlength=groups), np.bincount(b, minlength=groups))
    if distance < FAR or by_chance > chance:
        return None
    words = f"`{old.label}`: at least {100 * distance:.0f} % of the rows lie elsewhere than in training"
    if numbers:
        words += (
            f" (median {np.nanmedian(old.values):.4g} → {np.nanmedian(new.values):.4g})"
            if _have_cells(old, new)
            else ""
        )
    elif strange:
        words += f" ({100 * strange:.0f} % have a level that training never had)"
    return Drift(old.label, distance, words)


def _have_cells(*columns: frames.Column) -> bool:
    return all(not np.isnan(column.values).all() for column in columns)


def _tenths(old: frames.Column, new: frames.Column) -> tuple[np.ndarray, np.ndarray, int, float]:
    """Groups of both columns' cells, their number, and 0."""
    values = [np.asarray(column.values, dtype=np.float64) for column in (old, new)]
    known = values[0][~np.isnan(values[0])]
    cuts = np.unique(np.quantile(known, TENTHS)) if len(known) else np.zeros(0)
    if len(cuts) and len(np.unique(known)) <= len(cuts) + 1:
        cuts = np.unique(known)  # few values: each is its own group
    a, b = (np.where(np.isnan(v), 2 * len(cuts) + 1, _place(cuts, v)) for v in values)
    return a, b, 2 * len(cuts) + 2, 0.0


def _place(cuts: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Between which cuts, or on which: a value that many rows have is a group of its own."""
    return np.searchsorted(cuts, values, side="left") + np.searchsorted(cuts, values, side="right")


def _levels(old: frames.Column, new: frames.Column) -> tuple[np.ndarray, np.ndarray, int, float]:
    """Groups: the commonest levels, all others that training had, those that it never had, missing cells."""
    assert old.levels is not None
    assert new.levels is not None
    order = np.argsort(-np.bincount(old.values[~old.missing], minlength=len(old.levels)), kind="stable")
    rank = np.empty(len(order) + 1, dtype=np.int64)
    rank[order] = np.minimum(np.arange(len(order)), LEVELS)
    rank[NONE] = LEVELS + 2
    place = {level: i for i, level in enumerate(old.levels)}
    there = np.array([rank[place[level]] if level in place else LEVELS + 1 for level in new.levels] + [LEVELS + 2])
    b = there[new.values]
    return rank[old.values], b, LEVELS + 3, float((b == LEVELS + 1).mean())


FEW = 10  # rows of a class that say little
NAMED = 8  # warnings of one kind, at most
SPREAD = 0.05  # class shares that moved so far are worth a word


def run_checks(facts: ReportData) -> list[str]:
    """All warnings in plain words, the gravest first."""
    if facts.texts is not None:
        first = (text_leaks, repeated, _zero_probability, _unknown_classes, _not_scored, _no_known_words)
        parts = [*first, _small_classes, _class_drift, text_drift]
    else:
        parts = [_leaks, _overlap, _zero_probability, _unknown_classes, _not_scored, _small_classes, _drift]
    return [told for part in parts for told in part(facts)]


def _leaks(facts: ReportData) -> list[str]:
    if facts.columns is None:
        return []
    try:
        found = find_leakage(facts.X, facts.classes[facts.y])
    except DecibanError:  # a table that no column model reads
        return []
    name = {column.label: facts.column_name(column) for column in facts.columns}
    told = [f"Leak? `{name[one.column]}` {one.words}. Is it known before the outcome is?" for one in found]
    return _some(told, "columns that nearly decide alone")


def _overlap(facts: ReportData) -> list[str]:
    if facts.train is None or facts.columns is None or sparse.issparse(facts.train[0]):
        return []
    known, mine = Counter(_keys(facts.train[0])), _keys(facts.X)
    again = sum(key in known for key in mine) / len(mine)
    usual = sum(times for times in known.values() if times > 1) / max(known.total(), 1)  # twins that chance makes
    if again < usual + 0.02:
        return []
    return [
        f"{100 * again:.0f} % of these rows have a twin among the training rows: the numbers may flatter the model."
    ]


def _keys(X: Any) -> list[bytes]:
    """Every row as bytes that are the same for the same cells."""
    columns = frames.columns(X)
    codes = [
        c.values.astype(np.float64) if c.levels is None else np.array([*map(hash, map(str, c.levels)), 0])[c.values]
        for c in columns
    ]
    table = np.ascontiguousarray(np.column_stack([np.asarray(c, dtype=np.float64) + 0.0 for c in codes]))
    return [row.tobytes() for row in table]


def _zero_probability(facts: ReportData) -> list[str]:
    known = facts.known[facts.y] & facts.judged
    wrong = int(np.isneginf(facts.log_proba[np.arange(facts.n), facts.y])[known].sum())
    if not wrong:
        return []
    rows = "1 row has a class" if wrong == 1 else f"{wrong:,} rows have a class"
    return [f"{rows} that the model holds for impossible (probability 0): the log loss is infinite. Smooth more."]


def _unknown_classes(facts: ReportData) -> list[str]:
    there = np.bincount(facts.y, minlength=len(facts.classes)) > 0
    names = [truncate(facts.names[c], 30) for c in np.flatnonzero(~facts.known & there)]
    rows = int((~facts.known[facts.y]).sum())
    return (
        [f"{rows:,} rows are of classes that the model does not know: {format_list(names, quote='')}."] if names else []
    )


def _not_scored(facts: ReportData) -> list[str]:
    return [f"{told[0].upper()}{told[1:]}." for told in apart(_unknown(facts))]


def _unknown(facts: ReportData) -> dict[Any, int]:
    codes, rows = np.unique(facts.y[~facts.judged], return_counts=True)
    return {truncate(facts.names[c], 30): int(n) for c, n in zip(codes, rows, strict=True)}


def _small_classes(facts: ReportData) -> list[str]:
    here = np.bincount(facts.y, minlength=len(facts.classes))
    few = [f"`{truncate(facts.names[c], 30)}` ({here[c]})" for c in np.flatnonzero(here < FEW)]
    out = [f"Few rows to judge by (fewer than {FEW}): {format_list(few, NAMED, '')}."] if few else []
    counts = getattr(facts.model, "class_count_", None)
    if counts is not None:
        own = zip(facts.model.classes_.tolist(), np.asarray(counts), strict=True)
        learned = [f"`{truncate(str(label), 30)}` ({count:g})" for label, count in own if count < FEW]
        out += [f"Few rows to learn from (fewer than {FEW}): {format_list(learned, NAMED, '')}."] if learned else []
    return out


def _drift(facts: ReportData) -> list[str]:
    out = _class_drift(facts)
    if facts.train is not None and facts.columns is not None:
        told = [f"Drift: {one.words}." for one in drift(facts.train[0], facts.X)]
        out += _some(told, "columns that moved")
    return out


def _class_drift(facts: ReportData) -> list[str]:
    before = getattr(facts.model, "class_count_", None)
    own = facts.model.classes_
    if facts.train is not None and facts.train[1] is not None:
        before = [(facts.train[1] == label).sum() for label in own]
    if before is None:
        return []
    after = np.bincount(facts.y, minlength=len(facts.classes))[np.searchsorted(facts.classes, own)]
    distance, chance = shares_moved(np.asarray(before), after)
    if distance < SPREAD or chance > 0.001:
        return []
    shares = np.asarray(before) / np.sum(before), after / max(after.sum(), 1)
    c = int(np.abs(shares[1] - shares[0]).argmax())
    return [
        f"Drift of classes: `{truncate(str(own[c]), 30)}` is {100 * shares[1][c]:.0f} % of these rows, "
        f"{100 * shares[0][c]:.0f} % of the training rows. Predict with `priors=`, or see `adapt_priors`."
    ]


def _some(told: list[str], what: str) -> list[str]:
    return told if len(told) <= NAMED else [*told[:NAMED], f"And {len(told) - NAMED} more {what}."]
