"""Models in files: one safetensors file with a JSON header, never pickle; loading a file executes nothing from it.

A file holds the model's *tally* (its sufficient statistics), so a loaded model can be updated, merged and forgotten
from like the one that was saved, and its predictions have the same bits. What cannot be computed from a tally is stored
too: coefficients, calibration, settings that leave-one-out chose. Training rows are stored only where a state consists
of them; `model_info` says how many (`rows_kept`), and `save(..., rows=False)` leaves them out or refuses.

The header has the format (a later one is refused), the version of the library, the class, `about` (rows, date, source,
metrics, classes, columns), the settings, and what was learned, with the names of the arrays that belong to it.

>>> import pathlib, tempfile
>>> from deciban import GaussianNB
>>> path = pathlib.Path(tempfile.mkdtemp()) / "small.deciban"
>>> save(GaussianNB().fit([[0.0], [1.0], [4.0]], ["a", "a", "b"]), path, source="three rows")
>>> load(path).partial_fit([[5.0]], ["b"]).predict([[4.4]]).tolist(), model_info(path)["rows"]
(['b'], 3.0)
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import reduce
from hashlib import sha256
from io import BytesIO
from itertools import pairwise
from operator import add
from typing import Any, BinaryIO, Protocol, runtime_checkable

import numpy as np
from sklearn.utils.validation import check_is_fitted

from deciban import __version__
from deciban.classifiers.base import Generative
from deciban.errors import MergeError, ModelFileError, ModelNotFoundError, NotAdditiveError
from deciban.model_file import validation
from deciban.models.model import Known, State
from deciban.rows import inputs
from deciban.rows.sample import RowSample
from deciban.storage import registry, tensors
from deciban.storage.codec import Decoder, Encoder, check_fields, unsupported_value
from deciban.tallies.ledger import PUBLIC_KEY, LedgerKey, key_check

Source = str | os.PathLike | BinaryIO | bytes | bytearray | memoryview
FORMAT = 1
FINGERPRINTED = 32  # rows of a sample: those of the smallest digests, which samples of any size have
STATE = ("classes", "tally", "calibration", "weights", "tables", "closed", "sample")  # of a state, with `known`
_TRANSIENT = (
    "_state",  # stored separately
    "_metadata_request",  # scikit-learn's, of meta-estimators
    *("_cached_view", "_cached_features"),  # of text models: made again from the tally
)


def save(
    model: Any,
    path: str | os.PathLike | BinaryIO,
    *,
    metrics: Mapping[str, Any] | None = None,
    source: str | None = None,
    target: str | None = None,
    text: str | None = None,
    date: datetime | None = None,
    rows: bool = True,
) -> None:
    """Write a fitted model to a file.

    The file is written whole or not at all: until then, an older file of that name stays, and other hard links to it
    keep the older model. The same model saved with the same arguments gives the same bytes, in any process.

    Parameters
    ----------
    model : classifier
        A fitted classifier of this library.
    path : path or binary file
        Where to write, usually `name.deciban`; or a file open for writing bytes, such as `io.BytesIO()`.
    metrics : mapping, optional
        Numbers by name, such as `{"accuracy": 0.9}`.
    source : str, optional
        Where the rows came from.
    target : str, optional
        The column of the classes.
    text : str, optional
        The column of the texts.
    date : datetime, optional
        The date of the model, by default now. A `TextClassifier` stores a date only if one is given, so equal models
        have equal files.
    rows : bool
        Whether training rows may be in the file. Most models keep statistics alone. Models with a setting that is
        fitted to held-out rows keep a sample of them (False: the model predicts as before, but cannot be updated).
        Discriminants without `exact=True` keep the rows themselves while those are fewer than the columns (False: their
        scatter matrices are stored); a `TextClassifier` keeps bags of words where it chooses settings or trains
        weights, and `MixedNB` the texts of columns of free text (False: their words; else as for a sample); `BayesNet`
        and `KDependenceBayes` keep distinct rows (False: refused). `model_info` has their number as `rows_kept`. Names
        of columns, levels, words and classes are in every file.

    Raises
    ------
    ModelFileError
        The model is no classifier of this library, has a setting that no file can hold, or consists of its training
        rows and `rows` is False.

    See Also
    --------
    dumps : The same as bytes.

    Examples
    --------
    >>> import tempfile, os
    >>> from deciban import LogisticRegression
    >>> path = os.path.join(tempfile.mkdtemp(), "model.deciban")
    >>> save(LogisticRegression().fit([[0.0], [1.0]], [0, 1]), path, metrics={"accuracy": 1.0})
    >>> load(path).predict([[0.9]]).tolist()
    [1]
    """
    if not isinstance(path, str | os.PathLike) and not hasattr(path, "write"):
        raise ModelFileError(f"{path!r:.80} is no file to write to\n\nhint: give a path, or a file open for bytes")
    if not registry.is_classifier(model):
        raise ModelFileError(
            f"a {type(model).__module__}.{type(model).__name__} is no classifier of this library\n\n"
            "hint: save the classifier inside it; the whole goes through joblib.dump"
        )
    check_is_fitted(model)
    validation.check_model(model)
    encoder = Encoder(_encode_member, rows)
    _complete(encoder, model)
    metadata = {
        "format": FORMAT,
        "library": __version__,
        "class": type(model).__name__,
        "about": _encode_about(encoder, model, metrics, date, source=source, target=target, text=text),
        **_encode_model(encoder, model),
    }
    metadata["about"]["rows_kept"] = encoder.rows_kept
    tensors.write(path, metadata, encoder.arrays)


def dumps(model: Any, **about: Any) -> bytes:
    """A fitted model as bytes, for a database, a message or a cache.

    Parameters
    ----------
    model : classifier
        A fitted classifier of this library.
    **about : optional
        `metrics`, `source`, `target`, `text`, `date` and `rows`, as for `save`.

    Returns
    -------
    bytes
        The content of the file that `save` would write.

    See Also
    --------
    loads : The model of such bytes.

    Examples
    --------
    >>> from deciban import GaussianNB
    >>> content = dumps(GaussianNB().fit([[0.0], [1.0], [4.0]], ["a", "a", "b"]))
    >>> loads(content).predict([[4.0]]).tolist()
    ['b']
    """
    save(model, file := BytesIO(), **about)
    return file.getvalue()


def load(path: str | os.PathLike | BinaryIO) -> Any:
    """Read a model from a file.

    The model predicts, updates, merges and forgets like the one that was saved. Nothing in the file is executed, and a
    file that was damaged or forged is refused.

    Parameters
    ----------
    path : path or binary file
        A file that `save` wrote; or such a file open for reading bytes.

    Returns
    -------
    classifier
        The model, of the class that was saved.

    Raises
    ------
    ModelFileError
        The file is not a model, is damaged, or was written by a later version of the format.
    ModelNotFoundError
        There is no such file; it is a `ModelFileError` and a `FileNotFoundError`.

    See Also
    --------
    loads : A model from bytes.

    Examples
    --------
    >>> import tempfile, os
    >>> from deciban import GaussianNB
    >>> path = os.path.join(tempfile.mkdtemp(), "model.deciban")
    >>> save(GaussianNB().fit([[0.0], [1.0], [4.0]], ["a", "a", "b"]), path)
    >>> load(path).forget([[1.0]], ["a"]).class_count_.tolist()
    [1.0, 1.0]
    """
    if isinstance(path, bytes | bytearray | memoryview):
        raise ModelFileError("`load` takes a path or an open file, not bytes\n\nhint: loads(content)")
    return _read(path, _decode_model)


def loads(content: bytes | bytearray | memoryview) -> Any:
    """Read a model from bytes.

    Parameters
    ----------
    content : bytes
        What `dumps` returned, or the content of a file that `save` wrote.

    Returns
    -------
    classifier
        The model, of the class that was saved.

    Raises
    ------
    ModelFileError
        The bytes are not a model, are damaged, or were written by a later version of the format.

    See Also
    --------
    load : Reads a model file.

    Examples
    --------
    >>> from deciban import GaussianNB
    >>> content = dumps(GaussianNB().fit([[0.0], [1.0]], ["a", "b"]), source="two rows")
    >>> loads(content).classes_.tolist(), model_info(content)["source"]
    (['a', 'b'], 'two rows')
    """
    if not isinstance(content, bytes | bytearray | memoryview):
        raise ModelFileError(f"`loads` takes bytes, not {type(content).__name__}\n\nhint: load(path) reads a file")
    return _read(content, _decode_model)


def model_info(path: Source) -> dict[str, Any]:
    """Describe the model in a file, without loading the model.

    Of the arrays in the file, only those with classes, columns and settings are read.

    Parameters
    ----------
    path : path, binary file or bytes
        As for `load` and `loads`.

    Returns
    -------
    dict
        `class`, `settings`, `columns`, `classes`, `rows` (how many were learned), `rows_kept` (how many of them can be
        read from the file), `ledger` (None, "public" or "secret": the key of the hashes of rows), `fingerprint`
        (SHA-256 of what was learned: equal rows give equal fingerprints, no matter what else was learned and forgotten
        in between; None: the model is no sum over rows), `date`, `source`, `target`, `text`, `metrics`, `format` and
        `library`, the version that wrote the file.

    See Also
    --------
    load : Read the model.
    save : Write a model, with a source, metrics and a date.

    Examples
    --------
    >>> import tempfile, os
    >>> from deciban import GaussianNB
    >>> path = os.path.join(tempfile.mkdtemp(), "model.deciban")
    >>> save(GaussianNB().fit([[0.0], [1.0]], ["a", "b"]), path, source="weather.csv", metrics={"accuracy": 0.9})
    >>> info = model_info(path)
    >>> info["class"], info["source"], info["metrics"], info["classes"]
    ('GaussianNB', 'weather.csv', {'accuracy': 0.9}, ['a', 'b'])
    """
    return _read(path, _decode_info)


def merge(*models: Any) -> Any:
    """Add models up: the result is the model of the rows of all of them.

    Parameters
    ----------
    *models : classifiers, paths, or one iterable of them
        Fitted models of one class with the same settings, or paths of their files. Files are read one at a time.

    Returns
    -------
    classifier
        A new model; the given ones stay as they are.

    Raises
    ------
    MergeError
        There are no models, or their classes, settings or columns differ.
    NotAdditiveError
        The models are not sums over rows, as those of `LogisticRegression`.

    See Also
    --------
    load : Reads a model file.
    save : Writes a model file.

    Examples
    --------
    >>> from deciban import GaussianNB
    >>> parts = [GaussianNB().fit([[0.0], [1.0]], ["a", "b"]), GaussianNB().fit([[2.0], [4.0]], ["a", "c"])]
    >>> merge(parts).class_count_.tolist(), merge(*parts).classes_.tolist()
    ([2.0, 1.0, 1.0], ['a', 'b', 'c'])
    """
    given: Iterable[Any] = models
    if len(models) == 1 and isinstance(models[0], str | os.PathLike):
        raise MergeError(f"one path, {str(models[0])!r}, where several models were expected\n\nhint: give a list")
    if len(models) == 1 and isinstance(models[0], Iterable):
        given = models[0]
    try:
        return reduce(_plus, (load(m) if isinstance(m, str | os.PathLike) else copy.copy(m) for m in given))
    except TypeError as error:
        if "empty iterable" not in str(error):
            raise
        raise MergeError("no models to merge\n\nhint: give a list of models, or of paths") from None


@runtime_checkable
class Additive(Protocol):
    """A model that is a sum over rows."""

    def __add__(self, other: Any) -> Any: ...


def _plus(a: Any, b: Any) -> Any:
    if type(a) is not type(b):
        raise MergeError(
            f"one model is a {type(a).__name__}, the other a {type(b).__name__}\n\nhint: merge models of one class"
        )
    if not isinstance(a, Additive):
        raise NotAdditiveError(
            f"{type(a).__name__} models do not add up: their coefficients are no sums over rows\n\n"
            "hint: fit one on all rows, or go on with `partial_fit`"
        )
    return add(a, b)


# writing


def _complete(encoder: Encoder, model: Any) -> None:
    """Make choices that a text model makes when first asked: equal models have equal files. A model that loses its
    texts is trained before."""
    if model._reads_texts:
        for one in model.models_ if model._has_members else [model]:
            one._settle(train=not encoder.rows)


def _storable(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings without a secret key."""
    return {name: True if isinstance(value, LedgerKey) else value for name, value in settings.items()}


