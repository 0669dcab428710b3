"""Logistic regression whose penalty is in standard deviations of the columns, told in the columns' own units.

Where units differ by orders of magnitude one penalty cannot suit all columns as they come. Learning from standardised
columns and multiplying the coefficients back gives an ordinary `LogisticRegression`.

>>> X = [[0.0, 5e5], [1.0, 2e5], [2.0, 9e5], [3.0, 6e5], [4.0, 4e5], [5.0, 8e5]]
>>> model = Standardised().fit(X, ["no", "no", "yes", "no", "yes", "yes"])
>>> type(model).__name__, model.predict([[0.5, 5e5], [4.5, 5e5]]).tolist()
('LogisticRegression', ['no', 'yes'])
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_feature_names

from deciban import frames, ingest
from deciban.classifiers.logistic import LogisticRegression
from deciban.table import Reals


class Standardised(BaseEstimator):
    """What makes a `LogisticRegression` of complete columns of numbers: `fit` returns it."""

    def __init__(self, C: Any = "auto"):
        self.C = C

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LogisticRegression:
        X = frames.records(X)
        columns = frames.columns(X if frames.is_frame(X) else np.asarray(X))
        x = np.column_stack([np.asarray(column.values, dtype=np.float64) for column in columns])
        w = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        mean = np.average(x, axis=0, weights=w)
        spread = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=w))
        spread[~(spread > 1e-12 * np.abs(x).max(axis=0, initial=1e-300))] = 1.0
        model = LogisticRegression(C=self.C).fit((x - mean) / spread, y, sample_weight)
        if isinstance(X, frames.Records):
            model.feature_names_in_ = np.array(list(X.cells), dtype=object)
        else:
            _check_feature_names(model, X, reset=True)
        model.__dict__.pop("path_", None)  # in other units
        model.coef_ = model.coef_ / spread
        model.intercept_ = model.intercept_ - model.coef_ @ mean
        if "_means" in model.__dict__:
            model._means = mean
        _, codes = ingest.labels(np.asarray(y), model.classes_)
        model._learn_inference(Reals(x), codes, ingest.weights(sample_weight, codes))
        return model
