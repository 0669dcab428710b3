"""Directions that separate classes: the projection of linear discriminant analysis.

>>> import numpy as np
>>> Axes.generalised(np.eye(2), np.eye(2) + np.diag([3.0, 1.0])).ratio.tolist()
[0.75, 0.25]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from deciban.gaussian.joint import Pooled


@dataclass(frozen=True)
class Axes:
    """The directions that separate the class means best, in units of the deviation within classes."""

    scalings: np.ndarray  # (d, r)
    ratio: np.ndarray  # (r,), their shares of the variance between classes

    @classmethod
    def from_means(cls, p: Pooled, weights: np.ndarray, tol: float) -> Axes:
        """Whiten within classes, then the principal axes of the means; axes under `tol` of the first are dropped."""
        white = p.precision.scale[:, None] * p.precision.basis
        spread = np.sqrt(weights)[:, None] * ((p.mean - p.centre) @ white)
        _, size, turn = np.linalg.svd(spread, full_matrices=False)
        rank = int((size > tol * size[0]).sum()) if len(size) else 0
        return cls(upright(white @ turn.T[:, :rank]), size**2 / max((size**2).sum(), 1e-300))

    @classmethod
    def from_inverse(cls, p: Pooled, weights: np.ndarray) -> Axes:
        """The same through k × k matrices, for any invertible covariance."""
        spread = np.sqrt(weights)[:, None] * (p.mean - p.centre)
        inner = p.precision.apply(spread)
        size, turn = linalg.eigh(spread @ inner.T)
        size, turn = np.maximum(size[::-1], 0.0), turn[:, ::-1]
        keep = size > 1e-12 * max(size[0], 1e-300)
        return cls(upright(inner.T @ turn[:, keep] / np.sqrt(size[keep])), size / max(size.sum(), 1e-300))

    @classmethod
    def generalised(cls, within: np.ndarray, total: np.ndarray) -> Axes:
        """Eigenvectors of (total − within) against within."""
        size, vectors = linalg.eigh(total - within, within)
        return cls(upright(vectors[:, ::-1]), np.sort(size / size.sum())[::-1])


def upright(axes: np.ndarray) -> np.ndarray:
    """The same axes, each turned so that its largest entry is positive: the same rows give the same signs."""
    if axes.size == 0:
        return axes
    largest = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    return axes * np.where(largest < 0, -1.0, 1.0)
