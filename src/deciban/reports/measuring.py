"""The numbers of a report, each with its 95 % interval, and what one would get from the class shares alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deciban import scores, uncertainty
from deciban.reports.facts import Facts
from deciban.uncertainty import Estimate

FEW = 300_000  # rows up to which they are drawn again 200 times, beyond 30 times


def measured(facts: Facts) -> dict[str, Estimate]:
    """Accuracy, balanced accuracy, log loss, Brier score, calibration error, and of two classes the area under ROC."""
    some = facts.judged
    y, proba, logs = facts.y[some], facts.proba[some], facts.log_proba[some]
    n, right = len(y), scores.hits(y, logs)
    true = logs[np.arange(n), y]
    missed = ((proba - np.eye(proba.shape[1])[y]) ** 2).sum(axis=1)
    draws = 200 if n <= FEW else 30

    def off(w: np.ndarray) -> float:
        return scores.expected_calibration_error(y, proba, w)

    calibration = uncertainty.redrawn(off, n, facts.seed, draws)
    out = {
        "accuracy": uncertainty.share(float(right.sum()), n),
        "balanced accuracy": _balanced(y, right),
        "log loss": uncertainty.mean(-true, 0.0),
        "Brier score": uncertainty.mean(missed, 0.0, 2.0),
        "calibration error": replace(calibration, low=max(calibration.low, 0.0)),
    }
    if len(facts.classes) == 2:
        with np.errstate(invalid="ignore"):
            odds = logs[:, 1] - logs[:, 0]  # ranks where probabilities are all but 1
        out["area under ROC"] = uncertainty.area(y == 1, np.nan_to_num(odds, nan=0.0))
    return out


def by_shares(facts: Facts) -> dict[str, float]:
    """The same for one who knows how common each class is, and nothing of the rows."""
    rows = np.bincount(facts.y[facts.judged], minlength=len(facts.classes))
    share = rows / max(rows.sum(), 1)
    some = share[share > 0]
    return {
        "accuracy": float(share.max()),
        "balanced accuracy": 1 / len(some),
        "log loss": float(-(some * np.log(some)).sum()),
        "Brier score": float(1 - (share**2).sum()),
        "area under ROC": 0.5,
    }


def by_class(facts: Facts) -> list[tuple[str, int, Estimate, Estimate]]:
    """(class, rows, recall, precision) of each class."""
    out = []
    for c, name in enumerate(facts.names):
        mine, said = facts.y == c, facts.predicted == c
        both = int((mine & said).sum())
        recall, precision = uncertainty.share(both, mine.sum()), uncertainty.share(both, said.sum())
        out.append((name, int(mine.sum()), recall, precision))
    return out


def _balanced(y: np.ndarray, right: np.ndarray) -> Estimate:
    """The mean of the classes' recalls."""
    groups = [right[y == c] for c in np.unique(y)]
    recall, size = np.array([g.mean() for g in groups]), np.array([len(g) for g in groups])
    pulled = (recall * size + 1) / (size + 2)  # a class that is all right has an error too
    error = uncertainty.Z * np.sqrt((pulled * (1 - pulled) / size).sum()) / len(groups)
    value = float(recall.mean())
    return Estimate(value, max(0.0, value - error), min(1.0, value + error))
