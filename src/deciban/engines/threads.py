"""The threads of this process: chunks go to workers, results are added in the order of the chunks.

The kernels release the interpreter lock, so plain threads use all cores. Chunk borders depend on the rows alone and the
order of addition is fixed: any number of threads gives the same bits.

>>> total([1, 2, 3], lambda chunk: 10 * chunk)
60
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import reduce
from itertools import chain, islice
from operator import add
from typing import Any

_pool: ThreadPoolExecutor | None = None
_owner = 0  # the process that made the pool: a fork must make its own
_limit: int | None = None


def workers() -> int:
    """How many threads are used: those of `threads(n)`, else $DECIBAN_THREADS, else the cores this process may use."""
    if _limit is not None:
        return _limit
    given = os.environ.get("DECIBAN_THREADS", "")
    if given.isdigit() and int(given) > 0:
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def threads(n: int | None) -> Iterator[None]:
    """Inside, use n threads (None: the default). The result is the same for any n.

    >>> with threads(1):
    ...     workers()
    1
    """
    global _limit
    if n is not None and n < 1:
        raise ValueError(f"threads({n}): at least one thread is needed\n\nhint: threads(None) takes all cores")
    kept, _limit = _limit, n
    try:
        yield
    finally:
        _limit = kept


def _executor(n: int) -> ThreadPoolExecutor:
    global _pool, _owner
    if _pool is None or _owner != os.getpid() or _pool._max_workers < n:
        _pool, _owner = ThreadPoolExecutor(n, thread_name_prefix="deciban"), os.getpid()
    return _pool


def each(chunks: Iterable, f: Callable[[Any], Any]) -> Iterator:
    """f of each chunk, in order; as many at work as there are threads, and no more held than that."""
    chunks = iter(chunks)
    first = list(islice(chunks, 2))
    n = workers()
    if n == 1 or len(first) < 2:
        yield from map(f, chain(first, chunks))
        return
    pool = _executor(n)
    at_work: deque = deque()
    try:
        for chunk in chain(first, chunks):
            at_work.append(pool.submit(f, chunk))
            if len(at_work) > n:
                yield at_work.popleft().result()
        while at_work:
            yield at_work.popleft().result()
    finally:
        for future in at_work:
            future.cancel()


def total(chunks: Iterable, f: Callable[[Any], Any], plus: Callable[[Any, Any], Any] = add) -> Any:
    """Σ f(chunk), added from the first chunk to the last. `operator.iadd` as `plus` may add into what f made."""
    return reduce(plus, each(chunks, f))
