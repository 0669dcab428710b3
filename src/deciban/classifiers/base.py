"""What every generative classifier does with its tally.

A subclass names its family and its prior; learning, updating, merging, forgetting and scoring are the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from operator import iadd
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from deciban import frames, ingest, ops
from deciban.calibration import Calibration
from deciban.classifiers.deciding import Deciding
from deciban.classifiers.explaining import Explaining
from deciban.classifiers.leaving_out import LeavingOut
from deciban.classifiers.on_data import OnData
from deciban.classifiers.one_pass import OnePass
from deciban.classifiers.origin import Origin
from deciban.classifiers.scoring import Scoring
from deciban.classifiers.settled import Settled
from deciban.classifiers.steady import Steady, unfitted
from deciban.engines import threads
from deciban.errors import DataError, ForgetError, MergeError, NoRowsError
from deciban.labels import label_codes, label_type, united
from deciban.table import Block, Counts, Table, borders
from deciban.tallies import Bundle, Labels, reordered
from deciban.weighing.evidence import ByCoefficients, ByParts, evidence_of
from deciban.weighing.weights import Weights

SPARE = 1 / 16  # how large the tallies of all runs may be beside the cells of sparse rows
MANY = 1 << 18  # cells that keep more than one thread busy
SEARCHED = 1000  # rows that are looked at one by one for the one that was never learned


def _at_once(f: Callable, parts: list) -> Iterator:
    return threads.each(parts, f)


class Fitted:
    """A tally and, made when first asked for, the parameters that it stands for."""

    weights: Weights | None = None  # of the columns

    def __init__(self, model: Generative, tally: Bundle, calibration: Calibration | None = None):
        self.model, self.tally, self.calibration = model._plain(), tally, calibration

    @cached_property
    def family(self) -> Any:
        return self.model._family(self.tally)

    @cached_property
    def params(self) -> Any:
        self._check_rows()
        return self.model._estimate(self.family, self.tally)

    @cached_property
    def log_prior(self) -> np.ndarray:
        self._check_rows()
        return self.model._log_prior(self.tally.parts[0].n)

    @property
    def empty(self) -> bool:
        """Whether every row has been forgotten."""
        return self.model._learns_from_rows() and not self.tally.parts[0].n.any()

    def _check_rows(self) -> None:
        if self.empty:
            raise NoRowsError(
                f"no rows are left: this {type(self.model).__name__} has forgotten all that it learned\n\n"
                "hint: `partial_fit` or `fit` it on rows first"
            )

    @cached_property
    def said(self) -> ByParts | ByCoefficients:
        """What columns say, for weights to multiply."""
        return evidence_of(self.family, self.params)


class Generative(
    Deciding, Explaining, LeavingOut, Scoring, OnePass, OnData, Settled, Steady, ClassifierMixin, BaseEstimator
):
    """Base of the classifiers whose state is a tally."""

    _reads = "reals"  # how X is read: reals (dense or CSR), dense, counts, codes
    _least_rows = 1
    _classes_first = False  # whether the first `partial_fit` has to name all classes, as scikit-learn has it
    _classes_given = False  # whether it has named them: then no others may come
    _chunk = 1 << 22  # cells a chunk of training rows has, at least

    # what a subclass says

    def _family(self, tally: Bundle | None = None) -> Any:
        raise NotImplementedError

    def _estimate(self, family: Any, tally: Bundle) -> Any:
        return family.estimate(tally.parts[1])

    def _log_prior(self, n: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _check_settings(self) -> None:
        """Make what follows from the settings, the classes and the number of columns, or refuse them."""

    def _check_fit(self, table: Table, whole: bool) -> None:
        """Refuse what this class cannot learn from, before anything is learned; `whole`: no more rows will come."""

    def _warn_of_columns(self, notes: list[str]) -> None:
        """Name columns that are hardly meant to be learned from; called by `fit` alone."""

    def _check_additive(self) -> None:
        """Refuse to update, merge or forget where a setting needs all rows at once."""

    def _check_fitted(self) -> None:
        """Look at a complete fit; called by `fit`, not by `partial_fit`, which may see more rows yet."""

    # learning

    def fit(self, X, y, sample_weight=None) -> Self:
        """Learn from rows X (n, d) with labels y; weights count like repetitions. Forgets what was learned before."""
        self._validate_params()
        labels = y
        with self._unchanged_on_failure():
            x, y = self._training(X, y, reset=True, least=self._least_rows, whole=True)
            self.classes_, codes = ingest.labels(y, None)
            noting = self.__dict__.pop("_notes", None)
            notes = noting(codes, self.classes_) if noting is not None else []
            table = Table(x, codes, ingest.weights(sample_weight, codes), len(self.classes_))
            self._origin = Origin.of(X)
            self._name_target(frames.target_name(labels))
            self._picked = {}
            self.__dict__.pop("_classes_given", None)
            self._check_settings()
            self._check_fit(table, whole=True)
            self._set(self._tally_whole(table))
            self._check_fitted()
            self._tune(table)
            if notes:
                self._warn_of_columns(notes)
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None) -> Self:
        """Learn from more rows: the same state as one `fit` on all of them.

        New classes may come at any time, unless the first call named all `classes`. (Classes named after
        scikit-learn's need `classes` in the first call, as there, or a `fit` before it.)
        """
        self._validate_params()
        self._check_updatable()
        labels = y
        with self._alone(), self._unchanged_on_failure():
            first = not self.__sklearn_is_fitted__()
            x, y = self._training(X, y, reset=first)
            before = None if first else self._fitted.tally
            if classes is not None or (self._classes_first if first else self._classes_given):
                ingest.name_classes(self, classes)
                self._classes_given = self._classes_given or first
            elif first:
                self.classes_ = ingest.labels(y, None)[0]
            else:
                before = self._with_new_classes(y)
            table = self._table(x, y, sample_weight)
            if first:
                self._origin = Origin.of(X)
                self._name_target(frames.target_name(labels))
            self._check_settings()
            self._check_fit(table, whole=False)
            tally = self._tally(table)
            self._set(tally if before is None else before + tally)
        return self

    def _with_new_classes(self, y: np.ndarray | frames.Column) -> Bundle:
        """The tally, and `classes_`, with the classes of y among them."""
        tally, known = self._fitted.tally, self.classes_
        if (label_codes(y, known)[1] >= 0).all():
            return tally
        new = ingest.labels(y, None)[0]
        kinds = [label_type(labels) for labels in (new, known)]
        if kinds[0] != kinds[1]:
            raise DataError(
                f"the labels are {kinds[0]} (such as {new.tolist()[0]!r}), but those learned so far are {kinds[1]} "
                f"(such as {known.tolist()[0]!r})\n\nhint: give labels of the same type"
            )
        self.classes_ = united(known, new)
        return tally.relabel(np.searchsorted(self.classes_, known), len(self.classes_))

    def forget(self, X, y, sample_weight=None) -> Self:
        """Remove rows from the model: the state is that of a model never trained on them.

        Rows that were never learned are refused where the state shows it. Counts of distinct rows (structured models)
        always do. Counts of each column (levels, histogram cells) show a cell that no row of the class has; a row made
        of cells of other rows goes unnoticed. Means and sums of squares show more rows of a class than there were, and
        values further out than any row can have been; another value between those that were learned goes unnoticed.

        Parameters
        ----------
        X, y, sample_weight
            Rows that were learned, with the labels and weights they were learned with.

        Returns
        -------
        self

        Raises
        ------
        ForgetError
            A row was never learned; the model is as it was.

        Examples
        --------
        >>> from deciban import GaussianNB
        >>> X, y = [[0.0], [1.0], [4.0], [5.0], [9.0]], ["a", "a", "b", "b", "b"]
        >>> GaussianNB().fit(X, y).forget(X[4:], y[4:]).theta_.tolist()  # as of the first four rows
        [[0.5], [4.5]]
        """
        with self._alone():
            fitted = self._check_is_fitted()
            self._check_updatable()
            x, y = self._training(X, y, reset=False)
            self._check_known(y)
            table = self._table(x, y, sample_weight)
            left = fitted.tally - self._tally(table)
            if left.short().any():
                raise self._never_learned(X, table)
            self._set(left)
        return self

    def _check_known(self, y: np.ndarray | frames.Column) -> None:
        """Refuse to forget rows of a class that the model does not have."""
        unknown = label_codes(y, self.classes_)[1] < 0
        if unknown.any():
            first = (y.named() if isinstance(y, frames.Column) else y)[unknown].tolist()[0]
            raise ForgetError(
                f"class {first!r} was never learned (row {int(unknown.argmax())})\n\n"
                f"hint: forget rows with the labels of training; the classes are {self.classes_.tolist()}"
            )

    def _never_learned(self, X: Any, table: Table) -> ForgetError:
        """Why these rows cannot be taken away."""
        hint = "forget only rows (and weights) that went through fit or partial_fit, with their labels"
        tally = self._fitted.tally
        have, asked = tally.parts[0].n, ops.class_weights(table.y, table.w, table.k)
        over = np.flatnonzero(asked > have * (1 + 1e-9))
        if len(over):
            c = int(over[0])
            return ForgetError(
                f"{asked[c]:g} rows of class {self.classes_.tolist()[c]!r} to forget, but the model has {have[c]:g}"
                f"\n\nhint: {hint}"
            )
        for row in range(min(table.n, SEARCHED)):
            if (tally - self._tally(table.rows(row, row + 1))).short().any():
                label = self.classes_.tolist()[table.y[row]]
                cells = frames.cells_of(X, row)
                return ForgetError(f"row {row}{cells} of class {label!r} was never learned\n\nhint: {hint}")
        labels = [repr(label) for label in self.classes_[np.unique(table.y)].tolist()]
        return ForgetError(
            f"not all of these rows of class {', '.join(labels)} were learned, or not as often\n\nhint: {hint}"
        )

    def __add__(self, other: Self) -> Self:
        """The model of both models' rows, whatever their classes."""
        if isinstance(other, int) and other == 0:  # where sum([...]) starts
            out = self._plain()
            out._set(self._check_is_fitted().tally)
            return out
        if type(other) is not type(self):
            return NotImplemented
        self._check_is_fitted(), other._check_is_fitted()
        self._check_updatable()
        other = other._aligned_columns(self)
        self._check_mergeable(other)
        a, b = self._fitted, other._fitted
        classes = united(self.classes_, other.classes_)
        out = self._plain()
        out.classes_ = classes
        out._check_settings()
        places = [np.searchsorted(classes, model.classes_) for model in (self, other)]
        mine, theirs = out._aligned(other, a.tally, b.tally)
        out._set(mine.relabel(places[0], len(classes)) + theirs.relabel(places[1], len(classes)))
        return out

    __radd__ = __add__

    def _check_mergeable(self, other: Self) -> None:
        mine, theirs = self.get_params(), other.get_params()
        for name, value in mine.items():
            if not np.array_equal(np.asarray(value, dtype=object), np.asarray(theirs[name], dtype=object)):
                raise MergeError(
                    f"`{name}` is {value!r} in one model and {theirs[name]!r} in the other\n\n"
                    "hint: fit both with the same settings"
                )
        if self.n_features_in_ != other.n_features_in_:
            raise MergeError(
                f"one model has {self.n_features_in_} columns, the other {other.n_features_in_}\n\n"
                "hint: fit both on the same columns"
            )

    def _aligned_columns(self, first: Self) -> Self:
        """This model, or a copy with its columns in the order of the other's, where both have names."""
        mine, theirs = (list(getattr(model, "feature_names_in_", ())) for model in (self, first))
        if mine == theirs or not mine or not theirs:
            return self
        lacking, own = ([n for n in a if n not in set(b)] for a, b in ((theirs, mine), (mine, theirs)))
        if lacking or own:
            only = [(lacking, "first"), (own, "second")]
            told = [
                f"{frames.some(names)} {'is' if len(names) == 1 else 'are'} in the {which} model only"
                for names, which in only
                if names
            ]
            raise MergeError(
                f"the models have other columns: {', '.join(told)}\n\nhint: fit both on frames with the same columns"
            )
        out = self._plain()
        place = {name: at for at, name in enumerate(mine)}
        out._set(out._in_column_order(self._fitted.tally, [place[name] for name in theirs]))
        out.feature_names_in_ = first.feature_names_in_
        return out

    # inside

    def _in_column_order(self, tally: Bundle, order: list[int]) -> Bundle:
        """The tally with column order[j] in place j; what else the model holds by column is moved too."""
        return reordered(tally, order)

    def _learns_from_rows(self) -> bool:
        """Whether parameters come from the tally."""
        return True

    def _training(self, X, y, reset: bool, least: int = 1, whole: bool = False) -> tuple[Block, np.ndarray]:
        """X as a block, and labels, for learning; `whole`: no more rows will come."""
        return ingest.training(self, X, y, self._reads, reset, least)

    def _aligned(self, other: Self, mine: Bundle, theirs: Bundle) -> tuple[Bundle, Bundle]:
        """Two models' tallies, before merging, in the same columns and levels."""
        return mine, theirs

    def _table(self, x: Block, y: np.ndarray, sample_weight) -> Table:
        _, codes = ingest.labels(y, self.classes_)
        return Table(x, codes, ingest.weights(sample_weight, codes), len(self.classes_))

    def _tally(self, table: Table) -> Bundle:
        family, whom = self._family(), type(self).__name__
        size = getattr(family, "size", lambda k, d: k * d)(table.k, table.d)

        def of(span: tuple[int, int]) -> Bundle:
            chunk = table.rows(*span)
            if not ingest.supported(chunk.x, family.support):
                ingest.refuse_negative(table.x, whom, self.__dict__.get("feature_names_in_"))
            with np.errstate(all="ignore"):  # what is not finite is refused below
                return self._tally_chunk(family, chunk)

        spans = borders(table.n, table.x.cells, max(self._chunk, 2 * size))
        if isinstance(table.x, Counts) and MANY < table.x.cells < len(spans) * size / SPARE:
            # a tally for each run would take more memory than we have to spare: the threads share one
            table, spans = replace(table, x=replace(table.x, each=_at_once)), [(0, table.n)]
        with np.errstate(all="ignore"):
            out = threads.total(spans, of, iadd)
        if not out.finite():
            ingest.refuse(table.x, self.__dict__.get("feature_names_in_"))
        return out

    def _tally_whole(self, table: Table) -> Bundle:
        """The tally of a complete fit, which no more rows will follow."""
        return self._tally(table)

    def _tally_chunk(self, family: Any, chunk: Table) -> Bundle:
        tally = family.tally(chunk.x, chunk.y, chunk.w, chunk.k)
        known = tally.every_row and tally.n.ndim == 1
        n = tally.n if known else ops.class_weights(chunk.y, chunk.w, chunk.k)
        return Bundle((Labels(n), tally))

    def _set(self, tally: Bundle, calibration: Calibration | None = None) -> None:
        self._fitted = Fitted(self, tally, calibration)

    def _plain(self) -> Self:
        """A copy that holds settings and classes but no state: what parameters are estimated with."""
        out = object.__new__(type(self))
        out.__dict__.update({name: value for name, value in self.__dict__.items() if name != "_fitted"})
        return out

    @property
    def tally_(self) -> Bundle:
        """The state: class weights and the family's statistics."""
        return self._check_is_fitted().tally

    @property
    def evidence_(self) -> float:
        """log p(X | y), parameters averaged out, of conjugate families: models of the same rows compare by it."""
        fitted = self._check_is_fitted()
        if not hasattr(fitted.family, "evidence"):
            raise AttributeError(
                f"{fitted.family} has no evidence in closed form\n\nhint: where there is `estimate`, set it to 'bayes'"
            )
        return float(fitted.family.evidence(fitted.tally.parts[1]).sum())

    @property
    def class_count_(self) -> np.ndarray:
        """Number (weight) of the training rows of each class, (k,)."""
        return self._view(self._check_is_fitted().tally.parts[0].n)

    def _check_is_fitted(self) -> Fitted:
        try:
            return self._fitted
        except AttributeError:
            raise unfitted(self) from None

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in self.__dict__
