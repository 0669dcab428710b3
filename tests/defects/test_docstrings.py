"""Public classifiers say what they take and what they have learned."""

from __future__ import annotations

import inspect
import re

import pytest

import deciban
from deciban import BayesOptimal, GaussianNB, Gibbs, LogisticRegression, TextClassifier

from ..support.models import CLASSES, fitted, rows_for

EVERY = [*(model() for model in CLASSES), LogisticRegression(), TextClassifier()]
EVERY += [model([GaussianNB()], weights=[1.0]) for model in (BayesOptimal, Gibbs)]


def section(doc: str, name: str) -> str:
    """The text of one section of a numpydoc docstring."""
    found = re.search(rf"^{name}\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", doc, flags=re.DOTALL | re.MULTILINE)
    return "" if found is None else found[1]


@pytest.mark.parametrize("model", EVERY, ids=lambda model: type(model).__name__)
def test_documentation_2_settings_and_fitted_attributes_are_documented(model):
    doc = inspect.getdoc(type(model)) or ""
    taken = set(inspect.signature(type(model)).parameters)
    assert taken - set(re.findall(r"\w+", section(doc, "Parameters"))) == set()
    x, y = rows_for(model)
    learned = {name for name in dir(fitted(model, x, y)) if name.endswith("_") and not name.startswith("_")}
    assert learned - set(re.findall(r"\w+", section(doc, "Attributes"))) == set()


@pytest.mark.parametrize("model", EVERY, ids=lambda model: type(model).__name__)
def test_documentation_2_every_method_has_a_docstring(model):
    for name in dir(type(model)):
        thing = inspect.getattr_static(type(model), name)
        own = getattr(thing, "__func__", getattr(thing, "fget", thing))
        if not name.startswith("_") and getattr(own, "__module__", "").startswith("deciban"):
            assert inspect.getdoc(getattr(type(model), name, thing)), name


def test_documentation_2_leave_one_out_says_log_probabilities():
    for model in (deciban.MixedNB, deciban.GaussianNB, deciban.TreeAugmentedNB):
        assert "log" in model.leave_one_out.__doc__.lower()
        assert ">>>" in model.leave_one_out.__doc__
        assert ">>>" in model.forget.__doc__
