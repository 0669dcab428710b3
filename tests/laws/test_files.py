"""save ∘ load = identity: to the last bit, for every public classifier, every setting and every fitted attribute."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import deciban
from deciban.errors import NotAdditiveError

from ..support.compare import same
from ..support.models import CLASSES, CLASSIFIERS, EVERY, MODELS, each, in_pieces, named, rows_for


@cache
def _fit(place: int) -> Any:
    model = EVERY[place]
    x, y = rows_for(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return clone(model).fit(x, y)
        except (ValueError, NotImplementedError) as error:
            return error


def fitted(model: Any) -> Any:
    """The model fitted, or a skip where its settings do not go together."""
    out = _fit(next(i for i, one in enumerate(EVERY) if one is model))
    return pytest.skip(str(out)) if isinstance(out, Exception) else out


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Callable[[Any], Path]:
    """The file of a fitted model, written once."""
    folder, known = tmp_path_factory.mktemp("models"), {}

    def file_of(model: Any) -> Path:
        if id(model) not in known:
            known[id(model)] = folder / f"{len(known)}.deciban"
            deciban.save(model, known[id(model)])
        return known[id(model)]

    return file_of


def through_file(model: Any, tmp_path) -> Any:
    deciban.save(model, tmp_path / "model.deciban")
    return deciban.load(tmp_path / "model.deciban")


def told(model: Any) -> dict[str, Any]:
    """Every fitted attribute that the model has, by name."""
    out = {}
    for name in dir(model):
        if name.endswith("_") and not name.startswith("_"):
            try:
                out[name] = getattr(model, name)
                if name == "models_":  # views of their tallies are made when first asked for
                    out[name] = [told(one) for one in out[name]]
                if name in ("map_", "best_model_"):
                    out[name] = told(out[name])
            except (AttributeError, ValueError) as error:
                out[name] = str(error)
    return out


def test_every_public_classifier_is_stored():
    assert {type(model) for model in EVERY} == set(CLASSIFIERS)
    for cls in CLASSIFIERS:
        assert any(not isinstance(_fit(i), Exception) for i, model in enumerate(EVERY) if type(model) is cls), cls


@each(EVERY)
def test_loaded_model_says_the_same_to_the_last_bit(model, files):
    model = fitted(model)
    x, _ = rows_for(model, seed=1)
    loaded = deciban.load(files(model))
    assert type(loaded) is type(model)
    for question in ("predict", "predict_proba", "predict_log_proba", "decibans"):
        assert same(getattr(model, question)(x), getattr(loaded, question)(x)), question


@each(EVERY)
def test_loaded_model_has_every_attribute(model, files):
    model = fitted(model)
    loaded = deciban.load(files(model))
    made = {"_cached_view", "_cached_features"}  # of the rest, when first asked for
    assert set(vars(loaded)) - made == set(vars(model)) - made
    before, after = told(model), told(loaded)
    assert before.keys() == after.keys()
    assert [name for name in before if not same(before[name], after[name])] == []


@each(EVERY)
def test_loaded_model_clones_and_has_the_same_settings(model, files):
    model = fitted(model)
    loaded = deciban.load(files(model))
    again = clone(loaded)
    assert repr(loaded) == repr(model) == repr(again)
    for name, value in model.get_params(deep=False).items():
        if name != "covariance_estimator":
            assert same(value, loaded.get_params(deep=False)[name]), name
    assert not vars(again).keys() - model.get_params(deep=False).keys()


@each(EVERY)
def test_a_file_of_a_loaded_model_is_the_same_file(model, files, tmp_path):
    first, second = files(fitted(model)), tmp_path / "again.deciban"
    deciban.save(deciban.load(first), second)
    a, b = first.read_bytes(), second.read_bytes()
    assert len(a) == len(b)
    assert a[8 + int.from_bytes(a[:8], "little") :] == b[8 + int.from_bytes(b[:8], "little") :]


@pytest.mark.filterwarnings("ignore")
@each(EVERY)
def test_update_through_a_file_is_update(model, tmp_path):
    x, y = rows_for(model)
    try:
        model = in_pieces(model, x[:60], y[:60], [30], classes=np.unique(y))
    except (NotAdditiveError, AttributeError, ValueError, NotImplementedError):
        pytest.skip("no updates")
    loaded = through_file(model, tmp_path).partial_fit(x[60:], y[60:])
    model.partial_fit(x[60:], y[60:])
    assert same(model.predict_proba(x), loaded.predict_proba(x))


@each(MODELS)
def test_forgetting_through_a_file_is_forgetting(model, tmp_path):
    x, y = rows_for(model)
    model = clone(model).fit(x, y)
    loaded = through_file(model, tmp_path).forget(x[:20], y[:20])
    assert same(model.forget(x[:20], y[:20]).tally_, loaded.tally_)
    assert same(model.predict_proba(x), loaded.predict_proba(x))


@each(MODELS)
def test_merging_files_is_merging_models(model, tmp_path):
    x, y = rows_for(model)
    models = [clone(model).fit(x[part], y[part]) for part in (slice(0, 40), slice(40, 65), slice(65, 90))]
    paths = [tmp_path / f"{i}.deciban" for i in range(3)]
    for one, path in zip(models, paths, strict=True):
        deciban.save(one, path)
    whole = models[0] + models[1] + models[2]
    for merged in (deciban.merge(paths), deciban.merge([models[0], str(paths[1]), models[2]])):
        assert same(merged.tally_, whole.tally_)
        assert same(merged.predict_proba(x), whole.predict_proba(x))


@each(named("LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis", "FisherDiscriminant"))
def test_wide_and_gappy_rows_go_through_a_file(model, tmp_path):
    x, y = rows_for(model, n=30, d=40)
    wide = clone(model).fit(x, y)
    assert same(wide.predict_proba(x), through_file(wide, tmp_path).predict_proba(x))
    x, y = rows_for(model)
    x[::7, 1] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gappy = clone(model).fit(x, y)
    loaded = through_file(gappy, tmp_path)
    assert loaded.n_iter_ == gappy.n_iter_
    assert same(gappy.predict_proba(x), loaded.predict_proba(x))


@each([model() for model in CLASSES])
def test_weights_and_new_settings_go_through_a_file(model, tmp_path):
    x, y = rows_for(model)
    model = clone(model).fit(x, y, sample_weight=np.linspace(0.5, 2.0, len(y)))
    assert same(model.predict_proba(x), through_file(model, tmp_path).predict_proba(x))
    for name in ("alpha", "shape", "tol"):
        if name in model.get_params():  # of a model that was not fitted again: it goes on as it was
            model.set_params(**{name: 0.125})
    assert same(model.predict_proba(x), through_file(model, tmp_path).predict_proba(x))


def test_the_block_of_missing_cells_is_found_again_where_levels_have_an_equal_family(tmp_path):
    frame = pd.DataFrame({"size": [1.0, None, 3.0, 4.0] * 3, "kind": ["a", "b", None, "b"] * 3})
    model = deciban.MixedNB(alpha=1.0, missing="informative").fit(frame, ["x", "y", "x", "y"] * 3)
    deciban.save(model, tmp_path / "model.deciban")
    again = deciban.load(tmp_path / "model.deciban")
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
