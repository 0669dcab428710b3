"""Data that another process changes while they are read: an error at every moment, in every format.

A change is one of size, time of modification, or file (by its number). So a file that is rewritten in place, in the
same size, within the tick of the clock (some milliseconds) of its last change before is not noticed; nor are one whose
time is set back, standard input and pipes, which have no other version, or a file that is in memory already.
"""

from __future__ import annotations

import gzip
import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import deciban
from deciban.errors import DataError
from deciban.io import csv, folders, readers, source

from .operations import CommandError, command, state_of

ROWS, PIECE = 400, 100


def write_table(path: Path, shift: float = 0.0, n: int = ROWS) -> None:
    """Rows in a file of four pieces."""
    x = np.arange(n) % 7 + shift
    rows = pa.table({"x": x, "z": x % 3, "y": ["a", "b"] * (n // 2)})
    ending = path.name.partition(".")[2]
    if ending == "parquet":
        pq.write_table(rows, path, row_group_size=PIECE)
    elif ending == "arff":
        lines = [f"{a},{b},{c}" for a, b, c in zip(*rows.to_pydict().values(), strict=True)]
        path.write_text(
            "\n".join(["@relation r", *(f"@attribute {one} numeric" for one in "xz"), "@attribute y {a,b}"])
        )
        with path.open("a") as file:
            file.write("\n@data\n" + "\n".join(lines) + "\n")
    else:
        readers.write(rows.to_batches(max_chunksize=PIECE), path)


def write_texts(folder: Path, shift: float = 0.0) -> None:
    for i in range(6):
        where = folder / "ab"[i % 2] / f"{i}.txt"
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(f"word{i} number{shift:g} " * 20)


def make(name: str, shift: float = 0.0) -> Path:
    """Data of a name with an ending; of a name without, a folder. Returns the file that is changed."""
    path = Path(name)
    if name == "texts":
        write_texts(path, shift)
        return path / "b" / "3.txt"
    if path.suffix:
        write_table(path, shift)
        return path
    path.mkdir(exist_ok=True)
    for i in range(3):
        write_table(path / f"{i}.csv", shift)
    return path / "1.csv"


DATA = ("rows.csv", "rows.csv.gz", "rows.jsonl", "rows.parquet", "rows.arrow", "rows.arff", "folder", "texts")


def rewrite(path: Path) -> None:
    """Other bytes, as many as before, in the same file."""
    content = path.read_bytes()
    with path.open("r+b") as file:
        file.write(content[::-1])


def append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(gzip.compress(b"1,1,a\n") if path.suffix == ".gz" else b"1,1,a\n")


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def replace(path: Path) -> None:
    """Another table of the same size and time, renamed."""
    other = path.with_name(f"_new.{path.name.partition('.')[2]}")
    shutil.copy2(path, other)
    os.replace(other, path)


def add(path: Path) -> None:
    """Another file in the folder."""
    shutil.copy2(path, path.with_name(f"new{path.suffix}"))


CHANGES = (rewrite, append, truncate, replace)


@contextmanager
def at_moment(number: int | None, change: Callable[[], None]) -> Iterator[list[int]]:
    """Context manager: the change happens at the moment with this number. Moments are before every piece, after every
    batch, and after every report of progress. Gives the list of moments."""
    seen: list[int] = []

    def moment() -> None:
        if len(seen) == number:
            change()
        seen.append(len(seen))

    checked = source.checked

    def each(rows: Callable[[], Iterator]) -> Iterator:
        moment()
        for batch in rows():
            moment()
            yield batch

    def at_each(rows: Callable[[], Iterator], stamps: Any) -> Iterator:
        return checked(partial(each, rows), stamps)

    with (
        patch.object(source, "checked", at_each),
        patch.object(folders, "checked", at_each),
        patch.object(csv, "BLOCK", 2000),
        patch.object(csv, "LINES_BLOCK", 2000),
        deciban.threads(1),
    ):
        seen_progress.append(moment)
        yield seen
        seen_progress.pop()


seen_progress: list[Callable[[], None]] = []


def report(rows: int, share: float | None) -> None:
    seen_progress[-1]()


def fit_on(model: Any, data: str) -> None:
    texts = data == "texts"
    model = deciban.TextClassifier("multinomial") if texts else model
    target = "label" if texts else "y"
    model.fit_on(data, target=target, progress=report)


def predict(data: str) -> None:
    deciban.load("t.deciban" if data == "texts" else "m.deciban").predict_on(data, out="out.csv", progress=report)


READERS: dict[str, Callable[[str], None]] = {
    "fit_on, one pass": lambda data: fit_on(deciban.GaussianNB(), data),
    "fit_on, several passes": lambda data: fit_on(deciban.LogisticRegression(), data),
    "predict_on": predict,
    "deciban fit": lambda data: command(
        f"fit -q {data} --model {'text' if data == 'texts' else 'gaussian'} -o f.deciban"
    ),
    "deciban fit --stream": lambda data: command(f"fit -q {data} --stream -o f.deciban"),
    "deciban update": lambda data: command(f"update {'t' if data == 'texts' else 'm'}.deciban {data}"),
    "deciban predict": lambda data: command(f"predict {'t' if data == 'texts' else 'm'}.deciban {data} -o out.csv"),
}


def outcome() -> dict[str, bytes]:
    """What readers write: models and predictions."""
    written = {"f.deciban", "m.deciban", "t.deciban"}
    return {
        name: content for name, content in state_of(Path()).items() if name in written or name.startswith("out.csv")
    }


def check_reader(name: str, data: str, change: Callable[[Path], None], moments: int | None, rng: random.Random) -> int:
    """A reader of data that change at each of some moments (None: all); the number of moments."""
    read = READERS[name]

    def attempt(number: int | None) -> list[int]:
        for one in (data, "f.deciban", "out.csv"):
            shutil.rmtree(one) if Path(one).is_dir() else Path(one).unlink(missing_ok=True)
        path = make(data)
        for one in path.parent.iterdir():
            os.utime(one, (1e9, 1e9))  # not within a tick of the change
        with at_moment(number, lambda: change(path)) as seen:
            read(data)
        return seen

    before = {one: Path(f"{one}.deciban").read_bytes() for one in "mt"}
    seen = attempt(None)
    assert seen, f"{name} of {data} has no moments"
    after = outcome()
    may_pass = "predict" in name or (change is add and "fit_on" not in name)  # rows of before, all of them
    for number in seen if moments is None else rng.sample(seen, min(moments, len(seen))):
        where = f"{name} of {data}, {change.__name__} at moment {number} of {len(seen)}"
        for one, content in before.items():
            Path(f"{one}.deciban").write_bytes(content)
        try:
            attempt(number)
        except (DataError, CommandError) as error:
            assert "was changed while it was read" in str(error), f"{where}: {error}"
            written = [one for one in ("f.deciban", "out.csv") if os.path.exists(one)]
            assert not written, f"{where}: {written} was written"
            kept = {one: Path(f"{one}.deciban").read_bytes() for one in before}
            assert kept == before, f"{where}: the model is another"
        else:
            assert may_pass, f"{where}: no error"
            assert outcome() == after, f"{where}: no error, and another result"
    for one, content in before.items():
        Path(f"{one}.deciban").write_bytes(content)
    return len(seen)


def prepare_models() -> None:
    for name, model, data in (
        ("m", deciban.GaussianNB(), "rows.csv"),
        ("t", deciban.TextClassifier("multinomial"), "texts"),
    ):
        make(data)
        target = "label" if data == "texts" else "y"
        deciban.save(model.fit_on(data, target=target), f"{name}.deciban", target=target, text=None)


def changes(count: int, rng: random.Random, folder: Path) -> str:
    """Every reader, format and change, at `count` moments each."""
    tried = 0
    with chdir(folder):
        prepare_models()
        for name in READERS:
            for data in DATA:
                for change in (*CHANGES, *((add,) if not Path(data).suffix else ())):
                    tried += min(check_reader(name, data, change, count, rng), count)
    return f"{tried} changes of files that are read: errors, or predictions for all rows of before"
