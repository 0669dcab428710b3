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
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import deciban
from bench import report, tables
from bench.evaluate import Kept, in_order, look_up
from bench.libraries import boosting
from bench.measures import Measures, measure
from bench.quality_tables import CACHE
from bench.quality_weights import logistic
from bench.tables import Table
from deciban.model_selection import member_search

PAGE, KEPT = Path(__file__).parent / "STRUCTURE.md", report.RESULTS / "quality_structure.csv"
SETS = tables.SETS
SMALL = 700  # rows of a set that is quick, at most
MANY = 2_000  # rows of a set whose published split is taken, at least
NAIVE, SUBSETS, TAN, AODE, AVERAGE = "naive Bayes", "subsets", "TAN", "AODE", "BayesOptimal"
AUTO, BOOSTING = "AutoClassifier", "boosting"
MOST_ECE, MOST_LOST = 0.03, 5
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
    found = {name: measure(np.concatenate(parts), table.y[rows]) for name, parts in predicted.items()}
    return found | automatic(table)


def automatic(table: Table) -> dict[str, Measures]:
    """`AutoClassifier` on the same folds."""
    parts, folds = [], table.folds()
    for train, test in folds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # as in `evaluate`
            model = deciban.AutoClassifier().fit(table.X.iloc[train], table.labels[train])
            parts.append(in_order(model, table, test))
    return {AUTO: measure(np.concatenate(parts), table.y[np.concatenate([test for _, test in folds])])}


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


def _place(name: str) -> int:
    return SETS.index(name) if name in SETS else len(SETS)


# the page


def page(found: Found, rows: dict[str, str]) -> str:
    names = sorted(found, key=_place)
    models = list(dict.fromkeys(model for name in names for model in found[name]))
    head = ("set", "rows", *models)
    some = f"Of {len(SETS)} sets, {len(names)} are here: those that have been run." if names else ""
    parts = [
        INTRO,
        report.machine(),
        "## Summary",
        *([some] if len(names) < len(SETS) else []),
        report.markdown(("what", "found", "required", "met"), verdict(found)),
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


def verdict(found: Found) -> Iterator[tuple[str, str, str, str]]:
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
    yield what, f"{mean:.4f}", f"< {best[0]:.4f} ({best[1]})", "yes" if mean < best[0] else "no"
    won = sum(m.log_loss < found[name][BOOSTING].log_loss for name, m in auto.items())
    least = len(some) - MOST_LOST
    yield "sets where AutoClassifier is better than boosting", f"{won}", f"≥ {least}", "yes" if won >= least else "no"
    ece = float(np.mean([m.ece for m in auto.values()]))
    required = f"≤ {MOST_ECE}"
    yield "mean calibration error of AutoClassifier", f"{ece:.4f}", required, "yes" if ece <= MOST_ECE else "no"


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
    parser.add_argument("--quick", action="store_true", help=f"sets of at most {SMALL} rows; the others as kept")
    parser.add_argument("--data", metavar="FOLDER", type=Path, default=tables.SHARED, help="where manifest.json is")
    parser.add_argument("--kept", metavar="FILE", type=Path, default=KEPT, help="where numbers are kept")
    parser.add_argument("--page", metavar="FILE", type=Path, default=PAGE, help="what to write")
    args = parser.parse_args(argv)
    if args.cpu:
        member_search.time = SimpleNamespace(monotonic=time.process_time)
    for table in tables.load(tuple(args.only.split(",")) if args.only else SETS, args.data):
        table = in_folds(table)
        if args.quick and len(table.y) > SMALL:
            continue
        start = time.perf_counter()
        measures = automatic(table) if args.auto else ours(table)
        for name, anchor in ANCHORS.items() if not args.auto else ():
            measures[name], _ = look_up(anchor, table, Kept(CACHE))
        found, rows = read(args.kept)
        found[table.name] = found.get(table.name, {}) | measures if args.auto else measures
        rows[table.name] = f"{len(table.y):,}"
        write(args.kept, found, rows)
        args.page.write_text(page(found, rows))
        losses = ", ".join(f"{name} {m.log_loss:.4f}" for name, m in measures.items())
        _say(f"{table.name}: {losses} ({report.seconds(time.perf_counter() - start)})")
    found, _ = read(args.kept)
    for what, value, required, met in verdict(found) if found else ():
        if met == "no":
            _say(f"warning: {what}: {value}, required {required}")


_say = partial(print, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
