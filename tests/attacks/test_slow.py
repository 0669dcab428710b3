"""Small files that take much time or memory: texts of many blanks, lines without an end, bombs, pipes."""

import pytest

from deciban.errors import DataError
from deciban.io import compression, readers

ARFF = b"@relation r\n@attribute a string\n@attribute class {a,b}\n@data\n"


def test_s1_blanks_inside_of_an_arff_field_take_linear_time(tmp_path):
    (path := tmp_path / "q.arff").write_bytes(ARFF + b"x" + b" " * (1 << 20) + b"y,a\n 'z' , b \n")
    first, second = readers.read(path).to_pylist()
    assert len(first["a"]) == (1 << 20) + 2 and second == {"a": "z", "class": "b"}


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
