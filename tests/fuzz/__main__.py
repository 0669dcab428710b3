"""Seeded random inputs: `python -m tests.fuzz PART COUNT [--seed S]`, `python -m tests.fuzz all [--share 0.1]`."""

from __future__ import annotations

import argparse
import sys

from . import commands, csr, mails, models, runner, tables

PARTS = {part.PART.name: part.PART for part in (csr, tables, models, mails, commands)}


def main() -> None:
    """Run a part, or all of them at a share of their full counts; exit 1 if a case failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("part", choices=[*PARTS, "all"])
    parser.add_argument("count", nargs="?", type=int, help="cases; by default those of `make fuzz`")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", type=float, default=1.0, help="of the cases of `make fuzz`")
    parser.add_argument("--case", type=int, help="run only this one")
    given = parser.parse_args()
    chosen = PARTS.values() if given.part == "all" else [PARTS[given.part]]
    failed = 0
    for i, part in enumerate(chosen, 1):
        count = given.count or max(1, round(part.count * given.share))
        print(f"part {i} of {len(chosen)}: {part.name}, {count} cases of seed {given.seed}", flush=True)
        failed += runner.run(part, count, given.seed, given.case)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
