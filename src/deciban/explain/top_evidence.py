"""The strongest single-value evidence for each class, over typical values of each column.

    decibans of a value for a class = log odds of the class given that cell alone − its prior log odds

>>> from deciban import MixedNB
>>> X, y = [["grey"], ["grey"], ["blue"], ["blue"]], ["rain", "rain", "sun", "sun"]
>>> [str(one) for one in top_evidence(MixedNB(alpha=1).fit(X, y))["rain"]]
['x0 = grey: +4.8 decibans']
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban import decision
from deciban.data import frames
from deciban.decision import is_own
from deciban.display import cell_text, format_decibans, is_missing
from deciban.errors import DataError, DecibanError
from deciban.explain.text import top_word_evidence

DRAWN = 400  # rows sampled from the model, whose values are the typical ones
LEVELS = 50  # categories of a column that are scored
PLACES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)  # quantiles of a column that are scored
GRID = 97  # numbers of a column by which steps are found
STEPS = 15  # most steps of a column whose evidence is given by intervals
LEAST = 0.05  # decibans that are evidence for a class
HALVINGS = 40  # by which the border of an interval is found


@dataclass(frozen=True)
class CellEvidence:
    """The evidence of one value of one column for a class."""

    column: str
    value: Any  # None: the column is a word, and it is there
    decibans: float
    interval: tuple[float | None, float | None] | None = (
        None  # from – to, where all numbers in it have the same evidence
    )
    unit: str = ""  # of numbers: "date", "duration", or ""

    def __str__(self) -> str:
        return f"{self._cell()}: {format_decibans(self.decibans)} decibans"

    def _cell(self) -> str:
        low, high = self.interval or (None, None)
        if low is not None:
            first = self._shown(low, f"{low:.4g}")
            return (
                f"{self.column} ≥ {first}"
                if high is None
                else f"{self.column} {first}–{self._shown(high, f'{high:.4g}')}"
            )
        if high is not None:
            return f"{self.column} < {self._shown(high, f'{high:.4g}')}"
        return (
            self.column if self.value is None else f"{self.column} = {self._shown(self.value, cell_text(self.value))}"
        )

    def _shown(self, value: Any, plain: str) -> str:
        """A number of a unit as a date or duration; any other value as it is written."""
        return str(frames.unit_text(value, self.unit)) if self.unit else plain

    __repr__ = __str__


def top_evidence(model: Any, n: int = 5) -> dict[Any, list[CellEvidence]]:
    """The strongest evidence for each class that a single value of a column can give.

    Parameters
    ----------
    model : classifier
        A fitted model.
    n : int, default 5
        Number of columns for each class.

    Returns
    -------
    dict of label → list of CellEvidence
        The strongest first, at most one for each column; empty if the model cannot score a single column.

    See Also
    --------
    report : An HTML page about a model.

    Examples
    --------
    >>> from deciban import GaussianNB
    >>> model = GaussianNB().fit([[0.0, 1.0], [1.0, 2.0], [7.0, 1.5], [9.0, 2.5]], ["a", "a", "b", "b"])
    >>> [one.column for one in top_evidence(model)["b"]]
    ['x0', 'x1']
    """
    if not is_own(model):
        return {label: [] for label in model.classes_.tolist()}
    if model._reads_texts:
        return {
            label: [CellEvidence(one.word, None, one.decibans) for one in words if one.decibans > LEAST]
            for label, words in top_word_evidence(model, n).items()
        }
    names = model._posterior().columns if model._is_coded() else frames.shown_names(model)
    try:
        cells = _typical(_with_densities(model))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            steps = _steps(model, cells)
            cells = [_in_steps(values, at) for values, at in zip(cells, steps, strict=True)]
            scores = _alone(model, cells)
    except (DecibanError, AttributeError, ValueError):
        return {label: [] for label in model.classes_.tolist()}
    out: dict[Any, list[CellEvidence]] = {}
    units = model._units()
    for c, label in enumerate(model.classes_.tolist()):
        best = [(decibans[:, c].argmax(), decibans[:, c].max()) for decibans in scores]
        found = [
            CellEvidence(name, cells[j][at], float(size), _interval(steps[j], cells[j][at]), units.get(name, ""))
            for j, (name, (at, size)) in enumerate(zip(names, best, strict=True))
            if size > LEAST
        ]
        out[label] = sorted(found, key=lambda one: -one.decibans)[:n]
    return out


def _steps(model: Any, cells: list[list]) -> list[np.ndarray | None]:
    """The numbers at which the evidence of each column changes, where it is the same between them; None: it is
    not piecewise constant."""
    out: list[np.ndarray | None] = [None] * len(cells)
    grids = [
        np.unique([*np.linspace(min(values), max(values), GRID), *values]) if _may_have_steps(values) else np.zeros(0)
        for values in cells
    ]
    if not any(map(len, grids)):
        return out
    found = {}  # column → numbers below and above its borders, decibans below them
    for j, (grid, decibans) in enumerate(zip(grids, _alone(model, [grid.tolist() for grid in grids]), strict=True)):
        at = np.flatnonzero((np.abs(np.diff(decibans, axis=0)) > 1e-9).any(axis=1))
        if 0 < len(at) <= STEPS:
            found[j] = grid[at], grid[at + 1], decibans[at]
    for _ in range(HALVINGS if found else 0):
        middle = {j: (low + high) / 2 for j, (low, high, _) in found.items()}
        alone = _alone(model, [middle[j].tolist() if j in middle else [] for j in range(len(cells))])
        for j, (low, high, left) in found.items():
            same = (np.abs(alone[j] - left) <= 1e-9).all(axis=1)
            found[j] = np.where(same, middle[j], low), np.where(same, high, middle[j]), left
    for j, (_, high, _) in found.items():
        out[j] = high
    return out


def _may_have_steps(values: list) -> bool:
    """Whether these are numbers, not all of them whole."""
    return isinstance(values[0], float) and len(values) > 1 and not all(value.is_integer() for value in values)


def _in_steps(values: list, steps: np.ndarray | None) -> list:
    """A number in each interval; of numbers without steps those from the 5 % quantile to that of 95 %."""
    if steps is not None:
        borders = np.array([min(values), *steps, max(values)])
        return ((borders[:-1] + borders[1:]) / 2).tolist()
    return values[1:-1] if isinstance(values[0], float) and len(values) == len(PLACES) else values


def _interval(steps: np.ndarray | None, value: Any) -> tuple[float | None, float | None] | None:
    if steps is None:
        return None
    place = int(np.searchsorted(steps, value, side="right"))
    return (float(steps[place - 1]) if place else None, float(steps[place]) if place < len(steps) else None)


def _typical(model: Any) -> list[list]:
    """Typical values of each column: all categories, or quantiles of the numbers."""
    if model._is_coded():
        return [_some(np.asarray(values)) for values in model._posterior().candidates()]
    drawn, _ = model.sample(DRAWN, random_state=0)
    columns = frames.columns(drawn if frames.is_frame(drawn) else np.asarray(drawn))
    out = []
    for column, (low, high) in zip(columns, _seen(model, len(columns)), strict=True):
        cells = column.named()
        given = [cell for cell in cells.tolist() if not is_missing(cell)]
        if column.levels is not None or not given:
            out.append(list(dict.fromkeys(given))[:LEVELS] or [None])
        else:
            inside = [cell for cell in given if low <= cell <= high]
            out.append(sorted(set(np.quantile(inside or [low, high], PLACES, method="nearest").tolist())))
    return out


def _with_densities(model: Any) -> Any:
    """The model; of a mix, its first model that has densities of rows."""
    members = model._members() if model._has_members else []
    drawing = [member.model for member in members if member.draws_rows]
    return _with_densities(drawing[0]) if drawing else model


def _some(values: np.ndarray) -> list:
    """Categories that are not missing, or quantiles of numbers."""
    if values.dtype.kind != "f":
        return [value for value in values.tolist() if value is not None][:LEVELS]
    return sorted(set(np.quantile(values, PLACES, method="nearest").tolist()))


def _seen(model: Any, d: int) -> list[tuple[float, float]]:
    """The range of each column in the training rows, as far as the model knows it."""
    known = model._posterior().candidates()
    if known is None:
        return [(-np.inf, np.inf)] * d
    return [
        (values.min(), values.max()) if values.dtype.kind == "f" and len(values) else (-np.inf, np.inf)
        for values in map(np.asarray, known)
    ]


def _alone(model: Any, cells: list[list]) -> list[np.ndarray]:
    """Decibans for each class of rows in which only one column has a value, less those of a row without values: for
    each column (values, k)."""
    posterior, columns = model._posterior(), range(len(cells))
    if posterior.separate:
        return _alone_by_parts(model, cells)
    if model._is_coded():
        return [
            _alone_by_parts(model, [values if i == j else [] for i in columns])[j] for j, values in enumerate(cells)
        ]
    return [_alone_in_rows(model, j, values, len(cells)) for j, values in enumerate(cells)]


def _alone_by_parts(model: Any, cells: list[list]) -> list[np.ndarray]:
    """The same by the evidence of each column, with values of all columns in the same rows."""
    posterior, coded = model._posterior(), model._is_coded()
    rows = max(map(len, cells)) + 1  # the last one has no values
    columns = [np.array([*values, *[np.nan] * (rows - len(values))], dtype=_dtype(values)) for values in cells]
    named = coded or posterior.reader.schema is not None
    x = posterior.block_of(columns) if named else posterior.block(np.column_stack(columns))
    (base, parts, *_), _ = posterior.scale_evidence(x)
    if parts.shape[2] != len(cells):
        raise DataError("columns interact\n\nhint: `explain` shows the joint part of a row")
    nothing = np.zeros_like(parts[-1]) if coded else parts[-1]
    base = base + nothing.sum(axis=1)
    prior = decision.log_odds(base[None, :], None)
    return [
        decision.DECIBAN * (decision.log_odds(base + parts[: len(values), :, j] - nothing[:, j], None) - prior)
        for j, values in enumerate(cells)
    ]


def _dtype(values: list) -> Any:
    return object if values and isinstance(values[0], str | bool) else float


def _alone_in_rows(model: Any, j: int, values: list, d: int) -> np.ndarray:
    """The same for column j, by the predictions of such rows, where columns have no evidence of their own."""
    if not values:
        return np.zeros((0, len(model.classes_)))
    rows = np.full((len(values) + 1, d), np.nan, dtype=_dtype(values))
    for at, value in enumerate(values):
        rows[at, j] = value
    decibans = np.asarray(model.decibans(_as_learned(model, rows)))
    return decibans[:-1] - decibans[-1]


def _as_learned(model: Any, rows: np.ndarray) -> Any:
    """Rows as a frame, if the model was learned from one."""
    state = model._tally_state()
    library = state.reader.library if state is not None and state.reader.schema is not None else None
    if library is None:
        return rows
    columns = []
    for one, cells in zip(state.reader.schema.fields, rows.T, strict=True):
        values = np.array([None if is_missing(c) else c for c in cells], dtype=np.float64 if one.unit else object)
        columns.append(frames.Column(one.name, values, unit=one.unit))
    return frames.to_frame(columns, library)
