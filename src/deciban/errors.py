"""The exception tree. Every message says what is wrong, where, and the cure."""

from numpy.linalg import LinAlgError


class DecibanError(Exception):
    """Root of everything this library raises on purpose.

    >>> issubclass(SupportError, (DecibanError, ValueError))
    True
    """


class DataError(DecibanError, ValueError):
    """The data cannot be read as asked: shape, type, labels, weights."""


class SupportError(DataError):
    """A value that the family cannot hold: negative for counts, infinite for reals."""


class MergeError(DecibanError, ValueError):
    """Two models that do not add up: other settings, other columns."""


class ForgetError(DecibanError, ValueError):
    """Rows to forget that were never learned."""


class NotAdditiveError(DecibanError, TypeError):
    """A setting that needs all rows at once, asked to update, merge or forget."""


class SingularError(DecibanError, LinAlgError):
    """A covariance matrix without inverse where one is needed."""


class ModelFileError(DecibanError, ValueError):
    """A file that is no model, is damaged, or is of a later format; or a model that no file can hold."""
