"""`python -m bench.held_out`: whether printed held-out figures are those of ten folds.

For each shared table, `auto_fit` with each of some classifiers prints a log loss; the same classifier is
cross-validated in ten folds with several seeds. A line says how far the printed figure is from the mean of the seeds,
in their standard deviations, and the ratio of the two.

Example:
    python -m bench.held_out --only wine,glass --models mixed,calibrated
"""

import argparse
import warnings
from collections.abc import Sequence

import numpy as np

import deciban
from bench import tables
from deciban.errors import DecibanError
from deciban.model_selection.compare import MOST, get_candidate


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.held_out", description="Are held-out figures held out?")
    parser.add_argument("--only", metavar="NAME,…", default="", help="these sets")
    parser.add_argument("--models", metavar="NAME,…", default="mixed,calibrated", help="names of `deciban compare`")
    parser.add_argument("--seeds", type=int, default=10)
    args = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    names = tuple(args.only.split(",")) if args.only else tables.SETS
    found = [
        line
        for table in tables.load(names)
        if len(table.X) <= MOST
        for name in args.models.split(",")
        if (line := compared(table, name, args.seeds)) is not None
    ]
    far, ratio = np.array(found).T
    print(f"{(np.abs(far) <= 2).sum()} of {len(far)} within two standard deviations; mean ratio {ratio.mean():.3f}")


def compared(table: tables.Table, name: str, seeds: int) -> tuple[float, float] | None:
    """(distance in standard deviations of the seeds, ratio) of the printed log loss and the mean of the seeds."""
    try:
        out = deciban.auto_fit(table.X, table.labels, name)
    except DecibanError:  # it does not suit the columns
        return None
    assert out.held_out is not None
    rows = out.read(table.X)
    each = [
        deciban.cross_validate(get_candidate(name).make(), rows, table.labels, random_state=seed).log_loss
        for seed in range(seeds)
    ]
    mean, spread = float(np.mean(each)), float(np.std(each, ddof=1))
    printed = out.metrics["log_loss"]
    far, ratio = (printed - mean) / max(spread, 1e-12), printed / mean
    print(f"{table.name:26} {name:11} printed {printed:.4f}  seeds {mean:.4f} ± {spread:.4f}  {far:+.1f}  {ratio:.3f}")
    return far, ratio


if __name__ == "__main__":
    main()
