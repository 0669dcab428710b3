"""Leave-one-out predictions without refitting, and what is fitted to them: tuned settings and calibration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from deciban import decision, metrics, ops
from deciban.data.blocks import Table, borders
from deciban.decision import check_priors
from deciban.engines import threads
from deciban.errors import ForgetError
from deciban.models.calibration import Calibration
from deciban.models.model import State
from deciban.models.posterior import AveragedPosterior, resolved
from deciban.rows.sample import SelectedRows

LOST = 700.0  # nats: loss of a held-out row with probability 0
REFITS = 32  # rows without a closed form that are refitted where settings are chosen; they stand for all of them
FEW = 32  # combinations of candidate settings up to which each is tried
STRIDE = 4  # of the first candidates that are tried where there are more
MINIMA = 3  # among these, around which others are tried
SHOWN = 8  # rows by whose scores two estimates are compared
SPAN = 1 << 20  # least number of cells in a span of rows: enough for Python's part to be small, on many cores too


def leave_one_out(state: State, table: Table, priors: Any = None) -> np.ndarray:
    """Log probabilities (n, k) of the classes of each row, by the model without that row; its calibration stays."""
    check_learned(state, table)
    if priors is None:
        logs, which = distinct_priors(state, table)
    else:
        with np.errstate(divide="ignore"):
            logs, which = np.log(check_priors(priors, state.classes))[None], np.zeros(table.n, dtype=np.intp)
    out, posterior = np.empty((table.n, table.k)), state.posterior

    def finish(scores: np.ndarray, start: int, stop: int) -> None:
        prior = logs[which[start:stop]]
        if isinstance(posterior, AveragedPosterior):  # a row that lacks a level adds nothing to its shares
            out[start:stop] = posterior.averaged(table.rows(start, stop).x, scores, prior, start)
            return
        fallback = prior  # of a row that no class makes possible
        if state.calibration is not None:
            state.calibration.apply(scores)
            fallback = fallback + state.calibration.bias
        scores += prior
        ops.posterior(resolved(scores, fallback), logs=True, out=out[start:stop])

    held_out_scores(state, table, finish, check=True)
    return out


def check_learned(state: State, table: Table) -> None:
    """Raise an error for rows with more weight than their class: they were not learned."""
    most = np.ones(table.k)
    if table.w is not None:
        most = np.zeros(table.k)
        np.maximum.at(most, table.y, table.w)
    short = np.isin(np.arange(table.k), table.y) & (most > state.n * (1 + 1e-9))
    if short.any():
        raise ForgetError(
            f"class {state.classes[short].tolist()} has less weight in the model than one of these rows\n\n"
            "hint: leave out only rows (and weights) that went through fit or partial_fit"
        )


def is_whole(state: State, table: Table) -> bool:
    """Whether these rows have the statistics of a state: as many rows of each class, and parameters by which the first
    rows have the same scores."""
    if not np.allclose(state.n, ops.class_weights(table.y, table.w, table.k), rtol=1e-9):
        return False
    few = table.rows(0, min(table.n, SHOWN)).x
    with np.errstate(all="ignore"):
        own = state.family.estimate(state.tallied(table).parts[1])
        a, b = (state.family.loglik(params, few) for params in (state.params, own))
    return bool(np.allclose(a, b, rtol=1e-9, atol=1e-9, equal_nan=True))


def never_learned(state: State, table: Table, row: int) -> ForgetError:
    """The error for a row that is not in the sums."""
    return ForgetError(
        f"row {row} of class {state.classes[table.y[row : row + 1]].tolist()[0]!r} was never learned\n\n"
        "hint: leave out only rows that went through fit or partial_fit, with their labels and weights"
    )


def held_out_scores(
    state: State,
    table: Table,
    finish: Callable | None = None,
    check: bool = False,
    refits: bool = True,
    family: Any = None,
) -> np.ndarray:
    """Log likelihoods (n, k) of each row under every class, the row taken out of the tally. With `finish`, nothing is
    returned: finish(scores, start, stop) is called for each span of rows. With `check`, a row that the tally cannot
    contain raises an error; families give NaN for it, as for all rows without a closed form. These are refitted, or
    (without `refits`) stay NaN. `family`: another one than that of the state, such as `Family.for_second_stage`."""
    family, counts = state.family if family is None else family, state.tally.parts[1]
    params = state.params if family.needs_estimate else None

    def of(span: tuple[int, int]) -> np.ndarray | None:
        chunk = table.rows(*span)
        with np.errstate(all="ignore"):
            out = family.leave_one_out(counts, chunk.x, chunk.y, chunk.w, params)
            if state.spec.fill_missing is not None:
                _score_incomplete(state, chunk, out)
            if refits and not ops.all_finite(out):
                for row in np.flatnonzero(np.isnan(out).any(axis=1)).tolist():  # no closed form: refit
                    left = state.without(chunk.rows(row, row + 1))
                    if check and left.tally.short().any():
                        raise never_learned(state, table, span[0] + row)
                    out[row] = state.loglik_by(left, chunk.rows(row, row + 1))
            return out if finish is None else finish(out, *span)

    spans = borders(table.n, table.x.cells, max(SPAN, table.k * table.d // 4))
    parts = list(threads.map_ordered(spans, of))
    return np.concatenate(parts) if finish is None else np.empty((0, table.k))


def _score_incomplete(state: State, chunk: Table, out: np.ndarray) -> None:
    """Score incomplete rows, which have no scores yet, by the whole model. Discriminants do not tally them (or, after
    EM, tally their expected statistics): there is nothing to take out."""
    if ops.all_finite(out):
        return
    open_rows = np.flatnonzero(np.isnan(out).any(axis=1))
    gaps = open_rows[np.isnan(np.asarray(chunk.x.values)[open_rows]).any(axis=1)]  # type: ignore[union-attr]
    if len(gaps):
        out[gaps] = state.family.loglik(state.params, chunk.x.take(gaps))


def held_out_prior(state: State, table: Table) -> np.ndarray:
    """log priors (n, k) for each row, its own weight taken out."""
    logs, which = distinct_priors(state, table)
    return logs[which]


def distinct_priors(state: State, table: Table) -> tuple[np.ndarray, np.ndarray]:
    """(the distinct log priors (m, k) of rows whose own weight is taken out, which of them each row (n,) has)"""
    n = state.n
    if not state.family.uses_prior and len(n) > 1:
        return np.zeros((1, len(n))), np.zeros(table.n, dtype=np.intp)
    if table.w is None:
        which, cases = table.y, [(c, 1.0) for c in range(table.k)]
    else:
        amounts, at = np.unique(table.w, return_inverse=True)
        pairs, which = np.unique(table.y.astype(np.int64) * len(amounts) + at.ravel(), return_inverse=True)
        cases = [(int(pair // len(amounts)), amounts[pair % len(amounts)]) for pair in pairs]
    logs = np.empty((len(cases), len(n)))
    for row, (c, w) in enumerate(cases):
        left = n.copy()
        left[c] = max(left[c] - w, 0.0)
        logs[row] = state.spec.prior.log(left, state.classes)
    return logs, which.ravel()


# what is fitted to held-out rows


def second_stage_scores(state: State, table: Table, refits: bool = True) -> np.ndarray:
    """`held_out_scores` for what is fitted to them: see `Family.for_second_stage`."""
    family = state.family.for_second_stage(state.tally.parts[1])
    return held_out_scores(state, table, refits=refits, family=family)


def calibrated(state: State, rows: SelectedRows) -> State:
    """The state with a temperature and biases fitted to leave-one-out scores."""
    table = rows.table
    scores, prior = second_stage_scores(state, table), held_out_prior(state, table)
    return state.adjusted(calibration=Calibration.fit(scores, prior, table.y, rows.mass))


def tuned(state: State, rows: SelectedRows) -> State:
    """The state with the combination of candidate settings of the smallest leave-one-out log loss."""
    names, grids = list(state.spec.tune), list(state.spec.tune.values())
    states: dict[tuple[int, ...], State] = {}

    def loss(place: tuple[int, ...]) -> float:
        values = [grid[i] for grid, i in zip(grids, place, strict=True)]
        states[place] = state.with_known(tuned=dict(zip(names, values, strict=True)))
        return held_out_loss(states[place], rows)

    return states[least_place(loss, [len(grid) for grid in grids])]


def least_place(loss: Callable[[tuple[int, ...]], float], sizes: Sequence[int]) -> tuple[int, ...]:
    """The place in a grid of these sizes that has the least loss, of equal ones the first. In a grid of more than `FEW`
    places, every fourth one along each axis is tried first, and then those around the minima among these, which may
    miss a narrow minimum.

    >>> least_place(lambda place: (place[0] - 5) ** 2 + (place[1] - 6) ** 2, [10, 12])
    (5, 6)
    """
    found: dict[tuple[int, ...], float] = {}

    def best_of(places: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
        places = list(places)
        found.update((place, loss(place)) for place in places if place not in found)
        return min(places, key=lambda place: (found[place], place))

    def around(place: tuple[int, ...], step: int) -> list[tuple[int, ...]]:
        return list(product(*({max(i - step, 0), i, min(i + step, n - 1)} for i, n in zip(place, sizes, strict=True))))

    if prod(sizes) <= FEW:
        return best_of(product(*map(range, sizes)))
    first = list(product(*({*range(0, n, STRIDE), n - 1} for n in sizes)))
    best_of(first)
    minima = [a for a in first if all(found[a] <= found[b] for b in first if np.abs(np.subtract(a, b)).max() <= STRIDE)]
    for place in sorted(minima, key=lambda place: (found[place], place))[:MINIMA]:
        for step in (STRIDE // 2, 1):
            last = None
            while last != place:
                last, place = place, best_of(around(place, step))
    return best_of(found)


def held_out_loss(state: State, rows: SelectedRows) -> float:
    """The leave-one-out log loss of rows."""
    table, w = rows.table, rows.mass.copy()
    joint = second_stage_scores(state, table, refits=False)
    open_rows = np.flatnonzero(np.isnan(joint).any(axis=1))
    if len(open_rows):
        some, left_out = open_rows[:REFITS], open_rows[REFITS:]  # rows of a sample are in the order of their keys
        joint[some] = second_stage_scores(state, table.take(some))
        w[some] *= w[open_rows].sum() / max(w[some].sum(), 1e-300)
        w[left_out] = 0.0
        joint[left_out] = 0.0
    joint += held_out_prior(state, table)
    joint = decision.resolve_impossible_rows(joint, decision.log_prior(state.n))
    logs = ops.posterior(np.ascontiguousarray(joint), logs=True)
    return -metrics.total(np.maximum(logs[np.arange(table.n), table.y], -LOST), w)
