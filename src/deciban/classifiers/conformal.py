"""Which rows calibrate the sets of `predict_set`, and by which models they are held out.

    calibration=(X, y)                 rows that the model did not learn: held out by the model itself (split conformal)
    calibration=(X, y), learned=True   its training rows: held out by ten models, each without a tenth of them (CV+)
    calibration=None                   the training rows that the model keeps: the same

A model without a tenth of the rows is made by `forget`, or fitted again where a model cannot forget. Folds depend on
the content of the rows, not on their order.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from deciban.display import option
from deciban.errors import DataError, levels_up
from deciban.models.conformal import HeldOutRows, SetPredictor, log_odds_in, own_odds
from deciban.rows import inputs
from deciban.rows.digests import stirred
from deciban.rows.folds import copies_in_folds
from deciban.rows.inputs import rows_at
from deciban.rows.labels import label_codes
from deciban.rows.raw_rows import RawArrays, indexable

FOLDS = 10
Held = list[tuple[Any, HeldOutRows]]


def set_predictor(model: Any, by_class: bool, calibration: Any, learned: bool) -> SetPredictor:
    """The predictor of sets of a fitted model."""
    if calibration is None:
        return SetPredictor(model, model._kept_folds(), by_class, "training rows that the model keeps")
    rows, codes = calibration_rows(model, calibration)
    if learned:
        return SetPredictor(model, held_out_by_folds(model, rows, codes), by_class, "training rows")
    check_not_learned(model, rows, codes)
    still = copy_shallow(model)  # rows that the model learns later do not change the sets
    held = held_out_rows(model.classes_, still, rows, codes, np.arange(len(codes)))
    return SetPredictor(model, [(still, held)], by_class)


def calibration_rows(model: Any, calibration: Any) -> tuple[RawArrays, np.ndarray]:
    """(the rows of positive weight, their class codes)"""
    if not isinstance(calibration, Sequence) or isinstance(calibration, str) or len(calibration) not in (2, 3):
        raise DataError(
            f"`calibration` is {type(calibration).__name__}, and (X, y) is needed\n\n"
            "hint: calibration=(X, y) or (X, y, sample_weight), of rows that the model has not learned"
        )
    X, y = inputs.labelled(*calibration[:2])
    rows = RawArrays(indexable(X), inputs.to_numpy(y), calibration[2] if len(calibration) == 3 else None)
    n = inputs.count_rows(X)
    if n != len(rows.labels):
        raise DataError(f"X has {n} rows and y {len(rows.labels)}\n\nhint: give one label for each row")
    codes = label_codes(rows.labels, model.classes_)[1]
    if (codes < 0).any():
        label = rows.labels[codes < 0].tolist()[0]
        raise DataError(
            f"class {label!r} of the calibration rows is not among the classes of the model\n\n"
            "hint: leave these rows out, or fit the model on rows of this class too"
        )
    w = inputs.weights(rows.w, codes)
    if w is not None and not w.all():
        at = np.flatnonzero(w)
        rows, codes, w = RawArrays(rows_at(rows.X, at), rows.labels[at]), codes[at], w[at]
    return RawArrays(rows.X, rows.labels, w), codes


def held_out_rows(classes: np.ndarray, model: Any, rows: RawArrays, codes: np.ndarray, at: np.ndarray) -> HeldOutRows:
    """Some of the rows, by a model that did not learn them."""
    odds = log_odds_in(classes, model, rows.X if len(at) == len(codes) else rows_at(rows.X, at))
    return HeldOutRows(own_odds(odds, codes[at]), codes[at], rows.weights[at], np.ones(len(at)))


def held_out_by_folds(model: Any, rows: RawArrays, codes: np.ndarray) -> Held:
    """The training rows in folds by their content, and for each fold the model of the other rows."""
    times = np.ones(len(codes), dtype=np.int64)
    fold = copies_in_folds(stirred(rows.key), codes, times, min(FOLDS, len(codes))).argmax(axis=1)
    out: Held = []
    for f in range(fold.max() + 1):
        at = np.flatnonzero(fold == f)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `fit` on all rows has warned
            one = model._without_rows(rows, fold == f)
            out.append((one, held_out_rows(model.classes_, one, rows, codes, at)))
    return out


def part_of(rows: RawArrays, at: np.ndarray) -> tuple[Any, np.ndarray, dict[str, Any]]:
    """(X, labels, the argument `sample_weight`) of some of the rows."""
    return rows_at(rows.X, at), rows.labels[at], {} if rows.w is None else {"sample_weight": rows.w[at]}


def forgetting(model: Any, rows: RawArrays, left_out: np.ndarray) -> Any:
    """A copy of a model without some of its training rows."""
    X, y, more = part_of(rows, np.flatnonzero(left_out))
    return copy_shallow(model).forget(X, y, **more)


def refitted(model: Any, rows: RawArrays, left_out: np.ndarray) -> Any:
    """A model with the same settings, fitted to all training rows but some."""
    check_all_learned(model, rows)
    X, y, more = part_of(rows, np.flatnonzero(~left_out))
    return clone(model).fit(X, y, **more)


def counts(model: Any, rows: RawArrays) -> tuple[np.ndarray, np.ndarray]:
    """(the weight of the training rows of each class, that of these rows), (k,) each."""
    have = np.asarray(inputs.to_numpy(model.class_count_), dtype=np.float64)
    return have, model._learned_weights(rows.class_weights(model.classes_))


def check_all_learned(model: Any, rows: RawArrays) -> None:
    """Raise an error unless there are as many rows of each class as the model has learned."""
    have, given = counts(model, rows)
    for c in np.flatnonzero(~np.isclose(have, given, rtol=1e-6)):
        label, learned = model.classes_.tolist()[c], option("learned=True", "--learned")
        raise DataError(
            f"the model learned {have[c]:g} rows of class {label!r}, and {given[c]:g} are given\n\n"
            f"hint: this {type(model).__name__} is fitted again without each tenth of its rows: give all training rows "
            f"with {learned}, or rows that it has not learned without it"
        )


def check_not_learned(model: Any, rows: RawArrays, codes: np.ndarray) -> None:
    """Say so where the model shows that calibration rows were learned: an error if it learned nothing else, a warning
    if most of those that can be looked up are among its training rows."""
    shown, searched = model._count_learned(rows, codes)
    if not shown or 2 * shown < searched:
        return
    other, learned = option("calibration=(X, y, …)", "--calibration FILE"), option("learned=True", "--learned")
    fix = f"{other} of other rows; for training rows {learned}, which holds them out"
    if shown == searched and np.allclose(*counts(model, rows), rtol=1e-6):
        raise DataError(f"the calibration rows are those that the model learned\n\nhint: {fix}")
    warnings.warn(
        f"{shown:,} of {searched:,} calibration rows that could be looked up equal rows that the model learned: sets "
        f"of rows that were learned are too small\n\nhint: {fix}",
        UserWarning,
        stacklevel=levels_up(),
    )


def no_kept_rows(model: Any) -> DataError:
    rows, learned = option("calibration=(X, y)", "--calibration FILE"), option("learned=True", "--learned")
    kept = option("models with calibrate=True or tuned settings keep rows", "the model `calibrated` keeps rows")
    return DataError(
        f"this {type(model).__name__} keeps no training rows that sets could be calibrated with\n\n"
        f"hint: {rows} of rows that it has not learned, or its training rows and {learned}; {kept}"
    )


def copy_shallow(model: Any) -> Any:
    """A copy of a model: what the copy learns or forgets does not change the model."""
    out = object.__new__(type(model))
    out.__dict__.update(model.__dict__)
    return out
