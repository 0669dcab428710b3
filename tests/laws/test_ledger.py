"""A model with a ledger forgets what it has learned, and nothing else."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

import deciban
from deciban import LedgerKey
from deciban.errors import DataError, ForgetError, MergeError
from deciban.tallies.ledger import row_tags

from ..support.models import CLASSES, PLAIN, rows_for

KEYS = [True, LedgerKey("a long secret")]
ADDITIVE = [model(**PLAIN.get(model, {})) for model in CLASSES] + [deciban.TextClassifier()]
every_model = pytest.mark.parametrize("model", ADDITIVE, ids=lambda model: type(model).__name__)
every_key = pytest.mark.parametrize("key", KEYS, ids=["public", "secret"])


def ledger_of(model):
    return model._words.ledger if isinstance(model, deciban.TextClassifier) else model._state.ledger


def assert_same_ledger(a, b):
    for name in ("tag", "y", "w", "n"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def in_another_row(x, y):
    """(rows, labels): each is composed of cells of two rows of its class, and is none of them."""
    if x.dtype == object:
        found = [f"{a} {b}" for a, b in zip(x[:-3], x[3:], strict=True)]
        return np.array(found, dtype=object), y[:-3]
    mixed = np.column_stack([x[:-3, :2], x[3:, 2:]])
    known = {(*row, label) for row, label in zip(x.tolist(), y, strict=True)}
    new = [i for i, row in enumerate(mixed.tolist()) if y[i] == y[i + 3] and (*row, y[i]) not in known]
    return mixed[new], y[:-3][new]


@every_model
@every_key
def test_rows_that_were_not_learned_are_refused(model, key):
    x, y = rows_for(model)
    fitted = clone(model).set_params(ledger=key).fit(x, y)
    before = ledger_of(fitted)
    others, labels = in_another_row(x, y)
    assert len(others) > 0
    for i in range(min(len(others), 8)):
        with pytest.raises(ForgetError):
            fitted.forget(others[i : i + 1], labels[i : i + 1])
        with pytest.raises(ForgetError):  # among others that were learned
            fitted.forget(np.concatenate([x[:5], others[i : i + 1]]), np.concatenate([y[:5], labels[i : i + 1]]))
    other = np.where(y[:5] == "a", "b", "a")
    learned = {(*np.atleast_1d(row).tolist(), label) for row, label in zip(x, y, strict=True)}
    if not learned & {(*np.atleast_1d(row).tolist(), label) for row, label in zip(x[:5], other, strict=True)}:
        with pytest.raises(ForgetError):
            fitted.forget(x[:5], other)
    assert_same_ledger(ledger_of(fitted), before)


@every_model
def test_a_row_is_forgotten_as_often_as_it_was_learned(model):
    x, y = rows_for(model)
    x, y = np.concatenate([x, x[:1]]), np.append(y, y[0])
    times = int(sum((np.asarray(row == x[0]).all() and label == y[0]) for row, label in zip(x, y, strict=True)))
    fitted = clone(model).set_params(ledger=True).fit(x, y)
    for _ in range(times):
        fitted.forget(x[:1], y[:1])
    with pytest.raises(ForgetError):
        fitted.forget(x[:1], y[:1])


@every_model
@every_key
def test_the_ledger_is_that_of_the_rows_whatever_the_way(model, key, tmp_path):
    x, y = rows_for(model)
    model = clone(model).set_params(ledger=key)
    whole = clone(model).fit(x, y)
    pieces = clone(model).fit(x[:40], y[:40]).partial_fit(x[40:], y[40:])
    merged = clone(model).fit(x[:40], y[:40]) + clone(model).fit(x[40:], y[40:])
    order = np.random.default_rng(0).permutation(len(x))
    back = clone(model).fit(x[order], y[order]).partial_fit(x[:7], y[:7]).forget(x[:7], y[:7])
    loaded = deciban.loads(deciban.dumps(whole))
    for other in (pieces, merged, back, loaded, deciban.merge(loaded, loaded).forget(x, y) if key is True else loaded):
        assert_same_ledger(ledger_of(other), ledger_of(whole))
    names = ["text"] if x.dtype == object else [f"c{j}" for j in range(x.shape[1])]
    columns = dict(zip(names, [x] if x.dtype == object else x.T, strict=True))
    pq.write_table(pa.table({**columns, "y": y}), tmp_path / "rows.parquet", row_group_size=25)
    streamed = clone(model).fit_on(tmp_path / "rows.parquet", target="y")
    fitted = clone(model).fit(x if x.dtype == object else _frame(columns), y)
    assert_same_ledger(ledger_of(streamed), ledger_of(fitted))


def _frame(columns):
    return pytest.importorskip("pandas").DataFrame(columns)


@every_model
def test_a_ledger_changes_no_answer(model):
    x, y = rows_for(model)
    plain, own = clone(model).fit(x, y), clone(model).set_params(ledger=True).fit(x, y)
    np.testing.assert_array_equal(plain.predict_proba(x), own.predict_proba(x))
    plain.forget(x[:9], y[:9]), own.forget(x[:9], y[:9])
    np.testing.assert_array_equal(plain.predict_proba(x), own.predict_proba(x))
    np.testing.assert_allclose(plain.leave_one_out(x[9:], y[9:]), own.leave_one_out(x[9:], y[9:]))


def test_weights_count():
    x, y = np.arange(6.0)[:, None], np.array([0, 1] * 3)
    model = deciban.GaussianNB(ledger=True).fit(x, y, sample_weight=[1, 1, 2, 1, 1, 1])
    with pytest.raises(ForgetError):
        model.forget(x[:1], y[:1], sample_weight=[2])
    assert model.forget(x[2:3], y[2:3], sample_weight=[1.5]).class_count_.tolist() == [2.5, 3.0]
    with pytest.raises(ForgetError):
        model.forget(x[2:3], y[2:3])


def test_columns_of_frames_may_change_places():
    pd = pytest.importorskip("pandas")
    rows = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": ["u", "v", "u", "w"]})
    model = deciban.MixedNB(ledger=True).fit(rows, [0, 1, 0, 1])
    other = deciban.MixedNB(ledger=True).fit(rows[["b", "a"]], [0, 1, 0, 1])
    assert_same_ledger(ledger_of(model), ledger_of(other))
    assert (model + other).forget(rows[["b", "a"]], [0, 1, 0, 1]).class_count_.tolist() == [2.0, 2.0]


def test_models_of_other_keys_do_not_add_up():
    x, y = np.arange(6.0)[:, None], np.array([0, 1] * 3)
    one, two = (deciban.GaussianNB(ledger=LedgerKey(key)).fit(x, y) for key in ("one", "two"))
    with pytest.raises(MergeError):
        one + two
    loaded = deciban.merge(deciban.loads(deciban.dumps(one)), deciban.loads(deciban.dumps(one)))  # no key is needed
    assert loaded.class_count_.tolist() == [6.0, 6.0]
    with pytest.raises(MergeError):
        deciban.loads(deciban.dumps(one)) + deciban.loads(deciban.dumps(two))


@every_model
def test_the_key_is_in_no_file_and_needed_for_changes(model):
    x, y = rows_for(model)
    key = LedgerKey("a long secret")
    fitted = clone(model).set_params(ledger=key).fit(x, y)
    content = deciban.dumps(fitted)
    assert b"a long" not in content
    assert "a long" not in repr(fitted)
    loaded = deciban.loads(content)
    np.testing.assert_array_equal(loaded.predict_proba(x), fitted.predict_proba(x))
    for change in (loaded.forget, loaded.partial_fit):
        with pytest.raises(DataError):
            change(x[:3], y[:3])
    loaded.set_params(ledger=key).forget(x[:3], y[:3])
    with pytest.raises(DataError):
        loaded.set_params(ledger=False).partial_fit(x[:3], y[:3])


def test_a_key_is_a_text():
    for wrong in ("", b"bytes", 7):
        with pytest.raises(DataError):
            LedgerKey(wrong)


def test_tags_of_different_keys_have_nothing_in_common():
    digests = np.arange(1000, dtype=np.uint64)
    tags = [row_tags(LedgerKey(key), digests) for key in ("one", "two")]
    assert len(np.unique(np.concatenate(tags))) == 2000
    bits = np.unpackbits((tags[0] ^ tags[1]).view(np.uint8)).mean()
    assert 0.49 < bits < 0.51
