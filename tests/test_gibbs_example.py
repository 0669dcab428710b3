"""The example that draws the bound of Gibbs: a smaller run of it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

FILE = Path(__file__).parents[1] / "examples" / "gibbs.py"


@pytest.fixture(scope="module")
def example():
    if not FILE.exists():
        pytest.skip("the examples are not part of the package")
    spec = importlib.util.spec_from_file_location("gibbs_example", FILE)
    module = importlib.util.module_from_spec(spec)

    sys.modules["gibbs_example"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_gibbs_is_wrong_at_most_twice_as_often_over_drawn_concepts(example):
    found = example.curves(draws=60, rows=(1, 4, 16), count=60)
    average, drawn = found.T
    assert (average > 0).all()
    assert (np.diff(average) < 0).all()
    assert (drawn >= average * 0.9).all()
    assert (drawn <= 2 * average * 1.1).all()  # the bound is of expectations; these are means of 60 concepts


def test_the_picture_is_drawn(example, tmp_path):
    pytest.importorskip("matplotlib")
    example.picture(np.array([[0.5, 0.6], [0.2, 0.3]]), str(tmp_path / "bound.svg"), rows=(0, 2))
    assert (tmp_path / "bound.svg").stat().st_size > 1000
