"""One chunk at a time, from anything that yields them: for data that never are in memory together.

>>> total(iter([1, 2, 3]), lambda chunk: 10 * chunk)
60
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from operator import add
from typing import Any


def total(chunks: Iterable, f: Callable[[Any], Any]) -> Any:
    """Σ f(chunk), each chunk read only when the one before is done."""
    return reduce(add, map(f, chunks))
