"""Tables that are hard to read: long cells, names that are missing, deep and repeated JSON, large whole numbers."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban import GaussianNB
from deciban.errors import DataError
from deciban.io import readers


@pytest.mark.parametrize("start", ["x,class\n", "7,z\n"])
def test_r6_long_cells_near_the_top_are_read(tmp_path, start):
    (path := tmp_path / "l.csv").write_text(f"{start}{'a' * 200_000},a\nb,b\n")
    found = readers.read(path)
    assert found.num_columns == 2
    assert len(found.column(0)[-2].as_py()) == 200_000


def test_r6_many_columns_are_read(tmp_path):
    names = ",".join(f"c{i}" for i in range(24_000))
    (path := tmp_path / "l.csv").write_text(f"{names},class\n" + ("1," * 24_000 + "a\n" + "2," * 24_000 + "b\n"))
    found = readers.read(path)
    assert (found.num_rows, found.num_columns) == (2, 24_001)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (",x,class\n" + "".join(f"{i},{i % 2},a\n" for i in range(9)), ["x", "class"]),
        (",x,class\n" + "5,1,a\n" * 9, ["x0", "x", "class"]),
        ("x,,class\n" + "1,2,a\n" * 9, ["x", "x1", "class"]),
        ("x,class,\n" + "1,a,\n" * 9, ["x", "class"]),
        ("x,class,\n" + "1,a,q\n" * 9, ["x", "class", "x2"]),
    ],
)
def test_r7_a_header_with_an_empty_name_is_a_header(tmp_path, text, names):
    (path := tmp_path / "p.csv").write_text(text)
    found = readers.read(path)
    assert (found.column_names, found.num_rows) == (names, 9)


def test_r7_a_row_with_an_empty_cell_is_a_row(tmp_path):
    for text in ("red,,yes\nblue,3,no\n", "?,,yes\n4,3,no\n", "red,,yes\nblue,x,no\n"):
        (path := tmp_path / "p.csv").write_text(text)
        assert readers.read(path).num_rows == 2


@pytest.mark.parametrize("start", ["", '{"x":1}\n'])
def test_r8_deep_json_is_an_error_of_the_data(tmp_path, start):
    (path := tmp_path / "d.jsonl").write_text(start + '{"x":' + "[" * 100_000 + "]" * 100_000 + "}\n")
    with pytest.raises(DataError, match=r"d\.jsonl"):
        readers.read(path)


@pytest.mark.parametrize("text", ['{"x":1,"x":999}\n' * 3, '{"x":"a:b", "x" : 2}\n{"x":"c"}\n', '[{"x":1,"x":2}]'])
def test_r9_a_key_twice_in_an_object_is_an_error(tmp_path, text):
    (path := tmp_path / "d.jsonl").write_text(text)
    with pytest.raises(DataError, match="'x' is in one object twice"):
        readers.read(path)


def test_r9_colons_in_texts_are_no_keys(tmp_path):
    (path := tmp_path / "d.jsonl").write_text('{"x":"http://a","y":"\\":"}\n{"x":"12:30","y":": \\" :"}\n')
    assert readers.read(path)["x"].to_pylist() == ["http://a", "12:30"]


def test_r15_whole_numbers_that_are_not_exact_as_doubles_name_the_file(tmp_path):
    pq.write_table(pa.table({"x": [2**53 + 1], "y": ["a"]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"x": [1.5], "y": ["b"]}), tmp_path / "2.parquet")
    for use in (readers.read, lambda path: GaussianNB().fit_on(path, target="y")):
        with pytest.raises(DataError, match=r"1\.parquet: column `x`"):
            use(tmp_path)
    pq.write_table(pa.table({"x": [2], "y": ["a"]}), tmp_path / "1.parquet")
    assert readers.read(tmp_path)["x"].to_pylist() == [2.0, 1.5]
    assert np.array_equal(GaussianNB().fit_on(tmp_path, target="y").theta_, [[2.0], [1.5]])
