"""A model that learning cannot spoil."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, RLock
from typing import Any
from weakref import WeakKeyDictionary

from sklearn.exceptions import NotFittedError

_GUARD = Lock()
_LOCKS: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # by model: locks are no part of a pickle or a copy


class Steady:
    """Mixin: what fails, or is interrupted, leaves the model as it was."""

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other thread changes this model meanwhile: a sum that two threads make of the same state loses rows."""
        with _GUARD:
            lock = _LOCKS.setdefault(self, RLock())
        with lock:
            yield

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
