"""Laws of `fit_on` and `predict_on`, over every classifier that is a sum over rows: batches of any kind give the model
of all rows, in the same bits for any number of threads."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import deciban

from ..support.compare import assert_close, assert_same_bits
from ..support.models import every_class, every_model, rows_for

pa = pytest.importorskip("pyarrow")

from pyarrow import parquet  # noqa: E402

from deciban.io import parquet as columnar  # noqa: E402


def table(model, n: int = 240):
    X, y = rows_for(model, n)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    return frame, y, pa.Table.from_pandas(frame.assign(label=y), preserve_index=False)


def named(model):
    """A copy whose settings call columns by their names."""
    edges = getattr(model, "edges", None)
    return clone(model).set_params(edges=[(f"x{a}", f"x{b}") for a, b in edges]) if edges else clone(model)


def whole_levels(model):
    """A copy that does not cut columns as its rows have them: counts in other intervals do not add up."""
    return clone(model).set_params(cuts=None) if hasattr(model, "cuts") else clone(model)


def pieces(rows, sizes) -> list:
    edges = np.cumsum([0, *sizes, rows.num_rows])
    return [rows.slice(a, b - a) for a, b in pairwise(edges.tolist())]


def assert_same_tally(a, b) -> None:
    for mine, theirs in zip(a.tally_.parts, b.tally_.parts, strict=True):
        assert_same_bits(mine, theirs)


@every_model
def test_fit_on_is_fit(model):
    frame, y, rows = table(model)
    whole, streamed = named(model).fit(frame, y), named(model).fit_on(pieces(rows, [100, 0, 50]))
    assert streamed.classes_.tolist() == whole.classes_.tolist()
    assert streamed.feature_names_in_.tolist() == frame.columns.tolist()
    for mine, theirs in zip(streamed.tally_.parts, whole.tally_.parts, strict=True):
        if hasattr(mine, "n"):
            assert_close(mine, theirs)
    np.testing.assert_allclose(streamed.predict_proba(frame), whole.predict_proba(frame), rtol=1e-9, atol=1e-12)


@every_class
def test_any_number_of_threads_gives_the_same_bits(model, tmp_path, monkeypatch):
    monkeypatch.setattr(columnar, "RUN", 1)
    _, _, rows = table(model)
    parquet.write_table(rows, tmp_path / "rows.parquet", row_group_size=17)
    fits = []
    for n in (1, 2, 3):
        with deciban.threads(n):
            fits.append(clone(model).fit_on(tmp_path / "rows.parquet"))
    assert_same_tally(fits[0], fits[1])
    assert_same_tally(fits[0], fits[2])
    assert_same_tally(fits[0], clone(model).fit_on(pieces(rows, [17] * (rows.num_rows // 17))))


@every_class
def test_batches_may_lack_classes_and_rows_and_have_their_columns_in_any_order(model):
    frame, y, rows = table(model)
    by_class = [rows.filter(pa.compute.equal(rows["label"], label)) for label in sorted(set(y))]
    turned = by_class[0].select(by_class[0].column_names[::-1])
    streamed = clone(model).fit_on([rows.slice(0, 0), *by_class[1:], turned, rows.slice(0, 0)])
    whole = clone(model).fit(frame, y)
    assert streamed.classes_.tolist() == whole.classes_.tolist()
    np.testing.assert_allclose(streamed.predict_proba(frame), whole.predict_proba(frame), rtol=1e-9, atol=1e-12)


@every_class
def test_weights_in_a_column_count_as_weights_do(model):
    frame, y, rows = table(model)
    w = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    rows = rows.append_column("w", pa.array(w))
    streamed = clone(model).fit_on(pieces(rows, [70, 70]), sample_weight="w")
    whole = clone(model).fit(frame, y, sample_weight=w)
    np.testing.assert_allclose(streamed.predict_proba(frame), whole.predict_proba(frame), rtol=1e-9, atol=1e-12)


@every_class
def test_predict_on_says_what_predict_says(model):
    frame, y, rows = table(model)
    fitted = clone(model).fit(frame, y)
    turned = rows.select(["label", *frame.columns[::-1]])
    out = fitted.predict_on(turned, priors=[0.2, 0.3, 0.5]).to_pandas()
    assert out.columns.tolist() == [*turned.column_names, "predicted", *(f"p_{label}" for label in fitted.classes_)]
    want = fitted.predict_proba(frame, priors=[0.2, 0.3, 0.5])
    np.testing.assert_allclose(out[[f"p_{label}" for label in fitted.classes_]], want, rtol=1e-12, atol=1e-15)
    assert out["predicted"].tolist() == fitted.classes_[want.argmax(axis=1)].tolist()


@every_class
def test_model_on_data_is_saved_updated_and_merged_as_any_other(model, tmp_path):
    frame, y, rows = table(model)
    a, b = whole_levels(model).fit_on(rows.slice(0, 120)), whole_levels(model).fit(frame[120:], y[120:])
    deciban.save(a, tmp_path / "a.deciban")
    both = deciban.load(tmp_path / "a.deciban") + b
    np.testing.assert_allclose(
        both.predict_proba(frame), whole_levels(model).fit(frame, y).predict_proba(frame), rtol=1e-8, atol=1e-12
    )
