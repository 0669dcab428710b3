"""The borrowed tests are all there, test our classes, and are failed on purpose only where we say so."""

import pytest
import sklearn

import deciban

from .borrow import CLASSES, borrow
from .child import run_pytest
from .conftest import FOLDER
from .deliberate import DELIBERATE


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
def test_all_208_tests_of_scikit_learn_are_collected(collected):
    assert len(collected) == len(set(collected)) == 208


@pytest.mark.parametrize("room", CLASSES)
def test_borrowed_tests_see_our_classes_and_scikit_learn_keeps_its_own(room):
    names, original = borrow(room), getattr(sklearn, room)
    for name in CLASSES[room]:
        assert names[name] is getattr(deciban, name)
        assert getattr(original, name).__module__ == f"sklearn.{room}"
