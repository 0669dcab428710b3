"""Parameters that a user gives: which arrays a family takes, and their checks.

A family names its parameters (`Family.parameters`), each with a `Parameter`: the axes of the array and the values that
it may hold. `read_parameters` converts lists and frames to arrays and raises errors that name the argument, the class
and the column.

>>> import numpy as np
>>> kinds = {"theta": Parameter(), "var": Parameter(values="positive")}
>>> arrays = read_parameters(kinds, {"theta": [[73]], "var": [[38.44]]}, np.array(["play"]), ["degrees"])
>>> arrays["var"].tolist()
[[38.44]]
>>> read_parameters(kinds, {"theta": [[73]], "var": [[0]]}, np.array(["play"]), ["degrees"])
Traceback (most recent call last):
    ...
deciban.errors.DataError: `var` is 0 for class 'play', column `degrees`
<BLANKLINE>
hint: give numbers > 0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban.display import format_choices
from deciban.errors import DataError, did_you_mean

TOLERANCE = 1e-6  # of sums of probabilities, and of the symmetry of a covariance
VALUES: dict[str, tuple[Callable[[np.ndarray], np.ndarray], str]] = {  # name → (whether a number is allowed, a hint)
    "finite": (np.isfinite, "give finite numbers"),
    "positive": (lambda a: np.isfinite(a) & (a > 0), "give numbers > 0"),
    "not negative": (lambda a: np.isfinite(a) & (a >= 0), "give numbers ≥ 0"),
    "probabilities": (lambda a: (a >= 0) & (a <= 1 + TOLERANCE), "give probabilities, 0 … 1"),
}
AXES = {
    "k": "a number for each class",
    "kd": "a row for each class, with a number for each column",
    "kl": "a table for each column, with a row for each class and a probability for each level",
    "dd": "one covariance for all classes",
    "kdd": "a covariance for each class",
}


@dataclass(frozen=True)
class Parameter:
    """An array of parameters. Its axes: k classes, d columns, l levels of a column (a list of tables, one a column)."""

    axes: str = "kd"
    values: str = "finite"
    sums: bool = False  # whether the numbers of each row sum to 1
    optional: bool = False

    @property
    def by_class(self) -> bool:
        """Whether the first axis (of each table) is that of the classes."""
        return "k" in self.axes

    def in_order(self, value: Any, order: np.ndarray) -> Any:
        """The array with class order[c] at position c."""
        if not self.by_class:
            return value
        return [table[order] for table in value] if self.axes == "kl" else value[order]


def sizes(kinds: Mapping[str, Parameter], given: Mapping[str, Any]) -> tuple[int, int]:
    """(number of classes, number of columns), by the first array that shows each."""
    k = d = 0
    for name, kind in kinds.items():
        if given.get(name) is None:
            continue
        if kind.axes == "kl":
            tables = tables_of(given[name], name)
            k, d = k or len(np.atleast_1d(tables[0])), d or len(tables)
            continue
        shape = dict(zip(kind.axes, numbers(given[name], name).shape, strict=False))
        k, d = k or shape.get("k", 0), d or shape.get("d", 0)
    return max(k, 1), max(d, 1)


def read_parameters(
    kinds: Mapping[str, Parameter], given: Mapping[str, Any], classes: np.ndarray, columns: Sequence[str]
) -> dict[str, Any]:
    """The arrays by name, checked; those that are optional and were not given are absent."""
    for name in given:
        if name not in kinds:
            hint = did_you_mean(name, kinds) or f"the parameters are {format_choices(kinds)}"
            raise DataError(f"there is no parameter `{name}`\n\nhint: {hint}")
    labels, out = classes.tolist(), dict[str, Any]()
    for name, kind in kinds.items():
        value = given.get(name)
        if value is None:
            if not kind.optional:
                raise DataError(f"`{name}` is not given\n\nhint: give {AXES[kind.axes]}")
        elif kind.axes == "kl":
            tables = tables_of(value, name)
            if len(tables) != len(columns):
                raise DataError(
                    f"`{name}` has {len(tables)} tables, but there are {len(columns)} columns\n\n"
                    f"hint: give {AXES[kind.axes]}"
                )
            parts = zip(tables, columns, strict=True)
            out[name] = [checked_table(kind, table, name, labels, column) for table, column in parts]
        else:
            out[name] = checked_array(kind, numbers(value, name), name, labels, columns)
    return out


def read_column(
    kinds: Mapping[str, Parameter], given: Mapping[str, Any], classes: np.ndarray, column: str
) -> dict[str, Any]:
    """The arrays of one column, where a number for each class, (k,), and a table of levels, (k, levels), will do."""
    own = {}
    for name, value in given.items():
        array = numbers(value, name)
        axes = kinds[name].axes if name in kinds else ""
        own[name] = [array] if axes == "kl" and array.ndim == 2 else array[:, None] if array.ndim == 1 else array
    return read_parameters(kinds, own, classes, [column])


def joined(kinds: Mapping[str, Parameter], columns: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The parameters of several columns as one, by name."""
    return {
        name: [table for one in columns for table in one[name]]
        if kind.axes == "kl"
        else np.hstack([one[name] for one in columns])
        for name, kind in kinds.items()
    }


