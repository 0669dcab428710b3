"""`python -m bench.audit`: how well and how fast `audit` finds wrong labels, against cleanlab; writes AUDIT.md.

Labels of shared tables are changed: some of all rows get any other label ("random"), or rows get the label of a class
that nearest neighbours take them for, more of those of often mistaken classes ("confusion"; at most 45 % of a class).
cleanlab (to be installed) ranks rows by self-confidence, P(given label) of a logistic regression of standardised
and one-hot columns, out of five folds. The figure is the area under the ROC curve of the ranking, with the changed rows
as positive. Times are processor times with one thread. Progress goes to stderr.

Example:
    python -m bench.audit --only pima,titanic --seeds 1
"""

import argparse
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from cleanlab import filter, rank
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

import deciban
from bench import tables
from bench.report import machine, markdown

PAGE = Path(__file__).with_name("AUDIT.md")
TABLES = (
    *("adult", "letter", "mushroom", "spambase", "pendigits"),
    *("titanic", "vehicle", "pima", "optdigits", "soybean"),
)
OTHERS = ("vowel", "ionosphere", "house_votes_84", "heart_cleveland")  # which set no constant of the method
KINDS, SHARES = ("random", "confusion"), (0.05, 0.1, 0.2)
MOST = 0.45  # share of a class whose labels are changed
NEIGHBOURS = 5_000  # rows among which classes are mistaken
TEXT = f"""# Wrong labels

`python -m bench.audit` writes this page: labels of shared tables are changed (5, 10 and 20 % of the rows, at random or
by confusion), and `audit` ranks the rows. "AUC" is the area under the ROC curve of the ranking: the probability that a
changed row ranks above one that was not. cleanlab's ranking is by self-confidence, P(given label) of logistic
regression (standardised, one-hot) out of five folds. "likely": the share of true errors among the rows that are called
likely errors, and the share of the errors that are among them; of cleanlab those of `find_label_issues`. "expected" is
the mean of (expected errors / true errors). "faster": processor time of cleanlab's ranking over that of
`audit(checks=["labels"])`, and over that of a whole audit; one thread each, data frames as input. Figures are means
over both kinds of noise and the three shares.

{", ".join(OTHERS)} set none of its constants.

"""
HEAD = (
    *("table", "rows", "AUC", "cleanlab", "likely: true", "found", "cleanlab: true", "found"),
    *("expected", "CPU", "cleanlab CPU", "faster", "whole audit"),
)


@dataclass
class Found:
    """Figures of one table, a value for each case."""

    name: str
    n: int
    kind: list[str] = field(default_factory=list)
    auc: list[tuple[float, float]] = field(default_factory=list)  # (ours, cleanlab's)
    likely: list[tuple[float, float]] = field(default_factory=list)  # (share of true errors, share found)
    issues: list[tuple[float, float]] = field(default_factory=list)
    expected: list[float] = field(default_factory=list)
    seconds: list[tuple[float, float, float]] = field(default_factory=list)  # (ranking, whole audit, cleanlab)

    def cells(self) -> tuple[str, ...]:
        auc, likely, issues = (np.nanmean(each, axis=0) for each in (self.auc, self.likely, self.issues))
        mine, whole, theirs = np.median(self.seconds, axis=0)
        return (
            *(self.name, f"{self.n:,}", f"{auc[0]:.4f}", f"{auc[1]:.4f}"),
            *("–" if np.isnan(share) else f"{100 * share:.0f} %" for share in (*likely, *issues)),
            "–" if np.isnan(self.expected).all() else f"{np.nanmean(self.expected):.2f}",
            *(f"{mine:.3f} s", f"{theirs:.3f} s"),
            *(f"{theirs / mine:.1f} ×", f"{theirs / whole:.1f} ×"),
        )


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.audit", description="Finding wrong labels.")
    parser.add_argument("--only", metavar="NAME,…", default="", help="these tables; prints, writes no page")
    parser.add_argument("--seeds", type=int, default=2, help="noises of each kind and share")
    parser.add_argument("--data", metavar="FOLDER", type=Path, default=tables.SHARED, help="where manifest.json is")
    args = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    names = tuple(args.only.split(",")) if args.only else (*TABLES, *OTHERS)
    found = []
    with threadpool_limits(1), deciban.threads(1):
        for table in tables.load(names, args.data):
            found.append(measured(table, args.seeds))
            print(*found[-1].cells(), sep=" | ", file=sys.stderr, flush=True)
    text = page(found, args.seeds)
    if args.only:
        print(text)
    else:
        PAGE.write_text(text)


def page(found: list[Found], seeds: int) -> str:
    order = {name: i for i, name in enumerate((*TABLES, *OTHERS))}
    found = sorted(found, key=lambda one: order.get(one.name, len(order)))
    parts = [markdown(HEAD, [one.cells() for one in found], 1), ""]
    for title, names in (("the ten tables", TABLES), ("the others", OTHERS)):
        some = [one for one in found if one.name in names]
        if some:
            parts.append(means(title, some))
    return f"{TEXT}{machine()} {seeds} noises of each kind and share.\n\n" + "\n".join(parts) + "\n"


