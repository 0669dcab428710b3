"""Results as CSV files and as the tables between the markers of the two READMEs."""

import csv
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from bench.logistic import LEAST_GAP, Outcome
from bench.logistic_stream import Streamed
from bench.memory import Peak
from bench.other import Comparison
from bench.peers import OURS, REFERENCE
from bench.race import Result

HERE = Path(__file__).parent
RESULTS = HERE / "results"
LIBRARIES = ("deciban", "numpy", "scipy", "scikit-learn")


def write(speed: Sequence[Result], memory: Sequence[Peak], other: Sequence[Comparison]) -> None:
    write_csv(RESULTS / "speed.csv", [_speed_row(result) for result in speed])
    write_csv(RESULTS / "memory.csv", [_memory_row(peak) for peak in memory])
    write_csv(RESULTS / "other.csv", [_other_row(comparison) for comparison in other])
    tables = {
        "machine": machine(),
        "speed": speed_table(speed),
        "memory": memory_table(memory),
        "other": other_table(other),
    }
    for name, table in tables.items():
        between(HERE / "README.md", name, table)
    between(HERE.parent / "README.md", "bench", f"{short_table(speed)}\n\n{machine()}")


def write_logistic(outcomes: Sequence[Outcome], streams: Sequence[Streamed]) -> None:
    write_csv(RESULTS / "logistic.csv", [{**asdict(outcome), "ratio": outcome.ratio} for outcome in outcomes])
    write_csv(RESULTS / "logistic_stream.csv", [asdict(streamed) for streamed in streams])
    between(HERE / "README.md", "logistic", logistic_table(outcomes))
    between(HERE / "README.md", "stream", stream_table(streams))


def stream_table(streams: Iterable[Streamed]) -> str:
    rows = ((s.stream, s.who, f"{s.rows_per_s:,.0f}", times(s.speed_ratio), f"{s.excess:.2%}") for s in streams)
    return markdown(("stream", "who", "rows a second", "deciban's over that", "loss over the batch's"), rows, left=2)


def logistic_table(outcomes: Iterable[Outcome]) -> str:
    head = ("task", "baseline", "baseline's time", "deciban", "ratio", "baseline's gap", "our gap", "required", "aim")
    return markdown(head, (_logistic_cells(outcome) for outcome in outcomes), left=2)


def _logistic_cells(o: Outcome) -> tuple[str, ...]:
    return (
        o.race,
        o.baseline,
        seconds(o.baseline_s),
        seconds(o.ours_s),
        times(o.ratio) + (" (missed)" if o.missed else ""),
        _gap(o.baseline_gap, o.baseline_warned),
        _gap(o.our_gap, o.we_warned),
        f"{o.required:g}×" if o.required else "–",
        f"{o.aim:g}×" if o.aim else "–",
    )


def _gap(gap: float, warned: bool) -> str:
    short = "" if gap <= LEAST_GAP else ", not there"
    return f"{max(gap, 0.0):.0e}{short}{', warns' if warned else ''}"


def machine() -> str:
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return f"{_cpu()}, {os.cpu_count()} cores; Python {platform.python_version()}, {libraries}."


def speed_table(results: Iterable[Result]) -> str:
    head = (
        "task",
        "data",
        "baseline",
        "baseline's time",
        "deciban",
        "ratio",
        "spread",
        "required",
        "aim",
        "ours / limit",
    )
    return markdown(head, (_speed_cells(result) for result in results), left=3)


def memory_table(peaks: Iterable[Peak]) -> str:
    """One line a task, one column a library."""
    peaks = list(peaks)
    names = sorted({peak.peer for peak in peaks}, key=lambda name: (name != OURS, name))
    shares: dict[str, dict[str, str]] = {}
    for peak in peaks:
        line = shares.setdefault(peak.task.name, {"X": f"{peak.x_bytes / 1e6:,.0f} MB"})
        line[peak.peer] = f"{peak.share:.1%}"
    rows = ((task, line["X"], *(line.get(name, "–") for name in names)) for task, line in shares.items())
    return markdown(("task", "X", *names), rows)


