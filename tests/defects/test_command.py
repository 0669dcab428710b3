"""Defects of the command line, by their numbers."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import deciban
from deciban import GaussianNB, MixedNB
from deciban.errors import DataError
from deciban.io import readers

from ..support.cli import output, piped


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def people(n: int = 60) -> str:
    rng = np.random.default_rng(0)
    lines = [f"{rng.normal(40, 10):.1f},{['cook', 'nurse'][i % 2]},{i % 4},{'ab'[i % 2]}" for i in range(n)]
    return "\n".join(["age,job,room,y", *lines]) + "\n"


@pytest.fixture
def model(capfd):
    Path("people.csv").write_text(people())
    output("fit -q people.csv -t y --model mixed -o m.deciban", capfd)


def test_b15_a_model_without_names_reads_columns_by_position(capfd):
    rng = np.random.default_rng(0)
    x = rng.normal(40, 10, (100, 1))
    fitted = GaussianNB().fit(x, np.where(x[:, 0] > 40, "yes", "no"))
    deciban.save(fitted, "np.deciban")
    Path("two.csv").write_text("id,age\n5,60\n")
    _, err = output("predict np.deciban two.csv", capfd, 1)
    assert "1 columns without names; two.csv has 2: id, age" in err
    Path("one.csv").write_text("age\n60\n")
    out, err = output("predict np.deciban one.csv", capfd)
    assert err == "note: the model learned from columns without names: columns are taken in this order: age\n"
    assert float(out.splitlines()[1].split(",")[2]) == fitted.predict_proba([[60.0]])[0, 0]
    Path("labelled.csv").write_text("age,y\n60,yes\n30,no\n")
    out, _ = output("score np.deciban labelled.csv -t y --json", capfd)
    assert json.loads(out)["accuracy"] == 1.0


def test_b25_missing_columns_are_one_note(model, capfd):
    Path("some.csv").write_text("age\n30\n50\n")
    out, err = output("predict m.deciban some.csv", capfd)
    assert err == "note: some.csv has no job, room: taken as missing in every row\n"
    assert len(out.splitlines()) == 3
    assert output("explain m.deciban some.csv", capfd)[1] == err


def test_b25_warnings_are_one_line_each(model, capfd, monkeypatch):
    import warnings

    def warn(*given, **more):
        for _ in range(2):
            warnings.warn("some\n columns are constant", UserWarning, stacklevel=1)
            warnings.warn("for programmers", DeprecationWarning, stacklevel=1)
        return given

    monkeypatch.setattr(deciban, "top_evidence", lambda *given: (warn(), {})[1])
    assert output("show m.deciban", capfd)[1] == "warning: some columns are constant\n"
    assert output("show -q m.deciban", capfd)[1] == ""


def test_f17_output_is_not_input(model, capfd):
    before = {name: Path(name).read_bytes() for name in ("people.csv", "m.deciban")}
    shutil.copy("m.deciban", "n.deciban")
    for command in (
        "predict m.deciban people.csv -o people.csv",
        "predict m.deciban people.csv -o ./m.deciban",
        "fit people.csv -t y -o people.csv",
        "report m.deciban people.csv -o people.csv",
        "update m.deciban people.csv -o people.csv",
        "merge m.deciban n.deciban -o m.deciban",
    ):
        _, err = output(command, capfd, 1)
        assert "--force" in err
        assert {name: Path(name).read_bytes() for name in before} == before
    output("predict m.deciban people.csv -o people.csv --force", capfd)
    assert "predicted" in Path("people.csv").read_text().splitlines()[0]
    with pytest.raises(DataError, match="would overwrite the data"):
        deciban.load("m.deciban").predict_on("people.csv", out="people.csv")


def test_b19_a_model_without_rows(model, capfd):
    output("forget m.deciban people.csv", capfd)
    for command in ("predict", "score", "explain", "report"):
        _, err = output(f"{command} m.deciban people.csv", capfd, 1)
        assert err.startswith("error: no rows are left in m.deciban")
        assert err.count("\n") == 2
    output("update m.deciban people.csv", capfd)
    want = MixedNB().fit_on("people.csv", "y")
    rows = readers.read("people.csv").select(["age", "job", "room"])
    np.testing.assert_allclose(deciban.load("m.deciban").predict_proba(rows), want.predict_proba(rows))


@pytest.mark.parametrize(
    "command", ["score m.deciban -", "report m.deciban -", "update m.deciban -", "explain m.deciban -"]
)
def test_standard_input_is_read_by_every_verb(command, model, capfd, monkeypatch):
    piped(command, Path("people.csv").read_text(), capfd, monkeypatch)


def dropped_columns(capfd) -> dict[str, str]:
    return json.loads(output("fit -q rows.csv -t y --model mixed -o m.deciban --json", capfd)[0])["dropped_columns"]


def test_f07_the_reason_why_a_column_is_left_out_is_true(capfd):
    rng = np.random.default_rng(0)
    lines = ["day,time,spoken,ticket,x,y"]
    for i in range(100):
        day = "unknown day" if i % 16 == 3 else f"2024-{i % 12 + 1:02d}-{i % 28 + 1:02d}"
        spoken = "call us" if i % 10 == 0 else f"${i * 3}.00"
        lines.append(f"{day},{i % 24:02d}:{i % 60:02d},{spoken},T{i * 17},{rng.normal():.2f},{'ab'[i % 2]}")
    Path("rows.csv").write_text("\n".join(lines) + "\n")
    why = dropped_columns(capfd)
    assert "holds dates: 9" in why["day"]
    assert "% of the values look like '2024-" in why["day"]
    assert why["time"].startswith("holds dates: 100 % of the values look like")
    assert why["spoken"].startswith("holds numbers as text: 99 % of the values look like '$")
    assert "'call us' does not" in why["spoken"]
    assert why["ticket"] == "is an identifier (nearly all values differ)"


def test_f07_codes_with_leading_zeros_are_levels(capfd):
    lines = [f"{i % 6:05d},{i % 7},{'ab'[i % 2]}" for i in range(60)]
    Path("rows.csv").write_text("\n".join(["zip,x,y", *lines]) + "\n")
    assert dropped_columns(capfd) == {}
    assert deciban.load("m.deciban").levels_["zip"][1] == "00001"


def test_b14_identifiers_are_left_out(capfd):
    rng = np.random.default_rng(0)
    unique = rng.choice(10**6, (100, 2), replace=False)
    lines = [f"{1000 + 7 * i},{i + 5},{unique[i, 0]},{unique[i, 1]},{i % 7},{'ab'[i % 2]}" for i in range(100)]
    Path("rows.csv").write_text("\n".join(["bill,row,customer_id,salary,x,y", *lines]) + "\n")
    assert dropped_columns(capfd) == {
        "bill": "is a row number, in steps of 7",
        "row": "is a row number",
        "customer_id": "is an identifier, by its name and a different number in each row",
    }


def test_f15_help(capfd):
    out, _ = output("--help", capfd)
    assert "..." not in out.partition("Commands:")[2]
    assert output("help", capfd)[0] == out
    assert "..." not in output("spam --help", capfd)[0].partition("Commands:")[2]
    assert output("help fit", capfd)[0] == output("fit --help", capfd)[0]
    assert output("-V", capfd)[0] == output("--version", capfd)[0] == f"deciban {deciban.__version__}\n"
    for verb in ("fit", "compare"):
        text = "".join(output(f"{verb} --help", capfd)[0].split())  # lines may break at a hyphen
        assert f"Oneof{','.join(deciban.list_classifiers())}." in text


def test_f15_families_are_those_that_families_takes(capfd):
    told = json.loads(output("families --json", capfd)[0])
    for name in told:
        X = (
            [["u"], ["v"]] * 5
            if name == "categorical"
            else [[1.0], [0.0]] * 5
            if name == "bernoulli"
            else [["so it goes"], ["it may be so"]] * 5
            if name == "words"
            else [[1], [2]] * 5
        )
        MixedNB(families=name).fit(X, [0, 1] * 5)
    assert "aode" not in told
    assert {"gaussian", "histogram", "poisson", "categorical"} <= set(told)


def test_f22_hints_by_who_reads_them(capfd):
    Path("ragged.csv").write_text("x,y\n1,a\n2,b\n1,2,3\n1,a\n2,b\n")
    assert "--delimiter" in output("fit ragged.csv -t y", capfd, 1)[1]
    with pytest.raises(DataError, match="line 4") as error:
        MixedNB().fit_on("ragged.csv", "y")
    assert "delimiter=" in str(error.value)
    assert "--" not in str(error.value)
    with pytest.raises(DataError, match="hint") as error:
        deciban.auto_fit([["a"], ["b"]] * 5, [0, 1] * 5, "lda")
    assert "--" not in str(error.value)


@pytest.mark.parametrize("words", ["MixedNB takes such columns (sklearn.preprocessing.OneHotEncoder)", "features=[…]"])
def test_f22_no_hint_of_the_command_line_speaks_of_python(words, model, capfd, monkeypatch):
    def fail(*given, **more):
        raise DataError(f"column `x` holds text\n\nhint: {words}")

    monkeypatch.setattr(deciban, "load", fail)
    _, err = output("show m.deciban", capfd, 1)
    assert words not in err
    assert "--drop COLUMN" in err


def test_f16_show_tells_intervals(capfd):
    rng = np.random.default_rng(0)
    wide = rng.uniform(0, 10, 400)
    label = np.where((wide > 2.5) & (wide < 7.5), "in", "out")
    lines = [f"{w:.4f},{z:.3f},{y}" for w, z, y in zip(wide, rng.normal(size=400), label, strict=True)]
    Path("rows.csv").write_text("\n".join(["wide,z,y", *lines]) + "\n")
    deciban.save(MixedNB(families={"wide": "histogram", "z": "gaussian"}).fit_on("rows.csv", "y"), "m.deciban")
    out, _ = output("show m.deciban", capfd)
    assert " wide 2.5" in out
    told = json.loads(output("show m.deciban --json", capfd)[0])["top_evidence"]
    (found,) = [one for one in told["in"] if one["column"] == "wide"]
    assert found["interval"] == pytest.approx([2.5, 7.5], abs=0.1)
    (found,) = [one for one in told["out"] if one["column"] == "wide"]
    assert found["interval"][0] is None or found["interval"][1] is None


def test_task_97_explain_takes_priors(capfd, model):
    fitted = deciban.load("m.deciban")
    here = output("explain m.deciban people.csv --json --of a --priors a=0.8,b=0.2", capfd)[0]
    assert json.loads(here)[0]["prior"] == pytest.approx(10 * np.log10(4))
    even = json.loads(output("explain m.deciban people.csv --json --of a --priors uniform", capfd)[0])[0]
    assert even["prior"] == pytest.approx(0.0)
    assert even["columns"] == json.loads(here)[0]["columns"]
    assert fitted.classes_.tolist() == ["a", "b"]
    assert "--priors" in output("explain --help", capfd)[0]
    assert "no class is called 'c'" in output("explain m.deciban people.csv --priors c=1", capfd, 1)[1]


def test_task_93_explain_names_the_target(capfd, model):
    out, _ = output("explain m.deciban people.csv --row 1", capfd)
    assert out.startswith("row 1: y = b against a")


def test_task_97_numbers_of_a_class_have_names(capfd, model):
    out = json.loads(output("score m.deciban people.csv --json", capfd)[0])
    assert set(out["classes"]["a"]) == {"rows", "precision", "recall", "log_loss"}
    assert out["classes"]["a"]["rows"] == 30


def test_task_98_model_and_data_in_the_wrong_order(capfd, model):
    for verb in ("predict", "explain", "score", "report", "update", "forget"):
        _, err = output(f"{verb} people.csv m.deciban", capfd, 1)
        assert "people.csv is not a model, m.deciban is one" in err
        assert f"hint: the model comes first: deciban {verb} m.deciban people.csv" in err


def test_task_98_a_cost_without_a_number(capfd, model):
    _, err = output("predict m.deciban people.csv --costs a:b", capfd, 2)
    assert "'a:b' does not end in =NUMBER" in err
    _, err = output("predict m.deciban people.csv --costs a=5", capfd, 2)
    assert "'a=5' does not name two classes, TRUE:DECIDED" in err


def test_task_99_families_say_what_they_are_for(capfd):
    out, _ = output("families", capfd)
    assert "averaged out; for any numbers" in out
    assert "<" not in out


def test_task_98_hints_are_sentences(capfd, model):
    _, err = output("fit people.csv -t yy", capfd, 1)
    assert "did you mean --target y? If another line of the file has the names: --header LINE" in err
    Path("gaps.csv").write_text(people().replace("nurse,1,b", "nurse,1,"))
    _, err = output("score m.deciban gaps.csv", capfd)
    assert "note: 15 rows without `y` were skipped" in err