def _encode_model(encoder: Encoder, model: Any, where: str = "") -> dict[str, Any]:
    settings, own = _storable(model.get_params(deep=False)), vars(model)
    learned = {key: own[key] for key in sorted(own) if key not in settings and key not in _TRANSIENT}
    return {
        "settings": encoder.members(settings, f"{where}settings"),
        "learned": encoder.members(learned, f"{where}learned"),
        "fitted": _encode_state(encoder, model, settings, where) if "_state" in own else None,
    }


def _encode_member(encoder: Encoder, model: Any, where: str) -> dict[str, Any]:
    """A model that another one is made of, fitted or not."""
    if not registry.is_classifier(model):
        raise unsupported_value(where, model)
    _complete(encoder, model)
    return {"class": type(model).__name__, **_encode_model(encoder, model, f"{where}.")}


def _encode_state(encoder: Encoder, model: Generative, settings: dict, where: str) -> dict[str, Any]:
    """The state, and settings that were changed after it was learned: it keeps those that it was learned with."""
    state = model._fitted_state()  # so that loading fits nothing
    encoder.rows_kept = max(encoder.rows_kept, state.texts_kept if encoder.rows else 0)
    state = state if encoder.rows else state.without_texts()
    own = {
        "reader": {name: getattr(state.reader, name) for name in state.reader.LEARNED},
        "known": {field.name: getattr(state.known, field.name) for field in fields(Known)},
        **{name: getattr(state, name) for name in STATE},
        "sample": None if state.sample is None else state.sample.stored(),
    }
    then = {key: value for key, value in _storable(state.spec.settings).items() if settings[key] is not value}
    return {"state": encoder.members(own, f"{where}fitted"), "then": encoder.members(then, f"{where}then")}


