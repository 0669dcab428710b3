"""Packed coefficients stay themselves: from any memory order, through pickle, through a copy."""

import copy
import pickle

import numpy as np
import pytest

from deciban import CategoricalNB, MultinomialNB, ops
from deciban.data.blocks import Codes, Reals
from deciban.ops.packed import Packed


@pytest.mark.parametrize("k", [1, 7, 8, 9, 16])
@pytest.mark.parametrize("order", ["C", "F"])
def test_packed_table_is_the_table(k, order):
    table = np.asarray(np.random.default_rng(0).normal(size=(k, 8)), order=order)
    packed = Packed.of(table)
    np.testing.assert_array_equal(packed.table, table)
    assert Packed.of(packed) is packed
    for again in (pickle.loads(pickle.dumps(packed)), copy.deepcopy(packed)):
        np.testing.assert_array_equal(again.table, table)
        x = np.random.default_rng(1).normal(size=(5, 8))
        np.testing.assert_allclose(ops.affine(Reals(x), again, np.zeros(k)), x @ table.T)
        codes = np.arange(8)[:, None]
        np.testing.assert_array_equal(ops.lookup(Codes(codes), np.array([0, 8]), again, np.zeros(k)), table.T)


@pytest.mark.parametrize("model", [CategoricalNB(), MultinomialNB()])
@pytest.mark.parametrize("k", [7, 8, 16])
def test_model_with_registers_full_of_classes_survives_pickle_and_copy(model, k):
    """Eight classes and eight levels: shapes in which a transposed table looks like the table."""
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 4, (400, 2)), rng.integers(0, k, 400)
    model.fit(x, y)
    p = model.predict_proba(x)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(again.predict_proba(x), p)
