"""The borrowed tests are all there and test our classes; those that fail are listed, with a reason, in the docs."""

import importlib

import pytest
import sklearn

import deciban

from .borrow import CLASSES, borrow, home
from .child import run_pytest
from .conftest import FOLDER
from .exceptions import LIMITS, TESTS, matches, page, reason


@pytest.fixture(scope="module")
def collected():
    """Ids of all borrowed tests, also when this run has selected a few."""
    output = run_pytest("--collect-only", "-q", *(FOLDER / f"test_{room}.py" for room in CLASSES))
    return [line.split(f"{FOLDER.name}/")[-1] for line in output.splitlines() if "::" in line]


def test_every_listed_test_exists(collected):
    assert [pattern for pattern in TESTS if not any(matches(pattern, name) for name in collected)] == []


@pytest.mark.parametrize("file", LIMITS)
def test_few_tests_are_listed(file, collected):
    listed = [name for name in collected if name.startswith(f"{file}::") and reason(name)]
    assert len(listed) <= LIMITS[file]


def test_the_page_lists_every_exception_with_its_reason():
    text = (FOLDER.parents[1] / "docs" / "scikit-learn.md").read_text()
    assert text == page(), "python -m tests.sklearn_suite.exceptions > docs/scikit-learn.md"


@pytest.mark.skipif(not sklearn.__version__.startswith("1.9."), reason="only counted for scikit-learn 1.9")
def test_all_tests_of_scikit_learn_are_collected(collected):
    logistic = [name for name in collected if name.startswith("test_logistic.py")]
    assert len(collected) == len(set(collected)) == 208 + 688 + 131
    assert len(logistic) == 688


@pytest.mark.parametrize("room", CLASSES)
def test_borrowed_tests_see_our_classes_and_scikit_learn_keeps_its_own(room):
    names, original = borrow(room), importlib.import_module(f"sklearn.{home(room)}")
    for name in CLASSES[room]:
        assert names[name] is getattr(deciban, name)
        assert getattr(original, name).__module__.startswith(f"sklearn.{home(room)}")
