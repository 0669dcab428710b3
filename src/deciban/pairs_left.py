"""Fisher's rule for a pair of classes, each row of the first of them left out in turn.

Without a row, δ = x − mean_a, the covariance of a is τ Σ_a − φ δδᵀ and its mean mean_a − c δ, with τ = n / (n − 1),
c = 1 / (n − 1) and φ = n / (n − 1)². With B = (τ Σ_a + Σ_b)⁻¹, Sherman and Morrison's formula makes the direction
w = (Σ_a + Σ_b)⁻¹ (mean_a − mean_b) a sum r + s p of r = B (mean_a − mean_b) and p = B δ: everything else is products of
r, p, δ and the covariances.

>>> import numpy as np
>>> x = np.array([[0.0], [2.0], [4.0]])  # and a class of mean 10, variance 1; without 4: mean 1, variance 1
>>> odds_left(x - 2, np.array([[8 / 3]]), 3.0, np.array([-8.0]), np.array([[1.0]]))[2:].round(6).tolist()
[13.5]
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

SAFE = 1e-6  # what must be left of a covariance along a row, and of one deviation beside the other, to keep all digits
ALONE = 1 << 18  # multiplications up to which BLAS does not wake its own threads, which would fight with ours


def odds_left(rows: np.ndarray, cov_a: np.ndarray, n: float, apart: np.ndarray, cov_b: np.ndarray) -> np.ndarray:
    """log odds a : b of rows (m, d) of a, less its mean, of weight 1 each (a weighs n), each left out; `apart` is
    mean_a − mean_b. NaN where digits would be lost."""
    out = np.full(len(rows), np.nan)
    if n <= 2:
        return out
    tau, c, phi = n / (n - 1), 1 / (n - 1), n / (n - 1) ** 2
    try:
        inverse = linalg.inv(linalg.cholesky(tau * cov_a + cov_b, lower=True))
    except linalg.LinAlgError:
        return out
    inverse = inverse.T @ inverse
    r = inverse @ apart
    away, own = r @ cov_b @ r, r @ cov_a
    step = max(16, ALONE // rows.shape[1] ** 2)
    for start in range(0, len(rows), step):
        delta = rows[start : start + step]
        p = delta @ inverse
        inner = p @ cov_a
        h, e = np.einsum("ij,ij->i", p, delta), delta @ r
        left = 1 - phi * h
        s = phi * (e - c * h) / left - c
        slope = e + s * h  # w · δ
        with_r, with_p = p @ own, np.einsum("ij,ij->i", inner, p)
        spread_a = tau * (own @ r + s * (2 * with_r + s * with_p)) - phi * slope**2
        spread_b = away + s * (2 * (e - tau * with_r) + s * (h - tau * with_p))  # as B⁻¹ = τ Σ_a + Σ_b
        dev_a, dev_b = (np.sqrt(np.maximum(spread, 0.0)) for spread in (spread_a, spread_b))
        between = r @ apart + s * (p @ apart)  # w · (mean_a − mean_b), the row still in mean_a
        odds = 2.0 * (between + slope - (between - c * slope) * dev_b / (dev_a + dev_b))
        lost = (left < SAFE) | ~(np.minimum(dev_a, dev_b) > SAFE * (dev_a + dev_b))
        out[start : start + step] = np.where(lost, np.nan, odds)
    return out
