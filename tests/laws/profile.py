"""The same examples on every run: a law that fails in CI fails at home."""

from hypothesis import HealthCheck, Phase, settings

LAWS = settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow],
)
