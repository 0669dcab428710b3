"""Tables that are hard to read: long cells, names that are missing, deep and repeated JSON, large whole numbers."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban import GaussianNB, MixedNB
from deciban.errors import DataError
from deciban.io import csv, readers


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
    with pytest.raises(DataError, match=rf"d\.jsonl.*line {start.count(chr(10)) + 1}"):
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


def test_i1_levels_that_may_be_one_double_are_refused(tmp_path):
    first = 2**53
    frame = pd.DataFrame({"id": [first, first + 1] * 20, "y": ["a", "b"] * 20})
    frame.to_parquet(path := tmp_path / "i.parquet")

    def model():
        return MixedNB(families={"id": "categorical"})

    assert model().fit(frame[["id"]], frame["y"]).levels_ == {"id": [first, first + 1]}
    gaps = pd.DataFrame({"id": pd.array([first, first + 1, None] * 20, dtype="Int64")})
    for learn in (
        lambda: model().fit_on(path, target="y"),
        lambda: model().fit(gaps, ["a", "b", "b"] * 20),
        lambda: MixedNB(families="categorical").fit(np.array([[2**60], [2**60 + 1]] * 10), [0, 1] * 10),
    ):
        with pytest.raises(DataError, match=r"beyond 2\^53"):
            learn()


@pytest.mark.parametrize("first", ["", "1,a\n" * 9])
def test_i2_whole_numbers_beyond_int64_stay_what_they_are(tmp_path, first):
    large = ["9223372036854775808", "9223372036854775809"]
    (path := tmp_path / "i.csv").write_text(f"id,y\n{first}" + "".join(f"{one},a\n" for one in large))
    assert readers.read(path)["id"].to_pylist()[-2:] == large


def test_i2_whole_numbers_beyond_int64_that_come_late(tmp_path):
    (path := tmp_path / "i.csv").write_text("id,y\n" + "1,a\n" * (5 << 18) + "9223372036854775809,a\n")
    assert readers.read(path)["id"][-1].as_py() == "9223372036854775809"


def test_i2_large_measurements_stay_numbers(tmp_path):
    (path := tmp_path / "i.csv").write_text("x,y\n1e300,a\n9223372036854775809.5,b\n3,a\n")
    assert readers.read(path)["x"].to_pylist() == [1e300, 2.0**63, 3.0]


def test_i3_codes_stay_texts(tmp_path):
    (path := tmp_path / "z.csv").write_text("zip,code,class\n" + "00123,0x1A,01\n123,26,1\n" * 5)
    first, second = readers.read(path).slice(0, 2).to_pylist()
    assert list(first.values()) == ["00123", "0x1A", "01"]
    assert list(second.values()) == ["123", "26", "1"]


def test_half_of_a_character_is_no_json(tmp_path):
    for text in ('{"x": "\\ud800", "y": "a"}\n' * 3, '[{"x": 1}, {"\\udfff": 2}]'):
        (path := tmp_path / "s.jsonl").write_text(text)
        with pytest.raises(DataError, match="not"):
            readers.read(path)
    (path := tmp_path / "s.jsonl").write_text('{"x": "\\ud83d\\ude00"}\n' * 3)
    assert readers.read(path)["x"][0].as_py() == "\U0001f600"


def test_utf_16_with_an_odd_number_of_bytes_is_refused(tmp_path):
    (path := tmp_path / "u.csv").write_bytes("x,y\n1,a\n2,b\n".encode("utf-16") + b"c")
    with pytest.raises(DataError, match=r"u\.csv"):
        readers.read(path)


@pytest.mark.parametrize("write", [pa.ipc.new_file, pa.ipc.new_stream])
def test_arrow_files_with_two_columns_of_one_name_are_refused(tmp_path, write):
    table = pa.Table.from_arrays([pa.array([1.0]), pa.array(["a"])], names=["x", "x"])
    with write(str(path := tmp_path / "d.arrow"), table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(DataError, match="named 'x'"):
        readers.read(path)


def test_a_length_in_an_arrow_file_that_no_memory_holds_is_damage(tmp_path):
    table = pa.table({"x": [1.0], "y": ["a"]})
    with pa.ipc.new_stream(str(path := tmp_path / "m.arrow"), table.schema) as writer:
        writer.write_table(table)
    content = bytearray(path.read_bytes())
    content[4:8] = (2**31 - 8).to_bytes(4, "little")  # of the schema
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"m\.arrow"):
        readers.read(path)


def test_names_in_an_arrow_file_that_are_not_utf_8_are_damage(tmp_path):
    table = pa.table({"size": [1.0], "y": ["a"]})
    with pa.ipc.new_file(str(path := tmp_path / "n.arrow"), table.schema) as writer:
        writer.write_table(table)
    path.write_bytes(path.read_bytes().replace(b"size", b"\xffize"))
    for use in (readers.read, lambda path: GaussianNB().fit_on(path, target="y")):
        with pytest.raises(DataError, match=r"n\.arrow"):
            use(path)


@pytest.mark.parametrize("attribute", ["@attribute a real", "@attribute 'a' {x,y}"])
def test_two_attributes_of_one_name_are_refused(tmp_path, attribute):
    (path := tmp_path / "a.arff").write_text(f"@relation r\n@attribute a real\n{attribute}\n@data\n1,x\n")
    with pytest.raises(DataError, match=r"line 3: .* named 'a'"):
        readers.read(path)


@pytest.mark.parametrize("number", ["\u00b2", "9" * 5000, "-1", ""])
def test_sparse_rows_number_their_attributes(tmp_path, number):
    (path := tmp_path / "a.arff").write_text(f"@relation r\n@attribute a real\n@data\n{{{number} 1}}\n")
    with pytest.raises(DataError, match="line 4"):
        readers.read(path)


def test_a_number_has_one_sign(tmp_path):
    (path := tmp_path / "s.csv").write_text("x,y\n--0.92,a\n1.5,b\n$3,a\n")
    assert readers.read(path)["x"].to_pylist() == ["--0.92", "1.5", "$3"]
    path.write_text("x,y\n-$0.92,a\n$-1.5,b\n+$3,a\n")
    assert readers.read(path)["x"].to_pylist() == [-0.92, -1.5, 3.0]


@pytest.mark.parametrize("mark", ["\u00e9", '"', "\n"])
def test_a_delimiter_is_a_character_that_can_split_lines(tmp_path, mark):
    (path := tmp_path / "d.csv").write_text("x,y\n1,a\n2,b\n")
    with pytest.raises(DataError, match="delimiter"):
        MixedNB().fit_on(path, target="y", delimiter=mark)


LATE = {"01": "text", '"01"': "text", "-01": "text", "+007": "text", "00": "text", "0x1A": "text"}
NUMBERS = dict.fromkeys(["0", "-0", "10", "0.5", "-0.5", "01.5", "1e05"], "number")


@pytest.mark.parametrize("column", ["x", "class"])
@pytest.mark.parametrize(("cell", "kind"), (LATE | NUMBERS).items())
def test_i3_a_code_after_the_first_block_makes_its_column_text(tmp_path, monkeypatch, cell, kind, column):
    monkeypatch.setattr(csv, "BLOCK", 300)
    rows = [{"x": "1", "when": "2020-01-02", "share": "0.25", "class": str(i % 2)} for i in range(200)]
    rows[150][column] = cell
    path = tmp_path / "codes.csv"
    path.write_text("\n".join([",".join(rows[0]), *(",".join(row.values()) for row in rows)]) + "\n")
    table = readers.read(path)
    assert pa.types.is_string(table.schema.field(column).type) == (kind == "text")
    if kind == "text":
        assert table[column][150].as_py() == cell.strip('"')
        assert table[column][0].as_py() == rows[0][column]
    other = {"x": "class", "class": "x"}[column]
    assert pa.types.is_integer(table.schema.field(other).type)
    assert pa.types.is_floating(table.schema.field("share").type)


def test_i3_classes_with_late_zeros_are_classes_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr(csv, "BLOCK", 300)
    path = tmp_path / "labels.csv"
    path.write_text("x,class\n" + "1,1\n2,2\n" * 100 + "7,01\n" * 20)
    assert MixedNB().fit_on(path, target="class").classes_.tolist() == ["01", "1", "2"]


def test_dates_and_texts_that_begin_with_zero_change_no_type(tmp_path, monkeypatch):
    monkeypatch.setattr(csv, "BLOCK", 300)
    path = tmp_path / "dates.csv"
    path.write_text("x,when,zip\n" + "1,2020-11-12,z1234\n" * 100 + "1,01-02-2020,00123\n" * 20)
    assert [str(kind) for kind in readers.read(path).schema.types] == ["int64", "string", "string"]
