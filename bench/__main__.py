"""`python -m bench`: run every task, write the tables. Progress goes to stderr.

Example:
    python -m bench --quick --only "QDA fit"
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from bench import costs, imports, limits, memory, peers, race, report, threads
from bench.data import load
from bench.other import Comparison
from bench.tasks import COSTS, TASKS, Task

SHRINK = 20
Wanted = Callable[[str], bool]


def main() -> None:
    args = _arguments()
    found = peers.found()

    def wanted(name: str) -> bool:
        return args.only.lower() in name.lower()

    shrink = SHRINK if args.quick else 1
    speed = list(_speed(found, wanted, args.repeats, shrink))
    peaks = list(_memory(found, wanted, shrink))
    other = list(_other(found[peers.OURS], wanted, args.repeats, shrink))
    if args.quick or args.only:
        _print(speed, peaks, other)
    else:
        report.write(speed, peaks, other)
    _warn(speed, peaks)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Benchmark deciban against other libraries.")
    parser.add_argument(
        "--only",
        metavar="SUBSTRING",
        default="",
        help="run what has this in its name; prints, writes no tables",
    )
    parser.add_argument("--repeats", metavar="N", type=int, default=5, help="timings of each library (default 5)")
    parser.add_argument("--quick", action="store_true", help="1/20 of the rows; prints, writes no tables")
    return parser.parse_args()


def _speed(found: dict[str, peers.Peer], wanted: Wanted, repeats: int, shrink: int) -> Iterator[race.Result]:
    ours = found[peers.OURS]
    baselines = [peer for name, peer in found.items() if name != peers.OURS]
    for task in _smaller(TASKS, shrink):
        for baseline in baselines:
            if not wanted(task.name) or not _has(ours, task) or not _has(baseline, task):
                continue
            data = load(task.recipe)
            result = race.race(task, data, ours, baseline, repeats)
            result = replace(result, limit_s=limits.limit(task, data))
            _say(
                f"{task.name}: {baseline.NAME} {report.seconds(result.baseline_s)}, "
                f"deciban {report.seconds(result.ours_s)}, {report.times(result.ratio)}"
            )
            yield result


def _memory(found: dict[str, peers.Peer], wanted: Wanted, shrink: int) -> Iterator[memory.Peak]:
    for task in _smaller(TASKS, shrink):
        for name, peer in found.items():
            if not task.recipe.big or not wanted(f"memory: {task.name}") or not _has(peer, task):
                continue
            try:
                peak = memory.measure(task, name, shrink)
            except RuntimeError as error:
                _say(f"skipped: {error}")
                continue
            _say(f"memory: {task.name}: {name} {peak.share:.1%} of X")
            yield peak


def _other(ours: peers.Peer, wanted: Wanted, repeats: int, shrink: int) -> Iterator[Comparison]:
    for task in _smaller(threads.tasks(), shrink):
        if wanted(f"threads: {task.name}") and _has(ours, task):
            comparison = threads.compare(task, ours, repeats)
            _say(f"{comparison.name}: {report.times(comparison.ratio)}")
            yield comparison
    for cost in COSTS:
        if wanted(cost.name) and _has(ours, cost.task):
            comparison = costs.compare(cost.smaller(shrink), ours, repeats)
            _say(f"{comparison.name}: {report.seconds(comparison.first_s)}, {report.times(comparison.ratio)}")
            yield comparison
    if wanted("import"):
        comparison = imports.compare()
        _say(f"import: {report.times(comparison.ratio)} of sklearn.base")
        yield comparison


def _smaller(tasks: Iterable[Task], shrink: int) -> list[Task]:
    return [task.smaller(shrink) for task in tasks]


def _has(peer: peers.Peer, task: Task) -> bool:
    try:
        peer.make(task.model, **task.kwargs)
    except AttributeError:
        _say(f"skipped {task.name}: {peer.NAME} has no {task.model}")
        return False
    return True


def _print(speed: list[race.Result], peaks: list[memory.Peak], other: list[Comparison]) -> None:
    tables = []
    if speed:
        tables.append(report.speed_table(speed))
    if peaks:
        tables.append(report.memory_table(peaks))
    if other:
        tables.append(report.other_table(other))
    print(*tables, sep="\n\n")


def _warn(speed: list[race.Result], peaks: list[memory.Peak]) -> None:
    for result in speed:
        if result.missed:
            required = f"required {result.task.required:g}×"
            _say(f"warning: {result.task.name}: {report.times(result.ratio)}, {required}")
    for peak in peaks:
        if peak.missed:
            _say(f"warning: memory: {peak.task.name}: {peak.share:.1%} of X, at most {memory.MOST:.0%}")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
