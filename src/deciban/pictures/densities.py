"""How a column lies in each class: histograms (numbers) or shares (levels), and what a model makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban import drawing, frames
from deciban.errors import DataError
from deciban.palette import INK, Look, of_class
from deciban.pictures.forms import takes_model
from deciban.wording import short

LEVELS = 12  # that have bars of their own, the commonest


@takes_model(lambda model, X, y: ((X, y), {"model": model}), "X, y")
def class_densities(
    X: Any, y: Any, column: Any = 0, ax: Any = None, *, model: Any = None, bins: int | None = None
) -> Any:
    """One column of a frame or array, class by class, of (X, y) or (model, X, y); returns the axes.

    Numbers are histograms of area 1; levels, and whole numbers that are few, are bars of shares. Lines are the
    densities (and marks on bars the probabilities) of a fitted naive Bayes `model` of the same columns.

    >>> ax = class_densities([[1.0], [2.0], [2.5], [4.0]], ["a", "a", "b", "b"])
    >>> ax.get_xlabel(), [text.get_text() for text in ax.get_legend().get_texts()]
    ('x0', ['a', 'b'])
    """
    bins = bins or int(np.clip(2.2 * np.cbrt(len(y)), 8, 40))
    columns = frames.columns(X if frames.is_frame(X) else np.asarray(X))
    names = [one.name for one in columns]
    if column not in names and not (isinstance(column, int | np.integer) and -len(names) <= column < len(names)):
        raise DataError(f"there is no column {column!r} among {names}\n\nhint: `column` is a name, or a place from 0")
    j = names.index(column) if column in names else range(len(names))[column]
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    own = ax is None
    ax = drawing.axes(ax, 5.4, 3.0)
    looks = [of_class(c, len(classes)) for c in range(len(classes))]
    one = columns[j]
    whole = one.levels is None and _few_whole(one.values)
    draw = _counts if whole else _numbers if one.levels is None else _levels
    missing = draw(ax, one, codes, looks, [short(str(label), 20) for label in classes], _Believed(model, j), bins)
    drawing.plain(ax, "y")
    name = f"x{one.name}" if isinstance(one.name, int) else str(one.name)
    told = f" ({100 * missing:.0f} % missing)" if missing else ""
    bars = whole or one.levels is not None
    drawing.titled(
        ax, f"{name}, class by class" if own else "", name + told, "share of the class" if bars else "density"
    )
    beside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
    drawing.legend(ax, **(beside if bars or own else {"loc": "best"}))
    return ax


class _Believed:
    """What a model holds for true of one column; nothing, where it has no density for each column."""

    def __init__(self, model: Any, j: int):
        fitted = model._check_is_fitted() if hasattr(model, "_rows_of") else None
        self.model, self.j = model, j
        self.fitted: Any = fitted
        self.family: Any = getattr(fitted, "family", None)
        self.there = hasattr(self.family, "parts")

    def of(self, values: np.ndarray) -> np.ndarray | None:
        """(m, k): the density, or probability, of values of the column."""
        if not self.there:
            return None
        kinds = [np.asarray(candidates).dtype.kind for candidates in self.model._candidates()]
        missing = [np.full(len(values), np.nan if kind in "fiu" else None) for kind in kinds]
        rows = self.model._rows_of([*missing[: self.j], values, *missing[self.j + 1 :]])
        logs = self.family.parts(self.fitted.params, rows)[:, :, self.j]
        if hasattr(self.family, "carrier"):  # the factor that all classes share
            logs = logs + self.family.carrier(self.fitted.params, rows)[:, None]
        return np.exp(logs)


def _numbers(
    ax: Any, one: frames.Column, codes: np.ndarray, looks: list[Look], names: list[str], model: _Believed, bins: int
) -> float:
    values = np.asarray(one.values, dtype=np.float64)
    there = np.isfinite(values)
    low, high = (float(values[there].min()), float(values[there].max())) if there.any() else (0.0, 1.0)
    edges = np.linspace(low, high + (low == high), bins + 1)
    for c, look in enumerate(looks):
        mine = values[there & (codes == c)]
        if len(mine):
            height, _ = np.histogram(mine, edges, density=True)
            ax.stairs(height, edges, fill=True, color=look.colour, alpha=0.22)
            ax.stairs(height, edges, color=look.colour, lw=1.0 if model.there else 1.6, ls=look.style, label=names[c])
    pad = 0.06 * (high - low)
    at = np.linspace(low - pad, high + pad, 300)
    curves = model.of(at)
    for c, look in enumerate(looks):
        if curves is not None:
            ax.plot(at, curves[:, c], color=look.colour, ls=look.style, lw=2.0)
    ax.set_ylim(bottom=0)
    return 1 - float(there.mean())


def _few_whole(values: np.ndarray) -> bool:
    """Whether all numbers are whole, and within 40."""
    values = values[np.isfinite(values)]
    return bool(len(values) and (values == np.rint(values)).all() and np.ptp(values) < 40)


def _counts(
    ax: Any, one: frames.Column, codes: np.ndarray, looks: list[Look], names: list[str], model: _Believed, _: int
) -> float:
    values = np.asarray(one.values, dtype=np.float64)
    there = np.isfinite(values)
    at = np.arange(values[there].min(), values[there].max() + 1)
    places = [(values[there & (codes == c)] - at[0]).astype(np.int64) for c in range(len(looks))]
    share = [np.bincount(own, minlength=len(at)) / max(len(own), 1) for own in places]
    _bars(ax, at, share, model.of(at), looks, names)
    ax.xaxis.get_major_locator().set_params(integer=True)
    return 1 - float(there.mean())


def _bars(
    ax: Any, at: np.ndarray, share: list[np.ndarray], believed: np.ndarray | None, looks: list[Look], names: list[str]
) -> None:
    """Shares of each class side by side, and what a model has for them as marks."""
    k = len(looks)
    wide = 0.8 / k
    for c, look in enumerate(looks):
        own = at + (c - (k - 1) / 2) * wide
        ax.bar(own, share[c], 0.92 * wide, color=look.colour, alpha=0.75, label=names[c])
        if believed is not None:
            ax.plot(own, believed[:, c], ls="none", marker=look.marker, ms=4.5, mfc="white", mec=INK, mew=0.9)


def _levels(
    ax: Any, one: frames.Column, codes: np.ndarray, looks: list[Look], names: list[str], model: _Believed, _: int
) -> float:
    assert one.levels is not None
    there = one.values >= 0
    order = np.argsort(-np.bincount(one.values[there], minlength=len(one.levels)), kind="stable")[:LEVELS]
    shown = np.array([*(one.levels[i] for i in order), None], dtype=object)[:-1]
    counts = [np.bincount(one.values[there & (codes == c)], minlength=len(one.levels)) for c in range(len(looks))]
    share = [count[order] / max(count.sum(), 1) for count in counts]
    _bars(ax, np.arange(len(order)), share, model.of(shown), looks, names)
    texts = [short(str(level), 14) for level in shown]
    ax.set_xticks(range(len(texts)), texts, rotation=0 if sum(map(len, texts)) < 44 else 90)
    drawing.literal(*ax.get_xticklabels())
    return 1 - float(there.mean())
