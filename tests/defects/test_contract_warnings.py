"""Columns that are hardly meant to be learned from are named, once (F3, F4, B14)."""

import warnings

import numpy as np
import pandas as pd
import pytest

import deciban
from deciban import AODE, GaussianNB, LogisticRegression, MixedNB, TreeAugmentedNB
from deciban.cli import main
from deciban.errors import ColumnWarning

MODELS = [MixedNB, TreeAugmentedNB, AODE]


def rows(n: int = 100) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(0)
    y = pd.Series(np.array(["no", "yes"])[rng.integers(0, 2, n)], name="bought")
    return pd.DataFrame({"x": rng.normal(size=n), "sky": rng.choice(["grey", "blue"], n)}), y


def told(X, y, model=MixedNB) -> str:
    with pytest.warns(ColumnWarning) as heard:
        model().fit(X, y)
    assert len(heard) == 1
    return str(heard[0].message)


@pytest.mark.parametrize("model", MODELS)
def test_f03_constants_empty_columns_and_copies_are_named(model):
    X, y = rows()
    X["one"], X["none"], X["nothing"] = 3, np.nan, pd.Series([None] * 100, dtype=object)
    X["again"], X["sky2"], X["word"] = X["x"], X["sky"], "w"
    text = told(X, y, model)
    assert "`none`, `nothing` have no cells" in text
    assert "`one`, `word` have one value each in all rows" in text
    assert "`again` is a copy of `x`" in text
    assert "`sky2` is a copy of `sky`" in text
    assert "hint:" in text


def test_f03_gaps_in_a_constant_may_tell_something():
    X, y = rows()
    X["boat"] = np.where(np.arange(100) % 3 == 0, "yes", None)
    MixedNB().fit(X, y)  # warnings are errors here


@pytest.mark.parametrize("target", ["bought", None])
def test_f04_the_target_in_x_is_named(target):
    X, y = rows()
    assert "`outcome` is the target itself" in told(X.assign(outcome=y), y.rename(target))
    numbers = (y == "yes").astype(int)
    assert "`outcome` is the target itself" in told(X.assign(outcome=numbers), numbers.rename(target))


def test_f04_a_column_with_the_name_of_y():
    X, y = rows()
    assert "`bought` has the name of the target" in told(X.assign(bought=X["sky"].to_numpy()[::-1]), y)


def test_b14_identifiers_are_named():
    X, y = rows()
    X["customer"] = np.random.default_rng(1).permutation(100) * 7 + 1000
    X["ticket"] = [f"T{i}" for i in range(100)]
    assert "`customer`, `ticket` have another value in every row" in told(X, y)
    ids = pd.DataFrame({"customer_id": np.arange(400) + 100000})
    assert "`customer_id` has another value in every row" in told(ids, [0] * 200 + [1] * 200)


def test_b14_measurements_and_small_tables_are_not():
    X, y = rows()
    X["price"] = np.round(np.random.default_rng(2).lognormal(3, 1, 100), 4)
    X["rate"] = np.arange(100.0)
    MixedNB().fit(X, y)
    few = pd.DataFrame({"name": list("abcdefgh"), "number": range(8), "one": 1, "copy": list("abcdefgh")})
    MixedNB().fit(few, ["p", "q"] * 4)


def test_b14_long_tables_are_judged_by_a_sample():
    n = 50_000
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"id": rng.permutation(n), "age": rng.integers(0, 90, n), "x": rng.normal(size=n)})
    assert told(X, rng.integers(0, 2, n)).startswith("`id` has another value")


def test_f03_arrays_by_number():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    X[:, 1], X[:, 2] = 4.0, X[:, 0]
    assert told(X, rng.integers(0, 2, 50)).startswith(
        "column 1 has one value in all rows; column 2 is a copy of column 0"
    )


def test_f03_the_warning_can_be_silenced_and_scikit_learns_classes_do_not_warn():
    X, y = rows()
    X = X[["x"]].assign(one=1.0)
    GaussianNB().fit(X, y)
    LogisticRegression().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)
        MixedNB().fit(X, y)


@pytest.mark.parametrize(
    "learn",
    [
        lambda X, y: deciban.BayesOptimal().fit(X, y),
        lambda X, y: deciban.Gibbs([MixedNB(), TreeAugmentedNB()], weights=[1, 1]).fit(X, y),
        lambda X, y: deciban.select_model([MixedNB(), MixedNB(alpha=1)], X, y),
        lambda X, y: deciban.report(MixedNB(calibrate=True).fit(X, y), X, y),
    ],
    ids=["BayesOptimal", "Gibbs", "select", "report"],
)
def test_f03_several_models_of_the_same_rows_name_them_once(learn):
    X, y = rows()
    with pytest.warns(ColumnWarning) as heard:
        learn(X.assign(one=1.0), y)
    assert len(heard) == 1


def test_f03_folds_do_not_name_them_again():
    X, y = rows()
    X["one"] = np.where(np.arange(100) % 10 == 3, 1.0, 0.0)  # of one value outside of a fold
    for model in (MixedNB(), MixedNB(calibrate=True), TreeAugmentedNB()):
        deciban.cross_validate(model, X, y)  # warnings are errors here
        deciban.cross_validate(model, X, y, folds=np.arange(100) % 10)


def test_b14_learn_has_it_in_its_notes_with_any_model():
    X, y = rows()
    X["customer"] = np.random.default_rng(1).choice(10**6, 100, replace=False)
    for model in ("mixed", "lda", "auto"):
        out = deciban.auto_fit(X if model != "lda" else X.drop(columns="sky"), y, model)
        assert sum("`customer` has another value in every row" in note for note in out.notes) == 1


def test_b14_the_command_line_says_it(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    X, y = rows()
    X["customer"] = np.random.default_rng(1).choice(10**6, 100, replace=False)
    X.assign(bought=y).to_csv("rows.csv", index=False)
    for more in ([], ["--stream"]):
        with pytest.raises(SystemExit) as ended:
            main(["fit", "rows.csv", "-t", "bought", *more])
        assert ended.value.code == 0
        heard = capfd.readouterr()
        assert "`customer` has another value in every row" in heard.err + heard.out
