"""For each column the one of several families under which held-out rows are most probable.

Tally: those of all candidates side by side, and how many cells each could not have (and has not counted). The choice is
part of the estimate, so it is made anew from whatever rows the tally stands for: updated, merged and forgotten like any
other.

A column is judged by the grid of its `Cells`: every (class, cell) is as many rows as it holds, each of which leaves
before its own density is asked for. A class that has no spread to speak of rules bells out: one as narrow would outbid
all. Where the grid is too coarse to tell a column's rows apart (large numbers that hardly differ), the first candidate
has it.

>>> import numpy as np
>>> from deciban.families.gaussian import Gaussian
>>> from deciban.families.histogram import Histogram
>>> from deciban.table import Reals
>>> f = BestOf((Gaussian(each=True), Histogram()))
>>> bell, spikes = np.random.default_rng(0).normal(5, 1, 400), np.random.default_rng(1).integers(0, 2, 400) * 30.0
>>> t = f.tally(Reals(np.stack([bell, spikes], axis=1)), np.arange(400, dtype=np.int32) % 2, None, 2)
>>> [type(family).__name__ for family in f.estimate(t).families]
['Gaussian', 'Histogram']
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban import cell_ops
from deciban.product import Product
from deciban.table import Mixed, Reals
from deciban.tallies import Bundle, Cells, Moments, Sums
from deciban.tallies.cells import cell_borders

MARGIN = 10.0  # nats: room for what judging by a grid may be off
ENOUGH = 2048  # (class, cell) pairs to judge a column by
FLAT = 1e-4  # a class whose variance is less than this share of the whole has none to speak of
COARSE = 0.5  # a grid whose cells are wider than this share of the deviation cannot judge


@dataclass(frozen=True)
class Params:
    families: tuple[Any, ...]  # of each column
    product: Product
    inner: tuple


@dataclass(frozen=True)
class BestOf:
    candidates: tuple[Any, ...]  # families that say by `shared` which tally of the same cells is theirs
    block, support = "dense", "real"
    searches = True  # parameters are dear: whoever has them hands them to `leave_one_out`

    def tally(self, x: Reals, y, w, k: int) -> Bundle:
        found = cell_ops.shared(x, y, w, k)
        wrong = [found.wrong[support] for support in self._supports()]
        total = np.hstack(wrong) if wrong else np.zeros((k, 0))
        tallies = (getattr(found, f.shared) for f in self.candidates)
        return Bundle((Sums(found.cells.n, total), *tallies))

    def _supports(self) -> list[str]:
        """The supports that not every number is in."""
        return list(dict.fromkeys(f.support for f in self.candidates if f.support != "real"))

    def estimate(self, t: Bundle) -> Params:
        wrong, *tallies = t.parts
        cells = next(part for part in tallies if isinstance(part, Cells))
        d = len(cells.keys)
        bad = dict(zip(self._supports(), (wrong.total > 0).any(axis=0).reshape(-1, d), strict=True))
        faulty = np.array([bad.get(f.support, np.zeros(d, dtype=bool)) for f in self.candidates])
        whole = {i: f.estimate(tallies[i]) for i, f in enumerate(self.candidates) if hasattr(f, "held_out")}
        scores = np.where(faulty, -np.inf, 0.0)
        for i, p in whole.items():
            scores[i] += self.candidates[i].held_out(p)
        known = scores.max(axis=0, where=[[i in whole] for i in range(len(scores))], initial=-np.inf)
        for i, f in enumerate(self.candidates):  # who could not win at best need not be asked
            if hasattr(f, "most_likely"):
                scores[i, f.most_likely(tallies[i]) < known - MARGIN] = -np.inf
        for j in range(d):
            self._judge(scores[:, j], [part.part([j]) for part in tallies], cells.part([j]))
        choice = scores.argmax(axis=0)
        at = [np.flatnonzero(choice == i).tolist() for i in range(len(self.candidates))]
        used = [i for i, columns in enumerate(at) if columns]
        product = Product(tuple(self.candidates[i] for i in used), tuple(tuple(at[i]) for i in used), d)
        inner = (
            whole[i].part(at[i]) if i in whole else self.candidates[i].estimate(tallies[i].part(at[i])) for i in used
        )
        return Params(tuple(self.candidates[i] for i in choice), product, tuple(inner))

    def _judge(self, scores: np.ndarray, tallies: list, cells: Cells) -> None:
        """The candidates' scores of one column, in place; those that were known are scaled to the rows judged by."""
        rows = _Rows.of(cells)
        if rows is None or not rows.tells_apart(tallies):
            scores[1:] = -np.inf
            return
        share = rows.count.sum() / float(cells.table.sum())
        for i, (family, t) in enumerate(zip(self.candidates, tallies, strict=True)):
            if hasattr(family, "held_out"):
                scores[i] *= share
            elif np.isfinite(scores[i]):
                scores[i] = rows.held_out(family, t)

    def chosen(self, p: Params, t: Bundle) -> Bundle:
        """The tallies of the chosen families, each of its own columns."""
        tallies = dict(zip(self.candidates, t.parts[1:], strict=True))
        return Bundle(
            tuple(tallies[f].part(list(at)) for f, at in zip(p.product.factors, p.product.columns, strict=True))
        )

    def loglik(self, p: Params, x: Reals) -> np.ndarray:
        return p.product.loglik(p.inner, split(p, x))

    def parts(self, p: Params, x: Reals) -> np.ndarray:
        return p.product.parts(p.inner, split(p, x))

    def carrier(self, p: Params, x: Reals) -> np.ndarray:
        return p.product.carrier(p.inner, split(p, x))

    def leave_one_out(self, t: Bundle, x: Reals, y, w, p: Params | None = None) -> np.ndarray:
        """The choice stays."""
        p = self.estimate(t) if p is None else p
        return p.product.leave_one_out(p.inner, self.chosen(p, t), split(p, x), y, w)

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        out = np.empty((len(y), p.product.d))
        for drawn, at in zip(p.product.sample(p.inner, y, rng), p.product.columns, strict=True):
            out[:, list(at)] = drawn
        return out


