"""Inference for logistic regression: errors and tests, separation, the Laplace posterior.

`fit` leaves what it learned from by `_learn_inference`; the first question makes one more pass over those rows.

>>> from deciban import LogisticRegression
>>> model = LogisticRegression(C=1.0).fit([[0.0], [1.0], [1.0], [2.0]], ["no", "yes", "no", "yes"])
>>> model.summary().odds_ratio.round(2).tolist()
[[0.51, 1.96]]
>>> model.predict_proba([[1.0], [9.0]]).round(2).tolist()
[[0.5, 0.5], [0.0, 1.0]]
>>> model.predict_proba([[1.0], [9.0]], posterior="laplace").round(2).tolist()
[[0.5, 0.5], [0.22, 0.78]]
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import count
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from deciban import ingest, ops
from deciban.classifiers import logistic_settings as settings
from deciban.errors import DataError
from deciban.frames import shown_names
from deciban.inference import profiles
from deciban.inference.firth import firth
from deciban.inference.laplace import Posterior, as_coef
from deciban.inference.likelihood import Prior, contrasts
from deciban.inference.observed import Observed
from deciban.inference.separation import WIDE, Separation, SeparationWarning, certified, large_margins, separation
from deciban.inference.summary import Summary
from deciban.progress import Tell
from deciban.solvers.base import Solution
from deciban.table import Counts, Table

FAR = 1e-3  # nats that another step may promise where coefficients count as the optimum
FIRTH = 1000  # steps of Fisher scoring; few are needed
SMALL = 1 << 24  # multiplications that a proof against separation may cost after every fit without penalty


class Inferring:
    """Mixin: needs `coef_`, `intercept_`, `classes_` and scikit-learn's settings of LogisticRegression."""

    classes_: np.ndarray
    coef_: Any
    intercept_: Any
    n_features_in_: int
    fit_intercept: bool
    penalty: Any
    C: Any
    l1_ratio: Any
    class_weight: Any
    solver: str
    intercept_scaling: float
    _observed: Observed
    _check_is_fitted: Callable[[], Any]
    _parameters: Callable[[], tuple[np.ndarray, np.ndarray]]
    _prior: Callable[..., np.ndarray]
    _weights: Callable[..., np.ndarray | None]
    _objective: Callable[..., Any]
    _settled: Callable[..., Any]
    _plain: Callable[[], Any]

    # what users call

    def summary(
        self,
        X=None,
        y=None,
        sample_weight=None,
        *,
        level: float = 0.95,
        robust: bool = False,
        reference=None,
        intervals: str = "wald",
    ) -> Summary:
        """Coefficients with errors, z, p, intervals and odds ratios, and measures of fit; prints as a table.

        Of the training rows, unless others (or those again, where they were too large to keep) are passed. `robust`:
        sandwich errors (HC0). With more than two classes, each is told against `reference`, by default the first.
        intervals="profile" (without penalty, and for Firth's): by likelihood ratio instead of errors.
        """
        if robust not in (True, False):
            raise DataError(f"robust is {robust!r}\n\nhint: True (sandwich errors, HC0) or False")
        observed = self._asked(X, y, sample_weight)
        found, kind = observed.curvature, self._penalised()
        notes, ends = [*self._of_penalty(kind), *self._of_fit(observed, kind)], None
        if intervals != "wald":
            ends = profiles.intervals(observed.design(), found.theta, self.classes_, intervals, kind, level, reference)
            notes.append(profiles.NOTE)
        used = float(np.count_nonzero(found.theta)) if kind == "l1" else None
        return Summary.of(
            found,
            self.classes_,
            self._column_names(),
            prior=self._gaussian(),
            level=level,
            robust=robust,
            reference=reference,
            errors=kind != "l1",
            parameters=used,
            notes=notes,
            ends=ends,
        )

    def separation(self, X=None, y=None, sample_weight=None) -> Separation:
        """Whether the classes are separated, by which columns; then there is no finite estimate without penalty.

        Of the training rows, or of these, for which no fit is needed.

        >>> from deciban import LogisticRegression
        >>> x = [[1, 0, 0], [1, 0, 1], [0, 1, 0], [1, 1, 1], [1, 1, 0]]
        >>> found = LogisticRegression().fit(x, [0, 0, 0, 1, 1]).separation()
        >>> found.kind, found.columns
        ('complete', ('x0', 'x1'))
        """
        if X is not None and "coef_" not in self.__dict__:
            model = self._plain()
            rows = model._objective(X, y, sample_weight, self._settled(settings.read(self))).rows
            return model._separation(rows.x, rows.y, rows.w)
        rows, codes, w = self._asked(X, y, sample_weight).rows()
        return self._separation(rows, codes, w)

    @property
    def evidence_(self) -> float:
        """log p(y | X), coefficients averaged out (Laplace): choose C, or columns, by the largest. L2 penalty only."""
        self._check_is_fitted()
        if self._penalised() != "l2":
            raise AttributeError(
                "evidence needs a prior that is a density, and only an L2 penalty is one: Gaussian, of variance C\n\n"
                "hint: fit with a finite C, l1_ratio=0"
            )
        try:
            return self._laplace().evidence
        except DataError as unknown:  # rows that are not here any more: `hasattr` and `dir` ask, too
            raise AttributeError(str(unknown)) from None

    def sample_coef(self, n_samples: int = 1, random_state=None) -> tuple[np.ndarray, np.ndarray]:
        """Draw from the Laplace posterior: coef (n, 1 or k, d) and intercept (n, 1 or k), as `coef_`, `intercept_`."""
        posterior = self._laplace()
        rng = np.random.default_rng(check_random_state(random_state).randint(0, 2**31, size=4))
        coef, bias = self._parameters()
        whole = np.column_stack([bias, coef]) if self.fit_intercept else coef
        return as_coef(posterior.sample(n_samples, rng), self.fit_intercept, whole.mean(axis=0))

    # what `fit` calls

    def _jeffreys(self, rows: Table, tell: Tell) -> Solution:
        """Firth's estimate of these rows, parameters as an objective has them: intercepts last."""
        x, names = rows.x, self._column_names()
        cells = x.stored if isinstance(x, Counts) else x.values  # type: ignore[union-attr]
        if not ops.whole(cells):  # `fit` says which cell
            return Solution(np.zeros(0), "stuck", 0, np.nan, np.zeros(0))
        step = count(1)

        def watch(theta: np.ndarray, promise: float) -> bool:
            tell(next(step), slope=promise)
            return False

        settings: dict[str, Any] = {"fit_intercept": self.fit_intercept, "k": rows.k, "columns": names}
        fit = firth(x, rows.y, rows.w, max_iter=FIRTH, watch=watch, **settings)
        w = np.column_stack([fit.coef_, fit.intercept_]) if self.fit_intercept else fit.coef_
        why = "gradient" if fit.why == "converged" else fit.why
        return Solution(w.ravel(), why, fit.steps, -fit.penalised, np.zeros(w.size))

    def _learn_inference(self, X, y: np.ndarray, w: np.ndarray | None) -> None:
        """Remember rows, codes and weights (class weights in them), and where the fit ended; nothing is computed."""
        theta = contrasts(*self._parameters(), self.fit_intercept)
        self._observed = Observed(X, y, w, theta, len(self.classes_), self.fit_intercept)

    def _warn_separated(self) -> bool:
        """After a fit without penalty: say so where the classes are separated."""
        if self._penalised() != "none":
            return False
        observed = self._observed
        x, y, _ = observed.rows()
        if x.n * observed.theta.size**2 > SMALL and not large_margins(x, y, *self._parameters()):
            return False
        found = self._looked(observed)
        if found:
            warnings.warn(str(found), SeparationWarning, stacklevel=3)
        return bool(found)

    # inside

    def _averaged(self, X, priors, posterior: str) -> np.ndarray:
        """P(class | x), (n, k), coefficients averaged out."""
        if posterior != "laplace":
            raise DataError(f"`posterior` is {posterior!r}\n\nhint: 'laplace', or None for the coefficients as fitted")
        chances = self._laplace().chances(ingest.features(self, X, "reals"))
        if priors is None:
            return chances
        with np.errstate(divide="ignore"):
            moved = np.log(chances) + (self._prior(None, priors) - self._prior(None, None))
        return ops.posterior(np.ascontiguousarray(moved), logs=False)

    def _laplace(self) -> Posterior:
        self._check_is_fitted()
        if self._penalised() == "l1":
            raise DataError(
                "an L1 penalty has a corner at 0, where no Gaussian fits: there is no Laplace posterior\n\n"
                "hint: fit with l1_ratio=0 on the columns that L1 chose"
            )
        return Posterior.of(self._current().curvature, self._gaussian())

    def _penalised(self) -> str:
        """Which penalty the settings mean: none, l2, l1 (alone or in an elastic net) or jeffreys."""
        if self.penalty == "jeffreys":
            return "jeffreys"
        if self.penalty is None or self._strength() == np.inf:
            return "none"
        ratio = {"l2": 0.0, "l1": 1.0}.get(self.penalty, self.l1_ratio or 0.0)
        return "l1" if ratio > 0 else "l2"

    def _strength(self) -> float:
        C = getattr(self, "C_", self.C)
        return float(C) if isinstance(C, Real) else np.inf  # yet to be chosen

    def _gaussian(self) -> Prior:
        if self._penalised() != "l2":
            return Prior()
        C = self._strength()
        return Prior(C, 1.0 / (C * self.intercept_scaling**2) if self.solver == "liblinear" else 0.0)

    def _asked(self, X, y, sample_weight) -> Observed:
        self._check_is_fitted()
        observed = self._current()
        if X is None:
            return observed
        if y is None:
            raise DataError("X without y\n\nhint: pass both, summary(X, y), or neither")
        x = ingest.features(self, X, "reals")
        _, codes = ingest.labels(np.asarray(ingest.local(y)), self.classes_)
        if len(codes) != x.n:
            raise DataError(f"X has {x.n} rows and y {len(codes)}\n\nhint: pass the label of every row")
        w = self._weights(ingest.weights(sample_weight, codes), codes)
        seen = Observed(x, codes, w, observed.theta, observed.k, observed.intercept)
        if not observed.alive and "curvature" not in observed.__dict__:
            self._observed = seen
        return seen

    def _current(self) -> Observed:
        """What is known about the coefficients as they are now: rows learned in pieces, or before, do not count."""
        theta = contrasts(*self._parameters(), self.fit_intercept)
        if "_observed" not in self.__dict__ or not np.array_equal(self._observed.theta, theta):
            self._observed = Observed(None, None, None, theta, len(self.classes_), self.fit_intercept)
        return self._observed

    def _looked(self, observed: Observed) -> Separation:
        """What separates the rows of a fit without penalty, looked for once; mostly the fit itself proves: nothing."""
        if observed.separated is None:
            sure = observed.theta.size <= WIDE and certified(observed.design(), observed.theta)
            observed.separated = Separation("none") if sure else self._separation(*observed.rows())
        return observed.separated

    def _separation(self, x, y, w) -> Separation:
        names = self._column_names()
        theta = self._current().theta if "coef_" in self.__dict__ and self._penalised() == "none" else None
        return separation(x, y, w, fit_intercept=self.fit_intercept, columns=names, classes=self.classes_, theta=theta)

    def _of_penalty(self, kind: str) -> list[str]:
        if kind == "none":
            return []
        if kind == "jeffreys":
            return [
                "Firth's estimate (Jeffreys' prior): errors by the information at it, log-likelihood without the prior"
            ]
        if kind == "l1":
            return [
                "an L1 penalty has no standard errors: chosen coefficients are shrunk, those left out are exactly 0"
            ]
        return [
            f"errors are those of the penalised estimate: the posterior's spread under a Gaussian prior of variance "
            f"C = {self._strength():g} (Laplace), without the bias to 0; parameters are counted as effective ones"
        ]

    def _of_fit(self, observed: Observed, kind: str) -> list[str]:
        notes = []
        if self.class_weight is not None:
            notes.append("class weights count like repeated rows")
        known = kind == "none" and (observed.alive or observed.separated is not None)
        if known and (found := self._looked(observed)):
            notes.append(str(found).replace("\n\nhint: ", "; "))
        if kind in ("none", "l2") and (gain := observed.curvature.distance(self._gaussian())) > FAR and not notes:
            notes.append(
                f"the coefficients are not at the optimum of these rows: a step would gain {gain:.3g} nats; "
                "fit with a smaller tol"
            )
        return notes

    def _candidates(self) -> list[np.ndarray] | None:
        """What columns range over, where that is known: a nomogram asks."""
        observed = self._current()
        return observed.ranges.candidates() if observed.ranged else None

    def _column_names(self) -> list[str]:
        return shown_names(self)
