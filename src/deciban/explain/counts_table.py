"""The counts that a naive Bayes model, or a Bayesian network, was learned from: a row for each column and value.

>>> import pandas as pd
>>> from deciban import MixedNB
>>> X = pd.DataFrame({"sky": ["grey", "grey", "blue", "blue"], "degrees": [10.0, 12.0, 19.0, 25.0]})
>>> model = MixedNB(alpha=0, families="gaussian").fit(X, pd.Series(["rain", "rain", "sun", "sun"], name="weather"))
>>> print(model.counts_table())
column   value      rain  sun  total
sky      blue          0    2      2
         grey          2    0      2
degrees  mean         11   22
         deviation     1    3
weather                2    2      4
>>> print(model.counts_table(fractions=True))
column   value      rain  sun
sky      blue        0/2  2/2
         grey        2/2  0/2
degrees  mean         11   22
         deviation     1    3
weather              2/4  2/4
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban import display
from deciban.data import frames
from deciban.data.frames import Column
from deciban.display import cell_text, format_count, format_fraction, format_list
from deciban.errors import DataError
from deciban.estimation.fractions import Quotients
from deciban.explain.explanation import check_pandas, plain

OTHER = "(unseen)"  # a level that no training row has
LONGEST = 80  # characters of a value
CLASS = "class"  # name of what is predicted, if it has none


@dataclass(frozen=True)
class CountsRow:
    """The counts of a value of a column, or an estimate of a column of numbers, such as its mean."""

    column: str
    value: Any
    numbers: np.ndarray  # (k,), counts without pseudo-counts, or estimates
    quotients: tuple[np.ndarray, np.ndarray] | None  # (k,) numerators and denominators; None: numbers are estimates

    def cells(self, fractions: bool) -> list[str]:
        """A text for each class."""
        if self.quotients is None:
            return [f"{number:.4g}" for number in self.numbers]
        if fractions:
            return [format_fraction(*pair) for pair in zip(*self.quotients, strict=True)]
        return [format_count(number) for number in self.numbers]


@dataclass(frozen=True, repr=False, eq=False)
class CountsTable:
    """What `counts_table` returns: counts, or fractions, by column, value and class."""

    classes: np.ndarray  # (k,), labels
    rows: tuple[CountsRow, ...]
    class_count: np.ndarray  # (k,)
    fractions: bool = False  # whether cells are θ as fractions, pseudo-counts included
    target: str = ""  # what the classes are classes of, where it has a name
    without: tuple[str, ...] = ()  # columns of numbers without counts or estimates
    library: str | None = None  # the dataframe library of the training rows, for `to_frame`

    @classmethod
    def from_estimate(
        cls,
        classes: np.ndarray,
        columns: Sequence[str],
        levels: Sequence[Sequence[Any]] | None,
        quotients: Sequence[Quotients | None],
        estimates: dict[str, np.ndarray],
        class_count: np.ndarray,
        fractions: bool,
        target: str | None,
        library: str | None,
    ) -> CountsTable:
        """From the quotients and estimates of all columns; `levels` has the names of the levels of each; None: they
        are numbers."""
        rows: list[CountsRow] = []
        for j, name in enumerate(columns):
            one = quotients[j] if quotients else None
            if one is not None:
                rows += _count_rows(j, one, columns, levels)
            rows += [
                CountsRow(name, label, numbers[:, j], None)
                for label, numbers in estimates.items()
                if one is None and not np.isnan(numbers[:, j]).any()
            ]
        without = tuple(name for name in columns if name not in {row.column for row in rows})
        if not rows:
            raise DataError(
                "no column of this model has counts by value, or a mean\n\n"
                "hint: counts are those of naive Bayes of levels or words, and of Bayesian networks"
            )
        return cls(classes, tuple(rows), class_count, fractions, target or "", without, library)

    def table(self) -> display.Table:
        """The table for reading."""
        total = not self.fractions
        rows, before = [], None
        for row in self.rows:
            cells = row.cells(self.fractions)
            if total:
                cells.append("" if row.quotients is None else format_count(row.numbers.sum()))
            rows.append(("" if row.column == before else row.column, cell_text(row.value, LONGEST), *cells))
            before = row.column
        n = self.class_count
        shares = [format_fraction(own, n.sum()) for own in n] if self.fractions else [*map(format_count, [*n, n.sum()])]
        head = ("column", "value", *map(str, self.classes), *(["total"] * total))
        note = f"columns of numbers without counts: {format_list(self.without, quote='')}" if self.without else ""
        return display.Table("", head, rows, (self.target or CLASS, "", *shares), [note], left=(0, 1))

    def __repr__(self) -> str:
        return self.table().to_text()

    def _repr_html_(self) -> str:
        return self.table().to_html()

    def to_frame(self) -> Any:
        """A line for each row, and a last one of the class counts, as a frame of the same library as the training rows;
        pandas for arrays.

        Returns
        -------
        DataFrame
            Columns `column`, `value` and one for each class: counts and estimates as numbers; with `fractions=True`
            texts such as "2/9".

        Examples
        --------
        >>> from deciban import CategoricalNB
        >>> model = CategoricalNB(alpha=0).fit([[0], [1], [1]], ["no", "yes", "yes"])
        >>> model.counts_table().to_frame()["yes"].tolist()
        [0.0, 2.0, 2.0]
        """
        n = self.class_count
        last = CountsRow(self.target or CLASS, "", n, (n, np.full(len(n), n.sum())))
        rows = [*self.rows, last]
        cells = [row.cells(True) if self.fractions else row.numbers.tolist() for row in rows]
        columns = [Column("column", np.array([row.column for row in rows], dtype=object))]
        columns.append(Column("value", np.array([cell_text(row.value, LONGEST) for row in rows], dtype=object)))
        for label, own in zip(self.classes, zip(*cells, strict=True), strict=True):
            columns.append(Column(str(label), np.array(own, dtype=object if self.fractions else np.float64)))
        if self.library is None:
            check_pandas()
        return frames.to_frame(columns, self.library or "pandas")

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain Python values, for JSON.

        Returns
        -------
        dict
            `target` (name of what is predicted, or None), `classes`, `class_count`, and `rows`, a list: of each row its
            `column` and `value`, and a list of numbers, one for each class: `count`, `numerator`, `denominator` and
            `probability`; or `estimate`, where `value` is "mean" or another estimate.

        Examples
        --------
        >>> from deciban import CategoricalNB
        >>> model = CategoricalNB().fit([[0], [1], [1]], ["no", "yes", "yes"])
        >>> model.counts_table().to_dict()["rows"][1]["numerator"]
        [1.0, 3.0]
        """
        rows = []
        for row in self.rows:
            entry: dict[str, Any] = {"column": row.column, "value": plain(row.value)}
            if row.quotients is None:
                entry["estimate"] = row.numbers.tolist()
            else:
                numerator, denominator = row.quotients
                entry |= {"count": row.numbers.tolist(), "numerator": numerator.tolist()}
                entry |= {"denominator": denominator.tolist(), "probability": (numerator / denominator).tolist()}
            rows.append(entry)
        classes = [plain(label) for label in self.classes]
        head = {"target": self.target or None, "classes": classes, "class_count": self.class_count.tolist()}
        return head | {"rows": rows}


def _count_rows(
    j: int, own: Quotients, columns: Sequence[str], levels: Sequence[Sequence[Any]] | None
) -> list[CountsRow]:
    """The rows of a column: one for each of its levels, at each combination of its parents' levels."""
    out = []
    for i in range(own.count.shape[1]):
        if own.names is not None:
            value: Any = own.names[i]
        else:
            *given, code = np.unravel_index(i, own.sizes or (own.count.shape[1],))
            value = _level(levels, j, code)
            parents = [f"{columns[a]} = {_level(levels, a, at)}" for a, at in zip(own.parents, given, strict=True)]
            value = f"{value} | {', '.join(parents)}" if parents else value
        out.append(CountsRow(columns[j], value, own.count[:, i], (own.numerator[:, i], own.denominator[:, i])))
    return out


def _level(levels: Sequence[Sequence[Any]] | None, j: int, code: Any) -> Any:
    """The name of a level of column j."""
    if levels is None:
        return int(code)
    return levels[j][code] if code < len(levels[j]) else OTHER
