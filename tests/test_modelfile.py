"""Files of models: what they hold, how they come to be, and what they refuse."""

from __future__ import annotations

import json
import os
import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import load_file
from sklearn.covariance import LedoitWolf
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import deciban
from deciban import GaussianNB, LinearDiscriminantAnalysis, LogisticRegression, MixedNB, MultinomialNB, model_file
from deciban.errors import MergeError, ModelFileError, NotAdditiveError
from deciban.io import atomic
from deciban.storage import tensors
from deciban.storage.codec import Decoder, Encoder

from .support.strategies import examples

X = np.array([[0.0, 1.0], [1.0, 0.5], [4.0, 5.0], [5.0, 4.0], [9.0, 9.5], [8.0, 9.0]])
LABELS = {
    "texts": np.array(["a", "ä", "很"]),
    "long texts": np.array(["a" * 300, "b\ud800", "c\x00d"], dtype=object),
    "whole numbers": np.array([-3, 0, 1 << 40]),
    "small numbers": np.array([1, 2, 3], dtype=np.int8),
    "bools": np.array([False, True, True]),
    "reals": np.array([-1.0, 0.0, 2.0]),
    "objects": np.array([1, 2, 3], dtype=object),
    "texts as objects": np.array(["a", "b", "c"], dtype=object),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.deciban"


def through(model, path):
    deciban.save(model, path)
    return deciban.load(path)


# what files hold


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_type_come_back(kind, path):
    y = LABELS[kind][[0, 0, 1, 1, 2, 2]]
    classes = [MixedNB] if kind == "objects" else [MixedNB, GaussianNB, LogisticRegression]
    for model in (cls().fit(X, y) for cls in classes):
        loaded = through(model, path)
        assert loaded.classes_.dtype == model.classes_.dtype
        assert loaded.predict(X).tolist() == model.predict(X).tolist()
        assert list(map(type, loaded.classes_.tolist())) == list(map(type, model.classes_.tolist()))


def test_frames_with_levels_and_gaps_come_back(path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=80),
            "sky": pd.Categorical(rng.choice(["grey", "blue"], 80), ["red", "grey", "blue"]),
            "wet": rng.choice([True, False], 80),
            "town": rng.choice(["Ulm", "Köln", None], 80),
            "count": rng.integers(0, 4, 80),
        }
    )
    frame.loc[::9, "size"] = np.nan
    y = rng.choice(["yes", "no"], 80)
    for words in ({}, {"missing": "informative"}, {"unseen": "reserve", "families": {"count": "categorical"}}):
        model = MixedNB(**words).fit(frame, y)
        loaded = through(model, path)
        assert loaded.levels_ == model.levels_
        assert loaded.families_ == model.families_
        assert loaded.sample(3, 0)[0].equals(model.sample(3, 0)[0])
        strange = frame.iloc[:5].assign(town="Rom")[["town", "wet", "sky", "size", "count"]]
        assert (loaded.predict_proba(strange) == model.predict_proba(strange)).all()
        more = frame.iloc[:20].assign(town="Rom")
        a, b = loaded.partial_fit(more, y[:20]), model.partial_fit(more, y[:20])
        assert a.levels_ == b.levels_
        assert (a.predict_proba(frame) == b.predict_proba(frame)).all()


def test_column_names_and_single_precision_come_back(path):
    frame = pd.DataFrame(X.astype(np.float32), columns=["left", "right"])
    model = GaussianNB().fit(frame, list("aabbcc"))
    loaded = through(model, path)
    assert loaded.feature_names_in_.tolist() == ["left", "right"]
    single = GaussianNB().fit(X.astype(np.float32), list("aabbcc"))
    assert through(single, path).theta_.dtype == np.float32


@pytest.mark.filterwarnings("ignore::deciban.errors.ColumnWarning")
def test_many_levels_lie_in_arrays_not_in_the_header(path):
    frame = pd.DataFrame({"id": [f"level {i}" for i in range(3000)]})
    deciban.save(MixedNB().fit(frame, np.arange(3000) % 2), path)
    assert int.from_bytes(path.read_bytes()[:8], "little") < 5000
    assert deciban.load(path).levels_["id"] == sorted(frame["id"])


def test_sparse_coefficients_come_back(path):
    model = LogisticRegression(l1_ratio=1.0, C=0.1).fit(X, list("aabbcc")).sparsify()
    assert (through(model, path).coef_ != model.coef_).nnz == 0


