"""Names that are nearly right: of the library, and of settings."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys

import pytest
from sklearn.base import clone

import deciban
from deciban import BayesOptimal, GaussianNB, LogisticRegression, MixedNB, TextClassifier


@pytest.mark.parametrize(
    ("name", "meant"), [("GausianNB", "GaussianNB"), ("mixednb", "MixedNB"), ("auto_fits", "auto_fit")]
)
def test_task_79_a_name_of_the_library(name, meant):
    with pytest.raises(AttributeError, match=f"(?s)no attribute '{name}'.*did you mean {meant}\\?"):
        getattr(deciban, name)


def test_task_79_a_name_like_no_other():
    with pytest.raises(AttributeError, match=r"^module 'deciban' has no attribute 'qqq'$"):
        deciban.qqq  # noqa: B018


@pytest.mark.parametrize(
    ("model", "name", "meant"),
    [
        (MixedNB, "calibrated", "calibrate"),
        (GaussianNB, "prior", "priors"),
        (LogisticRegression, "c", "C"),
        (BayesOptimal, "model", "models"),
        (TextClassifier, "feature", "features"),
    ],
)
def test_task_79_a_setting(model, name, meant):
    with pytest.raises(TypeError, match=f"(?s){model.__name__} has no setting `{name}`.*did you mean `{meant}`"):
        model(**{name: 1})


def test_task_79_constructors_are_what_they_were():
    model = MixedNB(calibrate=True)
    assert list(inspect.signature(MixedNB).parameters)[:2] == ["families", "alpha"]
    assert clone(model).get_params() == pickle.loads(pickle.dumps(model)).get_params() == model.get_params()

    class Own(MixedNB):
        pass

    assert Own(calibrate=True).get_params() == model.get_params()
    with pytest.raises(TypeError, match="Own has no setting `calibrated`"):
        Own(calibrated=True)


def test_coverage_10_plots_without_an_import():
    script = "import deciban; deciban.plots.sigmoid; deciban.errors.DataError; assert 'plots' in dir(deciban)"
    subprocess.run([sys.executable, "-c", script], check=True)
