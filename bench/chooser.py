"""`python -m bench.chooser`: the figures of docs/choose.md and the dates of docs/benchmarks/index.md, from `results/`.

Nothing is measured: the tables are written from the files that the benchmarks have left.
"""

import csv
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from bench.report import RESULTS, between, machine, markdown, seconds

DOCS = Path(__file__).resolve().parents[1] / "docs"
ROOT = DOCS.parent
MODELS = {  # name on the page → group of results, name there
    "`MixedNB()`": ("structure", "naive Bayes"),
    "`MixedNB(calibrate=True)`": ("quality", "calibrated"),
    '`MixedNB(weights="discriminative")`': ("quality", "weighted"),
    '`MixedNB(average="subsets")`': ("structure", "subsets"),
    "`TreeAugmentedNB()`": ("structure", "TAN"),
    "`AODE()`": ("structure", "AODE"),
    "`KDependenceBayes(k=2)`": ("structure", "KDB 2"),
    "`BayesNet()`": ("structure", "BayesNet"),
    "`LogisticRegression()`": ("structure", "logistic"),
    '`BayesOptimal(weights="loo")`': ("structure", "BayesOptimal"),
    "`AutoClassifier()`": ("structure", "AutoClassifier"),
    "scikit-learn's `RandomForestClassifier`": ("structure", "forest"),
    "scikit-learn's `HistGradientBoostingClassifier`": ("structure", "boosting"),
    "scikit-learn's naive Bayes": ("quality", "naive Bayes"),
}
TASKS = {  # class → tasks of speed.csv, with 1,000,000 rows
    "`GaussianNB`": ("GaussianNB fit", "GaussianNB predict_proba"),
    "`LinearDiscriminantAnalysis`": ("LDA fit", "LDA predict_proba"),
    "`QuadraticDiscriminantAnalysis`": ("QDA fit", "QDA predict_proba"),
    "`CategoricalNB`": ("CategoricalNB fit", "CategoricalNB predict_proba"),
    "`MultinomialNB`": ("MultinomialNB fit", "MultinomialNB predict_proba"),
}
FILES = {
    "speed and memory": ("make bench", ("speed.csv", "memory.csv", "other.csv", "logistic.csv", "logistic_stream.csv")),
    "probabilities on 23 tables": ("make quality", ("quality.csv", "quality_speed.csv")),
    "dependencies and averages": ("make quality", ("quality_structure.csv", "structure.csv")),
    "weights of columns": ("make quality", ("weights.csv",)),
    "texts": ("make quality", ("text_quality.csv", "text_losses.csv", "text_identity.csv")),
    "beyond memory": ("make scaling", ("engines.csv",)),
}


def rows(name: str) -> list[dict[str, str]]:
    with (RESULTS / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def log_losses() -> dict[str, dict[str, dict[str, float]]]:
    """File → model → table → log loss. Files differ in the splits of some tables: only models of one are compared."""
    out: dict[str, dict[str, dict[str, float]]] = {"structure": {}, "quality": {}}
    for file, name, key in (("structure", "quality_structure", "model"), ("quality", "quality", "library")):
        for row in rows(name):
            out[file].setdefault(row[key], {})[row["set"]] = float(row["log_loss"])
    weights = rows("weights")
    for name in ("naive_Bayes", "calibrated", "weighted", "logistic"):
        out["quality"][name] = {row["set"]: float(row[f"{name}_log_loss"]) for row in weights}
    return out


def quality_table() -> str:
    """Mean log loss over that of `MixedNB()`, and on how many tables each model beats two others."""
    losses, lines = log_losses(), []
    for label, (file, name) in MODELS.items():
        found = losses[file]
        own, naive = found[name], found["naive Bayes" if file == "structure" else "naive_Bayes"]
        assert own.keys() == naive.keys()
        wins = ["" if own is found[other] else better(own, found[other]) for other in ("logistic", "boosting")]
        lines.append((label, f"{sum(own.values()) / sum(naive.values()):.2f}", *wins))
    head = ("model", "mean log loss over `MixedNB()`", "better than logistic", "better than boosting")
    return markdown(head, sorted(lines, key=lambda line: float(line[1])), left=1)


def better(own: Mapping[str, float], other: Mapping[str, float]) -> str:
    return f"{sum(own[table] < other[table] for table in other)} of {len(other)}"


def speed_table() -> str:
    """Seconds of fits and predictions of a million rows, with those of scikit-learn."""
    by_task = {row["task"]: row for row in rows("speed")}
    lines = []
    for label, (fit, predict) in TASKS.items():
        one, two = by_task[fit], by_task[predict]
        times = (f"{seconds(float(row['ours_s']))} ({seconds(float(row['baseline_s']))})" for row in (one, two))
        lines.append((label, one["data"], *times))
    for row in rows("logistic"):
        if row["race"] == "10 classes, 1,000,000 × 50":
            times = f"{seconds(float(row['ours_s']))} ({seconds(float(row['baseline_s']))})"
            lines.append(("`LogisticRegression`", "1,000,000 × 50, 10 classes", times, ""))
    structured = {row["task"]: row for row in rows("structure")}
    for name in ("TreeAugmentedNB", "AODE"):
        found = [(task, row) for task, row in structured.items() if task.startswith(name)]
        times = (seconds(float(row["took_s"])) for _, row in found)
        lines.append((f"`{name}`", found[0][0].partition(", ")[2], *times))
    return markdown(("class", "data", "fit (scikit-learn's)", "predict_proba (scikit-learn's)"), lines, left=2)


def text_table() -> str:
    """Accuracy and log loss of `TextClassifier()` against multinomial naive Bayes of scikit-learn."""
    lines = [(row["task"], *(f"{float(row[key]):.3f}" for key in KEYS)) for row in rows("text_losses")]
    return markdown(("texts", "accuracy", "scikit-learn's", "log loss", "scikit-learn's"), lines, left=1)


KEYS = ("ours_accuracy", "theirs_accuracy", "ours_log_loss", "theirs_log_loss")


def date_of(files: Iterable[str]) -> str:
    """The day of the last change of result files."""
    paths = [str(RESULTS / name) for name in files]
    command = ["git", "log", "-1", "--format=%cs", "--", *paths]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip()


def dates_table() -> str:
    lines = [
        (what, date_of(files), f"`{command}`", ", ".join(f"`{name}`" for name in files))
        for what, (command, files) in FILES.items()
    ]
    return markdown(("what", "measured on", "again by", "files in `bench/results`"), lines, left=4)


def tables() -> dict[str, str]:
    """The tables of docs/choose.md, by the name of their markers."""
    return {"quality": quality_table(), "speed": speed_table(), "text": text_table()}


def main() -> None:
    for name, table in tables().items():
        between(DOCS / "choose.md", name, table)
    between(DOCS / "benchmarks" / "index.md", "dates", f"{dates_table()}\n\n{machine()}")


if __name__ == "__main__":
    main()
