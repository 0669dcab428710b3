"""How far to shrink a covariance towards its variances: Ledoit and Wolf's amount (2004), from additive statistics.

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

import numpy as np

from deciban.tallies import Quartic, RowScatter


def ledoit_wolf(t: Quartic | RowScatter, c: int) -> tuple[float, np.ndarray]:
    """(amount, diagonal to shrink towards) for class c."""
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
    return (0.0 if beta <= 0 else float(beta / delta)), mu * square
