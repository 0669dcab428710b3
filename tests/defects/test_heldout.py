"""Held-out figures: samples of large tables, figures that include every choice, ties, classes of one row."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import deciban
from deciban.sampling import LEAST, folds_by_content, sample_rows

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def table(name: str, target: str) -> tuple[pd.DataFrame, np.ndarray]:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"shared data set {name} is not beside this checkout")
    found = pd.read_csv(path)
    return found.drop(columns=target), found[target].to_numpy()


def pairs(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose classes alternate."""
    y = np.array(["a", "b"] * (n // 2))
    X = np.random.default_rng(seed).normal(size=(n, 2))
    X[y == "b"] += 1
    return X, y


# B1: samples


def test_b01_alternating_classes_are_compared_on_rows_of_both():
    out = deciban.compare(*pairs(20_000), names=["gaussian"])
    held_out = out.best.held_out
    assert held_out.accuracy == pytest.approx(0.75, abs=0.02)
    assert held_out.log_loss == pytest.approx(0.50, abs=0.02)
    assert np.bincount(held_out.y).tolist() == [5000, 5000]
    assert (out.rows, out.total) == (10_000, 20_000)
    assert "10,000 of 20,000 rows" in str(out)
    assert out.as_dict()["of_rows"] == 20_000


@pytest.mark.parametrize("n", [40_000, 60_000])
def test_b01_a_column_that_is_the_class_is_a_leak_in_any_order(n):
    y = np.array(["a", "b"] * (n // 2))
    X = pd.DataFrame({"k": (y == "b") * 1.0})
    order = np.argsort(y, kind="stable")
    found = [deciban.leaks(X, y), deciban.leaks(X.iloc[order], y[order])]
    assert [leak.column for leak in found[0]] == ["k"]
    assert [str(leak) for leak in found[0]] == [str(leak) for leak in found[1]]
    assert f"20,000 of {n:,} rows" in str(found[0][0])


def test_b01_a_class_of_one_row_does_not_end_in_an_index_error():
    y = np.array(["a", "c"] * 15_000)
    y[2] = "b"
    X = np.random.default_rng(0).normal(size=(30_000, 1))
    assert deciban.leaks(X, y) == []
    out = deciban.learn(X, y, "gaussian")
    assert out.held_out.unknown == {"b": 1}
    assert np.isfinite(out.metrics["log_loss"])


def test_b01_rows_in_another_order_give_the_same_sample_and_folds():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.integers(0, 5, 3000), "c": rng.choice(["u", "v", None], 3000)})
    y = rng.integers(0, 3, 3000)
    order = rng.permutation(3000)
    at, again = sample_rows(X, y, 500), sample_rows(X.iloc[order], y[order], 500)
    assert sorted(map(repr, X.iloc[at].assign(y=y[at]).to_numpy().tolist())) == sorted(
        map(repr, X.iloc[order].iloc[again].assign(y=y[order][again]).to_numpy().tolist())
    )
    first = X.assign(y=y, f=folds_by_content(X, y, 5))
    second = X.iloc[order].assign(y=y[order], f=folds_by_content(X.iloc[order], y[order], 5))
    count = [one.groupby(["x", "c", "y", "f"], dropna=False).size().to_dict() for one in (first, second)]
    assert len(count[0]) > 200  # equal rows are spread over the folds
    assert {repr(k): v for k, v in count[0].items()} == {repr(k): v for k, v in count[1].items()}


def test_b01_a_sample_keeps_shares_and_has_a_few_rows_of_every_class():
    y = np.repeat([0, 1, 2, 3], [80_000, 19_000, 993, 7])
    at = sample_rows(np.arange(100_000.0)[:, None], y, 1000)
    there = np.bincount(y[at])
    assert len(at) == len(set(at.tolist())) == 1000
    assert there[3] == 7
    assert there[2] == LEAST
    assert there[0] / there[1] == pytest.approx(80 / 19, rel=0.02)
    assert np.bincount(at[y[at] == 0] // 8000).min() > 40  # from everywhere


def test_b01_calibration_of_many_rows_sees_every_class():
    X, y = pairs(16_384)
    plain = deciban.GaussianNB().fit(X, y).predict_proba(X)
    calibrated = deciban.GaussianNB(calibrate=True).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(calibrated, plain, atol=0.02)  # it is right already
