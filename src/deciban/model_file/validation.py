"""Checks that the parts of a model from a file agree with each other, before the model is used.

Kernels trust shapes, so shapes are checked here: a tally must have the parts and columns of the tally that the model
makes of no rows, coefficients those that classes and columns imply.

>>> from deciban import GaussianNB
>>> model = GaussianNB().fit([[0.0], [1.0]], ["a", "b"])
>>> check_model(model)
>>> model.n_features_in_ = 2
>>> check_model(model)
Traceback (most recent call last):
    ...
deciban.errors.ModelFileError: the model does not fit together: its state has other classes or columns
<BLANKLINE>
hint: only models that `fit` or `partial_fit` made can be stored
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from deciban import families
from deciban.classifiers.base import Classifier, Generative
from deciban.data.blocks import Table
from deciban.data.frames import UNITS
from deciban.errors import DataError, ModelFileError
from deciban.gaussian.covariance import DenseCovariance
from deciban.models.calibration import Calibration
from deciban.models.known_parameters import check_given
from deciban.models.model import State, empty_block, tally_of, with_ledger
from deciban.rows.coding import Coding
from deciban.rows.readers import ArrayKind, ColumnReader
from deciban.rows.schema import Field, Schema
from deciban.storage.invariants import ROUNDING, labels_fault, sample_fault, squares_fault, tally_fault
from deciban.storage.registry import is_stored_as, is_training_rows
from deciban.tallies import (
    Bundle,
    CentredScatter,
    ClassWeights,
    Crosstab,
    DistinctRows,
    Quartic,
    RowScatter,
    Scatter,
    SharedTally,
)

LARGEST = float(np.finfo(np.float64).max)


def check_model(model: Classifier) -> None:
    """Refuse a model whose parts contradict each other."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model._validate_params()
        if model._reads_texts and not model._has_members:
            _check_text(model)
            return
        if model._has_members:
            _check_members(model)
        _check_names(model)
        if isinstance(model, Generative):
            _check_state(model, vars(model).get("_state"))
        elif model._has_members:
            _check_ensemble(model)
        elif "_kernel" in vars(model):
            _check_kernel(model)
        else:
            _check_linear(model)


def require(fine: Any, what: str) -> None:
    """Raise an error that says `what` is wrong."""
    if not fine:
        raise ModelFileError(
            f"the model does not fit together: {what}\n\n"
            "hint: only models that `fit` or `partial_fit` made can be stored"
        )


def _check_names(model: Any) -> None:
    own = vars(model)
    for name in own:
        inherited = next((vars(cls)[name] for cls in type(model).__mro__ if name in vars(cls)), None)
        hidden = callable(inherited) or isinstance(inherited, property) or name.startswith("__")
        require(name.isidentifier() and not hidden, f"it has no attribute {name[:80]!r}")
    require(set(model.get_params(deep=False)) <= set(own), "settings are missing")
    classes, d = own.get("classes_"), own.get("n_features_in_", 1 if model._reads_texts else None)
    wrong = labels_fault(classes)
    require(not wrong, f"`classes_`: {wrong}")
    require(isinstance(d, int) and d > 0, "`n_features_in_` is no number of columns")
    names = own.get("feature_names_in_")
    if names is not None:
        fine = isinstance(names, np.ndarray) and names.shape == (d,) and all(isinstance(name, str) for name in names)
        require(fine, "`feature_names_in_` are not the names of its columns")
    require(isinstance(own.get("_origin", ArrayKind.plain), ArrayKind), "`_origin` is none")
    given = own.get("_given")
    require(given is None or (is_stored_as(given, "Network") and given.sound()), "its network is none")


# models whose state is a tally


