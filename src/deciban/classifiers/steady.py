"""A model that learning cannot spoil."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.exceptions import NotFittedError


class Steady:
    """Mixin: what fails, or is interrupted, leaves the model as it was."""

    @contextmanager
    def _unchanged_on_failure(self) -> Iterator[None]:
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise


def unfitted(model: Any) -> NotFittedError:
    """The error of a model that is asked before it has learned, in scikit-learn's words."""
    return NotFittedError(
        f"This {type(model).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before using "
        "this estimator."
    )
