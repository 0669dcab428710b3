"""Kernel logistic regression: scores that are sums of bumps around training rows, so that columns act together.

    z_j = Φ⁻¹(share of the training rows below x_j)                      normal scores, by the middle of ties
    score_c(x) = bias_c + Σ_l coef_cl exp(−rate |z − landmark_l|²)
    objective = Σ_i w_i loss_i  +  Σ_c |f_c|² / (2 C)                    |f_c|² = coef_c K coef_c, K of the landmarks

Normal scores do not depend on the units of columns, nor on any increasing function of them, and no cell is far from all
others. The landmarks are training rows (Nyström's approximation, Williams and Seeger 2001). In columns F = K(rows,
landmarks) · K^(−½), in the coordinates of the eigenvectors of K, |f|² is a sum of squares and the curvature nearly
diagonal; coefficients times its root converge in few steps of L-BFGS.

The rate is 1 / (2 bandwidth² · mean |z − z'|²) over pairs of rows. Bandwidth and C are those of the least log loss of
held-out rows: for each bandwidth C grows while the loss falls by 1 %, and bandwidths are tried from the middle
one outwards. Each fit starts from that of a smaller C. Of many rows, a sample of 1,000 by content is held out in folds,
then one third of a sample of 4,000, near the best bandwidth and C of the first: more rows show finer detail. Rows of a
sample count as themselves: C is the variance of a score before rows are known, which does not grow with their number.

Rows count once with their weights, in an order by content: the result does not depend on the order of the rows, and a
weight is the same as copies.

>>> rng = np.random.default_rng(0)
>>> x = rng.uniform(-1, 1, (120, 2))
>>> y = (x[:, 0] * x[:, 1] > 0).astype(int)  # no column alone says anything
>>> found = learn_kernel(distinct_rows(x, y, np.ones(120), 2))
>>> bool((found.scores(x).argmax(axis=1) == y).mean() > 0.95)
True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize
from scipy.special import erf, logsumexp, ndtri, softmax

from deciban import ops
from deciban.data.blocks import Reals
from deciban.data.sampling import stratified
from deciban.engines import threads
from deciban.errors import ModelFileError
from deciban.rows.digests import row_digests, stirred

KNOTS = 256  # values of a column at which its normal score is stored
MOST = 16_384  # distinct rows that are learned from
CHOICE_FOLDS = 3
GAIN, LEAST_GAIN = 0.01, 0.002  # what a larger C or another bandwidth must gain: a share of the held-out loss, and nats
BANDWIDTHS = (2.0, 1.4, 1.0, 0.7, 0.5, 0.35, 0.25)
START = 3  # the bandwidth that is tried first
STRENGTHS = (0.25, 1.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0)  # values of C
BACK = 2  # values of C below the best one of the bandwidth before, from which the next one is tried
CHOICE_TOLERANCE, TOLERANCE = 1e-3, 1e-5  # relative decrease of the objective in a step that is the last one
FLAT = 1e-4  # least mean of P (1 − P) by which curvature is estimated
RANK = 1e-9  # eigenvalues of K that count as 0, relative to the largest
CELLS = 1 << 21  # numbers of a part of a matrix that is computed at once


@dataclass(frozen=True, eq=False)
class KernelScores:
    """The scores of classes, (n, k), and how columns share them."""

    knots: np.ndarray  # (d, q), values of each column, ascending; the last one repeated where there are fewer
    normal: np.ndarray  # (d, q), their normal scores
    landmarks: np.ndarray  # (m, d), normal scores
    rate: float
    coef: np.ndarray  # (k, m)
    bias: np.ndarray  # (k,)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        z, out = self.normal_scores(x), np.empty((len(x), len(self.bias)))
        for some in spans(len(x), len(self.landmarks)):
            bumps = kernel(z[some], self.landmarks, self.rate)
            out[some] = ops.affine(Reals(bumps), self.coef, self.bias, strict=True)
        return out

    def normal_scores(self, x: np.ndarray) -> np.ndarray:
        """Rows as normal scores, (n, d)."""
        columns = zip(x.T, self.knots, self.normal, strict=True)
        return np.stack([np.interp(cells, knots, scores) for cells, knots, scores in columns], axis=1)

    def parts(self, x: np.ndarray, baseline: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(scores (k,) of the baseline, what each column adds to them (n, k, d)), exact in sum.

        The part of a column is the integral of the derivative by it, along the straight line from the normal scores of
        the baseline to those of the row (the Aumann–Shapley value; integrated gradients). Along a line a bump is a
        normal density, so that the integral is a difference of error functions.
        """
        start, z = self.normal_scores(baseline[None])[0], self.normal_scores(x)
        base = self(baseline[None])[0]
        away = start - self.landmarks  # (m, d)
        k, d = len(base), len(start)
        spread = (away[:, None, :] * self.coef.T[:, :, None]).reshape(len(away), k * d)
        parts = np.empty((len(x), k, d))
        for some in spans(len(x), len(self.landmarks)):
            step = z[some] - start  # (n, d)
            whole, moment = self._integrals(step, away)
            inner = (whole @ spread).reshape(len(step), k, d) + (moment @ self.coef.T)[:, :, None] * step[:, None, :]
            parts[some] = -2.0 * self.rate * step[:, None, :] * inner
        return base, parts

    def _integrals(self, step: np.ndarray, away: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """∫ exp(−rate |away + t step|²) dt and the same of t exp(…), over t in [0, 1], (n, m)."""
        length = np.maximum((step * step).sum(axis=1, keepdims=True), 1e-300)
        along = step @ away.T  # (n, m)
        far = (away * away).sum(axis=1)
        at = along / length  # the line is nearest to the landmark at t = −at
        root = np.sqrt(self.rate * length)
        height = np.exp(-self.rate * np.maximum(far - along * at, 0.0))
        whole = height * np.sqrt(np.pi) / 2.0 * (erf(root * (1.0 + at)) - erf(root * at)) / root
        ends = np.exp(-self.rate * far) - np.exp(-self.rate * np.maximum(far + 2.0 * along + length, 0.0))
        return whole, ends / (2.0 * self.rate * length) - at * whole

    @property
    def rows_kept(self) -> int:
        """How many training rows can be read from it: landmarks are rows."""
        return len(self.landmarks)

    def without_rows(self) -> Any:
        raise ModelFileError(
            "kernel logistic regression compares rows with training rows: there is none without them\n\n"
            "hint: save it with rows=True, or fit LogisticRegression, which keeps coefficients"
        )

    def linear(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Columns (n, r) of rows in which scores are linear and the penalty is a sum of squares, and their coefficients
        (k, r)."""
        root, back = roots(self.landmarks, self.rate)
        return kernel(self.normal_scores(x), self.landmarks, self.rate) @ root, self.coef @ back

    def is_consistent(self, k: int, d: int) -> bool:
        """Whether shapes and values are those of k classes and d columns."""
        arrays = (self.knots, self.normal, self.landmarks, self.coef, self.bias)
        if not all(isinstance(a, np.ndarray) and a.dtype == np.float64 and np.isfinite(a).all() for a in arrays):
            return False
        q, m = self.knots.shape[-1:], len(self.landmarks) if self.landmarks.ndim else 0
        shapes = self.knots.shape == self.normal.shape == (d, *q) and self.landmarks.shape == (m, d)
        fine = shapes and q != (0,) and m > 0 and self.coef.shape == (k, m) and self.bias.shape == (k,)
        sorted_ = fine and bool((np.diff(self.knots, axis=1) >= 0).all())
        return sorted_ and isinstance(self.rate, float) and 0 < self.rate < np.inf


def spans(n: int, m: int) -> list[slice]:
    """Parts of the rows of a matrix (n, m) that are computed at once."""
    size = max(1, CELLS // m)
    return [slice(start, start + size) for start in range(0, n, size)]


def kernel(z: np.ndarray, landmarks: np.ndarray, rate: float) -> np.ndarray:
    """exp(−rate |z − landmark|²), (n, m): the bits of a row do not depend on other rows, but of wide tables."""
    out = ops.affine(Reals(np.ascontiguousarray(z)), landmarks, np.zeros(len(landmarks)), strict=True)
    out *= -2.0
    out += (z * z).sum(axis=1)[:, None]
    out += (landmarks * landmarks).sum(axis=1)
    np.maximum(out, 0.0, out=out)
    out *= -rate
    return np.exp(out, out=out)


def roots(landmarks: np.ndarray, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """K^(−½) and K^½ of the landmarks, (m, r) each, in the coordinates of the eigenvectors of K."""
    value, vector = eigh(kernel(landmarks, landmarks, rate))
    kept = value > RANK * value[-1]
    root = np.sqrt(value[kept])
    return vector[:, kept] / root, vector[:, kept] * root


@dataclass(frozen=True, eq=False)
class KernelRows:
    """Distinct rows in an order by content, with their weights."""

    x: np.ndarray  # (n, d)
    y: np.ndarray  # (n,)
    w: np.ndarray  # (n,)
    k: int

    @property
    def n(self) -> int:
        return len(self.y)

    def subset(self, most: int, whole: bool = True) -> KernelRows:
        """The first rows of each class, whose weights add up to those of the class, or (not `whole`) are in the
        proportions of the classes, with the mean weight of all rows."""
        if self.n <= most:
            return self
        at = stratified(np.arange(self.n), self.y, most)
        each, part = np.bincount(self.y, self.w, self.k), np.bincount(self.y[at], self.w[at], self.k)
        factor = np.divide(each, part, out=np.ones(self.k), where=part > 0)
        if not whole:
            factor *= len(at) / self.n
        return KernelRows(self.x[at], self.y[at], self.w[at] * factor[self.y[at]], self.k)

    @cached_property
    def folds(self) -> np.ndarray:
        """The fold (n,) of each row, class by class."""
        out = np.empty(self.n, dtype=np.intp)
        out[np.argsort(self.y, kind="stable")] = np.arange(self.n) % CHOICE_FOLDS
        return out

    def landmarks(self, most: int) -> np.ndarray:
        """The numbers of the first distinct rows of columns, at most so many."""
        _, first = np.unique(row_digests(Reals(self.x)), return_index=True)
        return np.sort(first)[:most]


def distinct_rows(x: np.ndarray, y: np.ndarray, w: np.ndarray, k: int) -> KernelRows:
    """Rows (n, d) with class codes and weights as distinct rows of positive weight, `MOST` of them."""
    digest = stirred(row_digests(Reals(x)) + stirred(y.astype(np.uint64) + np.uint64(1)))
    there = np.lexsort((w, digest))  # weights of equal rows are added in their own order
    there = there[w[there] > 0]
    _, first, place = np.unique(digest[there], return_index=True, return_inverse=True)
    at = there[first]
    return KernelRows(x[at], y[at], np.bincount(place, w[there]), k).subset(MOST)


def normal_knots(x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(values of each column, their normal scores), (d, q) each.

    >>> knots, scores = normal_knots(np.array([[1.0], [2.0], [2.0], [9.0]]), np.ones(4))
    >>> knots.tolist(), scores.round(2).tolist()
    ([[1.0, 2.0, 9.0]], [[-1.15, 0.0, 1.15]])
    """
    found = []
    for cells in x.T:
        values, place = np.unique(cells, return_inverse=True)
        mass = np.bincount(place, w)
        rank = (np.cumsum(mass) - mass / 2) / mass.sum()
        if len(values) > KNOTS:
            at = np.unique(np.searchsorted(rank, np.linspace(rank[0], rank[-1], KNOTS)))
            values, rank = values[at], rank[at]
        found.append((values, ndtri(rank)))
    q = max((len(values) for values, _ in found), default=1)
    knots, scores = (np.stack([np.pad(one[i], (0, q - len(one[i])), "edge") for one in found]) for i in (0, 1))
    return knots, scores


# one fit


@dataclass(frozen=True, eq=False)
class Fit:
    """The minimum of the objective."""

    theta: np.ndarray  # (r + 1, k), coefficients of features, and the biases
    n_iter: int
    converged: bool


@dataclass(frozen=True, eq=False)
class Features:
    """Rows in columns in which the norm of a score is that of its coefficients."""

    values: np.ndarray  # (n, r), centred
    to_landmarks: np.ndarray  # (m, r), from coefficients to those of landmarks
    centre: np.ndarray  # (r,)
    curvature: np.ndarray  # (r,), Σ w values²
    mass: float  # Σ w

    @classmethod
    def of(cls, z: np.ndarray, w: np.ndarray, landmarks: np.ndarray, rate: float) -> Features:
        root, _ = roots(landmarks, rate)
        values, mass = np.empty((len(z), root.shape[1])), float(w.sum())

        def fill(some: slice) -> np.ndarray:
            part = np.matmul(kernel(z[some], landmarks, rate), root, out=values[some])
            return np.stack([w[some] @ part, w[some] @ (part * part)])

        first, second = threads.total(spans(len(z), len(landmarks)), fill)
        centre = first / mass
        values -= centre
        return cls(values, root, centre, np.maximum(second - centre * first, 0.0), mass)

    def fit(self, y: np.ndarray, w: np.ndarray, k: int, C: float, start: Fit | None, tol: float, max_iter: int) -> Fit:
        """The minimum for some of the rows: those whose weight is not 0."""
        there = np.flatnonzero(w > 0)
        values, y, w = self.values if len(there) == len(w) else self.values[there], y[there], w[there]
        parts, mass = spans(*values.shape), float(w.sum())
        first = np.zeros((values.shape[1] + 1, k)) if start is None else start.theta
        proba = softmax(values @ first[:-1] + first[-1], axis=1)
        spread = max(float(w @ (proba * (1.0 - proba)).mean(axis=1)) / mass, FLAT)
        curvature = np.append(mass / self.mass * spread * self.curvature + 1.0 / C, mass * spread)
        scale = np.sqrt(curvature)[:, None]

        def slope(flat: np.ndarray) -> tuple[float, np.ndarray]:
            theta = flat.reshape(-1, k) / scale

            def of_rows(some: slice) -> np.ndarray:
                """The gradient by coefficients and biases, and the loss."""
                scores = values[some] @ theta[:-1]
                scores += theta[-1]
                scores -= scores.max(axis=1, keepdims=True)
                own = np.arange(len(scores)), y[some]
                loss = -scores[own]
                rest = np.exp(scores, out=scores)
                sums = rest.sum(axis=1)
                loss += np.log(sums)
                rest *= (w[some] / sums)[:, None]
                rest[own] -= w[some]
                return np.concatenate([(values[some].T @ rest).ravel(), rest.sum(axis=0), [w[some] @ loss]])

            found = threads.total(parts, of_rows)
            gradient = found[:-1].reshape(-1, k)
            gradient[:-1] += theta[:-1] / C
            return float(found[-1]) + 0.5 / C * float((theta[:-1] ** 2).sum()), (gradient / scale).ravel()

        options = {"maxiter": max_iter, "ftol": tol, "gtol": 1e-9}
        found = minimize(slope, (first * scale).ravel(), jac=True, method="L-BFGS-B", options=options)
        return Fit(found.x.reshape(-1, k) / scale, int(found.nit), found.status != 1)

    def scores(self, fit: Fit, rows: np.ndarray) -> np.ndarray:
        return self.values[rows] @ fit.theta[:-1] + fit.theta[-1]


# the choice of bandwidth and C


@dataclass(frozen=True, eq=False)
class KernelFit:
    """Fitted scores, and what was chosen by which held-out log loss."""

    scores: KernelScores
    bandwidth: float
    C: float
    held_out: dict[tuple[float, float], float]  # (bandwidth, C) → mean log loss
    n_iter: int
    converged: bool


def learn_kernel(
    rows: KernelRows,
    bandwidths: Sequence[float] = BANDWIDTHS,
    strengths: Sequence[float] = STRENGTHS,
    landmarks: int = 1000,
    max_iter: int = 500,
) -> KernelFit:
    """The minimum for these rows, by the best of these bandwidths and values of C."""
    knots, normal = normal_knots(rows.x, rows.w)
    empty = np.zeros((1, rows.x.shape[1]))
    scores = KernelScores(knots, normal, empty, 1.0, np.zeros((rows.k, 1)), np.zeros(rows.k))
    z = scores.normal_scores(rows.x)
    mean = rows.w @ z / rows.w.sum()
    distance = 2.0 * float((rows.w @ (z - mean) ** 2).sum() / rows.w.sum())  # mean of |z − z'|²
    rates = [0.5 / (bandwidth**2 * distance) if distance > 0 else 1.0 for bandwidth in bandwidths]
    grid = Grid(bandwidths, rates, strengths)
    at, first = grid.middle, 0
    held_out: dict[tuple[float, float], float] = {}
    for search in SEARCHES[: 1 if rows.n < ENOUGH else 2] if grid.is_choice else ():
        at, held_out = search.choose(rows, scores, grid, max_iter, at[0], first)
        first = max(0, at[1] - 1)
    rate, bandwidth, C = rates[at[0]], bandwidths[at[0]], strengths[at[1]]
    points = z[rows.landmarks(landmarks)]
    features = Features.of(z, rows.w, points, rate)
    fit = None
    for strength, tolerance in ((C / 100, CHOICE_TOLERANCE), (C / 10, CHOICE_TOLERANCE), (C, TOLERANCE)):
        fit = features.fit(rows.y, rows.w, rows.k, strength, fit, tolerance, max_iter)
    assert fit is not None
    coef = features.to_landmarks @ fit.theta[:-1]
    bias = fit.theta[-1] - features.centre @ fit.theta[:-1]
    scores = replace(scores, landmarks=points, rate=rate, coef=np.ascontiguousarray(coef.T), bias=bias)
    return KernelFit(scores, bandwidth, C, held_out, fit.n_iter, fit.converged)


@dataclass(frozen=True)
class Grid:
    """What is tried: bandwidths, from wide to narrow, with their rates, and ascending values of C."""

    bandwidths: Sequence[float]
    rates: Sequence[float]
    strengths: Sequence[float]

    @property
    def is_choice(self) -> bool:
        return len(self.bandwidths) > 1 or len(self.strengths) > 1

    @property
    def middle(self) -> tuple[int, int]:
        """The bandwidth to start from, and the C where none can be chosen."""
        return min(START, len(self.bandwidths) - 1), min(1, len(self.strengths) - 1)


@dataclass(frozen=True)
class Search:
    """One round of the choice of bandwidth and C."""

    rows: int  # distinct rows of the sample
    landmarks: int
    folds: int  # of `CHOICE_FOLDS`, that are held out

    def choose(
        self, rows: KernelRows, scores: KernelScores, grid: Grid, max_iter: int, place: int, first: int
    ) -> tuple[tuple[int, int], dict[tuple[float, float], float]]:
        """((which bandwidth, which C), mean log loss of held-out rows by (bandwidth, C)). The bandwidth with the number
        `place` is tried first, from the C with the number `first` on. A class of one row is not scored."""
        rows = rows.subset(self.rows, whole=False)
        scored = np.bincount(rows.y, minlength=rows.k)[rows.y] > 1
        held = [np.flatnonzero((rows.folds == fold) & scored) for fold in range(self.folds)]
        mass = float(sum(rows.w[own].sum() for own in held))
        found: dict[tuple[float, float], float] = {}
        if not mass:
            return grid.middle, found
        z, points = scores.normal_scores(rows.x), rows.landmarks(self.landmarks)

        def best(place: int, first: int) -> tuple[float, int]:
            """(the least log loss of a bandwidth, by which C from a number on)"""
            features = Features.of(z, rows.w, z[points], grid.rates[place])
            fits: list[Fit | None] = [None] * self.folds
            least, number = np.inf, first
            for at, C in enumerate(grid.strengths[first:], start=first):
                total = 0.0
                for fold, own in enumerate(held):
                    w = np.where(rows.folds == fold, 0.0, rows.w)
                    fits[fold] = fit = features.fit(rows.y, w, rows.k, C, fits[fold], CHOICE_TOLERANCE, max_iter)
                    logs = features.scores(fit, own)
                    total += float(rows.w[own] @ (logsumexp(logs, axis=1) - logs[np.arange(len(own)), rows.y[own]]))
                loss = found[grid.bandwidths[place], C] = total / mass
                if not is_less(loss, least):
                    break
                least, number = loss, at
            return least, number

        middle = place
        least, number = best(place, first)
        for step in (1, -1):
            near = number
            while 0 <= place + step < len(grid.bandwidths):
                loss, near = best(place + step, max(0, near - BACK))
                if not is_less(loss, least):
                    break
                place, least, number = place + step, loss, near
            if place != middle:
                break
        return (place, number), found


def is_less(loss: float, least: float) -> bool:
    """Whether a held-out loss is lower by more than chance and rounding make it."""
    return loss < least - max(GAIN * least, LEAST_GAIN) if np.isfinite(least) else loss < least


SEARCHES = (Search(1000, 300, CHOICE_FOLDS), Search(4000, 500, 1))
ENOUGH = 2000  # distinct rows from which on there is a second search
