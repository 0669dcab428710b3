"""Forgetting and merging at the edges (B19)."""

from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import deciban
from deciban import (
    AODE,
    BayesNet,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    FisherDiscriminant,
    GaussianNB,
    KDependenceBayes,
    LinearDiscriminantAnalysis,
    MixedNB,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    TreeAugmentedNB,
)
from deciban.cli import main
from deciban.errors import DataError, ForgetError, MergeError

ROWS = np.array([[1.0, 0], [0, 1], [2, 1], [1, 2], [0, 3], [2, 0], [1, 1], [0, 2]])
LABELS = np.array(["a", "b"] * 4)
NUMBERS = [
    GaussianNB,
    MultinomialNB,
    BernoulliNB,
    ComplementNB,
    CategoricalNB,
    PoissonNB,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    FisherDiscriminant,
    MixedNB,
    TreeAugmentedNB,
    AODE,
    KDependenceBayes,
    BayesNet,
]
ASKED = ["predict", "predict_proba", "predict_log_proba", "decide", "log_odds", "decibans", "explain", "score_samples"]


def tables() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(3)
    y = np.array(["p", "q"] * 30)
    X = pd.DataFrame({"a": rng.normal(size=60) + (y == "q"), "b": rng.choice(list("uvw"), 60), "c": rng.poisson(3, 60)})
    X["d"] = rng.choice(["s", "t"], 60)
    X.loc[3, ["a", "b"]] = [np.nan, None]
    return X, y


# models without rows


@pytest.mark.parametrize("model", NUMBERS)
@pytest.mark.parametrize("method", [*ASKED, "sample", "leave_one_out"])
def test_b19_a_model_without_rows_says_so(model, method):
    fitted = model().fit(ROWS, LABELS).forget(ROWS, LABELS)
    assert fitted.class_count_.tolist() == [0, 0]
    if not hasattr(fitted, method):
        pytest.skip("has no such method")
    given = {"sample": (3,), "leave_one_out": (ROWS[:2], LABELS[:2])}.get(method, (ROWS,))
    with pytest.raises((DataError, ForgetError), match=r"no rows are left|less weight"):
        getattr(fitted, method)(*given)


@pytest.mark.parametrize("model", NUMBERS)
def test_b19_a_model_without_rows_learns_again_and_can_be_stored(model, tmp_path):
    fitted = model().fit(ROWS, LABELS).forget(ROWS, LABELS)
    deciban.save(fitted, tmp_path / "empty.deciban")
    loaded = deciban.load(tmp_path / "empty.deciban")
    with pytest.raises(DataError, match="no rows are left"):
        loaded.predict(ROWS)
    again = loaded.partial_fit(ROWS, LABELS)
    np.testing.assert_allclose(again.predict_proba(ROWS), model().fit(ROWS, LABELS).predict_proba(ROWS), atol=1e-12)


def test_b19_attributes_of_a_model_without_rows_are_not_there():
    model = GaussianNB().fit(ROWS, LABELS).forget(ROWS, LABELS)
    assert "theta_" not in dir(model)
    assert not hasattr(model, "theta_")


def test_b19_frames_too():
    X = pd.DataFrame({"x": [1.0, 2], "c": ["u", "v"]})
    model = MixedNB().fit(X, ["a", "b"]).forget(X, ["a", "b"])
    with pytest.raises(DataError, match=r"no rows are left: .* `forget`"):
        model.predict_proba(X)


def test_b19_given_networks_have_no_rows_and_answer():
    net = BayesNet.from_edges(
        [("c", "x")],
        levels={"c": ["n", "y"], "x": ["0", "1"]},
        tables={"c": [0.5, 0.5], "x": [[0.9, 0.1], [0.2, 0.8]]},
        target="c",
    )
    assert net.predict(pd.DataFrame({"x": ["1"]})).tolist() == ["y"]


# rows that were never learned


def test_b19_the_message_names_class_and_row():
    A, y = np.random.default_rng(0).normal(40, 10, (200, 1)), ["a", "b"] * 100
    model = GaussianNB().fit(A, y)
    with pytest.raises(ForgetError) as told:
        model.forget([[40.0], [-500.0]], ["b", "a"])
    assert "row 1 (-500) of class 'a' was never learned" in str(told.value)
    assert "'b'" not in str(told.value)
    frame = MixedNB().fit(pd.DataFrame({"x": A[:, 0], "c": ["u", "v"] * 100}), y)
    with pytest.raises(ForgetError, match=r"row 0 \(x = 40, c = v\) of class 'a' was never learned"):
        frame.forget(pd.DataFrame({"x": [40.0], "c": ["v"]}), ["a"])


