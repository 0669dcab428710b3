"""deciban, as it comes: no column is described, imputed, scaled or encoded."""

from collections.abc import Sequence
from typing import Any

from deciban import MixedNB

NAME = "deciban"


def make(numeric: Sequence[str], nominal: Sequence[str]) -> Any:
    return MixedNB(calibrate=True)
