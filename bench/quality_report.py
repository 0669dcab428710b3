"""The quality page and its CSV: one table per measure (rows: data sets, columns: libraries), and the number of wins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.frame_race import REQUIRED, FrameResult
from bench.libraries import OURS, REFERENCE, ordered
from bench.measures import Measures
from bench.report import RESULTS, digits, machine, markdown, seconds, times, write_csv
from bench.tables import Table

PAGE = Path(__file__).parent / "QUALITY.md"
Scores = Mapping[str, Mapping[str, Measures]]  # set → library → measures
MEASURES = {
    "log_loss": ("Log loss", "{:.4f}", min),
    "accuracy": ("Accuracy", "{:.2%}", max),
    "brier": ("Brier score", "{:.4f}", min),
    "ece": ("Expected calibration error", "{:.4f}", min),
}
LOG_LOSS_SHARE, ACCURACY_SHARE, ECE_RATIO = 0.9, 0.7, 0.5  # required against REFERENCE
INTRO = f"""\
# Quality

`make quality` (or `python -m bench.quality_tables`) writes this page and `results/quality.csv`. Every table has its
standard split where there is one, else ten stratified folds with a fixed seed, whose predictions are pooled.
`measures.py` says how the four numbers are defined; with few rows even a perfectly calibrated model has a calibration
error above zero. `libraries/` has one small file each:

- **{OURS}**: `MixedNB(calibrate=True)`, all other settings default.
- **deciban, default**: `MixedNB()`, which also updates, merges and forgets.
- **{REFERENCE}**: scikit-learn as its user would write it: imputation, then `GaussianNB` for numbers,
  `CategoricalNB` for names, one-hot columns and `GaussianNB` for both. The requirements are against this one.
- **logistic**: scikit-learn's `LogisticRegression` with imputation, scaling and one-hot columns.
- **boosting**: scikit-learn's `HistGradientBoostingClassifier`, defaults; a far anchor.
- **naive Bayes, binned**: scikit-learn with more care: ten quantile bins a number, then `CategoricalNB`.

