"""The registry of stored types, equal bytes in every process, and what reading a file reads and imports."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pandas as pd
import pytest
import safetensors.numpy
from scipy import sparse
from sklearn.base import BaseEstimator, clone

import deciban
from deciban import families
from deciban.errors import ModelFileError
from deciban.storage import registry, tensors
from deciban.tallies import ExactSums, Tally

from .support.models import CLASSIFIERS, EVERY, UNITS, rows_for

X = np.array([[0.0, 1.0], [1.0, 0.5], [4.0, 5.0], [5.0, 4.0], [9.0, 9.5], [8.0, 9.0]])


# the registry


def test_the_registry_has_every_public_classifier():
    assert {name: registry.classifier(name) for name in registry.CLASSIFIERS} == {
        cls.__name__: cls for cls in (*CLASSIFIERS, *UNITS)
    }


def test_every_registered_type_is_a_frozen_dataclass_of_its_module():
    for name, module in registry.STORED_TYPES.items():
        cls = registry.stored_type(name)
        assert registry.is_frozen(cls), name
        assert (cls.__module__, cls.__name__) == (f"deciban.{module}", name)


def test_every_family_of_columns_and_every_tally_is_registered():
    found = {family.__name__ for family in families.find().values() if family.columnwise}  # a schema holds no others
    assert found <= set(registry.STORED_TYPES)
    whole = [cls for cls in subclasses(Tally) if "__dataclass_params__" in vars(cls) and not inspect.isabstract(cls)]
    assert {cls.__name__ for cls in whole} <= set(registry.STORED_TYPES)


def subclasses(cls: type) -> Iterator[type]:
    for one in cls.__subclasses__():
        if one.__module__.startswith("deciban.") and not one.__name__.startswith("_"):
            yield one
        yield from subclasses(one)


def test_fields_of_registered_types_are_registered():
    for name in registry.STORED_TYPES:
        cls = registry.stored_type(name)
        hints = get_type_hints(cls)
        held = {part for field in dataclasses.fields(cls) for part in named_types(hints[field.name])}
        parts = {one.__name__ for one in held - {Tally, ExactSums} if dataclasses.is_dataclass(one)}
        assert parts <= set(registry.STORED_TYPES), name


def named_types(hint: Any) -> Iterator[type]:
    if isinstance(hint, type) and not get_args(hint):
        yield hint
    for arg in get_args(hint):
        yield from named_types(arg)


def dataclasses_of(value: Any, seen: set[int]) -> Iterator[type]:
    """The classes of all dataclasses that a value is made of, except cached values, which no file holds."""
    if id(value) in seen:
        return
    seen.add(id(value))
    parts: list[Any] = []
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield type(value)
        parts = [getattr(value, field.name) for field in dataclasses.fields(value)]
    elif isinstance(value, Mapping):
        parts = [*value.keys(), *value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        parts = list(value)
    elif registry.is_training_rows(value):
        parts = [part for name, part in value.__getstate__().items() if not name.startswith("_")]
    elif isinstance(value, BaseEstimator):
        parts = model_parts(value) if registry.is_classifier(value) else list(value.get_params().values())
    for part in parts:
        yield from dataclasses_of(part, seen)


def model_parts(model: Any) -> list[Any]:
    """What a file holds of a model."""
    out = [value for name, value in vars(model).items() if name not in ("_state", "_cached_view", "_cached_features")]
    state = vars(model).get("_state")
    if state is None:
        return out
    known = [getattr(state.known, field.name) for field in dataclasses.fields(state.known)]
    reader = [getattr(state.reader, name) for name in state.reader.LEARNED]
    sample = None if state.sample is None else state.sample.stored()
    return [*out, *known, *reader, state.classes, state.tally, state.calibration, state.weights, state.tables, sample]


def texts_and_frames() -> Iterator[Any]:
    """Fitted models that the list of every setting lacks."""
    texts, y = np.array(["good old tea", "good cake", "bad old rain", "bad storm"] * 6, dtype=object), [0, 0, 1, 1] * 6
    for settings in ({"model": "logistic"}, {"model": "nb-logistic"}, {"calibrate": True}, {"alpha": "auto"}):
        yield deciban.TextClassifier(**settings).fit(texts, y)
    frame = pd.DataFrame({"a": np.arange(24.0), "b": ["u", "v", "u"] * 8, "c": [None, "x", "y", "x"] * 6})
    yield deciban.MixedNB(missing="informative", weights="discriminative").fit(frame, y)
    yield deciban.MixedNB(families={"a": "histogram"}).fit(frame, y)
    yield deciban.loads(deciban.dumps(deciban.MixedNB(families={"b": "words"}).fit(frame, y), rows=False))
    yield deciban.GaussianNB().fit(frame, y)
    yield deciban.GaussianNB().fit(frame, y, sample_weight=np.full(24, 0.1))
    yield deciban.MultinomialNB(calibrate=True).fit(sparse.csr_array(np.eye(24)), y)
    yield deciban.BayesNet().fit(frame, y)
    yield deciban.BayesNet.from_edges([("sky", "wet")], {"sky": ["a", "b"], "wet": ["x", "y"]}, target="wet")
    yield deciban.LogisticRegression(C="auto").fit(np.arange(24.0)[:, None] % 5, y)
    yield deciban.LogisticRegression().partial_fit(X, [0, 1] * 3, classes=[0, 1])
    separated = deciban.LogisticRegression(C=np.inf)
    yield separated.fit(np.array([[0.0], [1.0], [2.0], [3.0]] * 6), y)
    rng = np.random.default_rng(0)
    yield deciban.RegularizedDiscriminantAnalysis().fit(
        rng.normal(size=(6, 9)), [0, 1, 2] * 2
    )  # fewer rows than columns


@pytest.mark.filterwarnings("ignore")
def test_every_dataclass_that_a_model_holds_is_registered():
    held: set[type] = set()
    for template in EVERY:
        x, y = rows_for(template)
        try:
            held |= set(dataclasses_of(clone(template).fit(x, y), set()))
        except (ValueError, NotImplementedError):  # settings that exclude each other
            continue
    for model in texts_and_frames():
        held |= set(dataclasses_of(model, set()))
    held.discard(ExactSums)  # which has a tag of its own
    assert {cls.__name__ for cls in held if registry.STORED_TYPES.get(cls.__name__) != cls.__module__[8:]} == set()
    columns = {family.__name__ for family in families.find().values()}  # many of these occur in the files of no test
    assert set(registry.STORED_TYPES) - columns - {cls.__name__ for cls in held} == {"Terms"}  # which `about` has


@pytest.mark.parametrize("name", ["system", "Header", "Tally", "__class__", "ModelFileError", "Tree", "GivenNetwork"])
def test_names_outside_the_registry_are_refused(name):
    with pytest.raises(ModelFileError, match="hint"):
        registry.stored_type(name)


# equal bytes

WRITER = """
import sys, warnings, datetime, numpy as np, pandas as pd, deciban
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
x, y = rng.normal(size=(60, 3)), np.array(["a", "b", "c"])[np.arange(60) % 3]
codes = rng.integers(0, 3, (60, 4))
frame = pd.DataFrame({"a": x[:, 0], "b": np.where(x[:, 1] > 0, "u", "v"), "c": rng.choice(["Ulm", "Rom", None], 60)})
texts = np.array([" ".join(rng.choice(["tea", "cake", "rain", "storm", "sun"], 4)) for _ in range(60)], dtype=object)
date = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
models = {
    "GaussianNB": deciban.GaussianNB(calibrate=True).fit(x, y),
    "MixedNB": deciban.MixedNB(families={"a": "student", "b": "categorical"}, weights="discriminative").fit(frame, y),
    "TreeAugmentedNB": deciban.TreeAugmentedNB().fit(frame, y),
    "LogisticRegression": deciban.LogisticRegression().fit(x, y),
    "TextClassifier": deciban.TextClassifier(stop_words={"sun", "tea", "the", "a"}).fit(texts, y),
    "BayesOptimal": deciban.BayesOptimal().fit(frame, y),
}
for name, model in models.items():
    for i in range(2):
        path = f"{sys.argv[1]}/{name}.{i}"
        deciban.save(model, path, source="rows", metrics={"b": 1.0, "a": 2.0}, date=date)
        model.predict({"TextClassifier": texts, "GaussianNB": x, "LogisticRegression": x}.get(name, frame))
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> list[Path]:
    """The files that two processes with different hashes of strings write."""
    out = [tmp_path_factory.mktemp("hash") for _ in range(2)]
    jobs = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], env=os.environ | {"PYTHONHASHSEED": str(seed)})
        for seed, folder in enumerate(out, 1)
    ]
    assert [job.wait(300) for job in jobs] == [0, 0]
    return out


