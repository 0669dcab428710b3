"""A comparison of two times that is not a race between libraries."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Comparison:
    name: str
    first: str
    first_s: float
    second: str
    second_s: float

    @property
    def ratio(self) -> float:
        return self.first_s / self.second_s
