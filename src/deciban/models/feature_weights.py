"""`weights="discriminative"` on data of any size: one pass for the counts of ten folds, then a pass for each step.

The first pass also brings a sample: all kinds of rows, where there are no more than `SAMPLE`, and then the rest is done
in memory, as in `fit`; else those of the least digests, which say where to start, and a row's fold is its digest. So
nothing depends on how the data are cut into batches.

>>> import numpy as np, pyarrow as pa
>>> from deciban import GaussianNB
>>> rng = np.random.default_rng(0)
>>> y = np.repeat(["a", "b"], 1000)
>>> x = rng.normal(size=2000) + 2.0 * (y == "b")
>>> rows = pa.table({"x": x, "echo": x + 0.5 * rng.normal(size=2000), "label": y})
>>> weights = GaussianNB(weights="discriminative").fit_on(rows).feature_weights_
>>> bool(weights[1] < weights[0] < 1.1)
True

Weights for the columns of naive Bayes, by conditional likelihood (WANBIA-C: Zaidi, Carman, Cerquides and Webb 2014):

    P(c | x) ∝ prior_c · exp(bias_c + Σ_j weight[c, j] · s_cj(x_j)),     s = log p(x_j | c) less its mean over classes

The counts stay as they are; only the weights are fitted, a convex problem. Weights of 1 and biases of 0 are naive Bayes
itself. They are 1 + t + u_j, and 1 + t + u_j + v_cj where there are more than two classes (with two, v would add
nothing) and no more than `PAIRS` of them with a column. All are pulled to 0, that is to naive Bayes:

    loss = −Σ_i w_i log P(y_i | x_i) + ½ (pull_t t² + |bias|²) + ½ pull_u |u|² + ½ pull_v |v|²

The pulls of u and v are found with the weights (see `pulling`); few rows have strong ones, of t too. Each step is
Newton's, and a sum over rows; beyond `DENSE` weights by conjugate gradients. The first t and biases are the best that
naive Bayes can have without u and v: as it comes it is often so sure that Newton's steps are short.

>>> import numpy as np
>>> from deciban.models.feature_evidence import DenseEvidence, column_evidence
>>> from deciban.families.bernoulli import Bernoulli
>>> from deciban.data.blocks import Reals
>>> x, y = Reals(np.repeat([[0.0, 0, 0], [1, 1, 0], [1, 1, 1]], 20, axis=0)), np.repeat([0, 1, 1], 20).astype(np.int32)
>>> f = Bernoulli()
>>> rows = DenseEvidence(column_evidence(f, f.estimate(f.tally(x, y, None, 2))), x, kept=True)
>>> found = fit([WeightedRows(rows, y, np.ones(60))], np.log([1 / 3, 2 / 3]), 3)
>>> bool(found.table[0, 2] < found.table[0, 0] == found.table[0, 1])  # the copy shares the weight, the noise has less
True

How strongly weights are pulled to 0, found while they are (MacKay 1992): what makes the rows most probable on the
average over all weights.

    pull = γ / |u|²,     γ = Σ_j (1 − pull · variance of u_j)     the number of weights that the rows determine

No pull is less than `least`: few rows, which are judged by fewer still, often seem to say the reverse of what they say
together, and many weights could be had from them that mean nothing.

An objective says in `layout.groups` which of its parameters share a pull; the others keep theirs. `uncertain` has the
variances: the diagonal of the Hessian's inverse, or one over that of the Hessian where it is too large to be made.

>>> round(RidgeStrength(1.0).towards(4.0).value, 3)  # the first time as asked; later as far as that is likely to lead
4.0
>>> round(RidgeStrength(1.0).towards(4.0).towards(8.0).value, 3)  # half of the way again: twice of it is left
16.0
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
from scipy.linalg import get_lapack_funcs

from deciban import ops
from deciban.data.blocks import Block, Codes, Counts, Mixed, Reals, Table
from deciban.data.frames import Column
from deciban.engines import threads
from deciban.errors import DecibanError, relocate
from deciban.models.calibration import Calibration
from deciban.models.feature_evidence import DenseEvidence, NoEvidence, SparseEvidence
from deciban.rows.folds import NOWHERE, Kinds, number_of, row_digests
from deciban.rows.rows import ColumnRoles, LabelledTally, TallyBatch
from deciban.rows.schema import Schema
from deciban.solvers.base import CONVERGED, Smooth, Solution, State, solve
from deciban.solvers.newton import Metric, Newton, NewtonCg
from deciban.tallies.basic import SumTuple

LEAST, LARGEST = 1e-2, 1e4  # pulls
FEW = 70.0  # rows that have a pull of 1 at least
STRIDES = (0.3, 8.0)
SETTLED = 0.03  # a change of log(pull) that is none
WORTHLESS = 1e-10  # nats a row: separated classes have a loss of 0, of which no share is small
_trtri = get_lapack_funcs(("trtri",), dtype=np.float64)[0]


@dataclass(frozen=True)
class RidgeStrength:
    """A pull on its way: log(γ / |u|² / pull) was `off` before the last change, which was `stride` times that."""

    value: float
    off: float = np.inf
    stride: float = 1.0

    def towards(self, wanted: float, lowest: float = LEAST) -> RidgeStrength:
        """Nearer to what the rows ask for, which moves too: how much, the last change tells (a secant)."""
        off = float(np.log(np.clip(wanted, lowest, LARGEST) / self.value))
        stride = 1.0
        if np.isfinite(self.off) and off != self.off:
            stride = float(np.clip(self.stride * self.off / (self.off - off), *STRIDES))
        return RidgeStrength(
            float(np.exp(np.clip(np.log(self.value) + stride * off, *np.log([lowest, LARGEST])))), off, stride
        )


def least_pull(weight: float) -> float:
    """The least pull where rows have that weight together.

    >>> least_pull(14.0), least_pull(70.0), least_pull(1e4)
    (25.0, 1.0, 0.01)
    """
    return float(np.clip((FEW / max(weight, 1.0)) ** 2, LEAST, LARGEST))


@dataclass(frozen=True)
class Kept:
    on_the_way: tuple[RidgeStrength, ...]
    moved: float = np.inf  # how much pulls did, in logarithms
    before: float = np.inf  # and in the step before

    @property
    def settled(self) -> bool:
        return max(self.moved, self.before) <= SETTLED  # once may be by chance, while weights are still on their way

    @property
    def pulls(self) -> tuple[float, ...]:
        return tuple(pull.value for pull in self.on_the_way)


@dataclass(frozen=True)
class EvidenceMaximisation(Smooth):
    """Another solver's steps, and after each the pulls that the rows ask for."""

    inner: Newton | NewtonCg

    def init(self, objective: Any, w: np.ndarray) -> State:
        pulls = tuple(RidgeStrength(float(objective.ridge[at.start])) for at in objective.layout.groups)
        return replace(self.inner.init(objective, w), kept=Kept(pulls))

    def step(self, objective: Any, state: State) -> State:
        now = with_strength(objective, state.kept.pulls)
        there = self.inner.step(now, state)
        if there.stuck or state.kept.settled:
            return replace(there, kept=state.kept)
        left = uncertain(now, there) * now.ridge
        pulls, moved = [], 0.0
        for at, before in zip(now.layout.groups, state.kept.on_the_way, strict=True):
            known = max(float((1.0 - left[at]).sum()), 1e-3)
            pull = before.towards(known / max(float(there.w[at] @ there.w[at]), 1e-300), least_pull(objective.weight))
            felt = min(known, 1.0)  # nobody feels a pull where nothing is known
            moved = max(moved, abs(float(np.log(pull.value / before.value))) * felt)
            pulls.append(pull)
        kept = Kept(tuple(pulls), moved, state.kept.moved)
        more = with_strength(objective, kept.pulls).ridge - now.ridge
        value = there.value + 0.5 * float(more @ there.w**2)
        return replace(there, value=value, gradient=there.gradient + more * there.w, kept=kept)

    def done(self, objective: Any, state: State, tol: float) -> str | None:
        if not state.kept.settled and not state.stuck:
            return None
        if state.steepness <= tol * objective.weight and state.gain <= WORTHLESS * objective.weight:
            return "gradient"
        return super().done(objective, state, tol)


