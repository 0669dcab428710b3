"""Time of `import deciban` in addition to `import sklearn.base`, which it needs."""

import subprocess
import sys
from statistics import median

from bench.other import Comparison

CODE = "from time import perf_counter as t; a = t(); import {}; print(t() - a)"


def compare(repeats: int = 7) -> Comparison:
    """New processes in turn; the first pair only warms the file cache."""
    times = [(_seconds("deciban"), _seconds("sklearn.base")) for _ in range(repeats + 1)][1:]
    ours, base = (median(column) for column in zip(*times, strict=True))
    return Comparison("import", "import deciban", ours, "import sklearn.base", base)


def _seconds(module: str) -> float:
    done = subprocess.run([sys.executable, "-c", CODE.format(module)], capture_output=True, text=True, check=True)
    return float(done.stdout)
