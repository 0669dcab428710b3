"""How strongly weights are pulled to 0, found while they are (MacKay 1992): what makes the rows most probable on the
average over all weights.

    pull = γ / |u|²,     γ = Σ_j (1 − pull · variance of u_j)     the number of weights that the rows determine

No pull is less than `least`: few rows, which are judged by fewer still, often seem to say the reverse of what they say
together, and many weights could be had from them that mean nothing.

An objective says in `layout.groups` which of its parameters share a pull; the others keep theirs. `uncertain` has the
variances: the diagonal of the Hessian's inverse, or one over that of the Hessian where it is too large to be made.

>>> round(Pull(1.0).towards(4.0).value, 3)  # the first time as asked; later as far as that is likely to lead
4.0
>>> round(Pull(1.0).towards(4.0).towards(8.0).value, 3)  # it asks for half of the way again: twice of it is left
16.0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import get_lapack_funcs

from deciban.solvers.base import Smooth, State
from deciban.solvers.newton import Metric, Newton
from deciban.solvers.newton_cg import NewtonCg

LEAST, LARGEST = 1e-2, 1e4  # pulls
FEW = 70.0  # rows that have a pull of 1 at least
STRIDES = (0.3, 8.0)
SETTLED = 0.03  # a change of log(pull) that is none
WORTHLESS = 1e-10  # nats a row: separated classes have a loss of 0, of which no share is small
_trtri = get_lapack_funcs(("trtri",), dtype=np.float64)[0]


@dataclass(frozen=True)
class Pull:
    """A pull on its way: log(γ / |u|² / pull) was `off` before the last change, which was `stride` times that."""

    value: float
    off: float = np.inf
    stride: float = 1.0

    def towards(self, wanted: float, lowest: float = LEAST) -> Pull:
        """Nearer to what the rows ask for, which moves too: how much, the last change tells (a secant)."""
        off = float(np.log(np.clip(wanted, lowest, LARGEST) / self.value))
        stride = 1.0
        if np.isfinite(self.off) and off != self.off:
            stride = float(np.clip(self.stride * self.off / (self.off - off), *STRIDES))
        return Pull(float(np.exp(np.clip(np.log(self.value) + stride * off, *np.log([lowest, LARGEST])))), off, stride)


def least(weight: float) -> float:
    """The least pull where rows have that weight together.

    >>> least(14.0), least(70.0), least(1e4)
    (25.0, 1.0, 0.01)
    """
    return float(np.clip((FEW / max(weight, 1.0)) ** 2, LEAST, LARGEST))


@dataclass(frozen=True)
class Kept:
    on_the_way: tuple[Pull, ...]
    moved: float = np.inf  # how much pulls did, in logarithms
    before: float = np.inf  # and in the step before

    @property
    def settled(self) -> bool:
        return max(self.moved, self.before) <= SETTLED  # once may be by chance, while weights are still on their way

    @property
    def pulls(self) -> tuple[float, ...]:
        return tuple(pull.value for pull in self.on_the_way)


@dataclass(frozen=True)
class ByEvidence(Smooth):
    """Another solver's steps, and after each the pulls that the rows ask for."""

    inner: Newton | NewtonCg

    def init(self, objective: Any, w: np.ndarray) -> State:
        pulls = tuple(Pull(float(objective.ridge[at.start])) for at in objective.layout.groups)
        return replace(self.inner.init(objective, w), kept=Kept(pulls))

    def step(self, objective: Any, state: State) -> State:
        now = pulled(objective, state.kept.pulls)
        there = self.inner.step(now, state)
        if there.stuck or state.kept.settled:
            return replace(there, kept=state.kept)
        left = uncertain(now, there) * now.ridge
        pulls, moved = [], 0.0
        for at, before in zip(now.layout.groups, state.kept.on_the_way, strict=True):
            known = max(float((1.0 - left[at]).sum()), 1e-3)
            pull = before.towards(known / max(float(there.w[at] @ there.w[at]), 1e-300), least(objective.weight))
            felt = min(known, 1.0)  # nobody feels a pull where nothing is known
            moved = max(moved, abs(float(np.log(pull.value / before.value))) * felt)
            pulls.append(pull)
        kept = Kept(tuple(pulls), moved, state.kept.moved)
        more = pulled(objective, kept.pulls).ridge - now.ridge
        value = there.value + 0.5 * float(more @ there.w**2)
        return replace(there, value=value, gradient=there.gradient + more * there.w, kept=kept)

    def done(self, objective: Any, state: State, tol: float) -> str | None:
        if not state.kept.settled and not state.stuck:
            return None
        if state.steepness <= tol * objective.weight and state.gain <= WORTHLESS * objective.weight:
            return "gradient"
        return super().done(objective, state, tol)


def pulled(objective: Any, pulls: Sequence[float]) -> Any:
    """The objective with other pulls."""
    ridge = objective.ridge.copy()
    for at, pull in zip(objective.layout.groups, pulls, strict=True):
        ridge[at] = pull
    return replace(objective, ridge=ridge)


def uncertain(objective: Any, state: State) -> np.ndarray:
    """The variance that each weight has left, (size,): the diagonal of the Hessian's inverse."""
    metric: Any = state.kept
    if not isinstance(metric, Metric):
        return 1.0 / objective.diagonal(state.w)[1][0]
    inverse, _ = _trtri(np.tril(metric.factor), lower=1)
    return metric.scale**2 * np.einsum("ij,ij->j", inverse, inverse)
