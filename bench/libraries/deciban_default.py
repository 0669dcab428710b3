"""deciban without calibration: the model that updates, merges and forgets."""

from collections.abc import Sequence
from typing import Any

from deciban import MixedNB

NAME = "deciban, default"


def make(numeric: Sequence[str], nominal: Sequence[str]) -> Any:
    return MixedNB()
