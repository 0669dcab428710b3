"""Ensembles on data of any size: every model learns from all rows, one after the other, and then they are weighed.

Weights by evidence follow from what the models have learned; Schwarz' take one more pass, for the likelihood. For
weights by rows held out, up to `ROWS` rows are learned from as by `fit`; of more, a fifth of `ROWS` drawn rows are held
out, and every model learns twice, without them and with them.

>>> import pyarrow as pa
>>> from deciban import BayesOptimal
>>> rows = pa.table({"sky": ["grey", "blue", "grey", "blue"], "label": ["rain", "sun", "rain", "sun"]})
>>> BayesOptimal().fit_on(rows).predict(pa.table({"sky": ["grey"]})).tolist()
['rain']
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from deciban.classifiers import members
from deciban.classifiers.on_data import Job, OnData
from deciban.classifiers.parts import Reading
from deciban.classifiers.weighing_on_data import MIX, order_of_batch
from deciban.errors import DecibanError, NotAdditiveError, placed
from deciban.folds import ODD

FOLDS = 5
ROWS = 1 << 13


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


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows drawn evenly, by numbers that their cells tell: those of the `ROWS` least."""

    table: Any  # of Arrow
    key: np.ndarray  # (rows of it,)
    rows: int  # that there are

    def __add__(self, other: Drawn) -> Drawn:
        import pyarrow as pa

        tables = [table for table in (self.table, other.table) if table.num_rows] or [self.table]
        both = pa.concat_tables(
            [table.select(tables[0].schema.names) for table in tables], promote_options="permissive"
        )
        return Drawn(both, np.concatenate([self.key, other.key]), self.rows + other.rows).thinned()

    def thinned(self) -> Drawn:
        if len(self.key) <= ROWS:
            return self
        at = np.flatnonzero(self.key <= np.partition(self.key, ROWS - 1)[ROWS - 1])
        return replace(self, table=self.table.take(at), key=self.key[at])


@dataclass(frozen=True, eq=False)
class Drawing:
    """batch → Drawn."""

    reading: Reading

    @property
    def columns(self) -> tuple[str, ...]:
        return self.reading.columns

    def __call__(self, batch: Any) -> Drawn:
        import pyarrow as pa

        return Drawn(pa.Table.from_batches([batch]), keys(batch, self.reading), batch.num_rows).thinned()


def keys(batch: Any, reading: Reading) -> np.ndarray:
    """A number for each row of a batch, by its cells and how many rows before it are the same. (n,)"""
    if batch.num_rows == 0:
        return np.zeros(0, dtype=np.uint64)
    digest = order_of_batch(batch, reading)
    order = np.argsort(digest, kind="stable")
    new = np.append(True, np.diff(digest[order]) != 0)
    start = np.flatnonzero(new)
    before = np.empty(len(digest), dtype=np.uint64)
    before[order] = np.arange(len(digest)) - np.repeat(start, np.diff(np.append(start, len(digest))))
    return (digest ^ (before * ODD)) * MIX >> np.uint64(3)


def held_out(key: np.ndarray, last: np.uint64) -> np.ndarray:
    """Which rows are held out, (n,)."""
    return (key % np.uint64(FOLDS) == 0) & (key <= last)


@dataclass(frozen=True, eq=False)
class Without:
    """batch → what f makes of the rows that are not held out."""

    f: Any
    reading: Reading
    last: np.uint64

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.f.columns, *self.reading.columns)))

    def __call__(self, batch: Any) -> Any:
        import pyarrow as pa

        return self.f(batch.filter(pa.array(~held_out(keys(batch, self.reading), self.last))))


@dataclass(frozen=True)
class Fewer(Job):
    """A job that does not see the rows that are held out."""

    last: Any = None

    def total(self, f: Callable[[Any], Any]) -> Any:
        return super().total(Without(f, self.reading, self.last))


class MembersOnData(OnData):
    """Mixin of the ensembles: `fit_on` and `predict_on`."""

    models: Any
    weights: Any
    models_: list
    names_: list[str]
    classes_: np.ndarray
    left_out_: dict[str, str]
    _some_pairs: Callable[[], members.Named]
    _pairs_for: Callable[[Any], members.Named]
    _usual_in_pieces: Callable[[], Any]
    _take: Callable[..., None]
    _drop: Callable[..., None]
    _fit_rows: Callable[..., None]
    _describe: Callable[..., None]
    _weigh: Callable[[], None]
    _weigh_by: Callable[[list[tuple[str, float]]], None]
    _weigh_by_rows: Callable[..., None]
    _say_why_rows: Callable[[Exception], None]

    def _learn_on(self, job: Any) -> None:
        given = self.weights if isinstance(self.weights, str) else ""
        with job.several() as again:
            if given == "loo":
                self._stack_on(again)
                return
            self._learn_members(self._some_pairs(), again)
            if given == "bic":
                told = again.total(Telling(again.reading, self.models_, self.classes_))
                each = zip(self.models_, told.logs, strict=True)
                self._weigh_by(
                    [
                        (kind, logs - members.penalty(m, told.weight))
                        for kind, (m, logs) in zip(told.kinds, each, strict=True)
                    ]
                )
                return
            try:
                self._weigh()
            except members.NoEvidenceError as why:
                self._say_why_rows(why)
                self._stack_on(again)

    def _learn_members(self, pairs: members.Named, job: Any) -> None:
        """Every model of all rows."""
        self._take(pairs, *members.each_learned(pairs, lambda name, model: learned(name, model, job)))
        self._describe(None, None, self.models_[0].class_count_)
        members.say_left_out(self.left_out_)

    def _stack_on(self, job: Any) -> None:
        """Weights by rows held out."""
        from deciban import files

        drawn: Drawn | None = job.total(Drawing(job.reading))
        pairs = self._some_pairs()
        if drawn is None or drawn.rows == 0:
            self._learn_members(pairs, job)  # which tells what is wrong
            return
        reading = job.reading
        X, (labels, codes) = files.selected(drawn.table, reading.features), reading.labels(drawn.table)
        y, w = labels[codes], reading.weights(drawn.table)
        if drawn.rows == len(drawn.key):
            self._fit_rows(self._pairs_for(X), X, y, w)
            return
        pairs = members.named(self._usual_in_pieces()) if self.models is None else pairs
        last = drawn.key.max()
        at = np.flatnonzero(held_out(drawn.key, last))
        fewer = Fewer(job.engine, job.data, reading, job.progress, job.checkpoint, last)
        X, y = files.selected(drawn.table.take(at), reading.features), y[at]
        w = np.ones(len(at)) if w is None else w[at]
        self._learn_members(pairs, job)
        templates = dict(pairs)

        def foretold(name: str, template: Any) -> np.ndarray:
            return members.said(learned(name, template, fewer), X, self.classes_)

        told, failed = members.each_learned([(name, templates[name]) for name in self.names_], foretold)
        self._drop(failed)
        members.say_left_out(failed)
        own = np.arange(len(y)), np.searchsorted(self.classes_, y)
        logs = np.stack([found[own] for _, found in told])
        self._weigh_by_rows(logs, w, [f"{len(y)} rows held out"] * len(told))


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
