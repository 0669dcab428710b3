"""Names of columns and labels of models: what is not the same is not taken for the same."""

import numpy as np
import pandas as pd
import pytest

import deciban
from deciban import CategoricalNB, GaussianNB, LogisticRegression, MixedNB
from deciban.errors import DataError, MergeError

from ..support.cli import output

X = np.random.default_rng(0).normal(size=(40, 2))
y = np.arange(40) % 2
NFC, NFD = "\u00e9", "e\u0301"


def test_r10_gaps_as_evidence_with_weights_of_columns():
    some = X.copy()
    some[::7, 1] = np.nan
    for rows in (X, some):
        model = MixedNB(missing="informative", weights="discriminative").fit(rows, y)
        assert np.allclose(model.predict_proba(rows).sum(axis=1), 1.0)


def test_r11_labels_of_other_types_do_not_add_up():
    with pytest.raises(MergeError):
        GaussianNB().fit(X, y) + GaussianNB().fit(X, y.astype(str))


@pytest.mark.parametrize("model", [GaussianNB, MixedNB])
def test_r11_named_and_unnamed_columns_do_not_add_up(model):
    named = model().fit(pd.DataFrame(X[:, ::-1], columns=["b", "a"]), y)
    for pair in [(named, model().fit(X, y)), (model().fit(X, y), named)]:
        with pytest.raises(MergeError, match="no names"):
            deciban.merge(*pair)


def test_r12_a_name_in_another_unicode_form_is_an_error(tmp_path, capfd):
    rows, other = (pd.DataFrame(X, columns=[name, "b"]) for name in (NFC, NFD))
    for model in (MixedNB().fit(rows, y), GaussianNB().fit(rows, y)):
        with pytest.raises(ValueError, match=NFC):
            model.predict(other)
        with pytest.raises(DataError, match="Unicode form"):
            model.predict_on(other)
    deciban.save(model, path := tmp_path / "m.deciban")
    other.to_csv(table := tmp_path / "t.csv", index=False)
    assert "Unicode form" in output(f"predict {path} {table}", capfd, 1)[1]


@pytest.mark.parametrize("model", [GaussianNB, MixedNB, LogisticRegression, CategoricalNB])
def test_r13_two_columns_of_one_name_are_an_error_of_the_data(model):
    with pytest.raises(DataError, match="two columns are named `a`"):
        model().fit(pd.DataFrame(np.eye(4)[:, :2], columns=["a", "a"]), [0, 1, 0, 1])


def test_codes_beyond_their_dictionary_are_damage():
    from deciban.data.frames import _drop_unused

    with pytest.raises(DataError, match="`c`"):
        _drop_unused("c", np.array([0, 3], dtype=np.int32), ["a", "b"])
