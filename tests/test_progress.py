"""Long fits tell of themselves when asked, on stderr; interrupted ones leave the model as it was."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from deciban import LogisticRegression, progress
from deciban.cli.options import Terminal
from deciban.solvers.newton import Newton

X = np.random.default_rng(0).normal(size=(80, 3))
Y = (X[:, 0] + np.random.default_rng(1).logistic(size=80) > 0).astype(int)
SOLVERS = ["auto", "newton", "lbfgs", "newton-cg", "coordinate", "gradient", "sgd"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_fit_is_quiet_unless_asked_and_the_same_either_way(solver, capfd):
    quiet = LogisticRegression(solver=solver, tol=1e-2).fit(X, Y)
    assert capfd.readouterr() == ("", "")
    told = LogisticRegression(solver=solver, tol=1e-2, verbose=1).fit(X, Y)
    out, err = capfd.readouterr()
    assert out == ""
    assert "fit: step" in err
    assert "objective" in err
    assert "gradient" in err
    np.testing.assert_array_equal(told.coef_, quiet.coef_)


@pytest.mark.parametrize("settings", [{"C": "auto"}, {"C": "auto", "l1_ratio": 1.0}, {"penalty": "jeffreys"}])
def test_what_takes_many_fits_tells_too(settings, capfd):
    LogisticRegression(verbose=1, **settings).fit(X, Y)
    out, err = capfd.readouterr()
    assert out == ""
    assert "step" in err


def test_without_rich_there_are_lines_of_text(monkeypatch, capfd):
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    model = LogisticRegression(verbose=1, solver="newton").fit(X, Y)
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == model.n_iter_[0]
    assert lines[0].startswith("fit: step 1, objective ")
    assert lines[0].endswith(" s")


def test_bar_is_full_at_the_goal_and_never_goes_back():
    seen = []
    tell = progress._Steps(lambda text, share: seen.append(share), goal=1e-3)
    for step, slope in enumerate([1.0, 0.1, 0.5, 0.01, np.nan, 1e-3, 1e-5]):
        tell(step, 1.0, slope)
    np.testing.assert_allclose(seen, [0.0, 1 / 3, 1 / 3, 2 / 3, 2 / 3, 1.0, 1.0], atol=1e-12)
    tell(9, 1.0, 0.5, done=0.25)
    assert seen[-1] == 0.25


def test_rows_are_shown_with_and_without_rich(monkeypatch, capfd):
    for _ in range(2):
        with progress.row_progress(True, "fit_on") as tell:
            tell(3000, 0.5)
        out, err = capfd.readouterr()
        assert out == ""
        assert err.startswith("fit_on: 3,000 rows")
        monkeypatch.setitem(sys.modules, "rich.progress", None)
        monkeypatch.setattr(progress, "EVERY", 0.0)


@pytest.mark.parametrize(("quiet", "looked_at"), [(False, True), (True, True), (False, False)])
def test_the_command_shows_a_bar_where_someone_looks(monkeypatch, capfd, quiet, looked_at):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: looked_at)
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    with Terminal(json=False, quiet=quiet).bar("learning") as tell:
        tell(10, 0.5)
    assert ("learning: 10 rows" in capfd.readouterr().err) == (looked_at and not quiet)


@pytest.mark.parametrize("verbose", [0, 1])
@pytest.mark.parametrize("C", [1.0, "auto"])
def test_interrupted_fit_leaves_the_model_as_it_was(monkeypatch, verbose, C):
    model = LogisticRegression(solver="newton", C=C, verbose=verbose).fit(X, Y)
    before, answers = dict(model.__dict__), model.predict_proba(X)
    steps = iter(range(2))
    step = Newton.step

    def interrupted(self, objective, state):
        if next(steps, None) is None:
            raise KeyboardInterrupt
        return step(self, objective, state)

    monkeypatch.setattr(Newton, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(10 * X[:50, :2], 1 - Y[:50])
    assert model.__dict__.keys() == before.keys()
    assert all(model.__dict__[name] is value for name, value in before.items())
    np.testing.assert_array_equal(model.predict_proba(X), answers)


def test_first_fit_that_is_interrupted_leaves_no_fit(monkeypatch):
    def interrupted(self, objective, state):
        raise KeyboardInterrupt

    monkeypatch.setattr(Newton, "step", interrupted)
    model = LogisticRegression(solver="newton")
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "C_")