@pytest.mark.parametrize(
    "name", ["GaussianNB", "MixedNB", "TreeAugmentedNB", "LogisticRegression", "TextClassifier", "BayesOptimal"]
)
def test_a_model_has_the_same_bytes_in_every_process(name, folders):
    first, *others = [(folder / f"{name}.{i}").read_bytes() for folder in folders for i in range(2)]
    assert all(other == first for other in others)
    assert deciban.model_info(first)["date"] == "2020-01-01T00:00:00+00:00"


def test_the_order_of_attributes_and_of_arrays_does_not_matter(tmp_path):
    model = deciban.LogisticRegression().fit(X, [0, 1, 0, 1, 1, 0])
    date = datetime(2020, 1, 1, tzinfo=UTC)
    deciban.save(model, tmp_path / "a", date=date)
    own = dict(reversed(vars(model).items()))
    vars(model).clear()
    vars(model).update(own)
    deciban.save(model, tmp_path / "b", date=date)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    arrays = {"x": X, "a": np.arange(3, dtype=np.int8), "b": np.arange(3.0)}
    one, other = (b"".join(tensors.serialize({"k": 1}, order)) for order in (arrays, dict(reversed(arrays.items()))))
    assert one == other


def test_sets_come_back(tmp_path):
    texts = np.array(["good old tea", "bad old rain"] * 6, dtype=object)
    for words in ({"old", "tea"}, frozenset({"old", "tea"})):
        deciban.save(deciban.TextClassifier(stop_words=words).fit(texts, [0, 1] * 6), tmp_path / "m")
        back = deciban.load(tmp_path / "m").stop_words
        assert back == words
        assert type(back) is type(words)


