"""Tasks of new users: settings that another classifier has, models as bytes, print-outs."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import deciban
from deciban import (
    BayesOptimal,
    BernoulliNB,
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    MultinomialNB,
    PoissonNB,
)
from deciban.errors import DataError, ModelFileError, SupportError

X = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 2.0], [4.0, 7.0], [5.0, 5.0], [7.0, 6.0]])
Y = np.array(["a", "a", "b", "a", "b", "b"])


@pytest.mark.parametrize(
    ("model", "setting", "hint"),
    [
        (GaussianNB, "class_weight", 'priors="uniform" gives all classes the same weight'),
        (PoissonNB, "class_weight", 'priors="uniform" gives'),
        (FisherDiscriminant, "class_weight", 'priors="uniform" gives'),
        (LinearDiscriminantAnalysis, "class_weight", 'priors="uniform" gives'),
        (BernoulliNB, "class_weight", 'class_prior="uniform" gives'),
        (BayesOptimal, "class_weight", 'priors="uniform" gives all classes the same weight'),
        (BernoulliNB, "priors", "did you mean `class_prior`?"),
        (GaussianNB, "class_prior", "did you mean `priors`?"),
        (LogisticRegression, "priors", "predict_proba(X, priors=...) takes other class priors"),
    ],
)
def test_task_043_044_a_setting_of_another_classifier(model, setting, hint):
    with pytest.raises(TypeError) as raised:
        model(**{setting: "balanced"})
    assert hint in str(raised.value)


@pytest.mark.parametrize("model", [MixedNB(), LogisticRegression()], ids=lambda model: type(model).__name__)
def test_task_049_a_model_as_bytes(model):
    content = deciban.dumps(model.fit(X, Y), source="here")
    for loaded in (deciban.loads(content), deciban.loads(memoryview(content)), deciban.load(io.BytesIO(content))):
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert deciban.model_info(content)["source"] == "here"


def test_dumps_is_what_save_writes(tmp_path):
    model, date = GaussianNB().fit(X, Y), datetime(2020, 1, 1, tzinfo=UTC)
    deciban.save(model, tmp_path / "m.deciban", date=date)
    assert deciban.dumps(model, date=date) == (tmp_path / "m.deciban").read_bytes()


def test_bytes_and_paths_are_not_confused(tmp_path):
    with pytest.raises(ModelFileError, match="loads"):
        deciban.load(deciban.dumps(GaussianNB().fit(X, Y)))
    with pytest.raises(ModelFileError, match="load"):
        deciban.loads(str(tmp_path))


def test_a_file_that_is_not_there_is_both_errors(tmp_path):
    with pytest.raises(ModelFileError) as raised:
        deciban.load(tmp_path / "absent.deciban")
    assert isinstance(raised.value, FileNotFoundError)
    assert raised.value.filename == str(tmp_path / "absent.deciban")
    assert "absent.deciban" in str(raised.value)
    assert "hint:" in str(raised.value)


def test_task_049_a_file_that_is_open(tmp_path):
    model, path = GaussianNB().fit(X, Y), tmp_path / "m.deciban"
    with open(path, "wb") as file:
        deciban.save(model, file)
    with open(path, "rb") as file:
        assert deciban.load(file).class_count_.tolist() == [3.0, 3.0]
    assert deciban.load(path).class_count_.tolist() == [3.0, 3.0]


@pytest.mark.parametrize("given", [b"", b"PK\3\4 no model", io.StringIO("text"), 7])
def test_task_049_bytes_that_are_no_model(given):
    read = deciban.loads if isinstance(given, bytes) else deciban.load
    with pytest.raises(ModelFileError, match=r"the bytes: .*\n\nhint"):
        read(given)


def test_task_049_what_cannot_be_saved_says_what_can():
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    with pytest.raises(ModelFileError, match=r"hint: save the classifier inside it; .*joblib"):
        deciban.save(pipeline, io.BytesIO())
    with pytest.raises(ModelFileError, match="7 is no file to write to"):
        deciban.save(GaussianNB().fit(X, Y), 7)


def test_task_051_robust_errors_of_another_kind_are_no_robust_errors():
    with pytest.raises(DataError, match=r"robust is 'HC1'\n\nhint: True \(sandwich errors, HC0\) or False"):
        LogisticRegression().fit(X, Y).summary(robust="HC1")


def test_task_054_a_fit_without_doubt_has_no_negative_deviance():
    with pytest.warns(UserWarning, match="separation"):
        model = LogisticRegression(C=np.inf).fit([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1])
    assert "deviance -0" not in str(model.summary())


def test_task_062_an_objective_prints_in_a_line():
    assert repr(LogisticRegression().objective(X, Y)) == "Objective of 3 parameters: 6 rows, 2 columns, 2 classes"


@pytest.mark.parametrize("model", [GaussianNB(), LinearDiscriminantAnalysis(), LogisticRegression()])
def test_task_006_infinite_cells_are_named_by_their_column(model):
    wide = pd.DataFrame(X, columns=["age", "size"])
    wide.loc[3, "size"] = np.inf
    with pytest.raises(SupportError, match="row 3, column `size`"):
        model.fit(wide, Y)
    with pytest.raises(SupportError, match="row 3, column `size`"):
        model.fit(wide.fillna(0.0).replace(np.inf, 9.0), Y).predict_proba(wide)


def test_task_006_negative_counts_are_named_by_their_column():
    with pytest.raises(SupportError, match="row 0, column `size`"):
        MultinomialNB().fit(pd.DataFrame(X - [0.0, 2.0], columns=["age", "size"]), Y)
