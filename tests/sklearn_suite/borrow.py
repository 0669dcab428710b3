"""Run the body of an installed scikit-learn test file with deciban's classes where it imports scikit-learn's.

    sklearn/tests/test_naive_bayes.py ─ run again, `sklearn.naive_bayes` patched → its tests, on our classes

Nothing is copied: the text read is that of the installed package.
"""

import importlib
import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from unittest import mock

import deciban

CLASSES = {
    "naive_bayes": ["BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"],
    "discriminant_analysis": ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"],
    "logistic": ["LogisticRegression"],
    "text": ["CountVectorizer", "HashingVectorizer", "TfidfVectorizer"],
}
HOMES = {"logistic": "linear_model", "text": "feature_extraction"}  # where scikit-learn keeps the tests, if apart
MODULES = {"text": "feature_extraction.text"}  # where it keeps the class, if not in its home


def home(room: str) -> str:
    """The module that the tests import the classes from."""
    return MODULES.get(room, HOMES.get(room, room))


def source(room: str) -> str:
    """The test module's name."""
    return f"sklearn.{HOMES[room]}.tests.test_{room}" if room in HOMES else f"sklearn.tests.test_{room}"


@cache
def borrow(room: str) -> dict:
    """The names of scikit-learn's `test_<room>`, as they are when the classes it imports are ours."""
    # Importing the original first loads all it needs, so that no other module imports ours by mistake.
    original = importlib.import_module(source(room))
    ours = {name: getattr(deciban, name) for name in CLASSES[room]}
    # Under a name of its own, by which pickle finds again what the module defines.
    spec = spec_from_file_location(f"borrowed_{room}", original.__file__)
    module = sys.modules[spec.name] = module_from_spec(spec)
    with mock.patch.multiple(f"sklearn.{home(room)}", **ours):
        module.__loader__.exec_module(module)
    return {name: value for name, value in vars(module).items() if not name.startswith("__")}
