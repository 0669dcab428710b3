"""The same examples on every run: a law that fails in CI fails at home."""

import pytest
from hypothesis import HealthCheck, Phase, settings
from threadpoolctl import threadpool_limits

settings.register_profile(
    "laws",
    max_examples=30,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("laws")


@pytest.fixture(autouse=True, scope="module")
def _one_thread_for_small_matrices():
    """BLAS's own threads, beside those of pytest, make a 4 × 4 matrix wait for its turn."""
    with threadpool_limits(1, user_api="blas"):
        yield