def tables_of(value: Any, name: str) -> list[np.ndarray]:
    """The tables of a list; a table alone is no list of them."""
    tables = [numbers(table, name) for table in value]
    if not tables or any(table.ndim != 2 for table in tables):
        raise DataError(f"`{name}` is no list of tables\n\nhint: give {AXES['kl']}")
    return tables


def numbers(value: Any, name: str) -> np.ndarray:
    """An array of doubles, a copy: later changes of the user's array do not change a model."""
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"`{name}` is no array of numbers\n\nhint: give lists of numbers, an array or a frame"
        ) from None


def checked_table(kind: Parameter, table: np.ndarray, name: str, labels: list, column: str) -> np.ndarray:
    """The probabilities of the levels of one column, (k, levels)."""
    if len(table) != len(labels):
        raise DataError(
            f"`{name}` of column `{column}` has {len(table)} rows, but there are {len(labels)} classes "
            f"{format_choices(map(repr, labels))}\n\nhint: give {AXES[kind.axes]}"
        )
    check_values(kind, table, name, labels, [f"`{column}`, level {level}" for level in range(table.shape[1])])
    check_sums(kind, table, name, labels, f", column `{column}`")
    return table


def checked_array(kind: Parameter, value: np.ndarray, name: str, labels: list, columns: Sequence[str]) -> np.ndarray:
    long = {"k": len(labels), "d": len(columns)}
    expected = tuple(long[axis] for axis in kind.axes)
    if kind.axes == "dd" and value.shape == (1, *expected):  # a list of one covariance
        value = value[0]
    if value.shape != expected:
        raise DataError(
            f"`{name}` has shape {value.shape}, but there are {len(labels)} classes "
            f"{format_choices(map(repr, labels))} and {len(columns)} columns\n\n"
            f"hint: give shape {expected}: {AXES[kind.axes]}"
        )
    if kind.axes.endswith("dd"):
        if kind.axes == "dd":
            check_covariance(value, f"`{name}`", columns)
        else:
            for label, matrix in zip(labels, value, strict=True):
                check_covariance(matrix, f"`{name}` of class {label!r}", columns)
        return value
    check_values(kind, value, name, labels, [f"`{column}`" for column in columns])
    check_sums(kind, value, name, labels, "")
    return value


def check_values(kind: Parameter, value: np.ndarray, name: str, labels: list, columns: Sequence[str]) -> None:
    allowed, hint = VALUES[kind.values]
    wrong = ~allowed(value)
    if wrong.any():
        at = np.argwhere(wrong)[0]
        where = f"class {labels[at[0]]!r}" + (f", column {columns[at[1]]}" if value.ndim > 1 else "")
        raise DataError(f"`{name}` is {value[tuple(at)]:g} for {where}\n\nhint: {hint}")


def check_sums(kind: Parameter, value: np.ndarray, name: str, labels: list, where: str) -> None:
    if not kind.sums:
        return
    off = np.abs(value.sum(axis=1) - 1.0) > TOLERANCE
    if off.any():
        c = int(off.argmax())
        raise DataError(
            f"`{name}` sums to {value[c].sum():.7g} for class {labels[c]!r}{where}\n\n"
            "hint: probabilities sum to 1; divide by that sum"
        )


def log_slope(count: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The derivative of count · log p by p; 0 where the count is 0."""
    with np.errstate(divide="ignore"):
        return np.divide(count, p, out=np.zeros(np.broadcast(count, p).shape), where=count != 0)


def check_covariance(matrix: np.ndarray, called: str, columns: Sequence[str]) -> None:
    """Raise an error unless a matrix is finite, symmetric and positive definite."""
    if not np.isfinite(matrix).all():
        raise DataError(f"{called} holds numbers that are not finite\n\nhint: give finite numbers")
    apart = np.abs(matrix - matrix.T)
    if (apart > TOLERANCE * np.abs(matrix).max()).any():
        i, j = divmod(int(apart.argmax()), len(apart))
        raise DataError(
            f"{called} is not symmetric: {matrix[i, j]:g} for columns `{columns[i]}` and `{columns[j]}`, "
            f"{matrix[j, i]:g} for the same the other way round\n\nhint: give a symmetric matrix"
        )
    variances = np.diagonal(matrix)
    if (variances <= 0).any():
        j = int((variances <= 0).argmax())
        raise DataError(
            f"{called} has the variance {variances[j]:g} for column `{columns[j]}`\n\nhint: variances are > 0"
        )
    deviations = np.sqrt(variances)
    if np.linalg.eigvalsh(matrix / np.outer(deviations, deviations))[0] <= 0:
        raise DataError(
            f"{called} is not positive definite: some mix of the columns has no variance\n\n"
            "hint: check the signs and sizes of the covariances; |cov| < the product of both deviations"
        )
