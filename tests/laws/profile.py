"""The same examples on every run: a law that fails in CI fails at home."""

import os

from hypothesis import HealthCheck, Phase, settings

LAWS = settings(
    max_examples=int(os.environ.get("DECIBAN_EXAMPLES", "20")),  # fewer in `make test-fast`
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow],
)
