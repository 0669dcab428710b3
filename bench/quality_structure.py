"""`python -m bench.quality_structure`: models that relax "naive", and averages of models. Progress goes to stderr.

Measures are those of the quality tables. Sets are in ten folds; those of many rows with a published split, by that one.
Each fold fits `BayesOptimal` once, and its members are measured as they stand in it. What was found is kept in
`results/quality_structure.csv`: `--only` and `--quick` measure some sets again, and the page lists all results.

Example:
    python -m bench.quality_structure --only wine,glass
"""

import argparse
import csv
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from threadpoolctl import threadpool_limits

import deciban
from bench import report, tables
from bench.evaluate import Kept, in_order, look_up
from bench.libraries import boosting
from bench.measures import LEAST, Measures, measure
from bench.quality_tables import CACHE
from bench.quality_weights import logistic
from bench.tables import Table
from deciban.model_selection import member_search

PAGE, KEPT = Path(__file__).parent / "STRUCTURE.md", report.RESULTS / "quality_structure.csv"
DUELS = report.RESULTS / "quality_structure_boosting.csv"
SETS = tables.SETS
SMALL = 700  # rows of a set that is quick, at most
MANY = 2_000  # rows of a set whose published split is taken, at least
NAIVE, SUBSETS, TAN, AODE, AVERAGE = "naive Bayes", "subsets", "TAN", "AODE", "BayesOptimal"
AUTO, BOOSTING = "AutoClassifier", "boosting"
MOST_ECE, MOST_LOST, MOST_TIME = 0.03, 5, 10
WITHIN, SHARE = 1.01, 0.8
INTRO = """\
# Structure: models that relax "naive", and averages of models

`make quality` (or `python -m bench.quality_structure`) writes this page and `results/quality_structure.csv`. Measures
are those of [QUALITY.md](QUALITY.md). Sets are in ten folds, but `adult`, `letter`, `pendigits` and `optdigits` are
split as published. Ours:

- **naive Bayes**: `MixedNB()`. **subsets**: `MixedNB(average="subsets")`, averaged over all subsets of its columns.
- **TAN**: `TreeAugmentedNB()`. **AODE**: `AODE()`. **KDB 1**, **KDB 2**: `KDependenceBayes(k=…)`.
  **BayesNet**: `BayesNet()`, a network searched for.
- **logistic**: `LogisticRegression()` with imputation, scaling and one-hot columns.
- **BayesOptimal**: `BayesOptimal(weights="loo")` over all of these: stacking, by rows left out.
- **AutoClassifier**: `AutoClassifier()`, which finds its candidates itself, in 60 s at most. With `--cpu`, these are
  CPU seconds of all threads, which other work on the machine does not use up.

BayesOptimal is more than 1% behind its best member on some sets: where that member is hardly ever wrong, on few rows,
and, by most, on `horse_colic`. Stacking learns from rows left out at random, and so knows nothing of rows of another
kind, such as those of other speakers.

Far anchors: scikit-learn's `RandomForestClassifier` (**forest**) and `HistGradientBoostingClassifier` (**boosting**).
The best of each line is bold; – means that there is no answer.
"""


DUEL = """\
## AutoClassifier and boosting

Log loss with its standard error over the rows, by how much that of boosting is higher on the same rows, and the CPU
seconds of all fits of each.
"""


def members(numeric: Sequence[str], nominal: Sequence[str]) -> list[tuple[str, Any]]:
    """The models that are there, by name."""
    made: dict[str, tuple[str, dict[str, Any]]] = {
        NAIVE: ("MixedNB", {}),
        SUBSETS: ("MixedNB", {"average": "subsets"}),
        TAN: ("TreeAugmentedNB", {}),
        AODE: ("AODE", {}),
        "KDB 1": ("KDependenceBayes", {"k": 1}),
        "KDB 2": ("KDependenceBayes", {"k": 2}),
        "BayesNet": ("BayesNet", {}),
    }
    there = [(name, getattr(deciban, cls)(**more)) for name, (cls, more) in made.items() if cls in deciban.__all__]
    return [*there, ("logistic", logistic(numeric, nominal))]


def forest(numeric: Sequence[str], nominal: Sequence[str]) -> Any:
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-2, encoded_missing_value=-1)
    columns = ColumnTransformer([("numeric", SimpleImputer(), list(numeric)), ("nominal", codes, list(nominal))])
    return make_pipeline(columns, RandomForestClassifier(random_state=0))