def other_table(comparisons: Iterable[Comparison]) -> str:
    rows = (
        (c.name, f"{c.first}: {seconds(c.first_s)}", f"{c.second}: {seconds(c.second_s)}", f"{c.ratio:.2f}")
        for c in comparisons
    )
    return markdown(("what", "first", "second", "first / second"), rows)


SHORT = (  # tasks of the table in the README
    "GaussianNB fit",
    "GaussianNB predict_proba",
    "LDA fit",
    "MultinomialNB fit",
    "CategoricalNB predict_proba",
    "GaussianNB predict_proba, one row of iris",
)


def short_table(results: Iterable[Result]) -> str:
    rows = (
        (_with_size(r), seconds(r.baseline_s), seconds(r.ours_s), times(r.ratio))
        for r in results
        if r.baseline == REFERENCE and r.task.name in SHORT
    )
    return markdown(("task", REFERENCE, OURS, "ratio"), rows)


def _with_size(r: Result) -> str:
    """The small tasks have their data in their name."""
    return f"{r.task.name} ({r.task.recipe})" if r.task.recipe.big else r.task.name


def seconds(t: float) -> str:
    """Three digits and a unit: 1.31 s, 14.2 ms, 18.0 µs."""
    for unit, scale in (("s", 1), ("ms", 1e3)):
        if t * scale >= 0.9995:
            return f"{digits(t * scale)} {unit}"
    return f"{digits(t * 1e6)} µs"


def times(ratio: float) -> str:
    return f"{digits(ratio)}×"


def digits(x: float) -> str:
    return f"{x:,.{0 if x >= 99.95 else 1 if x >= 9.995 else 2}f}"


def _speed_cells(r: Result) -> tuple[str, ...]:
    return (
        r.task.name,
        str(r.task.recipe),
        r.baseline,
        seconds(r.baseline_s),
        seconds(r.ours_s),
        times(r.ratio) + (" (missed)" if r.missed else ""),
        f"{digits(min(r.pairs))}–{digits(max(r.pairs))}",
        f"{r.task.required:g}×",
        f"{r.task.aim:g}×" + (f", ≤ {r.task.aim_s * 1e6:g} µs" if r.task.aim_s else ""),
        digits(r.over_limit) if r.over_limit else "",
    )


def _speed_row(r: Result) -> dict[str, object]:
    return {
        "task": r.task.name,
        "data": r.task.recipe,
        "baseline": r.baseline,
        "baseline_s": r.baseline_s,
        "ours_s": r.ours_s,
        "ratio": r.ratio,
        "ratio_min": min(r.pairs),
        "ratio_max": max(r.pairs),
        "repeats": len(r.pairs),
        "required": r.task.required,
        "aim": r.task.aim,
        "aim_s": r.task.aim_s,
        "first_call_s": r.first_call_s,
        "baseline_first_call_s": r.baseline_first_call_s,
        "limit_s": r.limit_s,
        "ours_over_limit": r.over_limit,
        "largest_difference": r.difference,
    }


def _memory_row(p: Peak) -> dict[str, object]:
    return {
        "task": p.task.name,
        "data": p.task.recipe,
        "library": p.peer,
        "x_bytes": p.x_bytes,
        "extra_bytes": p.extra_bytes,
        "share": p.share,
    }


def _other_row(c: Comparison) -> dict[str, object]:
    return {
        "what": c.name,
        "first": c.first,
        "first_s": c.first_s,
        "second": c.second,
        "second_s": c.second_s,
        "first_over_second": c.ratio,
    }


def write_csv(path: Path, rows: list[dict[str, object]]) -> None:
    """Floats to four digits: more would be noise."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(rows[0] if rows else ())
        for row in rows:
            writer.writerow(f"{v:.4g}" if isinstance(v, float) else v for v in row.values())


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    rule = ["---"] * left + ["--:"] * (len(head) - left)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def between(path: Path, name: str, text: str) -> None:
    """Put `text` between the markers of `name`; a file without them is left alone."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    page = path.read_text() if path.exists() else ""
    if begin in page and end in page:
        before, rest = page.split(begin, 1)
        path.write_text(f"{before}{begin}\n{text}\n{end}{rest.split(end, 1)[1]}")


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())
