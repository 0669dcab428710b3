"""`deciban predict` on a large CSV file compared with pandas and scikit-learn: `python -m bench.cli [ROWS]`.

Rows a second and peak memory of both, each in a process of its own, and start-up times compared with `import sklearn`.
The baseline reads, predicts and writes in pieces of 500,000 rows, so that memory is no handicap."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

COLUMNS, CLASSES, PIECE = 8, 3, 500_000
BASELINE = """
import sys
import pandas as pd
from sklearn.naive_bayes import GaussianNB

train, data, out = sys.argv[1:]
rows = pd.read_csv(train)
model = GaussianNB().fit(rows.drop(columns="y"), rows["y"])
first = True
for rows in pd.read_csv(data, chunksize=500_000):
    proba = model.predict_proba(rows.drop(columns="y"))
    rows["predicted"] = model.classes_[proba.argmax(axis=1)]
    for c, label in enumerate(model.classes_):
        rows[f"p_{label}"] = proba[:, c]
    rows.to_csv(out, index=False, header=first, mode="w" if first else "a")
    first = False
"""


def write_rows(path: Path, rows: int) -> None:
    """Three classes of normal rows, with four digits."""
    rng = np.random.default_rng(0)
    means = rng.normal(size=(CLASSES, COLUMNS))
    with open(path, "wb") as file:
        for start in range(0, rows, PIECE):
            y = rng.integers(CLASSES, size=min(PIECE, rows - start))
            X = (rng.normal(size=(len(y), COLUMNS)) + means[y]).round(4)
            table = pa.table({**{f"x{j}": X[:, j] for j in range(COLUMNS)}, "y": np.array(["a", "b", "c"])[y]})
            arrow_csv.write_csv(table, file, arrow_csv.WriteOptions(include_header=start == 0, quoting_style="none"))


def timed(command: list[str], **more) -> tuple[float, float, float]:
    """(seconds, seconds of processor time, peak memory in MB) of a process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, **more)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[:4]} ended with {process.returncode}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def start_up(folder: Path, model: Path) -> None:
    """Medians of ten, interleaved."""
    one = folder / "one.csv"
    with open(folder / "data.csv") as file:
        one.write_text(file.readline() + file.readline())
    commands = {
        "deciban --help": [sys.executable, "-m", "deciban", "--help"],
        "deciban predict, one row": [sys.executable, "-m", "deciban", "predict", str(model), str(one)],
        "import sklearn": [sys.executable, "-c", "import sklearn"],
        "python -c pass": [sys.executable, "-c", "pass"],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(10):
        for name, command in commands.items():
            times[name].append(timed(command, stdout=subprocess.DEVNULL)[0])
    for name, each in times.items():
        print(f"{name:26} {statistics.median(each):6.3f} s (least {min(each):.3f})")


def main(rows: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data, model = folder / "data.csv", folder / "m.deciban"
        write_rows(data, rows)
        write_rows(folder / "train.csv", 100_000)
        fit = [sys.executable, "-m", "deciban", "fit", "-q", "-t", "y", "--model", "gaussian", "-o", str(model)]
        timed([*fit, str(folder / "train.csv")], stdout=subprocess.DEVNULL)
        ours = [sys.executable, "-m", "deciban", "predict", str(model), str(data), "-o", str(folder / "ours.csv")]
        theirs = [sys.executable, "-c", BASELINE, str(folder / "train.csv"), str(data), str(folder / "theirs.csv")]
        load = os.getloadavg()[0]
        (a, work, most), (b, labour, baseline) = timed(ours), timed(theirs)
        print(f"{rows:,} rows, {data.stat().st_size / 1e6:,.0f} MB of CSV, load {load:.1f}")
        for name, seconds, worked, memory in (
            ("deciban predict", a, work, most),
            ("pandas + scikit-learn", b, labour, baseline),
        ):
            figures = (
                f"{seconds:7.1f} s  {rows / seconds:12,.0f} rows/s  {worked:7.1f} s of work  {memory:6.0f} MB at most"
            )
            print(f"{name:22} {figures}")
        print(f"{'ratio':22} {b / a:7.1f} ×, of work {labour / work:.1f} ×")
        start_up(folder, model)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000)
