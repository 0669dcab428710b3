"""Covariance matrices, dense or low-rank, and their inverses.

A `DenseCovariance` covariance is its d × d matrix. A `LowRankCovariance` one is a few rows and a diagonal, rowsᵀ
diag(sign) rows + diag(d), so that 20,000 columns with 200 rows need only 200 × 200 matrices. Both can be scaled, added,
shrunk and inverted; the inverse is a `Precision`: z ↦ |z|² in the metric of Σ⁻¹.

>>> import numpy as np
>>> DenseCovariance(np.diag([4.0, 1.0])).inverse().norms(np.array([[2.0, 3.0]])).tolist()
[10.0]

How far to shrink a covariance towards its variances: Ledoit and Wolf's amount (2004), from additive statistics.

For standardised rows z of one class, with S = zᵀz / n:  amount = min(β, δ) / δ,
β = (Σ_i |z_i|⁴ / n − |S|²) / (d n),   δ = (|S|² − 2 μ tr S + d μ²) / d,   μ = tr S / d.

>>> import numpy as np
>>> from deciban.tallies import RowScatter
>>> rows = np.random.default_rng(0).normal(size=(20, 30))
>>> amount, target = ledoit_wolf(RowScatter.of(rows, np.zeros(20, dtype=int), None, 1), 0)
>>> 0 < amount < 1, target.shape
(True, (30,))
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy import linalg
from scipy.linalg.lapack import dtrtri

from deciban.errors import SingularError
from deciban.tallies import Quartic, RowScatter, Scatter

RANK = 1e-10  # eigenvalues of a correlation matrix up to this are zero to us
NEARLY_SINGULAR = 1e3  # 1 / √(eigenvalue of the correlation matrix), from which on solutions are refined
EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Precision:
    """zᵀ Σ⁻¹ z = base · |u|² + sign · |basisᵀ u|² with u = z · scale."""

    scale: np.ndarray  # (d,)
    base: float
    sign: float
    basis: np.ndarray  # (d, r)
    logdet: float  # of Σ, on its range
    rank: int

    def norms(self, z: np.ndarray) -> np.ndarray:
        u = z * self.scale
        v = u @ self.basis
        inner = np.einsum("ij,ij->i", v, v)
        if self.base == 0:
            return inner
        return np.maximum(self.base * np.einsum("ij,ij->i", u, u) + self.sign * inner, 0.0)

    def apply(self, z: np.ndarray) -> np.ndarray:
        """Σ⁻¹ z for each row z."""
        u = z * self.scale
        return (self.base * u + self.sign * (u @ self.basis) @ self.basis.T) * self.scale


@dataclass(frozen=True)
class DenseCovariance:
    matrix: np.ndarray  # (d, d)

    @property
    def d(self) -> int:
        return self.matrix.shape[0]

    @property
    def variances(self) -> np.ndarray:
        return np.diagonal(self.matrix)

    def __add__(self, other: DenseCovariance) -> DenseCovariance:
        return DenseCovariance(self.matrix + other.matrix)

    def __mul__(self, scale: float) -> DenseCovariance:
        return DenseCovariance(self.matrix * scale)

    def plus_diagonal(self, diagonal) -> DenseCovariance:
        matrix = self.matrix.copy()
        matrix[np.diag_indices_from(matrix)] += diagonal
        return DenseCovariance(matrix)

    def correlation(self) -> tuple[np.ndarray, np.ndarray]:
        """(deviations, correlation matrix); a constant column has deviation 1 and a row of zeros."""
        deviation = np.sqrt(np.maximum(self.variances, 0.0))
        deviation = np.where(deviation > 0, deviation, 1.0)
        return deviation, self.matrix / deviation[:, None] / deviation

    def spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues from the largest, and their vectors as columns."""
        values, vectors = linalg.eigh(self.matrix)
        return values[::-1], vectors[:, ::-1]

    def least_correlation(self) -> float:
        """The smallest eigenvalue of the correlation matrix: 0 where some column is a mix of others."""
        return float(linalg.eigvalsh(self.correlation()[1])[0]) if self.d else 1.0

    def is_singular(self, limit: float) -> bool:
        """Whether the smallest eigenvalue of the correlation matrix is at most `limit`: a Cholesky factor shows it ten
        times as fast as the eigenvalues do."""
        try:
            linalg.cholesky(self.correlation()[1] - limit * np.eye(self.d))
        except linalg.LinAlgError:
            return True
        return False

    def inverse(self, tol: float = RANK, means: np.ndarray | None = None) -> Precision:
        """On the range of the matrix: directions whose correlation eigenvalue is ≤ tol are left out, unless they
        separate these class means (k, d)."""
        deviation, correlation = self.correlation()
        values, vectors = linalg.eigh(correlation)
        keep = values > tol
        if means is not None and not keep.all():
            # The smaller residual of Σ a = m wins: without direction v it is |vᵀm|; with v it is rounding, unless the
            # eigenvalue is rounding too (the cutoff of NumPy's matrix_rank). If |vᵀm| is rounding, v is left out.
            scaled = means / deviation
            apart = np.abs((scaled - scaled[0]) @ vectors).max(axis=0)
            keep |= (values > self.d * EPSILON * values[-1]) & (apart > 64 * EPSILON * np.abs(scaled).max())
        basis = vectors[:, keep] / np.sqrt(values[keep])
        logdet = float(np.log(values[keep]).sum() + 2 * np.log(deviation).sum())
        return Precision(1.0 / deviation, 0.0, 1.0, basis, logdet, int(keep.sum()))

    def solve(self, precision: Precision, z: np.ndarray) -> np.ndarray:
        """Σ⁻¹ z for each row z, by an inverse of full rank. Where some direction has next to no variance, the rounding
        of the inverse is taken back by two steps of iterative refinement: x + Σ⁻¹ (z − Σ x)."""
        x = precision.apply(z)
        if precision.rank == self.d and np.abs(precision.basis).max(initial=0.0) > NEARLY_SINGULAR:
            for _ in range(2):
                x = x + precision.apply(z - x @ self.matrix)
        return x

    def triangle(self) -> tuple[np.ndarray, float]:
        """(A, log det) with A lower triangular and AᵀA the inverse."""
        deviation, correlation = self.correlation()
        try:
            lower = linalg.cholesky(correlation)
        except linalg.LinAlgError as bad:
            raise SingularError("the covariance matrix has no inverse\n\nhint: shrink it (`shrinkage=0.1`)") from bad
        white = dtrtri(lower, lower=1)[0] / deviation
        return np.ascontiguousarray(white), float(2 * (np.log(np.diagonal(lower)).sum() + np.log(deviation).sum()))

    def part(self, columns: np.ndarray) -> DenseCovariance:
        return DenseCovariance(self.matrix[np.ix_(columns, columns)])

    def draw(self, rng: np.random.Generator, n: int) -> np.ndarray:
        values, vectors = linalg.eigh(self.matrix)
        return (rng.standard_normal((n, self.d)) * np.sqrt(np.maximum(values, 0.0))) @ vectors.T

    def deviation(self, w: np.ndarray) -> float:
        """The standard deviation of x·w."""
        return float(np.sqrt(max(w @ self.matrix @ w, 0.0)))

    def dense(self) -> np.ndarray:
        return self.matrix


