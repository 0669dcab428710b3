"""Data larger than memory: a folder of Parquet files is fitted in one pass, compared with reading it.

    python -m bench.out_of_core FOLDER --gigabytes 10

writes the folder (unless it is large enough), runs every reader and model in a process of its own, in turn and
`--rounds` times, and prints rows/s, the share of the plain reader's speed, and peak resident memory. Kill it when you
like, and delete the folder afterwards: `--delete` does.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from bench import report

NUMBERS, TEXTS, CLASSES, ROWS, GROUP, DIFFERENT = 20, 4, 3, 1_000_000, 100_000, 5
NAMES = [f"x{j}" for j in range(NUMBERS)]
LEVELS = ["amber", "blue", "crimson", "dun", "ebony", "fawn", "green", "hazel"]
TEXTS_TOO = [*NAMES, *(f"colour{j}" for j in range(TEXTS))]
MODELS = {  # (columns, target, model)
    "GaussianNB": (NAMES, "label", lambda d: d.GaussianNB()),
    "LinearDiscriminantAnalysis": (NAMES, "label", lambda d: d.LinearDiscriminantAnalysis()),
    "MixedNB, families named": (TEXTS_TOO, "label", lambda d: d.MixedNB(families=dict.fromkeys(NAMES, "gaussian"))),
    "MixedNB, families chosen": (TEXTS_TOO, "label", lambda d: d.MixedNB()),
    "LogisticRegression, two classes": (NAMES, "two", lambda d: d.LogisticRegression()),
}


HEAD = """| model | rows | plain reading, s | fit_on, s | speed relative to plain reading | peak memory, MB |
|---|---|---|---|---|---|"""


def write(folder: Path, gigabytes: float) -> None:
    """Files of a million rows until there are enough of them. The first few are all different, later ones copies:
    they take as long to read, and far less to write."""
    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir(parents=True, exist_ok=True)
    number = 0
    while sum(file.stat().st_size for file in folder.glob("*.parquet")) < gigabytes * 1e9:
        part = folder / f"part-{number:05}.parquet"
        if number >= DIFFERENT:
            shutil.copyfile(folder / f"part-{number % DIFFERENT:05}.parquet", part)
            number += 1
            continue
        rng = np.random.default_rng(number)
        y = rng.integers(0, CLASSES, ROWS)
        columns = {name: rng.normal(y * (j % 3), 1.0) for j, name in enumerate(NAMES)}
        for j in range(TEXTS):
            code = (y + rng.integers(0, 3, ROWS) * (j + 1)) % len(LEVELS)
            columns[f"colour{j}"] = pa.DictionaryArray.from_arrays(code.astype(np.int32), LEVELS).dictionary_decode()
        columns |= {"label": y, "two": y > 0}
        parquet.write_table(pa.table(columns), part, row_group_size=GROUP)
        number += 1


def read(folder: Path, columns: list[str]) -> int:
    """Plainly: every batch is read and let go."""
    from pyarrow import parquet

    rows = 0
    for path in sorted(folder.glob("*.parquet")):
        for batch in parquet.ParquetFile(path).iter_batches(columns=columns):
            rows += batch.num_rows
    return rows


def once(folder: Path, name: str, plain: bool) -> None:
    """One pass in this process; prints what it took."""
    import deciban
    from deciban.io import readers  # noqa: F401 (what is imported once is no part of reading)

    features, target, make = MODELS[name]
    model = make(deciban)
    start = time.perf_counter()
    if plain:
        rows = read(folder, [*features, target])
    else:
        model.fit_on(folder, target, features)
        rows = int(model.class_count_.sum())
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"rows": rows, "seconds": seconds, "peak": peak}))


def measured(folder: Path, name: str, plain: bool) -> dict:
    command = [sys.executable, "-m", "bench.out_of_core", str(folder), "--once", name, *(["--plain"] if plain else [])]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def line(name: str, plain: tuple[dict, ...], fits: tuple[dict, ...]) -> str:
    """The best of all runs, and the worst peak."""
    reading, fit = (min(runs, key=lambda run: run["seconds"]) for runs in (plain, fits))
    assert reading["rows"] == fit["rows"]
    ratio, peak = reading["seconds"] / fit["seconds"], max(run["peak"] for run in fits) / 1e6
    return f"| {name} | {fit['rows']:,} | {reading['seconds']:.1f} | {fit['seconds']:.1f} | {ratio:.2f} | {peak:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gigabytes", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    parser.add_argument("--once", help=argparse.SUPPRESS)
    parser.add_argument("--plain", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--write", action="store_true", help="put the table into SCALING.md")
    parser.add_argument("--delete", action="store_true", help="delete the folder at the end")
    asked = parser.parse_args()
    if asked.once:
        once(asked.folder, asked.once, asked.plain)
        return
    write(asked.folder, asked.gigabytes)
    size = sum(file.stat().st_size for file in asked.folder.glob("*.parquet"))
    lines = [f"{size / 1e9:.1f} GB of Parquet, {NUMBERS} numbers and {TEXTS} texts a row.\n", HEAD]
    print("\n".join(lines))
    for name in asked.models:
        runs = [(measured(asked.folder, name, True), measured(asked.folder, name, False)) for _ in range(asked.rounds)]
        lines.append(line(name, *zip(*runs, strict=True)))
        print(lines[-1], flush=True)
    if asked.write:
        report.between(report.HERE / "SCALING.md", "out of core", "\n".join([*lines, "", report.machine()]))
    if asked.delete:
        shutil.rmtree(asked.folder)


if __name__ == "__main__":
    main()
