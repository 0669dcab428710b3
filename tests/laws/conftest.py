"""How the laws are run: always on the same examples, and with small matrices on one thread."""

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

from .profile import LAWS

settings.register_profile("laws", LAWS)
settings.load_profile("laws")


@pytest.fixture(autouse=True, scope="module")
def _one_thread_for_small_matrices():
    """BLAS's own threads, beside those of pytest, make a 4 × 4 matrix wait for its turn."""
    with threadpool_limits(1, user_api="blas"):
        yield
