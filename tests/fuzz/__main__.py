"""Seeded random inputs: `python -m tests.fuzz PART COUNT [--seed S]`, `python -m tests.fuzz all [--share 0.1]`."""

from __future__ import annotations

import argparse
import sys

from . import commands, core, csr, mails, models, runner, tables

PARTS = {part.PART.name: part.PART for part in (csr, tables, models, mails, commands)}
COUNTS = {name: part.count for name, part in PARTS.items()} | {"core": core.COUNT}


def main() -> None:
    """Run a part, or all of them at a share of their full counts; exit 1 if a case failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("part", choices=[*COUNTS, "all"])
    parser.add_argument("count", nargs="?", type=int, help="cases; by default those of `make fuzz`")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", type=float, default=1.0, help="of the cases of `make fuzz`")
    parser.add_argument("--case", type=int, help="run only this one")
    given = parser.parse_args()
    chosen = list(COUNTS) if given.part == "all" else [given.part]
    failed = 0
    for i, name in enumerate(chosen, 1):
        count = given.count or max(1, round(COUNTS[name] * given.share))
        print(f"part {i} of {len(chosen)}: {name}, {count} cases of seed {given.seed}", flush=True)
        known = PARTS.get(name)
        failed += runner.run(known, count, given.seed, given.case) if known else core.run(count, given.seed)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
