"""Coding: the columns of a frame as columns of numbers, for models whose parameters are vectors and matrices.

| column | LogisticRegression | discriminants | GaussianNB | BernoulliNB | CategoricalNB |
|---|---|---|---|---|---|
| numbers, days, seconds | themselves | themselves | themselves | above the median | up to ten levels, or ten cells |
| month, weekday, hour of dates | as categories | of LDA and Fisher: as categories | – | as categories | levels |
| categories, texts | 0 and 1 of each level but the most frequent | of each but the first | of each | of each | levels |
| of > `MANY` levels those of < `RARE` rows | the same | share one column | the same | the same | the same |
| truth values | 0 and 1 of one of the two | the same | of True | of True | levels |
| a missing category | an indicator | NaN, in training the means | NaN | NaN | no level |
| a missing number | an indicator, and the mean | NaN | NaN | NaN | no level |
| a level that training did not have | the means of training | NaN | NaN | NaN | no level |

NaN and no level are no evidence; neither are the means of training, relative to the mean row. A missing cell of a
column that had none in training is like a level that training did not have. Columns of free text, identifiers and
columns without values are not used. A `Coding` is made of the training columns and does not change afterwards.

Parts of dates are used where they say more about the class than the date as a number, see `date_parts`. QDA, RDA and
GaussianNB do not use them: normal densities with variances by class overstate rare indicators.

>>> import numpy as np
>>> sex, age = Column("sex", np.array([0, 1, 1]), ["f", "m"]), Column("age", np.array([30.0, np.nan, 50.0]))
>>> coding, _ = Coding.of([sex, age], LINEAR)
>>> coding.labels
['sex=f', 'age', 'age missing']
>>> coding.read([age, Column("sex", np.array([0, -1, 1]), ["f", "x"])], 3)[0].values.round(2).tolist()
[[1.0, 30.0, 0.0], [0.33, 40.0, 1.0], [0.33, 50.0, 0.0]]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np

from deciban import ops
from deciban.data import frames
from deciban.data.blocks import Codes, Reals
from deciban.data.frames import Column
from deciban.display import cell_text
from deciban.errors import DataError
from deciban.rows.date_parts import PARTS, date_part, helpful_parts, part_name
from deciban.rows.schema import level_codes, number_cells
from deciban.rows.unused_columns import FEW as MANY
from deciban.rows.unused_columns import drop_reason

RARE = 10  # rows of a level that has a column of its own in discriminants, where a column has more than `MANY` levels
FEW = 10  # distinct numbers that are levels, and cells of equal mass of more numbers
UNSEEN = -2  # code of a level that training did not have
CONSTANT = 1e-13  # a column of smaller deviation, relative to its mean, counts as constant


@dataclass(frozen=True)
class CodingRule:
    """How columns are coded, see the table of the module."""

    reference: str = ""  # the level without an indicator: "frequent", "first"; "": every level has one
    rare: int = 0  # rows of a level with a column of its own, where there are more than `MANY` levels
    gaps: bool = False  # whether training rows without a category have the frequencies of its levels; else NaN
    filled: bool = False  # whether missing cells have an indicator, and cells without a value the means; else NaN
    dates: bool = True  # whether dates have parts
    cells: int = 0  # of numbers: 2 of them (above the median or not); more: codes of levels or cells; 0: the numbers


LINEAR = CodingRule("frequent", filled=True)
GAUSSIAN = CodingRule("first", RARE, gaps=True)
GAUSSIAN_BY_CLASS = replace(GAUSSIAN, dates=False)
INDICATORS = CodingRule(dates=False)
BINARY = CodingRule(cells=2)
LEVELS = CodingRule(cells=FEW)


@dataclass(frozen=True)
class ColumnCode:
    """How one column of a frame is coded."""

    name: str
    levels: tuple | None = None  # None: numbers
    unit: str = ""  # of numbers, as in `frames.Column`
    used: bool = True
    reference: int = -1  # the level without an indicator; −1: every level has one
    rare: tuple[int, ...] = ()  # the levels that share one indicator
    gap: bool = False  # whether missing cells have an indicator
    means: tuple[float, ...] = ()  # of the coded columns in training, for cells without a value; (): these are NaN
    scales: tuple[float, ...] = ()  # their standard deviations, 1 where it is 0; (): means are for training rows only
    cuts: tuple[float, ...] = ()  # between cells of numbers
    ends: tuple[float, ...] = field(default=(), compare=False)  # the least and the largest number, where there are cuts
    coded: bool = False  # whether it is one column of codes, −1 = missing
    parts: tuple[ColumnCode, ...] = ()  # of dates, each a category

    @classmethod
    def of(cls, column: Column, rule: CodingRule, w: np.ndarray | None = None, parts: Sequence[str] = ()) -> ColumnCode:
        """The code of a training column; w: weights of its rows; `parts` of its dates."""
        if parts:
            each = (date_part(column, part) for part in parts)
            return replace(cls.of(column, rule, w), parts=tuple(cls._of_part(one, rule, w) for one in each))
        truth = column.levels is not None and all(isinstance(level, (bool, np.bool_)) for level in column.levels)
        levels = (False, True) if truth else None if column.levels is None else tuple(column.levels)
        out = cls(str(column.name), levels, column.unit, coded=rule.cells > 2)
        if levels is None:
            out = out._of_numbers(column, rule)
        elif not out.coded:
            out = replace(out, rare=out._rare_levels(column, rule))
            if len(out.rare) == len(levels):
                return replace(out, used=False)
            out = replace(out, reference=out._reference(column, rule, w, truth))
            if rule.gaps and column.missing.any():
                given = out.cells(column.at(np.flatnonzero(~column.missing)), 0)
                out = replace(out, means=tuple(given.mean(axis=0).tolist()))
        return out._filled(column, w, bool(column.missing.any())) if rule.filled else out

    @classmethod
    def _of_part(cls, part: Column, rule: CodingRule, w: np.ndarray | None) -> ColumnCode:
        """The code of a part of dates. That a date is missing is evidence of its number alone."""
        used = part.used_levels()
        if not rule.filled:
            return cls.of(used, rule, w)
        return cls.of(used, replace(rule, filled=False), w)._filled(used, w, False)

    def _of_numbers(self, column: Column, rule: CodingRule) -> ColumnCode:
        if not rule.cells:
            return self
        values = np.unique(number_cells(self, column, learning=True)[~column.missing]).astype(np.float64)
        if rule.cells > 2 and len(values) <= rule.cells:
            return replace(self, levels=tuple(column.as_levels().levels or ()))
        given = np.asarray(column.values, dtype=np.float64)[~column.missing]
        cuts = np.unique(np.quantile(given, np.arange(1, rule.cells) / rule.cells))
        cuts = cuts[cuts < values[-1]] if values[0] < values[-1] else cuts
        if not len(cuts):  # more than half of the numbers are the largest
            cuts = values[-2:-1]
        return replace(self, cuts=tuple(cuts.tolist()), ends=(float(values[0]), float(values[-1])))

    def _rare_levels(self, column: Column, rule: CodingRule) -> tuple[int, ...]:
        assert self.levels is not None
        if not rule.rare or len(self.levels) <= MANY:
            return ()
        codes = level_codes(self, column, UNSEEN)
        rows = np.bincount(codes[codes >= 0], minlength=len(self.levels))
        return tuple(np.flatnonzero(rows < rule.rare).tolist())

    def _reference(self, column: Column, rule: CodingRule, w: np.ndarray | None, truth: bool) -> int:
        if rule.reference != "frequent":
            own = (code for code in range(len(self.levels or ())) if code not in self.rare)
            return next(own, 0) if rule.reference or truth else -1
        codes = level_codes(self, column, UNSEEN)
        there = codes >= 0
        return int(np.bincount(codes[there], None if w is None else w[there], minlength=1).argmax())

    def _filled(self, column: Column, w: np.ndarray | None, gap: bool) -> ColumnCode:
        """With the means and deviations of the coded columns; `gap`: missing cells have an indicator."""
        missing = column.missing
        out = replace(self, gap=gap)
        if self.levels is None:
            given = np.asarray(column.values[~missing], dtype=np.float64)
            fill = _average(given, None if w is None else w[~missing])
            out = replace(out, means=(float(fill),) * out.width)
        if not out.width:  # a column of one level
            return out
        cells = out.cells(column, len(missing))
        if not gap and missing.any():  # then they have the means of the others
            there = np.flatnonzero(~missing)
            cells[missing] = _average(cells[there], None if w is None else w[there])
        means = _average(cells, w)
        scales = np.sqrt(_average((cells - means) ** 2, w))
        scales = np.where(scales > CONSTANT * np.abs(means), scales, 1.0)
        return replace(out, means=tuple(means.tolist()), scales=tuple(scales.tolist()))

    @property
    def named(self) -> str:
        """The name, quoted for messages."""
        return f"`{self.name}`"

    @cached_property
    def place(self) -> dict[Any, int]:
        """The code of each level."""
        return {level: code for code, level in enumerate(self.levels or ())}

    @cached_property
    def labels(self) -> list[str]:
        """Names of the coded columns."""
        return [*self._own_labels, *(label for part in self.parts for label in part.labels)]

    @cached_property
    def _own_labels(self) -> list[str]:
        """Those of the column itself, without parts."""
        if not self.used:
            return []
        if self.coded:
            return [self.name]
        if self.levels is None:
            own = [f"{self.name} > {self._shown(self.cuts[0])}" if self.cuts else self.name]
        else:
            own = [f"{self.name}={self.levels[code]}" for code in self._kept]
            own += [f"{self.name} rare"] if self.rare else []
        return [*own, f"{self.name} missing"] if self.gap else own

    @cached_property
    def _kept(self) -> list[int]:
        """The levels that have an indicator of their own."""
        without = {self.reference, *self.rare}
        return [code for code in range(len(self.levels or ())) if code not in without]

    @cached_property
    def part_names(self) -> list[str]:
        """Which parts of dates there are."""
        return [part.name.removeprefix(part_name(self.name, "")) for part in self.parts]

    @property
    def level_names(self) -> tuple:
        """The levels, or the cells of numbers."""
        if self.levels is not None:
            return self.levels
        at = [self._shown(cut) for cut in self.cuts]
        return (f"≤ {at[0]}", *(f"{a} – {b}" for a, b in pairwise(at)), f"> {at[-1]}")

    def _shown(self, value: float) -> str:
        """A number for display."""
        return str(frames.unit_text(value, self.unit)) if self.unit else cell_text(value)

    @property
    def width(self) -> int:
        """Number of coded columns."""
        return len(self.labels)

    def cells(self, column: Column | None, n: int, learning: bool = False) -> np.ndarray:
        """The coded columns (n, width); None: the column is missing in every row."""
        column = Column(self.name, np.full(n, np.nan), unit=self.unit) if column is None else column
        if self.levels is None:
            own = self._numbers(column, learning)
            if not self.parts:
                return own
            dates = Column(self.name, np.asarray(number_cells(self, column, learning), dtype=np.float64))
            each = zip(self.parts, self.part_names, strict=True)
            return np.hstack([own, *(part.cells(date_part(dates, name), n, learning) for part, name in each)])
        if column.levels is None:
            number_cells(self, column, learning)  # its unit, and infinities
        codes = level_codes(self, column, UNSEEN)
        if self.coded:
            return np.where(codes < 0, -1, codes)[:, None]
        return self.indicators(learning or bool(self.scales))[codes]

    def _numbers(self, column: Column, learning: bool) -> np.ndarray:
        if column.levels and all(isinstance(level, (bool, np.bool_)) for level in column.levels):
            column = Column(self.name, np.array([*column.levels, np.nan], dtype=np.float64)[column.values])
        x = np.asarray(number_cells(self, column, learning), dtype=np.float64)
        missing = np.isnan(x)
        if self.coded:
            return np.where(missing, -1, np.searchsorted(self.cuts, x))[:, None]
        if self.cuts:
            return np.where(missing, np.nan, x > self.cuts[0])[:, None]
        out = np.where(missing, self.means[0], x)[:, None] if self.means else x[:, None]
        return np.column_stack([out, missing]) if self.gap else out

    def indicators(self, filled: bool) -> np.ndarray:
        """The coded columns of each level, then of an unseen one and of a missing cell, (levels + 2, width)."""
        assert self.levels is not None
        out = np.full((len(self.levels) + 2, self.width), np.nan)
        out[:-2] = 0.0
        out[self._kept, np.arange(len(self._kept))] = 1.0
        out[list(self.rare), len(self._kept) : len(self._kept) + 1] = 1.0
        if self.means and filled:
            out[-2:] = self.means
        if self.gap:
            out[-1], out[-1, -1] = 0.0, 1.0
        return out

    def candidates(self, grid: np.ndarray | None) -> np.ndarray:
        """Values at which the evidence of the column is shown; `grid`: those of its numbers, if it has any."""
        if self.levels is not None:
            return np.array([*self.levels, *([None] if self.gap else []), ""], dtype=object)[:-1]
        if not self.cuts:
            assert grid is not None
            return grid
        edges = np.array([self.ends[0], *self.cuts, self.ends[1]])
        return np.unique(edges[[0, -1]]) if not self.coded else np.unique((edges[:-1] + edges[1:]) / 2)

    def drawn(self, cells: np.ndarray, rng: np.random.Generator) -> Column:
        """A column of the frame, of drawn coded columns (n, width): the level of the largest indicator, any of the
        rare ones for theirs; numbers as they are, or anywhere in their cell. Parts of dates follow from the date."""
        n = len(cells)
        if self.levels is None:
            values = np.asarray(cells[:, 0], dtype=np.float64)
            if self.cuts:
                edges = np.array([self.ends[0], *self.cuts, self.ends[1]])
                at = cells[:, 0].astype(np.int64)
                values = edges[at] + rng.random(n) * (edges[at + 1] - edges[at])
            return Column(self.name, values, unit=self.unit)
        if self.coded:
            codes = cells[:, 0].astype(np.int64)
        else:
            place = [*self._kept, *([-1] if self.rare else []), *([self.reference] if self.reference >= 0 else [])]
            scores = cells if self.reference < 0 else np.column_stack([cells, 1.0 - cells.sum(axis=1)])
            codes = np.array(place)[scores.argmax(axis=1)]
            rare = np.flatnonzero(codes < 0)
            codes[rare] = rng.choice(self.rare, len(rare)) if len(rare) else 0
        if all(isinstance(level, (int, float)) and not isinstance(level, bool) for level in self.levels):
            return Column(self.name, np.array(self.levels, dtype=np.float64)[codes])
        return Column(self.name, codes.astype(np.int32), list(self.levels))

    def sound(self) -> bool:
        """Whether its parts agree, as they do after training."""
        levels = self.levels or ()
        numbers = (*self.means, *self.scales, *self.cuts, *self.ends)
        finite = all(isinstance(v, float) and np.isfinite(v) for v in numbers) and all(v > 0 for v in self.scales)
        return (
            finite
            and (not self.parts or (self.unit == "date" and self._sound_parts()))
            and len(self.place) == len(levels)
            and -1 <= self.reference < max(len(levels), 1)
            and (not self.rare or (set(self.rare) < set(range(len(levels))) and len(set(self.rare)) == len(self.rare)))
            and self.reference not in self.rare
            and not (self.rare and self.coded)
            and (self.coded or not self.cuts or len(self.cuts) == 1)
            and list(self.cuts) == sorted(self.cuts)
            and len(self.ends) == 2 * bool(self.cuts)
            and (not self.gap or bool(self.means))
            and all(len(own) in (0, len(self._own_labels)) for own in (self.means, self.scales))
            and self.unit in frames.UNITS
        )

    def _sound_parts(self) -> bool:
        return all(
            isinstance(part, ColumnCode)
            and name in PARTS
            and part.used
            and part.levels is not None
            and set(part.levels) <= set(PARTS[name])
            and not (part.parts or part.gap)
            and (part.coded, bool(part.scales)) == (self.coded, bool(self.scales) and part.width > 0)
            and part.sound()
            for part, name in zip(self.parts, self.part_names, strict=True)
        )


def _average(values: np.ndarray, w: np.ndarray | None) -> Any:
    """The weighted mean over rows, the same bits for any order of them; the plain one where no row has a weight."""
    given = None if w is None or not w.any() else w
    rows = values.reshape(len(values), -1)
    found = ops.moments(Reals(rows), np.zeros(len(rows), dtype=np.int32), given, 1)
    return found.mean[0].reshape(values.shape[1:]) if found.finite() else np.average(values, axis=0, weights=given)


@dataclass(frozen=True)
class Coding:
    """How the columns of a frame are coded."""

    columns: tuple[ColumnCode, ...]

    @classmethod
    def of(
        cls,
        columns: Sequence[Column],
        rule: CodingRule,
        w: np.ndarray | None = None,
        classes: Callable[[], np.ndarray] | None = None,
    ) -> tuple[Coding, list[str]]:
        """(the coding of training columns, notes on those that are not used); w: weights of the rows; classes(): their
        class codes, by which parts of dates are chosen."""
        codes, notes = [], []
        y = (
            classes()
            if classes is not None and rule.dates and any(column.unit == "date" for column in columns)
            else None
        )
        for column in columns:
            why = drop_reason(column) if column.levels is not None or column.missing.all() else ""
            parts = () if y is None or column.unit != "date" else helpful_parts(column, y, w)
            code = ColumnCode(str(column.name), used=False) if why else ColumnCode.of(column, rule, w, parts)
            if not (why or code.used):
                why, code = f"has no level of {rule.rare} rows", ColumnCode(code.name, used=False)
            codes.append(code)
            notes += [f"{codes[-1].named} {why}: left out"] if why else []
        out = cls(tuple(codes))
        if not out.d:
            reasons = "; ".join(notes) or "every column has one value"
            raise DataError(
                f"no column is left to learn from: {reasons}\n\n"
                "hint: give columns of numbers or categories; TextClassifier learns from texts"
            )
        return out, notes

    @cached_property
    def names(self) -> list[str]:
        """Names of the columns of the frame."""
        return [code.name for code in self.columns]

    @cached_property
    def labels(self) -> list[str]:
        """Names of the coded columns."""
        return [label for code in self.columns for label in code.labels]

    @cached_property
    def label_array(self) -> np.ndarray:
        """The same, (d,)."""
        return np.array(self.labels, dtype=object)

    @cached_property
    def d(self) -> int:
        """Number of coded columns."""
        return len(self.labels)

    @cached_property
    def groups(self) -> list[tuple[ColumnCode, slice]]:
        """The columns of the frame that have coded columns, and where these are."""
        ends = np.cumsum([code.width for code in self.columns]).tolist()
        return [
            (code, slice(end - code.width, end)) for code, end in zip(self.columns, ends, strict=True) if code.width
        ]

    @cached_property
    def scales(self) -> np.ndarray | None:
        """Standard deviations of the coded columns in training, 1 where it is 0, (d,); None: they are not known."""
        found = [scale for code in self.columns for one in (code, *code.parts) for scale in one.scales]
        return np.array(found) if found else None

    @cached_property
    def levels(self) -> dict[str, list]:
        """The levels of each column of categories; none of columns that are not used."""
        known = [code for code in self.columns if code.levels is not None or not code.used]
        return {code.name: list(code.levels or ()) for code in known}

    def read(self, columns: Sequence[Column], n: int, learning: bool = False) -> tuple[Reals | Codes, list[str]]:
        """(rows, names of absent columns). Columns that are not in the coding are ignored."""
        given = {column.name: column for column in columns}
        coded = self.groups[0][0].coded
        out = np.empty((n, self.d), dtype=np.int32 if coded else np.float64)
        for code, at in self.groups:
            out[:, at] = code.cells(given.get(code.name), n, learning)
        absent = [code.name for code in self.columns if code.used and code.name not in given]
        return Codes(out) if coded else Reals(out), absent

    def drawn(self, cells: np.ndarray, rng: np.random.Generator) -> list[Column]:
        """The columns of the frame that are used, of drawn coded columns (n, d)."""
        return [code.drawn(cells[:, at], rng) for code, at in self.groups]

    def summed(self, parts: np.ndarray) -> np.ndarray:
        """Evidence (n, k, d) of coded columns, added up to that of the columns of the frame."""
        return np.stack([parts[:, :, at].sum(axis=2) for _, at in self.groups], axis=2)

    def sound(self) -> bool:
        """Whether its parts agree, as they do after training."""
        codes = self.columns
        each = isinstance(codes, tuple) and all(isinstance(code, ColumnCode) and code.sound() for code in codes)
        alike = each and len({code.coded for code, _ in self.groups}) == 1
        return alike and len(set(self.names)) == len(codes) and len({bool(code.scales) for code, _ in self.groups}) == 1


def is_plain(X: Any, complete: bool) -> bool:
    """Whether rows are no frame, or one of numbers and truth values only, so that they need no coding; `complete`: a
    frame with missing numbers is not plain. A column without a cell may be of any type."""
    if isinstance(X, np.ndarray | list | tuple):
        return True
    if isinstance(X, frames.Records):
        return all(_plain_objects(X.column(name), X.cells[name], complete) for name in X.cells)
    dtypes = getattr(X, "dtypes", None)
    if dtypes is not None and all(isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in dtypes):
        return not complete or not np.isnan(X.to_numpy(dtype=np.float64)).any()
    if not frames.is_frame(X):
        return True
    names = frames.names(X)  # raises an error for columns of one name
    frame = nw.from_native(X, eager_only=True)
    return all(_plain_series(name, frame[:, j], complete) for j, name in enumerate(names))


def _plain_series(name: str, s: Any, complete: bool) -> bool:
    kind = s.dtype
    if s.null_count() == len(s) and not complete:
        return True
    if kind == nw.Boolean:
        return s.null_count() == 0
    if kind == nw.Object:
        cells = s.to_numpy()
        return _plain_objects(frames.from_objects(name, cells, typed=True), cells, complete)
    if type(getattr(s.to_native(), "dtype", None)).__name__ == "SparseDtype":
        return True
    if not kind.is_numeric() or kind == nw.Decimal:
        return False
    return not complete or not Column(name, frames.numbers(s)).missing.any()


def _plain_objects(column: Column, cells: Any, complete: bool) -> bool:
    if column.missing.all():
        return not complete
    if column.levels is not None:
        return all(isinstance(level, (bool, np.bool_)) for level in column.levels) and not column.missing.any()
    decimals = any(isinstance(cell, Decimal) for cell in cells)
    return not (column.unit or decimals or (complete and column.missing.any()))
