"""`python -m bench.quality_tables`: how good the probabilities are, on all shared tables. Progress goes to stderr.

Baselines' numbers are kept in `results/quality_cache.csv`; ours are computed every time.

Example:
    python -m bench.quality_tables --only wine,glass
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench import frame_race, libraries, quality_report, report, tables
from bench.evaluate import Kept, look_up
from bench.libraries import OURS, REFERENCE, Library
from bench.measures import Measures
from bench.tables import Table

CACHE = report.RESULTS / "quality_cache.csv"
SMALL = 1000  # rows of a quick set
RACED = "adult"


def main(argv: Sequence[str] | None = None) -> None:
    args = _arguments(argv)
    found = libraries.found()
    chosen = list(_chosen(args))
    kept = Kept(CACHE)
    scores = {table.name: dict(_scores(found, table, kept)) for table in chosen}
    if args.quick or args.only:
        _print(scores)
    else:
        races = [r for table in chosen if table.name == RACED for r in _races(found, table, args.repeats)]
        quality_report.write(chosen, scores, races)
        _warn(scores, races)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.quality_tables",
        description="Accuracy, log loss, Brier and calibration error on the shared tables.",
    )
    parser.add_argument("--only", metavar="NAME,…", default="", help="these sets; prints, writes no page")
    parser.add_argument("--quick", action="store_true", help=f"sets of at most {SMALL:,} rows; prints, writes no page")
    parser.add_argument("--repeats", metavar="N", type=int, default=7, help="timings of each library (default 7)")
    parser.add_argument("--data", metavar="FOLDER", type=Path, default=tables.SHARED, help="where manifest.json is")
    return parser.parse_args(argv)


def _chosen(args: argparse.Namespace) -> Iterator[Table]:
    names = tuple(args.only.split(",")) if args.only else tables.SETS
    there = {table.name: table for table in tables.load(names, args.data)}
    for name in names:
        if name not in there:
            _say(f"skipped {name}: not in {args.data.name}")
        elif not args.quick or len(there[name].X) <= SMALL:
            yield there[name]


def _scores(found: dict[str, Library], table: Table, kept: Kept) -> Iterator[tuple[str, Measures]]:
    for name, library in found.items():
        try:
            m, lasted = look_up(library, table, kept)
        except Exception as error:  # one model that fails on one table must not cost the others theirs
            _say(f"{table.name}: {name} failed: {type(error).__name__}: {error}")
            continue
        took = "kept" if lasted is None else report.seconds(lasted)
        _say(
            f"{table.name}: {name}: log loss {m.log_loss:.4f}, accuracy {m.accuracy:.2%}, "
            f"Brier {m.brier:.4f}, calibration error {m.ece:.4f} ({took})"
        )
        yield name, m


def _races(found: dict[str, Library], table: Table, repeats: int) -> Iterator[frame_race.FrameResult]:
    if OURS not in found:
        return
    from deciban import MixedNB

    def baseline():
        return found[REFERENCE].make(table.numeric, table.nominal)

    ours = {"MixedNB()": MixedNB, "MixedNB(calibrate=True)": lambda: MixedNB(calibrate=True)}
    for frame in frame_race.frames(table):
        for called in ours.items():
            try:
                result = frame_race.race(frame, table.labels, called, baseline, repeats)
            except Exception as error:  # a frame that is refused is a line, not the end of the page
                _say(f"{frame[0]}, {called[0]} failed: {type(error).__name__}: {error}")
                continue
            _say(f"{table.name} from {frame[0]}, {called[0]}: {report.times(result.ratio)}")
            yield result


def _print(scores: quality_report.Scores) -> None:
    for measure, (title, *_) in quality_report.MEASURES.items():
        print(f"{title}\n\n{quality_report.measure_table(scores, measure)}\n")


def _warn(scores: quality_report.Scores, races: Sequence[frame_race.FrameResult]) -> None:
    if OURS in quality_report.libraries(scores):
        for what, found, required, met in quality_report.verdict(quality_report.against(scores, REFERENCE)):
            if not met:
                _say(f"warning: {what}: {found}, required {required}")
    for r in races:
        if r.missed:
            _say(f"warning: {r.frame}, {r.ours}: {report.times(r.ratio)}, required {frame_race.REQUIRED:g}×")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
