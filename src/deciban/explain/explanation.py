"""Explanations: the evidence of each column for one class against another, in decibans,

    10 log₁₀ P(a | x) / P(b | x)  =  10 log₁₀ P(a) / P(b)  +  Σ_j 10 log₁₀ p(x_j | a) / p(x_j | b)
              total               =          prior         +  Σ     decibans of column j

Ten decibans are odds of 10 : 1. The sum is exact for any *pair* of classes. Against "all the others" there is no such
sum, so a row is explained as a class (by default the most probable) against a reference class (by default the
runner-up); the parts of all classes are kept, and `of` and `against` select another pair. A missing cell is evidence of
exactly 0.

>>> import numpy as np
>>> table = Explanation.of_parts(
...     np.array(["no", "yes"]), ["wind"], np.array([["strong"]]), np.log([0.25, 0.75]), np.log([[[0.8], [0.1]]])
... )
>>> print(table)
row 0: no against yes
  column   value  decibans
  prior               -4.8       █████│
  wind    strong      +9.0            │██████████
  total               +4.3  odds 2.7 : 1, P(no) = 0.727
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from deciban import decision, display
from deciban.errors import DataError, UnavailableError
from deciban.explain.error_bars import ErrorBars, Variances
from deciban.plots import style

PRIOR = "prior"  # what evidence is added to, unless a model calls it something else
MOST_NATS = 1e307  # of log P(x, class), but for −∞: differences of it are doubles


@dataclass(frozen=True, repr=False, eq=False)
class Explanation:
    """Prior and columns → decibans, for every row and any pair of classes.

    >>> from deciban import GaussianNB
    >>> model = GaussianNB().fit([[0.0, 5.0], [1.0, 7.0], [4.0, 6.0], [5.0, 5.0]], ["a", "a", "b", "b"])
    >>> why = model.explain([[1.5, float("nan")]])
    >>> why.prior.tolist(), why.decibans.round(1).tolist(), why.total.round(1).tolist()
    ([0.0], [[69.5, 0.0]], [69.5])
    >>> why.of("b").total.round(1).tolist()
    [-69.5]
    """

    classes: np.ndarray  # (k,), labels
    columns: tuple[str, ...]  # (d,), names
    values: np.ndarray  # (n, d), the cells; None or NaN: missing
    base: np.ndarray  # (k,), log prior
    parts: np.ndarray  # (n, k, d), log likelihood by column
    rows: np.ndarray  # (n,), row numbers, or the labels of a frame's index
    chosen: np.ndarray  # (n,), the place in `classes` of the class explained
    rival: np.ndarray  # (n,), and of the class that it is compared with
    note: str = ""
    start: str = PRIOR  # what `base` is: the prior; of a linear score "mean row", "intercept" (all cells 0), "baseline"
    target: str = ""  # what the classes are classes of, where it has a name
    library: str | None = None  # the dataframe library of the rows, for `to_frame`
    bars: ErrorBars | None = None  # standard errors; None: they were not asked for
    _kind: ClassVar[str] = "columns"  # what evidence comes from

    @classmethod
    def of_parts(
        cls,
        classes: np.ndarray,
        columns: Sequence[str],
        values: np.ndarray,
        base: np.ndarray,
        parts: np.ndarray,
        of: Any = None,
        against: Any = None,
        note: str = "",
        start: str = PRIOR,
        rows: np.ndarray | None = None,
        target: str = "",
        library: str | None = None,
        bars: ErrorBars | None = None,
    ) -> Explanation:
        """From log priors (k,) and the log likelihoods by column (n, k, d); `of` and `against` are labels, or None.
        `rows` are the labels of the rows, by default their numbers."""
        if len(classes) < 2:
            raise DataError(
                f"there is only one class, {classes.tolist()}, and no other to compare it with\n\n"
                "hint: fit on rows of at least two classes"
            )
        n = len(parts)
        labels, nothing = np.arange(n) if rows is None else rows, np.zeros(n, int)
        own = note, start, target, library, bars
        some = cls(classes, tuple(columns), values, base, parts, labels, nothing, nothing, *own)
        chosen = some.joint.argmax(axis=1) if of is None else some._places(of)
        rival = some._best_but(chosen) if against is None else some._places(against)
        if of is None:
            chosen = np.where(chosen == rival, some._best_but(rival), chosen)
        return some._pair(chosen, rival)

    # another pair

    def of(self, label: Any) -> Explanation:
        """The same rows as evidence for this class (or a class for each row); the reference class is kept where it
        differs."""
        chosen = self._places(label)
        return self._pair(chosen, np.where(self.rival == chosen, self._best_but(chosen), self.rival))

    def against(self, label: Any) -> Explanation:
        """The same rows against this class (or one for each row); the class explained is kept where it is another."""
        rival = self._places(label)
        return self._pair(np.where(self.chosen == rival, self._best_but(rival), self.chosen), rival)

    # numbers

    @property
    def prior(self) -> np.ndarray:
        """Log odds of the pair before any column, in decibans, (n,): of the prior, or what `start` says."""
        return _decibans(self.base[self.chosen], self.base[self.rival])

    @property
    def decibans(self) -> np.ndarray:
        """Evidence of each column for the pair, (n, d)."""
        each = np.arange(len(self))
        return _decibans(self.parts[each, self.chosen], self.parts[each, self.rival])

    @property
    def total(self) -> np.ndarray:
        """Posterior log odds of the pair, in decibans, (n,): prior + the sum of all columns."""
        joint, each = self.joint, np.arange(len(self))
        return _decibans(joint[each, self.chosen], joint[each, self.rival])

    @property
    def joint(self) -> np.ndarray:
        """log P(x, class) up to what all classes share, (n, k)."""
        with np.errstate(invalid="ignore", over="ignore"):
            joint = decision.resolve_impossible_rows(self.base + self.parts.sum(axis=2), self.base)
        return np.where(np.isneginf(joint), joint, np.clip(joint, -MOST_NATS, MOST_NATS))

    @property
    def probability(self) -> np.ndarray:
        """P(the class explained | x) among all classes, (n,)."""
        joint = self.joint
        return np.exp(joint[np.arange(len(self)), self.chosen] - decision.log_evidence(joint))

    # error bars

    @cached_property
    def _errors(self) -> Variances:
        """Standard errors in decibans; of evidence that is infinite 0."""
        if self.bars is None:
            raise UnavailableError(
                "this explanation has no error bars\n\nhint: ask for them, `model.explain(X, error='auto')`"
            )
        found = self.bars.of_pair(self.chosen, self.rival, len(self.classes))
        with np.errstate(all="ignore"):
            if np.isfinite(self.parts.sum() + self.base.sum()):
                return found
        both = (found.prior, self.prior), (found.columns, self.decibans), (found.total, self.total)
        return Variances(*(np.where(np.isfinite(evidence), error, 0.0) for error, evidence in both))

    @property
    def prior_error(self) -> np.ndarray:
        """Standard error of `prior`, (n,): 0 where the priors were given."""
        return self._errors.prior

    @property
    def error(self) -> np.ndarray:
        """Standard error of the evidence of each column, (n, d), in decibans.

        >>> from deciban import CategoricalNB
        >>> why = CategoricalNB().fit([[0], [0], [1], [1]], ["a", "a", "b", "b"]).explain([[0]], error="auto")
        >>> why.decibans.round(1).tolist(), why.error.round(1).tolist()
        ([[4.8]], [[5.3]])
        """
        return self._errors.columns

    @property
    def total_error(self) -> np.ndarray:
        """Standard error of `total`, (n,). It is not the root of the sum of squares of the others: the evidence of
        several columns depends on the same training rows."""
        return self._errors.total

    @property
    def interval(self) -> np.ndarray:
        """Interval of the evidence of each column, (n, d, 2)."""
        return self._interval(self.decibans, self.error)

    @property
    def total_interval(self) -> np.ndarray:
        """Interval of `total`, (n, 2)."""
        return self._interval(self.total, self.total_error)

    def _interval(self, evidence: np.ndarray, error: np.ndarray) -> np.ndarray:
        assert self.bars is not None
        half = self.bars.width * error
        return np.stack([evidence - half, evidence + half], axis=-1)

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, index: Any) -> Explanation:
        """Some of the rows: a number, a slice, or an array of numbers."""
        at = np.atleast_1d(np.arange(len(self))[index])
        return replace(
            self,
            values=self.values[at],
            parts=self.parts[at],
            rows=self.rows[at],
            chosen=self.chosen[at],
            rival=self.rival[at],
            bars=None if self.bars is None else self.bars.take(at),
        )

    # what one looks at

    def account(self, row: int = 0, columns: int = 10) -> display.EvidenceTable:
        """One row for reading: the prior, the strongest `columns` columns, the sum of the others, the total."""
        if not -len(self) <= row < len(self):
            raise DataError(f"there is no row {row} among {len(self)}\n\nhint: rows are counted from 0")
        of, against = self.classes[self.chosen[row]], self.classes[self.rival[row]]
        one = self[row]
        prior, evidence, total = one.prior[0], one.decibans[0], one.total[0]
        order = np.argsort(-np.abs(evidence), kind="stable")
        shown, rest = (order, order[:0]) if len(order) <= columns + 1 else (order[:columns], order[columns:])
        half = one._half_widths()
        lines = [display.EvidenceRow(self.start, "", prior, half[0])]
        lines += [
            display.EvidenceRow(self.columns[j], display.cell_text(self.values[row, j]), evidence[j], half[1][j])
            for j in shown
        ]
        if len(rest):
            with np.errstate(invalid="ignore"):
                lines.append(display.EvidenceRow(f"and {len(rest)} more {self._kind}", "", evidence[rest].sum()))
        joint = one.joint[0]
        others = np.delete(joint, self.chosen[row])
        left = float(np.exp(np.logaddexp.reduce(others) - np.logaddexp.reduce(joint)))
        name = f"{display.truncate(self.target, 40)} = " if self.target else ""
        probability = display.format_probability(float(one.probability[0]), left)
        verdict = f"odds {display.format_odds(total)}, P({name}{of}) = {probability}"
        title = f"row {self.rows[row]}: {name}{of} against {against}"
        heading = "" if self.bars is None else self.bars.name
        return display.EvidenceTable(title, lines, total, verdict, half[2], heading)

    def _half_widths(self) -> tuple[float | None, Sequence[float | None], float | None]:
        """Half the widths of the intervals of the first row: prior, columns, total; None without error bars."""
        if self.bars is None:
            return None, [None] * len(self.columns), None
        each = self._errors
        width = self.bars.width
        return float(width * each.prior[0]), (width * each.columns[0]).tolist(), float(width * each.total[0])

    def text(self, rows: int = 3, columns: int = 10) -> str:
        """The first rows as aligned tables, each with its strongest columns."""
        tables = [self.account(row, columns).table().to_text() for row in range(min(rows, len(self)))]
        return "\n\n".join([*tables, *self._ends(rows)])

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        tables = [self.account(row).table().to_html() for row in range(min(3, len(self)))]
        return "".join([*tables, *(f"<p>{display.escape(line)}</p>" for line in self._ends(3))])

    def _ends(self, rows: int) -> list[str]:
        more = len(self) - rows
        notes = [self.note] if self.note else []
        if self.bars is not None:
            notes.append(self.bars.note)
        return ([f"… and {more} more row{'s' * (more > 1)}"] if more > 0 else []) + notes

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain Python values, for JSON.

        Returns
        -------
        dict
            `target` (name of what is predicted, or None), `classes`, `note`, `start` (what evidence is counted from:
            "prior"; of linear scores "mean row", "intercept" or "baseline"), and `rows`, a list: for each row its `row`
            label, `of`, `against`, `probability` (of `of`), the decibans of the start, by its name, `columns`, by name:
            `value` (None: missing) and `decibans`, and `total`. Infinite decibans are "inf" and "-inf". With error
            bars, `level` and `error_note`, and in each row `error` and `interval` of columns, `total_error` and
            `total_interval`.

        Examples
        --------
        >>> import json
        >>> from deciban import GaussianNB
        >>> model = GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])
        >>> (row,) = json.loads(json.dumps(model.explain([[2.0]]).to_dict()))["rows"]
        >>> row["of"], round(row["total"], 1), row["columns"]["x0"]["value"]
        ('a', 34.7, 2.0)
        """
        prior, decibans, total, probability = self.prior, self.decibans, self.total, self.probability
        rows = [
            {
                "row": plain(self.rows[i]),
                "of": plain(self.classes[self.chosen[i]]),
                "against": plain(self.classes[self.rival[i]]),
                "probability": float(probability[i]),
                self.start: plain(prior[i]),
                "columns": {
                    self.columns[j]: {"value": plain_cell(self.values[i, j]), "decibans": plain(decibans[i, j])}
                    | self._errors_of_column(i, j)
                    for j in self._own_columns(i)
                },
                "total": plain(total[i]),
                **self._errors_of_row(i),
            }
            for i in range(len(self))
        ]
        classes = [plain(label) for label in self.classes]
        head: dict[str, Any] = {
            "target": self.target or None,
            "classes": classes,
            "note": self.note,
            "start": self.start,
        }
        if self.bars is not None:
            head |= {"level": float(self.bars.level), "error_note": self.bars.note}
        return head | {"rows": rows}

    def _errors_of_column(self, i: int, j: int) -> dict[str, Any]:
        """Standard error and interval of a column of a row, for `to_dict`; {} without error bars."""
        if self.bars is None:
            return {}
        return {"error": plain(self.error[i, j]), "interval": [plain(end) for end in self.interval[i, j]]}

    def _errors_of_row(self, i: int) -> dict[str, Any]:
        """The same of the total, and the standard error of the start."""
        if self.bars is None:
            return {}
        ends = [plain(end) for end in self.total_interval[i]]
        start = f"{self.start}_error"
        return {"total_error": plain(self.total_error[i]), "total_interval": ends, start: plain(self.prior_error[i])}

    def _own_columns(self, row: int) -> Sequence[int]:
        """The columns that a row has."""
        return range(len(self.columns))

    def to_frame(self) -> Any:
        """A line for each row and column (and for its prior), as a frame of the same library as the rows that were
        explained; pandas for arrays.

        Returns
        -------
        DataFrame
            Columns `row`, `of`, `against`, `column`, `value`, `decibans`, and with error bars `error`, `low`, `high`,
            `total_error` (that of the row). The decibans of a row sum to its total. Where the library has one type a
            column (polars, Arrow), cells of several types are texts.

        Examples
        --------
        >>> import polars as pl
        >>> from deciban import MixedNB
        >>> X = pl.DataFrame({"sky": ["grey", "blue", "grey", "blue"]})
        >>> MixedNB(alpha=1).fit(X, ["rain", "sun", "rain", "sun"]).explain(X[:1]).to_frame()["value"].to_list()
        [None, 'grey']
        """
        n, d = len(self), len(self.columns)
        values = np.empty((n, d + 1), dtype=object)
        values[:, 0] = None
        values[:, 1:] = self.values
        data = {
            "row": np.repeat(self.rows, d + 1),
            "of": np.repeat(self.classes[self.chosen], d + 1),
            "against": np.repeat(self.classes[self.rival], d + 1),
            "column": np.tile(np.array([self.start, *self.columns], dtype=object), n),
            "value": values.ravel(),
            "decibans": np.column_stack([self.prior, self.decibans]).ravel(),
        }
        if self.bars is not None:
            prior = self._interval(self.prior, self.prior_error)[:, None]
            low, high = np.moveaxis(np.concatenate([prior, self.interval], axis=1), 2, 0)
            data["error"] = np.column_stack([self.prior_error, self.error]).ravel()
            data |= {"low": low.ravel(), "high": high.ravel(), "total_error": np.repeat(self.total_error, d + 1)}
        if self.library in (None, "pandas"):
            return check_pandas().DataFrame(data)
        import narwhals.stable.v1 as nw

        cells = [plain_cell(cell) for cell in values.ravel()]
        several = len({isinstance(cell, str | bool) for cell in cells if cell is not None}) > 1
        own = {name: column.tolist() for name, column in data.items()}
        own["value"] = [None if cell is None else display.cell_text(cell) for cell in cells] if several else cells
        backend: Any = self.library
        return nw.from_dict(own, backend=backend).to_native()

    def plot(self, row: int = 0, ax: Any = None, columns: int = 10) -> Any:
        """A waterfall of one row: from the prior through the strongest columns to the total. Returns the axes."""
        return style.waterfall(self.account(row, columns), ax)

    # inside

    def _pair(self, chosen: np.ndarray, rival: np.ndarray) -> Self:
        if (chosen == rival).any():
            row = int(np.flatnonzero(chosen == rival)[0])
            raise DataError(
                f"`of` and `against` are both {self.classes[chosen[row]]!r} in row {row}\n\n"
                f"hint: name two different ones of the classes {self.classes.tolist()}"
            )
        return replace(self, chosen=chosen, rival=rival)

    def _places(self, label: Any) -> np.ndarray:
        return class_places(label, self.classes, len(self))

    def _best_but(self, place: np.ndarray) -> np.ndarray:
        """The most probable class of each row other than the one in this place."""
        joint = np.maximum(self.joint, np.finfo(float).min)  # nanargmax takes NaN for −∞: no class is that
        joint[np.arange(len(self)), place] = np.nan
        return np.nanargmax(joint, axis=1) if len(self) else place


