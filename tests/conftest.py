"""How tests are run: always on the same examples, with small matrices on one thread, and without a display."""

import os

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

from .support.strategies import LAWS

os.environ.setdefault("MPLBACKEND", "Agg")
settings.register_profile("laws", LAWS)
settings.load_profile("laws")


@pytest.fixture(autouse=True, scope="session")
def _one_thread_for_small_matrices():
    """BLAS's own threads, beside those of pytest, make a 4 × 4 matrix wait for its turn."""
    with threadpool_limits(1, user_api="blas"):
        yield