def _encode_about(
    encoder: Encoder, model: Any, metrics: Mapping[str, Any] | None, date: datetime | None, **origin: str | None
) -> dict[str, Any]:
    """What `model_info` reads. It is encoded first, so that what the model shares with it is stored once, in here."""
    plain = Encoder()
    plain.encode(None if metrics is None else dict(metrics), "metrics")
    if plain.arrays:
        raise ModelFileError("`metrics` holds arrays\n\nhint: give numbers by name, such as {'accuracy': 0.9}")
    if date is None and model._dated:
        date = datetime.now(UTC)
    about = {
        "rows": _rows_of(model),
        "date": None if date is None else date.isoformat(timespec="seconds"),
        **{name: None if value is None else str(value) for name, value in origin.items()},
        "metrics": None if metrics is None else dict(metrics),
        "ledger": _ledger_of(model),
        "fingerprint": fingerprint(model),
        "classes": model.classes_,
        "columns": _columns(model),
    }
    return encoder.members(about, "about")


def _rows_of(model: Any) -> float | None:
    """The weight of the training rows; None: the model was not learned from rows."""
    state = model._tally_state()
    if state is not None and state.given:
        return None
    count = vars(model).get("class_count_") if model._has_members else model.class_count_
    return None if count is None else float(np.asarray(inputs.to_numpy(count), dtype=np.float64).sum())


