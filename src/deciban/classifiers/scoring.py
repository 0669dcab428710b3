"""Posteriors, odds, evidence and samples: everything a fitted classifier says about rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from deciban import decision, ingest, ops
from deciban.classifiers.linear import LogisticView
from deciban.classifiers.origin import Origin, same_library
from deciban.decision import check_priors
from deciban.engines import threads
from deciban.errors import DataError
from deciban.table import Block, Codes, Reals, borders

SPAN = 1 << 18  # cells a span of scored rows has, at least


class Scoring:
    """Mixin: needs `_check_is_fitted() -> Fitted`, `classes_`, `_reads`."""

    classes_: np.ndarray
    _reads: str
    _keeps_kind = False  # whether float32 (or another library's arrays) in means the same out
    _origin: Origin
    _check_is_fitted: Callable[[], Any]

    # what users call

    def predict_joint_log_proba(self, X, *, priors=None) -> np.ndarray:
        """log P(x, class), (n, k)."""
        return self._score(X, priors)

    @same_library
    def predict_log_proba(self, X, *, priors=None) -> np.ndarray:
        """log P(class | x), (n, k)."""
        out = self._score(X, priors, partial(ops.posterior, logs=True), plain=True)
        return self._origin_of(X).send_logs(out)

    @same_library
    def predict_proba(self, X, *, priors=None) -> np.ndarray:
        """P(class | x), (n, k); `priors` replaces the learned class priors for this call."""
        return self._score(X, priors, partial(ops.posterior, logs=False))

    @same_library
    def predict(self, X, *, priors=None) -> np.ndarray:
        """The most probable class of each row."""
        best = self._score(X, priors, lambda scores, prior, out: (scores + prior).argmax(axis=1), plain=True)
        return self._origin_of(X).send_labels(self.classes_[best])

    def log_odds(self, X, *, against=None, priors=None) -> np.ndarray:
        """log of P(class | x) over P(all others | x), or over P(against | x), (n, k)."""
        joint = self._score(X, priors, joined, plain=True)
        odds = decision.log_odds(joint, None if against is None else self._place_of(against))
        return self._origin_of(X).send(odds)

    def decibans(self, X, *, against=None, priors=None) -> np.ndarray:
        """`log_odds` in decibans: 10 = odds of 10 : 1, 20 = 100 : 1."""
        return self.log_odds(X, against=against, priors=priors) * decision.DECIBAN

    def score_samples(self, X, *, priors=None) -> np.ndarray:
        """log p(x), (n,)."""
        joint = self._score(X, priors, density=True, plain=True)
        return self._origin_of(X).send(decision.log_evidence(joint))

    def sample(self, n_samples: int = 1, random_state=None) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows and their labels from the fitted model: (X, y)."""
        fitted = self._check_is_fitted()
        rng = np.random.default_rng(check_random_state(random_state).randint(0, 2**31, size=4))
        prior = np.exp(fitted.log_prior - np.logaddexp.reduce(fitted.log_prior))
        y = rng.choice(len(prior), size=n_samples, p=prior / prior.sum())
        return fitted.family.sample(fitted.params, y, rng), self.classes_[y]

    def as_logistic(self) -> LogisticView:
        """The same posterior as a logistic (softmax) function of x: its `coef_` and `intercept_`."""
        fitted = self._check_is_fitted()
        if not hasattr(fitted.family, "linear"):
            raise DataError(
                f"the posterior of this {type(self).__name__} is not linear in x\n\n"
                "hint: LinearDiscriminantAnalysis, MultinomialNB, PoissonNB and BernoulliNB are"
            )
        coef, bias = fitted.family.linear(fitted.params)
        if fitted.weights is not None:
            coef, bias = fitted.said.linear(fitted.weights.table)
            bias = bias + fitted.weights.bias
        if fitted.calibration is not None:
            coef, bias = fitted.calibration.linear(coef, bias)
        above = getattr(fitted.family, "above", None)
        return LogisticView.of(self.classes_, coef, bias + self._prior(fitted, None), above)

    # inside

    def _prior(self, fitted: Any, priors, density: bool = False) -> np.ndarray:
        """log prior (k,) to add to the log likelihoods."""
        if priors is None:
            takes = getattr(fitted.family, "takes_prior", True) or fitted.weights is not None
            if takes or density or len(self.classes_) == 1:
                return fitted.log_prior
            return np.zeros(len(self.classes_))
        with np.errstate(divide="ignore"):
            return np.log(check_priors(priors, self.classes_))

    def _score(
        self,
        X,
        priors=None,
        finish: Callable | None = None,
        density: bool = False,
        plain: bool = False,
    ) -> np.ndarray:
        """Log joints of all rows, span by span. What becomes a posterior is settled and handed to `finish` while in
        cache, as finish(scores, prior=…, out=a place that it may use)."""
        fitted = self._check_is_fitted()
        x = self._features(X)
        prior = self._prior(fitted, priors, density)
        family, params = fitted.family, fitted.params
        loglik = family.log_density if density and hasattr(family, "log_density") else family.loglik
        weights = None if density else fitted.weights
        spans = borders(x.n, max(x.cells, x.n * getattr(family, "width", len)(prior)), max(SPAN, len(prior) * x.d // 4))
        whole = np.empty((x.n, len(prior)) if len(spans) > 1 else (0, 0))

        def run(span: tuple[int, int]) -> np.ndarray:
            chunk = x.rows(*span)
            self._check_scored(chunk, x)
            with np.errstate(all="ignore"):
                if weights is None:
                    scores = loglik(params, chunk)
                else:
                    scores = fitted.said.scores(chunk, weights.table) + weights.bias
                if fitted.calibration is not None and not density:
                    fitted.calibration.apply(scores)
            fine = ops.whole(scores)
            if (not fine or weights is not None) and ingest.infinite(chunk):
                ingest.refuse(x, self.__dict__.get("feature_names_in_"))
            if finish is None:
                return added(scores, prior, family.carrier(params, chunk) if hasattr(family, "carrier") else None)
            place = whole[slice(*span)] if len(spans) > 1 else scores
            if fine:
                return finish(scores, prior=prior, out=place)
            return finish(decision.settled(scores + prior, prior), prior=np.zeros(len(prior)), out=place)

        out = run(spans[0]) if len(spans) == 1 else _join(whole, threads.each(spans, run), spans)
        return out if plain else self._origin_of(X).send(out)

    def _features(self, X) -> Block:
        """X as a block, for scoring, unless it is one."""
        return X if isinstance(X, Reals | Codes) else ingest.features(self, X, self._reads)

    def _check_scored(self, chunk: Block, x: Block) -> None:
        """Refuse cells of a chunk of x that cannot be scored."""

    def _origin_of(self, X: Any) -> Origin:
        """What kind of array answers to X should be."""
        return Origin.of(X) if self._keeps_kind else Origin.plain

    def _view(self, a: np.ndarray) -> np.ndarray:
        """A fitted attribute as the kind of array that X was in training."""
        return self._origin.send(a) if self._keeps_kind else a

    def _place_of(self, label: Any) -> int:
        at = np.flatnonzero(self.classes_ == label)
        if len(at) == 0:
            raise DataError(f"class {label!r} is not among {list(self.classes_)}")
        return int(at[0])


def joined(scores: np.ndarray, prior: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Log joints, up to a term that all classes share."""
    return np.add(scores, prior, out=out)


def added(scores: np.ndarray, prior: np.ndarray, common: np.ndarray | None) -> np.ndarray:
    """scores + prior + common (n,), −∞ where they are past all numbers with opposite signs: no density is there."""
    out = scores + prior
    if common is not None:
        with np.errstate(all="ignore"):
            out += common[:, None]
        if not ops.whole(out):
            out[np.isnan(out)] = -np.inf
    return out


def _join(whole: np.ndarray, parts: Any, spans: list[tuple[int, int]]) -> np.ndarray:
    """The parts as one array: `whole`, where they are not in it already, or one of their own shape."""
    out = whole
    for (start, stop), part in zip(spans, parts, strict=True):
        if start == 0 and (part.ndim, part.dtype) != (whole.ndim, whole.dtype):
            out = np.empty((len(whole), *part.shape[1:]), dtype=part.dtype)
        if part.base is not whole:
            out[start:stop] = part
    return out
