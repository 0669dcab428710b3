"""`python -m bench.engines`: fits on engines against those of the engines' own libraries; writes bench/SCALING.md.

Each pair reads the same folder of Parquet in the same session, cluster or process, in turn; the least time of each
counts, and a race that has taken a minute has no further round. Spark ML gets its columns as a vector by its own
assembler. A logistic fit counts only with its objective. Libraries that are not installed are skipped with a note
(dask-ml is in no extra: bench/engines_daskml.py describes how to install it). Outcomes are kept in
bench/results/engines.csv, so that a part can be run again by its name: stream-gaussian, dask-gaussian, dask-logistic,
spark-gaussian (of plain files, and of a frame with a filter), spark-logistic, spark-texts.

Example:
    python -m bench.engines --only spark-gaussian
"""

from __future__ import annotations

import argparse
import csv
import logging
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import naive_bayes

import deciban
from bench import engines_data as data
from bench import report

ROWS, TEXTS = 2_000_000, 100_000
LONG = 60.0  # seconds that a race takes before it has no further round
C = 1.0
KEPT = report.RESULTS / "engines.csv"
TASKS = {
    "gaussian": "Gaussian NB",
    "gaussian-filtered": "Gaussian NB, of a frame with a filter",
    "logistic": "logistic",
    "texts": "texts, multinomial NB",
}


@dataclass(frozen=True)
class Contest:
    engine: str
    task: str
    baseline: str
    theirs: Callable[[], Any]
    ours: Callable[[], Any]
    required: float | None = None
    objective: Callable[[Any], float] | None = None


@dataclass(frozen=True)
class Outcome:
    engine: str
    task: str
    baseline: str
    baseline_s: float
    ours_s: float
    required: float | None
    baseline_objective: float | None = None
    our_objective: float | None = None

    @property
    def ratio(self) -> float:
        return self.baseline_s / self.ours_s

    @property
    def name(self) -> str:
        return f"{self.engine}-{self.task}"


