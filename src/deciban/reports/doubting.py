"""What to doubt before believing a model: columns that know too much, classes of few rows, rows of another kind."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from scipy import sparse

from deciban import frames
from deciban.errors import DecibanError
from deciban.reports import text_doubts
from deciban.reports.drift import drift, shares_moved
from deciban.reports.facts import Facts
from deciban.reports.leakage import leaks
from deciban.validate import apart
from deciban.wording import short

FEW = 10  # rows of a class that say little
NAMED = 8  # warnings of one kind, at most
SPREAD = 0.05  # class shares that moved so far are worth a word


def doubts(facts: Facts) -> list[str]:
    """All warnings in plain words, the gravest first."""
    if facts.texts is not None:
        first = (text_doubts.leaks, text_doubts.repeated, _impossible, _strange, _not_scored, text_doubts.mute)
        parts = [*first, _few, _class_drift, text_doubts.drift]
    else:
        parts = [_leaks, _overlap, _impossible, _strange, _not_scored, _few, _drift]
    return [told for part in parts for told in part(facts)]


def _leaks(facts: Facts) -> list[str]:
    if facts.columns is None:
        return []
    try:
        found = leaks(facts.X, facts.classes[facts.y])
    except DecibanError:  # a table that no column model reads
        return []
    name = {str(column.name): facts.column_name(column) for column in facts.columns}
    told = [f"Leak? `{name[one.column]}` {one.words}. Is it known before the outcome is?" for one in found]
    return _some(told, "columns that nearly decide alone")


def _overlap(facts: Facts) -> list[str]:
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


def _impossible(facts: Facts) -> list[str]:
    known = facts.known[facts.y] & facts.judged
    wrong = int(np.isneginf(facts.log_proba[np.arange(facts.n), facts.y])[known].sum())
    if not wrong:
        return []
    rows = "1 row has a class" if wrong == 1 else f"{wrong:,} rows have a class"
    return [f"{rows} that the model holds for impossible (probability 0): the log loss is infinite. Smooth more."]


def _strange(facts: Facts) -> list[str]:
    there = np.bincount(facts.y, minlength=len(facts.classes)) > 0
    names = [short(facts.names[c], 30) for c in np.flatnonzero(~facts.known & there)]
    rows = int((~facts.known[facts.y]).sum())
    return [f"{rows:,} rows are of classes that the model does not know: {', '.join(names[:5])}."] if names else []


def _not_scored(facts: Facts) -> list[str]:
    return [f"{told[0].upper()}{told[1:]}." for told in apart(_unknown(facts))]


def _unknown(facts: Facts) -> dict[Any, int]:
    codes, rows = np.unique(facts.y[~facts.judged], return_counts=True)
    return {short(facts.names[c], 30): int(n) for c, n in zip(codes, rows, strict=True)}


def _few(facts: Facts) -> list[str]:
    here = np.bincount(facts.y, minlength=len(facts.classes))
    few = [f"`{short(facts.names[c], 30)}` ({here[c]})" for c in np.flatnonzero(here < FEW)]
    out = [f"Few rows to judge by (fewer than {FEW}): {_list(few)}."] if few else []
    counts = getattr(facts.model, "class_count_", None)
    if counts is not None:
        own = zip(facts.model.classes_.tolist(), np.asarray(counts), strict=True)
        learned = [f"`{short(str(label), 30)}` ({count:g})" for label, count in own if count < FEW]
        out += [f"Few rows to learn from (fewer than {FEW}): {_list(learned)}."] if learned else []
    return out


def _drift(facts: Facts) -> list[str]:
    out = _class_drift(facts)
    if facts.train is not None and facts.columns is not None:
        told = [f"Drift: {one.words}." for one in drift(facts.train[0], facts.X)]
        out += _some(told, "columns that moved")
    return out


def _class_drift(facts: Facts) -> list[str]:
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
        f"Drift of classes: `{short(str(own[c]), 30)}` is {100 * shares[1][c]:.0f} % of these rows, "
        f"{100 * shares[0][c]:.0f} % of the training rows. Predict with `priors=`, or see `adapt_priors`."
    ]


def _some(told: list[str], what: str) -> list[str]:
    return told if len(told) <= NAMED else [*told[:NAMED], f"And {len(told) - NAMED} more {what}."]


def _list(names: list[str]) -> str:
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