def _check_state(model: Generative, state: Any) -> None:
    require(isinstance(state, State), "it has no state")
    reader, k, d = state.reader, len(model.classes_), model.n_features_in_
    _check_coding(reader.coding, reader)
    fine = np.array_equal(state.classes, model.classes_) and reader.n_features == d
    require(fine, "its state has other classes or columns")
    names, own = vars(model).get("feature_names_in_"), reader.feature_names
    same = own is None if names is None else names is own or np.array_equal(names, own)
    require(same, "its state has other names")
    d = reader.d
    if isinstance(reader, ColumnReader):
        _check_schema(reader.known, d)
    else:
        require(len(reader.labels) in (0, d), "its columns have other names")
    _check_known(state, k, d)
    state.spec.check(state.classes, reader, None)
    tally = state.tally
    empty = _empty_tally(state)
    fine = isinstance(tally, Bundle) and same_structure(empty, tally, k) and tally.sound()
    require(fine, f"its tally is not that of {d} columns and {k} classes")
    wrong = tally_fault(tally, state.given)
    require(not wrong, f"its tally: {wrong}")
    require(reader.schema is None or _levels(tally) == _levels(empty), "its tally is not that of its levels")
    require(isinstance(state.closed, bool), "it does not say whether classes may be added")
    family, own = state.spec.family(reader.schema, state.known), tally.parts[1]
    if is_stored_as(family, "Bernoulli") and not state.given:
        most = own.n[:, None] if own.n.ndim == 1 else own.n
        require((own.total <= most * (1 + ROUNDING) + ROUNDING).all(), "it counts more ones than rows")
    require(state.empty or state.log_prior.shape == (k,), "its priors are not those of its classes")
    _check_calibration(state.calibration, k)
    if state.sample is not None:
        empty_rows, names = empty_block(reader), reader.digested_names
        wrong = sample_fault(state.sample, state.n, empty_rows, reader.schema, names)
        require(not wrong, f"its sample of rows: {wrong}")
        require(state.spec.sample_size == state.sample.size, "its sample of rows has another size")
    w = state.weights
    fine = w is None or (_is_finite(w.table, (k, d)) and _is_finite(w.bias, (k,)))
    require(fine, "its weights are not of its columns and classes")
    tables, settled = state.tables, state.known.tables
    fine = state.stale or state.empty or (tables is not None) == state.spec.interactions
    require(fine, "its settings and tables do not agree")
    if tables is not None:
        fine = is_stored_as(tables, "JointTables") and tables.sound(reader.schema, k)
        require(fine, "its joint tables are not of its columns and classes")
        fine = isinstance(tables.tally, Bundle) and same_structure(_empty_tables(state, tables.chosen), tables.tally, k)
        require(fine and tables.tally.sound(), "its joint tables have other counts")
        most = state.n * (1 + ROUNDING) + ROUNDING
        counted = (tables.count(t).sum(axis=1) for t in range(len(tables.chosen.tables)))
        require(all((n <= most).all() for n in counted), "its joint tables count more rows than there are")
        wrong = tally_fault(Bundle((ClassWeights(state.n), tables.tally)))
        require(not wrong, f"its joint tables: {wrong}")
        require(settled is None or settled.equals(tables.chosen), "its joint tables are not those that are settled")


def _check_coding(coding: Any, reader: Any) -> None:
    """Check how the columns of a frame are coded, and that the model has these columns."""
    if coding is not None:
        require(isinstance(coding, Coding) and coding.sound(), "its coding is none")
        require(reader.d == coding.d and list(reader.names) == coding.labels, "its coding is not of its columns")


def _check_calibration(c: Any, k: int) -> None:
    fine = c is None or (isinstance(c, Calibration) and _is_finite(c.bias, (k,)))
    require(fine, "its calibration is not of its classes")
    moderate = c is None or (c.temperature > 0 and _is_moderate(np.append(c.bias, c.temperature)).all())
    require(moderate, "its calibration is none")


def _check_texts(state: State, k: int) -> None:
    """Check the evidence of words whose texts are not kept."""
    fields = [] if state.reader.schema is None else state.reader.schema.fields
    words = {j: one.vocabulary for j, one in enumerate(fields) if one.vocabulary is not None}
    texts = state.known.texts
    require(isinstance(texts, dict) and texts.keys() == words.keys(), "its words are not those of its columns")
    for j, one in texts.items():
        own, field = words[j], fields[j]
        require(field.levels == () and field.name in state.reader.texts, "a column has texts and words")
        fine = isinstance(own, tuple) and all(isinstance(word, str) for word in own) and len(set(own)) == len(own)
        require(
            fine and is_stored_as(one, "TextParams") and one.sound(k, len(own)), "its words are not those of a text"
        )


