"""The borrowed tests are all there, test our classes, and are failed on purpose only where we say so."""

import importlib

import pytest
import sklearn

import deciban

from .borrow import CLASSES, borrow, home
from .child import run_pytest
from .conftest import FOLDER
from .deliberate import DELIBERATE
from .logistic_failures import LOGISTIC


@pytest.fixture(scope="module")
def collected():
    """Ids of all borrowed tests, also when this run has selected a few."""
    said = run_pytest("--collect-only", "-q", *(FOLDER / f"test_{room}.py" for room in CLASSES))
    return [line.split(f"{FOLDER.name}/")[-1] for line in said.splitlines() if "::" in line]


def test_at_most_eight_tests_are_failed_on_purpose():
    assert len(DELIBERATE) <= 8
    assert all(reason.strip() for reason in DELIBERATE.values())


def test_every_test_failed_on_purpose_exists(collected):
    assert not set(DELIBERATE) - set(collected)


@pytest.mark.skipif(not sklearn.__version__.startswith("1.9."), reason="only counted for scikit-learn 1.9")
def test_all_tests_of_scikit_learn_are_collected(collected):
    logistic = [name for name in collected if name.startswith("test_logistic.py")]
    assert len(collected) == len(set(collected)) == 208 + 688 + 131
    assert len(logistic) == 688


def test_every_logistic_test_that_fails_exists_and_they_are_few(collected):
    names = [name.split("::")[1] for name in collected if name.startswith("test_logistic.py")]
    failing = [name for name in names if name.startswith(tuple(LOGISTIC))]
    assert all(any(name.startswith(start) for name in names) for start in LOGISTIC)
    assert len(failing) <= 24


@pytest.mark.parametrize("room", CLASSES)
def test_borrowed_tests_see_our_classes_and_scikit_learn_keeps_its_own(room):
    names, original = borrow(room), importlib.import_module(f"sklearn.{home(room)}")
    for name in CLASSES[room]:
        assert names[name] is getattr(deciban, name)
        assert getattr(original, name).__module__.startswith(f"sklearn.{home(room)}")