def test_questions_about_coefficients_are_answered_without_the_rows(path):
    model = LogisticRegression(C=10.0).fit(X, [0, 1, 0, 1, 1, 0])
    loaded = through(model, path)
    assert str(loaded.summary()) == str(model.summary())
    assert X.tobytes() not in path.read_bytes()


def test_model_info_describes_where_a_model_comes_from(path):
    model = GaussianNB().fit(pd.DataFrame(X, columns=["u", "v"]), list("aabbcc"), sample_weight=[2.0] * 6)
    deciban.save(model, path, source="rows.csv", metrics={"log loss": np.float64(0.25), "nested": {"nan": np.nan}})
    info = model_file.model_info(path)
    assert (info["class"], info["source"], info["rows"], info["format"]) == ("GaussianNB", "rows.csv", 12.0, 1)
    assert (info["columns"], info["classes"], info["settings"]["ddof"]) == (["u", "v"], ["a", "b", "c"], 0)
    assert info["metrics"]["log loss"] == 0.25
    assert np.isnan(info["metrics"]["nested"]["nan"])
    with pytest.raises(ModelFileError, match="arrays"):
        deciban.save(model, path, metrics={"confusion": np.eye(2)})


def test_the_safetensors_package_reads_our_files(path):
    deciban.save(model := LinearDiscriminantAnalysis().fit(X, list("aabbcc")), path)
    arrays = load_file(path)
    assert any(np.array_equal(a, model.tally_.parts[1].scatter) for a in arrays.values())
    with safe_open(path, "numpy") as file:
        assert json.loads(file.metadata()["deciban"])["class"] == "LinearDiscriminantAnalysis"
    empty = {"none": np.zeros((3, 0)), "some": np.arange(3, dtype=np.uint8), "bool": np.array([True])}
    tensors.write(path, {"a": "ü\ud800"[:1]}, empty)
    assert load_file(path)["none"].shape == (3, 0)


PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.just(1 << 5000),
    st.floats(),
    st.text(st.characters(exclude_categories=[])),
    st.binary(max_size=9),
    st.sampled_from([np.float32(0.1), np.int8(3), np.bool_(True), np.float64("nan")]),
    st.sampled_from([np.arange(6.0).reshape(2, 3).T, np.zeros((2, 0)), np.array(["x", None, 3], dtype=object)]),
    st.lists(st.text(max_size=3), min_size=64, max_size=66),
    st.lists(st.floats(), min_size=64, max_size=66),
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers(), inner)
    ),
    max_leaves=8,
)


@examples(60)
@given(value=VALUES)
def test_values_of_all_kinds_come_back(value):
    encoder = Encoder()
    node = json.loads(json.dumps(encoder.encode(value, "v"), allow_nan=False))
    back = Decoder(encoder.arrays).decode(node)
    assert repr(back) == repr(value)
    assert type(back) is type(value)


def test_what_stands_in_two_places_is_stored_once(path):
    model = MixedNB().fit(X, [0, 1, 0, 1, 0, 1])
    parts = through(model, path).tally_.parts[1].parts[0].parts
    shared = [a is b for i, a in enumerate(parts) for b in parts[:i]]
    own = model.tally_.parts[1].parts[0].parts
    assert shared == [a is b for i, a in enumerate(own) for b in own[:i]]


# how they come to be


