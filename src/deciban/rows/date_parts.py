"""Parts of dates as levels: month, weekday and hour, where they say more about the class than the date as a number.

Whether a part helps is decided by leave-one-out: with the date in ten cells of equal mass and the parts chosen so far,
naive Bayes of each row by the counts of all other rows, without and with the part. A part is taken if the mean gain in
log loss is more than two standard errors. All of this depends on counts alone, so the order of rows makes no
difference. A part with one value in training is never taken.

>>> import numpy as np
>>> days = Column("when", np.arange(700.0), unit="date")
>>> weekend = date_part(days, "weekday").values >= 5
>>> helpful_parts(days, weekend.astype(np.int32)), helpful_parts(days, np.arange(700) % 2)
(('weekday',), ())
>>> date_part(days, "month").named()[:32:31].tolist()
['Jan', 'Feb']
"""

from __future__ import annotations

import numpy as np

from deciban.data.frames import Column

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
PARTS: dict[str, list] = {"month": MONTHS, "weekday": WEEKDAYS, "hour": list(range(24))}
CELLS = 10  # of equal mass, of the date as a number
LEAST = 30  # dates from which parts are chosen
ERRORS = 2.0  # standard errors that the mean gain must exceed
THURSDAY = 3  # weekday of 1970-01-01
HOUR = 3_600_000_000  # microseconds


def date_part(column: Column, part: str) -> Column:
    """A part of the dates of a column, named after both."""
    missing = column.missing
    days = np.where(missing, 0.0, column.values)
    whole = np.floor(days)
    if part == "month":
        codes = whole.astype("M8[D]").astype("M8[M]").astype(np.int64) % 12
    elif part == "weekday":
        codes = (whole.astype(np.int64) + THURSDAY) % 7
    else:
        codes = np.rint((days - whole) * 24 * HOUR).astype(np.int64) // HOUR % 24
    return Column(part_name(column.name, part), np.where(missing, -1, codes).astype(np.int32), PARTS[part])


def part_name(name: object, part: str) -> str:
    return f"{name} {part}"


def helpful_parts(column: Column, y: np.ndarray, w: np.ndarray | None = None) -> tuple[str, ...]:
    """The parts of a column of dates that help, for rows of these class codes and weights."""
    there = np.flatnonzero(~column.missing)
    if len(there) < LEAST:
        return ()
    column, y = column.at(there), y[there]
    weights = np.ones(len(there)) if w is None else w[there]
    cuts = np.unique(np.quantile(column.values, np.arange(1, CELLS) / CELLS))
    evidence = [np.searchsorted(cuts, column.values)]
    chosen: list[str] = []
    before = _losses(y, evidence, weights)
    for part in PARTS:
        codes = date_part(column, part).values
        if codes.min() == codes.max():
            continue
        after = _losses(y, [*evidence, codes], weights)
        if _is_gain(before - after, weights):
            before, chosen = after, [*chosen, part]
            evidence.append(codes)
    return tuple(chosen)


def _losses(y: np.ndarray, evidence: list[np.ndarray], w: np.ndarray) -> np.ndarray:
    """The log loss of each row (n,) by naive Bayes of codes, one pseudo-count each, from the counts of the others."""
    k, own = int(y.max()) + 1, np.arange(len(y))
    n = np.bincount(y, w, minlength=k)
    left = np.tile(n, (len(y), 1))
    left[own, y] = np.maximum(n[y] - 1.0, 0.0)
    with np.errstate(divide="ignore"):
        scores = np.log(left)
    for codes in evidence:
        m = int(codes.max()) + 1
        counts = np.bincount(codes * k + y, w, minlength=m * k).reshape(m, k)[codes]
        counts[own, y] = np.maximum(counts[own, y] - 1.0, 0.0)
        scores += np.log((counts + 1.0) / (left + m))
    out: np.ndarray = np.logaddexp.reduce(scores, axis=1) - scores[own, y]
    return np.minimum(np.nan_to_num(out, nan=0.0, posinf=700.0), 700.0)


def _is_gain(gain: np.ndarray, w: np.ndarray) -> bool:
    """Whether the mean is more than `ERRORS` standard errors above 0."""
    total = float(w.sum())
    if total <= 1:
        return False
    mean = float(w @ gain) / total
    variance = float(w @ (gain - mean) ** 2) / (total - 1)
    return mean > ERRORS * float(np.sqrt(variance / total))
