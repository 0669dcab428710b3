"""Files that earlier versions wrote are read for ever: one set for each format."""

from __future__ import annotations

import numpy as np
import pytest

import deciban
from deciban import model_file

from .golden_models import FOLDER, models

FILES = sorted(FOLDER.glob("v*/*.deciban"))


def test_every_format_has_its_files():
    formats = {int(path.parent.name[1:]) for path in FILES}
    assert formats == set(range(1, model_file.FORMAT + 1))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name} {path.stem}")
def test_a_file_of_every_format_is_read(path):
    fresh, rows = models()[path.stem]
    old = deciban.load(path)
    assert repr(old) == repr(fresh)
    assert old.classes_.tolist() == fresh.classes_.tolist()
    np.testing.assert_allclose(old.predict_proba(rows), fresh.predict_proba(rows), rtol=1e-9, atol=1e-12)
    info = model_file.model_info(path)
    assert (info["rows"], info["source"], info["metrics"]) == (8.0, "golden_models.py", {"rows": 8})


@pytest.mark.parametrize("path", [path for path in FILES if path.stem != "logistic"], ids=lambda path: path.stem)
def test_a_model_of_every_format_goes_on_learning(path):
    fresh, rows = models()[path.stem]
    old, labels = deciban.load(path), np.array(fresh.predict(rows))
    for model in (old, fresh):
        model.partial_fit(rows, labels)
    np.testing.assert_allclose(old.predict_proba(rows), fresh.predict_proba(rows), rtol=1e-9, atol=1e-12)
    merged = deciban.merge([path, path])
    assert merged.class_count_.sum() == 16.0
