"""Errors of Spark as short messages with hints, and a time limit where nothing progresses.

>>> with ignore_errors():
...     raise ConnectionError("the driver is lost")
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any
from uuid import uuid4

from deciban.errors import ClusterError, DecibanError

PATIENCE = 120.0  # seconds to wait while no executor takes a task; a session's setting `spark.deciban.patience`
ERROR_HELP = {  # Spark's message: its meaning, and a hint
    "PYTHON_VERSION_MISMATCH": (
        "Spark's workers run another version of Python than this process",
        f"set PYSPARK_PYTHON to a Python {sys.version_info.major}.{sys.version_info.minor} with deciban, "
        "before the session (of Connect: the server) starts",
    ),
    "No module named 'deciban": (
        "deciban is not installed where Spark's workers run",
        "install the same version there, or ship an environment with `spark.archives` and set PYSPARK_PYTHON to it",
    ),
    "spark.driver.maxResultSize": (
        "the sums of all partitions are more than Spark's driver takes",
        "raise spark.driver.maxResultSize, or coalesce() to fewer partitions",
    ),
    "Python worker exited unexpectedly": (
        "Spark's Python workers died again and again",
        "most often memory: repartition() into smaller partitions, or raise spark.executor.memoryOverhead",
    ),
    "ExecutorLostFailure": (
        "Spark's executors were lost again and again",
        "most often memory: repartition() into smaller partitions, or raise spark.executor.memory",
    ),
}
LOST = (
    "SparkContext was shut down",
    "stopped SparkContext",
    "masters are unresponsive",
    "Answer from Java side is empty",
    "trying to connect to the Java server",
    "while sending or receiving",
    "StatusCode.UNAVAILABLE",
    "NO_ACTIVE_OR_DEFAULT_SESSION",
    "SESSION_CLOSED",
    "SESSION_NOT_FOUND",
)


def connected(data: Any) -> bool:
    """Whether it is of a session of Spark Connect, whose driver is elsewhere."""
    return ".connect." in type(data.sparkSession).__module__


@contextmanager
def translate_errors(data: Any) -> Iterator[None]:
    """Context manager: known errors of Spark become short messages, and waiting has a limit."""
    stuck, done = Event(), Event()
    try:
        if not connected(data):  # a server of Connect looks after its cluster itself
            context, tag = data.sparkSession.sparkContext, f"deciban-{uuid4().hex}"
            if context._jsc is None:
                raise _driver_lost()
            patience = float(data.sparkSession.conf.get("spark.deciban.patience", str(PATIENCE)))
            context.addJobTag(tag)
            Thread(target=_watch, args=(context, tag, patience, stuck, done), daemon=True).start()
        yield
    except DecibanError as wrong:
        raise wrong.with_traceback(None) from None
    except Exception as bad:
        if stuck.is_set():
            raise ClusterError(
                f"no executor of Spark has taken a task for {patience:g} seconds\n\n"
                "hint: check that the cluster has free cores and memory; if it allocates them slowly, wait longer: "
                'spark.conf.set("spark.deciban.patience", "600")'
            ) from None
        if (known := in_words(bad)) is None:
            raise
        raise known from None
    finally:
        done.set()
        if not connected(data):
            with ignore_errors():
                context.removeJobTag(tag)


def in_words(bad: Exception) -> ClusterError | None:
    """What a failure of Spark's means; None: nothing that is known here.

    >>> print(in_words(RuntimeError("… ModuleNotFoundError: No module named 'deciban'")).args[0].splitlines()[0])
    deciban is not installed where Spark's workers run
    """
    text = f"{type(bad).__name__}: {bad}"
    for sign, (what, hint) in ERROR_HELP.items():
        if sign in text:
            return ClusterError(f"{what}\n\nhint: {hint}")
    if any(sign in text for sign in LOST) or isinstance(bad, ConnectionError):
        return _driver_lost()
    return None


def _driver_lost() -> ClusterError:
    return ClusterError(
        "the connection to Spark was lost\n\n"
        "hint: check that its driver runs (its log has the reason), start a new session, and fit again"
    )


def _watch(context: Any, tag: str, patience: float, stuck: Event, done: Event) -> None:
    """End the jobs if for a long time none of their tasks runs."""
    seen = time.monotonic()
    tracker = context.statusTracker()
    with ignore_errors():
        while not done.wait(1.0):
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            if not stages or any(stage and stage.numActiveTasks for stage in stages):
                seen = time.monotonic()
            elif time.monotonic() - seen > patience:
                stuck.set()
                context.cancelJobsWithTag(tag)
                return


@contextmanager
def ignore_errors() -> Iterator[None]:
    """Context manager: ignore errors of a lost driver."""
    try:
        yield
    except Exception:
        return