@dataclass(frozen=True)
class LowRankCovariance:
    rows: np.ndarray  # (m, d)
    sign: np.ndarray  # (m,): −1 for removed rows
    diagonal: np.ndarray  # (d,)

    @property
    def d(self) -> int:
        return self.rows.shape[1]

    @property
    def variances(self) -> np.ndarray:
        return np.einsum("i,ij,ij->j", self.sign, self.rows, self.rows) + self.diagonal

    def __add__(self, other: LowRankCovariance) -> LowRankCovariance:
        return LowRankCovariance(
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.sign, other.sign]),
            self.diagonal + other.diagonal,
        )

    def __mul__(self, scale: float) -> LowRankCovariance:
        return LowRankCovariance(self.rows * np.sqrt(scale), self.sign, self.diagonal * scale)

    def plus_diagonal(self, diagonal) -> LowRankCovariance:
        return replace(self, diagonal=self.diagonal + diagonal)

    def _spectrum(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues (from the largest) and vectors (d, r) of rowsᵀ diag(sign) rows, through m × m matrices."""
        plus, minus = rows[self.sign > 0], rows[self.sign < 0]
        gram, turn = linalg.eigh(plus @ plus.T)
        keep = gram > 1e-13 * max(gram[-1] if len(gram) else 0.0, 1e-300)
        frame = (plus.T @ turn[:, keep]) / np.sqrt(gram[keep])  # an orthonormal basis of the rows
        values, vectors = gram[keep], frame
        if len(minus):  # removed rows lie in the span of the added ones
            cut = minus @ frame
            values, turn = linalg.eigh(np.diag(values) - cut.T @ cut)
            vectors = frame @ turn
        order = np.argsort(values)[::-1]
        return np.maximum(values[order], 0.0), vectors[:, order]

    def spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues and vectors on the span of the rows; outside of it there is the diagonal alone."""
        values, vectors = self._spectrum(self.rows)
        return values + np.einsum("j,jr->r", self.diagonal, vectors**2), vectors

    def least_correlation(self) -> float:
        return 1.0 if (self.diagonal > 0).all() else 0.0

    def is_singular(self, limit: float) -> bool:
        return self.least_correlation() <= limit

    def inverse(self, tol: float = RANK, means: np.ndarray | None = None) -> Precision:
        """As that of a dense covariance; the means of fewer rows than columns keep no direction."""
        if (self.diagonal > 0).all():
            scale = 1.0 / np.sqrt(self.diagonal)
            values, vectors = self._spectrum(self.rows * scale)
            gain = np.sqrt(values / (1.0 + values))
            logdet = float(np.log(self.diagonal).sum() + np.log1p(values).sum())
            return Precision(scale, 1.0, -1.0, vectors * gain, logdet, self.d)
        deviation = np.sqrt(np.maximum(self.variances, 0.0))
        deviation = np.where(deviation > 0, deviation, 1.0)
        values, vectors = self._spectrum(self.rows / deviation)
        keep = values > tol
        basis = vectors[:, keep] / np.sqrt(values[keep])
        logdet = float(np.log(values[keep]).sum() + 2 * np.log(deviation).sum())
        return Precision(1.0 / deviation, 0.0, 1.0, basis, logdet, int(keep.sum()))

    def solve(self, precision: Precision, z: np.ndarray) -> np.ndarray:
        return precision.apply(z)

    def part(self, columns: np.ndarray) -> LowRankCovariance:
        return LowRankCovariance(self.rows[:, columns], self.sign, self.diagonal[columns])

    def draw(self, rng: np.random.Generator, n: int) -> np.ndarray:
        values, vectors = self._spectrum(self.rows)
        inner = rng.standard_normal((n, len(values))) * np.sqrt(values)
        return inner @ vectors.T + rng.standard_normal((n, self.d)) * np.sqrt(self.diagonal)

    def deviation(self, w: np.ndarray) -> float:
        return float(np.sqrt(max(self.sign @ (self.rows @ w) ** 2 + self.diagonal @ w**2, 0.0)))

    def dense(self) -> np.ndarray:
        matrix = (self.rows * self.sign[:, None]).T @ self.rows
        matrix[np.diag_indices_from(matrix)] += self.diagonal
        return matrix


Covariance = DenseCovariance | LowRankCovariance


def shrink(cov: Covariance, amount: float, target: np.ndarray | float | None = None) -> Covariance:
    """(1 − amount) Σ + amount · target, by default the mean variance on the diagonal."""
    if amount == 0:
        return cov
    target = float(cov.variances.mean()) if target is None else target
    return (cov * (1 - amount)).plus_diagonal(amount * np.broadcast_to(target, cov.d))


def degrees_of_freedom(n: np.ndarray, ddof: float) -> np.ndarray:
    """n − ddof of each class (k,); 0 for classes with fewer rows. Covariances are scatters over these."""
    return np.maximum(n - ddof, 0.0) if ddof else n


def class_covariances(t: Scatter | RowScatter | Quartic, ddof: float = 0.0) -> list[Covariance]:
    """Scatter over n − ddof: of each class, or the pooled one alone where the tally is pooled. No rows give zeros."""
    free = degrees_of_freedom(t.n, ddof)
    n = np.maximum(free.sum(keepdims=True) if t.pooled else np.where(free > 0, free, t.n), 1e-300)
    if not isinstance(t, RowScatter):
        return [DenseCovariance(s / weight) for s, weight in zip(t.scatter, n, strict=True)]
    rows = t.centred() * np.sqrt(np.abs(t.w) / (n[0] if t.pooled else n[t.y]))[:, None]
    sign, zero = np.sign(t.w), np.zeros(rows.shape[1])
    if t.pooled:
        return [LowRankCovariance(rows, sign, zero)]
    return [LowRankCovariance(rows[t.y == c], sign[t.y == c], zero) for c in range(t.k)]


def diagonal(cov: Covariance) -> LowRankCovariance:
    """The variances alone."""
    return LowRankCovariance(np.zeros((0, cov.d)), np.zeros(0), cov.variances)


def ledoit_wolf(t: Quartic | RowScatter, c: int, ddof: float = 0.0) -> tuple[float, np.ndarray]:
    """(amount, diagonal to shrink towards) for class c; the diagonal is one of scatters over n − ddof."""
    n = t.n[c]
    if isinstance(t, Quartic):
        variance = np.diagonal(t.p11[c]) / n
        square = np.where(variance > 0, variance, 1.0)
        fourth = (t.p22[c] / square[:, None] / square).sum()
        frobenius = ((t.p11[c] / n) ** 2 / square[:, None] / square).sum()
    else:
        mine = t.y == c
        centred, w = t.centred()[mine], t.w[mine]
        variance = (w[:, None] * centred**2).sum(axis=0) / n
        square = np.where(variance > 0, variance, 1.0)
        z = centred / np.sqrt(square)
        gram = z @ z.T
        fourth = (w * np.diagonal(gram) ** 2).sum()
        frobenius = (gram**2 * w[:, None] * w).sum() / n**2
    d = len(variance)
    trace = (variance / square).sum()
    mu = trace / d
    delta = (frobenius - 2 * mu * trace + d * mu**2) / d
    beta = min((fourth / n - frobenius) / (d * n), delta)
    whole = n / (n - ddof) if n > ddof else 1.0
    return (0.0 if beta <= 0 else float(beta / delta)), mu * whole * square