def check_pandas() -> Any:
    """The module pandas, which frames of arrays are made with."""
    try:
        import pandas as pd
    except ImportError as bad:
        raise ImportError("to_frame makes a pandas DataFrame of arrays\n\nhint: pip install pandas") from bad
    return pd


def class_places(label: Any, classes: np.ndarray, n: int) -> np.ndarray:
    """The place in `classes` of a label, or of one label for each of n rows, (n,)."""
    labels = np.asarray(label)
    found = labels[..., None] == classes
    if labels.shape not in ((), (n,)) or np.shape(found)[-1:] != classes.shape:
        raise DataError(f"`of` and `against` take one label, or one for each of the {n} rows")
    if not found.any(axis=-1).all():
        unknown = np.unique(labels[~found.any(axis=-1)] if labels.ndim else labels).tolist()
        named = " and ".join(map(repr, unknown[:3])) + (f" and {len(unknown) - 3} more" if len(unknown) > 3 else "")
        what = f"class {named} is" if len(unknown) == 1 else f"classes {named} are"
        raise DataError(f"{what} not among {classes.tolist()}\n\nhint: `of` and `against` are classes of the model")
    return np.broadcast_to(found.argmax(axis=-1), (n,))


def _decibans(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a − b in decibans, and 0 where they are the same, −∞ among them."""
    with np.errstate(invalid="ignore", over="ignore"):
        return decision.DECIBAN * np.where(a == b, 0.0, a - b)


def plain(value: Any) -> Any:
    """A label or a number as JSON has it: other things are texts, infinities "inf" and "-inf"."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def plain_cell(cell: Any) -> Any:
    return None if display.is_missing(cell) else plain(cell)