ANCHORS: dict[str, Any] = {"forest": SimpleNamespace(NAME="forest", make=forest), "boosting": boosting}


def in_folds(table: Table) -> Table:
    """A table of few rows is in ten folds, independent of the published split."""
    return table if len(table.y) >= MANY else replace(table, split=None)


def ours(table: Table) -> dict[str, Measures]:
    """Every member and their average."""
    folds = table.folds()
    predicted: dict[str, list[np.ndarray]] = {}
    for train, test in folds:
        model = deciban.BayesOptimal(members(table.numeric, table.nominal), weights="loo")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # as in `evaluate`
            model.fit(table.X.iloc[train], table.labels[train])
            for name, one in [*zip(model.names_, model.models_, strict=True), (AVERAGE, model)]:
                predicted.setdefault(name, []).append(in_order(one, table, test))
    rows = np.concatenate([test for _, test in folds])
    return {name: measure(np.concatenate(parts), table.y[rows]) for name, parts in predicted.items()}


@dataclass(frozen=True)
class Duel:
    """`AutoClassifier` and boosting on the same rows: what each row costs, and what the fits do."""

    rows: int
    error: float  # standard error of the log loss of AutoClassifier
    less: float  # by which its log loss is below boosting's
    less_error: float
    seconds: float  # of CPU, of all fits
    boosting_seconds: float

    @classmethod
    def of(cls, ours: np.ndarray, theirs: np.ndarray, y: np.ndarray, seconds: np.ndarray) -> "Duel":
        own, other = (-np.log(np.clip(p[np.arange(len(y)), y], LEAST, 1)) for p in (ours, theirs))
        root = np.sqrt(len(y))
        less = other - own
        return cls(len(y), own.std() / root, less.mean(), less.std() / root, *seconds.tolist())


