"""Files of tables that were changed: read, learned from and predicted, as `fit_on` and `predict_on` do."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

from deciban import GaussianNB, MixedNB
from deciban.io import readers

from .mutations import mutated
from .runner import Case, Part, check_proba

CELLS = [
    *("", " ", "?", "NA", "nan", "inf", "-inf", "1e999", "-0", "0x1F", "1_000", "1,5", "١٢", "9" * 40, "1e-400"),
    *('"', '""', '"a', 'a"b', "'", "\\", "\\n", ",", ";", "\t", "\n", "\r", "\r\n", "\x00", "\x1b[2J", "\ufeff"),
    *("\u2028", "é", "e\u0301", "\U0001f600", "{", "}", "[", "%", "@data", "#", "x" * 3000, "2020-01-01", "true"),
]
JSON = [
    *("1", "-0", "1e999", "9" * 30, "null", "true", '""', '"a"', "[]", "{}", "[1, 2]", '{"a": 1}', "NaN", "Infinity"),
    *("[" * 3000, '{"a":' * 500, '"\\ud800"', '"\\u0000"', "1.5.5", "'a'", '{"x": 1, "x": 2}', "1e5", "0.1", "-"),
]
ARFF = [
    *("@relation", "@attribute x real", "@attribute", "@attribute 'q", "@attribute s {a,b", "@attribute s {}", "@data"),
    *("@attribute \t", "@attribute x ' '", "%", "{0 1}", "{² 1}", "{0}", "{}", "{0 }", "{9 9}", "{5 a, 5 b}", "{"),
]
PACKED = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda raw: pa.compress(raw, "zstd", True),
}
MARKS = [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x00", b"\n\n", b"#", b"sep=;\n"]
CODECS = ["utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "utf-7", "shift-jis"]
ROWS = [  # to predict, by the names of the columns of the files
    {"size": 1.5, "count": 2, "sky": "grey", "ok": True, "day": None, "label": "a"},
    {"size": None, "count": -7, "sky": "\x00", "ok": None, "day": "x", "label": "b"},
]


def table(n: int = 30) -> pa.Table:
    """Columns of every usual type, with missing cells."""
    rng = np.random.default_rng(0)
    gap = lambda cells: [None if i % 7 == 3 else cell for i, cell in enumerate(cells)]  # noqa: E731
    return pa.table(
        {
            "size": gap(rng.normal(size=n).round(2).tolist()),
            "count": pa.array(gap(rng.poisson(3, n).tolist()), pa.int32()),
            "sky": pa.array(gap(rng.choice(["grey", "blue", "red, hot"], n).tolist())).dictionary_encode(),
            "ok": gap([bool(i % 3) for i in range(n)]),
            "day": pa.array(gap([18_000 + i % 5 for i in range(n)]), pa.date32()),
            "label": ["abc"[i % 3] for i in range(n)],
        }
    )


def prepare(folder: Path) -> dict[str, bytes]:
    """The same table in every format."""
    rows, plain = table(), table().set_column(2, "sky", table()["sky"].cast(pa.string()))
    files: dict[str, bytes] = {}
    for name, options in (("feather", {"compression": "zstd"}), ("arrow", {"compression": "uncompressed"})):
        feather.write_feather(rows, file := io.BytesIO(), **options)
        files[name] = file.getvalue()
    with pa.ipc.new_stream(file := io.BytesIO(), rows.schema) as writer:
        writer.write_table(rows)
    files["stream.arrow"] = file.getvalue()
    for name, options in (("parquet", {}), ("small.parquet", {"row_group_size": 7, "use_dictionary": False})):
        pq.write_table(rows, file := io.BytesIO(), **options)
        files[name] = file.getvalue()
    lines = plain.to_pylist()
    for row in lines:
        row["day"] = row["day"] and str(row["day"])
    cell = lambda value: "" if value is None else f'"{value}"' if "," in str(value) else str(value)  # noqa: E731
    body = [[cell(row[name]) for name in rows.column_names] for row in lines]
    files["csv"] = "\n".join(map(",".join, [rows.column_names, *body, []])).encode()
    files["tsv"] = "\r\n".join(map("\t".join, [rows.column_names, *body])).encode()
    files["jsonl"] = "\n".join(map(json.dumps, lines)).encode()
    files["json"] = json.dumps(lines).encode()
    head = "@relation r\n@attribute size real\n@attribute count integer\n@attribute sky {grey,blue,'red, hot'}\n"
    head += "@attribute ok {True,False}\n@attribute day string\n@attribute label {a,b,c}\n@data\n"
    cells = [[f"'{c[1:-1]}'" if c.startswith('"') else c or "?" for c in row] for row in body]
    files["arff"] = (head + "\n".join(map(",".join, cells))).encode()
    return files


def run(files: dict[str, bytes], case: Case) -> None:
    """One file: read it, learn from it, predict rows of it."""
    rng = case.rng
    kind = rng.choice(sorted(files))
    content = files[kind]
    if kind.partition(".")[2] or kind in ("feather", "arrow", "parquet") or rng.random() < 0.4:
        content = mutated(content, files[rng.choice(sorted(files))], rng)
    else:
        content = edited(content, kind, rng)
    name = f"t.{kind}"
    if rng.random() < 0.2:
        ending = rng.choice(sorted(PACKED))
        packed = PACKED[ending](content)
        content, name = mutated(packed, files["csv"], rng) if rng.random() < 0.5 else packed, f"{name}.{ending}"
    path = case.folder / name
    path.write_bytes(content)
    try:
        use(path, case)
    finally:
        path.unlink()


def use(path: Path, case: Case) -> None:
    """Read a file in each of the ways that there are."""
    found = case.attempt(lambda: readers.read(path))
    model = case.attempt(lambda: MixedNB().fit_on(path, target="label"))
    if case.rng.random() < 0.2:
        case.attempt(lambda: GaussianNB().fit_on(path, target="label"))
    if model is None:
        return
    case.attempt(
        lambda: check_proba(model.predict_proba({name: [row.get(name) for row in ROWS] for name in columns(model)}))
    )
    if found is not None:
        case.attempt(lambda: check_proba(model.predict_proba(found), found.num_rows))
    case.attempt(lambda: model.predict_on(path))


def columns(model: Any) -> list[str]:
    return list(model.feature_names_in_)


def edited(content: bytes, kind: str, rng: Random) -> bytes:
    """A text with other cells, delimiters, lines and marks, in any character set."""
    ends = "\r\n" if kind == "tsv" else "\n"
    lines = content.decode().split(ends)
    for _ in range(rng.choice([1, 1, 2, 5])):
        at = rng.randrange(len(lines))
        match rng.randrange(9):
            case 0 | 1 | 2:
                lines[at] = with_cell(lines[at], kind, rng)
            case 3:
                lines[at:at] = rng.choice([[""], ["," * 9], [lines[at]] * 3, [lines[0]], ["x" * 70_000], ["\t"]])
            case 4:
                del lines[at : at + rng.choice([1, 2, 30])]
            case 5:
                ends = rng.choice(["\n", "\r", "\r\n", "\n\r", "", "\n\n", "\x0b", "\u2028"])
            case 6:
                old, new = rng.choice(",\t{}[]\":' "), rng.choice([",", ";", "|", "\t", " ", "", '"', "\x00", ",,"])
                lines = [line.replace(old, new) for line in lines]
            case 7:
                at = rng.choice([at, *(i for i, line in enumerate(lines) if line[:1] == "@")])
                lines[at] = rng.choice(ARFF) if kind == "arff" else lines[at] + rng.choice(CELLS)
            case _:
                names = {
                    '"size"' if "json" in kind else "size": rng.choice(["count", "label", "", "a b", "1", "\x1b", "é"])
                }
                for old, new in names.items():
                    lines = [line.replace(old, new, 1) for line in lines]
        if not lines:
            lines = [""]
    text = ends.join(lines)
    raw = text.encode("utf-8", "surrogatepass")
    if rng.random() < 0.15:
        raw = text.encode(rng.choice(CODECS), "replace")
    return rng.choice(MARKS) + raw if rng.random() < 0.15 else raw


def with_cell(line: str, kind: str, rng: Random) -> str:
    """A line with another cell."""
    split = "\t" if kind == "tsv" else ","
    cells = line.split(split)
    at = rng.randrange(len(cells))
    if "json" in kind:
        name, colon, _ = cells[at].partition(":")
        cells[at] = name + colon + rng.choice(JSON)
    else:
        cells[at] = rng.choice(CELLS)
    return split.join(cells)


PART = Part("tables", 5_000, prepare, run)