def test_b19_more_rows_than_were_learned():
    model = GaussianNB().fit(ROWS, LABELS)
    with pytest.raises(ForgetError, match="class 'a'"):
        model.forget(np.repeat(ROWS[:1], 5, axis=0), ["a"] * 5)
    assert model.class_count_.tolist() == [4, 4]


def test_b19_a_row_forgotten_twice():
    X, y = tables()
    model = MixedNB().fit(X, y).forget(X[:1], y[:1])
    with pytest.raises(ForgetError, match="never learned"):
        model.forget(X[:1], y[:1])
    before = MixedNB().fit(X[1:], y[1:])
    np.testing.assert_allclose(model.predict_proba(X), before.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("model", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, FisherDiscriminant])
@pytest.mark.parametrize("columns", [2, 12])
def test_b19_discriminants_notice_rows_far_out(model, columns):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10, columns)), ["a", "b"] * 5
    settings = {"solver": "lsqr", "shrinkage": 0.5} if model is LinearDiscriminantAnalysis else {}
    settings = {"reg_param": 0.5} if model is QuadraticDiscriminantAnalysis else settings
    fitted = model(**settings).fit(X, y)
    with pytest.raises(ForgetError, match="never learned"):
        fitted.forget(np.full((1, columns), 300.0), ["a"])


@pytest.mark.parametrize("model", [GaussianNB, MixedNB, TreeAugmentedNB])
def test_b19_an_unknown_label_has_a_hint_about_forgetting(model):
    fitted = model().fit(ROWS, LABELS)
    with pytest.raises(ForgetError, match="class 'zz' was never learned") as told:
        fitted.forget(ROWS[:1], ["zz"])
    assert "`classes`" not in str(told.value)
    assert "'a', 'b'" in str(told.value)


# merging


@pytest.mark.parametrize(
    "make",
    [
        MixedNB,
        lambda: MixedNB(missing="informative", unseen="reserve"),
        lambda: MixedNB(average="subsets", families="student", alpha=1.0),
        lambda: MixedNB(families={"c": "poisson", "a": "gaussian"}),
        lambda: TreeAugmentedNB(cuts={"a": [0.0, 1.0], "c": [2.5]}),
        lambda: AODE(cuts={"a": [0.0, 1.0], "c": [2.5]}),
        lambda: KDependenceBayes(cuts={"a": [0.0, 1.0], "c": [2.5]}),
        lambda: BayesNet(cuts={"a": [0.0, 1.0], "c": [2.5]}),
    ],
)
def test_b19_columns_in_another_order_are_aligned_by_name(make):
    X, y = tables()
    first, second = make().fit(X[:30], y[:30]), make().fit(X.loc[30:, ["d", "b", "c", "a"]], y[30:])
    whole = make().fit(X, y)
    for both in (first + second, deciban.merge([first, second])):
        assert both.feature_names_in_.tolist() == ["a", "b", "c", "d"]
        np.testing.assert_allclose(both.predict_proba(X), whole.predict_proba(X), rtol=1e-9)
    np.testing.assert_allclose((second + first).predict_proba(X), whole.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB,
        PoissonNB,
        MultinomialNB,
        CategoricalNB,
        LinearDiscriminantAnalysis,
        lambda: QuadraticDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
        lambda: LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    ],
)
def test_b19_frames_of_numbers_are_aligned_too(model):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.poisson(3, (40, 3)).astype(float), columns=list("abc"))
    y = np.array([0, 1] * 20)
    both = model().fit(X[:20], y[:20]) + model().fit(X.loc[20:, list("cab")], y[20:])
    np.testing.assert_allclose(both.predict_proba(X), model().fit(X, y).predict_proba(X), rtol=1e-9)


def test_b19_other_columns_are_named():
    X, y = tables()
    with pytest.raises(MergeError, match="`d` is in the first model only, `e` is in the second model only"):
        MixedNB().fit(X, y) + MixedNB().fit(X.rename(columns={"d": "e"}), y)


@pytest.mark.parametrize(("model", "kind"), [(GaussianNB, None), (MixedNB, None), (MixedNB, object)])
def test_b19_labels_of_other_types_do_not_merge(model, kind):
    X = [[1.0], [2.0], [3.0], [4.0]]
    first, second = np.array(["a", "b"] * 2, dtype=kind), np.array([0, 1] * 2, dtype=kind)
    with pytest.raises(MergeError, match=r"labels are texts .*'a'.* and numbers .*0.* in the other"):
        model().fit(X, first) + model().fit(X, second)
    with pytest.raises(MergeError, match="labels"):
        deciban.merge([model().fit(X, second), model().fit(X, first)])


