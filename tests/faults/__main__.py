"""Faults of files, processes and memory: `python -m tests.faults PART [COUNT] [--seed N]`; `all` runs every part with
its full count, one line each, and ends with exit code 1 at the first failure, with the seed that repeats it."""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

COUNTS = {"writes": 2, "concurrent": 100, "kills": 300, "disks": 6, "changes": 8}
MODULES = {
    "writes": "operations",
    "concurrent": "processes",
    "kills": "processes",
    "disks": "disks",
    "changes": "changes",
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("part", choices=[*COUNTS, "all"])
    parser.add_argument("count", type=int, nargs="?")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    asked = parser.parse_args()
    if asked.part == "all":
        return max(_run_apart(part, asked.seed) for part in COUNTS)
    start = time.monotonic()
    for name in ("OPENBLAS_NUM_THREADS", "DECIBAN_THREADS"):  # a process that forks has no other threads
        os.environ.setdefault(name, "1")
    part = getattr(import_module(f".{MODULES[asked.part]}", __package__), asked.part)
    quick = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # where a sync takes no time
    with tempfile.TemporaryDirectory(dir=quick) as folder:
        try:
            found = part(asked.count or COUNTS[asked.part], random.Random(asked.seed), Path(folder).resolve())
        except AssertionError as error:
            print(f"{asked.part}: FAILED: {error}\nrepeat it: python -m tests.faults {asked.part} --seed {asked.seed}")
            return 1
    print(f"{asked.part}: {found} ({time.monotonic() - start:.0f} s)", flush=True)
    return 0


def _run_apart(part: str, seed: int) -> int:
    """Run a part in a process of its own, as one that has threads must not fork."""
    code = subprocess.run([sys.executable, "-m", "tests.faults", part, "--seed", str(seed)], check=False).returncode
    if code:
        sys.exit(1)
    return code


if __name__ == "__main__":
    sys.exit(main())
