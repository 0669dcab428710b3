"""A model that learning cannot spoil."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


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
