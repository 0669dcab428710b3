"""The specification of the operations that leave rows out: NumPy. `left_ops` runs the compiled twin instead."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Pairs:
    """Class a of weight n against q others. In the coordinates turn[b], Σ_a + Σ_b is the identity and Σ_a diagonal."""

    n: float
    mean: np.ndarray  # (d,), of a
    turn: np.ndarray  # (q, d, d)
    part: np.ndarray  # (q, d), Σ_a in those coordinates
    apart: np.ndarray  # (q, d), mean_a − mean_b in them
    least: np.ndarray  # (q,), what must stay of the covariance along a row


@dataclass(frozen=True)
class Shrunk:
    """f covariances with p means each, in the coordinates white[f] where each is the identity."""

    mean: np.ndarray  # (d,), of the rows' class
    white: np.ndarray  # (f, d, d)
    rest: np.ndarray  # (f, d), −(the share of the base along each axis)
    t: np.ndarray  # (f, p, d), mean − means


@dataclass(frozen=True)
class Students:
    """Normal–inverse-gamma posteriors of k classes, and what of them a row of weight 1 takes along."""

    mean: np.ndarray  # (k, d)
    half: np.ndarray  # (k, d), ½ m2
    inverse: np.ndarray  # (k, d), 1 / scale, of all rows
    whole: np.ndarray  # (5, k): n / κ, κ₀ n / 2κ, κ / (2 (κ + 1)), a + ½, and the sum of log densities at the location
    left: np.ndarray  # (5, k), the same of n − 1
    moves: np.ndarray  # (3, k): 1 / (n − 1), ½ n / (n − 1), and what of a row's square the scale of the prior loses
    prior: np.ndarray  # (3, d): its mean, the mean of all rows, its scale before it loses anything
    sway: float  # how far a row moves the mean of the prior
    part: float  # what of its square about the mean of all rows the scale loses


def left_normals(cells, y, mean, scale, bias, far, deep: float) -> np.ndarray:
    """bias − ½ (Σ log r + far Σ e / r), e = (scale (x − mean))² and r = 1 − e, of each row in its own class y; NaN
    where Π r is not above `deep`. (n,)"""
    e = ((cells - mean[y]) * scale[y]) ** 2
    rest = 1.0 - e
    with np.errstate(all="ignore"):
        product = rest.prod(axis=1)
        own = bias[y] - 0.5 * (np.log(product) + far[y] * (e / rest).sum(axis=1))
        return np.where(product > deep, own, np.nan)


def left_pairs(cells: np.ndarray, w: np.ndarray | None, p: Pairs, safe: float) -> np.ndarray:
    """Log odds (q, m) of rows of class a against q others, each row left out of a."""
    weight = np.ones((1, 1)) if w is None else w[:, None]
    with np.errstate(all="ignore"):
        rest = np.where(p.n - weight > 1e-9 * p.n, p.n - weight, np.nan)
        tau, c = p.n / rest[:, 0], weight[:, 0] / rest[:, 0]
        phi, delta, out = tau * c, cells - p.mean, np.empty((len(p.part), len(cells)))
        for b, (turn, part, t) in enumerate(zip(p.turn, p.part, p.apart, strict=True)):
            z = delta @ turn.T
            beta = 1.0 / (1.0 + weight / rest * part)  # B = (τ Σ_a + Σ_b)⁻¹ in the turned coordinates
            e, h, r = (beta * z * t).sum(1), (beta * z * z).sum(1), (beta * t * t).sum(1)
            left = 1.0 - phi * h
            s = phi * (e - c * h) / left - c
            both = beta * (t + s[:, None] * z)  # the direction, B (t + s z)
            slope, own = e + s * h, (both * both * part).sum(1)
            spread_b = (both * both * (1.0 - part)).sum(1)
            dev_a, dev_b = (np.sqrt(np.maximum(a, 0.0)) for a in (tau * own - phi * slope**2, spread_b))
            between = r + s * e  # w · (mean_a − mean_b), the row still in mean_a
            odds = 2.0 * (between + slope - (between - c * slope) * dev_b / (dev_a + dev_b))
            sure = (left > p.least[b]) & (np.minimum(dev_a, dev_b) * (dev_a + dev_b) > safe * (tau * own + spread_b))
            out[b] = np.where(sure, odds, np.nan)
        return out


def left_shrunk(x: np.ndarray, s: Shrunk, phi, tau, gone) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(norms (f, p, m), lever (f, m), det E (f, m)): |t + δ|² in the metric (E − φ δδᵀ) τ, E = 1 + rest · gone."""
    u = s.white @ (x - s.mean).T  # (f, d, m)
    e = 1.0 + s.rest[:, :, None] * gone[:, None]
    uu = (u * u / e).sum(axis=1)
    lever = 1.0 - phi * uu
    near = s.t @ (u / e) + uu[:, None]
    norms = (s.t * s.t) @ (1.0 / e) - uu[:, None] + near * (2.0 + near * (phi / lever)[:, None])
    return norms / tau[:, None], lever, e.prod(axis=1)


def left_students(cells: np.ndarray, y: np.ndarray, s: Students, deep: float) -> np.ndarray:
    """Log densities (n, k) of rows under each class, the row out of its own class y and out of the prior."""
    rows = np.arange(len(cells))
    away, step, drop, share = cells - s.mean[y], *s.moves[:, y, None]
    prior, every, base = s.prior
    m = prior - s.sway * (cells - prior)
    scale = base - share * away**2 - s.part * (cells - every) ** 2
    mean, half = s.mean[y] - step * away, s.half[y] - drop * away**2
    some = (half > deep * s.half[y]) | (s.half[y] + drop * away**2 < 1e-13 * scale)
    sure = (some & (scale > deep * base)).all(axis=1)
    out = np.empty((len(cells), len(s.mean)))
    with np.errstate(all="ignore"):
        for c in range(len(s.mean)):
            out[:, c] = _student(cells, m, scale, s.mean[c], s.half[c], s.inverse[c], s.whole[:, c])
        out[rows, y] = _student(cells, m, scale, mean, half, s.inverse[y], s.left[:, y])
    out[~(sure & np.isfinite(out).all(axis=1))] = np.nan
    return out


def _student(cells, m, prior, mean, half, inverse, weighing) -> np.ndarray:
    """Log density (n,), by the prior (m, its scale) and a class (mean, half) of each row or of all."""
    pull, bend, narrow, power, bias = (np.reshape(a, (-1, 1)) for a in weighing)
    apart = mean - m
    scale = prior + half + bend * apart**2
    far = np.log1p((cells - m - apart * pull) ** 2 * narrow / scale).sum(axis=1)
    return bias[:, 0] - power[:, 0] * far - 0.5 * np.log(scale * inverse).sum(axis=1)


def series(cells: np.ndarray, w: np.ndarray | None, coef: np.ndarray) -> np.ndarray:
    """Σ_m Σ_j coef[m − 1, c, j] x (w x)^m, m from 1. (n, k)"""
    out, power = np.zeros((len(cells), coef.shape[1])), cells
    for each in coef:
        power = power * cells if w is None else power * cells * w[:, None]
        out += power @ each.T
    return out