def with_strength(objective: Any, pulls: Sequence[float]) -> Any:
    """The objective with other pulls."""
    ridge = objective.ridge.copy()
    for at, pull in zip(objective.layout.groups, pulls, strict=True):
        ridge[at] = pull
    return replace(objective, ridge=ridge)


def uncertain(objective: Any, state: State) -> np.ndarray:
    """The variance that each weight has left, (size,): the diagonal of the Hessian's inverse."""
    metric: Any = state.kept
    if not isinstance(metric, Metric):
        return 1.0 / objective.diagonal(state.w)[1][0]
    inverse, _ = _trtri(np.tril(metric.factor), lower=1)
    return metric.scale**2 * np.einsum("ij,ij->j", inverse, inverse)


PAIRS = 1 << 10  # of class and column, that have weights of their own
DENSE = 1 << 11  # weights for which a Hessian is made
TOLERANCE = 1e-6
STEPS = 100


@dataclass(frozen=True)
class FeatureWeights:
    table: np.ndarray  # (k, d)
    bias: np.ndarray  # (k,)
    pulls: tuple[float, ...]  # of the columns' weights, and of the classes' beside them
    steps: int
    why: str

    @property
    def converged(self) -> bool:
        return self.why in CONVERGED


@dataclass(frozen=True)
class WeightedRows:
    """Some rows: what their columns say, their classes and their weights."""

    rows: DenseEvidence | SparseEvidence
    y: np.ndarray  # (n,)
    w: np.ndarray  # (n,)


