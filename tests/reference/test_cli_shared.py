"""The command on the shared data sets, with no further options: sensible models, leaks pointed out."""

import json
import shlex

import pytest

import deciban
from deciban.cli import main

SETS = {
    "titanic/titanic.csv": ("--target survived", 0.78),
    "house_votes_84/house_votes_84.csv": ("--target party", 0.94),
    "weka_arff/weather.nominal.arff": ("", 0.4),
    "weka_arff/iris.arff": ("", 0.94),
    "mushroom/mushroom.csv.gz": ("--target class --model mixed", 0.98),
    "adult/adult.csv.gz": ("--target income --model calibrated", 0.845),
    "sms_spam/sms_spam.csv.gz": ("", 0.985),
}


def said(command: str, capfd) -> tuple[str, str]:
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(command))
    out, err = capfd.readouterr()
    assert ended.value.code == 0, err
    return out, err


@pytest.mark.parametrize("name", SETS)
def test_fit_and_explain_a_shared_set(name, shared, tmp_path, capfd):
    options, least = SETS[name]
    data, model = shared(name), tmp_path / "m.deciban"
    told = json.loads(said(f"fit {data} {options} -o {model} --json", capfd)[0])
    assert told["metrics"]["accuracy"] > least
    out = said(f"explain {model} {data} --row 3", capfd)[0]
    assert out.startswith("row 3: ")
    fitted = deciban.load(model)
    assert told["columns"] == [str(name) for name in getattr(fitted, "feature_names_in_", ["text"])]


@pytest.mark.parametrize("name", ["titanic/titanic.csv", "sms_spam/sms_spam.csv.gz", "weka_arff/weather.nominal.arff"])
def test_report_of_a_shared_set(name, shared, tmp_path, capfd):
    data, model, page = shared(name), tmp_path / "m.deciban", tmp_path / "report.html"
    kind = "text" if "sms" in name else "mixed"
    said(f"fit {data} {SETS[name][0]} --model {kind} -o {model}", capfd)
    said(f"report {model} {data} -o {page}", capfd)
    html = page.read_text(encoding="utf-8")
    assert "cross-validated in 10 folds" in html
    assert ("Leak? <code>boat</code> alone predicts" in html) == ("titanic" in name)
    assert ("Words for spam" in html) == ("sms" in name)


def test_columns_of_titanic_that_know_the_outcome_are_pointed_out(shared, tmp_path, capfd):
    command = f"fit {shared('titanic/titanic.csv')} --target survived --model mixed -o {tmp_path / 'm.deciban'}"
    err = said(command, capfd)[1]
    assert "`boat` alone predicts the class of 97" in err
    assert "`body` is given in 121 rows, and 100.0 % of them are `0`" in err
    assert "--drop boat" in err


def test_play_tennis_of_the_arff_file(shared, tmp_path, capfd):
    data = shared("weka_arff/weather.nominal.arff")
    said(f"fit {data} --model mixed -o {tmp_path / 'm.deciban'}", capfd)
    model = deciban.load(tmp_path / "m.deciban")
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.class_count_.tolist() == [5, 9]
