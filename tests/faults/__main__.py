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

PARTS = {  # the file that each is in, and its full count
    "writes": ("operations", 2),
    "concurrent": ("processes", 100),
    "kills": ("processes", 300),
    "disks": ("disks", 6),
    "changes": ("changes", 8),
    "memory": ("memory", 2),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("part", choices=[*PARTS, "all"])
    parser.add_argument("count", type=int, nargs="?")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    asked = parser.parse_args()
    if asked.part == "all":
        return max(_run_apart(part, asked.seed) for part in PARTS)
    start = time.monotonic()
    for name in ("OPENBLAS_NUM_THREADS", "DECIBAN_THREADS"):  # a process that forks has no other threads
        os.environ.setdefault(name, "1")
    module, count = PARTS[asked.part]
    part = getattr(import_module(f".{module}", __package__), asked.part)
    quick = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # where a sync takes no time
    with tempfile.TemporaryDirectory(dir=quick) as folder:
        try:
            found = part(asked.count or count, random.Random(asked.seed), Path(folder).resolve())
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