def _check_known(state: State, k: int, d: int) -> None:
    """Check what was decided before rows were tallied against the settings."""
    known, tuned = state.known, state.known.tuned
    numbers = isinstance(tuned, dict) and all(
        isinstance(value, float | int) and 0 <= value <= LARGEST for value in tuned.values()
    )
    require(numbers and set(tuned) <= set(state.spec.tune), "`tuned_` are not its settings")
    _check_texts(state, k)
    covs = known.covariances
    square = all(isinstance(cov, DenseCovariance) and _is_finite(cov.matrix, (d, d)) for cov in covs)
    require(isinstance(covs, tuple) and square and len(covs) in (0, k, k + 1), "its covariances are not of its columns")
    require(not any(squares_fault(cov.matrix[None]) for cov in covs), "its covariances are none")
    cuts = known.cuts
    fine = cuts is None or (len(cuts) == d and all(cut is None or _is_cut(cut) for cut in cuts))
    require(fine, "its cuts are not of its columns")
    tables = known.tables
    fine = tables is None or (is_stored_as(tables, "TableSets") and tables.sound(state.reader.schema))
    require(fine and (tables is None or state.spec.interactions), "its tables are not of its columns")
    network = known.network
    require(network is None or (is_stored_as(network, "Network") and network.sound()), "its network is none")
    if known.parameters is not None:
        try:
            check_given(state)
        except DataError as wrong:
            require(False, str(wrong).partition("\n")[0])


def _is_cut(cut: Any) -> bool:
    """Whether it cuts a column at ascending numbers of a moderate size."""
    if not is_stored_as(cut, "ColumnCuts"):
        return False
    at, ends = np.array(cut.at, dtype=np.float64), np.array([cut.low, cut.high], dtype=np.float64)
    empty = bool(np.isnan(ends).all())
    fine = _is_moderate(at).all() and (np.diff(at) > 0).all()
    return bool(fine and (empty or (_is_moderate(ends).all() and cut.low <= cut.high)))


def _is_moderate(a: np.ndarray) -> np.ndarray:
    return np.abs(a) <= np.sqrt(LARGEST)


def _empty_tally(state: State) -> Bundle:
    """The tally of one class and no rows: it has the parts and columns of every tally of the model."""
    table = Table(empty_block(state.reader), np.zeros(0, dtype=np.int32), None, 1, state.reader.schema)
    tally = tally_of(state.spec.family(state.reader.schema, state.known), table)
    if state.known.tables is not None:
        tally = Bundle((*tally.parts, _empty_tables(state, state.known.tables)))
    key = state.spec.ledger
    return tally if key is None or state.given else with_ledger(tally, table, key)


def _empty_tables(state: State, chosen: Any) -> Bundle:
    """The counts of joint tables of one class and no rows."""
    return chosen.tally(Table(empty_block(state.reader), np.zeros(0, dtype=np.int32), None, 1, state.reader.schema))


def same_structure(empty: Any, tally: Any, k: int) -> bool:
    """Whether a tally of k classes has the parts and columns of an empty one."""
    if isinstance(empty, Bundle):
        both = isinstance(tally, Bundle) and len(empty.parts) == len(tally.parts)
        return both and all(same_structure(a, b, k) for a, b in zip(empty.parts, tally.parts, strict=True))
    if isinstance(empty, SharedTally):
        return isinstance(tally, SharedTally) and same_structure(empty.part, tally.part, 1)
    if isinstance(empty, RowScatter):  # grows into another with more rows than columns
        grown = Quartic if empty.fourth and not empty.pooled else CentredScatter
        flags = tally.fourth == empty.fourth if isinstance(tally, RowScatter) else isinstance(tally, grown)
        return flags and tally.pooled == empty.pooled and (tally.k, tally.d) == (k, empty.d)
    flags = not isinstance(empty, Scatter) or tally.pooled == empty.pooled
    return type(tally) is type(empty) and flags and (tally.k, tally.d) == (k, empty.d)


def _levels(tally: Any) -> list[list[int]]:
    """The numbers of levels of the columns of each table."""
    if isinstance(tally, Bundle):
        return [levels for part in tally.parts for levels in _levels(part)]
    if isinstance(tally, SharedTally):
        return _levels(tally.part)
    return [tally.levels.tolist()] if isinstance(tally, Crosstab | DistinctRows) else []


def _check_schema(schema: Schema, d: int) -> None:
    require(isinstance(schema, Schema) and len(schema.fields) == d, "its schema is not of its columns")
    require(len(set(schema.names)) == d, "two columns have one name")
    for field in schema.fields:
        require(isinstance(field, Field) and _family(field.family), "a column is of no family")
        nominal = field.family.block == "codes"
        require(nominal == (field.levels is not None), "a column's family is not for what it holds")
        require(field.unit in (("",) if nominal else UNITS), "a column has an unknown unit")
        require(not nominal or len(set(field.levels or ())) == len(field.levels or ()), "a level is there twice")
    require(schema.gaps is None or (_family(schema.gaps) and schema.gaps.block == "codes"), "its gaps are of no family")


