"""Seeded random inputs for everything that reads: one file a part, `runner` runs them."""

import os

os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # others reserve memory that a limit counts