The best of each line is bold; – means that there is no answer.
"""


@dataclass(frozen=True)
class Against:
    """How ours does against one baseline, over the sets the baseline has an answer for; no answer of ours is a loss."""

    baseline: str
    sets: int
    better: Mapping[str, int]  # measure → sets
    ties: int  # in accuracy
    ours_ece: float  # means over sets
    baseline_ece: float

    @property
    def ece_ratio(self) -> float:
        return self.ours_ece / self.baseline_ece

    def share(self, measure: str) -> float:
        return self.better[measure] / self.sets


def against(scores: Scores, baseline: str) -> Against:
    pairs = [(line.get(OURS), line[baseline]) for line in scores.values() if baseline in line]
    both = [(ours, theirs) for ours, theirs in pairs if ours]
    better = {
        measure: sum(_value(ours, measure) * sign < _value(theirs, measure) * sign for ours, theirs in both)
        for measure, sign in (("log_loss", 1), ("accuracy", -1), ("brier", 1), ("ece", 1))
    }
    return Against(
        baseline=baseline,
        sets=len(pairs),
        better=better,
        ties=sum(ours.hits == theirs.hits for ours, theirs in both),
        ours_ece=sum(ours.ece for ours, _ in both) / len(both),
        baseline_ece=sum(theirs.ece for _, theirs in both) / len(both),
    )


def verdict(a: Against) -> list[tuple[str, str, str, bool]]:
    """(what, found, required, met) of each requirement against the reference."""
    return [
        (
            "sets with better log loss",
            f"{a.share('log_loss'):.0%}",
            f"≥ {LOG_LOSS_SHARE:.0%}",
            a.share("log_loss") >= LOG_LOSS_SHARE,
        ),
        (
            "sets with better accuracy",
            f"{a.share('accuracy'):.0%}",
            f"≥ {ACCURACY_SHARE:.0%}",
            a.share("accuracy") >= ACCURACY_SHARE,
        ),
        (
            "mean calibration error, ours / theirs",
            f"{a.ece_ratio:.2f}",
            f"≤ {ECE_RATIO:g}",
            a.ece_ratio <= ECE_RATIO,
        ),
    ]


def page(tables: Sequence[Table], scores: Scores, races: Sequence[FrameResult]) -> str:
    parts = [INTRO, machine(), "## Summary", *_summary(scores)]
    for measure, (title, _, best) in MEASURES.items():
        direction = "more" if best is max else "less"
        parts += [f"## {title} ({direction} is better)", measure_table(scores, measure)]
    parts += ["## Sets", set_table(tables)]
    if races:
        parts += ["## Speed", SPEED, race_table(races)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


SPEED = f"""\
Adult, all rows: `fit` and then `predict_proba` of the same frame, {OURS} and {REFERENCE} in turn in one process with
threads at their defaults. The ratio is the median over pairs of runs that followed each other, the spread their
smallest and largest."""


def _summary(scores: Scores) -> list[str]:
    names = libraries(scores)
    if OURS not in names:
        return ["Not yet: ours has no answers."]
    baselines = [against(scores, name) for name in names if name != OURS]
    head = ("ours against", "sets", "better log loss", "better accuracy", "ties", "better Brier", "better ECE")
    rows = (
        (
            a.baseline,
            str(a.sets),
            *(_of(a, m) for m in ("log_loss", "accuracy")),
            str(a.ties),
            _of(a, "brier"),
            _of(a, "ece"),
        )
        for a in baselines
    )
    means = ((a.baseline, f"{a.ours_ece:.4f}", f"{a.baseline_ece:.4f}", f"{a.ece_ratio:.2f}") for a in baselines)
    reference = [a for a in baselines if a.baseline == REFERENCE]
    required = (
        (what, found, wanted, "yes" if met else "**no**") for a in reference for what, found, wanted, met in verdict(a)
    )
    return [
        f"Required, against {REFERENCE} (a tie is not better):",
        markdown(("what", "found", "required", "met"), required),
        "Against everyone:",
        markdown(head, rows),
        "Expected calibration error, mean over the sets:",
        markdown(("against", "ours", "theirs", "ours / theirs"), means),
    ]


def measure_table(scores: Scores, measure: str) -> str:
    names = libraries(scores)
    rows = ((name, *_cells(line, names, measure)) for name, line in scores.items())
    return markdown(("set", *names), rows)


def _cells(line: Mapping[str, Measures], names: Sequence[str], measure: str) -> list[str]:
    _, form, best = MEASURES[measure]
    shown = {name: form.format(_value(m, measure)) for name, m in line.items()}
    # What looks equal is equally best.
    winner = form.format(best(_value(m, measure) for m in line.values())) if line else ""
    return [f"**{shown[n]}**" if shown.get(n) == winner else shown.get(n, "–") for n in names]


def set_table(tables: Sequence[Table]) -> str:
    rows = (
        (
            t.name,
            f"{len(t.X):,}",
            str(len(t.numeric)),
            str(len(t.nominal)),
            f"{t.missing:,}",
            str(len(t.classes)),
            f"standard, {int((~t.split).sum()):,} test rows" if t.split is not None else f"{len(t.folds())} folds",
        )
        for t in tables
    )
    return markdown(("set", "rows", "numbers", "names", "missing cells", "classes", "split"), rows)


def race_table(races: Sequence[FrameResult]) -> str:
    rows = (
        (
            r.frame,
            r.ours,
            seconds(r.baseline_s),
            seconds(r.ours_s),
            times(r.ratio) + (" (missed)" if r.missed else ""),
            f"{digits(min(r.pairs))}–{digits(max(r.pairs))}",
            f"{REQUIRED:g}×",
        )
        for r in races
    )
    return markdown(("frame", "ours", REFERENCE, OURS, "ratio", "spread", "required"), rows, left=2)


def write(tables: Sequence[Table], scores: Scores, races: Sequence[FrameResult]) -> None:
    write_csv(RESULTS / "quality.csv", [_row(s, name, m) for s, line in scores.items() for name, m in line.items()])
    if races:
        write_csv(RESULTS / "quality_speed.csv", [_race_row(r) for r in races])
    PAGE.write_text(page(tables, scores, races))


def libraries(scores: Scores) -> list[str]:
    return ordered({name for line in scores.values() for name in line})


def _of(a: Against, measure: str) -> str:
    return f"{a.better[measure]} ({a.share(measure):.0%})"


def _value(m: Measures, measure: str) -> float:
    return getattr(m, measure)


def _row(table: str, name: str, m: Measures) -> dict[str, object]:
    measures = {measure: _value(m, measure) for measure in MEASURES}
    return {"set": table, "library": name, "rows": m.rows, "hits": m.hits, **measures}


def _race_row(r: FrameResult) -> dict[str, object]:
    return {
        "frame": r.frame,
        "ours": r.ours,
        "ours_s": r.ours_s,
        "baseline_s": r.baseline_s,
        "ratio": r.ratio,
        "ratio_min": min(r.pairs),
        "ratio_max": max(r.pairs),
        "repeats": len(r.pairs),
    }
