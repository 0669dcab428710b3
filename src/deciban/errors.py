"""Exceptions, and helpers for their messages. A message says what is wrong, where, and a hint how to fix it."""

import re
import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from numpy.linalg import LinAlgError

Error = TypeVar("Error", bound="DecibanError")
LIBRARY = str(Path(__file__).parent)  # folder of this library's code


class DecibanError(Exception):
    """Base class of all errors that this library raises.

    >>> issubclass(SupportError, (DecibanError, ValueError))
    True
    """


class DataError(DecibanError, ValueError):
    """Invalid input data: shape, type, labels, weights."""


class UnavailableError(DataError, AttributeError):
    """A fitted attribute that a model with these settings does not have; the message says why."""


class SupportError(DataError):
    """A value outside the support of a family: negative for counts, infinite for reals."""


class MergeError(DecibanError, ValueError):
    """Two models cannot be merged: different settings, different columns."""


class ForgetError(DecibanError, ValueError):
    """Rows to forget that are not among the training rows."""


class NoRowsError(DataError, AttributeError):
    """A model that has forgotten all of its rows has no fitted attributes."""


class NotAdditiveError(DecibanError, TypeError):
    """The model cannot be updated, merged or forget rows, because a setting needs all rows at once."""


class SingularError(DecibanError, LinAlgError):
    """A singular covariance matrix where an inverse is needed."""


class ModelFileError(DecibanError, ValueError):
    """A file that is not a model, is corrupted, or has a later format; or a model that cannot be saved."""


class ModelNotFoundError(FileNotFoundError, ModelFileError):
    """There is no model file at the path."""

    def __str__(self) -> str:
        return f"file not found: {self.filename}\n\nhint: check the path"


class ClusterError(DecibanError, RuntimeError):
    """A cluster is lost, or lacks something that is needed."""


class InstructionSetError(DecibanError, ValueError):
    """An instruction set that the processor or the build does not have."""


class ColumnWarning(UserWarning):
    """Columns without information, or with too much: constants, duplicates, identifiers, the target."""


def relocate(error: Error, rows: int = 0, names: Sequence[str] = ()) -> Error:
    """Convert an error about a batch to one about all data: add the number of rows before the batch to row numbers, and
    replace column numbers by names.

    >>> str(relocate(DataError("infinity in row 3, column 1"), rows=1000, names=["size", "price"]))
    'infinity in row 1003, column `price`'
    """
    text = re.sub(r"\b(row|text) (\d+)\b", lambda found: f"{found[1]} {int(found[2]) + rows}", str(error))
    if names:
        text = re.sub(
            r"\bcolumn (\d+)\b",
            lambda found: f"column `{names[int(found[1])]}`" if int(found[1]) < len(names) else found[0],
            text,
        )
    return type(error)(text)


NEAR = 0.6  # least similarity of a suggested name, by `difflib`


def closest(name: Any, options: Iterable[Any]) -> str:
    """The option most similar to a name, ignoring case; "" where none is similar.

    >>> closest("AGE", ["page", "age"]), closest("colour", ["size", "price"])
    ('age', '')
    """
    known = {str(one).lower(): str(one) for one in reversed(list(options))}  # of equal ones the first
    near = get_close_matches(str(name).lower(), known, 1, NEAR)
    return known[near[0]] if near else ""


def did_you_mean(name: Any, options: Iterable[Any], form: str = "`{}`") -> str:
    """A hint with the most similar option; "" where none is similar. `form` is how the option is written.

    >>> did_you_mean("GausianNB", ["GaussianNB", "MixedNB"]), did_you_mean("q", ["a", "b"])
    ('did you mean `GaussianNB`?', '')
    >>> did_you_mean("survivd", ["age", "survived"], "--target {}")
    'did you mean --target survived?'
    """
    near = closest(name, options)
    return f"did you mean {form.format(near)}?" if near else ""


def levels_up() -> int:
    """The `stacklevel` of the first caller outside of this library, for `warnings.warn`.

    >>> levels_up()
    1
    """
    at, level = sys._getframe(1), 1
    while at.f_back is not None and at.f_code.co_filename.startswith(LIBRARY):
        at, level = at.f_back, level + 1
    return level
