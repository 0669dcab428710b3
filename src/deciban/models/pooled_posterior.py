"""The posterior of several models, and what each of them takes of the rows.

    log P(class | x) = pooled(log P(class | x, h) of each model h)

The models are `Member`s of an ensemble: they have `log_proba`, `takes_missing`, `finds_columns_by_name` and `model`. A
model that takes no missing cells has NaN for rows with missing cells, which the other models predict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse

from deciban import decision
from deciban.data import frames
from deciban.decision import check_priors
from deciban.display import format_list
from deciban.errors import DataError
from deciban.explain.explanation import PRIOR
from deciban.models import hypotheses
from deciban.rows.inputs import rows_at
from deciban.rows.readers import ArrayKind

TOGETHER = "(models together)"
NOTE = f"columns: the mean over the models; {TOGETHER}: what averaging probabilities, not evidence, adds"


class PooledEvidence(NamedTuple):
    """Scores by column; see `models.posterior.Evidence`."""

    base: np.ndarray  # (k,)
    parts: np.ndarray  # (n, k, d + 1)
    columns: list[str]
    cells: np.ndarray  # (n, d + 1)
    note: str
    start: str = PRIOR


@dataclass(frozen=True, eq=False)
class PooledPosterior:
    """P(class | x) by several models; see `models.posterior.Posterior`."""

    classes: np.ndarray
    members: list[Any]
    weights: np.ndarray  # (m,)
    class_count: np.ndarray | None  # (k,); None: the models were not learned by the ensemble
    priors: Any
    pooled: Callable[[PooledPosterior, Any], np.ndarray]  # (self, X) → log P(class | x) (n, k)
    read: Callable[[Any], Any] = lambda X: X
    temperature: float = 1.0  # of the evidence, see `hypotheses.sharpened`
    splits: ClassVar[bool] = False
    separate: ClassVar[bool] = False

    def of_each(self, X: Any) -> np.ndarray:
        """log P(class | x) (m, n, k) of each model; NaN for rows that it does not take."""
        X, own = frames.records(self.read(X)), (self.classes, self.priors, self.class_count)
        out = []
        for member, (rows, taken) in zip(self.members, inputs_of_each(self.members, X), strict=True):
            if taken is None:
                out.append(member.log_proba(rows, *own))
                continue
            found = np.full((len(taken), len(self.classes)), np.nan)
            if taken.any():
                found[taken] = member.log_proba(rows_at(rows, np.flatnonzero(taken)), *own)
            out.append(found)
        return np.stack(out)

    def added_prior(self) -> np.ndarray:
        """log priors (k,) of the classes."""
        if self.class_count is None:
            raise DataError("hypotheses that were not learned here have no class priors\n\nhint: fit models on rows")
        if self.priors is None:
            return decision.log_prior(np.asarray(self.class_count, dtype=np.float64))
        with np.errstate(divide="ignore"):
            return np.log(check_priors(self.priors, self.classes))

    def sharpened(self, log_proba: np.ndarray) -> np.ndarray:
        """Log probabilities (n, k) with the temperature of this posterior."""
        return hypotheses.sharpened(log_proba, self.added_prior(), self.temperature)

    def output(self, X: Any) -> ArrayKind:
        return ArrayKind.plain

    def log_proba(self, X: Any) -> np.ndarray:
        return self.pooled(self, X)

    def proba(self, X: Any) -> np.ndarray:
        return np.exp(self.pooled(self, X))

    def labels(self, X: Any) -> np.ndarray:
        return self.classes[self.pooled(self, X).argmax(axis=1)]

    def log_odds(self, X: Any, against: Any = None) -> np.ndarray:
        place = None if against is None else decision.class_index(against, self.classes)
        return decision.log_odds(self.pooled(self, X), place)

    def evidence(self, X: Any) -> PooledEvidence:
        """The mean over the models that take a row, by their weights, and what averaging probabilities instead of
        evidence adds. A column of which only some models have evidence has none in the others."""
        priors = None if self.priors is None else check_priors(self.priors, self.classes)
        each = inputs_of_each(self.members, frames.records(self.read(X)))
        used = [i for i, (_, taken) in enumerate(each) if taken is None or taken.any()]
        found = []
        for i in used:
            rows, taken = each[i]
            rows = rows if taken is None else rows_at(rows, np.flatnonzero(taken))
            found.append(self.members[i].model._posterior(priors).evidence(rows))
        n = max(len(one.parts) for one in found)  # at least one model takes all rows
        columns = list(dict.fromkeys(name for one in found for name in one.columns))
        place = [np.array([columns.index(name) for name in one.columns]) for one in found]
        weights = self.weights[used] if self.weights[used].any() else np.ones(len(used))
        taken = taken_rows([each[i] for i in used], n)
        share = np.where(taken, weights[:, None], 0.0)
        share = np.where(share.any(axis=0), share, taken)
        share = share / share.sum(axis=0)  # (m, n), of each model in the prediction of each row
        base = np.tensordot(weights / weights.sum(), np.stack([one.base for one in found]), 1)
        parts = np.zeros((n, len(base), len(columns)))
        cells = np.full((n, len(columns) + 1), "", dtype=object)
        for one, rows, at, own in reversed(list(zip(found, map(np.flatnonzero, taken), place, share, strict=True))):
            parts[rows[:, None], :, at] += own[rows, None, None] * one.parts.transpose(0, 2, 1)
            cells[rows[:, None], at] = one.cells
        parts *= self.temperature
        with np.errstate(invalid="ignore"):
            rest = np.nan_to_num(self.pooled(self, X) - (base + parts.sum(axis=2)))
        rest -= rest.mean(axis=1, keepdims=True)  # what all classes share is no evidence
        parts = np.concatenate([parts, rest[:, :, None]], axis=2)
        note = "\n".join([NOTE, *notes_of_missing(self.members, each, frames.row_labels(X))])
        return PooledEvidence(base, parts, [*columns, TOGETHER], cells, note)

    def note(self, name: str, found: PooledEvidence) -> str:
        return found.note


def inputs_of_each(members: Sequence[Any], X: Any) -> list[tuple[Any, np.ndarray | None]]:
    """For each member the rows in the form that it takes, and which of them (n,) it takes; None: all.

    Where some members take missing cells, the others take rows without missing cells. Where some find columns by name,
    the columns are put in order for the others."""
    takes = [member.takes_missing for member in members]
    if all(takes) or not any(takes) or sparse.issparse(X):
        return [(X, None)] * len(members)
    by_name = frames.is_frame(X) and any(member.finds_columns_by_name for member in members)
    return [
        (X, None) if missing else complete_rows(member.model, X, by_name)
        for member, missing in zip(members, takes, strict=True)
    ]


def taken_rows(each: Sequence[tuple[Any, np.ndarray | None]], n: int) -> np.ndarray:
    """Which rows each member takes, (m, n), from `inputs_of_each`."""
    return np.stack([np.ones(n, dtype=bool) if some is None else some for _, some in each])


def complete_rows(model: Any, X: Any, by_name: bool) -> tuple[Any, np.ndarray | None]:
    """The columns of a model, and which rows (n,) miss none of their cells; None: all."""
    if by_name and (names := frames.feature_names(model)):
        if not set(names) <= set(frames.names(X)):
            return X, np.zeros(len(X), dtype=bool)
        if isinstance(X, frames.Records):
            X = X.only(names)
        else:
            X = nw.from_native(X, eager_only=True).select(names).to_native()
    cells = X if frames.is_frame(X) else np.asarray(X)
    if not frames.is_frame(X) and (cells.ndim != 2 or cells.dtype.kind not in "fiubO"):
        return X, None  # the error is raised by the model
    if isinstance(cells, np.ndarray) and cells.dtype.kind == "f":
        complete = ~np.asarray(np.isnan(cells).any(axis=1))
    else:
        complete = ~np.asarray(np.any([column.missing for column in frames.columns(cells)], axis=0))
    return X, None if np.all(complete) else complete


def notes_of_missing(members: Sequence[Any], each: Sequence[tuple[Any, Any]], labels: Any) -> list[str]:
    """Which rows are predicted without which members, one line for the members of the same rows."""
    without: dict[tuple[int, ...], list[str]] = {}
    for member, (_, taken) in zip(members, each, strict=True):
        if taken is not None:
            without.setdefault(tuple(np.flatnonzero(~taken).tolist()), []).append(member.name)
    out = []
    for rows, names in without.items():
        called = [row if labels is None else labels[row] for row in rows]
        which = f"row{'s' * (len(rows) > 1)} {format_list(called, quote='')}"
        takes = "takes" if len(names) == 1 else "take"
        out.append(f"{which}: predicted without {format_list(names)}, which {takes} no missing cells")
    return out
