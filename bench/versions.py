"""`python -m bench.versions PYTHON`: this version against another one, task by task.

PYTHON is the interpreter of an environment that has the other version installed. Both versions run in processes of
their own, on the same data, and are timed in turn: this one, the other, this one, … The table has the median of the
other's times over ours (above 1: this version is faster), the smallest and largest of these ratios, and the ratio of
the shortest times, which other processes disturb least.

Example:
    python -m bench.versions ../before/.venv/bin/python --only "one row"
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from bench import peers
from bench.data import Normals, Sentences, load
from bench.logistic_data import Clouds, Correlated, Drawn, Frequent
from bench.race import TimedLibrary
from bench.tasks import COSTS, LOGISTIC, TASKS, Task

ROOT = Path(__file__).resolve().parents[1]
SLOW_S = 2.0  # from here on three rounds suffice
TEXTS = Sentences(rows=20_000, words=60, classes=20)
ROWS = Normals(rows=2_000, columns=8, classes=3, big=False)


def tasks() -> Iterator[Task]:
    """What is timed: the tasks of `make bench`, its settings and single rows, and more fits of several passes."""
    yield from TASKS
    for cost in COSTS:
        yield Task(
            cost.name, cost.task.model, cost.task.verb, cost.task.recipe, 0, 0, cost.task.rows, None, cost.task.kwargs
        )
    for name, recipe, settings in (
        ("binary, 500,000 × 50", Clouds(500_000, 50), {}),
        ("binary, 20,000 × 500", Drawn(20_000, 500), {}),
        ("10 classes, 200,000 × 50", Clouds(200_000, 50, 10), {}),
        ("binary, CSR 100,000 × 100,000", Frequent(100_000, 100_000), {}),
        ("L1, 20,000 × 500", Correlated(20_000, 500), {"l1_ratio": 1.0, "C": 0.1}),
        ("C chosen, 20,000 × 50", Drawn(20_000, 50), {"C": "auto"}),
    ):
        yield Task(f"{LOGISTIC} fit, {name}", LOGISTIC, "fit", recipe, 0, 0, kwargs=settings)
    for name, settings in (
        ("", {}),
        (", bernoulli", {"model": "bernoulli", "alpha": 1.0}),
        (", logistic", {"model": "logistic"}),
    ):
        yield Task(f"TextClassifier fit{name}", "TextClassifier", "fit", TEXTS, 0, 0, kwargs=settings)
    yield Task("TextClassifier predict_proba", "TextClassifier", "predict_proba", TEXTS, 0, 0)
    yield Task("BayesOptimal fit, 2,000 × 8", "BayesOptimal", "fit", ROWS, 0, 0)
    yield Task("TreeAugmentedNB fit, 2,000 × 8", "TreeAugmentedNB", "fit", ROWS, 0, 0)


def serve(clock: Callable[[], float]) -> None:
    """Answer the number of a task on each line with the seconds of a call; a repeated number is timed again."""
    every, ours, timed, last = list(tasks()), peers.found()[peers.OURS], None, None
    for line in sys.stdin:
        at = int(line)
        if at != last:
            timed = None  # frees the data of the last task
            timed, last = TimedLibrary(every[at], load(every[at].recipe), ours, clock), at
        assert timed is not None
        print(json.dumps(timed.seconds()), flush=True)


class Version:
    """A process of one version."""

    def __init__(self, python: str, cpu: bool):
        command = [python, "-W", "ignore", "-m", "bench.versions", "--serve", *(["--cpu"] if cpu else [])]
        self.process = subprocess.Popen(command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def seconds(self, at: int) -> float:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{at}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"task {at} failed; see above")
        return json.loads(answer)


def compare(other: str, only: str, rounds: int, cpu: bool) -> None:
    versions = Version(sys.executable, cpu), Version(other, cpu)
    for at, task in enumerate(tasks()):
        if only.lower() not in task.name.lower():
            continue
        first = [version.seconds(at) for version in versions]  # made ready, not counted
        number = min(rounds, 3) if max(first) > SLOW_S else rounds
        times = [tuple(version.seconds(at) for version in versions) for _ in range(number)]
        ratios = sorted(theirs / ours for ours, theirs in times)
        mine, yours = (median(column) for column in zip(*times, strict=True))
        shortest = min(theirs for _, theirs in times) / min(ours for ours, _ in times)
        print(
            f"| {task.name} | {1e3 * yours:.4g} ms | {1e3 * mine:.4g} ms | {median(ratios):.2f} "
            f"({ratios[0]:.2f} … {ratios[-1]:.2f}) | {shortest:.2f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.versions", description="Compare two versions of deciban.")
    parser.add_argument("python", nargs="?", help="the interpreter of the other version")
    parser.add_argument("--only", metavar="SUBSTRING", default="", help="run what has this in its name")
    parser.add_argument("--rounds", metavar="N", type=int, default=5, help="timings of each version (default 5)")
    parser.add_argument("--cpu", action="store_true", help="CPU time instead of wall time (busy machine)")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve(time.process_time if args.cpu else time.perf_counter)
        return
    if args.python is None:
        parser.error("name the interpreter of the other version")
    print("| task | other version | this version | ratio | of the shortest |\n|---|--:|--:|--:|--:|")
    compare(args.python, args.only, args.rounds, args.cpu)


if __name__ == "__main__":
    main()
