"""Logistic regression: P(class | x) = softmax(coef · x + intercept); for two classes a logistic function of one score.

    coef = argmin  C Σ_i w_i loss_i  +  ½ (1 − l1_ratio) |coef|²  +  l1_ratio |coef|₁      no penalty on the intercept

Constructor, attributes and results are those of scikit-learn. In addition: `solver="auto"` (the default) is chosen by
the shape of the data; C and the penalty can be chosen by held-out rows (`logistic.path`); priors can be changed at
prediction; `explain` gives evidence in decibans; `summary`, `separation` and the Laplace posterior are its statistical
inference.

`fit` and `fit_on` end in `_learn(rows)`, for rows in memory and elsewhere. The first pass over the rows makes a
`Problem` (`logistic.problem`): class weights, column means and the objective. A solver then minimises the objective
(`logistic.minimisation`). Rows elsewhere: the first pass also takes a sample, whose minimum is the starting point, and
each step of the solver is one pass.

>>> import pyarrow as pa
>>> from deciban import LogisticRegression
>>> model = LogisticRegression().fit([[0.0], [2.0], [3.0], [5.0]], ["no", "no", "yes", "yes"])
>>> model.predict([[1.0], [4.0]]).tolist(), model.coef_.round(3).tolist()
(['no', 'yes'], [[0.885]])
>>> model.predict_proba([[2.5]], priors=[0.9, 0.1]).round(3).tolist()
[[0.9, 0.1]]
>>> rows = pa.table({"size": [0.0, 2.0, 3.0, 5.0], "label": ["no", "no", "yes", "yes"]})
>>> LogisticRegression().fit_on(rows).coef_.round(3).tolist()
[[0.885]]
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from deciban import ops, progress
from deciban.classifiers.base import (
    Generative,
    Hidden,
    Interval,
    InvalidParameterError,
    StrOptions,
    context,
    plain_log_proba,
    unfitted,
)
from deciban.classifiers.discriminative import Discriminative
from deciban.data.blocks import Block, Table
from deciban.data.frames import column_labels
from deciban.display import format_list
from deciban.engines import threads
from deciban.errors import DataError, NotAdditiveError, levels_up
from deciban.estimation.linear import LinearScores
from deciban.estimation.parameters import Parameter, read_parameters, sizes
from deciban.explain.error_bars import ErrorBars, Errors, check_kind, interval_width
from deciban.explain.explanation import Explanation
from deciban.logistic import minimisation, profile_likelihood
from deciban.logistic.firth import minimise_jeffreys
from deciban.logistic.laplace import LaplacePosterior, Leverage, as_coef
from deciban.logistic.likelihood import Prior, reference_coding
from deciban.logistic.objective import Objective, PenalisedLoss, weigh_classes
from deciban.logistic.path import (
    KEPT,
    PATIENCE,
    RISE,
    ROUGH,
    Path,
    StopWhenFlat,
    StopWhenWorse,
    fit_path,
    least,
    null_parameters,
)
from deciban.logistic.problem import Problem, class_factors
from deciban.logistic.separation import WIDE, Separation, SeparationWarning, certified, large_margins, separation
from deciban.logistic.settings import OURS, THEIRS, Settings, convergence_message
from deciban.logistic.summary import Summary
from deciban.logistic.training_rows import TrainingRows
from deciban.models.influences import PosteriorsWithout
from deciban.models.known_parameters import GivenClasses, column_names
from deciban.models.logistic_posterior import LogisticPosterior
from deciban.models.posterior import LinearPosterior
from deciban.rows import inputs
from deciban.rows.coding_pass import read_job
from deciban.rows.digests import row_digests, stirred
from deciban.rows.raw_rows import RawArrays
from deciban.rows.readers import ArrayKind, warn_of_odd_columns
from deciban.rows.rows import ArrayRows, BatchJob, BatchRows, Rows
from deciban.solvers.base import Solution
from deciban.solvers.gradient import OnlineAverage
from deciban.solvers.history import History, Recorder
from deciban.solvers.update_rules import at_point

ONE_STEP = "one Newton step from the coefficients of all rows"
FAR = 1e-3  # predicted gain of another step, in nats, above which coefficients are not at the optimum
SMALL = 1 << 24  # largest number of multiplications of the check for separation after a fit without penalty


class LogisticRegression(Discriminative):
    """Logistic regression of any number of classes, for dense or sparse rows.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet", "jeffreys"} or None
        Kind of the penalty. By default it follows from `C` and `l1_ratio`. "jeffreys" is Firth's penalty, with which
        estimates are finite for separated classes too; None is no penalty (maximum likelihood).
    C : float, "auto" or list of floats
        Inverse strength of the penalty; inf: no penalty. "auto" and a list: the value of the least log loss of held-out
        rows (see `path`); by leave-one-out, of about 2,000 rows, which are sampled by content.
    l1_ratio : float
        Share of the L1 penalty, from 0 (L2) to 1 (L1).
    dual : bool
        As in scikit-learn; the result does not depend on it.
    tol : float
        Tolerance: a solver stops if no component of the mean gradient exceeds it.
    fit_intercept : bool
        Whether the scores have intercepts.
    intercept_scaling : float
        Penalty of the intercept for solver "liblinear": that of a coefficient, divided by its square.
    class_weight : mapping by class, "balanced" or None
        Factors of the weights of the rows of each class; "balanced": all classes have the same weight.
    random_state : int, RandomState instance or None
        As in scikit-learn; the result does not depend on it.
    solver : str
        "auto" is chosen by the shape of the data, and by whether it is in memory. Others: "newton", "newton-cg",
        "lbfgs", "coordinate", "gradient", "sgd" (the average of passes in random order), and the names of scikit-learn,
        which stand for the nearest of these. "online" is the plain rule θ ← θ + α (y − h(x)) x, row by row in their
        order, without averaging; it is meant for small data.
    max_iter : int
        Largest number of steps of the solver; of "sgd" and "online", of passes over the rows.
    verbose : int
        1 shows progress.
    warm_start : bool
        Whether `fit` and `fit_on` start from the coefficients of the last fit.
    n_jobs : None
        Has no effect, as in scikit-learn; see `deciban.threads`.
    learning_rate : float or None
        α of solver "online", and of "gradient" with line_search=False, where a step is α times the gradient of the
        log-likelihood, a sum over rows. None: the other solvers choose their steps; "online" takes 1 / the largest
        `|x|²` of the rows that it is given (1 counted for the intercept).
    line_search : bool
        False: solver "gradient" is θ ← θ + α ∇l, and "newton" θ ← θ − H⁻¹ ∇, as they are, from zeros or `init`. They
        may diverge: then there is a `ConvergenceWarning`, and `history_` shows how.
    init : array of shape (d + 1,) or (k, d + 1), or None
        Where the solver starts: the coefficients and then the intercept of the score of the second of two classes, or
        of each class; (d,) or (k, d) without intercepts. None: zeros, or where `warm_start` says.
    history : bool
        Whether `history_` is kept.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Weight of the training rows of each class, class weights included.
    class_prior_ : ndarray of shape (k,)
        Share of each class in these rows.
    coef_, intercept_ : ndarrays of shape (1 or k, d) and (1 or k,)
        Coefficients of the scores: of the second of two classes, or of each class.
    n_iter_ : ndarray of shape (1,)
        Number of steps of the solver.
    n_parameters_ : int
        Number of free coefficients, with the intercepts.
    C_ : float
        The inverse strength of the penalty that was used.
    path_ : Path
        Held-out log loss of each C that was tried, if C was chosen.
    history_ : History
        With history=True: coefficients, log-likelihood (without penalty), objective (with it), length of the gradient
        and of the step at the start and after each iteration. An iteration of "sgd" and "online" is a pass; each
        `partial_fit` adds one entry, whose log-likelihood is that of its own rows.
    evidence_ : float
        log p(y | X) with coefficients integrated out, by Laplace's approximation.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, if the training rows had names.
    coef_names_ : list of str
        Names of the columns of `coef_`: those of X, or what they are coded as, such as `sex=male` and `age missing`.
    target_name_ : str
        Name of the labels (`y.name`, or the target of `fit_on`), if they had one.

    See Also
    --------
    LinearDiscriminantAnalysis : A generative model with posteriors of the same form.
    TextClassifier : Logistic regression of the words of texts.

    Notes
    -----
    A frame with categories, texts, truth values, dates, durations or missing cells is coded: each level but the most
    frequent one is a column of 0 and 1, a missing number is the mean of its column, and missing cells have an indicator
    where training had some. The penalty is on the coefficients of these columns divided by their standard deviations,
    while `coef_` is in the units of the data. A level that training did not have, and a missing cell of a column that
    had none, take the means of training: no evidence. Frames of complete numbers, and arrays, are used as they are.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    >>> LogisticRegression(C=10.0).fit(x, y).decision_function([[1.5], [3.0]]).round(2).tolist()
    [0.0, 3.98]

    One row by the online rule, h = ½ at the start:

    >>> online = LogisticRegression(C=np.inf, solver="online", learning_rate=0.1, fit_intercept=False)
    >>> online.partial_fit([[1.0]], [1], classes=[0, 1]).coef_.tolist()
    [[0.05]]
    """

    coef_: Any
    intercept_: Any
    class_count_: Any
    n_iter_: Any
    C_: float
    path_: Path
    history_: History
    _observed: TrainingRows
    _stream: OnlineAverage
    _keeps_kind: ClassVar[bool] = True
    _means: Any = None  # (d,), of the training rows; None: they were sparse
    _parameter_constraints: dict = {
        "penalty": [StrOptions({"l1", "l2", "elasticnet", "jeffreys"}), None, Hidden(StrOptions({"deprecated"}))],
        "C": [Interval(Real, 0, None, closed="right"), StrOptions({"auto"}), list, tuple, np.ndarray],
        "l1_ratio": [Interval(Real, 0, 1, closed="both"), None],
        "dual": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "random_state": ["random_state"],
        "solver": [StrOptions({*OURS, *THEIRS})],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "verbose": ["verbose"],
        "warm_start": ["boolean"],
        "n_jobs": [None, Integral],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), None],
        "line_search": ["boolean"],
        "init": ["array-like", None],
        "history": ["boolean"],
    }

    def __init__(
        self,
        penalty="deprecated",
        *,
        C=1.0,
        l1_ratio=0.0,
        dual=False,
        tol=1e-4,
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        random_state=None,
        solver="auto",
        max_iter=100,
        verbose=0,
        warm_start=False,
        n_jobs=None,
        learning_rate=None,
        line_search=True,
        init=None,
        history=False,
    ):
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.learning_rate = learning_rate
        self.line_search = line_search
        self.init = init
        self.history = history

    def _validate_params(self) -> None:
        try:
            super()._validate_params()
        except InvalidParameterError as wrong:
            if not isinstance(self.penalty, str) or "'penalty'" not in str(wrong):
                raise
            names = "'l2', 'l1', 'elasticnet', None (maximum likelihood) or 'jeffreys' (Firth's penalty)"
            raise InvalidParameterError(f"{wrong}\n\nhint: {names}") from None

    # learning

    @classmethod
    def from_generative(cls, model, **arguments) -> Self:
        """A logistic regression with the posterior of a generative model.

        Parameters
        ----------
        model : fitted classifier
            A model whose posterior is linear in x: linear discriminant analysis, or multinomial, Poisson or Bernoulli
            naive Bayes; see its `as_logistic()`.
        **arguments
            Settings of the logistic regression. With warm_start=True, `fit` starts from the coefficients of the model.

        Returns
        -------
        LogisticRegression
            A fitted model.

        Examples
        --------
        >>> from deciban import BernoulliNB, LinearDiscriminantAnalysis
        >>> words = BernoulliNB().fit([[1, 0], [1, 1], [0, 1], [0, 1]], ["ham", "ham", "spam", "spam"])
        >>> LogisticRegression.from_generative(words).coef_.round(3).tolist()
        [[-2.197, 1.099]]
        >>> x, y = [[0.0], [1.0], [2.0], [4.0]], [0, 0, 1, 1]
        >>> model = LogisticRegression.from_generative(LinearDiscriminantAnalysis().fit(x, y), warm_start=True)
        >>> model.coef_.round(2).tolist(), model.fit(x, y).coef_.round(2).tolist()
        ([[4.0]], [[0.92]])
        """
        out = cls(**arguments)
        out.__dict__.update(generative_attributes(model))
        return out

    @classmethod
    def from_parameters(
        cls, coef, intercept=None, *, class_prior=None, classes=None, feature_names=None, **settings
    ) -> Self:
        """The model with these coefficients.

        Parameters
        ----------
        coef : array-like of shape (1, d) or (k, d)
            Coefficients of the score of the second of two classes, or of each class.
        intercept : array-like of shape (1,) or (k,), or None
            Intercepts of the same scores; None: 0.
        class_prior : sequence, mapping by class or None
            Class frequencies that the coefficients belong to, in the order of `classes`, which `priors=` in a
            prediction replaces; None: uniform.
        classes : sequence or None
            The labels, in any order; None: 0, 1, … .
        feature_names : sequence of texts or None
            Names of the columns.
        **settings
            Settings of the constructor.

        Returns
        -------
        LogisticRegression
            A fitted model; its `class_count_` are the class priors.

        Examples
        --------
        >>> model = LogisticRegression.from_parameters(coef=[[4.0]], intercept=[2.0])
        >>> model.predict_proba([[0.0], [-0.5]])[:, 1].round(6).tolist()
        [0.880797, 0.5]
        >>> model.sample([[0.0], [-0.5], [-2.0]], random_state=0).tolist()
        [1, 1, 0]
        """
        out = cls(**settings)
        out._validate_params()
        out.__dict__.update(given_attributes(coef, intercept, class_prior, classes, feature_names))
        return out

    def fit(self, X, y, sample_weight=None) -> Self:
        """Learn from rows X (n, d) with labels y; weights count like repetitions. With warm_start=True the solver
        starts from the coefficients of the last fit, which is discarded otherwise.

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
            The fitted model.
        """
        self._validate_params()
        self._learn(self._read_rows(X, y, sample_weight))
        return self

    def _learn_on(self, job: BatchJob) -> None:
        settings = type(self).__name__, self.get_params(deep=False)
        with read_job(self._unfitted_reader(), job) as (job, reader, notes):
            self._learn(BatchRows(job, reader, settings))
        if notes:
            warn_of_odd_columns(notes)

    def _learn(self, rows: Rows) -> None:
        """Learn from rows in memory or elsewhere, and set the attributes: the end of `fit` and of `fit_on`."""
        settings = Settings.from_model(self)
        rows.raise_if_checkpoint()
        if settings.needs_all_rows and isinstance(rows, BatchRows):
            rows = rows.collected(settings.needs_all_rows)
        with self._unchanged_on_failure():
            with rows.several() as rows:
                problem = self._problem(rows, settings)
                start = self._start(problem.objective) if self.warm_start and self._is_fitted else None
                form = problem.objective.centred if settings.rule is None else np.array
                recorder = Recorder(form) if self.history else None
                with np.errstate(all="ignore"):  # `check_solution` finds overflow
                    answer, C, path = self._minimise(problem, start, settings, recorder)
                if settings.rule is None:
                    problem.check_solution(answer)
                elif not np.isfinite(answer.w).all():
                    raise DataError(convergence_message(self.solver, answer.reason, answer.n_iter))
            self._set_columns(problem.rows)
            self._set_coefficients(problem.objective, answer.w, answer.n_iter, C)
            self.class_count_ = self._origin.send(problem.mass)
            self._set_means(problem.means)
            self._set_or_remove(path_=path, _stream=None, _observed=None)
            self._set_or_remove(history_=self._history(problem.objective, recorder, answer.n_iter))
            if isinstance(problem.objective, Objective):
                table = problem.objective.rows
                self._keep_training_rows(table.x, table.y, table.w)
        if settings.rule is not None and answer.reason == "max_iter" and not settings.rule.converges:
            return
        separated = settings.rule is None and problem.objective.in_memory and self._warn_if_separated()
        if not separated and not answer.converged:
            message = convergence_message(self.solver, answer.reason, answer.n_iter)
            warnings.warn(message, ConvergenceWarning, stacklevel=levels_up())

    def partial_fit(self, X, y, classes=None, sample_weight=None) -> Self:
        """Learn from more rows by the online rule θ ← θ + α (y − h(x)) x, in their order, for any `solver`.

        With solver="online" the coefficients are θ itself, and α is `learning_rate`. With any other, they are the
        average of θ over all rows so far, and α is chosen by the lengths of the rows: they approach those of `fit` with
        the number of rows, but are not equal to them, least so where columns are far from 0 or have different units.
        The first call names all `classes`.

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
        self._validate_params()
        with self._unchanged_on_failure():
            settings = replace(self._with_known_strength(Settings.from_model(self)), l1=0.0, bias_l1=0.0)
            first = not self._is_fitted
            rows = self._read_rows(X, y, sample_weight, partial=True, classes=classes)
            problem = Problem.from_rows(rows, settings, self.class_weight, self.fit_intercept)
            objective = problem.objective
            assert isinstance(objective, Objective)
            start = objective.check_start(self.init) if first else self._start(objective)
            before = np.zeros(1) if first else np.asarray(inputs.to_numpy(self.class_count_), dtype=np.float64)
            if self.solver == "online":
                share = objective.weight / (before.sum() + objective.weight)  # the rows share one penalty
                part = replace(objective, ridge=objective.ridge * share)
                with np.errstate(all="ignore"):
                    stream, w = None, settings.rule.step(part, at_point(part, start)).w
                if not np.isfinite(w).all():
                    raise DataError(convergence_message(self.solver, "diverged", 1))
            else:
                stream = self.__dict__.get("_stream") or OnlineAverage.start(objective.table(start))
                stream = stream.read(objective.rows, objective.ridge / (stream.past[0] + rows.table.n))
                w = stream.mean.ravel()
                if not np.isfinite(w).all():
                    raise inputs.overflow_error(inputs.largest_magnitude(rows.table.x))
            if first:
                self._set_columns(rows)
            self._set_means(problem.means_after(before.sum(), self._mean_row()))
            self.class_count_ = self._origin.send(before + problem.mass)
            self._set_coefficients(objective, w, 1, float(settings.C))
            self._set_or_remove(_stream=stream)
            if self.history:
                self._add_to_history(objective, start, w)
        return self

    def objective(self, X, y, sample_weight=None) -> Objective:
        """The function that `fit` minimises for these rows, with its gradient and Hessian at any parameters.

        Its value is Σ w · log loss, plus the penalty of the settings divided by C; with C=np.inf it is the negative log
        likelihood. Parameters are the coefficients of a score and its intercept, score after score.

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
        Objective
            Its methods take the parameters as one array.

        Examples
        --------
        >>> model = LogisticRegression().fit([[0.0], [1.0], [3.0]], [0, 1, 1])
        >>> f = model.objective([[0.0], [1.0], [3.0]], [0, 1, 1])
        >>> f.hessian(np.append(model.coef_, model.intercept_)).shape
        (2, 2)
        >>> value, gradient = f.slope([0.5, -0.5])
        """
        return self._problem_here(X, y, sample_weight, self._with_known_strength(Settings.from_model(self)))[1]

    def path(self, X, y, Cs: Sequence[float] | None = None, sample_weight=None, *, held_out: Any = None) -> Path:
        """The fits of these rows from a strong penalty to a weak one. The model does not change.

        Parameters
        ----------
        X, y : rows and labels
            Rows, labels and weights, as for `fit`.
        Cs : sequence of floats or None
            The inverse strengths. None: from a penalty that leaves nearly no coefficients, until a weaker one would
            change next to nothing.
        sample_weight : sequence of numbers, or None
            The weight of each row; None: 1 each.
        held_out : "loo", "auto", int, array of shape (n,), splitter or None
            How the log loss of held-out rows is computed: approximate leave-one-out ("loo", L2 only), a number of
            folds, the fold of each row, a splitter of scikit-learn, or that of C="auto". None: it is not computed.

        Returns
        -------
        Path
            The fits, with coefficients and scores by C; it prints as a table, `plots.coefficient_path` draws it.

        Examples
        --------
        >>> from deciban import LogisticRegression
        >>> path = LogisticRegression(l1_ratio=1.0).path([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 1.0]], [0, 1, 0, 1])
        >>> path.coef.shape == (len(path.Cs), 1, 2), path.coef[0].any()
        (True, np.False_)
        """
        self._validate_params()
        settings = Settings.from_model(self, C=1.0)
        if settings.rule is not None:
            raise DataError(
                f"solver={self.solver!r} follows a rule, and each fit of a path is a minimum\n\n"
                "hint: LogisticRegression(solver='auto').path(X, y)"
            )
        if np.isinf(settings.C):
            raise DataError(
                f"penalty={self.penalty!r} has no strength to vary\n\nhint: l1_ratio=0 (L2), 1 (L1) or between have"
            )
        rows, objective = self._problem_here(X, y, sample_weight, settings)
        null_loss = objective.slope(null_parameters(objective))[0] / objective.weight
        stop = StopWhenFlat(null_loss, PATIENCE) if Cs is None else None
        fits, how = fit_path(objective, settings, Cs, held_out, rows.table.w, X, **self._limits(), stop=stop)
        if not all(fit.answer.converged for fit in fits):
            warnings.warn(
                "some fits of the path did not converge\n\nhint: increase max_iter",
                ConvergenceWarning,
                stacklevel=levels_up(),
            )
        return Path.from_fits(objective, fits, how, rows.classes, rows.reader.columns)

    # predictions

    def decision_function(self, X) -> np.ndarray:
        """log odds of the second class (n,), or a score for each class (n, k).

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.

        Returns
        -------
        ndarray of shape (n, k), or (n,) for two classes
            The scores.
        """
        return self._posterior().decision(X)

    def densify(self) -> Self:
        """Store `coef_` as a dense array, as after a fit.

        Returns
        -------
        self
            The same model.
        """
        self._check_fitted()
        if sparse.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self

    def sparsify(self) -> Self:
        """Store `coef_` as a sparse array, which is smaller if most coefficients are 0.

        Returns
        -------
        self
            The same model.
        """
        self._check_fitted()
        self.coef_ = sparse.csr_array(self.coef_)
        return self

    def predict_proba(self, X, *, priors=None, posterior=None) -> np.ndarray:
        """P(class | x), (n, k).

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        priors : sequence, mapping by class, "uniform" or None
            Class priors instead of the class frequencies of the training rows.
        posterior : "laplace" or None
            "laplace": the mean over the Laplace posterior of the coefficients, which is less certain far from the
            training rows. None: the probabilities of the fitted coefficients.

        Returns
        -------
        ndarray of shape (n, k)
            The probabilities, in the order of `classes_`.

        Examples
        --------
        >>> from deciban import LogisticRegression
        >>> model = LogisticRegression(C=1.0).fit([[0.0], [1.0], [1.0], [2.0]], ["no", "yes", "no", "yes"])
        >>> model.predict_proba([[1.0], [9.0]]).round(2).tolist()
        [[0.5, 0.5], [0.0, 1.0]]
        >>> model.predict_proba([[1.0], [9.0]], posterior="laplace").round(2).tolist()
        [[0.5, 0.5], [0.22, 0.78]]
        """
        own = self._posterior(priors)
        if posterior is None:
            return own.proba(X)
        return own.output(X).send(self._laplace_proba(own, X, posterior))

    def log_likelihood(self, X, y=None, sample_weight=None, gradient: bool = False) -> Any:
        value = super().log_likelihood(X, y, sample_weight)
        if not gradient:
            return value
        posterior = self._posterior()
        rest = -np.exp(plain_log_proba(posterior, X))
        codes, w = self._labels_of(y, sample_weight, len(rest))
        rest[np.arange(len(codes)), codes] += 1.0
        by_coef, by_intercept = posterior.slope(X, rest if w is None else rest * w[:, None])
        return value, {"coef": by_coef, **({"intercept": by_intercept} if self.fit_intercept else {})}

    def sample(self, X, random_state=None) -> np.ndarray:
        """Draw a label for each row of X from P(class | x), (n,).

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.
        random_state : int, generator or None
            The seed of the random numbers.

        Returns
        -------
        ndarray of shape (n,)
            The labels.
        """
        rng = np.random.default_rng(check_random_state(random_state).randint(0, 2**31, size=4))
        below = np.cumsum(np.exp(plain_log_proba(self._posterior(), X)), axis=1)
        drawn = (rng.random((len(below), 1)) * below[:, -1:] >= below).sum(axis=1)
        return self.classes_[np.minimum(drawn, len(self.classes_) - 1)]

    @property
    def n_parameters_(self) -> int:
        """Number of free coefficients, with the intercepts."""
        self._check_fitted()
        return n_coefficients(self)

    def explain(
        self, X, *, of=None, against=None, priors=None, form="decibans", error=None, level=0.9, training=None,
        baseline=None,
    ) -> Any:  # fmt: skip
        """Evidence for a class against another, by column and in decibans: first line + columns = log odds.

        The evidence of a column is its coefficient times the distance of its cell from the baseline; the first line is
        the log odds of the baseline.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        of : label, or one for each row
            The class that evidence is for; by default the most probable one of each row.
        against : label, or one for each row
            The class that it is compared with; by default the most probable one except `of`.
        priors : sequence, mapping by class, "uniform" or None
            Class priors instead of the class frequencies of the training rows.
        form : "decibans"
            Logistic regression has no p(x | class), so that there is no other form.
        error : None, "auto", "model"
            Standard errors and intervals of the evidence, by the Laplace posterior of the coefficients (those of the
            training rows; a model that was updated by `partial_fit` has none).
        level : float
            Probability that an interval contains the evidence.
        training : None
            Not used: see `summary` for standard errors of coefficients from other rows.
        baseline : array of shape (d,), 0 or None
            The row from which evidence is counted. None: the mean of the training rows (the first line is "mean row"),
            or 0 if they were sparse, so that an absent word is no evidence. 0: the first line is the intercept. A row:
            the first line is "baseline".

        Returns
        -------
        Explanation
            The evidence of each row.

        Examples
        --------
        >>> from deciban import LogisticRegression
        >>> model = LogisticRegression().fit([[36.5], [37.0], [37.5], [38.5]], ["well", "well", "ill", "ill"])
        >>> print(model.explain([[38.0]]))
        row 0: ill against well
          column    value  decibans
          mean row             +0.0            │
          x0           38      +2.2            │██████████
          total                +2.3  odds 1.7 : 1, P(ill) = 0.628
        >>> model.explain([[38.0]], baseline=0).to_frame().column.tolist()
        ['intercept', 'x0']
        """
        if form != "decibans":
            return self._working(form, X, of, against, priors)
        posterior = self._posterior(priors)
        if error is None or error is False:
            found, bars = posterior.evidence(X, baseline), None
        else:
            interval_width(level)
            errors, x = self._errors(X, posterior, check_kind(error), training, priors is not None, baseline)
            found = posterior.evidence(X, baseline, x)
            bars = ErrorBars(errors, level, np.arange(len(found.parts)))
        return Explanation.of_parts(
            self.classes_,
            found.columns,
            found.cells,
            found.base,
            found.parts,
            of,
            against,
            start=found.start,
            **context(self, X),
            bars=bars,
        )

    def _errors(
        self, X: Any, posterior: Any, kind: str, training: Any, given_priors: bool, baseline: Any = None
    ) -> tuple[Errors, Block]:
        if kind == "robust" or training is not None:
            raise DataError(
                "the standard errors of logistic regression are those of the Laplace posterior\n\n"
                "hint: error='auto' without `training`; `summary(robust=True)` has robust errors of coefficients"
            )
        x = posterior.block(X)
        return posterior.errors(x, self._laplace_posterior(), baseline), x

    def as_logistic(self, *, of=None) -> LinearPosterior:
        """The coefficients with the class that they are for: `of`, one of two classes, by default the second of
        `classes_`. A `LinearPosterior`, as generative classifiers have.

        Parameters
        ----------
        of : label or None
            The one of two classes that coefficients are for; None: the second.

        Returns
        -------
        LinearPosterior
            Coefficients and intercepts.

        Examples
        --------
        >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["-", "-", "+", "+"])
        >>> model.coef_.round(3).tolist(), model.as_logistic(of="+").coef_.round(3).tolist()  # "+" sorts before "-"
        ([[-0.958]], [[0.958]])
        """
        posterior = self._posterior()
        coef, bias = np.asarray(posterior.coef, dtype=np.float64), np.asarray(posterior.bias, dtype=np.float64)
        if len(coef) == 1:
            coef, bias = np.concatenate([np.zeros_like(coef), coef]), np.concatenate([np.zeros_like(bias), bias])
        reader = posterior.reader
        return LinearPosterior.of(self.classes_, LinearScores(coef, bias), reader.columns, reader, of)

    # inference

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
        """Coefficients with standard errors, z, p, intervals and odds ratios, and measures of fit; prints as a table.

        Parameters
        ----------
        X, y, sample_weight : rows, labels and weights
            Rows to compute it from, instead of the training rows. Needed if these are not available: they were too
            large to keep, or the model was fitted by `fit_on`, or comes from a file.
        level : float
            Confidence level of the intervals.
        robust : bool
            Whether standard errors are sandwich estimates (HC0).
        reference : label or None
            The class that others are compared with, if there are more than two; by default the first.
        intervals : {"wald", "profile"}
            Intervals from standard errors, or from likelihood ratios (without penalty, and for Firth's).

        Returns
        -------
        Summary
            The table; it prints, and `to_frame` has it as a frame.

        Examples
        --------
        >>> from deciban import LogisticRegression
        >>> model = LogisticRegression(C=1.0).fit([[0.0], [1.0], [1.0], [2.0]], ["no", "yes", "no", "yes"])
        >>> model.summary().odds_ratio.round(2).tolist()
        [[0.51, 1.96]]
        """
        if robust not in (True, False):
            raise DataError(f"robust is {robust!r}\n\nhint: True (sandwich errors, HC0) or False")
        observed = self._rows_for_inference(X, y, sample_weight)
        found, kind = observed.curvature, self._penalty_kind()
        notes, ends = [*self._penalty_notes(kind), *self._fit_notes(observed, kind)], None
        if intervals != "wald":
            ends = profile_likelihood.intervals(
                observed.design(), found.theta, self.classes_, intervals, kind, level, reference
            )
            notes.append(profile_likelihood.NOTE)
        used = float(np.count_nonzero(found.theta)) if kind == "l1" else None
        return Summary.of(
            found,
            self.classes_,
            self.coef_names_,
            prior=self._coefficient_prior(),
            level=level,
            robust=robust,
            reference=reference,
            errors=kind != "l1",
            parameters=used,
            notes=notes,
            ends=ends,
        )

    def separation(self, X=None, y=None, sample_weight=None) -> Separation:
        """Whether the classes are separated, and by which columns; if so, there is no finite estimate without penalty.

        Parameters
        ----------
        X, y, sample_weight : rows, labels and weights
            Rows to check, instead of the training rows. The model need not be fitted then.

        Returns
        -------
        Separation
            What separates the classes, if anything; it prints as text.

        Examples
        --------
        >>> from deciban import LogisticRegression
        >>> x = [[1, 0, 0], [1, 0, 1], [0, 1, 0], [1, 1, 1], [1, 1, 0]]
        >>> found = LogisticRegression().fit(x, [0, 0, 0, 1, 1]).separation()
        >>> found.kind, found.columns
        ('complete', ('x0', 'x1'))
        """
        if X is not None and not self._is_fitted:
            settings = self._with_known_strength(Settings.from_model(self))
            rows, objective = self._problem_here(X, y, sample_weight, settings)
            x, y, w = objective.x, objective.rows.y, objective.rows.w
            return separation(
                x, y, w, fit_intercept=self.fit_intercept, columns=rows.reader.columns, classes=rows.classes
            )
        return self._find_separation(self._rows_for_inference(X, y, sample_weight))

    @property
    def evidence_(self) -> float:
        """log p(y | X) with coefficients integrated out (Laplace): compares values of C, or sets of columns. For L2
        penalties only."""
        self._check_fitted()
        if self._penalty_kind() != "l2":
            raise AttributeError(
                "evidence needs a prior that is a density, and only an L2 penalty is one: Gaussian, of variance C\n\n"
                "hint: fit with a finite C, l1_ratio=0"
            )
        try:
            return self._laplace_posterior().evidence
        except DataError as unknown:  # the training rows are not available: `hasattr` and `dir` expect this error
            raise AttributeError(str(unknown)) from None

    def sample_coef(self, n_samples: int = 1, random_state=None) -> tuple[np.ndarray, np.ndarray]:
        """Draw coefficients from the Laplace posterior: (coef (n, 1 or k, d), intercept (n, 1 or k)), as `coef_` and
        `intercept_`.

        Parameters
        ----------
        n_samples : int
            The number of draws.
        random_state : int, generator or None
            The seed of the random numbers.

        Returns
        -------
        ndarray of shape (n_samples, …)
            Coefficients and intercepts of each draw.
        """
        posterior = self._laplace_posterior()
        rng = np.random.default_rng(check_random_state(random_state).randint(0, 2**31, size=4))
        coef, bias = self._parameters()
        whole = np.column_stack([bias, coef]) if self.fit_intercept else coef
        return as_coef(posterior.sample(n_samples, rng), self.fit_intercept, whole.mean(axis=0))

    # inside: reading rows

    def _read_rows(self, X, y, sample_weight, partial: bool = False, classes: Any = None) -> ArrayRows:
        rows = super()._read_rows(X, y, sample_weight, partial, classes)
        plain = self.solver == "liblinear"
        return replace(rows, reader=replace(rows.reader, origin=ArrayKind.plain)) if plain else rows

    def _problem(self, rows: Rows, settings: Settings) -> Problem:
        """The minimisation problem of these rows, checked."""
        problem = Problem.from_rows(rows, settings, self.class_weight, self.fit_intercept)
        problem.check_classes(self.solver)
        return problem

    def _problem_here(self, X, y, sample_weight, settings: Settings) -> tuple[ArrayRows, Objective]:
        """(rows in memory, their objective)."""
        rows = self._read_rows(X, y, sample_weight)
        objective = self._problem(rows, settings).objective
        assert isinstance(objective, Objective)
        return rows, objective

    # inside: minimisation

    def _minimise(
        self, problem: Problem, start: np.ndarray | None, settings: Settings, recorder: Recorder | None
    ) -> tuple[Solution, float, Path | None]:
        """(the minimum, C, the path if C was chosen)."""
        objective, rows = problem.objective, problem.rows
        if isinstance(objective, Objective) and isinstance(rows, ArrayRows) and settings.candidates is not None:
            Cs = None if isinstance(settings.candidates, str) else settings.candidates
            stop = StopWhenWorse(PATIENCE) if Cs is not None else StopWhenWorse(PATIENCE // 2, RISE)
            limits = {**self._limits(), "tol": self.tol * (1.0 if settings.l1 else ROUGH)}
            fits, how = fit_path(
                objective, settings, Cs, "auto", rows.table.w, **limits, stop=stop, most=KEPT, coarse=Cs is None
            )
            at = least(np.array([fit.log_loss for fit in fits]))
            C, answer = fits[at].C, fits[at].answer
            best = settings.rescaled(objective, C)
            last = minimisation.minimise(settings.solver, best, answer.w, self.tol, self.max_iter)
            steps = last.n_iter + sum(fit.answer.n_iter for fit in fits[: at + 1])
            answer = minimisation.refine(settings.solver, best, replace(last, n_iter=steps), np.iinfo(int).max)
            fits[at] = fits[at]._replace(answer=answer)
            return answer, C, Path.from_fits(objective, fits, how, rows.classes, rows.reader.columns)
        with progress.progress_bar(self.verbose, "fit", self.tol * objective.weight) as advance:
            if isinstance(objective, Objective) and self.penalty == "jeffreys":
                answer = minimise_jeffreys(objective.rows, self.fit_intercept, rows.reader.columns, advance)
                return answer, settings.C, None
            watch = both_watch(progress.solver_callback(advance), recorder)
            if self.init is not None:
                start = objective.check_start(self.init)
            if settings.rule is not None:
                answer = minimisation.follow(settings.rule, objective, start, self.tol, self.max_iter, watch)
                return answer, settings.C, None
            answer = minimisation.minimise(settings.solver, objective, start, self.tol, self.max_iter, watch)
            return minimisation.refine(settings.solver, objective, answer, self.max_iter, watch), settings.C, None

    def _limits(self) -> dict[str, Any]:
        return {"tol": self.tol, "max_iter": self.max_iter, "verbose": self.verbose}

    def _start(self, objective: PenalisedLoss) -> np.ndarray:
        """The coefficients of the last fit, as parameters of this objective."""
        coef, bias = self._parameters()
        w = np.hstack([coef, bias[:, None]]) if self.fit_intercept else coef
        if w.shape != (objective.m, objective.p):
            raise DataError(
                f"warm_start: the last fit has coefficients {w.shape}, these rows need {(objective.m, objective.p)}\n\n"
                "hint: use a new model for other classes or columns"
            )
        return w.ravel().astype(np.float64)

    def _history(self, objective: PenalisedLoss, recorder: Recorder | None, n_iter: int) -> History | None:
        """What was recorded, up to the step whose coefficients are those of the model."""
        if recorder is None:
            return None
        return recorder.history(objective, self.coef_names_, self.classes_, n_iter)

    def _add_to_history(self, objective: Objective, start: np.ndarray, w: np.ndarray) -> None:
        """One more entry of `history_`: from `start` to w, for the rows of this objective."""
        recorder = Recorder()
        for n_iter, parameters in enumerate((start, w)):
            recorder(n_iter, at_point(objective, parameters))
        more, before = recorder.history(objective, self.coef_names_, self.classes_, 1), self.__dict__.get("history_")
        self.history_ = more if before is None else before.followed_by(more)

    def _with_known_strength(self, settings: Settings) -> Settings:
        """The settings; if C is to be chosen, with that of the last fit, or 1."""
        return settings if settings.candidates is None else settings.with_strength(self.__dict__.get("C_", 1.0))

    def _chosen_settings(self) -> dict[str, Any]:
        return {"C": self.C_} if self.C == "auto" else {}

    # inside: attributes

    def _set_coefficients(self, objective: PenalisedLoss, w: np.ndarray, n_iter: int, C: float) -> None:
        table = objective.table(w)
        coef, bias = (table[:, :-1], table[:, -1]) if objective.intercept else (table, np.zeros(len(table)))
        self.coef_ = self._origin.send(np.array(coef))
        self.intercept_ = self._origin.send(np.array(bias))
        self.n_iter_ = self._origin.send_labels(np.array([n_iter], dtype=np.int32))
        self.C_ = float(C)

    def _set_means(self, means: np.ndarray | None) -> None:
        self._means = None if means is None else self._origin.send(means)

    def _parameters(self) -> tuple[np.ndarray, np.ndarray]:
        """(coef, intercept) as dense NumPy arrays."""
        coef = self.coef_.toarray() if sparse.issparse(self.coef_) else np.asarray(inputs.to_numpy(self.coef_))
        return coef, np.atleast_1d(np.asarray(inputs.to_numpy(self.intercept_)))

    def _mean_row(self) -> np.ndarray | None:
        """The mean of the training rows as a NumPy array, (d,); None: they were sparse."""
        return None if self._means is None else np.asarray(inputs.to_numpy(self._means), dtype=np.float64)

    @property
    def _is_fitted(self) -> bool:
        return "coef_" in self.__dict__

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.array_api_support = self.solver in ("auto", "lbfgs")
        tags.classifier_tags.multi_class = self.solver != "liblinear"
        return tags

    # inside: posterior

    def _posterior(self, priors: Any = None) -> LogisticPosterior:
        """From the attributes as they are now: a user may change `coef_` and `intercept_`."""
        if "coef_" not in self.__dict__:
            raise unfitted(self)
        coef, bias, count = self.coef_, self.intercept_, self.class_count_
        plain = type(coef) is type(bias) is type(count) is np.ndarray
        if not (plain and coef.ndim and bias.ndim and count.ndim):
            coef, bias = self._parameters()
            count = np.asarray(inputs.to_numpy(count), dtype=np.float64)
        out = LogisticPosterior(self.classes_, count, 0.0, self._reader(), coef, bias, self._mean_row, self._ranges)
        return out if priors is None else out.under(priors)

    def _ranges(self) -> list[np.ndarray] | None:
        """Values of each column at which its scale in a nomogram is drawn; None: they are not known."""
        observed = self._current_rows()
        return observed.ranges.candidates() if observed.ranged else None

    def _laplace_proba(self, own: LogisticPosterior, X, posterior: str) -> np.ndarray:
        """P(class | x), (n, k): the mean over the Laplace posterior of the coefficients."""
        if posterior != "laplace":
            raise DataError(f"`posterior` is {posterior!r}\n\nhint: 'laplace', or None for the coefficients as fitted")
        proba = self._laplace_posterior().proba(own.reader.read(X))
        if isinstance(own.shift, float):
            return proba
        with np.errstate(divide="ignore"):
            shifted = np.log(proba) + own.shift
        return ops.posterior(np.ascontiguousarray(shifted), logs=False)

    def _laplace_posterior(self) -> LaplacePosterior:
        self._check_fitted()
        if self._penalty_kind() == "l1":
            raise DataError(
                "an L1 penalty has a corner at 0, where no Gaussian fits: there is no Laplace posterior\n\n"
                "hint: fit with l1_ratio=0 on the columns that L1 chose"
            )
        return LaplacePosterior.from_expansion(self._current_rows().curvature, self._coefficient_prior())

    # inside: inference

    def _penalty_kind(self) -> str:
        """The penalty that the settings mean: "none", "l2", "l1" (alone or in an elastic net) or "jeffreys"."""
        if self.penalty == "jeffreys":
            return "jeffreys"
        if self.penalty is None or self._strength() == np.inf:
            return "none"
        ratio = {"l2": 0.0, "l1": 1.0}.get(self.penalty, self.l1_ratio or 0.0)
        return "l1" if ratio > 0 else "l2"

    def _strength(self) -> float:
        """C of the last fit; inf if it was never chosen."""
        C = self.__dict__.get("C_", self.C)
        return float(C) if isinstance(C, Real) else np.inf

    def _coefficient_prior(self) -> Prior:
        """The Gaussian prior of the coefficients that corresponds to the L2 penalty."""
        if self._penalty_kind() != "l2":
            return Prior()
        C = self._strength()
        bias = 1.0 / (C * self.intercept_scaling**2) if self.solver == "liblinear" else 0.0
        return Prior(C, bias, self._reader().scales)

    def _learned_weights(self, weights: np.ndarray) -> np.ndarray:
        factors = class_factors(self.class_weight, self.classes_, weights)
        return weights if factors is None else weights * factors

    def _count_learned(self, rows: RawArrays, codes: np.ndarray) -> tuple[int, int]:
        observed = self._current_rows()
        if not observed.alive:
            return 0, 0
        x, y, _ = observed.rows()
        known, asked = (row_digests(one) for one in (x, self._reader().read(rows.X, "summary")))
        pairs = [stirred(digest) + code.astype(np.uint64) for digest, code in ((known, y), (asked, codes))]
        return int(np.isin(pairs[1], pairs[0]).sum()), len(codes)

    def _proba_without(
        self, rows: RawArrays, group: np.ndarray, groups: int, query: Any, refit: bool = False, priors: Any = None
    ) -> PosteriorsWithout:
        """By one Newton step from the coefficients."""
        if self._penalty_kind() == "l1":
            raise NotAdditiveError(
                "an L1 penalty has a corner at 0, where one Newton step says nothing\n\n"
                "hint: fit with l1_ratio=0 on the columns that L1 chose"
            )
        observed = self._rows_for_inference(rows.X, rows.labels, rows.w)
        x, y, w = observed.rows()
        if not np.allclose(ops.class_weights(y, w, len(self.classes_)), np.asarray(self.class_count_), rtol=1e-6):
            raise DataError(
                f"one step needs all rows that this {type(self).__name__} was fitted to: these have other weights of "
                "the classes\n\nhint: pass the rows, labels and weights of `fit`"
            )
        own = self._posterior(priors)
        points = own.reader.read(query)
        leverage = Leverage.of(x, y, w, len(self.classes_), self.fit_intercept)
        theta, prior = observed.theta, self._coefficient_prior()
        with threads.one_blas_thread():
            without = leverage.without_groups(theta, prior, group, groups, points)
        scores = own.joint_scores(query)
        without = without + own.shift
        shape = without.shape
        logs = ops.posterior(np.ascontiguousarray(without.reshape(-1, shape[-1])), logs=True).reshape(shape)
        return PosteriorsWithout(ops.posterior(np.ascontiguousarray(scores), logs=True), logs, ONE_STEP)

    def _keep_training_rows(self, x: Any, y: np.ndarray, w: np.ndarray | None) -> None:
        """Keep rows, class codes and weights (class weights included) for inference; nothing is computed yet."""
        theta = reference_coding(*self._parameters(), self.fit_intercept)
        self._observed = TrainingRows(x, y, w, theta, len(self.classes_), self.fit_intercept)

    def _current_rows(self) -> TrainingRows:
        """The training rows of the current coefficients; without rows if these were learned by `partial_fit`, or
        changed by a user."""
        theta = reference_coding(*self._parameters(), self.fit_intercept)
        if "_observed" not in self.__dict__ or not np.array_equal(self._observed.theta, theta):
            self._observed = TrainingRows(None, None, None, theta, len(self.classes_), self.fit_intercept)
        return self._observed

    def _rows_for_inference(self, X, y, sample_weight) -> TrainingRows:
        """The training rows, or those that a user passes instead."""
        self._check_fitted()
        observed = self._current_rows()
        if X is None:
            return observed
        if y is None:
            raise DataError("X without y\n\nhint: pass both, summary(X, y), or neither")
        x = self._reader().read(X, "summary")
        _, codes = inputs.labels(np.asarray(inputs.to_numpy(y)), self.classes_)
        if len(codes) != x.n:
            raise DataError(f"X has {x.n} rows and y {len(codes)}\n\nhint: pass the label of every row")
        table = Table(x, codes, inputs.weights(sample_weight, codes), len(self.classes_))
        n = ops.class_weights(codes, table.w, table.k)
        w = weigh_classes(table, class_factors(self.class_weight, self.classes_, n)).w
        passed = TrainingRows(x, codes, w, observed.theta, observed.k, observed.intercept)
        if not observed.alive and "curvature" not in observed.__dict__:
            self._observed = passed
        return passed

    def _find_separation(self, observed: TrainingRows) -> Separation:
        theta = self._current_rows().theta if self._penalty_kind() == "none" else None
        names, (x, y, w) = self.coef_names_, observed.rows()
        return separation(x, y, w, fit_intercept=self.fit_intercept, columns=names, classes=self.classes_, theta=theta)

    def _separation_of_fit(self, observed: TrainingRows) -> Separation:
        """The separation of the rows of a fit without penalty, computed once; in most cases the coefficients prove that
        there is none."""
        if observed.separated is None:
            none = observed.theta.size <= WIDE and certified(observed.design(), observed.theta)
            observed.separated = Separation("none") if none else self._find_separation(observed)
        return observed.separated

    def _warn_if_separated(self) -> bool:
        """Warn of separated classes after a fit without penalty; whether they are separated."""
        if self._penalty_kind() != "none":
            return False
        observed = self._observed
        x, y, _ = observed.rows()
        if x.n * observed.theta.size**2 > SMALL and not large_margins(x, y, *self._parameters()):
            return False
        found = self._separation_of_fit(observed)
        if found:
            warnings.warn(str(found), SeparationWarning, stacklevel=levels_up())
        return bool(found)

    def _penalty_notes(self, kind: str) -> list[str]:
        """Notes of a summary on the effect of the penalty."""
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
        of = "" if not self._is_coded() else " of coefficients of standardised columns"
        return [
            f"errors are those of the penalised estimate: the posterior's spread under a Gaussian prior of variance "
            f"C = {self._strength():g}{of} (Laplace), without the bias to 0; parameters are counted as effective ones"
        ]

    def _fit_notes(self, observed: TrainingRows, kind: str) -> list[str]:
        """Notes of a summary on class weights, separation and convergence."""
        notes = []
        if self.class_weight is not None:
            notes.append("class weights count like repeated rows")
        known = kind == "none" and (observed.alive or observed.separated is not None)
        if known and (found := self._separation_of_fit(observed)):
            notes.append(str(found).replace("\n\nhint: ", "; "))
        gain = observed.curvature.distance(self._coefficient_prior()) if kind in ("none", "l2") else 0.0
        if gain > FAR and not notes:
            notes.append(
                f"the coefficients are not at the optimum of these rows: a step would gain {gain:.3g} nats; "
                "fit with a smaller tol"
            )
        return notes


COEFFICIENTS = {"coef": Parameter(), "intercept": Parameter("k", optional=True)}


def given_attributes(coef: Any, intercept: Any, class_prior: Any, classes: Any, feature_names: Any) -> dict[str, Any]:
    """The attributes of a fitted logistic regression with these coefficients, by name."""
    given = {"coef": coef, "intercept": intercept}
    m, d = sizes(COEFFICIENTS, given)
    found = GivenClasses.of(classes, class_prior, max(m, 2))
    k, names = len(found.labels), column_names(feature_names)
    if k < 2:
        raise DataError("one class\n\nhint: name two classes at least")
    of = found.labels[1:] if k == 2 else found.labels  # the classes of the scores
    arrays = read_parameters(COEFFICIENTS, given, of, column_labels(d) if names is None else names.tolist())
    order = found.order if k > 2 else np.zeros(1, dtype=np.intp)
    sign = -1.0 if k == 2 and found.order[0] == 1 else 1.0  # the score is that of the first class then
    out = {
        "classes_": found.sorted,
        "coef_": sign * arrays["coef"][order],
        "intercept_": sign * arrays.get("intercept", np.zeros(len(of)))[order],
        "class_count_": found.prior[found.order],
        "n_features_in_": arrays["coef"].shape[1],
        "n_iter_": np.array([0], dtype=np.int32),
    }
    return out if names is None else {**out, "feature_names_in_": names}


def n_coefficients(model: Any) -> int:
    """The number of free coefficients of a linear model of classes."""
    return (len(model.classes_) - 1) * (model.coef_.shape[1] + bool(model.fit_intercept))


def both_watch(*watches: Callable[[int, Any], Any] | None) -> Callable[[int, Any], None] | None:
    """One `watch` of a solver that calls those that are given; None if none is."""
    given = [watch for watch in watches if watch is not None]
    if not given:
        return None

    def watch(n_iter: int, state: Any) -> None:
        for one in given:
            one(n_iter, state)

    return watch


def generative_attributes(model: Any) -> dict[str, Any]:
    """The attributes of a fitted logistic regression with the posterior of this model, by name."""
    if not isinstance(model, Generative):
        raise DataError(
            f"{type(model).__name__} is no generative classifier with `as_logistic`\n\n"
            "hint: pass a fitted LinearDiscriminantAnalysis, MultinomialNB, PoissonNB or BernoulliNB"
        )
    state, view = model._fitted_state(), model.as_logistic()
    order = view.scores.cell_order()
    if order is None:
        raise DataError(
            f"the posterior of this {type(model).__name__} is linear in {format_list(view.columns_)}, and a logistic "
            "regression takes cells as they are\n\nhint: fit it on `model.as_logistic().design(X)`"
        )
    if (view.binarize or 0.0) >= 1.0:
        raise DataError(
            f"binarize={view.binarize:g} makes 0 and 1 the same, and a logistic regression takes cells as they are\n\n"
            "hint: binarize the columns to 0 and 1 first, and fit BernoulliNB with binarize=0"
        )
    k = len(view.classes_)
    if k < 2:
        raise DataError(f"the model has one class, {view.classes_.tolist()}\n\nhint: fit it on rows of two classes")
    if not (ops.all_finite(view.coef_) and ops.all_finite(view.intercept_)):
        raise DataError(
            f"this {type(model).__name__} calls some rows impossible, and no finite coefficient says so\n\n"
            "hint: smooth its counts (alpha > 0), and give every class a prior above 0"
        )
    posterior = state.posterior
    prior = np.exp(posterior.added)
    out = {
        "classes_": view.classes_,
        "coef_": np.array(view.coef_[:, order], dtype=np.float64),
        "intercept_": np.array(view.intercept_, dtype=np.float64),
        "class_count_": state.n.sum() * prior / prior.sum(),
        "n_features_in_": model.n_features_in_,
        "n_iter_": np.array([0], dtype=np.int32),
        "_origin": ArrayKind.plain,
    }
    theta = reference_coding(out["coef_"], out["intercept_"], True)
    out["_observed"] = TrainingRows(None, None, None, theta, k, True, posterior.candidates)
    reader = state.reader
    own = {"feature_names_in_": reader.feature_names, "_coding": reader.coding, "_library": reader.library}
    return {**out, **{name: value for name, value in own.items() if value is not None}}
