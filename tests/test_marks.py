"""Every mark of the root conftest.py is of a test that exists."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MARKS = runpy.run_path(str(ROOT / "conftest.py"))["MARKS"]


@pytest.mark.parametrize("key", MARKS)
def test_every_mark_is_of_a_test(key):
    path, _, name = key.partition("::")
    assert (ROOT / path).exists()
    assert not name or f"def {name}(" in (ROOT / path).read_text()
