"""Tables in files: the same rows in every format, odd files, and types that turn out late."""

import bz2
import gzip
import io
import lzma
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest

from deciban.errors import DataError
from deciban.io import csv, readers
from deciban.io.csv import CsvDialect

TEXT = "sky,wind,wet\ngrey,3.5,true\nblue,?,false\n,1,true\n"
ROWS = [
    {"sky": "grey", "wind": 3.5, "wet": True},
    {"sky": "blue", "wind": None, "wet": False},
    {"sky": None, "wind": 1.0, "wet": True},
]
TABLE = pa.Table.from_pylist(ROWS)
ARFF = "% c\n@RELATION r\n@attribute sky {grey,blue}\n@attribute wind NUMERIC\n@attribute wet {true,false}\n@data\n"


def zstd(data: bytes) -> bytes:
    return pa.compress(data, codec="zstd", asbytes=True)


def arrow(table: pa.Table, stream: bool) -> bytes:
    out = io.BytesIO()
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


def written(write, table: pa.Table) -> bytes:
    out = io.BytesIO()
    write(table, out)
    return out.getvalue()


SAME = {
    "a.csv": TEXT.encode(),
    "a.tsv": TEXT.replace(",", "\t").encode(),
    "a.txt": TEXT.replace(",", ";").encode(),
    "a.csv.gz": gzip.compress(TEXT.encode()),
    "a.csv.bz2": bz2.compress(TEXT.encode()),
    "a.csv.xz": lzma.compress(TEXT.encode()),
    "a.csv.zst": zstd(TEXT.encode()),
    "wide.csv": ("\ufeff" + TEXT).encode("utf-16-le"),
    "marked.csv": ("\ufeff" + TEXT).encode(),
    "a.parquet": written(parquet.write_table, TABLE),
    "a.feather": written(feather.write_feather, TABLE),
    "a.arrow": arrow(TABLE, stream=False),
    "a.arrows": arrow(TABLE, stream=True),
    "a.jsonl": b'{"sky":"grey","wind":3.5,"wet":true}\n\n{"sky":"blue","wet":false}\n{"wind":1,"wet":true}',
}


@pytest.mark.parametrize("name", SAME)
def test_every_format_gives_the_same_rows(name, tmp_path):
    (tmp_path / name).write_bytes(SAME[name])
    assert readers.read(tmp_path / name).to_pylist() == ROWS


@pytest.mark.parametrize(
    "data", ["grey,3.5,true\nblue,?,false\n?,1,true\n", "{1 3.5}\n{0 blue, 1 ?, 2 false}\n{0 ?,1 1}"]
)
def test_arff_dense_and_sparse(data, tmp_path):
    (tmp_path / "a.arff").write_text(ARFF + data)
    found = readers.read(tmp_path / "a.arff").to_pylist()
    assert found == [{**row, "wet": str(row["wet"]).lower()} for row in ROWS]


def test_folder_of_texts_has_a_class_for_each_sub_folder(tmp_path):
    for label in ("ham", "spam"):
        (tmp_path / label).mkdir()
        (tmp_path / label / "1.txt").write_text(f"this is {label}")
    source = readers.open_path(tmp_path)
    assert source.target == "label"
    assert source.table().to_pydict() == {"text": ["this is ham", "this is spam"], "label": ["ham", "spam"]}


def test_mbox_gives_a_text_for_each_mail(tmp_path):
    (tmp_path / "box").write_text("From a@b Mon Jan  1 00:00:00 2024\nSubject: prize\n\nClaim it\n\n")
    (text,) = readers.read(tmp_path / "box")["text"].to_pylist()
    assert "subject_prize" in text
    assert "Claim it" in text


def test_a_type_that_turns_out_late_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(csv, "BLOCK", 200)
    path = tmp_path / "late.csv"
    path.write_text("a,b\n" + "1,2\n" * 500 + "1.5,x\n")
    found = readers.read(path)
    assert [str(kind) for kind in found.schema.types] == ["double", "string"]
    assert found.to_pylist()[-1] == {"a": 1.5, "b": "x"}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert readers.read("-").equals(found)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b\n1,2\n", ("a", "b")),
        ("1,2\n3,4\n", ("x0", "x1")),
        ("x,y\ny,x\nx,x\n", ("x0", "x1")),
        ("cap,odor\nx,p\nx,a\n", ("cap", "odor")),
        ("a|b\n1,5|2\n", ("a", "b")),
        ("only\n1\n", ("only",)),
    ],
)
def test_header_and_delimiter_are_found_by_looking(text, names):
    assert CsvDialect.at(text.encode()).names == names


def test_latin_text_is_read_and_told(tmp_path):
    path = tmp_path / "old.csv"
    path.write_bytes("name,n\nZoë,1\nAndré,2\n".encode("latin-1"))
    source = readers.open_path(path)
    assert source.table()["name"].to_pylist() == ["Zoë", "André"]
    assert "Latin-1" in source.notes[0]


def test_dates_stay_text(tmp_path):
    (tmp_path / "d.csv").write_text("day,n\n2024-01-01,1\n2024-01-02,2\n")
    assert str(readers.read(tmp_path / "d.csv").schema.field("day").type) == "string"


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("a.csv", b"a,a\n1,2\n", "two columns are named"),
        ("a.parquet", SAME["a.parquet"][:-20], "not a valid Parquet file"),
        ("a.arrow", SAME["a.arrow"][:60], "not a valid Arrow file"),
        ("a.csv.xz", SAME["a.csv.xz"][:-20], "damaged"),
        ("a.csv.zst", SAME["a.csv.zst"][:-8], "damaged"),
        ("a.jsonl", b'{"a": 1}\n[1]\n', "line 2"),
        ("a.jsonl", b'{"a": 1}\n{"a": "x"}\n', "mixes"),
        ("a.arff", (ARFF + "grey,fast,true\n").encode(), "line 7"),
        ("a.arff", (ARFF + "grey,1\n").encode(), "2 fields instead of 3"),
    ],
)
def test_damaged_files_are_told_in_words(name, data, told, tmp_path):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DataError, match="hint: ") as error:
        readers.read(tmp_path / name)
    assert told in str(error.value)


def test_an_interrupted_write_leaves_what_was_there(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")

    def broken():
        yield pa.table({"a": [1]})
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        readers.write(broken(), path)
    assert path.read_text() == "old"
    assert [one.name for one in Path(tmp_path).iterdir()] == ["out.csv"]