def fingerprint(model: Any) -> str | None:
    """SHA-256 of what a model has learned: its columns and classes, its tally, and the smallest rows of its sample.
    Equal rows give equal fingerprints, in any order and parts, with any other rows that
    were removed again. None: the model is no sum over rows."""
    texts = model._reads_texts and not model._has_members
    state = model._words if texts else model._tally_state()
    if state is None or (not texts and state.given):
        return None
    encoder = Encoder(rows=not texts)
    if texts:
        parts = {"classes": model.classes_.tolist(), "tally": state}
    else:
        sample = None if state.sample is None else state.sample.smallest(FINGERPRINTED)
        columns = [str(one) for one in state.reader.columns]
        parts = {
            "columns": columns if state.reader.schema is None else state.reader.schema,
            "classes": state.classes.tolist(),
            "tally": state.tally,
            "sample": None if sample is None else sample.stored(),
        }
    content = json.dumps(encoder.members(parts, ""), sort_keys=True)
    digest = sha256(content.encode("utf-8", "surrogatepass"))
    for name in sorted(encoder.arrays):
        digest.update(f"{name} {encoder.arrays[name].dtype} {encoder.arrays[name].shape} ".encode())
        digest.update(np.ascontiguousarray(encoder.arrays[name]).tobytes())
    return digest.hexdigest()


def _ledger_of(model: Any) -> str | None:
    """Whether the hashes of rows that a model keeps have a "public" or a "secret" key; None: it keeps none."""
    texts = model._reads_texts and not model._has_members
    state = model._words if texts else model._tally_state()
    if state is None or state.ledger is None:
        return None
    return "public" if state.ledger.key_check == key_check(PUBLIC_KEY) else "secret"


def _columns(model: Any) -> Any:
    """The terms of a text model, else the names of columns, or how many there are."""
    if model._reads_texts:
        return (model.models_[0] if model._has_members else model)._words.terms
    return vars(model).get("feature_names_in_", model.n_features_in_)


# reading


def _read(
    path: str | os.PathLike | BinaryIO | bytes | bytearray | memoryview, make: Callable[[dict[str, Any], Decoder], Any]
) -> Any:
    """What `make` makes of a file; every error in its content becomes one that names the file."""
    name = os.fspath(path) if isinstance(path, str | os.PathLike) else "the bytes"
    try:
        with _open(path) as file:
            header = tensors.Header.from_file(file)
            _check_format(header.metadata)
            return make(header.metadata, Decoder(header.arrays(file), _decode_member, header.size))
    except (OSError, MemoryError):
        raise
    except ModelFileError as error:
        raise ModelFileError(f"{name}: {error}") from None
    except Exception as error:  # a right checksum and a wrong content: made on purpose, so anything may be wrong
        raise ModelFileError(
            f"{name}: its content makes no model ({type(error).__name__}: {error})\n\nhint: save the model again"
        ) from error