def fold_of(table: Table, train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(probabilities by `AutoClassifier`, those by boosting, CPU seconds of both fits) on one fold. Boosting has one
    thread of OpenMP: threads that wait for each other use CPU, on a busy machine most of it."""
    found, seconds = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as in `evaluate`
        for model in (deciban.AutoClassifier(), boosting.make(table.numeric, table.nominal)):
            start = time.process_time()
            with threadpool_limits(1, "openmp"):
                model.fit(table.X.iloc[train], table.labels[train])
            seconds.append(time.process_time() - start)
            found.append(in_order(model, table, test))
    return found[0], found[1], np.array(seconds)


def automatic(table: Table, pool: Executor | None = None) -> Callable[[], tuple[dict[str, Measures], Duel]]:
    """`AutoClassifier` on the same folds; the call waits for those that run in other processes."""
    folds = table.folds()
    if pool is None:
        started: list[Any] = [partial(fold_of, table, train, test) for train, test in folds]
    else:
        started = [pool.submit(fold_of, table, train, test).result for train, test in folds]

    def ended() -> tuple[dict[str, Measures], Duel]:
        ours, theirs, seconds = zip(*(one() for one in started), strict=True)
        y = table.y[np.concatenate([test for _, test in folds])]
        proba = np.concatenate(ours)
        return {AUTO: measure(proba, y)}, Duel.of(proba, np.concatenate(theirs), y, np.sum(seconds, axis=0))

    return ended


# what is kept

Found = dict[str, dict[str, Measures]]  # by set and model


def read(path: Path) -> tuple[Found, dict[str, str]]:
    """(measures, how many rows each set has)."""
    found: Found = {}
    rows: dict[str, str] = {}
    if path.exists():
        with path.open(newline="") as file:
            for line in csv.DictReader(file):
                m = Measures(
                    *(int(line[key]) for key in ("rows", "hits")),
                    *(float(line[key]) for key in ("log_loss", "brier", "ece")),
                )
                found.setdefault(line["set"], {})[line["model"]] = m
                rows[line["set"]] = line["of"]
    return found, rows


def write(path: Path, found: Found, rows: dict[str, str]) -> None:
    lines = [
        {"set": name, "of": rows[name], "model": model}
        | {
            "rows": m.rows,
            "hits": m.hits,
            "log_loss": f"{m.log_loss:.9g}",
            "brier": f"{m.brier:.9g}",
            "ece": f"{m.ece:.9g}",
        }
        for name in sorted(found, key=_place)
        for model, m in found[name].items()
    ]
    report.write_csv(path, lines)


def read_duels(path: Path) -> dict[str, Duel]:
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {
            line["set"]: Duel(int(line["rows"]), *(float(line[one.name]) for one in fields(Duel)[1:]))
            for line in csv.DictReader(file)
        }


def write_duels(path: Path, duels: dict[str, Duel]) -> None:
    names = sorted(duels, key=_place)
    lines = [
        {"set": name, "rows": duels[name].rows}
        | {one.name: f"{getattr(duels[name], one.name):.6g}" for one in fields(Duel)[1:]}
        for name in names
    ]
    report.write_csv(path, lines)


def _place(name: str) -> int:
    return SETS.index(name) if name in SETS else len(SETS)


# the page


def page(found: Found, rows: dict[str, str], duels: dict[str, Duel]) -> str:
    names = sorted(found, key=_place)
    models = list(dict.fromkeys(model for name in names for model in found[name]))
    head = ("set", "rows", *models)
    some = f"Of {len(SETS)} sets, {len(names)} are here: those that have been run." if names else ""
    parts = [
        INTRO,
        report.machine(),
        "## Summary",
        *([some] if len(names) < len(SETS) else []),
        report.markdown(("what", "found", "required", "met"), verdict(found, duels)),
    ]
    if duels:
        parts += [
            DUEL,
            report.markdown(
                ("set", "AutoClassifier", "±", "boosting − it", "±", "fits", "boosting's"),
                [
                    (
                        name,
                        f"{found[name][AUTO].log_loss:.4f}",
                        f"{d.error:.4f}",
                        f"{d.less:+.4f}",
                        f"{d.less_error:.4f}",
                        report.seconds(d.seconds),
                        report.seconds(d.boosting_seconds),
                    )
                    for name, d in sorted(duels.items(), key=lambda one: _place(one[0]))
                ],
            ),
        ]
    for title, number, best, text in (
        ("Log loss (less is better)", lambda m: m.log_loss, min, "{:.4f}"),
        ("Accuracy (more is better)", lambda m: m.accuracy, max, "{:.2%}"),
    ):
        table = [[number(found[name][model]) if model in found[name] else np.nan for model in models] for name in names]
        lines = [(name, rows[name], *_bold(line, best, text)) for name, line in zip(names, table, strict=True)]
        lines.append(("**mean**", "", *_bold(np.mean(table, axis=0), best, text)))
        parts += [f"## {title}", report.markdown(head, lines)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def verdict(found: Found, duels: dict[str, Duel]) -> Iterator[tuple[str, str, str, str]]:
    def losses(model: str) -> np.ndarray:
        return np.array([found[name][model].log_loss if model in found[name] else np.nan for name in found])

    naive, average = losses(NAIVE), losses(AVERAGE)
    for model in (AODE, TAN):
        ratio = float(losses(model).mean() / naive.mean())
        yield f"mean log loss, {model} / naive Bayes", f"{ratio:.3f}", "< 1", "yes" if ratio < 1 else "no"
    worst = float((losses(SUBSETS) / naive).max())
    yield "worst set, subsets / naive Bayes", f"{worst:.4f}", f"≤ {WITHIN}", "yes" if worst <= WITHIN else "no"
    single = [model for model in next(iter(found.values())) if model not in (*ANCHORS, AVERAGE, AUTO)]
    best = np.min([losses(model) for model in single], axis=0)
    share = float((average <= WITHIN * best).mean())
    met = "yes" if share >= SHARE else "no"
    yield "sets where BayesOptimal is within 1% of its best member", f"{share:.0%}", f"≥ {SHARE:.0%}", met
    some = [name for name in found if AUTO in found[name]]
    if not some:
        return
    auto = {name: found[name][AUTO] for name in some}
    mean = float(np.mean([m.log_loss for m in auto.values()]))
    others = {
        model: float(np.mean([found[name][model].log_loss if model in found[name] else np.nan for name in some]))
        for model in (*single, AVERAGE, BOOSTING)
    }
    best = min((loss, model) for model, loss in others.items() if not np.isnan(loss))
    what = f"mean log loss of AutoClassifier, on {len(some)} sets"
    error = np.sqrt(sum(duels[name].error ** 2 for name in some)) / len(some) if set(some) <= set(duels) else np.nan
    shown = f"{mean:.4f}" + ("" if np.isnan(error) else f" ± {error:.4f}")
    yield what, shown, f"< {best[0]:.4f} ({best[1]})", "yes" if mean < best[0] else "no"
    won = sum(m.log_loss < found[name][BOOSTING].log_loss for name, m in auto.items())
    least = len(some) - MOST_LOST
    yield "sets where AutoClassifier is better than boosting", f"{won}", f"≥ {least}", "yes" if won >= least else "no"
    ece = float(np.mean([m.ece for m in auto.values()]))
    required = f"≤ {MOST_ECE}"
    yield "mean calibration error of AutoClassifier", f"{ece:.4f}", required, "yes" if ece <= MOST_ECE else "no"
    if duels:
        ratio = sum(d.seconds for d in duels.values()) / sum(d.boosting_seconds for d in duels.values())
        what, required = f"CPU seconds of its fits / boosting's, summed over {len(duels)} sets", f"≤ {MOST_TIME}"
        yield what, f"{ratio:.1f}", required, "yes" if ratio <= MOST_TIME else "no"


def _bold(numbers: Sequence[float], best: Callable, text: str) -> list[str]:
    shown = ["–" if np.isnan(a) else text.format(a) for a in numbers]
    there = [a for a in numbers if not np.isnan(a)]
    first = text.format(best(there)) if there else ""
    return [f"**{a}**" if a == first else a for a in shown]


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.quality_structure", description="Structure, compared.")
    parser.add_argument("--only", metavar="NAME,…", default="", help="these sets; the others are as they were kept")
    parser.add_argument("--auto", action="store_true", help="AutoClassifier alone; the other models as they were kept")
    parser.add_argument("--cpu", action="store_true", help="limits of time count CPU seconds, on a busy machine")
    parser.add_argument("--jobs", metavar="N", type=int, default=1, help="processes that fit AutoClassifier")
    parser.add_argument("--quick", action="store_true", help=f"sets of at most {SMALL} rows; the others as kept")
    parser.add_argument("--data", metavar="FOLDER", type=Path, default=tables.SHARED, help="where manifest.json is")
    parser.add_argument("--kept", metavar="FILE", type=Path, default=KEPT, help="where numbers are kept")
    parser.add_argument("--duels", metavar="FILE", type=Path, default=DUELS, help="where those with boosting are")
    parser.add_argument("--page", metavar="FILE", type=Path, default=PAGE, help="what to write")
    args = parser.parse_args(argv)
    if args.cpu:
        member_search.time = SimpleNamespace(monotonic=time.process_time)
    chosen = [in_folds(table) for table in tables.load(tuple(args.only.split(",")) if args.only else SETS, args.data)]
    chosen = [table for table in chosen if not args.quick or len(table.y) <= SMALL]
    with ProcessPoolExecutor(args.jobs, get_context("fork")) if args.jobs > 1 else nullcontext() as pool:
        largest = sorted(chosen, key=lambda table: -table.X.size * len(table.classes))  # starts first
        started = {table.name: automatic(table, pool) for table in largest}
        for table in chosen:
            start = time.perf_counter()
            measures = {} if args.auto else ours(table)
            for name, anchor in ANCHORS.items() if not args.auto else ():
                measures[name], _ = look_up(anchor, table, Kept(CACHE))
            own, duel = started[table.name]()
            (found, rows), duels = read(args.kept), read_duels(args.duels)
            found[table.name] = (found.get(table.name, {}) if args.auto else {}) | measures | own
            rows[table.name] = f"{len(table.y):,}"
            duels[table.name] = duel
            write(args.kept, found, rows)
            write_duels(args.duels, duels)
            args.page.write_text(page(found, rows, duels))
            losses = ", ".join(f"{name} {m.log_loss:.4f}" for name, m in found[table.name].items())
            _say(f"{table.name}: {losses} ({report.seconds(time.perf_counter() - start)})")
    found, _ = read(args.kept)
    for what, value, required, met in verdict(found, read_duels(args.duels)) if found else ():
        if met == "no":
            _say(f"warning: {what}: {value}, required {required}")


_say = partial(print, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
