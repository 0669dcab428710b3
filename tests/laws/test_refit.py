"""A fit leaves nothing of an earlier one: other settings and other rows give what a new model has."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone

import deciban

from ..support.models import CLASSIFIERS, EVERY, rows_for
from ..support.settings import MEMBERS


def attributes(model) -> set[str]:
    return {name for name in vars(model) if name.endswith("_")}


def public(model) -> set[str]:
    return {name for name in dir(type(model)) if name.endswith("_") and not name.startswith("_") and has(model, name)}


def has(model, name: str) -> bool:
    try:
        return hasattr(model, name)
    except deciban.DecibanError:
        return False


def variants(cls) -> list:
    return [cls(), *(model for model in EVERY if type(model) is cls)]


@pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda cls: cls.__name__)
def test_another_fit_has_the_attributes_of_a_new_model(cls):
    used, known = None, {}
    for model in [clone(each) for one in variants(cls) for each in (one, cls())]:
        if hasattr(model, "models"):
            model.set_params(models=model.models or MEMBERS)  # two: the usual ones take long
        x, y = rows_for(model, n=60)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                fresh = known[repr(model)] = known.get(repr(model)) or clone(model).fit(x, y)
            except (ValueError, NotImplementedError):
                continue
            used = clone(model) if used is None else used.set_params(**model.get_params(deep=False))
            used.fit(x, y)
        assert attributes(used) == attributes(fresh), model
        assert public(used) == public(fresh), model
    assert used is not None


@pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda cls: cls.__name__)
def test_a_fit_to_an_array_keeps_no_names_of_a_frame(cls):
    pd = pytest.importorskip("pandas")
    model = cls()
    x, y = rows_for(model)
    if np.ndim(x) == 1:
        pytest.skip("texts have no columns")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(pd.DataFrame(x, columns=[f"c{j}" for j in range(x.shape[1])]), y).fit(x, y)
    assert not hasattr(model, "feature_names_in_")
