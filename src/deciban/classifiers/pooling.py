"""What several fitted models, each with a weight, say together of rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from deciban import decision, frames, hypotheses
from deciban.classifiers import members
from deciban.classifiers.deciding import Deciding
from deciban.classifiers.explaining import context
from deciban.classifiers.origin import Origin
from deciban.classifiers.steady import unfitted
from deciban.errors import DataError
from deciban.explanation import Explanation

TOGETHER = "(models together)"
NOTE = f"columns: the mean over the models; {TOGETHER}: what averaging probabilities, not evidence, adds"


def all_have(method: str) -> Callable[[Any], bool]:
    """For `available_if`: whether every model has it."""
    return lambda self: all(hasattr(model, method) for model in self._current())


class Pooling(Deciding):
    """Mixin: needs `models_`, `weights_` (m,), `classes_`, `class_count_` (None: not learned here)."""

    models_: list
    weights_: np.ndarray
    names_: list[str]
    class_count_: np.ndarray | None
    priors: Any
    _current: Callable[[], list]

    # what users call

    def predict_proba(self, X, *, priors=None) -> np.ndarray:
        """P(class | x), (n, k); `priors` replaces the learned class priors for this call."""
        return np.exp(self._log_posterior(X, priors))

    def predict_log_proba(self, X, *, priors=None) -> np.ndarray:
        """log P(class | x), (n, k)."""
        return self._log_posterior(X, priors)

    def predict(self, X, *, priors=None) -> np.ndarray:
        """The most probable class of each row."""
        best = self._log_posterior(X, priors).argmax(axis=1)
        return self.classes_[best]

    def log_odds(self, X, *, against=None, priors=None) -> np.ndarray:
        """log of P(class | x) over P(all others | x), or over P(against | x), (n, k)."""
        logs = self._log_posterior(X, priors)
        return decision.log_odds(logs, None if against is None else self._place_of(against))

    def decibans(self, X, *, against=None, priors=None) -> np.ndarray:
        """`log_odds` in decibans: 10 = odds of 10 : 1, 20 = 100 : 1."""
        return self.log_odds(X, against=against, priors=priors) * decision.DECIBAN

    @available_if(all_have("leave_one_out"))
    def leave_one_out(self, X, y, sample_weight=None, *, priors=None) -> np.ndarray:
        """log P(class | x) of each row, (n, k), by the models without that row; their weights stay."""
        self._check_is_fitted()
        more = {} if sample_weight is None else {"sample_weight": sample_weight}
        priors = self._or_given(priors)
        if priors is not None:
            more["priors"] = decision.check_priors(priors, self.classes_)
        return self._pooled(np.stack([model.leave_one_out(X, y, **more) for model in self.models_]))

    @available_if(all_have("sample"))
    def sample(self, n_samples: int = 1, random_state=None) -> tuple[Any, np.ndarray]:
        """Draw rows and their labels, (X, y), each from a model drawn by its weight; in the order of the models."""
        self._check_is_fitted()
        source = check_random_state(random_state)
        counts = source.multinomial(n_samples, self.weights_ / self.weights_.sum())
        drawn = [m.sample(int(n), random_state=source) for m, n in zip(self.models_, counts, strict=True) if n]
        return reduce(_stacked, [x for x, _ in drawn]), np.concatenate([y for _, y in drawn])

    @available_if(all_have("_evidence"))
    def explain(self, X, *, of=None, against=None, priors=None) -> Explanation:
        """Evidence by column in decibans: the mean over the models, by their weights, and one more part for what
        averaging probabilities instead of evidence adds. prior + columns + that part = log odds."""
        self._check_is_fitted()
        priors = self._or_given(priors)
        if priors is not None:
            priors = decision.check_priors(priors, self.classes_)
        asked = [
            (weight, model, rows)
            for weight, model, (rows, there) in zip(
                self.weights_, self.models_, members.suited(self.models_, frames.records(X)), strict=True
            )
            if there is None
        ]
        told = [model._evidence(rows, priors) for _, model, rows in asked]
        weights = np.array([weight for weight, *_ in asked])
        weights = weights / weights.sum() if weights.any() else np.full(len(weights), 1 / len(weights))
        if len({tuple(columns) for _, _, columns, _ in told}) > 1:
            raise DataError(
                "the models tell evidence of different columns (where columns interact, of all together)\n\n"
                "hint: explain one of `models_`"
            )
        base = np.tensordot(weights, np.stack([base for base, *_ in told]), 1)
        parts = np.tensordot(weights, np.stack([parts for _, parts, *_ in told]), 1)
        logs = self._log_posterior(X, priors)
        with np.errstate(invalid="ignore"):
            rest = np.nan_to_num(logs - (base + parts.sum(axis=2)))
        rest -= rest.mean(axis=1, keepdims=True)  # what all classes share says nothing
        cells = np.asarray(told[0][3], dtype=object)
        values = np.hstack([cells, np.full((len(cells), 1), "", dtype=object)])
        parts = np.concatenate([parts, rest[:, :, None]], axis=2)
        columns = [*told[0][2], TOGETHER]
        more = context(self, X)
        return Explanation.of_parts(self.classes_, columns, values, base, parts, of, against, NOTE, **more)

    # inside

    def _pooled(self, log_proba: np.ndarray) -> np.ndarray:
        """log P(class | x) (n, k) from what every model says, (m, n, k)."""
        raise NotImplementedError

    def _log_posterior(self, X, priors) -> np.ndarray:
        self._check_is_fitted()
        given = self._or_given(priors)
        return self._pooled(members.said_where_suited(self.models_, X, self.classes_, given, self.class_count_))

    def _or_given(self, priors: Any) -> Any:
        """The class priors of a call, or else those of the setting."""
        return self.priors if priors is None else priors

    def _prior(self, fitted: Any, priors: Any) -> np.ndarray:
        if self.class_count_ is None:
            raise DataError("hypotheses that were not learned here have no class priors\n\nhint: fit models on rows")
        priors = self._or_given(priors)
        if priors is None:
            return decision.log_prior(np.asarray(self.class_count_, dtype=np.float64))
        with np.errstate(divide="ignore"):
            return np.log(decision.check_priors(priors, self.classes_))

    def _place_of(self, label: Any) -> int:
        at = np.flatnonzero(self.classes_ == label)
        if len(at) == 0:
            raise DataError(f"class {label!r} is not among {list(self.classes_)}\n\nhint: name a class of the model")
        return int(at[0])

    def _origin_of(self, X: Any) -> Origin:
        return Origin.plain

    def _check_is_fitted(self) -> Any:
        if not self.__sklearn_is_fitted__():
            raise unfitted(self)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return "models_" in self.__dict__


def _stacked(a: Any, b: Any) -> Any:
    """Drawn rows under each other, frames or arrays."""
    if isinstance(a, np.ndarray):
        return np.concatenate([a, b])
    import narwhals as nw

    return nw.concat([nw.from_native(a), nw.from_native(b)], how="vertical").to_native()


def draw(weights: np.ndarray, n: int, per: str, random_state: Any) -> np.ndarray:
    """Which model answers each of n rows: one drawn for each, or one for all. (n,)

    >>> draw(np.array([0.5, 0.5]), 4, "row", 1).tolist(), len(set(draw(np.ones(9), 4, "prediction", 0).tolist()))
    ([1, 1, 0, 1], 1)
    """
    rng = np.random.default_rng(check_random_state(random_state).randint(0, 2**31, size=4))
    return hypotheses.draws(weights, n, rng) if per == "row" else np.repeat(hypotheses.draws(weights, 1, rng), n)