def main() -> None:
    asked = _arguments()
    shrink = 20 if asked.quick else 1
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="deciban-engines-"))
    outcomes: list[Outcome] = []
    try:
        numbers, texts = folder / "numbers", folder / "texts"
        if not numbers.exists():
            data.write_numbers(numbers, ROWS // shrink)
            data.write_texts(texts, TEXTS // shrink)
        for engine, setting in {"stream": on_stream, "dask": on_dask, "spark": on_spark}.items():
            if not engine.startswith(asked.only.partition("-")[0]):
                continue
            with setting(numbers, texts) as contests:
                wanted = [one for one in contests if f"{one.engine}-{one.task}".startswith(asked.only)]
                outcomes += [run(contest, asked.rounds) for contest in wanted]
    finally:
        if asked.folder is None:
            shutil.rmtree(folder)
    if asked.quick:
        print(markdown(outcomes))
        return
    outcomes = list(({o.name: o for o in kept()} | {o.name: o for o in outcomes}).values())
    keep(outcomes)
    report.between(report.HERE / "SCALING.md", "engines", f"{markdown(outcomes)}\n\n{report.machine()}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.engines", description=__doc__)
    parser.add_argument(
        "--only", metavar="NAME", default="", help="an engine (spark) or one of its tasks (spark-texts)"
    )
    parser.add_argument("--rounds", metavar="N", type=int, default=3, help="timings of each (default 3)")
    parser.add_argument("--folder", metavar="PATH", type=Path, help="keeps the data there, for the next run")
    parser.add_argument("--quick", action="store_true", help="1/20 of the rows; prints, writes nothing")
    return parser.parse_args()


def keep(outcomes: list[Outcome]) -> None:
    """Write them, in the order of the table, with all digits of their objectives."""
    order = {name: at for at, name in enumerate(["stream", "dask", "spark"])}
    outcomes.sort(key=lambda o: (order[o.engine], list(TASKS).index(o.task)))
    with KEPT.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(field.name for field in fields(Outcome))
        writer.writerows(("" if cell is None else cell for cell in astuple(outcome)) for outcome in outcomes)


def kept() -> list[Outcome]:
    """Those of earlier runs."""
    if not KEPT.exists():
        return []
    with KEPT.open(newline="") as file:
        _, *rows = csv.reader(file)
    return [Outcome(*row[:3], *(float(cell) if cell else None for cell in row[3:])) for row in rows]  # type: ignore[arg-type]


def run(contest: Contest, rounds: int) -> Outcome:
    theirs = ours = np.inf
    start = time.perf_counter()
    for done in range(rounds):
        if done and time.perf_counter() - start > LONG:
            break
        baseline_s, baseline = timed(contest.theirs)
        our_s, own = timed(contest.ours)
        theirs, ours = min(theirs, baseline_s), min(ours, our_s)
    found = [contest.objective(fit) for fit in (baseline, own)] if contest.objective else [None, None]
    out = Outcome(contest.engine, contest.task, contest.baseline, theirs, ours, contest.required, *found)
    objectives_text = f", objectives {found[0]:.10g} and {found[1]:.10g}" if contest.objective else ""
    print(
        f"{out.engine}, {out.task}: {out.baseline} {theirs:.2f} s, deciban {ours:.2f} s{objectives_text}",
        file=sys.stderr,
        flush=True,
    )
    return out


def timed(fit: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    made = fit()
    return time.perf_counter() - start, made


def markdown(outcomes: list[Outcome]) -> str:
    head = (
        "engine",
        "task",
        "baseline",
        "baseline's time",
        "deciban",
        "ratio",
        "required",
        "baseline's objective",
        "ours",
    )
    return report.markdown(head, (_cells(outcome) for outcome in outcomes), left=3)


def _cells(o: Outcome) -> tuple[str, ...]:
    missed = o.required is not None and o.ratio < o.required
    objectives = ("", "") if o.our_objective is None else (f"{o.baseline_objective:.9g}", f"{o.our_objective:.9g}")
    ratio = report.times(o.ratio) + (" (missed)" if missed else "")
    required = "" if o.required is None else f"{o.required:g}×"
    return (
        o.engine,
        TASKS[o.task],
        o.baseline,
        report.seconds(o.baseline_s),
        report.seconds(o.ours_s),
        ratio,
        required,
        *objectives,
    )


@contextmanager
def on_stream(numbers: Path, texts: Path) -> Iterator[list[Contest]]:
    def theirs() -> Any:
        model = naive_bayes.GaussianNB()
        for batch in data.batches(numbers):
            X = np.column_stack([batch.column(name).to_numpy() for name in data.NAMES])
            model.partial_fit(X, batch.column("label").to_numpy(), classes=[0, 1])
        return model

    def ours() -> Any:
        return deciban.GaussianNB().fit_on(numbers)

    yield [Contest("stream", "gaussian", "scikit-learn, partial_fit over iter_batches", theirs, ours, 5.0)]


@contextmanager
def on_dask(numbers: Path, texts: Path) -> Iterator[list[Contest]]:
    try:
        import dask.dataframe as dd
        from distributed import Client, LocalCluster

        from bench import engines_daskml as baseline
    except ImportError as lacking:
        print(f"dask: {lacking.name} is not installed: left out (bench/engines_daskml.py says how)", file=sys.stderr)
        yield []
        return

    def own(make: Callable[[], Any]) -> Callable[[], Any]:
        return lambda: make().fit_on(dd.read_parquet(numbers))

    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.ERROR)
    with cluster, Client(cluster):
        yield [
            Contest("dask", "gaussian", "dask-ml", lambda: baseline.gaussian(numbers), own(deciban.GaussianNB)),
            Contest(
                "dask",
                "logistic",
                "dask-ml, L-BFGS",
                lambda: baseline.logistic(numbers, C),
                own(_logistic),
                None,
                _objective(numbers),
            ),
        ]


@contextmanager
def on_spark(numbers: Path, texts: Path) -> Iterator[list[Contest]]:
    """Frames that are plain files, which tasks read by themselves, and one that is more: Spark hands over its rows."""
    from bench import engines_sparkml as baseline

    spark = baseline.session()
    rows = spark.read.parquet(str(numbers)).count()

    def plain(folder: Path = numbers) -> Any:
        return spark.read.parquet(str(folder))

    def filtered() -> Any:
        return plain().where("label >= 0")  # all of them

    bayes = deciban.GaussianNB
    by_words = "Spark ML, Tokenizer, CountVectorizer"
    contests = [
        Contest(
            "spark", "gaussian", "Spark ML", lambda: baseline.gaussian(plain()), lambda: bayes().fit_on(plain()), 3.0
        ),
        Contest(
            "spark",
            "gaussian-filtered",
            "Spark ML",
            lambda: baseline.gaussian(filtered()),
            lambda: bayes().fit_on(filtered()),
        ),
        Contest(
            "spark",
            "logistic",
            "Spark ML",
            lambda: baseline.logistic(plain(), C, rows),
            lambda: _logistic().fit_on(plain()),
            1.5,
            _objective(numbers),
        ),
        Contest(
            "spark",
            "texts",
            by_words,
            lambda: baseline.texts(plain(texts)),
            lambda: deciban.TextClassifier().fit_on(plain(texts), features="text"),
        ),
    ]
    try:
        yield contests
    finally:
        spark.stop()


def _logistic() -> deciban.LogisticRegression:
    return deciban.LogisticRegression(C=C)


def _objective(folder: Path) -> Callable[[Any], float]:
    """C times the loss and half the squared coefficients, by C, of a fit of any of these libraries."""

    def of(fit: Any) -> float:
        if hasattr(fit, "coefficients"):
            coef, bias = fit.coefficients.toArray(), fit.intercept
        else:
            coef, bias = np.ravel(fit.coef_), float(np.ravel(fit.intercept_)[0])
        return data.objective(folder, coef, float(bias), 1.0 / C)

    return of


if __name__ == "__main__":
    main()