def _family(family: Any) -> bool:
    if is_stored_as(family, "BestOf"):
        return len(family.candidates) > 0 and all(map(_family, family.candidates))
    return type(family) in families.find().values() and family.columnwise and family.sound()


# models of models


def _check_members(model: Any) -> None:
    """Refuse functions and models of other libraries."""
    from deciban.classifiers.ensemble import Member  # other models do not wait for it

    own = vars(model)
    for name, one in zip(own.get("names_") or (), own.get("models_") or (), strict=False):
        if not isinstance(one, Classifier):
            raise ModelFileError(
                f"`{name}` is a {Member.of(name, one).kind}, which no model file can hold\n\n"
                "hint: a file holds classifiers of this library; joblib.dump stores the others"
            )


def _check_ensemble(model: Any) -> None:
    own = vars(model)
    inside, weights, names = own.get("models_"), own.get("weights_"), own.get("names_")
    require(isinstance(inside, list) and len(inside) > 0 and isinstance(names, list), "it has no models")
    m = len(inside)
    fine = isinstance(weights, np.ndarray) and weights.shape == (m,) and weights.dtype == np.float64
    require(
        fine and len(names) == m and (weights >= 0).all() and abs(weights.sum() - 1) <= ROUNDING,
        "its weights are not of its models",
    )
    count = own.get("class_count_")
    fine = count is None or (_is_finite(count, (len(model.classes_),)) and (np.asarray(count) >= 0).all())
    require(fine, "its class counts are not of its classes")
    temperature = own.get("temperature_", 1.0)
    fine = isinstance(temperature, float) and 0 < temperature <= LARGEST
    require(fine and ("temperature_" in own) == ("leaderboard_" in own), "its temperature is none")
    given = names if model.models is None else [name for name, _ in model._named_models()]
    require(set(names) <= set(own.get("_learning") or ()) & set(given), "its models have other names")
    require(isinstance(own.get("left_out_", {}), dict), "it does not say which models were left out")
    for setting in (model.prior, model.weights):
        if not isinstance(setting, str):
            model._log_weights(setting)
    for one in inside:
        require(isinstance(one, Classifier) and "classes_" in vars(one), "a model in it has not been fitted")
        check_model(one)
        require(np.array_equal(one.classes_, model.classes_), "its models have other classes")
        require(vars(one).get("n_features_in_") == own.get("n_features_in_"), "its models have other columns")
    board = own.get("leaderboard_")
    fine = board is None or (is_stored_as(board, "Leaderboard") and board.is_consistent())
    require(fine and (board is None or set(names) <= set(board.names)), "its leaderboard is not of its models")


# models of words


def _check_text(model: Any) -> None:
    from deciban.text.naive_bayes import MODELS  # a model of columns does not wait for the code of texts

    _check_names(model)
    own, k = vars(model), len(model.classes_)
    tally, trained = own.get("_words"), own.get("_trained")
    require(
        is_stored_as(tally, "WordTally") and tally.is_consistent() and tally.k == k,
        "its words are not those of its classes",
    )
    require({"_calibration", "_trained"} <= own.keys(), "it does not say how it is trained and calibrated")
    _check_calibration(own["_calibration"], k)
    require(isinstance(own.get("_tuned_for"), str), "it does not say what it was tuned for")
    require(model._is_valid_choice(own.get("_picked")), "`tuned_` are not its settings")
    require(own.get("_columns") is None, "no file can hold a fitted vectoriser")
    require(trained is None or model.model not in MODELS, "its weights are not of its model")
    if trained is not None:
        d = int(model._view().in_use.sum())
        require(
            is_stored_as(trained, "WordWeights") and trained.is_consistent(d, k), "its weights are not of its words"
        )


# models that are coefficients


def _coded_columns(model: Any) -> int:
    """The number of columns of a discriminative model, after coding."""
    coding = vars(model).get("_coding")
    if coding is None:
        return model.n_features_in_
    require(isinstance(coding, Coding) and coding.sound(), "its coding is none")
    names = vars(model).get("feature_names_in_")
    require(names is not None and coding.names == list(names), "its coding is not of its columns")
    return coding.d