# what is read


class Recorder(io.FileIO):
    """A file that counts the bytes that are read."""

    count = 0

    def read(self, n: int = -1) -> bytes:
        out = super().read(n)
        self.count += len(out)
        return out

    def readinto(self, memory: Any) -> int:
        got = super().readinto(memory)
        self.count += got
        return got


def test_model_info_reads_no_array_that_it_does_not_need(tmp_path, monkeypatch):
    path = tmp_path / "large.deciban"
    rng = np.random.default_rng(0)
    deciban.save(deciban.QuadraticDiscriminantAnalysis().fit(rng.normal(size=(500, 200)), np.arange(500) % 2), path)
    opened: list[Recorder] = []

    def recorded(given: Any) -> Recorder:
        opened.append(Recorder(given))
        return opened[-1]

    monkeypatch.setattr(deciban.model_file, "_open", recorded)
    assert deciban.model_info(path)["columns"] == list(range(200))
    deciban.load(path)
    assert opened[0].count < 10_000 < 600_000 < opened[1].count


def test_model_info_of_texts_and_long_names(tmp_path):
    path = tmp_path / "m"
    texts = np.array(["good old tea", "bad öld rain"] * 6, dtype=object)
    model = deciban.TextClassifier().fit(texts, [0, 1] * 6)
    deciban.save(model, path)
    info = deciban.model_info(path)
    assert info["columns"] == model._words.terms.strings()
    assert (info["classes"], info["date"], info["rows"]) == ([0, 1], None, 12.0)
    names = [f"column {i}" for i in range(100)]
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(10, 100)), columns=names)
    deciban.save(deciban.GaussianNB().fit(frame, [0, 1] * 5), path)
    assert deciban.model_info(path)["columns"] == names
    with open(path, "rb") as file:  # names and classes are stored once
        metadata = tensors.Header.from_file(file).metadata
    assert set(metadata["learned"]["feature_names_in_"]) == set(metadata["learned"]["classes_"]) == {"same"}


def test_damage_is_found_by_model_info_where_it_reads_and_by_load_everywhere(tmp_path):
    path = tmp_path / "m"
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(10, 100)), columns=[f"column {i}" for i in range(100)])
    deciban.save(deciban.GaussianNB().fit(frame, [0, 1] * 5), path)
    content = path.read_bytes()
    with open(path, "rb") as file:
        header = tensors.Header.from_file(file)
        header.arrays(file)
    for name, place in header.places.items():
        wrong = bytearray(content)
        wrong[header.length + place.start] ^= 1
        with pytest.raises(ModelFileError, match="checksum"):
            deciban.loads(bytes(wrong))
        if name.startswith("about"):
            with pytest.raises(ModelFileError, match="checksum"):
                deciban.model_info(bytes(wrong))


