"""The posterior of kernel logistic regression: probabilities and evidence by column from scores of bumps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from deciban import ops
from deciban.data.blocks import Block, Reals
from deciban.models.kernel import KernelScores
from deciban.models.logistic_posterior import SoftmaxPosterior
from deciban.models.posterior import Evidence, check_size
from deciban.rows import inputs

MEAN = "mean row"


@dataclass(frozen=True, eq=False)
class KernelPosterior(SoftmaxPosterior):
    """P(class | x) by sums of bumps around training rows."""

    scores: KernelScores
    means: np.ndarray  # (d,), of the training rows
    splits: ClassVar[bool] = False
    separate: ClassVar[bool] = False

    def _scores(self, X: Any, method: str = "predict") -> np.ndarray:
        return self.scores(self.cells(self.reader.read(X, method)))

    def cells(self, x: Block) -> np.ndarray:
        """Rows as doubles (n, d), all of them finite."""
        assert isinstance(x, Reals)
        cells = np.asarray(x.values, dtype=np.float64)
        if not ops.all_finite(cells):
            inputs.check_finite(x, self.reader.names, self.reader.model)
        return cells

    def candidates(self) -> list[np.ndarray]:
        return self.reader.candidates([np.unique(knots) for knots in self.scores.knots])

    def scale_evidence(self, x: Block) -> tuple[Evidence, str]:
        return self.evidence(x, x), MEAN

    def evidence(self, X: Any, x: Block | None = None) -> Evidence:
        """What each column adds to the scores of the mean row, see `KernelScores.parts`; coded columns as one."""
        x = self.block(X) if x is None else x
        check_size(x.n, len(self.classes), x.d)
        base, parts = self.scores.parts(self.cells(x), self.means)
        shown = self.reader.cells(X, x)
        return Evidence(base + self.shift, self.reader.shown_parts(parts), self.columns, shown, MEAN)

    def note(self, name: str, found: Evidence) -> str:
        return "columns act together: the evidence of a column is its share along the line from the mean row"
