"""A posterior that is linear in x, as logistic regression writes it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from deciban import ops, tabular

SHOWN = 20  # columns that are printed


@dataclass(frozen=True)
class LogisticView:
    """`coef_`, `intercept_` and `classes_` of a logistic (two classes) or softmax (more) function of x.

    `binarize`: cells count as 1 where they are above it, else as 0, as `BernoulliNB` takes them; None: as they are.

    >>> import numpy as np
    >>> view = LogisticView.of(np.array(["a", "b"]), np.array([[0.0], [2.0]]), np.array([0.0, 1.0]))
    >>> view.coef_.tolist(), view.intercept_.tolist()
    ([[2.0]], [1.0])
    >>> view.predict(np.array([[0.0], [-1.0]])).tolist()
    ['b', 'a']
    """

    classes_: np.ndarray
    coef_: np.ndarray  # (1, d) for two classes, else (k, d)
    intercept_: np.ndarray  # (1,) or (k,)
    binarize: float | None = None

    def __repr__(self) -> str:
        """Coefficients in a table: a column for each class, or one for the second of two."""
        two, (m, d) = len(self.classes_) == 2, self.coef_.shape
        title = f"log odds of {self.classes_[-1]} against {self.classes_[0]}" if two else "scores, whose softmax it is"
        head = ["", *(["coef"] if two else [str(label) for label in self.classes_])]
        cells = [("intercept", self.intercept_), *((f"x{j}", self.coef_[:, j]) for j in range(min(d, SHOWN)))]
        rows = [(name, *(tabular.plain(float(a)) for a in each[:m])) for name, each in cells]
        return tabular.as_text(tabular.Lines(title, head, rows, f"… and {d - SHOWN} more columns" if d > SHOWN else ""))

    @classmethod
    def of(cls, classes: np.ndarray, coef: np.ndarray, bias: np.ndarray, binarize: float | None = None) -> LogisticView:
        """From one linear score for each class; two are told as their difference."""
        if len(classes) == 2:
            return cls(classes, np.ascontiguousarray(coef[1:] - coef[:1]), bias[1:] - bias[:1], binarize)
        return cls(classes, np.ascontiguousarray(coef), bias, binarize)

    def decision_function(self, X) -> np.ndarray:
        """log odds of the second class (n,), or a score for each class (n, k)."""
        X = X if sparse.issparse(X) else np.asarray(X)
        if self.binarize is not None:  # a missing cell stays one
            above = (self.binarize < X).astype(np.float64)
            X = above if sparse.issparse(X) else np.where(np.isnan(np.asarray(X, dtype=np.float64)), np.nan, above)
        scores = X @ self.coef_.T + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X) -> np.ndarray:
        scores = np.asarray(self.decision_function(X), dtype=np.float64)
        if len(self.classes_) == 2:
            scores = np.stack([np.zeros_like(scores), scores], axis=1)
        return ops.posterior(np.ascontiguousarray(scores), logs=False)

    def predict(self, X) -> np.ndarray:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
