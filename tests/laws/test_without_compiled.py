"""The library works where nothing was compiled: slower, and with the same answers."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

from deciban import ops

from ..support.models import MODELS, each, fitted, reads_of, rows_for
from ..support.strategies import csr

CHILD = """
import pickle, sys
from pathlib import Path
sys.modules["deciban._core"] = None  # importing it raises ModuleNotFoundError
import deciban
from deciban import ops
assert ops._core is None
jobs = pickle.loads(Path(sys.argv[1]).read_bytes())
answers = []
for name, settings, x, y, w, probe in jobs:
    model = getattr(deciban, name)(**settings).fit(x, y, sample_weight=w)
    answers.append((model.predict_joint_log_proba(probe), model.predict_proba(probe), model.predict(probe)))
Path(sys.argv[1] + ".answers").write_bytes(pickle.dumps(answers))
"""


def jobs(model) -> list[tuple]:
    """Rows to learn from and rows to answer: plain, weighed, with missing cells, sparse."""
    x, y = rows_for(model, n=150)
    w = np.random.default_rng(0).choice([0.0, 1.0, 2.5], len(y))
    holes = x.astype(np.float64)
    holes[::7, 1] = np.nan
    out = [(x, y, None, x), (x, y, w, x), (x, y, None, holes)]
    if reads_of(model) != "dense":  # a joint density warns that it leaves rows with missing cells out
        out.append((holes, y, w, holes))
    if reads_of(model) in ("reals", "counts"):
        out.append((csr(np.maximum(holes, 0.0)), y, w, csr(np.maximum(holes, 0.0), "int64")))
    return out


@pytest.fixture(scope="module")
def without(tmp_path_factory) -> dict[str, list]:
    """The answers of a process that cannot import the compiled module, by model."""
    path = tmp_path_factory.mktemp("bare") / "jobs"
    asked = [(repr(m), type(m).__name__, m.get_params(), *job) for m in MODELS for job in jobs(m)]
    path.write_bytes(pickle.dumps([job[1:] for job in asked]))
    done = subprocess.run([sys.executable, "-W", "error", "-c", CHILD, str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    answers = pickle.loads(path.with_suffix(".answers").read_bytes())
    return {
        name: [a for (asker, *_), a in zip(asked, answers, strict=True) if asker == name] for name in map(repr, MODELS)
    }


@each(MODELS)
def test_model_without_the_compiled_module_gives_the_same_answers(model, without):
    for (x, y, w, probe), (joint, p, labels) in zip(jobs(model), without[repr(model)], strict=True):
        here = fitted(model, x, y, sample_weight=w)
        np.testing.assert_allclose(here.predict_joint_log_proba(probe), joint, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(here.predict_proba(probe), p, rtol=1e-8, atol=1e-12)
        clear = np.sort(p, axis=1)[:, -1] - np.sort(p, axis=1)[:, -2] > 1e-9
        np.testing.assert_array_equal(here.predict(probe)[clear], labels[clear])


def test_specification_can_be_asked_for_and_is_put_back():
    before = ops._core
    with pytest.raises(ZeroDivisionError), ops.specification():
        1 / (ops._core is not None)
    assert ops._core is before
