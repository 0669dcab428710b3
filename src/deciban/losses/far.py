"""The objective of logistic regression where the rows lie elsewhere: files, Dask, Spark. Every question is one pass.

Beside the rows themselves there is a sample of them here, which tells where to start and what the curvature is like, so
that few passes are needed. `ask(name, *arguments)` goes through all rows: it adds up what `Objective`'s method of that
name says of each batch, without penalties.

>>> import numpy as np
>>> from deciban.table import Reals, Table
>>> rows = Table(Reals(np.array([[1.0], [3.0]])), np.array([0, 1], dtype=np.int32), None, 2)
>>> here, plain = Objective.of(rows, l2=1.0), Objective.of(rows)
>>> far = Far.over(Distant(2, 1, 2), plain, 2.0, lambda name, *at: getattr(plain, name)(*at), here)
>>> far.slope(np.ones(2))[0] == here.slope(np.ones(2))[0]
True
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from deciban.losses.objectives import Objective


@dataclass(frozen=True)
class Distant:
    """Rows that are not here: how many, of how many columns and classes."""

    n: int
    d: int
    k: int

    @property
    def x(self) -> Distant:
        return self

    @property
    def cells(self) -> int:
        return self.n * self.d


@dataclass(frozen=True, eq=False)
class Far(Objective):
    sample: Objective  # of rows that are here, with as much less penalty
    mass: float  # Σ w of all rows
    ask: Callable[..., tuple] = field(repr=False)
    bent: bool = False  # whether a pass for the gradient brings the Hessian too, which the next step will ask for
    last: dict[tuple[str, bytes], tuple] = field(default_factory=dict, repr=False)

    @classmethod
    def over(cls, rows: Distant, sample: Objective, mass: float, ask: Callable[..., tuple], whole: Objective) -> Far:
        """With the penalties of `whole`, which has no rows."""
        share = sample.weight / mass
        some = replace(sample, ridge=whole.ridge * share, lasso=whole.lasso * share)
        return cls(rows, whole.ridge, whole.lasso, some, mass, ask)  # type: ignore[arg-type]

    @property
    def weight(self) -> float:
        return self.mass

    def slope(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = (self.curve(w) if self.bent else self._once("slope", w))[:2]
        return value, gradient

    def curve(self, w: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        value, gradient, hessian = self._once("curve", w)
        return value, gradient, hessian

    def _once(self, what: str, w: np.ndarray) -> tuple:
        """What was asked last is known still."""
        key = (what, w.tobytes())
        if key not in self.last:
            value, gradient, *hessian = self.ask(what, w)
            for matrix in hessian:
                matrix.flat[:: self.size + 1] += np.tile(self.ridge, self.m)
            self.last.clear()
            self.last[key] = (*self._pulled(w, value, gradient), *hessian)
        return self.last[key]

    def product(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        (out,) = self.ask("product", w, v)
        return out + np.tile(self.ridge, self.m) * v

    def outset(self, w: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        value, gradient, first, second = self.ask("outset", w)
        return *self._pulled(w, value, gradient), first, second + self.ridge

    def diagonal(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        first, second = self.ask("diagonal", w)
        return first, second + self.ridge

    def along(self, w: np.ndarray, ahead: np.ndarray, fall: float) -> Callable[[float], tuple[float, float]]:
        return self.sample.along_for(self.weight, w, ahead, fall)

    def thin(self, n: int) -> Objective:
        """The sample, however many rows were asked for."""
        return self.sample

    def columns(self, at: np.ndarray) -> Far:
        inner = at[at < self.rows.d]
        return Far(
            replace(self.rows, d=len(inner)),  # type: ignore[call-arg]
            self.ridge[at],
            self.lasso[at],
            self.sample.columns(at),
            self.mass,
            self.ask.of_columns(inner),  # type: ignore[attr-defined]
        )

    def _pulled(self, w: np.ndarray, value: float, gradient: np.ndarray) -> tuple[float, np.ndarray]:
        pull = np.tile(self.ridge, self.m) * w
        return value + 0.5 * float(pull @ w), gradient + pull