def _check_kernel(model: Any) -> None:
    k, d, own = len(model.classes_), _coded_columns(model), vars(model)
    fine = is_stored_as(own["_kernel"], "KernelScores") and own["_kernel"].is_consistent(k, d)
    require(fine, "its scores are not of its classes and columns")
    count = own.get("class_count_")
    require(_is_finite(count, (k,)) and (count >= 0).all(), "`class_count_` holds no weights of its classes")
    require(_is_finite(own.get("_means"), (d,)), "its means are not of its columns")
    for name in ("C_", "bandwidth_"):
        value = own.get(name)
        require(isinstance(value, float) and 0 < value <= LARGEST, f"`{name}` is no positive number")
    held_out, n_iter = own.get("held_out_"), own.get("n_iter_")
    fine = isinstance(held_out, dict) and all(
        isinstance(key, tuple) and len(key) == 2 and all(isinstance(one, float) for one in (*key, loss))
        for key, loss in held_out.items()
    )
    require(fine and isinstance(n_iter, int), "it does not say how its settings were chosen")


def _check_linear(model: Any) -> None:
    k, d = len(model.classes_), _coded_columns(model)
    m = 1 if k == 2 else k
    shapes = {"coef_": (m, d), "intercept_": (m,), "class_count_": (k,)}
    for name, shape in shapes.items():
        a = vars(model).get(name)
        require(_is_finite(a, shape), f"`{name}` holds no numbers of shape {shape}")
    require((vars(model)["class_count_"] >= 0).all(), "`class_count_` is negative")
    strength = vars(model).get("C_", 1.0)
    fine = isinstance(strength, float | int) and (0 < strength <= LARGEST or strength == np.inf)
    require(fine, "`C_` is no strength of a penalty")
    means = vars(model).get("_means")
    require(means is None or _is_finite(means, (d,)), "its means are not of its columns")
    if "_observed" in vars(model):
        _check_observed(vars(model)["_observed"], k, d)
    history = vars(model).get("history_")
    fine = history is None or (is_stored_as(history, "History") and history.is_consistent(m, d))
    require(fine, "its history is not of its coefficients")
    stream = vars(model).get("_stream")
    if stream is not None:
        p = d + bool(model.fit_intercept)
        shapes = {"coef": (m, p), "mean": (m, p), "past": (2,)}
        fine = is_stored_as(stream, "OnlineAverage") and all(
            _is_finite(getattr(stream, name), shape) for name, shape in shapes.items()
        )
        require(fine, "`partial_fit` cannot go on from it")


def _check_observed(seen: Any, k: int, d: int) -> None:
    """Check what a logistic regression keeps of its training rows."""
    require(is_training_rows(seen) and seen.k == k, "it has other training rows")
    known, m, p = vars(seen), max(k - 1, 1), d + bool(seen.intercept)
    require(_is_finite(seen.theta, (m, p)), "its training rows have other coefficients")
    if "curvature" in known:
        at, q = known["curvature"], m * p
        shapes = {"theta": (m, p), "score": (q,), "information": (q, q), "meat": (q, q), "back": (p, p)}
        fine = is_stored_as(at, "LikelihoodExpansion") and all(
            _is_finite(getattr(at, name), shape) and _is_moderate(getattr(at, name)).all()
            for name, shape in shapes.items()
        )
        require(
            fine and not squares_fault(at.information[None]) and (np.diag(at.back) > 0).all(), "its likelihood is none"
        )
        numbers = [at.log_likelihood, at.null_log_likelihood, at.n]
        require(np.isfinite(numbers).all() and max(numbers[:2]) <= 0 < at.n, "its likelihood is none")
    if "ranges" in known:
        ranges = known["ranges"]
        fine = is_stored_as(ranges, "Ranges") and ranges.low.shape == ranges.high.shape == ranges.whole.shape == (d,)
        require(fine, "its ranges are not of its columns")


def _is_finite(a: Any, shape: tuple[int, ...]) -> bool:
    """Whether it is a dense or sparse array of finite real numbers of that shape."""
    if not (isinstance(a, np.ndarray) or sparse.issparse(a)) or a.shape != shape or a.dtype.kind != "f":
        return False
    return bool(np.isfinite(a.data if sparse.issparse(a) else a).all())
