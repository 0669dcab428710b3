"""`python -m bench.text`: text vectorisers side by side with scikit-learn's, on 20 Newsgroups as first collected.

Ours and theirs run in turn; the ratio is that of two runs made right after each other, and the middle one counts. The
peak of memory is that of a new process, less what was resident before the call. What the call returns is part of it and
the same for both, so peaks are compared twice: as they are, and without the answer.

Example:
    python -m bench.text --only words --repeats 3
"""

import argparse
import gc
import json
import lzma
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from sklearn.feature_extraction import text as theirs

import deciban
from bench import report
from bench.memory import MALLOC

FILE = Path(__file__).resolve().parents[2] / "shared" / "data" / "newsgroups20" / "newsgroups20_original.jsonl.xz"
WB = {"analyzer": "char_wb", "ngram_range": (2, 4)}


@dataclass(frozen=True)
class Task:
    name: str
    kind: str  # CountVectorizer or HashingVectorizer
    options: dict
    verb: str
    required: float
    aim: float
    repeats: int

    def call(self, library: Any, texts: list[str]) -> Callable[[], Any]:
        """What is timed, ready to run."""
        make = getattr(library, self.kind)
        if self.verb == "fit_transform":
            return lambda: make(**self.options).fit_transform(texts)
        model = make(**self.options).fit(texts)
        model.transform(texts[:1])  # what is made when first asked for is part of the model
        return lambda: model.transform(texts)


TASKS = [
    Task("words, fit_transform", "CountVectorizer", {}, "fit_transform", 12, 25, 3),
    Task("words, transform", "CountVectorizer", {}, "transform", 20, 40, 3),
    Task("words and pairs, fit_transform", "CountVectorizer", {"ngram_range": (1, 2)}, "fit_transform", 8, 15, 2),
    Task("char_wb 2–4, fit_transform", "CountVectorizer", WB, "fit_transform", 10, 20, 1),
    Task("hashed words, transform", "HashingVectorizer", {}, "transform", 8, 20, 3),
]


def texts() -> list[str]:
    with lzma.open(FILE, "rt") as lines:
        return [json.loads(line)["text"] for line in lines]


def seconds(call: Callable[[], Any]) -> float:
    gc.collect()
    start = time.perf_counter()
    kept = call()  # noqa: F841  freeing the answer is not part of the call
    return time.perf_counter() - start


def race(task: Task, given: list[str], repeats: int) -> tuple:
    ours, baseline = (task.call(library, given) for library in (deciban, theirs))
    seconds(ours)
    pairs = [(seconds(ours), seconds(baseline)) for _ in range(repeats)]
    ratios = sorted(b / a for a, b in pairs)
    best = min(a for a, _ in pairs)
    megabytes = sum(map(len, given)) / 1e6
    (ours_peak, answer), (their_peak, _) = (peak(task, name) for name in ("deciban", "scikit-learn"))
    return (
        task.name,
        report.seconds(median(b for _, b in pairs)),
        report.seconds(median(a for a, _ in pairs)),
        report.times(median(ratios)),
        f"{ratios[0]:.1f}–{ratios[-1]:.1f}",
        f"{task.required:g}×",
        f"{task.aim:g}×",
        f"{megabytes / best:,.0f} MB/s",
        *(f"{size / 2**20:,.0f} MB" for size in (ours_peak, their_peak)),
        f"{ours_peak / their_peak:.2f}",
        f"{answer / 2**20:,.0f} MB",
        f"{(ours_peak - answer) / (their_peak - answer):.2f}",
    )


def peak(task: Task, library: str) -> tuple[int, int]:
    """(bytes that the call adds to what is resident, at most, in a process of its own; those of its answer)."""
    command = [sys.executable, "-m", "bench.text", "--peak", library, task.name]
    done = subprocess.run(command, env=os.environ | MALLOC, capture_output=True, text=True, check=True)
    most, answer = map(int, done.stdout.split())
    return most, answer


def _peak_here(library: str, name: str) -> tuple[int, int]:
    task = next(task for task in TASKS if task.name == name)
    call = task.call(deciban if library == "deciban" else theirs, texts())
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the high-water mark falls to what is resident now
    before = _status("VmRSS")
    X = call()
    return _status("VmHWM") - before, X.data.nbytes + X.indices.nbytes + X.indptr.nbytes


def _status(name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found
    return 1024 * int(found[1])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.text", description="Race the text vectorisers.")
    parser.add_argument("--only", metavar="SUBSTRING", default="", help="tasks with this in the name; writes no table")
    parser.add_argument("--repeats", metavar="N", type=int, help="timings of each library")
    parser.add_argument("--peak", nargs=2, metavar=("LIBRARY", "TASK"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peak:
        print(*_peak_here(*args.peak))
        return
    given = texts()
    rows = []
    for task in TASKS:
        if args.only in task.name:
            rows.append(race(task, given, args.repeats or task.repeats))
            print(*rows[-1], f"load {os.getloadavg()[0]:.1f}", sep=" | ", file=sys.stderr)
    head = (
        "task",
        "scikit-learn",
        "deciban",
        "ratio",
        "spread",
        "required",
        "aim",
        "deciban reads",
        "its peak",
        "theirs",
        "of theirs",
        "the answer",
        "of theirs, both without it",
    )
    table = report.markdown(head, rows, left=1)
    if args.only:
        print(table)
    else:
        report.between(report.HERE / "README.md", "text", table)


if __name__ == "__main__":
    main()
