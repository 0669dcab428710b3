"""What was found out about the facts, for all sections of a report to use."""

from __future__ import annotations

from dataclasses import dataclass

from deciban.reports.doubting import doubts
from deciban.reports.facts import Facts
from deciban.reports.measuring import measured
from deciban.uncertainty import Estimate


@dataclass(frozen=True)
class Findings:
    measures: dict[str, Estimate]
    doubts: tuple[str, ...]

    @classmethod
    def of(cls, facts: Facts) -> Findings:
        return cls(measured(facts), tuple(doubts(facts)))
