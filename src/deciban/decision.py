"""From log joints to what one says: priors, posteriors, odds, decibans.

>>> import numpy as np
>>> joint = np.log([[0.3, 0.1]])
>>> float(round(DECIBAN * log_odds(joint)[0, 0], 2))  # odds 3 : 1, in decibans
4.77
"""

from __future__ import annotations

import numpy as np

from deciban import ops

DECIBAN = 10.0 / np.log(10.0)  # decibans in one unit of natural log odds


def log_prior(weights: np.ndarray) -> np.ndarray:
    """log of the weights over their sum; −∞ for a class without any. (k,)"""
    with np.errstate(divide="ignore"):
        return np.log(weights) - np.log(weights.sum())


def settled(joint: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Log joints whose every row has a posterior, in place. One that is impossible under every class has the prior;
    where scores are past all numbers (+∞), the classes that have them share the row by their priors."""
    if not ops.whole(joint):
        over = np.isposinf(joint)
        past, lost = over.any(axis=1), ~(np.max(joint, axis=1) > -np.inf)
        joint[past] = np.where(over[past], prior, -np.inf)
        joint[lost] = prior
    return joint


def log_evidence(joint: np.ndarray) -> np.ndarray:
    """log Σ_c e^joint of each row, (n,)."""
    return np.logaddexp.reduce(joint, axis=1)


def log_odds(joint: np.ndarray, against: int | None = None) -> np.ndarray:
    """Each class against all others together, or against one other. (n, k)"""
    if against is not None:
        rest = joint[:, [against]]
        with np.errstate(invalid="ignore"):
            return np.where(joint == rest, 0.0, joint - rest)
    n, k = joint.shape
    nothing = np.full((n, 1), -np.inf)
    before = np.hstack([nothing, np.logaddexp.accumulate(joint, axis=1)[:, : k - 1]])
    after = np.hstack([np.logaddexp.accumulate(joint[:, ::-1], axis=1)[:, ::-1][:, 1:], nothing])
    rest = np.logaddexp(before, after)
    with np.errstate(invalid="ignore"):
        return np.where(joint == rest, 0.0, joint - rest)
