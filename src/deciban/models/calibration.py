"""Calibrated probabilities from over-confident scores: P(c | x) ∝ prior_c · exp(temperature · ℓ_c(x) + bias_c).

ℓ are leave-one-out log likelihoods of the training rows under each class. The temperature corrects the double counting
of dependent columns; one bias for each class corrects systematic errors between classes. Both maximise the held-out log
probability of the true classes, a concave problem, with a quadratic penalty on the distance from (1, 0). The penalty is
weak unless there are few rows, which do not separate a poor model from chance. Newton's method; each step is a sum over
rows.

>>> import numpy as np
>>> scores = np.log([[0.999, 0.001]] * 3 + [[0.001, 0.999]] * 3)  # very confident, and wrong once in each class
>>> y = np.array([0, 0, 1, 1, 1, 0])
>>> few, many = (Calibration.fit(np.tile(scores, (m, 1)), np.log([0.5, 0.5]), np.tile(y, m)) for m in (1, 100))
>>> round(few.temperature, 2), round(many.temperature, 2)
(0.9, 0.1)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deciban import ops

PENALTY = 1.0  # weight of the penalty, in rows, where there are many rows
FEW = 70.0  # number of rows at which the penalty is twice as strong; (FEW / n)² is added
LOST = 1e3  # scores are clipped at this many nats below the best class
STEPS = 100
HEAVY = 1e10  # weight of all rows from which rounding may hide the penalty
ROUNDING = 1e-14  # relative curvature of a direction in which it is hidden


@dataclass(frozen=True)
class Calibration:
    temperature: float
    bias: np.ndarray  # (k,)

    @classmethod
    def fit(
        cls, scores: np.ndarray, prior: np.ndarray, y: np.ndarray, w: np.ndarray | None = None, few: float = FEW
    ) -> Calibration:
        """From held-out log likelihoods (n, k), log priors (k,) or (n, k), and the true classes. `few`: see FEW."""
        n, k = scores.shape
        best = scores.max(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            scores = np.maximum(np.nan_to_num(scores - best, nan=0.0, neginf=-LOST), -LOST)
        prior = np.broadcast_to(np.maximum(prior, -LOST), scores.shape)
        w = np.ones(n) if w is None else w
        strength = PENALTY + (few / max(float(w.sum()), 1.0)) ** 2
        lost = w.sum() > HEAVY
        theta = np.concatenate([[1.0], np.zeros(k)])
        loss = _HeldOutLoss(scores, prior, y, w, strength)
        value, gradient, curvature = loss(theta)
        for _ in range(STEPS):
            step = _least_step(curvature, gradient) if lost else np.linalg.solve(curvature, gradient)
            if gradient @ step <= 1e-12 * (1.0 + abs(value)):
                break
            size = 1.0
            while size > 1e-6:
                trial = theta - size * step
                if trial[0] > 0:
                    following = loss(trial)
                    if following[0] < value:
                        break
                size /= 2
            else:
                break
            theta, (value, gradient, curvature) = trial, following
        return cls(float(theta[0]), theta[1:])

    def apply(self, scores: np.ndarray) -> np.ndarray:
        """temperature · scores + bias, in place."""
        with np.errstate(invalid="ignore"):
            scores *= self.temperature
            scores += self.bias
        return scores


def _least_step(curvature: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """The shortest Newton step: parameters stay where they are in directions of no curvature but the penalty's."""
    unit = 1.0 / np.sqrt(np.diag(curvature))
    return unit * np.linalg.lstsq(curvature * np.outer(unit, unit), unit * gradient, rcond=ROUNDING)[0]


class _HeldOutLoss:
    """Held-out log loss plus a penalty of this strength, as a function of (temperature, bias). All calls write into the
    same arrays (n, k): new ones take as long to get as to fill."""

    def __init__(self, scores: np.ndarray, prior: np.ndarray, y: np.ndarray, w: np.ndarray, strength: float) -> None:
        n, k = scores.shape
        self.scores, self.prior, self.w, self.strength = scores, prior, w, strength
        self.at = np.arange(n) * k + y  # of the true classes
        self.own, self.n = scores.ravel()[self.at], np.bincount(y, w, minlength=k)
        self.start, self.penalty = np.append(1.0, np.zeros(k)), strength * np.eye(k + 1)
        self.joint, self.p, self.centred = np.empty((3, n, k))

    def __call__(self, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """The loss, its gradient and its Hessian."""
        scores, joint, strength = self.scores, self.joint, self.strength
        np.multiply(scores, theta[0], out=joint)
        joint += theta[1:]
        joint += self.prior
        log_p = ops.posterior(joint, logs=True)
        change = theta - self.start
        value = -float((self.w * log_p.ravel()[self.at]).sum()) + 0.5 * strength * float(change @ change)
        p = np.exp(log_p, out=self.p)
        weighted = np.multiply(p, self.w[:, None], out=joint)
        mean = np.einsum("nk,nk->n", p, scores)  # sums, not dot products: BLAS would start threads for small arrays
        gradient = strength * change
        gradient[0] += float((self.w * (mean - self.own)).sum())
        total = np.einsum("nk->k", weighted)
        gradient[1:] += total - self.n
        curvature = self.penalty.copy()
        curvature[1:, 1:] += np.diag(total) - weighted.T @ p
        spread = np.subtract(scores, mean[:, None], out=self.centred)
        spread *= weighted
        curvature[0, 0] += float(np.einsum("nk,nk->", spread, scores))
        curvature[0, 1:] += np.einsum("nk->k", spread)
        curvature[1:, 0] = curvature[0, 1:]
        return value, gradient, curvature