def means(title: str, found: list[Found]) -> str:
    auc = np.array([np.mean(one.auc, axis=0) for one in found])
    kinds = []
    for kind in KINDS:
        each = [np.mean([a for a, k in zip(one.auc, one.kind, strict=True) if k == kind], axis=0) for one in found]
        kinds.append(f"{kind} {np.mean(each, axis=0)[0]:.4f} against {np.mean(each, axis=0)[1]:.4f}")
    seconds = np.array([np.median(one.seconds, axis=0) for one in found])
    ratio = seconds[:, 2] / seconds[:, 0]
    total = seconds.sum(axis=0)
    large = [f"{one.name} {r:.1f} ×" for one, r in zip(found, ratio, strict=True) if one.n >= 20_000]
    return (
        f"- Mean of {title}: AUC {auc[:, 0].mean():.4f} against {auc[:, 1].mean():.4f} ({', '.join(kinds)}), higher on "
        f"{int((auc[:, 0] > auc[:, 1]).sum())} of {len(found)}. Faster: {ratio.mean():.1f} × in the mean of ratios, "
        f"{total[2] / total[0]:.1f} × in the sum of the times" + (f"; {', '.join(large)}." if large else ".")
    )


def measured(table: tables.Table, seeds: int) -> Found:
    out, mistaken = Found(table.name, len(table.y)), confusion(table)
    for kind, y in noisy(table, mistaken, seeds):
        bad, labels = y != table.y, table.classes[y]
        mine = clocked(lambda labels=labels: deciban.audit(table.X, labels, checks=["labels"]))
        whole = clocked(lambda labels=labels: deciban.audit(table.X, labels))
        theirs = clocked(lambda y=y: by_cleanlab(table, y))
        errors, (given, proba, scores) = mine[0].label_errors, theirs[0]
        issues = np.asarray(filter.find_label_issues(given, proba, n_jobs=1))
        place = np.empty(len(y))
        place[errors.order] = np.arange(len(y))
        out.kind.append(kind)
        out.auc.append((roc_auc_score(bad, -place), roc_auc_score(bad, -scores)))
        out.likely.append(shares(errors.likely, bad))
        out.issues.append(shares(issues, bad))
        out.expected.append(errors.expected / bad.sum())
        out.seconds.append((mine[1], whole[1], theirs[1]))
    return out


def clocked(call: Any) -> tuple[Any, float]:
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


def shares(called: np.ndarray, bad: np.ndarray) -> tuple[float, float]:
    """(share of true errors among the rows that are called errors, share of the errors that are called so)"""
    return float(bad[called].mean()) if called.any() else float("nan"), float(called[bad].mean())


def by_cleanlab(table: tables.Table, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(codes of the labels, held-out probabilities, self-confidence of each row)"""
    _, given = np.unique(y, return_inverse=True)
    model = make_pipeline(coder(table), LogisticRegression(max_iter=1000))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    proba = cross_val_predict(model, table.X, given, cv=folds, method="predict_proba")
    return given, proba, rank.get_label_quality_scores(given, proba, method="self_confidence")


def coder(table: tables.Table) -> ColumnTransformer:
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    names = OneHotEncoder(handle_unknown="ignore")
    return ColumnTransformer(
        [("numbers", numbers, list(table.numeric)), ("names", names, list(table.nominal))], sparse_threshold=0
    )


# noise


def confusion(table: tables.Table) -> np.ndarray:
    """How often five nearest neighbours take a class for another, (k, k)."""
    rng, n, k = np.random.default_rng(0), len(table.y), len(table.classes)
    at = np.sort(rng.choice(n, min(n, NEIGHBOURS), replace=False))
    cells, y = coder(table).fit_transform(table.X.iloc[at]), table.y[at]
    predicted = cross_val_predict(
        KNeighborsClassifier(5), cells, y, cv=StratifiedKFold(5, shuffle=True, random_state=0)
    )
    out = np.full((k, k), 0.1 / k)
    np.add.at(out, (y, predicted), 1.0)
    np.fill_diagonal(out, 0.0)
    return out


def noisy(table: tables.Table, mistaken: np.ndarray, seeds: int) -> Iterator[tuple[str, np.ndarray]]:
    """(kind, class codes with changed labels)"""
    for kind in KINDS:
        for share in SHARES:
            for seed in range(1, seeds + 1):
                rng = np.random.default_rng((seed, round(1000 * share), KINDS.index(kind)))
                changed = at_random if kind == "random" else by_confusion
                yield kind, changed(table.y, mistaken, share, rng)


def at_random(y: np.ndarray, mistaken: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Any rows, any other label."""
    out, k, m = y.copy(), len(mistaken), round(share * len(y))
    rows = rng.choice(len(y), m, replace=False)
    out[rows] = (y[rows] + rng.integers(1, k, m)) % k
    return out


def by_confusion(y: np.ndarray, mistaken: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Rows of each class as often as it is mistaken, with the labels of the classes that it is mistaken for."""
    out, k, count = y.copy(), len(mistaken), np.bincount(y, minlength=len(mistaken))
    most, weight = MOST * count, mistaken.sum(axis=1)
    wanted, open_ = np.zeros(k), np.ones(k, dtype=bool)
    while (left := share * len(y) - wanted.sum()) > 0.5 and open_.any():
        wanted += left * weight * open_ / (weight * open_).sum()
        open_ &= wanted < most
        wanted = np.minimum(wanted, most)
    for c in range(k):
        rows = rng.choice(np.flatnonzero(y == c), round(wanted[c]), replace=False)
        out[rows] = rng.choice(k, len(rows), p=mistaken[c] / mistaken[c].sum())
    return out


if __name__ == "__main__":
    main()
