"""The exception tree. Every message says what is wrong, where, and the cure."""

import re
import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from numpy.linalg import LinAlgError

Error = TypeVar("Error", bound="DecibanError")
LIBRARY = str(Path(__file__).parent)  # where lines are that users did not write


class DecibanError(Exception):
    """Root of everything this library raises on purpose.

    >>> issubclass(SupportError, (DecibanError, ValueError))
    True
    """


class DataError(DecibanError, ValueError):
    """The data cannot be read as asked: shape, type, labels, weights."""


class UnavailableError(DataError, AttributeError):
    """A fitted attribute that a model with these settings does not have; the message says why."""


class SupportError(DataError):
    """A value that the family cannot hold: negative for counts, infinite for reals."""


class MergeError(DecibanError, ValueError):
    """Two models that do not add up: other settings, other columns."""


class ForgetError(DecibanError, ValueError):
    """Rows to forget that were never learned."""


class NoRowsError(DataError, AttributeError):
    """A model that has forgotten all of its rows, asked what it learned. Its fitted attributes are not there."""


class NotAdditiveError(DecibanError, TypeError):
    """A setting that needs all rows at once, asked to update, merge or forget."""


class SingularError(DecibanError, LinAlgError):
    """A covariance matrix without inverse where one is needed."""


class ModelFileError(DecibanError, ValueError):
    """A file that is no model, is damaged, or is of a later format; or a model that no file can hold."""


class ClusterError(DecibanError, RuntimeError):
    """A cluster that is lost, or that cannot do what it is asked to."""


class ColumnWarning(UserWarning):
    """Columns that were learned from but tell nothing, or too much: constants, copies, identifiers, the target."""


def relocate(error: Error, rows: int = 0, names: Sequence[str] = ()) -> Error:
    """An error about a part of the data as one about the whole: its rows come after so many others, and its columns,
    told by number, have these names.

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


NEAR = 0.6  # the least likeness of a name that is suggested, as `difflib` measures it


def closest(name: Any, options: Iterable[Any]) -> str:
    """The option that is most like a name, upper or lower case; "" where none is near.

    >>> closest("AGE", ["page", "age"]), closest("colour", ["size", "price"])
    ('age', '')
    """
    known = {str(one).lower(): str(one) for one in reversed(list(options))}  # of equal ones the first
    near = get_close_matches(str(name).lower(), known, 1, NEAR)
    return known[near[0]] if near else ""


def did_you_mean(name: Any, options: Iterable[Any], form: str = "`{}`") -> str:
    """The hint about a name that is not one of the options; "" where none is near. `form` is how the option is written.

    >>> did_you_mean("GausianNB", ["GaussianNB", "MixedNB"]), did_you_mean("q", ["a", "b"])
    ('did you mean `GaussianNB`?', '')
    >>> did_you_mean("survivd", ["age", "survived"], "--target {}")
    'did you mean --target survived?'
    """
    near = closest(name, options)
    return f"did you mean {form.format(near)}?" if near else ""


def levels_up() -> int:
    """How many calls back from the caller's line the first one outside of this library is, as `stacklevel` counts.

    >>> levels_up()
    1
    """
    at, level = sys._getframe(1), 1
    while at.f_back is not None and at.f_code.co_filename.startswith(LIBRARY):
        at, level = at.f_back, level + 1
    return level