def test_b19_texts_as_objects_do_not_merge_with_numbers():
    X = [[1.0], [2.0], [3.0], [4.0]]
    with pytest.raises(MergeError, match="labels are texts"):
        GaussianNB().fit(X, np.array(["a", "b"] * 2, dtype=object)) + GaussianNB().fit(X, [0, 1] * 2)


def test_b19_numbers_of_any_width_merge():
    X = [[1.0], [2.0], [3.0], [4.0]]
    both = GaussianNB().fit(X, np.array([0, 1] * 2, dtype=np.int8)) + GaussianNB().fit(X, np.array([1.0, 2.0] * 2))
    assert both.classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("model", [MixedNB, lambda: TreeAugmentedNB(cuts={"age": [3.0]})])
def test_b19_numbers_and_texts_of_one_column_are_told_in_a_line(model):
    y = ["p", "q"] * 4
    numbers = model().fit(pd.DataFrame({"age": np.arange(8.0)}), y)
    texts = MixedNB() if model is MixedNB else TreeAugmentedNB(cuts={})
    texts = texts.fit(pd.DataFrame({"age": list("uvuvwvwu")}), y)
    texts.__dict__.update({name: getattr(numbers, name) for name in numbers.get_params()})
    with pytest.raises(MergeError) as told:
        numbers + texts
    assert "column `age` holds numbers in one model and levels (such as 'u') in the other" in str(told.value)
    assert "BestOf" not in str(told.value)


def test_b19_other_families_are_named_shortly():
    X, y = tables()
    first, second = MixedNB(families={"a": "gaussian"}).fit(X, y), MixedNB(families={"a": "student"}).fit(X, y)
    second.families = first.families
    with pytest.raises(MergeError, match="column `a` is gaussian in one model and student in the other"):
        first + second


# the command line


def test_b19_the_command_line_says_that_no_rows_are_left(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("job,age,y\n" + "cook,30,yes\nnurse,40,no\n" * 6)
    for words in ("fit -q rows.csv -t y --updatable -o m", "forget -q m rows.csv", "predict m rows.csv -o out.csv"):
        with pytest.raises(SystemExit) as ended:
            main(words.split())
    assert ended.value.code == 1
    assert "no rows are left" in capfd.readouterr().err


# files


class Noon:
    @staticmethod
    def now(zone):
        return datetime(2020, 1, 1, 12, tzinfo=zone)


@pytest.mark.parametrize("model", [MixedNB, TreeAugmentedNB, AODE, KDependenceBayes, BayesNet, CategoricalNB])
def test_f19_counts_leave_the_same_file_as_a_fit_without_the_rows(model, tmp_path, monkeypatch):
    monkeypatch.setattr("deciban.model_file.datetime", Noon)
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame({name: rng.choice(list("uvw"), 40) for name in "abc"}), np.array(["p", "q"] * 20)
    X.loc[39, "a"] = "only"
    if model is CategoricalNB:
        X = X.map({"u": 0, "v": 1, "w": 2, "only": 1}.get).astype(int)
    deciban.save(model().fit(X, y).forget(X[39:], y[39:]), tmp_path / "forgot")
    deciban.save(model().fit(X[:39], y[:39]), tmp_path / "never")
    assert (tmp_path / "forgot").read_bytes() == (tmp_path / "never").read_bytes()


def test_task_115_what_goes_unnoticed_is_documented():
    """Counts of each column know cells; those of distinct rows, which the structured models keep, know rows."""
    X = pd.DataFrame({"a": list("uvuv") * 2, "b": list("xxyy") * 2})
    y = ["p"] * 4 + ["q"] * 4
    twice = pd.concat([X[:1], X[:1]])
    assert MixedNB().fit(X, y).forget(twice, ["p", "p"]).class_count_.tolist() == [2, 4]
    with pytest.raises(ForgetError, match="were learned"):
        TreeAugmentedNB().fit(X, y).forget(twice, ["p", "p"])
    words = " ".join(MixedNB.forget.__doc__.split())
    assert "but not a row composed of cells of other rows" in words


def test_task_117_models_are_merged_one_by_one_or_as_a_list(tmp_path):
    X, y = [[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"]
    one, two = GaussianNB().fit(X[:2], y[:2]), GaussianNB().fit(X[2:], y[2:])
    deciban.save(two, tmp_path / "two.deciban")
    whole = GaussianNB().fit(X, y).theta_
    for merged in (deciban.merge([one, two]), deciban.merge(one, two), deciban.merge(one, tmp_path / "two.deciban")):
        np.testing.assert_allclose(merged.theta_, whole)
    np.testing.assert_array_equal(deciban.merge(one).theta_, one.theta_)
    with pytest.raises(MergeError, match="no models to merge"):
        deciban.merge()
