"""Independent columns of several kinds: log p(x | c) = Σ over the factors, each a family with its own columns.

Tally: a `Bundle` of the factors' tallies. A column may belong to two factors (its value, and whether it is missing);
its evidence is the sum.

>>> import numpy as np
>>> from deciban.families.poisson import Poisson
>>> from deciban.data.blocks import Mixed, Reals
>>> both = Product((Poisson(), Poisson()), ((1,), (0,)), 2)
>>> x = Mixed((Reals(np.array([[1.0], [4.0]])), Reals(np.array([[2.0], [2.0]]))), 2)
>>> p = both.estimate(both.tally(x, np.array([0, 1], dtype=np.int32), None, 2))
>>> parts = both.parts(p, x)
>>> parts.shape, bool(np.allclose(parts.sum(axis=2), both.loglik(p, x)))
((2, 2, 2), True)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban.data.blocks import Codes, Mixed
from deciban.estimation.family import Family
from deciban.estimation.fractions import Factors, Quotients
from deciban.estimation.left_out import LeftOut, PartsLeft, columns_at
from deciban.estimation.linear import LinearScores
from deciban.estimation.parameters import joined
from deciban.estimation.sensitivity import JoinedSensitivity
from deciban.tallies import Bundle


@dataclass(frozen=True)
class Product(Family):
    factors: tuple[Any, ...]
    columns: tuple[tuple[int, ...], ...]  # column numbers, in the table, of each factor's columns
    d: int
    gaps: bool = False  # whether the last factor models which cells are missing
    reserve: bool = False  # whether unseen levels have a code, after the last one
    block, support = "mixed", "real"

    def tally(self, x: Mixed, y, w, k: int) -> Bundle:
        return Bundle(tuple(f.tally(b, y, w, k) for f, b in zip(self.factors, x.blocks, strict=True)))

    def estimate(self, t: Bundle) -> tuple:
        return tuple(f.estimate(part) for f, part in zip(self.factors, t.parts, strict=True))

    def parameters_from(self, weights: np.ndarray, *, columns: list[dict[str, Any]]) -> tuple:  # type: ignore[override]
        """From the parameters of each column, by name."""
        return tuple(
            f.parameters_from(weights, **joined(f.parameters, [columns[j] for j in at]))
            for f, at in zip(self.factors, self.columns, strict=True)
        )

    def fixed(self, p: tuple) -> Product:
        """The same with the choices of all factors fixed."""
        both = zip(self.factors, p, strict=True)
        return replace(self, factors=tuple(f.fixed(own) for f, own in both))

    def loglik(self, p: tuple, x: Mixed) -> np.ndarray:
        first, *rest = self._each(p, x)
        out = first[0].loglik(*first[1:])
        for f, params, block in rest:
            out += f.loglik(params, block)
        return out

    def parts(self, p: tuple, x: Mixed) -> np.ndarray:
        out: Any = 0.0
        for (f, params, block), columns in zip(self._each(p, x), self.columns, strict=True):
            parts = f.parts(params, block)
            if np.ndim(out) == 0:
                out = np.zeros((x.n, parts.shape[1], self.d))
            out[:, :, list(columns)] += parts
        return out

    def linear(self, p: tuple, degree: int = 1) -> LinearScores | None:
        found = [f.linear(own, degree) for f, own in zip(self.factors, p, strict=True)]
        if any(one is None for one in found):
            return None
        return LinearScores.product([one for one in found if one is not None], self.columns)

    def nonlinear_columns(self, p: tuple, degree: int) -> list[int]:
        each = zip(self.factors, p, self.columns, strict=True)
        return sorted({j for f, own, at in each if f.linear(own, degree) is None for j in at})

    def carrier(self, p: tuple, x: Mixed) -> np.ndarray:
        out = np.zeros(x.n)
        for f, params, block in self._each(p, x):
            common = f.carrier(params, block)
            if common is not None:
                out += common
        return out

    def carrier_parts(self, p: tuple, x: Mixed) -> np.ndarray:
        out = np.zeros((x.n, self.d))
        for (f, params, block), at in zip(self._each(p, x), self.columns, strict=True):
            common = f.carrier_parts(params, block)
            if common is not None:
                out[:, list(at)] += common
        return out

    def cell_factors(self, t: Bundle | None, p: tuple, x: Mixed) -> Factors:
        """Those of all factors, in the order of the columns; last those of missing cells, where these are evidence."""
        parts = [None] * len(p) if t is None else t.parts
        each = [f.cell_factors(part, *own) for part, (f, *own) in zip(parts, self._each(p, x), strict=True)]
        columns = np.concatenate(
            [np.array(at, dtype=np.int64)[one.columns] for one, at in zip(each, self.columns, strict=True)]
        )
        gaps = np.repeat(np.arange(len(each)) == len(each) - 1, [len(one.columns) for one in each]) & self.gaps
        order = np.lexsort([columns, gaps])
        log, numerator, denominator = (
            np.concatenate([getattr(one, name) for one in each], axis=2)[:, :, order]
            for name in ("log", "numerator", "denominator")
        )
        power = np.concatenate([one.power for one in each], axis=1)[:, order]
        return Factors(log, numerator, denominator, power, columns[order], (), gaps[order] if self.gaps else None)

    def quotients(self, t: Bundle, p: tuple) -> list[Quotients | None]:
        """Those of the values of each column, not of whether it is missing."""
        out: dict[int, Quotients | None] = {}
        for f, params, part, at in zip(self.factors, p, t.parts, self.columns, strict=True):
            for j, one in zip(at, f.quotients(part, params) or [None] * len(at), strict=True):
                out.setdefault(j, one)
        return [out[j] for j in range(self.d)]

    def estimates(self, p: tuple) -> dict[str, np.ndarray]:
        out: dict[str, np.ndarray] = {}
        for f, params, at in zip(self.factors, p, self.columns, strict=True):
            for name, values in f.estimates(params).items():
                out.setdefault(name, np.full((len(values), self.d), np.nan))[:, list(at)] = values
        return out

    def leave_one_out(self, t: Bundle, x: Mixed, y, w, p: tuple | None = None) -> np.ndarray:
        """Sum over the factors. A level that no other row has is removed with its row, and the cell is no evidence; NaN
        with `reserve`, where the number of levels changes too."""
        p = self.estimate(t) if p is None else p
        x, lone = self.without_lone(t, x, y, w)
        out: Any = 0.0
        for (f, params, block), part in zip(self._each(p, x), t.parts, strict=True):
            out = out + f.leave_one_out(part, block, y, w, params)
        if self.reserve:
            out[lone] = np.nan
        return out

    def held(self, t: Bundle, p: tuple) -> Product:
        each = zip(self.factors, t.parts, p, strict=True)
        return replace(self, factors=tuple(f.held(part, own) for f, part, own in each))

    def parts_without(self, t: Bundle, p: tuple, out: LeftOut, x: Mixed) -> PartsLeft | None:
        """A level that only the group has is removed with it; NaN where it is a level of x."""
        found = []
        for b, ((f, params, block), part) in enumerate(zip(self._each(p, x), t.parts, strict=True)):
            nominal = f.block == "codes" and b < len(self.factors) - self.gaps
            rows = replace(out, x=out.x.blocks[b], prunes=nominal)
            one = f.parts_without(part, params, rows, block)
            if one is None:
                return None
            found.append((one, f, params, block))
        if len(found) == 1 and self.columns[0] == tuple(range(self.d)):
            return found[0][0]
        if all(one.all is None for one, *_ in found):
            own = np.zeros((x.n, out.parts, self.d))
            for (one, *_), at in zip(found, self.columns, strict=True):
                own[:, :, columns_at(at)] += one.own
            return PartsLeft(own)
        whole = np.zeros((x.n, out.groups, t.k, self.d))
        for (one, f, params, block), at in zip(found, self.columns, strict=True):
            base = f.parts(params, block) if one.all is None else np.zeros(0)
            whole[:, :, :, columns_at(at)] += one.filled(out, base)
        return PartsLeft(None, whole)

    def without_lone(self, t: Bundle, x: Mixed, y: np.ndarray, w: np.ndarray | None) -> tuple[Mixed, np.ndarray]:
        """The rows, with cells whose level no other row has made missing, and which rows had such cells (n,). A cell
        that the row's class does not have stays: the row is not in the counts."""
        blocks, lone = list(x.blocks), np.zeros(x.n, dtype=bool)
        weight = 1.0 if w is None else w[:, None]
        for b, family in enumerate(self.factors[: len(self.factors) - self.gaps]):
            if family.block != "codes":
                continue
            codes, part = np.asarray(blocks[b].values), t.parts[b]
            pooled = np.append(part.table.sum(axis=0), np.inf)
            here = np.where((codes >= 0) & (codes < part.levels), part.offset[:-1] + codes, -1)
            alone = pooled[here] <= weight * (1 + 1e-9)
            alone[:, family.text_columns(part)] = False
            if alone.any():
                row, column = np.nonzero(alone)
                least = (1.0 if w is None else w[row]) * (1 - 1e-9)
                alone[row, column] = part.table[y[row], here[row, column]] >= least
                blocks[b] = Codes(np.where(alone, -1, codes).astype(np.int32))
                lone |= alone.any(axis=1)
        return Mixed(tuple(blocks), x.n), lone

    def sensitivity(self, t: Bundle, p: tuple) -> JoinedSensitivity | None:
        each = [f.sensitivity(part, own) for f, own, part in zip(self.factors, p, t.parts, strict=True)]
        known = [one for one in each if one is not None]
        if len(known) < len(each):
            return None
        return JoinedSensitivity.of(known, self.columns, lambda x: x.blocks)

    def evidence(self, t: Bundle) -> np.ndarray:
        """log marginal likelihood (k,), if every factor has one."""
        out = np.zeros(t.k)
        for f, part, at in zip(self.factors, t.parts, self.columns, strict=True):
            found = f.evidence(part)
            if found is None:
                raise AttributeError(
                    f"{type(f).__name__} has no evidence in closed form ({len(at)} of {self.d} columns)\n\n"
                    "hint: families='student' or 'categorical' has one"
                )
            out = out + found
        return out

    def evidence_by_column(self, t: Bundle, p: tuple) -> np.ndarray:
        out = np.zeros((2, self.d))
        for f, params, part, at in zip(self.factors, p, t.parts, self.columns, strict=True):
            out[:, list(at)] += f.evidence_by_column(part, params)
        return out

    def pooled(self, t: Bundle, p: tuple) -> tuple:
        return tuple(f.pooled(part, params) for f, params, part in zip(self.factors, p, t.parts, strict=True))

    def n_parameters(self, p: tuple, k: int, d: int) -> int | None:
        each = zip(self.factors, p, self.columns, strict=True)
        free = [f.n_parameters(params, k, len(at)) for f, params, at in each]
        return None if None in free else sum(n for n in free if n is not None)

    def n_parameters_joint(self, p: tuple, k: int, d: int) -> int | None:
        """If all columns are of one family: columns of several kinds have no joint distribution of a known form."""
        return self.factors[0].n_parameters_joint(p[0], k, d) if len(self.factors) == 1 else None

    def text_params(self, p: tuple) -> dict[int, Any]:
        each = zip(self.factors, p, self.columns, strict=True)
        return {at[c]: one for f, own, at in each for c, one in f.text_params(own).items()}

    def grid(self, p: tuple, k: int) -> list[np.ndarray]:
        """Values of each column; those of the first factor where a column belongs to several."""
        out: dict[int, np.ndarray] = {}
        for f, params, columns in zip(self.factors, p, self.columns, strict=True):
            for column, values in zip(columns, f.grid(params, k), strict=True):
                out.setdefault(column, values)
        return [out[column] for column in range(self.d)]

    def sample(self, p: tuple, y: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
        """Samples of each factor's columns."""
        return [f.sample(params, y, rng) for f, params in zip(self.factors, p, strict=True)]

    def _each(self, p: tuple, x: Mixed) -> list[tuple]:
        return list(zip(self.factors, p, x.blocks, strict=True))
