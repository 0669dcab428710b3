"""One table, written in any dialect of CSV, is read as the same table."""

import csv
import io
import random
from typing import Any

import numpy as np
import pytest

from deciban import MixedNB
from deciban.io import csv as delimited
from deciban.io import csv as passing
from deciban.io import readers

WORDS = ["red", "blue", "dark red", "Ülm", "a;b", "c|d", "x, y", 'say "hi"']
DRAW = {
    "int": lambda r: r.randint(0, 99),
    "real": lambda r: round(r.gauss(10, 5), 2),
    "large": lambda r: r.randint(1000, 9_999_999),
    "word": lambda r: r.choice(WORDS),
}


def table(r: random.Random) -> tuple[list[str], list[list[Any]], list[str]]:
    """(kinds, columns, labels); None is a missing cell."""
    n = r.randint(6, 40)
    kinds = [r.choice(list(DRAW)) for _ in range(r.randint(1, 5))]
    columns = [[None if i > 0 and r.random() < 0.1 else DRAW[kind](r) for i in range(n)] for kind in kinds]
    return kinds, columns, [r.choice("ab") for _ in range(n - 2)] + ["a", "b"]


def written(r: random.Random, kinds: list[str], columns: list[list[Any]], y: list[str]) -> str:
    delimiter = r.choice(",;\t|")
    comma, thousands = delimiter != "," and r.random() < 0.4, r.random() < 0.3
    none = r.choice(["", " ", "NA", "-", "none", "?"])
    index, ends = r.choice(["no", "nameless", "without a head"]), [""] * (r.random() < 0.2)
    above = r.choice(["", "\n", "# by me, today\n", "A title\n\n", f"sep={delimiter}\n"])

    def cell(kind: str, value: Any) -> str:
        if value is None:
            return "" if kind == "word" and none in ("-", "none") else none
        if kind == "word":
            return value
        text = f"{value:,}" if thousands and kind == "large" else repr(value)
        return text.translate(str.maketrans(",.", ".,")) if comma else text

    out = io.StringIO()
    writer = csv.writer(
        out,
        delimiter=delimiter,
        lineterminator=r.choice(["\n", "\r\n"]),
        quoting=r.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    )
    names = [f"c{j}" if j % 3 else str(j) for j in range(len(kinds))]
    writer.writerow([*[""] * (index == "nameless"), *names, "y", *ends])
    for i, label in enumerate(y):
        row = [cell(kind, column[i]) for kind, column in zip(kinds, columns, strict=True)]
        writer.writerow([*[str(i)] * (index != "no"), *row, label, *ends])
    return above + out.getvalue()


@pytest.mark.filterwarnings("ignore")  # how some cells are read
@pytest.mark.parametrize("seed", range(60))
def test_every_dialect_is_read_as_the_same_table(seed, tmp_path, monkeypatch):
    r = random.Random(seed)
    kinds, columns, y = table(r)
    path = tmp_path / "rows.csv"
    path.write_bytes(written(r, kinds, columns, y).encode())
    for module in (delimited, passing):
        monkeypatch.setattr(module, "BLOCK", r.choice([150, 400, 1 << 20]))
    found = readers.read(path, expected=("y",))
    assert [column.to_pylist() for column in found.columns] == [*columns, y]
    X = found.drop_columns(["y"])
    model = MixedNB().fit_on(path, "y")
    np.testing.assert_allclose(model.predict_proba(X), MixedNB().fit(X, np.array(y)).predict_proba(X))
    for ending in ("csv", "parquet"):
        model.predict_on(path, out=tmp_path / f"out.{ending}")
        answers = readers.read(tmp_path / f"out.{ending}", expected=("y", "predicted"))
        np.testing.assert_allclose(answers["p_a"].to_numpy(), model.predict_proba(X)[:, 0])
