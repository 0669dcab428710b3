"""Label errors: rows whose given label is probably wrong, by predictions of models that were learned without them.

1. Held-out evidence. Each row is predicted by linear discriminants, discriminants with covariances by class, and naive
   Bayes, in closed form without the row (`leave_one_out`). Texts and sparse counts have one model, and so has `model=`.
2. Pool. With s_m(c) the evidence of model m for class c,

       P(given = c | x) ∝ prior_c exp(bias_c + Σ_m weight_m s_m(c)),     weight_m ≥ 0

   with the weights and biases of the largest likelihood of the given labels (of at most 5,000 rows, chosen by content).
   A model that is no use for these rows has weight 0.
3. Noise. T[t, g] is the probability that a row of class t was given label g. It is counted in the rows that the pool is
   surest of, a tenth of each class: where class t is all but certain, other labels are errors. The counts are shrunk to
   the same noise for all pairs of classes by 100 rows.
4. P(true = t | x, given = g) ∝ q_t(x) T[t, g], where q = p T⁻¹, as p = q T are the pooled probabilities of labels.

The rank of a row is by P(label wrong) = 1 − P(true = given | x, given). Their sum is the expected number of errors.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> true = np.repeat(["a", "b"], 100)
>>> X = rng.normal(size=(200, 2)) + 5.0 * (true == "b")[:, None]
>>> given = true.copy()
>>> given[[3, 150]] = ["b", "a"]
>>> found = find_label_errors(X, given)
>>> sorted(found.order[:2].tolist()), int(found.likely.sum())
([3, 150], 2)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from deciban import decision, display, ops
from deciban.classifiers.base import Generative
from deciban.classifiers.mixed import product_of, schema_of
from deciban.classifiers.naive_bayes import MultinomialNB
from deciban.classifiers.text import TextClassifier
from deciban.data import frames
from deciban.data.blocks import Reals, Table, borders
from deciban.data.frames import Column
from deciban.engines import threads
from deciban.errors import DataError, DecibanError, NotAdditiveError
from deciban.estimation.family import Family
from deciban.families.gaussian_joint import GaussianJoint
from deciban.gaussian.leave_one_out import Separate, Shared
from deciban.model_selection.cross_validation import cross_validate
from deciban.models import feature_weights
from deciban.models.feature_evidence import MOST, DenseEvidence
from deciban.models.feature_weights import WeightedRows
from deciban.models.model import Known
from deciban.ops.digests import stirred
from deciban.rows import inputs
from deciban.rows.coding import LINEAR, Coding, ColumnCode
from deciban.rows.digests import row_digests, smallest
from deciban.rows.sampling import folds_by_content, sample_rows
from deciban.rows.unused_columns import drop_reason
from deciban.solvers.base import solve
from deciban.solvers.newton import Newton
from deciban.tallies import RowScatter

SAMPLE, LEAST_SAMPLE = 5_000, 1_000  # rows by which models are weighted; fewer where there are many classes
CELLS = 20_000  # rows × classes of them, at most
SPAN = 1 << 20  # cells of a span of rows, at least
BLOCK = 1 << 16  # and where they are read several times
TOLERANCE, STEPS = 1e-3, 50
MANY = 2_000  # rows from which on numbers are histograms: there is no need to choose densities
RARE = 3  # rows of a level that discriminants use
RIDGE = 4.0  # rows of the prior of discriminants, in which a column has its variance, an indicator 1, and nothing else
LEAST_RIDGE = 0.01  # of covariances by class
BLEND = 0.02  # of covariances by class with the common one
WORK = 5e10  # (rows + 10 columns) × columns² (× classes) from which on discriminants take too long
SUREST = 0.1  # share of a class whose labels count as noise
FEWEST = 30  # rows of it, at least
EVEN = 100.0  # rows by which noise is shrunk to the same for all pairs of classes
MOST_NOISE = 0.45  # of a class
UNJUDGED = 0.3  # noise of all classes from which on columns say too little to judge labels
LIKELY = 0.5  # probability that a label is wrong from which on it is called a likely error
FOLDS = 10
TINY = 1e-12  # so that no sum is 0
LEFT = 0.1  # share of a probability that noise does not explain, at least
SHOWN = 10
FIELDS = ("row", "given", "suggested", "probability", "wrong")


@dataclass(frozen=True, eq=False)
class LabelErrors:
    """How probable it is that the label of each row is wrong.

    Attributes
    ----------
    y : ndarray of shape (n,)
        The given labels.
    suggested : ndarray of shape (n,)
        The most probable class of each row, given its columns and its label; another than the given one where the label
        is a likely error.
    probability : ndarray of shape (n,)
        P(given label), by models that were learned without the row.
    wrong : ndarray of shape (n,)
        Probability that the label is wrong; NaN for the only row of a class, of which nothing can be held out, and of
        all rows if the columns say too little about the class to judge labels.
    order : ndarray of shape (n,)
        The rows, the least credible label first.
    likely : ndarray of shape (n,)
        Whether the label is a likely error: `wrong` is above 0.5.
    expected : float
        Expected number of wrong labels, the sum of `wrong`; NaN if no label is judged.
    noise : ndarray of shape (k, k)
        P(given label | true class), by true class (rows) and given label.
    classes : ndarray of shape (k,)
        The labels, sorted.
    models : dict
        The models that were used, and their weights.
    """

    y: np.ndarray
    suggested: np.ndarray
    probability: np.ndarray
    wrong: np.ndarray
    noise: np.ndarray
    classes: np.ndarray
    models: dict[str, float]
    names: np.ndarray | None = None  # of the rows; None: they are called by their number

    def __len__(self) -> int:
        return len(self.y)

    @cached_property
    def order(self) -> np.ndarray:
        return np.lexsort((self.probability, -np.nan_to_num(self.wrong, nan=-1.0)))

    @cached_property
    def likely(self) -> np.ndarray:
        return np.nan_to_num(self.wrong) > LIKELY

    @property
    def expected(self) -> float:
        return float("nan") if np.isnan(self.wrong).all() else float(np.nansum(self.wrong))

    def with_names(self, names: np.ndarray | None) -> LabelErrors:
        """The same with other names of the rows."""
        return replace(self, names=names)

    def named(self, rows: np.ndarray) -> np.ndarray:
        """Rows as they are called."""
        return rows if self.names is None else self.names[rows]

    def ranking(self) -> dict[str, list]:
        """All rows, the least credible label first, as columns: row, given, suggested, probability, wrong, likely."""
        at = self.order
        each = (self.named(at), self.y[at], self.suggested[at], self.probability[at], self.wrong[at], self.likely[at])
        return {name: column.tolist() for name, column in zip((*FIELDS, "likely"), each, strict=True)}

    def to_frame(self) -> Any:
        """All rows, the least credible label first, as a frame with these columns."""
        return frames.make_frame(self.ranking())

    def records(self, n: int) -> list[dict[str, Any]]:
        """The first n rows as plain data."""
        at = self.order[:n]
        each = (self.named(at), self.y[at], self.suggested[at], self.probability[at], self.wrong[at])
        lines = zip(*(column.tolist() for column in each), strict=True)
        return [dict(zip(FIELDS, line, strict=True)) for line in lines]

    def table(self, n: int = SHOWN) -> display.Table:
        """The first n rows as a table."""
        lines = [
            (
                str(one["row"]),
                display.cell_text(one["given"], display.LONGEST),
                display.cell_text(one["suggested"], display.LONGEST),
                _shown(one["probability"]),
                "–" if np.isnan(one["wrong"]) else f"{one['wrong']:.3f}",
            )
            for one in self.records(n)
        ]
        more = len(self) - len(lines)
        notes = (f"and {more:,} rows whose labels are more credible",) if more else ()
        return display.Table(
            "", ("row", "given", "suggested", "P(given)", "P(wrong)"), lines, notes=notes, left=(0, 1, 2)
        )

    def __str__(self) -> str:
        return f"{self.summary}\n\n{self.table()}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return display.paragraphs([self.summary]) + self.table().to_html()

    @property
    def summary(self) -> str:
        """The expected and the likely errors in a sentence."""
        n, likely = len(self), int(self.likely.sum())
        if np.isnan(self.wrong).all():
            return "the columns say too little about the class to judge labels"
        share = 100 * self.expected / max(n, 1)
        which = "no label is" if not likely else f"{likely:,} label{'s are' if likely > 1 else ' is'}"
        about = f"about {self.expected:,.0f} of {n:,} labels are wrong ({share:.1f} %)"
        return f"{about}, {which} more likely wrong than right"


def _shown(p: float) -> str:
    return "–" if np.isnan(p) else display.format_probability(p, 1.0 - p)


def find_label_errors(
    X: Any, y: Any, model: Any = None, *, sample_weight: Any = None, columns: Sequence[Column] | None = None
) -> LabelErrors:
    """Rank all rows by the probability that their label is wrong. See `audit`, which calls this.

    Parameters
    ----------
    X, y
        Rows and labels, as `audit` takes them.
    model : classifier, optional
        A classifier to use instead of the pool; it is cloned.
    sample_weight : array of shape (n,), optional
        Weights of the rows.
    columns : sequence of Column, optional
        The columns of X that are of use, if they are known.
    """
    X, labels = inputs.labelled(X, y)
    if not frames.is_frame(X) and not sparse.issparse(X) and not is_texts(X):
        X = np.asarray(X, dtype=None if isinstance(X, np.ndarray) else object)
    names = frames.row_labels(X)
    labels = np.asarray(labels)
    classes, codes = inputs.labels(labels, None)
    w = inputs.weights(sample_weight, codes)
    count = ops.class_weights(codes, w, len(classes))
    evidence = evidence_of_models(X, codes, w, len(classes), model, columns)
    log_p, models = pooled(evidence, X if columns is None else list(columns), codes, w, count)
    noise = noise_of_labels(log_p, codes, w)
    own = np.exp(log_p[np.arange(len(codes)), codes])
    if noise is None:
        wrong, suggested = np.full(len(codes), np.nan), log_p.argmax(axis=1)
        noise = np.full((len(classes), len(classes)), np.nan)
    else:
        wrong, suggested = _posterior_of_errors(log_p, codes, noise)
    lone = np.bincount(codes, minlength=len(classes))[codes] < 2
    wrong[lone], own[lone], suggested[lone] = np.nan, np.nan, codes[lone]
    if names is not None and names.dtype.kind in "iu" and np.array_equal(names, np.arange(len(names))):
        names = None
    return LabelErrors(classes[codes], classes[suggested], own, wrong, noise, classes, models, names)


# the models

Evidence = Callable[[Any], np.ndarray]  # of some rows (m indices, or all as a slice), (m, k)


def evidence_of_models(
    X: Any, y: np.ndarray, w: np.ndarray | None, k: int, model: Any, columns: Sequence[Column] | None
) -> dict[str, Evidence]:
    """Name of a model → log P(x | c) of rows, each without the row, less that of its best class."""
    if model is not None:
        return {type(model).__name__: _of_classifier(clone(model), X, y, w).__getitem__}
    if is_texts(X):
        return {"TextClassifier": _of_classifier(TextClassifier(), list(X), y, w).__getitem__}
    if sparse.issparse(X):
        if X.nnz and X.data.min() < 0:
            raise DataError("sparse X has numbers below 0\n\nhint: give `model`, such as LogisticRegression()")
        return {"MultinomialNB": _of_classifier(MultinomialNB(), X.tocsr(), y, w).__getitem__}
    used = columns_of_use(frames.columns(X)) if columns is None else list(columns)
    if not used or k < 2:
        return {}
    return {**_of_discriminants(used, y, w, k), "MixedNB": _of_naive_bayes(used, y, w, k)}


def columns_of_use(columns: Sequence[Column]) -> list[Column]:
    """Columns that are no identifiers, row numbers or free text, and have values."""
    return [column for column in columns if not drop_reason(column)]


def is_texts(X: Any) -> bool:
    """Whether the rows are texts: a list, an array or a series of them.

    >>> is_texts(["a b", "c"]), is_texts([["a", 1.0]])
    (True, False)
    """
    if isinstance(X, list | tuple):
        return len(X) > 0 and all(isinstance(text, str) for text in X)
    if frames.is_frame(X) or sparse.issparse(X):
        return False
    return np.ndim(X) == 1 and is_texts(np.asarray(X, dtype=object).tolist())


def _of_naive_bayes(columns: list[Column], y: np.ndarray, w: np.ndarray | None, k: int) -> Evidence:
    """Of naive Bayes, as `MixedNB` has it."""
    schema = schema_of("histogram" if len(y) >= MANY else "auto", "auto", 0.0, "ignore", "ignore", columns)
    x, _ = schema.read(columns, len(y), learning=True)
    family: Family = product_of(None, None, schema, Known())
    rows = Table(x, y, w, k, schema)
    tally = _tally(family, rows)
    with np.errstate(all="ignore"):
        params = family.estimate(tally)
    return partial(_left_out, rows, lambda part: family.leave_one_out(tally, part.x, part.y, part.w, params))


def _of_discriminants(columns: list[Column], y: np.ndarray, w: np.ndarray | None, k: int) -> dict[str, Evidence]:
    """Of linear discriminants, and of discriminants with covariances by class where most columns are numbers. Rows of a
    prior keep covariances regular; the part that all classes share of those by class stays while rows are left out."""
    cells, numbers = _coded(columns, y, w)
    rows, d = Table(Reals(cells), y, w, k), cells.shape[1]
    if d == 0 or (work := (rows.n + 10 * d) * d**2) > WORK:
        return {}
    own = 2 * numbers >= d and work * k <= WORK
    tally = _tally(GaussianJoint(0.0 if own else 1.0), rows)
    total = tally.n.sum()
    common = tally.scatter.sum(axis=0) + RIDGE * np.eye(d)
    models: dict[str, Shared | Separate] = {"LinearDiscriminantAnalysis": Shared.around(tally, common)}
    if own:
        common = common / total + LEAST_RIDGE * np.trace(common) / (d * total) * np.eye(d)
        models["RegularizedDiscriminantAnalysis"] = Separate.around(tally, common, BLEND / (1 - BLEND) * total)
    return {name: partial(_left_out, rows, partial(_scores_by, model)) for name, model in models.items()}


def _scores_by(model: Shared | Separate, rows: Table) -> np.ndarray:
    return model.scores(rows.x, rows.y, rows.w)  # type: ignore[arg-type]


def _coded(columns: list[Column], y: np.ndarray, w: np.ndarray | None) -> tuple[np.ndarray, int]:
    """(cells (n, d) of discriminants, how many are numbers). Numbers have deviation 1, indicators are 0 and 1; a
    missing level is a level, and only numbers with missing cells have means for these."""
    columns = [_with_missing_level(column) for column in columns]
    codes: list[ColumnCode] = []
    for gaps in (False, True):
        some = [column for column in columns if column.missing.any() == gaps]
        try:
            codes += Coding.of(some, replace(LINEAR, rare=RARE, filled=gaps), w, lambda: y)[0].columns
        except DecibanError:  # there is none, or no level has enough rows
            continue
    if not codes:
        return np.empty((len(y), 0)), 0
    coding = Coding(tuple(codes))
    cells = np.asarray(coding.read(columns, len(y), learning=True)[0].values)
    at = [place.start for code, place in coding.groups if code.levels is None]  # indicators may follow them
    deviation = cells[:, at].std(axis=0)
    cells[:, at] /= np.where(deviation > 0, deviation, 1.0)
    return cells, len(at)


def _with_missing_level(column: Column) -> Column:
    """The column under its name as a text, with a level for missing cells."""
    missing, name = column.missing, str(column.name)
    if column.levels is None or not missing.any():
        return replace(column, name=name)
    codes = np.where(missing, np.int32(len(column.levels)), column.values)
    return replace(column, name=name, values=codes, levels=[*column.levels, display.MISSING_LEVEL])


def _tally(family: Family, rows: Table) -> Any:
    """The tally of all rows."""

    def of(span: tuple[int, int]) -> Any:
        part = rows.rows(*span)
        return family.tally(part.x, part.y, part.w, rows.k)

    out = threads.total(borders(rows.n, rows.x.cells, SPAN), of)
    return out.dense() if isinstance(out, RowScatter) else out


def _left_out(rows: Table, scores: Callable[[Table], np.ndarray], at: Any) -> np.ndarray:
    """Scores (m, k) of some rows without each; a row that has no closed form is no evidence."""
    some = rows if isinstance(at, slice) else rows.take(at)

    def of(span: tuple[int, int]) -> np.ndarray:
        with np.errstate(all="ignore"):
            return _clipped(scores(some.rows(*span)))

    spans = borders(some.n, some.n * max(some.d, some.k), SPAN)
    return of(spans[0]) if len(spans) == 1 else np.concatenate(list(threads.map_ordered(spans, of)))


def _clipped(logs: np.ndarray) -> np.ndarray:
    """Log likelihoods (n, k) less that of the best class, at least −`MOST`, in place; a row with NaN is no evidence."""
    if not ops.all_finite(logs):
        logs[np.isnan(logs).any(axis=1) | (logs.max(axis=1) == -np.inf)] = 0.0
    logs -= logs.max(axis=1, keepdims=True)
    return np.maximum(logs, -MOST, out=logs)


def _of_classifier(model: Any, X: Any, y: np.ndarray, w: np.ndarray | None) -> np.ndarray:
    """Of a classifier: by leave-one-out where it has a closed form, else by ten folds."""
    weights = {} if w is None else {"sample_weight": w}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if not isinstance(model, Generative | TextClassifier):
                raise NotAdditiveError
            logs = model.fit(X, y, **weights).leave_one_out(X, y, priors="uniform", **weights)
        except NotAdditiveError:
            fold = folds_by_content(X, y, min(FOLDS, len(y)))
            logs = cross_validate(model, X, y, fold, sample_weight=w).log_proba
            logs = logs - decision.log_prior(ops.class_weights(y, w, logs.shape[1]))
    return _clipped(np.array(logs, dtype=np.float64))


# the pool


@dataclass(frozen=True)
class GivenEvidence:
    """Evidence of models in the place of columns; see `models.feature_evidence`."""

    values: np.ndarray  # (n, k, m)

    def parts(self, x: Any) -> np.ndarray:
        return self.values


def pooled(
    evidence: dict[str, Evidence], X: Any, y: np.ndarray, w: np.ndarray | None, count: np.ndarray
) -> tuple[np.ndarray, dict[str, float]]:
    """(log P(given label = c | x) of each row (n, k), the weights of the models that are used)."""
    prior = np.maximum(decision.log_prior(count), -MOST)  # a class without weight stays possible
    most = max(LEAST_SAMPLE, min(SAMPLE, CELLS // len(count)))
    at = slice(None) if len(y) <= most else _sample(X, y, most)
    mass = np.ones(len(y[at])) if w is None else w[at]
    sampled = {name: of(at) for name, of in evidence.items()}
    weights, bias = _weights(sampled, y[at], mass, prior)
    scores = np.tile(prior + bias, (len(y), 1))
    for name, weight in weights.items():
        scores += weight * (sampled if len(y) <= most else {name: evidence[name](slice(None))})[name]
    return ops.posterior(scores, logs=True), weights


def _sample(X: Any, y: np.ndarray, most: int) -> np.ndarray:
    """About `most` rows by their content: those of the smallest digests, unless many rows are equal."""
    digest = stirred(row_digests(X) + stirred(y.astype(np.uint64) + np.uint64(1)))
    at = smallest(digest, most)
    return at if 2 * len(np.unique(digest[at])) > max(len(at), most) else sample_rows(X, y, most)


def _weights(
    evidence: dict[str, np.ndarray], y: np.ndarray, w: np.ndarray, prior: np.ndarray
) -> tuple[dict[str, float], np.ndarray]:
    """(weights above 0, biases (k,)) of the largest conditional likelihood. Models are left out until none has a
    weight below 0."""
    start: np.ndarray | None = None
    while evidence:
        m = len(evidence)
        parts = np.stack(list(evidence.values())).transpose(1, 2, 0) / m  # their mean is what weights are shrunk to
        rows = WeightedRows(DenseEvidence(GivenEvidence(parts), None, True), y, w)  # type: ignore[arg-type]
        objective = feature_weights.problem([rows], prior, m, pairs=0)
        with threads.one_blas_thread():
            start = feature_weights.fit_temperature(objective) if start is None else start
            found = solve(Newton(), objective, start, TOLERANCE, STEPS)
        change, bias = objective.layout.weights_and_biases(found.w)
        weights = dict(zip(evidence, ((1.0 + change[0]) / m).tolist(), strict=True))
        if all(weight > 0 for weight in weights.values()):
            return weights, bias
        weights = {name: weight for name, weight in weights.items() if weight > 0}
        evidence = {name: evidence[name] for name in weights}
        start = np.concatenate([[0.0], np.array([*weights.values()]) * len(weights) - 1.0, bias])
    return {}, np.zeros(len(prior))


# noise


def noise_of_labels(log_p: np.ndarray, y: np.ndarray, w: np.ndarray | None = None) -> np.ndarray | None:
    """P(given label | true class), (k, k), from held-out log P(given label = c | x); None: even the surest rows have
    other labels so often that columns say too little to judge labels.

    >>> y = np.repeat([0, 1], 500)
    >>> log_p = np.log(np.where(y[:, None] == [0, 1], 0.99, 0.01))
    >>> y[:50] = 1  # a tenth of the rows of class 0
    >>> noise_of_labels(log_p, y).round(2).tolist()
    [[0.91, 0.09], [0.01, 0.99]]
    """
    n, k = log_p.shape
    w = np.ones(n) if w is None else w
    count, best = np.bincount(y, w, minlength=k), log_p.argmax(axis=1)
    seen, total = np.zeros((k, k)), np.zeros(k)
    for c in range(k):
        own = log_p[best == c, c]
        if not len(own):
            continue
        size = min(max(FEWEST, int(SUREST * (y == c).sum())), len(own))
        bound = np.partition(own, len(own) - size)[len(own) - size]  # ties are in: the order of rows does not matter
        surest = np.flatnonzero(best == c)[own >= bound]
        seen[c] = np.bincount(y[surest], w[surest], minlength=k)
        total[c] = seen[c].sum()
    np.fill_diagonal(seen, 0.0)
    rate = (seen.sum() + 0.5) / (total.sum() + 1.0)
    if rate > UNJUDGED and seen.any():
        return None
    share = np.tile(count, (k, 1))
    np.fill_diagonal(share, 0.0)
    out = (seen + EVEN * rate * share / np.maximum(share.sum(axis=1, keepdims=True), 1e-300)) / (total + EVEN)[:, None]
    off = out.sum(axis=1, keepdims=True)
    out *= np.minimum(1.0, MOST_NOISE / np.maximum(off, 1e-300))
    np.fill_diagonal(out, 1.0 - out.sum(axis=1))
    return out


def _posterior_of_errors(log_p: np.ndarray, y: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(probability that the label is wrong, the most probable true class) of each row."""
    inverse, given = np.linalg.inv(noise), np.ascontiguousarray(noise.T)

    def of(span: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        p, own_class = np.exp(log_p[slice(*span)]), y[slice(*span)]
        true = p @ inverse
        p *= LEFT
        p += TINY
        np.maximum(true, p, out=true)
        true *= given.take(own_class, axis=0)
        rows, total = np.arange(len(p)), true.sum(axis=1)
        wrong, most = (total - true[rows, own_class]) / total, own_class.copy()
        doubtful = np.flatnonzero(wrong > LIKELY)  # another class has at least half of the rest
        true[doubtful, own_class[doubtful]] = 0.0
        most[doubtful] = true[doubtful].argmax(axis=1)
        return wrong, most

    found = list(threads.map_ordered(borders(len(y), log_p.size, BLOCK), of))
    return np.concatenate([one[0] for one in found]), np.concatenate([one[1] for one in found])