def test_a_file_that_is_cut_while_it_is_read_is_refused(tmp_path):
    path = tmp_path / "m"
    deciban.save(deciban.GaussianNB().fit(X, list("aabbcc")), path)
    with open(path, "rb", buffering=0) as file:
        arrays = tensors.Header.from_file(file).arrays(file)
        os.truncate(path, path.stat().st_size - 8)
        with pytest.raises(ModelFileError, match="changed while it was read"):
            dict(arrays)


def test_arrays_of_every_type_and_shape_come_back(tmp_path):
    arrays = {
        f"{dtype.name} {i}": a.astype(dtype)
        for dtype in tensors.NAMES
        for i, a in enumerate([np.array(1), np.arange(6).reshape(2, 3).T, np.zeros((0, 2)), np.arange(3)])
    } | {"big-endian": np.arange(3).astype(">i4")}
    tensors.write(tmp_path / "a", {}, arrays)
    with open(tmp_path / "a", "rb") as file:
        back = dict(tensors.Header.from_file(file).arrays(file))
    assert back.keys() == arrays.keys()
    for name, a in arrays.items():
        assert (back[name].shape, back[name].dtype) == (a.shape, a.dtype.newbyteorder("="))
        assert np.array_equal(back[name], a)
        back[name] += back[name]  # can be written to


def test_the_bytes_are_those_that_the_safetensors_package_writes():
    arrays = {f"{letter} {dtype.name}": np.arange(7).astype(dtype) for letter in "ba" for dtype in tensors.NAMES} | {
        "z": np.zeros((0, 3)),
        "a": np.array(2.5),
    }
    content = b"".join(tensors.serialize({"text": 'quote " backslash \\ ü 很', "nested": {"a": [1, None]}}, arrays))
    end = 8 + int.from_bytes(content[:8], "little")
    assert content == safetensors.numpy.save(arrays, json.loads(content[8:end])["__metadata__"])


def rewritten(content: bytes, change: Any) -> bytes:
    """A file with another header, whose checksum is right."""
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    change(header)
    text = json.dumps(header, separators=(",", ":")).encode()
    old = json.loads(header["__metadata__"]["deciban"])["checksum"]
    start = len(text).to_bytes(8, "little")
    blank = (start + text).replace(tensors._mark(old), tensors._mark(tensors.BLANK), 1)
    return (
        blank.replace(tensors._mark(tensors.BLANK), tensors._mark(hashlib.sha256(blank).hexdigest()), 1) + content[end:]
    )


def entry(header: dict) -> dict:
    return next(value for name, value in header.items() if name != "__metadata__" and value["dtype"] == "F64")


@pytest.mark.parametrize(
    "change",
    [
        lambda header: entry(header).update(dtype="F128"),
        lambda header: entry(header).update(dtype="I32"),
        lambda header: entry(header).update(shape=[1 << 40]),
        lambda header: entry(header).update(shape=[-1, -3]),
        lambda header: entry(header).update(shape=[1.0, 3]),
        lambda header: entry(header).update(data_offsets=[0, 1 << 62]),
        lambda header: entry(header).update(data_offsets=[float("1e300"), 8]),
        lambda header: entry(header).update(more=1),
        lambda header: entry(header).pop("shape"),
        lambda header: header.update(x={"dtype": "F64", "shape": [0], "data_offsets": [0, 0]}),
        lambda header: header.update(x=[]),
        lambda header: header["__metadata__"].update(other="text"),
    ],
)
def test_forged_headers_are_refused(change):
    content = deciban.dumps(deciban.GaussianNB().fit(X, list("aabbcc")))
    assert deciban.loads(rewritten(content, lambda header: None)).classes_.tolist() == ["a", "b", "c"]
    for read in (deciban.loads, deciban.model_info):
        with pytest.raises(ModelFileError, match="hint"):
            read(rewritten(content, change))


# what is imported


def test_loading_a_gaussian_model_imports_the_code_of_no_other(tmp_path):
    path = tmp_path / "m.deciban"
    deciban.save(deciban.GaussianNB().fit(X, list("aabbcc")), path)
    code = "import sys, deciban; deciban.load(sys.argv[1]); print(*sys.modules)"
    command = [sys.executable, "-c", code, str(path)]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.split()
    assert "deciban.classifiers.naive_bayes" in loaded
    unwanted = ("deciban.text", "deciban.logistic", "deciban.networks", "deciban.classifiers.ensemble")
    assert [name for name in loaded if name.startswith(unwanted)] == []
