"""A model as scales: for each column its values and the decibans that each of them adds, for a pair of classes.

A row's evidence is a sum over columns, so all scales are read off one small table: row i holds the i-th candidate value
of every column, and the model takes its evidence apart. A model is asked for `_candidates()` (values of each column),
`_rows_of(columns)` (the table, as it reads tables) and `_evidence(table)`; or, if it is a linear score of anyone's, for
`coef_`, `intercept_` and `classes_`. Such a score has no zero of its own: where a column begins (or ends) at 0,
as counts do, 0 says nothing, else the middle of its values.

>>> from deciban import BernoulliNB
>>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1], [0, 1]], ["ham", "ham", "spam", "spam"])
>>> for scale in scales_of(model).scales:
...     print(scale.name, scale.values.tolist(), scale.decibans.round(1).tolist())
x0 [0.0, 1.0] [4.8, -4.8]
x1 [0.0, 1.0] [-3.0, 1.8]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from deciban import decision
from deciban.errors import DataError
from deciban.wording import cell_text

STEPS = 15  # levels up to which a stepped scale is drawn as such
COUNTS = (2, 5, 10, 20, 50, 100)  # round numbers on a scale, from few to many


@dataclass(frozen=True)
class Scale:
    """A column's values, and what each adds to the log odds of the pair."""

    name: str
    values: np.ndarray  # (m,), in order; numbers, or levels of any type
    decibans: np.ndarray  # (m,)
    labels: tuple[str, ...] | None  # of levels; None for numbers
    ticks: tuple[np.ndarray, ...]  # places of round numbers in `values`: few of them, more, many …

    @property
    def span(self) -> float:
        """How much the column can change the odds."""
        return float(np.ptp(np.clip(self.decibans, -1e6, 1e6))) if len(self.decibans) else 0.0


@dataclass(frozen=True)
class Scales:
    scales: tuple[Scale, ...]
    prior: float  # decibans of the pair before any column has spoken
    of: Any
    against: Any
    classes: np.ndarray


def nice(low: float, high: float, count: int) -> np.ndarray:
    """Round numbers between two limits, about `count` of them.

    >>> nice(0.3, 9.7, 5).tolist()
    [2.0, 4.0, 6.0, 8.0]
    """
    if not high > low:
        return np.array([low])
    rough = (high - low) / count
    size = 10.0 ** np.floor(np.log10(rough))
    step = min(m * size for m in (1.0, 2.0, 5.0, 10.0) if m * size >= rough * 0.999)
    at = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1)
    return np.round(at * step, 12 - int(np.floor(np.log10(max(abs(low), abs(high), 1e-300))))) + 0.0  # no −0


def scales_of(model: Any, of: Any = None, against: Any = None, names: Any = None, values: Any = None, levels=None):
    """All columns of a model as scales for `of` (by default the second class) against another (the first one)."""
    own = hasattr(model, "_evidence")
    if own:
        model._check_is_fitted()
    classes = np.asarray(model.classes_)
    a, b = _pair(classes, of, against)
    if own and not model._splits():
        raise DataError(
            f"columns of this {type(model).__name__} interact: their joint evidence is no sum of one scale a column\n\n"
            "hint: draw LinearDiscriminantAnalysis or GaussianNB; `explain(X)` shows the joint part of a row"
        )
    called = _names(model, names)
    found = _given(values, called, model._candidates() if own else None)
    axes = [_axis(candidates) for candidates in found]
    anchored = own and model._anchored
    prior, parts = _weigh(model, a, b, [axis[0] for axis in axes]) if anchored else _linear(model, a, b, axes)
    out = [
        stepped(Scale(name, at, parts[j], _labels(name, at, levels), ticks))
        for j, (name, (at, ticks)) in enumerate(zip(called, axes, strict=True))
    ]
    return Scales(tuple(out), prior, classes[a], classes[b], classes)


def stepped(scale: Scale) -> Scale:
    """A scale of numbers that goes up and down in few steps (a histogram's) as levels: from – to."""
    change = np.diff(scale.decibans)
    starts = np.flatnonzero(np.r_[True, np.abs(change) > 1e-9])
    if scale.labels is not None or len(starts) > STEPS or len(scale.values) == 0:
        return scale
    if len(scale.values) < 50:  # values themselves; those that rise or fall one by one stay numbers
        if len(scale.values) < 3 or (len(starts) == len(scale.values) and abs(np.sign(change).sum()) == len(change)):
            return scale
        ends = np.r_[starts[1:], len(scale.values)] - 1
        runs = zip(scale.values[starts], scale.values[ends], strict=True)
        labels = [f"{a:g}" if a == b else f"{a:g}–{b:g}" for a, b in runs]
        return Scale(scale.name, scale.values[starts], scale.decibans[starts], tuple(labels), ())
    cuts = (scale.values[starts[1:] - 1] + scale.values[starts[1:]]) / 2
    cells = [f"{cut:.{max(0, 2 - int(np.floor(np.log10(np.ptp(scale.values)))))}f}" for cut in cuts]
    labels = [f"< {cells[0]}", *(f"{a}–{b}" for a, b in pairwise(cells)), f"≥ {cells[-1]}"] if cells else ["any"]
    return Scale(scale.name, scale.values[starts], scale.decibans[starts], tuple(labels), ())


