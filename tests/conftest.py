"""How tests are run: always on the same examples, with small matrices on one thread, and without a display."""

import os
import warnings

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

from .support.strategies import LAWS

os.environ.setdefault("MPLBACKEND", "Agg")
settings.register_profile("laws", LAWS)
settings.load_profile("laws")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Let scikit-learn pass a generator to `parametrize`, which pytest 9 warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pytest.PytestDeprecationWarning)
        return (yield)


@pytest.fixture(scope="session")
def _spark_ends():
    yield
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is not None:
        running.stop()


@pytest.fixture
def spark(_spark_ends):
    """Spark, two tasks at a time: one session for all tests of a process."""
    from .support.clusters import spark_session

    return spark_session("local[2,4]")


@pytest.fixture(autouse=True, scope="session")
def _one_thread_for_small_matrices():
    """BLAS's own threads, beside those of pytest, make a 4 × 4 matrix wait for its turn."""
    with threadpool_limits(1, user_api="blas"):
        yield
