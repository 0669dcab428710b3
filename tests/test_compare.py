"""`compare`: what it takes as models, how it names them, and what it refuses."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB
from sklearn.naive_bayes import MultinomialNB as SklearnMultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import deciban
from deciban.cli import main
from deciban.errors import DataError
from deciban.model_selection.compare import KINDS, PUBLIC, get_candidate

from .support.models import UNITS

N = 60


@pytest.fixture(scope="module")
def numbers() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], N // 2)
    return rng.normal(size=(N, 2)) + 1.5 * (y == "b")[:, None], y


def exit_code(command: str) -> int:
    with pytest.raises(SystemExit) as stopped:
        main(command.split())
    return stopped.value.code


def names(out) -> set[str]:
    return {trial.name for trial in out.trials}


def test_every_public_classifier_has_a_candidate_by_its_class_name():
    public = {
        name
        for name in deciban.__all__
        if isinstance(found := getattr(deciban, name), type) and issubclass(found, ClassifierMixin)
    }
    assert set(PUBLIC) == public - {unit.__name__ for unit in UNITS}
    for name, kind in PUBLIC.items():
        assert type(kind.make()) is getattr(deciban, name)
    assert not set(PUBLIC) & set(KINDS)


def test_a_name_an_estimator_and_a_mapping_give_the_same_scores(numbers):
    outs = [
        deciban.compare(*numbers, models, folds=3)
        for models in (["GaussianNB"], "GaussianNB", deciban.GaussianNB(), {"GaussianNB": deciban.GaussianNB()})
    ]
    assert [names(out) for out in outs] == [{"GaussianNB"}] * 4
    assert len({out.best.held_out.log_loss for out in outs}) == 1
    short = deciban.compare(*numbers, ["gaussian"], folds=3)
    assert short.best.held_out.log_loss == outs[0].best.held_out.log_loss


def test_estimators_of_scikit_learn_are_ranked_with_ours(numbers):
    X, y = numbers
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    out = deciban.compare(X, y, [SklearnGaussianNB(), "LinearDiscriminantAnalysis", pipeline], folds=3)
    assert names(out) == {"GaussianNB", "LinearDiscriminantAnalysis", "Pipeline"}
    losses = [trial.held_out.log_loss for trial in out.trials]
    assert losses == sorted(losses)
    theirs = {trial.name: trial.held_out for trial in out.trials}["GaussianNB"]
    ours = deciban.compare(X, y, ["GaussianNB"], folds=3).best.held_out
    assert (theirs.repeats, ours.repeats) == (1, 3)  # an estimator of unknown cost is cross-validated once
    assert np.allclose(theirs.log_proba, ours.log_proba[: len(y)])


def test_the_default_is_all_classifiers_that_suit_the_columns(numbers):
    X, y = numbers
    out = deciban.compare(X, y, folds=3)
    assert names(out) | set(out.unfit) == {name for name, kind in KINDS.items() if not kind.texts}


def test_estimators_are_not_fitted(numbers):
    model, other = deciban.GaussianNB(), SklearnGaussianNB()
    deciban.compare(*numbers, [model, other], folds=3)
    assert not hasattr(model, "classes_")
    assert not hasattr(other, "classes_")


def test_estimators_of_one_class_are_numbered(numbers):
    models = [deciban.GaussianNB(), deciban.GaussianNB(var_smoothing=0.5), "MixedNB"]
    out = deciban.compare(*numbers, models, folds=3)
    assert names(out) == {"GaussianNB-1", "GaussianNB-2", "MixedNB"}
    words = {trial.name: trial.kind.words for trial in out.trials}
    assert words["GaussianNB-2"] == "GaussianNB(var_smoothing=0.5)"


def test_a_mapping_names_estimators_and_names(numbers):
    out = deciban.compare(*numbers, {"base": DummyClassifier(), 1: "GaussianNB"}, folds=3)
    assert [trial.name for trial in out.trials] == ["1", "base"]
    assert out.chosen.name == "1"


def test_only_default_settings_promise_updates(numbers):
    out = deciban.compare(*numbers, [deciban.MixedNB(calibrate=True), deciban.GaussianNB()], folds=3)
    assert {trial.name: trial.kind.updates for trial in out.trials} == {"MixedNB": False, "GaussianNB": True}


def test_names_are_skipped_by_their_requirements_and_estimators_by_their_errors():
    X = pd.DataFrame({"colour": ["red", "blue"] * 10, "size": np.arange(20.0) % 7 - 3})
    y = np.array([0, 1] * 10)
    out = deciban.compare(X, y, ["MixedNB", "MultinomialNB", deciban.PoissonNB(), LogisticRegression()], folds=2)
    assert names(out) == {"MixedNB"}
    assert out.unfit["MultinomialNB"] == "needs counts in every column"
    assert "colour" in out.unfit["PoissonNB"]
    assert "could not convert string to float" in out.unfit["LogisticRegression"]


def test_a_text_pipeline_is_compared_on_texts():
    texts = [f"{word} number {i} of a list of sentences for a test" for i in range(12) for word in ("cheap", "dear")]
    y = np.array(["spam", "ham"] * 12)
    pipeline = make_pipeline(CountVectorizer(), SklearnMultinomialNB())
    out = deciban.compare(
        pd.DataFrame({"text": texts}), y, ["TextClassifier", pipeline, "MixedNB"], folds=3, text="text"
    )
    assert names(out) == {"TextClassifier", "Pipeline"}
    assert out.unfit == {"MixedNB": "does not read texts"}


WRONG = {
    "unknown name": (["GausianNB"], "no classifier is called 'GausianNB'.*did you mean 'GaussianNB'"),
    "unknown short name": (["ldaa"], "did you mean 'lda'"),
    "no near name": (["zzzz"], "mixed, calibrated"),
    "a class": ([deciban.GaussianNB], r"GaussianNB is a class, not an instance.*GaussianNB\(\)"),
    "one class, no list": (deciban.GaussianNB, "not an instance"),
    "a regressor": ([LinearRegression()], "LinearRegression is not a classifier"),
    "a transformer": ([StandardScaler()], "StandardScaler is not a classifier"),
    "a public name that is no classifier": (["CountVectorizer"], "no classifier is called 'CountVectorizer'"),
    "an object": ([3.5], "float is not a classifier"),
    "a number": (7, "models is of type int"),
    "nothing": ([], "models is empty"),
    "an empty mapping": ({}, "models is empty"),
    "no probabilities": ([LinearSVC()], "LinearSVC has no `predict_proba`.*CalibratedClassifierCV"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_models_are_refused_before_any_fit(case, numbers):
    models, message = WRONG[case]
    with pytest.raises(DataError, match=f"(?s){message}"):
        deciban.compare(*numbers, models)


def test_class_names_work_in_auto_fit(numbers):
    assert (
        type(deciban.auto_fit(*numbers, "QuadraticDiscriminantAnalysis").model).__name__
        == get_candidate("qda").make.__name__
    )


def test_the_command_line_takes_class_names(numbers, tmp_path, monkeypatch, capfd):
    X, y = numbers
    pd.DataFrame({"u": X[:, 0], "v": X[:, 1], "label": y}).to_csv(tmp_path / "rows.csv", index=False)
    monkeypatch.chdir(tmp_path)
    assert exit_code("compare rows.csv -t label --model GaussianNB --model lda --json") == 0
    assert {one["name"] for one in json.loads(capfd.readouterr().out)["ranked"]} == {"GaussianNB", "lda"}
    assert exit_code("compare rows.csv -t label --model GausianNB") == 1
    assert "did you mean 'GaussianNB'?" in capfd.readouterr().err
