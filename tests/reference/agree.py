"""Data sets, and what it means here that two libraries agree."""

from functools import cache

import numpy as np
from sklearn import datasets

ROUNDING = 1e-9
BUNDLED = {
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "digits": datasets.load_digits,
    "cancer": datasets.load_breast_cancer,
}
SETS = [*BUNDLED, "random"]


@cache
def reals(name: str) -> tuple[np.ndarray, np.ndarray]:
    """(X, y) of real columns."""
    if name in BUNDLED:
        return BUNDLED[name](return_X_y=True)
    rng = np.random.default_rng(7)
    y = rng.integers(0, 4, 300)
    mix = rng.normal(size=(7, 7))
    return (rng.normal(size=(300, 7)) + rng.normal(size=(4, 7))[y]) @ mix, y


@cache
def counts(name: str) -> tuple[np.ndarray, np.ndarray]:
    """(X, y) of counts, half of them 0, whose columns differ by class."""
    x, y = reals(name)
    shifted = (x - np.median(x, axis=0)) / (x.std(axis=0) + 1.0)
    return np.floor(np.clip(shifted * 4.0, 0.0, 30.0)), y


def weights(n: int) -> np.ndarray:
    return np.random.default_rng(11).uniform(0.1, 3.0, n)


def close(ours, theirs, rtol: float = ROUNDING, what: str = "") -> None:
    """Each number to `rtol`, where one under a thousandth of the largest is measured by that thousandth."""
    if isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            close(a, b, rtol, what)
        return
    ours, theirs = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
    largest = np.abs(theirs[np.isfinite(theirs)]).max(initial=0.0)
    np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=1e-3 * rtol * largest, err_msg=what)


def close_up_to_sign(ours, theirs, rtol: float = ROUNDING, what: str = "") -> None:
    """Columns (axes) to `rtol` of the largest entry, each of either sign."""
    if isinstance(theirs, list):
        for a, b in zip(ours, theirs, strict=True):
            close_up_to_sign(a, b, rtol, what)
        return
    turn = np.where((ours * theirs).sum(axis=0) < 0, -1.0, 1.0)
    np.testing.assert_allclose(ours * turn, theirs, atol=rtol * np.abs(theirs).max(), rtol=0, err_msg=what)


def same_parameters(ours, theirs, names: list[str], rtol: float = ROUNDING) -> None:
    for name in names:
        close(getattr(ours, name), getattr(theirs, name), rtol, name)


def same_posteriors(ours, theirs, x, rtol: float = ROUNDING, theirs_x=None, skip: str = "") -> None:
    """Every answer about rows. Logs of probabilities under 1e-6 are left out: theirs may be log(1 − p)."""
    x_theirs = x if theirs_x is None else theirs_x
    proba, log_proba = theirs.predict_proba(x_theirs), theirs.predict_log_proba(x_theirs)
    close(ours.predict_proba(x), proba, rtol, "predict_proba")
    sure, mine = proba > 1e-6, ours.predict_log_proba(x)
    np.testing.assert_allclose(mine[sure], log_proba[sure], rtol=rtol, atol=rtol, err_msg="predict_log_proba")
    assert (mine[~sure] < np.log(2e-6)).all()
    for method in ("predict_joint_log_proba", "decision_function"):
        if method != skip and hasattr(theirs, method):
            close(getattr(ours, method)(x), getattr(theirs, method)(x_theirs), rtol, method)
    np.testing.assert_array_equal(ours.predict(x), theirs.predict(x_theirs))
