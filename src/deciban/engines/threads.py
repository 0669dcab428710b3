"""The thread engine: threads process chunks, results are added in the order of the chunks.

The kernels release the interpreter lock, so plain threads use all cores. Chunk borders depend on the rows alone and the
order of addition is fixed: any number of threads gives the same bits.

>>> total([1, 2, 3], lambda chunk: 10 * chunk)
60
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, reduce
from itertools import chain, count, islice
from numbers import Integral
from operator import add
from threading import Condition, Lock
from typing import Any

from threadpoolctl import ThreadpoolController

from deciban.errors import DataError

AHEAD = 2  # chunks per thread that may be processed ahead of the next result
_pool: ThreadPoolExecutor | None = None
_owner = 0  # the process that made the pool: a fork must make its own
_limits: list[tuple[object, int | None]] = []  # of the contexts that are open: who opened it, and its number
_blas_lock = Lock()
_blas_users = 0  # how many of our threads are in `one_blas_thread`
_blas_before: list[tuple[Any, int]] = []  # each library of BLAS, and how many threads it had before


def workers() -> int:
    """How many threads are used: those of `threads(n)`, else $DECIBAN_THREADS, else the cores this process may use."""
    limit = _limits[-1][1] if _limits else None
    if limit is not None:
        return limit
    given = os.environ.get("DECIBAN_THREADS", "")
    if given.isascii() and given.isdigit() and int(given) > 0:
        return int(given)
    if given:
        raise DataError(
            f"DECIBAN_THREADS is {given[:40]!r}, no number of threads\n\nhint: a whole number from 1, or leave it unset"
        )
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def threads(n: int | None) -> Iterator[None]:
    """Context manager that sets the number of threads. Results have the same bits for any number.

    Parameters
    ----------
    n : int or None
        Number of threads; None: `$DECIBAN_THREADS` if set, else all cores that the process may use.

    Yields
    ------
    None
        The number is valid inside; afterwards that of the last one that is still open.

    See Also
    --------
    MixedNB : A density for each column of a table of any type.

    Examples
    --------
    >>> with threads(1):
    ...     workers()
    1
    """
    if n is not None and (not isinstance(n, Integral) or isinstance(n, bool) or n < 1):
        raise DataError(f"threads({n!r}): a whole number ≥ 1 is needed\n\nhint: threads(None) takes all cores")
    limit = (object(), n)
    _limits.append(limit)
    try:
        yield
    finally:
        _limits.remove(limit)


def _executor(n: int) -> ThreadPoolExecutor:
    global _pool, _owner
    if _pool is None or _owner != os.getpid() or _pool._max_workers < n:
        _pool, _owner = ThreadPoolExecutor(n, thread_name_prefix="deciban"), os.getpid()
    return _pool


class _Team:
    """Threads that take chunks from one source, and their results.

    A thread that is far ahead of the next result returns to the pool and is submitted again later: no thread blocks.
    """

    def __init__(self, chunks: Iterable, f: Callable[[Any], Any], n: int):
        self.source, self.ahead = iter(chunks), AHEAD * n
        self.f: Callable[[Any], Any] | None = f
        self.outcomes: dict[int, tuple[Any, BaseException | None]] = {}
        self.taken, self.wanted, self.open = 0, 0, True
        self.away, self.pool = n - 1, _executor(n - 1)
        self.change = Condition()
        self.call()

    def call(self) -> None:
        """Submit the threads that returned to the pool again."""
        while self.open and self.away and self.taken < self.wanted + self.ahead:
            self.away -= 1
            self.pool.submit(self.work)

    def work_on_one(self) -> bool:
        """Process the next chunk; False if there is none, or not yet."""
        with self.change:
            if not self.open or self.taken >= self.wanted + self.ahead:
                return False
            number, failure, f = self.taken, None, self.f
            try:
                chunk = next(self.source)
            except StopIteration:
                self.open = False
                return False
            except BaseException as broken:  # the source's failure counts as that of the chunk it would have given
                self.open, failure = False, broken
            self.taken += 1
        result = None
        if failure is None:
            try:
                result = f(chunk)  # type: ignore[misc]
            except BaseException as broken:
                failure = broken
        with self.change:
            self.outcomes[number] = (result, failure)
            self.change.notify_all()
        return True

    def work(self) -> None:
        while self.work_on_one():
            pass
        with self.change:
            self.away += 1

    def bring(self, number: int) -> tuple[Any, BaseException | None] | None:
        """The result of one chunk; works on chunks meanwhile. None if there is no such chunk."""
        while True:
            with self.change:
                if number > self.wanted:
                    self.wanted = number
                    self.call()
                if number in self.outcomes:
                    return self.outcomes.pop(number)
                if not self.open and number >= self.taken:
                    return None
            if not self.work_on_one():
                with self.change:
                    self.change.wait_for(lambda: number in self.outcomes or number >= self.taken)

    def stop(self) -> None:
        """Stop. Submitted threads that have not started hold no rows."""
        with self.change:
            self.open = False
            self.source, self.outcomes, self.f = iter(()), {}, None


def map_ordered(chunks: Iterable, f: Callable[[Any], Any]) -> Iterator:
    """f of each chunk, in order. The calling thread works too."""
    chunks = iter(chunks)
    first = list(islice(chunks, 2))
    n = workers()
    if n == 1 or len(first) < 2:
        yield from map(f, chain(first, chunks))
        return
    team = _Team(chain(first, chunks), f, n)
    try:
        for number in count():
            outcome = team.bring(number)
            if outcome is None:
                return
            result, failure = outcome
            if failure is not None:
                raise failure
            yield result
    finally:
        team.stop()


def in_threads(f: Callable[[Any], Any], chunks: Iterable) -> Iterator:
    """`map` in threads: for functions that take something like it."""
    return map_ordered(chunks, f)


def total(chunks: Iterable, f: Callable[[Any], Any], plus: Callable[[Any, Any], Any] = add) -> Any:
    """Σ f(chunk), added from the first chunk to the last. `operator.iadd` as `plus` may add into what f made."""
    return reduce(plus, map_ordered(chunks, f))


@cache
def _blas_libraries() -> list[Any]:
    return ThreadpoolController().select(user_api="blas").lib_controllers


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Context manager: BLAS uses one thread, so that its threads and ours do not compete. The number of threads belongs
    to the process: where several of our threads are in the context, the last one to leave it sets the number back."""
    global _blas_users
    with _blas_lock:
        if _blas_users == 0:
            _blas_before[:] = [(library, library.get_num_threads()) for library in _blas_libraries()]
            for library, _ in _blas_before:
                library.set_num_threads(1)
        _blas_users += 1
    try:
        yield
    finally:
        with _blas_lock:
            _blas_users -= 1
            if _blas_users == 0:
                for library, count in _blas_before:
                    library.set_num_threads(count)
