"""The reader on the page of the model file format, which needs no library, computes what our models predict."""

import re

import numpy as np
import pytest

import deciban
from deciban import GaussianNB

from .support.data import ROOT

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, 60)
NORMAL = RNG.normal(size=(60, 4)) + Y[:, None]
MISSING = np.where(RNG.random((60, 4)) < 0.2, np.nan, NORMAL)
MISSING[Y == 1, 2] = np.nan  # a class without a value of a column
CASES = {
    "numbers": (GaussianNB(), NORMAL, None),
    "whole numbers, sums of which are doubles": (GaussianNB(), np.rint(3 * NORMAL), None),
    "two blocks of columns": (GaussianNB(), RNG.normal(size=(60, 67)), None),
    "cells of different sizes": (GaussianNB(var_smoothing=1e-3), NORMAL * [1e-30, 1e30, 1.0, 1e3], None),
    "weights of many digits": (GaussianNB(var_smoothing=0.1), NORMAL, RNG.random(60)),
    "missing cells": (GaussianNB(), MISSING, None),
    "missing cells and weights": (GaussianNB(), MISSING, RNG.random(60)),
    "priors": (GaussianNB(priors=[0.2, 0.3, 0.5]), NORMAL, None),
    "calibrated": (GaussianNB(calibrate=True), NORMAL, None),
}


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> dict:
    """What the blocks of the page define, up to the first that uses the library."""
    text = (ROOT / "docs" / "model-file.md").read_text()
    namespace: dict = {}
    for block in re.findall(r"^```python\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE):
        if "import deciban" in block:
            break
        exec(compile(block, "docs/model-file.md", "exec"), namespace)
    return namespace


@pytest.mark.parametrize("name", CASES)
def test_a_posterior_is_computed_from_the_file_alone(page, name, tmp_path):
    model, X, w = CASES[name]
    model.fit(X, np.array(["a", "b", "c"])[Y], sample_weight=w)
    deciban.save(model, tmp_path / "m.deciban")
    found = [page["posterior"](tmp_path / "m.deciban", row) for row in X[:5].tolist()]
    np.testing.assert_allclose(found, model.predict_proba(X[:5]), rtol=1e-9, atol=1e-14)


def test_classes_are_read(page, tmp_path):
    deciban.save(GaussianNB().fit(NORMAL, np.array(["a", "b", "ü"])[Y]), tmp_path / "m.deciban")
    assert page["read"](tmp_path / "m.deciban")["learned"]["classes_"] == ["a", "b", "ü"]