@dataclass(frozen=True)
class ParameterLayout:
    """Where t, u (d), v (k · d, or none) and the biases (k) stand in a flat array."""

    k: int
    d: int
    by_class: bool

    @property
    def size(self) -> int:
        return 1 + self.d + (self.k * self.d if self.by_class else 0) + self.k

    @property
    def groups(self) -> tuple[slice, ...]:
        """Those whose pull is found."""
        first = slice(1, 1 + self.d)
        return (first, slice(1 + self.d, self.size - self.k)) if self.by_class else (first,)

    def spread_out(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Changes of the weights (k, d) and biases (k,)."""
        table = np.tile(theta[0] + theta[1 : 1 + self.d], (self.k, 1))
        if self.by_class:
            table += theta[self.groups[1]].reshape(self.k, self.d)
        return table, theta[-self.k :]

    def gathered(self, a: np.ndarray) -> np.ndarray:
        """Derivatives by t, u, v, biases, along the first axis, from those by weights and biases: (m · d + k, …), where
        m is k, or 1 if there are no weights by class."""
        table = a[: -self.k].reshape(-1, self.d, *a.shape[1:])
        columns = table.sum(axis=0)
        own = [a[: -self.k]] if self.by_class else []
        return np.concatenate([columns.sum(axis=0)[None], columns, *own, a[-self.k :]])


@dataclass(frozen=True)
class Objective:
    pieces: Sequence[WeightedRows]
    prior: np.ndarray  # (k,), log
    layout: ParameterLayout
    ridge: np.ndarray  # (size,)
    m, intercept = 1, False  # as solvers ask

    @cached_property
    def weight(self) -> float:
        return float(sum(piece.w.sum() for piece in self.pieces))

    def slope(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        table, bias = self._model(theta)

        def of(piece: WeightedRows) -> SumTuple:
            loss, p = self._posterior(piece, table, bias)
            return SumTuple((loss, self._slope(piece, p)))

        loss, slope = threads.total(self.pieces, of).parts
        return self._pulled(theta, loss, slope)

    def curve(self, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        table, bias = self._model(theta)

        def of(piece: WeightedRows) -> SumTuple:
            loss, p = self._posterior(piece, table, bias)
            return SumTuple((loss, self._slope(piece, p), bend(piece.rows.parts(), p, piece.w, self.layout.by_class)))

        loss, slope, hessian = threads.total(self.pieces, of).parts
        hessian = self.layout.gathered(self.layout.gathered(hessian).T)
        hessian.flat[:: len(hessian) + 1] += self.ridge
        return *self._pulled(theta, loss, slope), hessian

    def product(self, theta: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The Hessian times v."""
        table, bias = self._model(theta)
        turn, turn_bias = self.layout.spread_out(v)

        def of(piece: WeightedRows) -> SumTuple:
            _, p = self._posterior(piece, table, bias)
            moved = piece.rows.scores(turn) + turn_bias
            moved = p * (moved - np.einsum("nk,nk->n", p, moved)[:, None]) * piece.w[:, None]
            return SumTuple((self._back(piece, moved),))

        return threads.total(self.pieces, of).parts[0] + self.ridge * v

    def diagonal(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Nothing, and the Hessian's diagonal, (1, size) each; of objectives without weights by class."""
        table, bias = self._model(theta)
        ones = np.ones_like(table)

        def of(piece: WeightedRows) -> SumTuple:
            _, p = self._posterior(piece, table, bias)
            mass, whole = p * piece.w[:, None], piece.rows.scores(ones)
            together = (mass * whole**2).sum() - piece.w @ np.einsum("nk,nk->n", p, whole) ** 2
            biases = (mass * (1.0 - p)).sum(axis=0)
            return SumTuple((np.concatenate([[together], piece.rows.spread(p, piece.w), biases]),))

        diagonal = threads.total(self.pieces, of).parts[0] + self.ridge
        return np.zeros((1, self.layout.size)), diagonal[None]

    def _model(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        table, bias = self.layout.spread_out(theta)
        return 1.0 + table, bias + self.prior

    def _posterior(self, piece: WeightedRows, table: np.ndarray, bias: np.ndarray) -> tuple[float, np.ndarray]:
        """(loss, P(c | x) (n, k))"""
        logs = ops.posterior(np.ascontiguousarray(piece.rows.scores(table) + bias), logs=True)
        return -float(piece.w @ logs[np.arange(len(logs)), piece.y]), np.exp(logs)

    def _slope(self, piece: WeightedRows, p: np.ndarray) -> np.ndarray:
        wrong = p * piece.w[:, None]
        wrong[np.arange(len(p)), piece.y] -= piece.w
        return self._back(piece, wrong)

    def _back(self, piece: WeightedRows, amounts: np.ndarray) -> np.ndarray:
        table = piece.rows.back(amounts)
        table = table if self.layout.by_class else table.sum(axis=0)
        return self.layout.gathered(np.concatenate([table.ravel(), amounts.sum(axis=0)]))

    def _pulled(self, theta: np.ndarray, loss: float, slope: np.ndarray) -> tuple[float, np.ndarray]:
        pull = self.ridge * theta
        return loss + 0.5 * float(pull @ theta), slope + pull


def bend(parts: np.ndarray, p: np.ndarray, w: np.ndarray, by_class: bool) -> np.ndarray:
    """The Hessian of the loss by weights, (k, d) or (d,), and biases, (k,)."""
    (n, k, d), mass = parts.shape, p * w[:, None]
    said = parts * p[:, :, None]
    mean = np.hstack([said.reshape(n, k * d) if by_class else said.sum(axis=1), p])
    out = -(mean.T * w) @ mean
    for c in range(k):
        at, bias = slice(c * d, (c + 1) * d) if by_class else slice(0, d), len(out) - k + c
        turned = parts[:, c].T * mass[:, c]
        out[at, at] += turned @ parts[:, c]
        edge = turned.sum(axis=1)
        out[at, bias] += edge
        out[bias, at] += edge
        out[bias, bias] += mass[:, c].sum()
    return out


def problem(pieces: Sequence[WeightedRows], prior: np.ndarray, d: int) -> Objective:
    """What `fit` makes small, with the first pulls."""
    k = len(prior)
    layout = ParameterLayout(k, d, k > 2 and k * d <= PAIRS)
    return begun(Objective(pieces, prior, layout, np.ones(layout.size)))


def begun(objective: Objective) -> Objective:
    """The same with the first pulls."""
    lowest, ridge = least_pull(objective.weight), np.ones(objective.layout.size)
    ridge[0] += lowest
    groups = len(objective.layout.groups)
    return with_strength(replace(objective, ridge=ridge), [max(pull, lowest) for pull in (1.0, 10.0)[:groups]])


def tempered(objective: Objective) -> np.ndarray:
    """Naive Bayes with the best temperature and biases, which its scores (n, k) alone tell: where to start from."""
    theta, ones = np.zeros(objective.layout.size), np.ones((objective.layout.k, objective.layout.d))
    scores = np.concatenate(list(threads.map_ordered(objective.pieces, lambda piece: piece.rows.scores(ones))))
    y, w = (np.concatenate([getattr(piece, name) for piece in objective.pieces]) for name in ("y", "w"))
    found = Calibration.fit(scores, objective.prior, y, w, few=0.0)
    theta[0], theta[-objective.layout.k :] = found.temperature - 1.0, found.bias
    return theta


def minimise(objective: Objective, start: np.ndarray) -> Solution:
    inner = Newton() if objective.layout.size <= DENSE else NewtonCg()
    with threads.one_blas_thread():
        return solve(EvidenceMaximisation(inner), objective, start, TOLERANCE, STEPS)


def fit(pieces: Sequence[WeightedRows], prior: np.ndarray, d: int, start: np.ndarray | None = None) -> FeatureWeights:
    """Weights of d columns from rows that were judged by counts without them, and log priors (k,)."""
    objective = problem(pieces, prior, d)
    return found(objective, minimise(objective, tempered(objective) if start is None else start))


def found(objective: Objective, answer: Solution) -> FeatureWeights:
    """The weights that an answer stands for."""
    table, bias = objective.layout.spread_out(answer.w)
    return FeatureWeights(1.0 + table, bias, answer.kept.pulls, answer.steps, answer.why)


FOLDS = 10
SAMPLE = 1 << 13  # kinds of rows
MIX = np.uint64(0xD1B54A32D192ED03)


def order_of(x: Block, schema: Schema | None) -> np.ndarray:
    """A number for each row, by its cells alone, (n,): levels count by their names, missing cells are alike."""
    if isinstance(x, Mixed):
        assert schema is not None
        columns: list = [None] * len(schema.fields)
        for block, (family, at) in zip(x.blocks, schema.groups, strict=True):
            if family is not schema.gaps:
                for j, cells in zip(at, np.asarray(block.values).T, strict=True):
                    columns[j] = Column(schema.fields[j].name, cells, schema.fields[j].levels)  # type: ignore[arg-type]
        return _mixed(_side_by_side(columns))
    if isinstance(x, Codes):
        return _mixed(Reals(np.where(x.values < 0, np.nan, np.asarray(x.values, dtype=np.float64))))
    if isinstance(x, Counts):
        return _mixed(replace(x, values=np.where(np.isnan(x.values), np.nan, x.values)))
    return _mixed(Reals(np.where(np.isnan(x.values), np.nan, np.asarray(x.values, dtype=np.float64))))


def order_of_batch(batch: Any, reading: ColumnRoles) -> np.ndarray:
    """The same of Arrow rows."""
    from deciban.io import batches

    kinds = dict(zip(reading.features, reading.kinds, strict=False))
    return _mixed(_side_by_side(batches.columns(batch, reading.features, kinds)))


def _mixed(x: Reals | Counts) -> np.ndarray:
    return row_digests(x) * MIX >> np.uint64(3)


def _side_by_side(columns: Sequence[Column]) -> Reals:
    return Reals(np.column_stack([_numbers(column) for column in columns]))


def _numbers(column: Column) -> np.ndarray:
    """A column of levels as numbers that its levels' names tell, wherever they stand; missing cells are alike."""
    if column.levels is None:
        return np.where(np.isnan(column.values), np.nan, column.values)
    return np.array([*map(number_of, column.levels), np.nan])[column.values]


def fold_of(order: np.ndarray) -> np.ndarray:
    """The fold of each row where there are many, (n,)."""
    return (order % np.uint64(FOLDS)).astype(np.intp)


def smallest_digests(order: np.ndarray) -> np.ndarray:
    """Where the `SAMPLE` least of them are, and any that equal the last of these."""
    if len(order) <= SAMPLE:
        return np.arange(len(order))
    return np.flatnonzero(order <= np.partition(order, SAMPLE - 1)[SAMPLE - 1])


@dataclass(frozen=True, eq=False)
class Sample:
    """Kinds of rows, each once: all that there are, or those of the least digests."""

    table: Any  # of Arrow
    order: np.ndarray  # (m,), digests
    label: np.ndarray  # (m,), digests of the classes
    times: np.ndarray  # (m,), how many rows are of the kind
    weight: np.ndarray  # (m,), and what they weigh
    complete: bool = True

    @classmethod
    def of(cls, batch: Any, reading: ColumnRoles) -> Sample:
        import pyarrow as pa

        w = reading.weights(batch)
        if w is not None and not w.all():
            batch, w = batch.filter(pa.array(w > 0)), w[w > 0]
        table = pa.Table.from_batches([batch])
        if batch.num_rows == 0:
            return cls(table, np.zeros(0, dtype=np.uint64), np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0))
        classes, y = reading.labels(batch)
        label = np.array([number_of(one) for one in classes.tolist()])[y]
        times = np.ones(len(y), dtype=np.int64)
        w = times.astype(np.float64) if w is None else w
        return cls(table, order_of_batch(batch, reading), label, times, w).merged()

    def __add__(self, other: Sample) -> Sample:
        import pyarrow as pa

        tables = [table for table in (self.table, other.table) if table.num_rows] or [self.table]
        both = pa.concat_tables(
            [table.select(tables[0].schema.names) for table in tables], promote_options="permissive"
        )
        names = ("order", "label", "times", "weight")
        values = {name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in names}
        return Sample(both, **values, complete=self.complete and other.complete).merged()

    def merged(self) -> Sample:
        kinds = Kinds.of(self.order, self.label, self.weight, self.times)
        few = smallest_digests(self.order[kinds.at])
        at, complete = kinds.at[few], self.complete and len(few) == len(kinds.at)
        table = self.table.take(at)
        return Sample(table, self.order[at], self.label[at], kinds.times[few], kinds.weight[few], complete)

    def rows(self, model: Any, reading: ColumnRoles) -> tuple[Table, np.ndarray, np.ndarray]:
        """(the rows as a model of all rows reads them, how many each stands for, their digests), in their order."""
        x, y = model._readable(self.table, reading.features), reading.codes(self.table, model.classes_)
        at = np.lexsort((self.order, y))
        return Table(x.take(at), y[at], self.weight[at], len(model.classes_)), self.times[at], self.order[at]


@dataclass(frozen=True, eq=False)
class FoldTallies:
    """The parts of each fold, and some rows."""

    parts: tuple[LabelledTally, ...]
    sample: Sample

    def __add__(self, other: FoldTallies) -> FoldTallies:
        parts = tuple(a + b for a, b in zip(self.parts, other.parts, strict=True))
        return FoldTallies(parts, self.sample + other.sample)


@dataclass(frozen=True)
class TallyFolds:
    """batch → Folded."""

    tallying: TallyBatch

    @property
    def columns(self) -> tuple[str, ...]:
        return self.tallying.columns

    def __call__(self, batch: Any) -> FoldTallies:
        import pyarrow as pa

        if batch.num_rows == 0:
            return FoldTallies(
                tuple(LabelledTally.nothing() for _ in range(FOLDS)), Sample.of(batch, self.tallying.reading)
            )
        self.tallying(batch)  # what is wrong is told with its row
        fold = fold_of(order_of_batch(batch, self.tallying.reading))
        parts = tuple(self.tallying(batch.filter(pa.array(fold == f))) for f in range(FOLDS))
        return FoldTallies(parts, Sample.of(batch, self.tallying.reading))


@dataclass(frozen=True, eq=False)
class Judges:
    """What columns say to the rows of each fold."""

    said: dict[int, Any]  # by the other folds
    unknown: np.ndarray  # (k,), classes that too few can judge
    silence: NoEvidence

    def each(self, fold: np.ndarray, y: np.ndarray) -> Iterator[tuple[Any, np.ndarray]]:
        """(what is said, which rows hear it), of rows in these folds and of these classes."""
        place = np.where(self.unknown[y] | ~np.isin(fold, list(self.said)), NOWHERE, fold)
        for f in np.unique(place).tolist():
            yield self.said.get(f, self.silence), np.flatnonzero(place == f)


@dataclass(frozen=True, eq=False)
class WeightObjectiveBatch:
    """batch → what weights make of its rows, each judged by the other folds: `what` of `weighing.Objective`."""

    model: Any  # reads rows
    reading: ColumnRoles
    judges: Judges
    prior: np.ndarray
    layout: ParameterLayout
    what: str = "slope"
    at: tuple[np.ndarray, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        return self.reading.columns

    def __call__(self, batch: Any) -> SumTuple:
        try:
            plain = Objective(self.pieces(batch), self.prior, self.layout, np.zeros(self.layout.size))
        except DecibanError as wrong:
            raise relocate(wrong, names=self.reading.features) from None
        said = getattr(plain, self.what)(*self.at)
        return SumTuple(said if isinstance(said, tuple) else (said,))

    def pieces(self, batch: Any) -> list[WeightedRows]:
        import pyarrow as pa

        x, y = self.model._readable(batch, self.reading.features), self.reading.codes(batch, self.model.classes_)
        w = self.reading.weights(batch)
        w = np.ones(len(y)) if w is None else w
        if not w.all():
            batch, x, y, w = batch.filter(pa.array(w > 0)), x.take(np.flatnonzero(w > 0)), y[w > 0], w[w > 0]
        if len(y) == 0:
            return [WeightedRows(DenseEvidence(self.judges.silence, x, False), y, w)]
        fold = fold_of(order_of_batch(batch, self.reading))
        return [
            WeightedRows(DenseEvidence(said, x.take(at), False), y[at], w[at]) for said, at in self.judges.each(fold, y)
        ]


@dataclass(frozen=True, eq=False)
class WeightObjectiveElsewhere(Objective):
    """The objective of rows that lie elsewhere: every question is one pass. The pass for the gradient brings the
    Hessian, which the next step asks for."""

    job: Any = None
    judging: Any = None
    mass: float = 0.0
    last: dict[bytes, tuple] = field(default_factory=dict, repr=False)

    @property
    def weight(self) -> float:
        return self.mass

    def _ask(self, what: str, *at: np.ndarray) -> tuple:
        return self.job.total(replace(self.judging, what=what, at=at)).parts

    def _plain(self, theta: np.ndarray) -> tuple:
        """Without pulls, which may change while the weights stay."""
        key = theta.tobytes()
        if key not in self.last:
            self.last.clear()
            self.last[key] = self._ask("curve" if self.layout.size <= DENSE else "slope", theta)
        return self.last[key]

    def slope(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        return self._pulled(theta, *self._plain(theta)[:2])

    def curve(self, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        loss, slope, hessian = self._plain(theta)
        hessian = hessian.copy()
        hessian.flat[:: len(hessian) + 1] += self.ridge
        return *self._pulled(theta, loss, slope), hessian

    def product(self, theta: np.ndarray, v: np.ndarray) -> np.ndarray:
        return self._ask("product", theta, v)[0] + self.ridge * v

    def diagonal(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        nothing, diagonal = self._ask("diagonal", theta)
        return nothing, diagonal + self.ridge


def folded(job: Any, model: Any) -> tuple[FoldTallies | None, LabelledTally]:
    """(the folds, all rows as one part), by a model without state."""
    while True:
        found: FoldTallies | None = job.total(TallyFolds(TallyBatch(model, job.reading)))
        if found is None:
            return None, LabelledTally.nothing()
        whole = reduce(add, found.parts)
        if not whole.again:
            return found, whole
        job = replace(job, reading=replace(job.reading, kinds=whole.kinds))


def aligned(parts: Sequence[LabelledTally], whole: LabelledTally) -> list[Any]:
    """The tallies of some parts, in the classes and levels of all; None for a fold without rows."""
    zero = replace(whole, rows=0 * whole.rows, tally=whole.tally * 0.0)
    return [None if part.tally is None else (zero + part).tally for part in parts]


def weigh(job: Any, judging: WeightObjectiveBatch, near: Objective, mass: float) -> FeatureWeights:
    """The weights, from where the sample's are."""
    start = minimise(near, tempered(near)).w
    far = begun(WeightObjectiveElsewhere((), near.prior, near.layout, near.ridge, job, judging, mass))
    return found(far, minimise(far, start))