@pytest.mark.parametrize("trouble", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("named", [False, True])
def test_an_older_file_stays_where_a_newer_one_fails(trouble, named, path, monkeypatch):
    if named:
        monkeypatch.setattr(atomic, "_write_unnamed", lambda *_: False)
    model = GaussianNB().fit(X, list("aabbcc"))
    deciban.save(model, path)
    before = path.read_bytes()
    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch, pytest.raises(trouble):
            patch.setattr(os, name, partial(_fail, trouble))
            deciban.save(model.forget(X[:1], ["a"]) if name == "fsync" else model, path)
        assert os.listdir(path.parent) == [path.name]
        assert path.read_bytes() == before


def _fail(trouble, *_):
    raise trouble


def test_links_and_modes_stay(path, tmp_path):
    model = GaussianNB().fit(X, list("aabbcc"))
    deciban.save(model, path)
    path.chmod(0o640)
    link = tmp_path / "link.deciban"
    link.symlink_to(path)
    deciban.save(model, link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640


def test_where_nothing_can_be_written_is_named_as_the_user_named_it(tmp_path):
    model = GaussianNB().fit([[0.0], [1.0]], ["a", "b"])
    with pytest.raises(FileNotFoundError, match="nowhere'"):
        deciban.save(model, tmp_path / "nowhere" / "m.deciban")
    with pytest.raises(IsADirectoryError, match=f"{tmp_path.name}'"):
        deciban.save(model, tmp_path)


def test_models_that_no_file_holds_are_refused(path):
    y = list("aabbcc")

    class Own(GaussianNB):
        pass

    class Wolf(LedoitWolf):
        pass

    with pytest.raises(NotFittedError):
        deciban.save(GaussianNB(), path)
    with pytest.raises(ModelFileError, match="no classifier"):
        deciban.save(make_pipeline(GaussianNB()).fit(X, y), path)
    with pytest.raises(ModelFileError, match="no classifier"):
        deciban.save(Own().fit(X, y), path)
    with pytest.raises(ModelFileError, match="random_state"):
        deciban.save(LogisticRegression(random_state=np.random.RandomState(0)).fit(X, y), path)
    with pytest.raises(ModelFileError, match="covariance_estimator"):
        deciban.save(LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=Wolf()).fit(X, y), path)
    assert os.listdir(path.parent) == []


# merging


def test_merge_says_what_does_not_add_up(path):
    a, b = GaussianNB().fit(X, list("aabbcc")), MultinomialNB().fit(X, list("aabbcc"))
    with pytest.raises(MergeError, match="no models"):
        deciban.merge([])
    with pytest.raises(MergeError, match="give a list"):
        deciban.merge(str(path))
    with pytest.raises(MergeError, match="GaussianNB, the other a MultinomialNB"):
        deciban.merge([a, b])
    with pytest.raises(NotAdditiveError, match="LogisticRegression"):
        deciban.merge([LogisticRegression().fit(X, list("aabbcc"))] * 2)
    one = deciban.merge([a])
    one.forget(X[:1], ["a"])
    assert a.class_count_.tolist() == [2.0, 2.0, 2.0]


# what they refuse


def test_other_files_are_refused(path):
    with pytest.raises(FileNotFoundError):
        deciban.load(path)
    with pytest.raises(IsADirectoryError):
        deciban.load(path.parent)
    model = GaussianNB().fit(X, list("aabbcc"))
    for content in (b"", b"\x00" * 9, pickle.dumps(model), b"a,b\n1,2\n", b"\xff" * 64, b"\x05\0\0\0\0\0\0\0[1,2]"):
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match="hint"):
            deciban.load(path)
    tensors.write(path, {"of": "others"}, {"x": X})
    with pytest.raises(ModelFileError, match="no model of this library"):
        deciban.load(path)
    with pytest.raises(ModelFileError, match="no regular file"):
        deciban.load("/dev/zero")


def test_a_file_of_a_later_format_is_refused_by_name(path, monkeypatch):
    model = GaussianNB().fit(X, list("aabbcc"))
    monkeypatch.setattr(model_file, "FORMAT", 2)
    deciban.save(model, path)
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match="format is 2"):
        deciban.load(path)


def test_deep_and_wide_headers_are_refused(path):
    for text in (
        b"[" * 100_000,
        b'{"__metadata__":' + b'{"a":' * 50_000,
        b'{"__metadata__":{},"a":1e999999}',
        b"{" * 9,
    ):
        path.write_bytes(len(text).to_bytes(8, "little") + text)
        with pytest.raises(ModelFileError, match=r"header|start|no model"):
            deciban.load(path)


def test_names_in_a_file_call_nothing(path):
    deciban.save(GaussianNB().fit(X, list("aabbcc")), path)
    with open(path, "rb") as file:
        header = tensors.Header.from_file(file)
        arrays = dict(header.arrays(file))
    plain = header.metadata
    learned = plain["learned"]
    os_system = {"of": "system", "with": {"command": "true"}}
    foreign = {"of": "Origin", "with": {"dtype": None, "library": "this"}}
    for change in (
        {"class": "waterfall"},
        {"class": "__class__"},
        {"class": "load"},
        {"class": ["GaussianNB"]},
        {"class": None},
        {"learned": learned | {"_origin": foreign}},
        {"learned": learned | {"x": os_system}},
        {"learned": learned | {"predict": 1}},
        {"learned": learned | {"__class__": 1}},
        {"learned": learned | {"x": {"covariance": "os", "with": {}}}},
        {"learned": learned | {"x": {"init__": {}}}},
        {"learned": learned | {"n_features_in_": 3}},
        {"settings": {"ddof": -1}},
        {"settings": {"not": "a setting"}},
    ):
        tensors.write(path, plain | change, arrays)
        with pytest.raises(ModelFileError, match="hint"):
            deciban.load(path)
