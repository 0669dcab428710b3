"""Run the body of an installed scikit-learn test file with deciban's classes where it imports scikit-learn's.

    sklearn/tests/test_naive_bayes.py ─ run again, `sklearn.naive_bayes` patched → its tests, on our classes

Nothing is copied: the text read is that of the installed package.
"""

import importlib
from importlib.util import module_from_spec
from unittest import mock

import deciban

CLASSES = {
    "naive_bayes": ["BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"],
    "discriminant_analysis": ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"],
}


def borrow(room: str) -> dict:
    """The names of `sklearn.tests.test_<room>`, as they are when the classes it imports are ours."""
    # Importing the original first loads all it needs, so that no other module imports ours by mistake.
    original = importlib.import_module(f"sklearn.tests.test_{room}")
    ours = {name: getattr(deciban, name) for name in CLASSES[room]}
    module = module_from_spec(original.__spec__)
    with mock.patch.multiple(f"sklearn.{room}", **ours):
        module.__loader__.exec_module(module)
    return {name: value for name, value in vars(module).items() if not name.startswith("__")}
