"""The command on the shared data sets, with no further options: sensible models, leaks pointed out."""

import json

import pytest

import deciban

from ..support.cli import output

SETS = {
    "titanic/titanic.csv": ("--target survived", 0.78),
    "house_votes_84/house_votes_84.csv": ("--target party", 0.94),
    "weka_arff/weather.nominal.arff": ("", 0.4),
    "weka_arff/iris.arff": ("", 0.94),
    "mushroom/mushroom.csv.gz": ("--target class --model mixed", 0.98),
    "adult/adult.csv.gz": ("--target income --model calibrated", 0.845),
    "sms_spam/sms_spam.csv.gz": ("", 0.98),
}


@pytest.fixture(scope="module")
def fit(tmp_path_factory):
    """(path of the model, stdout, stderr) of `fit`, run once for the same data and options."""
    folder, known = tmp_path_factory.mktemp("models"), {}

    def run(data, options: str, capfd) -> tuple:
        if (data, options) not in known:
            model = folder / f"{len(known)}.deciban"
            known[data, options] = model, *output(f"fit {data} {options} -o {model} --json", capfd)
        return known[data, options]

    return run


@pytest.mark.parametrize("name", SETS)
def test_fit_and_explain_a_shared_set(name, shared, fit, capfd):
    options, least = SETS[name]
    data = shared(name)
    model, out, _ = fit(data, options, capfd)
    told = json.loads(out)
    assert told["metrics"]["accuracy"] > least
    out = output(f"explain {model} {data} --row 3", capfd)[0]
    assert out.startswith("row 3: ")
    fitted = deciban.load(model)
    assert told["columns"] == [str(name) for name in getattr(fitted, "feature_names_in_", ["text"])]


@pytest.mark.parametrize("name", ["titanic/titanic.csv", "sms_spam/sms_spam.csv.gz", "weka_arff/weather.nominal.arff"])
def test_report_of_a_shared_set(name, shared, fit, tmp_path, capfd):
    data, page = shared(name), tmp_path / "report.html"
    kind = "" if "sms" in name else "--model mixed"
    model, _, _ = fit(data, f"{SETS[name][0]} {kind}".strip(), capfd)
    output(f"report {model} {data} -o {page}", capfd)
    html = page.read_text(encoding="utf-8")
    assert "cross-validated in 10 folds" in html
    assert ("Leak? <code>boat</code> alone predicts" in html) == ("titanic" in name)
    assert ("Words for spam" in html) == ("sms" in name)


def test_columns_of_titanic_that_know_the_outcome_are_pointed_out(shared, fit, capfd):
    _, _, err = fit(shared("titanic/titanic.csv"), "--target survived --model mixed", capfd)
    assert "`boat` alone predicts the class of 97" in err
    assert "`body` is given in 121 rows, and 100.0 % of them are `0`" in err
    assert "--drop boat" in err


def test_play_tennis_of_the_arff_file(shared, fit, capfd):
    model = deciban.load(fit(shared("weka_arff/weather.nominal.arff"), "--model mixed", capfd)[0])
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.class_count_.tolist() == [5, 9]