def _open(path: Source) -> BinaryIO:
    if isinstance(path, str | os.PathLike):
        try:
            return tensors.open_file(path)
        except FileNotFoundError as missing:
            raise ModelNotFoundError(missing.errno, missing.strerror, os.fspath(path)) from None
    whole = path.read() if hasattr(path, "read") else path
    if not isinstance(whole, bytes | bytearray | memoryview):
        raise ModelFileError(
            f"no bytes, but {type(whole).__name__}\n\nhint: give a path, bytes, or a file open for reading bytes"
        )
    return BytesIO(whole)


def _check_format(metadata: dict[str, Any]) -> None:
    found = metadata.get("format")
    if type(found) is not int:
        raise tensors.foreign()
    if found > FORMAT:
        raise ModelFileError(
            f"its format is {found}, that of deciban {str(metadata.get('library', '?'))[:40]}, and this one "
            f"({__version__}) knows formats up to {FORMAT}\n\n"
            "hint: install a later version, `pip install -U deciban`"
        )


def _decode_model(metadata: dict[str, Any], decoder: Decoder) -> Any:
    decoder.members(metadata["about"])  # the rest refers to its arrays
    model = _decode_member(decoder, metadata)
    validation.check_model(model)
    return model


def _decode_member(decoder: Decoder, node: dict[str, Any]) -> Any:
    """A model, fitted or not. Its parts are decoded in the order in which they were encoded."""
    settings, learned = decoder.members(node["settings"]), decoder.members(node["learned"])
    validation.require(learned.keys().isdisjoint(_TRANSIENT), "it holds what is made again from its tally")
    decoder.check_columns(learned.get("n_features_in_"))
    cls = registry.classifier(node["class"])
    model = cls(**settings)  # a constructor only stores; a setting that an older file does not have is at its default
    model.__dict__.update(learned)
    if node["fitted"] is not None:
        found, then = (decoder.members(node["fitted"][part]) for part in ("state", "then"))
        before = cls(**{**settings, **then})
        reader = check_fields(replace(before._reader(), **found["reader"]))
        known, own = check_fields(Known(**found["known"])), {name: found[name] for name in STATE}
        if own["sample"] is not None:  # what the file says was found out about its arrays is not trusted
            validation.require(isinstance(own["sample"], RowSample), "its sample of rows is none")
            own["sample"] = own["sample"].stored()
        model.__dict__["_state"] = State(spec=before._spec(), reader=reader, known=known, **own)
    return model


def _decode_info(metadata: dict[str, Any], decoder: Decoder) -> dict[str, Any]:
    about = decoder.members(metadata["about"])
    decoder.check_columns(about["columns"])
    _check_about(metadata, about)
    return {
        "class": metadata["class"],
        "settings": decoder.members(metadata["settings"]),
        **about,
        "columns": _column_names(about["columns"]),
        "classes": about["classes"].tolist(),
        "format": metadata["format"],
        "library": metadata["library"],
    }


def _check_about(metadata: dict[str, Any], about: dict[str, Any]) -> None:
    """Refuse a description whose parts are of other types than `save` writes."""
    texts = [about[name] for name in ("date", "source", "target", "text", "ledger", "fingerprint")]
    validation.require(all(value is None or isinstance(value, str) for value in texts), "its origin is no text")
    counts = [about["rows"], about["rows_kept"]]
    validation.require(all(one is None or isinstance(one, float | int) for one in counts), "its rows are no number")
    validation.require(about["metrics"] is None or isinstance(about["metrics"], dict), "its metrics have no names")
    names = [metadata["class"], metadata["library"]]
    validation.require(all(isinstance(name, str) for name in names), "its class or version is no text")


def _column_names(columns: Any) -> list:
    if isinstance(columns, int):
        return list(range(columns))
    return columns.tolist() if isinstance(columns, np.ndarray) else _strings(columns.letters, columns.offsets)


def _strings(letters: np.ndarray, offsets: np.ndarray) -> list[str]:
    """The terms of a text model; slices of bytes, so no offset of a forged file reads elsewhere."""
    validation.require((np.diff(offsets) >= 0).all(), "words overlap")
    text, at = letters.tobytes(), offsets.tolist()
    return [text[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(at)]
