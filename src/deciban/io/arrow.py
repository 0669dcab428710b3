"""pyarrow, for the readers and writers of files. Only they import pyarrow at module level."""

from __future__ import annotations

import os

from deciban.data.memory import address_space_limit

if address_space_limit() is not None:  # Arrow's own pools reserve much more than they use, which `ulimit -v` counts
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
try:
    import pyarrow as pa
    import pyarrow.compute as compute
    import pyarrow.csv as arrow_csv
except ImportError as bad:
    raise ImportError("reading files needs pyarrow\n\nhint: pip install 'deciban[arrow]'") from bad

__all__ = ["arrow_csv", "compute", "pa"]