def split(p: Params, x: Reals) -> Mixed:
    """The columns of each chosen family."""
    if len(p.product.columns) == 1:
        return Mixed((x,), x.n)
    values = np.asarray(x.values)
    return Mixed(tuple(Reals(np.ascontiguousarray(values[:, list(at)])) for at in p.product.columns), x.n)


@dataclass(frozen=True)
class _Rows:
    """A column as its grid has it: a row for every class and cell that hold something."""

    x: Reals  # (m, 1)
    y: np.ndarray
    count: np.ndarray
    width: np.ndarray

    @classmethod
    def of(cls, cells: Cells) -> _Rows | None:
        y, at = np.nonzero(cells.table > 0)
        if len(y) == 0:
            return None
        count = cells.table[y, at]
        if len(y) > ENOUGH:  # as many even steps through the rows: a cell that holds many is met often
            below = np.cumsum(count)
            met = np.searchsorted(below, (np.arange(ENOUGH) + 0.5) * (below[-1] / ENOUGH))
            some, times = np.unique(met, return_counts=True)
            y, at, count = y[some], at[some], times * (below[-1] / ENOUGH)
        low, high = cell_borders(cells.keys[0][at])
        near = np.where(low < 0, high, low)  # the border next to 0, where a whole number stands
        middle = np.where(np.round(near) == near, near, (low + high) / 2)
        return cls(Reals(middle[:, None]), y.astype(np.int32), count, high - low)

    def tells_apart(self, tallies: list) -> bool:
        t = next((t for t in tallies if isinstance(t, Moments)), None)
        if t is None:
            return True
        whole = t.collapse()
        deviation = float(np.sqrt(whole.m2[0, 0] / max(float(np.ravel(whole.n)[0]), 1e-300)))
        return deviation == 0 or float(np.average(self.width, weights=self.count)) <= COARSE * deviation

    def held_out(self, family: Any, t: Any) -> float:
        """Σ log p(x | own class), each row itself taken out; −∞ where that is no number."""
        if isinstance(t, Moments) and _flat(t, alone=hasattr(family, "evidence")):
            return -np.inf
        with np.errstate(all="ignore"):
            own = family.leave_one_out(t, self.x, self.y, np.minimum(self.count, 1.0))[np.arange(len(self.y)), self.y]
            own = own + (family.carrier(family.estimate(t), self.x) if hasattr(family, "carrier") else 0.0)
            total = float(self.count @ own)
        return total if np.isfinite(total) else -np.inf


def _flat(t: Moments, alone: bool) -> bool:
    """Whether some class has no spread of its own; one of a single row may be `alone` where parameters are averaged
    out."""
    n = t.n if t.n.ndim == 1 else t.n[:, 0]
    whole = t.collapse()
    spread = float(whole.m2[0, 0] / max(float(np.ravel(whole.n)[0]), 1e-300))
    some = n > (1 if alone else 0)
    return bool((t.m2[some, 0] <= FLAT * spread * n[some]).any())
