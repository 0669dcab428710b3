"""`AutoClassifier`: tries the classifiers that suit a table or texts, and answers with the best or with a mix of them.

>>> from deciban import datasets
>>> X, y = datasets.play_tennis()
>>> model = AutoClassifier().fit(X, y)
>>> model.names_, model.leaderboard_.notes
(['mixed'], ('fewer than 30 rows: no other classifier is tried',))

Which candidates are there, and what they need, is in `model_selection/compare.py`; how they are compared, chosen and
mixed in `model_selection/member_search.py`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy import sparse

from deciban import display
from deciban.classifiers.base import PRIORS, Classifier, Generative, Interval, MethodUnless, StrOptions
from deciban.classifiers.conformal import copy_shallow
from deciban.classifiers.ensemble import Ensemble, Member, OwnMember, StandardisedMember
from deciban.data import frames
from deciban.display import format_list, option
from deciban.errors import ColumnWarning, DataError, DecibanError, MergeError, NotAdditiveError, UnavailableError
from deciban.metrics import prior_log_loss
from deciban.model_selection.compare import (
    AUTO_COUNTS,
    AUTO_TABLES,
    AUTO_TEXTS,
    AUTO_UPDATABLE,
    FOLDS,
    FREE,
    LONE,
    MOST,
    Candidate,
    ColumnSummary,
    FeatureSelection,
    candidates,
    folds_of,
    format_dropped,
    get_candidate,
    lone,
    repeats,
    select_columns,
    validate_candidate,
)
from deciban.model_selection.cross_validation import CrossValidation, not_scored_note
from deciban.model_selection.leaderboard import Leaderboard
from deciban.model_selection.leakage import Leakage, find_leakage
from deciban.model_selection.member_search import MIX, MemberSearch
from deciban.models import hypotheses
from deciban.models.pooled_posterior import PooledPosterior
from deciban.progress import stage_progress
from deciban.rows import inputs
from deciban.rows.inputs import column_notes
from deciban.rows.raw_rows import RawArrays, RawBatches, RawRows
from deciban.rows.readers import warn_of_odd_columns
from deciban.rows.sampling import folds_by_content, sample_rows
from deciban.tallies.ledger import LedgerKey

Callback = Callable[[str, float], None]
SAMPLE = 100_000  # rows of a stream that are kept to score the model
CELLS = 20_000_000  # most cells of those rows
WIDE = 10_000  # columns up to which classifiers are compared
NO_ROWS = "there are no rows with a label\n\nhint: check that the file has more than a header"


class AutoClassifier(Ensemble):
    """The best of the classifiers that suit the rows, or a mix of them.

    Parameters
    ----------
    models : "auto", or list of classifiers, names, or (name, model), or mapping by name
        The candidates. "auto": those that suit the columns, or texts. Names are those of `list_classifiers` and of
        public classes.
    max_time : float or None
        Seconds for the fit. No fit of a candidate is cut, but none is started that would end too late; at least one
        candidate is fitted. None: no limit.
    updatable : bool
        Only try models that learn more rows, merge and forget, and choose one of them: `partial_fit`, `forget` and `+`
        are those of that model. The choice stays.
    n_folds : int
        Number of folds in which candidates are compared.
    priors : sequence, mapping by class, "uniform" or None
        Class priors of all models; None: the shares of the classes in the training rows.
    verbose : bool
        Whether a progress bar says what is being fitted.

    Attributes
    ----------
    leaderboard_ : Leaderboard
        Held-out scores of all candidates and of their mix, the weights of those in use, and why others are left out.
    best_model_ : classifier
        The fitted model with the lowest held-out log loss.
    map_ : classifier
        The fitted model with the largest weight.
    models_, names_ : lists
        The fitted models in use, and their names.
    weights_ : ndarray of shape (m,)
        Weight of each model.
    temperature_ : float
        By which the evidence of the mix is multiplied; 1 for one model.
    left_out_ : dict
        Candidates that could not learn from the rows or were given up, by name, and the reason.
    dropped_columns_ : dict
        Columns of a frame that are not used, by name, and the reason: identifiers, row numbers, columns without values,
        and free text.
    leaks_ : dict
        Columns that may know the outcome, and why; see `find_leakage`.
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_prior_ : ndarray of shape (k,)
        Prior probability of each class.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    n_features_in_ : int
        Number of columns that are used.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns that are used, where the training rows had names.
    target_name_ : str
        Name of the labels (`y.name`, or the target of `fit_on`), where they had one.

    See Also
    --------
    BayesOptimal : The mean of given models, by evidence or by held-out rows.
    compare : Cross-validates classifiers without fitting one to all rows.

    Notes
    -----
    All candidates predict the same held-out rows, in folds by content: the result does not depend on the order of the
    rows. With more than 2,000 rows, candidates race on samples by content of 1,000 and 4,000 rows, of which the better
    half goes on; where there is no time to compare the rest on all rows, the choice of the last sample stands. The
    weights of the mix make held-out rows most probable, with three pseudo-rows that all candidates share equally. So
    does the temperature: the mean of probabilities that are right is too cautious. The mix is used unless, on 300 rows
    or more, a single candidate is better, by more than one standard error, than a mix whose weights were learned from
    other rows. On fewer than 30 rows, or with at most five rows in all classes but one, naive Bayes is the only
    candidate.

    Texts are a sequence of strings, or a frame whose only usable column is one of free text. Of texts, the best
    candidate is used, and nothing is mixed.

    `fit_on` compares candidates on up to 8,192 rows, sampled by content, and fits those in use to all rows.

    References
    ----------
    Yao, Vehtari, Simpson and Gelman (2018), Using stacking to average Bayesian predictive distributions. Ranjan and
    Gneiting (2010), Combining probability forecasts. Jamieson and Talwalkar (2016), Non-stochastic best arm
    identification and hyperparameter optimization.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 2)), np.repeat(["a", "b"], 30)
    >>> X[30:] += 2.0
    >>> model = AutoClassifier(models=["gaussian", "logistic"]).fit(X, y)
    >>> model.predict([[-0.5, 0.0], [2.5, 2.0]]).tolist(), model.names_
    (['a', 'b'], ['gaussian', 'logistic'])
    >>> AutoClassifier(updatable=True).fit(X[:50], y[:50]).partial_fit(X[50:], y[50:]).class_count_.tolist()
    [30.0, 30.0]
    """

    prior = None  # what other ensembles have as settings
    noise = 0.0
    weights = "auto"
    leaderboard_: Leaderboard
    dropped_columns_: dict[str, str]
    leaks_: dict[str, str]
    _parameter_constraints: dict = {
        "models": ["array-like", Mapping, StrOptions({"auto"})],
        "max_time": [Interval(Real, 0, None, closed="left"), None],
        "updatable": ["boolean"],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "priors": PRIORS,
        "verbose": ["verbose", callable],
    }

    def __init__(self, models="auto", *, max_time=60.0, updatable=False, n_folds=5, priors=None, verbose=False):
        self.models = models
        self.max_time = max_time
        self.updatable = updatable
        self.n_folds = n_folds
        self.priors = priors
        self.verbose = verbose

    # learning

    def _learn_on(self, job: Any) -> None:
        self._learn(RawBatches(job))

    def _learn(self, rows: RawRows) -> None:
        with rows.several() as rows, stage_progress(self.verbose, type(self).__name__) as report:
            table = TrainingTable.from_rows(rows.in_memory_if_few())
            search = MemberSearch(
                table.rows, self.n_folds, self.max_time, report, mixes=not (self.updatable or table.texts)
            )
            if (why := table.too_few) and self.models == "auto":
                found = search.alone(Member.of(*table.fallback), why)
            else:
                found = search.choose(self._candidates(table, search.left_out))
            report("columns that may know the outcome", None)
            leaks = table.leaks()
        self._adopt([name for name, _ in self._named_models()], found.members, found.left_out)
        self._describe(table.rows.class_weights(self._all_classes()) if isinstance(table.rows, RawArrays) else None)
        self.weights_, self.temperature_, self.leaderboard_ = found.weights, found.temperature, found.leaderboard
        self.dropped_columns_, self.leaks_, self._text = dict(table.dropped), leaks, table.text
        if isinstance(table.text, str):
            self.feature_names_in_ = np.array([table.text], dtype=object)
        if table.dropped:
            warn_of_odd_columns([f"not used: {format_dropped(table.dropped)}"])

    def _candidates(self, table: TrainingTable, left_out: dict[str, str]) -> list[Member]:
        """The members to compare; those that do not suit the rows are named in `left_out`."""
        automatic = isinstance(self.models, str)
        out: list[Member] = []
        for kind in candidates(table.suitable(self.updatable) if automatic else self.models):
            model = kind.make()
            if automatic and table.selection is not None:
                model = kind.suited(model, table.selection.columns)
            if why := table.lacks(kind, named=not automatic):
                left_out[kind.name] = why
            elif self.updatable and not is_updatable(model):
                left_out[kind.name] = "learns no more rows, and forgets none"
            elif kind.name == "logistic" and table.complete_numbers:
                out.append(StandardisedMember(kind.name, model))
            else:
                out.append(Member.of(kind.name, model))
        if not out:
            raise DataError(f"no candidate suits these rows ({format_reasons(left_out)})\n\nhint: models='auto'")
        return out

    def partial_fit(self, X, y, classes=None, sample_weight=None) -> Self:
        """Learn from more rows, by the model that the first rows have chosen; see `updatable`. The first call chooses
        it, and may name all `classes`.

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.
        y : sequence of labels, or the name of a column of X
            The class of each row.
        classes : sequence of labels, or None
            All classes that may occur, in the first call.
        sample_weight : sequence of numbers, or None
            The weight of each row; None: 1 each.

        Returns
        -------
        self
            The same model, with these rows.
        """
        with self._unchanged_on_failure():
            more = {} if sample_weight is None else {"sample_weight": sample_weight}
            first = not self.__sklearn_is_fitted__()
            if first:
                self.fit(X, y, **more)
                if classes is None:
                    return self
            model = copy_shallow(self.models_[0])
            if first:
                model = type(model)(**model.get_params(deep=False))
            more |= {} if classes is None else {"classes": classes}
            self._replace_model(
                model.partial_fit(self._read(frames.take_target(X, y)[0]), frames.take_target(X, y)[1], **more)
            )
        return self

    def forget(self, X, y, sample_weight=None) -> Self:
        """Remove rows that were learned; the model that was chosen stays.

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.
        y : sequence of labels, or the name of a column of X
            The class of each row.
        sample_weight : sequence of numbers, or None
            The weight of each row; None: 1 each.

        Returns
        -------
        self
            The same model, without these rows.
        """
        self._check_is_fitted()
        with self._unchanged_on_failure():
            more = {} if sample_weight is None else {"sample_weight": sample_weight}
            X, y = frames.take_target(X, y)
            self._replace_model(copy_shallow(self.models_[0]).forget(self._read(X), y, **more))
        return self

    def __add__(self, other: Self) -> Self:
        """The model of the rows of both."""
        if isinstance(other, int) and other == 0:  # the start of sum([...])
            return self
        if type(other) is not type(self):
            return NotImplemented
        self._check_is_fitted()
        other._check_is_fitted()
        if not (self.updatable and other.updatable):
            raise NotAdditiveError(NOT_UPDATABLE)
        if self.names_ != other.names_ or self._text != other._text:
            raise MergeError(
                f"one model chose {self.names_[0]}, the other {other.names_[0]}\n\n"
                f"hint: fit both with models=[{self.names_[0]!r}]"
            )
        out = copy_shallow(self)
        out._replace_model(self.models_[0] + other.models_[0])
        return out

    __radd__ = __add__

    def _replace_model(self, model: Any) -> None:
        """Set the one model, after it has learned or forgotten rows."""
        self.models_ = [model]
        self._describe(None)

    # predictions

    def _read(self, X: Any) -> Any:
        """The columns in use, or the texts of one column."""
        known = self.__dict__
        if not known.get("dropped_columns_") and known.get("_text") is None:
            return X
        X = frames.records(X)
        if not frames.is_frame(X):
            return X
        if self._text is not None:
            return frames.strings(X, self._text)
        kept = [name for name in frames.names(X) if name not in self.dropped_columns_]
        return X if len(kept) == len(frames.names(X)) else select_columns(X, kept)

    def explain(
        self, X, *, of=None, against=None, priors=None, form="decibans", error=None, level=0.9, training=None
    ) -> Any:
        more = {} if error is None else {"error": error, "level": level, "training": training}
        if self._is_one_model():
            priors = self.priors if priors is None else priors
            return self.models_[0].explain(self._read(X), of=of, against=against, priors=priors, form=form, **more)
        return super().explain(X, of=of, against=against, priors=priors, form=form, **more)

    def predict_interval(self, X, *, level=0.9, error="auto", training=None, priors=None) -> np.ndarray:
        more = {"level": level, "error": error, "training": training}
        if self._is_one_model():
            priors = self.priors if priors is None else priors
            return self.models_[0].predict_interval(self._read(X), priors=priors, **more)
        return super().predict_interval(X, priors=priors, **more)

    def _is_one_model(self) -> bool:
        """Whether the answer is that of one model, which is ours."""
        return "models_" in self.__dict__ and len(self.models_) == 1 and isinstance(self._members()[0], OwnMember)

    def _ignore_columns(self, names: Sequence[str]) -> None:
        self.dropped_columns_ = {**self.dropped_columns_, **dict.fromkeys(names, "is not used")}

    def _posterior(self, priors: Any = None) -> PooledPosterior:
        out = super()._posterior(priors)
        return replace(out, temperature=self.temperature_)

    def _combined(self, log_proba: np.ndarray, posterior: PooledPosterior) -> np.ndarray:
        mean = hypotheses.bayes_optimal(log_proba, self.weights_)
        return mean if self.temperature_ == 1 else posterior.sharpened(mean)

    def _readable(self, rows: Any, columns: Sequence[str]) -> Any:
        if self._reads_texts:
            return self.models_[0]._readable(rows, columns)
        return super()._readable(rows, columns)

    def _view(self) -> Any:
        return self._text_model._view()

    def top_words(self, n: int = 10, by: str = "kl") -> Any:
        """The strongest words of each class, of texts only; see `TextClassifier.top_words`.

        Parameters
        ----------
        n : int
            The number of words of each class.
        by : "kl", "log_odds", "evidence"
            The measure.

        Returns
        -------
        TopWords
            A mapping of label to (word, value).
        """
        return self._text_model.top_words(n, by)

    @property
    def vocabulary_(self) -> list[str]:
        """The words in use, sorted; of texts only."""
        return self._text_model.vocabulary_

    @property
    def _text_model(self) -> Any:
        """The model of texts."""
        if not self._reads_texts:
            raise UnavailableError("this AutoClassifier has columns, not words\n\nhint: see `feature_names_in_`")
        return self.models_[0]

    def _graph(self) -> Any:
        return self.models_[0]._graph() if len(self.models_) == 1 else super()._graph()

    def _chosen_settings(self) -> dict[str, Any]:
        return self.models_[0]._chosen_settings() if len(self.models_) == 1 else {}

    @property
    def best_model_(self) -> Any:
        """The fitted model with the lowest held-out log loss."""
        self._check_is_fitted()
        return self.models_[min(range(len(self.names_)), key=lambda i: self.leaderboard_.names.index(self.names_[i]))]

    @property
    def _reads_texts(self) -> bool:  # type: ignore[override]
        """Whether it was fitted to texts."""
        models = self._own_models()
        return bool(models) and all(model._reads_texts for model in models)

    # models and their settings

    @property
    def _weighting(self) -> str:
        return "stacking"

    def _additive(self) -> bool:
        return self.updatable

    def _given_models(self) -> list[tuple[str, Any]]:
        try:
            return super()._given_models()
        except DataError:  # the error of `fit`
            return []

    def _named_models(self) -> list[tuple[str, Any]]:
        automatic = isinstance(self.models, str)
        names = dict.fromkeys((*AUTO_TABLES, *AUTO_UPDATABLE, *AUTO_COUNTS, *AUTO_TEXTS))
        return [(kind.name, kind.make()) for kind in candidates(list(names) if automatic else self.models)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if isinstance(self.models, str):
            for name in ("allow_nan", "sparse", "categorical", "string"):
                setattr(tags.input_tags, name, True)
            tags.input_tags.positive_only = False
        return tags


NOT_UPDATABLE = (
    "this AutoClassifier needs all rows at once: no update, no forgetting, no merging\n\n"
    "hint: AutoClassifier(updatable=True) chooses a model that learns more rows, merges and forgets"
)


def refuse_updates(model: AutoClassifier) -> None:
    """Raise an error for updates of a model that was not chosen for them."""
    if not model.updatable:
        raise UnavailableError(NOT_UPDATABLE)


for _name in ("partial_fit", "forget"):
    setattr(AutoClassifier, _name, MethodUnless(vars(AutoClassifier)[_name], refuse_updates))


def is_updatable(model: Any) -> bool:
    """Whether a model, fitted or not, learns more rows and forgets rows with its settings."""
    if not isinstance(model, Classifier) or not model._adds_rows():
        return False
    if isinstance(model, Generative):
        try:
            model._check_updatable()
        except NotAdditiveError:
            return False
    return True


def format_reasons(left_out: Mapping[str, str]) -> str:
    """
    >>> format_reasons({"lda": "needs numeric columns", "qda": "failed"})
    'lda: needs numeric columns; qda: failed'
    """
    return "; ".join(f"{name}: {why}" for name, why in left_out.items())


FEW_ROWS, FEW_OF_CLASS = 30, 5  # rows below which, and rows of a class up to which, naive Bayes is the only candidate


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """Rows as the candidates read them, and what their columns hold."""

    rows: RawRows
    selection: FeatureSelection | None  # None: sparse, or texts
    texts: bool = False
    text: Any = None  # the column of texts

    @classmethod
    def from_rows(cls, rows: RawRows) -> TrainingTable:
        """Select the columns of a frame that can be learned from."""
        X = frames.records(rows.X if isinstance(rows, RawArrays) else rows.sample().X)
        if isinstance(rows, RawArrays):
            check_rows(rows)
        if not frames.is_frame(X):
            if sparse.issparse(X) or is_texts(X):
                return cls(rows, None, not sparse.issparse(X))
            return cls(rows, FeatureSelection(ColumnSummary.from_data(np.asarray(X))))
        selection = FeatureSelection.from_data(X)
        if not selection.dropped_columns and selection.text is None:
            return cls(rows, selection)
        if isinstance(rows, RawArrays):
            chosen: RawRows = replace(rows, X=selection.rows(X))
        else:
            chosen = rows.of_columns(
                [selection.text] if selection.text is not None else selection.columns.kept, selection.text is not None
            )
        return cls(chosen, selection, selection.text is not None, selection.text)

    @property
    def dropped(self) -> dict[Any, str]:
        """Columns that are not used, and why."""
        return self.selection.dropped_columns if self.framed and self.selection is not None else {}

    @property
    def framed(self) -> bool:
        return self.text is not None or isinstance(self.rows, RawBatches) or frames.is_frame(self.rows.X)

    @property
    def complete_numbers(self) -> bool:
        columns = None if self.selection is None else self.selection.columns
        return columns is not None and columns.numeric and not columns.has_missing

    @property
    def fallback(self) -> tuple[str, Any]:
        """The name and the model of the only candidate for few rows."""
        name = "text" if self.texts else "gaussian" if self.selection is None else "mixed"
        return name, get_candidate(name).make()

    @property
    def too_few(self) -> str:
        """Why no candidates are compared; ""."""
        sample = self.rows.sample()
        _, codes = np.unique(sample.y, return_inverse=True)
        counts = np.bincount(codes, sample.times)
        if sample.rows < FEW_ROWS:
            return f"fewer than {FEW_ROWS} rows: no other classifier is tried"
        if (counts > FEW_OF_CLASS).sum() < 2:
            return f"{FEW_OF_CLASS} rows or fewer in all classes but one: no other classifier is tried"
        if self.selection is not None and len(self.selection.columns.kept) > WIDE:
            return f"more than {WIDE:,} columns: no other classifier is tried"
        return ""

    def suitable(self, updatable: bool) -> list[str]:
        """The names of the candidates for such rows."""
        if self.selection is None or self.texts:
            return list(AUTO_TEXTS if self.texts else AUTO_COUNTS)
        return list(AUTO_UPDATABLE if updatable else AUTO_TABLES)

    def lacks(self, kind: Candidate, named: bool) -> str:
        """The requirement of a candidate that these rows do not meet, or ""."""
        if self.selection is None:
            return kind.lacks_texts(self.texts)
        return kind.lacks(self.selection, named or self.framed)  # columns of frames are coded

    def leaks(self) -> dict[str, str]:
        """Columns that may know the outcome, and why."""
        if self.selection is None or self.texts or len(self.selection.columns.kept) > WIDE:
            return {}
        part = self.rows.sample().subset(LEAK_ROWS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return {leak.column: leak.words for leak in find_leakage(part.X, part.labels)}


LEAK_ROWS = 2000  # rows by which columns that may know the outcome are found


def check_rows(rows: RawArrays) -> None:
    """Raise the error of a model for rows that no model can read, before they are compared."""
    X = frames.records(rows.X)
    name = "text" if is_texts(X) else "gaussian" if sparse.issparse(X) else "mixed"
    found = get_candidate(name).make()._reader().training(X, rows.y) if name != "text" else None
    if found is not None:
        _, codes = inputs.labels(found.y, None)
        inputs.weights(rows.w, codes)


def is_texts(X: Any) -> bool:
    """Whether X is a sequence of texts.

    >>> is_texts(["so it goes", "wie es geht"]), is_texts([["a"], ["b"]]), is_texts([[0.5]])
    (True, False, False)
    """
    if sparse.issparse(X) or frames.is_frame(X):
        return False
    cells = np.asarray(X, dtype=object)
    return cells.ndim == 1 and len(cells) > 0 and all(isinstance(cell, str) for cell in cells)


@dataclass(frozen=True, repr=False)
class AutoResult:
    """The result of `auto_fit`: a model, its held-out metrics, and warnings about its columns. `str` is what
    `deciban fit` prints.

    Attributes
    ----------
    model : classifier
        The fitted model.
    kind : Candidate
        The classifier that was chosen.
    held_out : CrossValidation or None
        Held-out predictions and scores.
    how : str
        How rows were held out, such as "10 folds of 10,000 of 48,842 rows".
    dropped_columns : dict
        Columns that are not used → reason.
    leaks : list of Leakage
        Columns that may leak the target.
    leaderboard : Leaderboard or None
        How all candidates did, if there was a choice.
    notes : list of str
        Warnings of the classifier.
    text : label or None
        The text column, if the model reads texts.
    rows : int
        Number of training rows.
    found : FeatureSelection or None
        The columns that the model reads.
    """

    model: Any
    kind: Candidate
    held_out: CrossValidation | None
    how: str
    dropped_columns: dict[Any, str]
    leaks: list[Leakage]
    leaderboard: Leaderboard | None
    notes: list[str]
    text: Any = None
    rows: int = 0
    found: FeatureSelection | None = None

    def read(self, X: Any) -> Any:
        """X as the model takes it: the kept columns, or the texts of one column."""
        return X if self.found is None else self.found.rows(frames.records(X))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row of X, which has all columns that `auto_fit` was given.

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.

        Returns
        -------
        ndarray of shape (n,)
            A label for each row.
        """
        return self.model.predict(self.read(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """P(class | x) of each row of X, (n, k).

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.

        Returns
        -------
        ndarray of shape (n, k)
            The probabilities, in the order of `classes_`.
        """
        return self.model.predict_proba(self.read(X))

    def __str__(self) -> str:
        model = self.model
        many = len(model.vocabulary_) if self.text is not None else model.n_features_in_
        what = "columns" if self.text is None else f"words of `{self.text}`"
        target = vars(model).get("target_name_")
        of = "" if target is None else f" of `{target}`"
        lines = [
            f"{type(model).__name__} ({self.kind.words}), {self.rows:,} rows, {many:,} {what}, "
            f"{len(model.classes_)} classes{of}"
        ]
        warned = [f"warning: {leak}" for leak in self.leaks] + [f"note: {note}" for note in self.notes]
        return "\n".join(lines + [f"  {line}" for line in [*self.lines, *warned]])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return display.preformatted(str(self))

    @property
    def lines(self) -> list[str]:
        """The comparison, the held-out metrics and the dropped columns, as text."""
        out = []
        if self.leaderboard is not None and len(self.leaderboard) > 1:
            board = self.leaderboard
            scores = zip(board.names, board.log_loss, strict=True)
            others = [f"{name} {loss:.4f}" for name, loss in scores if not np.isnan(loss)]
            out.append(f"log loss in {board.how}: {', '.join(others)}")
            out.append(f"{self.kind.words if self.kind.name == MIX else self.kind.name} is used")
        if self.metrics:
            out.append(f"by {self.how}:")
            baseline = {"log_loss": f"  (class frequencies: {self.baseline_log_loss:.4f})"}
            for key, value in self.metrics.items():
                out.append(f"  {key.replace('_', ' '):18}  {value:.4f}{baseline.get(key, '')}")
            out += [] if self.held_out is None else not_scored_note(self.held_out.unknown)
        if self.dropped_columns:
            out.append(f"dropped: {format_dropped(self.dropped_columns)}")
        return out

    @property
    def unread(self) -> list[Any]:
        """Columns of free text that are not used."""
        return [name for name, why in self.dropped_columns.items() if why == FREE]

    @property
    def metrics(self) -> dict[str, float]:
        """Accuracy, log loss, Brier score and calibration error on held-out rows."""
        out = self.held_out
        if self.leaderboard is not None:
            scores = self.leaderboard.scores(self.kind.name)
            return {} if np.isnan(scores["log_loss"]) else scores
        if out is None:
            return {}
        return {
            "accuracy": out.accuracy,
            "log_loss": out.log_loss,
            "brier": out.brier,
            "calibration_error": out.calibration_error,
        }

    @property
    def baseline_log_loss(self) -> float:
        """Log loss of always predicting the class frequencies; NaN where no rows were held out."""
        out = self.held_out
        if self.leaderboard is not None:
            return self.leaderboard.baseline_log_loss
        return float("nan") if out is None else prior_log_loss(out.codes if out.known is None else out.codes[out.known])


def auto_fit(
    X: Any,
    y: Any,
    model: str = "auto",
    *,
    updatable: bool = False,
    ledger: bool | LedgerKey = False,
    callback: Callback | None = None,
    text: Any = None,
) -> AutoResult:
    """Select columns and a classifier, fit it, and score it on held-out rows.

    Columns that no model can use (identifiers, free text, texts like dates, row numbers) are dropped. The classifier is
    chosen by `AutoClassifier`; if it has chosen a single one, that model is returned. A classifier with a name is
    cross-validated in ten folds. The scores that are printed and returned are of held-out rows, and every choice
    (distribution, smoothing, calibration, weights) is made again in each fold.

    Parameters
    ----------
    X : frame, array of shape (n, d), or dictionaries
        The rows.
    y : array of shape (n,), or str
        Their classes, or the name of the column of X that holds them.
    model : str, default "auto"
        The name of a classifier (see `compare`), or "auto".
    updatable : bool, default False
        Only consider models that can be updated, merged and that can forget rows.
    ledger : bool or LedgerKey, default False
        Keep a keyed hash of every row, so that `forget` refuses every row that was not learned; the model is updatable.
    callback : callable, optional
        Called with (name, fraction done) before each classifier.
    text : str or int, optional
        A column whose words are the only features. This is the default where a single column of free text is all
        there is.

    Returns
    -------
    AutoResult
        The `model`, its held-out `metrics`, the `leaderboard`, the dropped columns and those that may leak the target.
        `predict` and `predict_proba` take rows with all columns of X.

    See Also
    --------
    AutoClassifier : The best classifier, or a mix.
    compare : Cross-validates the classifiers that suit the rows.
    auto_fit_on : The same for data of any size.

    Examples
    --------
    >>> X, y = [["grey"], ["grey"], ["blue"], ["blue"]], ["rain", "rain", "sun", "sun"]
    >>> auto_fit(X, y, updatable=True).model.predict([["grey"]]).tolist()
    ['rain']
    """
    called = frames.target_name(y)
    X, y = inputs.labelled(X, y)
    labels = np.asarray(y)
    check_labels(labels)
    found = FeatureSelection.from_data(X, text)
    rows = found.rows(X)
    automatic = model == "auto" and not ledger and not (updatable and found.text is not None)
    kind = get_candidate(_default_updatable(found) if model == "auto" else model)
    if lacks := "" if automatic else kind.lacks(found, named=model != "auto"):
        text_option, auto = option("text=", "--text COLUMN"), option('model="auto"', "--model auto")
        other = f"name the text column: {text_option}" if kind.texts else "drop the other columns"
        raise DataError(f"`{kind.name}` {lacks}\n\nhint: use {auto}, or {other}")
    held_out, how, leaderboard = None, "", None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if automatic:
            fitted, kind, leaderboard = _chosen(rows, labels, found, updatable, callback)
            how = leaderboard.how
        else:
            fitted = _make(kind, ledger).fit(rows, labels)
            if not lone(labels):
                held_out, how = _held_out(kind, found, rows, labels)
    fitted._name_target(called)
    if found.text is None and found.dropped_columns:
        fitted._ignore_columns([str(name) for name in found.dropped_columns])  # rows to predict may have them
    notes = _notes(caught) + ([] if found.text is not None else _column_notes(rows, labels, called))
    notes += [f"{LONE}: no row could be held out to score the model"] * lone(labels)
    if leaderboard is not None:
        notes += [f"{name}: {why}" for name, why in zip(leaderboard.names, leaderboard.notes, strict=True) if why]
    suspects = find_leakage(rows, labels) if found.text is None else []
    return AutoResult(
        fitted, kind, held_out, how, found.dropped_columns, suspects, leaderboard, notes, found.text, len(labels), found
    )


def _chosen(
    rows: Any, y: np.ndarray, found: FeatureSelection, updatable: bool, callback: Callback | None
) -> tuple[Any, Candidate, Leaderboard]:
    """(the model that `AutoClassifier` has chosen, or its mix, what it is, how all candidates did)"""
    report = False if callback is None else lambda text, share: callback(text, share or 0.0)
    fitted = AutoClassifier(updatable=updatable, verbose=report).fit(rows, y).set_params(verbose=False)
    if len(fitted.models_) == 1:
        return fitted.models_[0], get_candidate(fitted.names_[0]), fitted.leaderboard_
    parts = [f"{name} {weight:.2f}" for name, weight in zip(fitted.names_, fitted.weights_, strict=True)]
    words = f"a mix of {format_list(parts, len(parts), '', ' and ')}"
    return fitted, replace(get_candidate("AutoClassifier"), name=MIX, words=words), fitted.leaderboard_


def _make(kind: Any, ledger: bool | LedgerKey) -> Any:
    """The unfitted classifier; with a ledger, if one is asked for."""
    model = kind.make()
    if ledger is False:
        return model
    if "ledger" not in model.get_params(deep=False):
        updatable = option("updatable=True", "--updatable")
        raise DataError(f"`{kind.name}` forgets no rows, so it has no ledger\n\nhint: {updatable} chooses a model")
    return model.set_params(ledger=ledger)


def _notes(caught: list[Any]) -> list[str]:
    """Messages of the warnings of a fit; those about columns come from `_column_notes`."""
    return list(dict.fromkeys(str(one.message) for one in caught if not issubclass(one.category, ColumnWarning)))


def _column_notes(rows: Any, y: Any, target: Any) -> list[str]:
    classes, codes = inputs.labels(y, None)
    columns = frames.columns(rows if frames.is_frame(rows) else np.asarray(rows))
    return column_notes(columns, codes, classes, target)


def _default_updatable(found: FeatureSelection) -> str:
    """The name of the updatable naive Bayes."""
    return "mixed" if found.text is None else "text"


def auto_fit_on(
    data: Any,
    target: str = "label",
    *,
    drop: Sequence[str] = (),
    text: Any = None,
    ledger: bool | LedgerKey = False,
    progress: Callable[[int, float | None], None] | None = None,
) -> AutoResult:
    """Fit an updatable naive Bayes model to data of any size, in one pass (see `fit_on`), and score it on held-out
    rows.

    Up to 100,000 rows are cross-validated as in `auto_fit`. Of more rows, 100,000 are sampled, at least a few of every
    class, and scored by leave-one-out, with the distributions and the smoothing chosen from all rows; `how` says so.

    Parameters
    ----------
    data : path, Arrow dataset or reader, frame, or iterator of frames
        The rows; those without a label are skipped. Usable columns are selected by the first batch.
    target : str, default "label"
        The column of the classes.
    drop : sequence of str, optional
        Columns that are not used.
    text : str, optional
        A column whose words are the only features, see `auto_fit`.
    ledger : bool or LedgerKey, default False
        Keep a keyed hash of every row, see `auto_fit`.
    progress : callable, optional
        Called as `progress(rows, fraction)`.

    Returns
    -------
    AutoResult
        As from `auto_fit`.

    See Also
    --------
    auto_fit : Chooses and fits a classifier, with held-out scores.
    AutoClassifier : The best classifier, or a mix.

    Examples
    --------
    >>> import pyarrow as pa
    >>> out = auto_fit_on(pa.table({"sky": ["grey", "blue"] * 20, "label": ["rain", "sun"] * 20}))
    >>> out.model.predict(pa.table({"sky": ["blue"]})).tolist(), out.rows, out.how
    (['sun'], 40, '10 folds, repeated 3 times')
    """
    from deciban.io import readers  # pyarrow is optional

    if readers.is_path(data):
        again = partial(auto_fit_on, target=target, drop=drop, text=text, ledger=ledger, progress=progress)
        return readers.retry_on_type_change(data, again, expected=(target,))
    source = readers.open_data(data)
    most = max(1000, min(SAMPLE, CELLS // max(len(source.names), 1)))
    rows = readers.LabelledSource(source, target, most)
    if rows.first is None:
        raise DataError(NO_ROWS)
    others = [name for name in source.names if name != target and name not in drop]
    found = FeatureSelection.from_data(readers.selected(rows.first, others), text)
    kind = get_candidate(_default_updatable(found))
    features = found.columns.kept if found.text is None else [found.text]
    model = _make(kind, ledger)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit_on(rows.source, target, features, progress=progress)
    check_labels(model.classes_, rows.rows)
    X, y = rows.kept()
    if len(y) == rows.rows:
        held_out, how = (None, "") if lone(y) else _held_out(kind, found, found.rows(X), y)
    else:
        logs = model.leave_one_out(found.rows(X), y)
        codes = inputs.labels(y, model.classes_)[1]
        held_out = CrossValidation(model.classes_, codes, np.zeros(len(codes), int), logs, None, ())
        how = f"leave-one-out of {len(y):,} of {rows.rows:,} rows (distributions and smoothing chosen from all rows)"
    suspects = find_leakage(found.rows(X), y) if found.text is None else []
    notes = _notes(caught) + ([] if found.text is not None else _column_notes(found.rows(X), y, target))
    notes += [f"{rows.skipped:,} rows without `{target}` were skipped"] if rows.skipped else []
    return AutoResult(
        model, kind, held_out, how, found.dropped_columns, suspects, None, notes, found.text, rows.rows, found
    )


def check_labels(y: np.ndarray, rows: int | None = None) -> None:
    """Raise DataError for labels (or the classes of so many rows) of one class, continuous labels and identifiers."""
    known = np.unique(y) if y.dtype.kind != "O" else np.array(sorted(set(y.tolist()), key=str), dtype=object)
    k, n = len(known), len(y) if rows is None else rows
    if k < 2:
        raise DataError(
            f"only one class in the target, {known.tolist()}\n\n"
            "hint: give rows of at least two classes, or another target"
        )
    number = known.dtype.kind in "fiu"
    if (number and k > 50 and k > n / 5) or (known.dtype.kind == "f" and (known != np.floor(known)).any()):
        raise DataError(
            f"the target has {k:,} different numbers in {n:,} rows: the target looks continuous\n\n"
            "hint: name a column of classes, or bin the numbers, for example into low and high"
        )
    if not number and k > max(20, n / 2):
        raise DataError(
            f"the target has {k:,} different values in {n:,} rows: the target looks like an identifier\n\n"
            f"hint: name a column of classes; to learn from the words of this one: {option('text=', '--text')}"
        )


def _held_out(kind: Candidate, found: FeatureSelection, rows: Any, y: np.ndarray) -> tuple[CrossValidation | None, str]:
    """Cross-validate a classifier, with every choice made again in each fold: on all rows where the tallies of folds
    can be added or rows are few, else on a sample."""
    adds_up = kind.updates and isinstance(kind.make(), Generative)
    _, codes = inputs.labels(y, None)
    at = np.arange(len(y)) if adds_up else sample_rows(rows, codes, MOST)
    some = rows if len(at) == len(y) else inputs.rows_at(rows, at)
    folds, times = min(FOLDS, len(at)), repeats(found, len(at)) if kind.complexity < 2 and len(at) > FOLDS else 1
    assignments = [folds_by_content(some, codes[at], folds, seed) for seed in range(times)]
    try:
        return validate_candidate(kind, some, y[at], assignments), folds_of(folds, len(at), len(y), times)
    except DecibanError:
        return None, ""
