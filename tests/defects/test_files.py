"""Defects of reading files, by their numbers: each file means what a person would read in it."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import deciban
from deciban import MixedNB
from deciban.errors import DataError
from deciban.io import csv, readers

from ..support.cli import output, piped


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def fitted(text: str, target: str = "y", name: str = "rows.csv", **how) -> MixedNB:
    Path(name).write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MixedNB().fit_on(name, target, **how)


def kinds(name: str = "rows.csv", **how) -> dict[str, str]:
    return {field.name: str(field.type) for field in readers.read(name, **how).schema}


ROWS = "1,a\n2,b\n1,a\n2,b\n1.5,a\n2.5,b\n"


def test_b06_blank_first_line(capfd):
    model = fitted("\nx,y\n" + ROWS)
    assert model.classes_.tolist() == ["a", "b"]
    assert model.class_count_.sum() == 6
    Path("b.csv").write_text(" \n\r\n\nx,y\n" + ROWS)
    told = json.loads(output("fit b.csv -t y --model mixed -o b.deciban --json", capfd)[0])
    assert (told["rows"], told["classes"]) == (6, ["a", "b"])
    out, _ = output("predict b.deciban b.csv", capfd)
    assert len(out.splitlines()) == 7


def test_b07_decimal_commas(capfd):
    model = fitted("x;y\n1,5;a\n2,5;b\n1,6;a\n2,7;b\n")
    assert model.levels_.get("x") is None
    assert readers.read("rows.csv")["x"].to_pylist() == [1.5, 2.5, 1.6, 2.7]
    with pytest.warns(UserWarning, match="1,5 is read as 1.5") as heard:
        MixedNB().fit_on("rows.csv", "y")
    assert heard[0].filename == __file__  # not a line of the library
    _, err = output("fit rows.csv -t y --model mixed -o m.deciban", capfd)
    assert "note: rows.csv: numbers have a decimal comma: 1,5 is read as 1.5" in err
    rows, _ = output("predict -q m.deciban rows.csv", capfd)
    plain = pd.read_csv("rows.csv", sep=";", decimal=",")
    found = [line.split(";")[-2] for line in rows.splitlines()[1:]]
    assert np.array_equal(np.array(found, float), deciban.load("m.deciban").predict_proba(plain[["x"]])[:, 0])


@pytest.mark.parametrize(
    ("text", "x"),
    [
        ("x;z;y\n1,5;2,5;a\n2;3;b\n", [1.5, 2.0]),
        ("1,5;2,5;a\n2,25;3;b\n", [1.5, 2.25]),  # no header
        ("x;z;y\n1.234,5;7;a\n12;3;b\n", [1234.5, 12.0]),
        ("x;z;y\n1.5;7;a\n12;3;b\n", [1.5, 12.0]),
        ("x;z;y\n1.5;7,5;a\n12;3;b\n", [1.5, 12.0]),  # both marks in one file
        ("x\tz\ty\n1,5\t7\ta\n12\t3\tb\n", [1.5, 12.0]),
    ],
)
def test_b07_decimal_marks(text, x):
    Path("rows.csv").write_text(text)
    assert readers.read("rows.csv").column(0).to_pylist() == x


def test_b07_a_late_decimal_comma_is_read(monkeypatch):
    monkeypatch.setattr(csv, "BLOCK", 200)
    Path("rows.csv").write_text("x;z;y\n" + "1;2,5;a\n" * 300 + "1,5;2,5;b\n" + "-;1;b\n")
    found = readers.read("rows.csv")
    assert found["x"].to_pylist()[-2:] == [1.5, None]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model = MixedNB().fit_on("rows.csv", "y")
    assert any("'-' or 'none' as missing" in str(one.message) for one in heard)
    assert model.levels_.get("x") is None


HEADERS = {
    "pandas index": ",x,y\n0,1,a\n1,2,b\n2,1,a\n",
    "shuffled index": ",x,y\n7,1,a\n3,2,b\n5,1,a\n",
    "names of rows": '"","x","y"\n"Ann",1,"a"\n"Bob",2,"b"\n"Cy",1,"a"\n',
    "write.table": '"x" "y"\n"1" 1 "a"\n"2" 2 "b"\n"3" 1 "a"\n',
    "write.table by commas": '"x","y"\n"1",1,"a"\n"2",2,"b"\n"3",1,"a"\n',
    "trailing comma": "x,y,\n1,a,\n2,b,\n1,a,\n",
    "trailing comma below": "x,y\n1,a,\n2,b,\n1,a,\n",
    "comment": "# by me, in 2024\nx,y\n1,a\n2,b\n1,a\n",
    "comments": "# by me\n# again, and, again\nx,y\n1,a\n2,b\n1,a\n",
    "commented names": "#x,y\n1,a\n2,b\n1,a\n",
    "title": "All my rows\n\nx,y\n1,a\n2,b\n1,a\n",
    "title with commas": "All my rows,\n,\nx,y\n1,a\n2,b\n1,a\n",
    "sep": "sep=;\nx;y\n1;a\n2;b\n1;a\n",
    "spaces around names": "x , y\n1,a\n2,b\n1,a\n",
    "windows": "\r\nx,y\r\n1,a\r\n2,b\r\n1,a\r\n",
    "old mac": "x,y\r1,a\r2,b\r1,a\r",
}


@pytest.mark.parametrize("kind", HEADERS)
def test_b11_headers(kind, capfd):
    model = fitted(HEADERS[kind])
    assert model.feature_names_in_.tolist() == ["x"]
    assert model.class_count_.tolist() == [2, 1]
    told = json.loads(output("fit rows.csv -t y --model mixed -o m.deciban --json", capfd)[0])
    assert (told["columns"], told["rows"]) == (["x"], 3)
    out, _ = output("predict -q m.deciban rows.csv", capfd)
    lines = HEADERS[kind].replace("\r\n", "\n").replace("\r", "\n").splitlines()
    assert [line[: len(old)] for line, old in zip(out.splitlines()[-3:], lines[-3:], strict=True)] == lines[-3:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.predict_on("rows.csv", out="out.parquet")
    assert readers.read("out.parquet")["x"].to_pylist() == [1, 2, 1]


def test_b11_numeric_names(capfd):
    model = fitted("1,2,y\n5,1,a\n6,2,b\n5,1,a\n")
    assert model.feature_names_in_.tolist() == ["1", "2"]
    output("fit rows.csv -t y --model mixed -o m.deciban", capfd)
    out, _ = output("predict m.deciban rows.csv", capfd)
    assert out.splitlines()[0].startswith("1,2,y,predicted")
    Path("new.csv").write_text("2,1\n1,5\n")
    out, _ = output("predict m.deciban new.csv", capfd)
    assert len(out.splitlines()) == 2


def test_b11_names_by_the_target_where_all_are_words():
    assert fitted("x,y\ny,x\nx,x\ny,x\nx,y\n").class_count_.sum() == 4


def test_b11_otherwise_the_error_says_which_line_was_taken(capfd):
    Path("n.csv").write_text("1,2,3\n5,1,a\n6,2,b\n")
    _, err = output("fit n.csv -t y", capfd, 1)
    assert "line 1 ('1,2,3') was taken for a row" in err
    assert "--header LINE" in err
    with pytest.raises(DataError, match=r"line 1 .* was taken for a row") as error:
        MixedNB().fit_on("n.csv", "y")
    assert "header=LINE" in str(error.value)
    assert "--" not in str(error.value)
    _, err = output("fit n.csv -t 3 --header 1 --model mixed", capfd)
    assert MixedNB().fit_on("n.csv", "3", header=1).feature_names_in_.tolist() == ["1", "2"]
    assert MixedNB().fit_on("n.csv", "x2", header=False).class_count_.sum() == 3
    with pytest.raises(DataError, match="lines count from 1"):
        MixedNB().fit_on("n.csv", "x2", header=0)
    Path("m.csv").write_text("x,z\n1,a\n2,b\n")
    _, err = output("fit m.csv -t y", capfd, 1)
    assert "line 1 ('x,z') was taken for the names" in err


def test_b11_a_delimiter_may_be_passed_in_python():
    Path("rows.csv").write_text("x~y\n1~a\n2~b\n")
    assert MixedNB().fit_on("rows.csv", "y", delimiter="~").feature_names_in_.tolist() == ["x"]


def spaced(cell: str) -> str:
    """200 rows; every tenth cell of x is that one."""
    rng = np.random.default_rng(0)
    lines = [f"{cell if i % 10 == 0 else round(rng.normal(40, 10), 2)},{i % 3},{'ab'[i % 2]}" for i in range(200)]
    return "\n".join(["x,z,y", *lines]) + "\n"


@pytest.mark.parametrize("cell", [" ", "   ", "-", ".", "missing", "None", "N/A"])
def test_b12_cells_without_a_number(cell, capfd):
    Path("s.csv").write_text(spaced(cell))
    out, err = output("fit s.csv -t y --model mixed -o s.deciban", capfd)
    assert "left out" not in out
    assert ("are read as missing" in err) == (cell.strip() in ("-", ".", "missing", "None"))
    found = readers.read("s.csv")["x"]
    assert (str(found.type), found.null_count) == ("double", 20)
    Path("plain.csv").write_text(spaced(""))
    want = MixedNB().fit_on("plain.csv", "y")
    rows = pd.read_csv("plain.csv")[["x", "z"]]
    assert np.array_equal(fitted(spaced(cell)).predict_proba(rows), want.predict_proba(rows))
    out, err = output("predict -q s.deciban s.csv", capfd)
    assert len(out.splitlines()) == 201
    blank, _ = output("predict -q s.deciban plain.csv", capfd)
    assert [line.split(",", 3)[-1] for line in out.splitlines()] == [
        line.split(",", 3)[-1] for line in blank.splitlines()
    ]


def test_b12_words_stay_words():
    Path("rows.csv").write_text("x,z,y\nnone,-,a\nlow,.,b\n7,-,a\n")
    assert kinds() == {"x": "string", "z": "string", "y": "string"}
    assert readers.read("rows.csv")["x"].to_pylist() == ["none", "low", "7"]


def test_b12_blanks_are_missing_among_words():
    Path("rows.csv").write_text("x,y\n ,a\nlow,b\n  ,a\n")
    assert readers.read("rows.csv")["x"].to_pylist() == [None, "low", None]


@pytest.mark.parametrize("pipe", [False, True])
def test_b12_errors_name_the_line(pipe, capfd, monkeypatch):
    Path("s.csv").write_text(spaced(""))
    output("fit -q s.csv -t y --model mixed -o s.deciban", capfd)
    text = "z,x\n" + "1,2.5\n" * 30 + '1,"a\nb"\n'
    Path("new.csv").write_text("\n# mine\n" + text)
    command = f"predict s.deciban {'-' if pipe else 'new.csv'} -o out.csv"
    _, err = piped(command, Path("new.csv").read_text(), capfd, monkeypatch, code=1)
    assert ", line 35: column `x` holds" in err
    with pytest.raises(DataError, match="line 35: column `x` holds"):
        deciban.load("s.deciban").predict_on("new.csv", out="out.csv")


@pytest.mark.parametrize("cell", ["-", " - ", "missing", "None", "."])
def test_b12_a_row_alone_may_lack_its_number(cell, capfd):
    """The model knows that the column holds numbers, though no cell of these rows does."""
    Path("s.csv").write_text(spaced(""))
    output("fit -q s.csv -t y --model mixed -o s.deciban", capfd)
    Path("plain.csv").write_text("z,x\n1,\n")
    want = output("predict -q s.deciban plain.csv", capfd)[0].splitlines()[1].split(",", 2)[2]
    Path("new.csv").write_text(f"z,x\n1,{cell}\n")
    out, err = output("predict s.deciban new.csv", capfd)
    assert out.splitlines()[1] == f"1,{cell},{want}"
    assert "are read as missing" in err
    with pytest.warns(UserWarning, match="are read as missing"):
        deciban.load("s.deciban").predict_on("new.csv", out="out.csv")
    Path("new.csv").write_text(f"z,x\n1,{cell}\n1,low\n")
    assert "line 3: column `x` holds 'low'" in output("predict s.deciban new.csv", capfd, 1)[1]


@pytest.mark.parametrize("cell", ["-", "none", "."])
def test_task_028_a_file_whose_only_cell_is_the_mark_of_a_missing_number(cell, capfd):
    deciban.save(fitted("x,y\n" + ROWS), "m.deciban")
    Path("n.csv").write_text(f"x\n{cell}\n")
    out, err = output("predict m.deciban n.csv", capfd)
    assert out.splitlines()[1] == f"{cell},a,0.5,0.5"
    assert f"cells such as '{cell}' are read as missing" in err
    Path("n.csv").write_text(f"x\n{cell}\n3\ntall\n")
    assert "n.csv, line 4: column `x` holds 'tall'" in output("predict m.deciban n.csv", capfd, 1)[1]


def test_b12_late_marks_at_prediction(monkeypatch, capfd):
    from deciban.io import csv

    Path("s.csv").write_text(spaced(""))
    output("fit -q s.csv -t y --model mixed -o s.deciban", capfd)
    monkeypatch.setattr(csv, "LINES_BLOCK", 200)
    monkeypatch.setattr(csv, "BLOCK", 200)
    Path("new.csv").write_text("x,z\n" + "41.5,1\n" * 100 + '"1,041.5",1\n-,2\n')
    Path("plain.csv").write_text("x,z\n" + "41.5,1\n" * 100 + "1041.5,1\n,2\n")
    for ending in ("csv", "parquet"):
        output(f"predict s.deciban new.csv -o new_out.{ending}", capfd)
        output(f"predict s.deciban plain.csv -o plain_out.{ending}", capfd)
        assert readers.read(f"new_out.{ending}")["p_a"].equals(readers.read(f"plain_out.{ending}")["p_a"])


def test_a_column_may_be_whole_then_real_then_text(monkeypatch):
    monkeypatch.setattr(csv, "BLOCK", 200)
    Path("rows.csv").write_text("x,y\n" + "1,a\n" * 200 + "1.5,a\n" * 200 + "low,b\n")
    assert kinds()["x"] == "string"
    assert MixedNB().fit_on("rows.csv", "y").levels_["x"] == ["1", "1.5", "low"]


TABLE = pd.DataFrame({"x": [1, 2, 1, 2], "z": [0.5, None, 1.5, 2.0], "y": ["a", "b", "a", "b"]})
JSON = {
    "records": TABLE.to_json(orient="records"),
    "pretty": json.dumps(json.loads(TABLE.to_json(orient="records")), indent=2),
    "columns": TABLE.to_json(),
    "lists": json.dumps({key: json.loads(TABLE[key].to_json(orient="values")) for key in TABLE}),
    "index": TABLE.to_json(orient="index"),
    "split": TABLE.to_json(orient="split"),
    "table": TABLE.to_json(orient="table"),
    "values with names": json.dumps([["x", "z", "y"], *json.loads(TABLE.to_json(orient="values"))]),
    "one after the other": "".join(json.dumps(row, indent=1) for row in json.loads(TABLE.to_json(orient="records"))),
    "lines": TABLE.to_json(orient="records", lines=True),
    "wrapped": json.dumps({"total": 4, "rows": json.loads(TABLE.to_json(orient="records"))}),
}


@pytest.mark.parametrize("kind", JSON)
def test_b13_json(kind, capfd):
    Path("rows.json").write_text(JSON[kind])
    assert readers.read("rows.json").to_pylist() == readers.read("rows.json", expected=("y",)).to_pylist()
    want = [{"x": x, "z": z, "y": y} for x, z, y in [(1, 0.5, "a"), (2, None, "b"), (1, 1.5, "a"), (2, 2.0, "b")]]
    assert readers.read("rows.json").to_pylist() == want
    model = MixedNB().fit_on("rows.json", "y")
    assert model.class_count_.tolist() == [2, 2]
    model.predict_on("rows.json", out="out.jsonl")
    assert readers.read("out.jsonl")["predicted"].to_pylist() == model.predict(TABLE[["x", "z"]]).tolist()
    told = json.loads(output("fit rows.json -t y --model mixed -o m.deciban --json", capfd)[0])
    assert (told["columns"], told["rows"]) == (["x", "z"], 4)
    assert len(output("predict m.deciban rows.json", capfd)[0].splitlines()) == 5


@pytest.mark.parametrize("text", ['[{"x": 1}, 2]', '[{"x": 1}', '{"x": [1, 2], "y": ["a"]}', '{"x": {"a": 1}, "y": 2}'])
def test_b13_json_that_is_no_table(text, capfd):
    Path("rows.json").write_text(text)
    _, err = output("fit rows.json -t y", capfd, 1)
    assert "one object a line" in err


def test_b13_json_keys_and_numbers_that_come_late():
    rows = [{"x": 1, "y": "a"}] * 9000 + [{"x": 1.5, "y": "b", "late": "u"}] * 10
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    model = MixedNB().fit_on("rows.jsonl", "y")
    assert model.feature_names_in_.tolist() == ["x", "late"]
    assert readers.read("rows.jsonl")["x"].to_pylist()[-1] == 1.5


# amounts


def test_f07_amounts_percents_and_codes(capfd):
    rng = np.random.default_rng(1)
    lines = ["price,share,total,zip,y"]
    for i in range(60):
        lines.append(
            f'${rng.integers(1, 2000):,}.50,{i % 9}%,"{1000 + i * 31:,}.5",{i % 5:05d},{"ab"[i % 2]}'.replace(
                "$1,", "$1"
            )
        )
    Path("rows.csv").write_text("\n".join(lines) + "\n")
    assert kinds() == {"price": "double", "share": "double", "total": "double", "zip": "string", "y": "string"}
    found = readers.read("rows.csv")
    assert found["total"].to_pylist()[:2] == [1000.5, 1031.5]
    assert found["zip"].to_pylist()[:2] == ["00000", "00001"]
    out, err = output("fit rows.csv -t y --model mixed -o m.deciban", capfd)
    assert "left out" not in out
    for column in ("price", "share", "total"):
        assert f"`{column}` holds numbers; '" in err
    assert "'0%' is read as 0" in err
    assert len(output("predict -q m.deciban rows.csv", capfd)[0].splitlines()) == 61


def test_f07_euros_of_a_semicolon_file():
    Path("rows.csv").write_text("price;y\n1.234,50 €;a\n7 €;b\n")
    assert readers.read("rows.csv")["price"].to_pylist() == [1234.5, 7.0]


def test_f07_units_are_not_mixed():
    Path("rows.csv").write_text("x,z,y\n$5,5%,a\n€5,0.5,b\n")
    assert kinds() == {"x": "string", "z": "string", "y": "string"}


# what else a table may hold


def test_classes_called_none_or_percent_are_classes():
    for target in ("y", "kind"):
        Path("rows.csv").write_text(f"x,{target}\n" + "1,none\n2,1\n3,-\n4,5%\n" * 5)
        assert MixedNB().fit_on("rows.csv", target).classes_.tolist() == ["-", "1", "5%", "none"]
    assert kinds(expected=("y",))["kind"] == "string"


def test_a_column_of_texts_is_not_cut_at_spaces():
    Path("rows.csv").write_text("address\nroom 101\nroom 202\n")
    assert readers.read("rows.csv").to_pydict() == {"address": ["room 101", "room 202"]}


def test_names_with_spaces_of_a_model_are_found():
    frame = pd.DataFrame({" x": [1.0, 2, 1, 2], "z ": [1.0, 2, 1, 2], "y": ["a", "b"] * 2})
    model = MixedNB().fit(frame[[" x", "z "]], frame.y)
    frame.to_csv("rows.csv", index=False)
    model.predict_on("rows.csv", out="out.csv")
    assert readers.read("out.csv")["predicted"].to_pylist() == model.predict(frame[[" x", "z "]]).tolist()


def test_a_header_of_any_length():
    names = [f"a_rather_long_name_of_a_column_{j}" for j in range(12_000)]
    Path("wide.csv").write_text(",".join(["y", *names]) + "\n" + "\n".join(f"{c}" + ",1" * 12_000 for c in "abab"))
    assert readers.open_path("wide.csv").names == ["y", *names]


def test_types_that_change_late_are_learned_from_a_path(monkeypatch):
    monkeypatch.setattr(csv, "BLOCK", 200)
    rows = "".join(f"{i % 3},{i % 5},{'ab'[i % 2]}\n" for i in range(300))
    Path("rows.csv").write_text("1,x,y\n" + rows + "1.5,low,a\n" * 5)
    assert deciban.auto_fit_on("rows.csv", "y").model.feature_names_in_.tolist() == ["1", "x"]


def test_a_name_less_than_cells_is_noted():
    Path("rows.csv").write_text("x,y\n1,5,a\n2,6,b\n")
    with pytest.warns(UserWarning, match="a name less"):
        assert MixedNB().fit_on("rows.csv", "y").feature_names_in_.tolist() == ["x"]


def test_task_112_the_target_has_to_be_named(tmp_path):
    (tmp_path / "people.csv").write_text("age,job,buys\n34,cook,yes\n51,nurse,no\n")
    with pytest.raises(DataError, match=r"hint: target=NAME, one of age, job, buys\. If another line of the file has"):
        MixedNB().fit_on(tmp_path / "people.csv")
    with pytest.raises(DataError, match="`buys`"):
        MixedNB().fit_on(tmp_path / "people.csv", target="buy")
