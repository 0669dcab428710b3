"""How a column lies in each class: histograms (numbers) or shares (levels), and what a model makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban import drawing, frames
from deciban.palette import INK, Look, of_class
from deciban.wording import short

LEVELS = 12  # that have bars of their own, the commonest


def class_densities(
    X: Any, y: Any, column: Any = 0, ax: Any = None, *, model: Any = None, bins: int | None = None
) -> Any:
    """One column of a frame or array, class by class; returns the axes.

    Numbers are histograms of area 1, levels are bars of shares. Lines (or dots) are the densities that a fitted naive
    Bayes `model` of the same columns holds for true.

    >>> ax = class_densities([[1.0], [2.0], [2.5], [4.0]], ["a", "a", "b", "b"])
    >>> ax.get_xlabel(), [text.get_text() for text in ax.get_legend().get_texts()]
    ('x0', ['a', 'b'])
    """
    bins = bins or int(np.clip(2.2 * np.cbrt(len(y)), 8, 40))
    columns = frames.columns(X if frames.is_frame(X) else np.asarray(X))
    names = [one.name for one in columns]
    j = names.index(column) if column in names else int(column)
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    ax = drawing.axes(ax, 4.8, 3.0)
    looks = [of_class(c, len(classes)) for c in range(len(classes))]
    one = columns[j]
    draw = _numbers if one.levels is None else _levels
    gone = draw(ax, one, codes, looks, [short(str(label), 20) for label in classes], _Believed(model, j), bins)
    drawing.plain(ax, "y")
    name = f"x{one.name}" if isinstance(one.name, int) else str(one.name)
    missing = f" ({100 * gone:.0f} % missing)" if gone else ""
    drawing.titled(ax, "", name + missing, "density" if one.levels is None else "share of the class")
    drawing.legend(ax)
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
        cells = [np.resize(candidates, len(values)) for candidates in self.model._candidates()]
        cells[self.j] = values
        rows = self.model._rows_of(cells)
        return np.exp(self.family.parts(self.fitted.params, rows)[:, :, self.j])


def _numbers(
    ax: Any, one: frames.Column, codes: np.ndarray, looks: list[Look], names: list[str], model: _Believed, bins: int
) -> float:
    values = np.asarray(one.values, dtype=np.float64)
    there = np.isfinite(values)
    low, high = (float(values[there].min()), float(values[there].max())) if there.any() else (0.0, 1.0)
    whole = bool((values[there] == np.rint(values[there])).all()) and high - low < 40
    edges = np.arange(low - 0.5, high + 1.5) if whole else np.linspace(low, high + (low == high), bins + 1)
    for c, look in enumerate(looks):
        mine = values[there & (codes == c)]
        if len(mine):
            height, _ = np.histogram(mine, edges, density=True)
            ax.stairs(height, edges, fill=True, color=look.colour, alpha=0.22)
            ax.stairs(height, edges, color=look.colour, lw=1.0 if model.there else 1.6, ls=look.style, label=names[c])
    pad = 0.06 * (high - low)
    at = np.linspace(low - pad, high + pad, 300) if not whole else np.arange(low, high + 1)
    curves = model.of(at)
    for c, look in enumerate(looks):
        if curves is not None:
            ax.plot(at, curves[:, c], color=look.colour, ls=look.style, lw=2.0, marker="o" if whole else None, ms=3)
    ax.set_ylim(bottom=0)
    return 1 - float(there.mean())


def _levels(
    ax: Any, one: frames.Column, codes: np.ndarray, looks: list[Look], names: list[str], model: _Believed, _: int
) -> float:
    assert one.levels is not None
    there, k = one.values >= 0, len(looks)
    order = np.argsort(-np.bincount(one.values[there], minlength=len(one.levels)), kind="stable")[:LEVELS]
    shown = np.array([*(one.levels[i] for i in order), None], dtype=object)[:-1]
    believed = model.of(shown)
    wide = 0.8 / k
    for c, look in enumerate(looks):
        mine = one.values[there & (codes == c)]
        share = np.bincount(mine, minlength=len(one.levels))[order] / max(len(mine), 1)
        at = np.arange(len(order)) + (c - (k - 1) / 2) * wide
        ax.bar(at, share, 0.92 * wide, color=look.colour, alpha=0.75, label=names[c])
        if believed is not None:
            ax.plot(at, believed[:, c], ls="none", marker=look.marker, ms=4.5, mfc="white", mec=INK, mew=0.9)
    texts = [short(str(level), 14) for level in shown]
    ax.set_xticks(range(len(texts)), texts, rotation=0 if sum(map(len, texts)) < 44 else 90)
    drawing.literal(*ax.get_xticklabels())
    return 1 - float(there.mean())
