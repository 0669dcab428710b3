"""Small files that take much time or memory: texts of many blanks, lines without an end, bombs, pipes."""

import gzip
import os

import pytest

from deciban import load
from deciban.cli import main
from deciban.errors import DataError, ModelFileError
from deciban.io import compression, readers
from deciban.mail import message as mail
from deciban.storage.checkpoint import JobCheckpoint

ARFF = b"@relation r\n@attribute a string\n@attribute class {a,b}\n@data\n"


def test_s1_blanks_inside_of_an_arff_field_take_linear_time(tmp_path):
    (path := tmp_path / "q.arff").write_bytes(ARFF + b"x" + b" " * (1 << 20) + b"y,a\n 'z' , b \n")
    first, second = readers.read(path).to_pylist()
    assert len(first["a"]) == (1 << 20) + 2
    assert second == {"a": "z", "class": "b"}


@pytest.mark.parametrize(
    ("name", "start"),
    [("q.jsonl", b'{"x":1}\n{"x":"'), ("q.arff", ARFF + b"x"), ("q.csv", b"x,class\n1,a\n2,b\n")],
)
def test_s2_a_line_without_end_is_refused(tmp_path, monkeypatch, name, start):
    monkeypatch.setattr(compression, "LONGEST", 1 << 20)
    monkeypatch.setattr("deciban.io.csv.LONGEST", 1 << 20)
    (path := tmp_path / name).write_bytes(start + b"a" * (16 << 20))
    with pytest.raises(DataError, match="longer than"):
        readers.read(path)


def test_s2_a_line_of_many_pieces_is_whole(tmp_path):
    (path := tmp_path / "q.jsonl").write_bytes(b'{"x":"' + b"a" * (5 << 20) + b'"}\n\n{"x":"b"}')
    assert [len(x) for x in readers.read(path)["x"].to_pylist()] == [5 << 20, 1]


def bomb(path, start, rows, times):
    """A compressed file of the same rows many times."""
    with gzip.open(path, "wb", 1) as file:
        file.write(start)
        for _ in range(times):
            file.write(rows * 4096)


def test_s3_rows_of_a_small_compressed_file_are_streamed_where_they_need_more_than_the_memory(
    tmp_path, monkeypatch, capsys
):
    bomb(path := tmp_path / "b.csv.gz", b"x,class\n", b"1,a\n2,b\n1.5,a\n", 30)
    monkeypatch.setattr(readers, "available_memory", lambda: 16e6)
    assert readers.open_path(path).bulk < 0.4 * 16e6  # by its size alone it would be read whole
    with pytest.raises(SystemExit) as stopped:
        main(["fit", str(path), "--target", "class", "-q", "-o", str(tmp_path / "m.deciban")])
    assert stopped.value.code == 0
    assert load(tmp_path / "m.deciban").class_count_.tolist() == [2 * 122880, 122880]


def test_s3_a_compressed_document_larger_than_the_memory_is_refused(tmp_path, monkeypatch):
    bomb(path := tmp_path / "b.json.gz", b'[{"x":1}', b'\n,{"x":1}', 30)
    monkeypatch.setattr(compression, "available_memory", lambda: 1e6)
    with pytest.raises(DataError, match="unpacks to more"):
        readers.read(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
@pytest.mark.parametrize(
    ("read", "error"),
    [
        (readers.read, DataError),
        (load, ModelFileError),
        (lambda path: list(mail.read(path)), DataError),
        (lambda path: JobCheckpoint(path, {}).start(), DataError),
    ],
)
def test_s5_a_pipe_is_refused_at_once(tmp_path, read, error):
    os.mkfifo(path := tmp_path / "pipe")
    with pytest.raises(error, match=r"pipe|regular|no whole checkpoint"):
        read(path)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such devices")
def test_s5_a_device_is_no_mail():
    for device in ("/dev/null", "/dev/zero"):
        with pytest.raises(DataError, match="device"):
            list(mail.read(device))
