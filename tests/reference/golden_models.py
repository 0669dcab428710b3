"""The models whose files are kept, one set for each format: `python -m tests.reference.golden_models` writes a new set.

A set is written once, by the first version of its format, and then stays as it is.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import deciban
from deciban.model_file import FORMAT

DATE = datetime(2026, 1, 1, tzinfo=UTC)
FOLDER = Path(__file__).parent / "model_files"
ROWS = np.array([[1.0, 0.2], [1.5, np.nan], [0.5, 0.1], [4.0, 2.2], [4.5, 1.9], [3.5, 2.4], [7.0, 0.3], [8.0, 0.6]])
LABELS = ["ash", "ash", "ash", "birch", "birch", "birch", "crème", "crème"]
FRAME = pd.DataFrame(
    {
        "height": [1.0, 1.5, 0.5, 4.0, 4.5, 3.5, 7.0, None],
        "bark": ["rough", "rough", None, "smooth", "smooth", "rough", "smooth", "smooth"],
        "wet": [True, False, True, True, False, False, True, False],
        "rings": [3, 4, 2, 9, 9, 7, 20, 25],
    }
)


def models() -> dict[str, tuple[Any, Any]]:
    """{name: (fitted model, rows to ask it about)}."""
    whole = np.nan_to_num(ROWS)
    return {
        "gaussian": (deciban.GaussianNB(ddof=1, var_smoothing=1e-6).fit(ROWS, LABELS), ROWS),
        "mixed": (deciban.MixedNB(families={"rings": "poisson"}, missing="informative").fit(FRAME, LABELS), FRAME),
        "logistic": (deciban.LogisticRegression(C=2.5).fit(whole, LABELS), whole),
    }


if __name__ == "__main__":
    (FOLDER / f"v{FORMAT}").mkdir(parents=True)
    for name, (model, _) in models().items():
        path = FOLDER / f"v{FORMAT}" / f"{name}.deciban"
        deciban.save(model, path, source="golden_models.py", metrics={"rows": 8}, date=DATE)
