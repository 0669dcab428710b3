"""Faults of files, processes and memory: `python -m tests.faults PART [COUNT] [--seed N]`; `all` runs every part with
its full count, one line each, and ends with exit code 1 at the first failure, with the seed that repeats it. `few` runs
some of each part that needs processes of its own, for the tests."""

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

PARTS = {  # the file that each is in, and its full count
    "writes": ("operations", 2),
    "concurrent": ("processes", 100),
    "kills": ("processes", 300),
    "disks": ("disks", 6),
    "changes": ("changes", 8),
    "memory": ("memory", 2),
}
FEW = {"concurrent": 3, "kills": 4, "disks": 1, "memory": 1}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("part", choices=[*PARTS, "all", "few"])
    parser.add_argument("count", type=int, nargs="?")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    asked = parser.parse_args()
    if asked.part == "all":
        return int(any(_run_apart(part, asked.seed) for part in PARTS))
    for name in ("OPENBLAS_NUM_THREADS", "DECIBAN_THREADS"):  # a process that forks has no other threads
        os.environ.setdefault(name, "1")
    counts = FEW if asked.part == "few" else {asked.part: asked.count or PARTS[asked.part][1]}
    return int(any(_run(part, count, asked.seed) for part, count in counts.items()))


def _run(part: str, count: int, seed: int) -> bool:
    """Run a part and print a line; whether it failed."""
    start, run = time.monotonic(), getattr(import_module(f".{PARTS[part][0]}", __package__), part)
    quick = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # where a sync takes no time
    with tempfile.TemporaryDirectory(dir=quick) as folder:
        try:
            found = run(count, random.Random(seed), Path(folder).resolve())
        except AssertionError as error:
            print(f"{part}: FAILED: {error}\nrepeat it: python -m tests.faults {part} {count} --seed {seed}")
            return True
    print(f"{part}: {found} ({time.monotonic() - start:.0f} s)", flush=True)
    return False


def _run_apart(part: str, seed: int) -> bool:
    """Run a part in a process of its own, as one that has threads must not fork; whether it failed."""
    command = [sys.executable, "-m", "tests.faults", part, "--seed", str(seed)]
    return subprocess.run(command, check=False).returncode != 0


if __name__ == "__main__":
    sys.exit(main())