def strongest(scales: Scales, most: int) -> Scales:
    """The columns that can change the odds most, from the largest span."""
    order = sorted(scales.scales, key=lambda scale: -scale.span)
    return replace(scales, scales=tuple(order[:most]))


def _pair(classes: np.ndarray, of: Any, against: Any) -> tuple[int, int]:
    def place(label: Any) -> int:
        at = np.flatnonzero(classes == label)
        if len(at) == 0:
            raise DataError(f"class {label!r} is not among {classes.tolist()}\n\nhint: name a class of the model")
        return int(at[0])

    if len(classes) < 2:
        raise DataError("the model has one class, and nothing to weigh it against\n\nhint: fit on rows of two classes")
    b = place(against) if against is not None else int(of is not None and place(of) == 0)
    a = place(of) if of is not None else int(b == 0)
    if a == b:
        raise DataError(f"`of` and `against` are both {classes[a]!r}\n\nhint: name two of {classes.tolist()}")
    return a, b


def _names(model: Any, names: Any) -> list[str]:
    own = model._column_names() if hasattr(model, "_column_names") else getattr(model, "feature_names_in_", None)
    own = [f"x{j}" for j in range(np.shape(model.coef_)[1])] if own is None else [str(name) for name in own]
    if names is None:
        return own
    out = [str(names.get(name, name)) for name in own] if isinstance(names, Mapping) else [str(name) for name in names]
    if len(out) != len(own):
        raise DataError(f"`names` has {len(out)} names for {len(own)} columns\n\nhint: give one for each column")
    return out


def _given(values: Any, names: Sequence[str], own: list[np.ndarray] | None) -> list[np.ndarray]:
    """Candidates of each column: those the user gives (by name, or for all in order), else the model's own."""
    listed = {} if values is None else values if isinstance(values, Mapping) else dict(zip(names, values, strict=False))
    missing = [name for j, name in enumerate(names) if name not in listed and own is None]
    if missing:
        raise DataError(
            f"the model does not know what column `{missing[0]}` ranges over\n\n"
            "hint: pass values={name: (least, largest)} for each column, or values=X.T"
        )
    strange = [name for name in listed if name not in names]
    if strange:
        raise DataError(f"`values` names {strange}, but the columns are {list(names)}\n\nhint: check the spelling")
    return [np.asarray(listed[name]) if name in listed else own[j] for j, name in enumerate(names)]  # type: ignore[index]


def _axis(candidates: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """(values, places of ticks): levels as they are; numbers as a fine grid in which every tick stands exactly."""
    if candidates.dtype.kind != "f" or len(candidates) == 0:
        return candidates, ()
    low, high = float(np.nanmin(candidates)), float(np.nanmax(candidates))
    rounds = [nice(low, high, count) for count in COUNTS]
    if (candidates == np.rint(candidates)).all() and (len(candidates) > 2 or high - low == 1):  # counts
        grid = np.unique(candidates)
        rounds = [ticks[np.isin(ticks, grid)] for ticks in rounds]
    else:
        grid = np.unique(np.concatenate([np.linspace(low, high, 97), *rounds]))
    return grid, tuple(np.searchsorted(grid, ticks) for ticks in rounds)


def _weigh(model: Any, a: int, b: int, columns: list[np.ndarray]) -> tuple[float, list[np.ndarray]]:
    """(prior, evidence of each column's values) from the model's own account of itself."""
    most = max(1, *(len(column) for column in columns))
    filled = [_stretch(column, most) for column in columns]
    base, parts, _, _ = model._evidence(model._rows_of(filled))
    with np.errstate(invalid="ignore"):
        gap = decision.DECIBAN * np.where(parts[:, a] == parts[:, b], 0.0, parts[:, a] - parts[:, b])
        prior = decision.DECIBAN * (base[a] - base[b])
    return float(prior), [gap[: len(column), j] for j, column in enumerate(columns)]


def _stretch(column: np.ndarray, most: int) -> np.ndarray:
    """The column, its last value repeated; a column that never had a value has none."""
    if len(column) == 0:
        return np.full(most, np.nan)
    return np.concatenate([column, np.repeat(column[-1:], most - len(column))])


def _linear(model: Any, a: int, b: int, axes: list) -> tuple[float, list[np.ndarray]]:
    """The same of a linear score, counted from a 0 at the end of a column, or its middle; the rest is in the prior."""
    dense = model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_
    coef, bias = (np.asarray(a, dtype=np.float64) for a in (np.atleast_2d(dense), np.atleast_1d(model.intercept_)))
    if len(coef) == 1:
        coef, bias = np.vstack([np.zeros_like(coef), coef]), np.concatenate([[0.0], bias])
    slope = decision.DECIBAN * (coef[a] - coef[b])
    start = np.array([0.0 if at[0] * at[-1] == 0 else (at[0] + at[-1]) / 2 for at, _ in axes])
    prior = decision.DECIBAN * (bias[a] - bias[b]) + slope @ start
    return float(prior), [slope[j] * (at - start[j]) for j, (at, _) in enumerate(axes)]


def _labels(name: str, values: np.ndarray, levels: Any) -> tuple[str, ...] | None:
    """What levels are called: by the user, or as they are."""
    given = None if levels is None else levels.get(name)
    if given is None:
        return None if values.dtype.kind == "f" else tuple(cell_text(value) for value in values)
    return tuple(str(given[i]) if i < len(given) else str(value) for i, value in enumerate(values))
