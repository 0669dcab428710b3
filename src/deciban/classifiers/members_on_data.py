"""Ensembles on data of any size: every model learns from all rows, one after the other, and then they are weighed.

Weights by evidence follow from what the models have learned; Schwarz' take one more pass, for the likelihood.

>>> import pyarrow as pa
>>> from deciban import BayesOptimal
>>> rows = pa.table({"sky": ["grey", "blue", "grey", "blue"], "label": ["rain", "sun", "rain", "sun"]})
>>> BayesOptimal().fit_on(rows).predict(pa.table({"sky": ["grey"]})).tolist()
['rain']
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from deciban.classifiers import members
from deciban.classifiers.on_data import OnData
from deciban.classifiers.parts import Reading
from deciban.errors import DecibanError, NotAdditiveError, placed


@dataclass(frozen=True, eq=False)
class Told:
    """How probable each model calls rows."""

    kinds: tuple[str, ...]  # what it is the probability of
    logs: np.ndarray  # (m,)
    weight: float  # of the rows

    def __add__(self, other: Told) -> Told:
        return Told(self.kinds or other.kinds, self.logs + other.logs, self.weight + other.weight)


@dataclass(frozen=True, eq=False)
class Telling:
    """batch → what models that have learned tell of its rows."""

    reading: Reading
    models: list
    classes: np.ndarray

    @property
    def columns(self) -> tuple[str, ...]:
        return self.reading.columns

    def __call__(self, batch: Any) -> Told:
        w = self.reading.weights(batch)
        w = np.ones(batch.num_rows) if w is None else w
        if not w.sum() > 0:
            return Told((), np.zeros(len(self.models)), 0.0)
        y = self.classes[self.reading.codes(batch, self.classes)]
        kinds, logs = [], []
        for model in self.models:
            try:
                kind, value = members.likelihood(model, model._readable(batch, self.reading.features), y, w)
            except DecibanError as wrong:
                raise placed(wrong, names=self.reading.features) from None
            kinds.append(kind)
            logs.append(value)
        return Told(tuple(kinds), np.array(logs), float(w.sum()))


class MembersOnData(OnData):
    """Mixin of the ensembles: `fit_on` and `predict_on`."""

    weights: Any
    models_: list
    names_: list[str]
    _some_pairs: Callable[[], members.Named]
    _describe: Callable[..., None]
    _weigh: Callable[[], None]
    _weigh_by: Callable[[list[tuple[str, float]]], None]

    def _learn_on(self, job: Any) -> None:
        if isinstance(self.weights, str) and self.weights == "loo":
            raise NotAdditiveError(
                "weights='loo' learns models anew without some of the rows, which `fit_on` does not\n\n"
                "hint: weights='evidence' or numbers; or learn weights from some of the rows by `fit`, and give these, "
                "`weights=model.weights_`"
            )
        with job.several() as again:
            self.models_ = [learned(name, model, again) for name, model in self._some_pairs()]
            self._describe(None, None, self.models_[0].class_count_)
            if not (isinstance(self.weights, str) and self.weights == "bic"):
                self._weigh()
                return
            told = again.total(Telling(again.reading, self.models_, self.classes_))
        values = [logs - members.penalty(m, told.weight) for m, logs in zip(self.models_, told.logs, strict=True)]
        self._weigh_by(list(zip(told.kinds, values, strict=True)))


def learned(name: str, model: Any, job: Any) -> Any:
    """A model of all rows that the job goes through."""
    if not isinstance(model, OnData):
        raise NotAdditiveError(
            f"`{name}`, a {type(model).__name__}, learns from rows in memory only\n\n"
            "hint: use `fit`, or leave it out of the models"
        )
    out = clone(model)
    out._validate_params()
    out._learn_on(job)
    return out
