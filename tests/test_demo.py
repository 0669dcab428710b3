"""The demo tells the truth, and docs/demo.md shows what it prints.

That page is written by `DECIBAN_README=1 python -m pytest tests/test_demo.py`.
"""

import os
import re
from pathlib import Path

import pytest

from deciban.cli.tour import tour

from .support.data import ROOT

BEGIN, END = "<!-- demo:begin -->\n```text\n", "\n```\n<!-- demo:end -->"


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """(what the tour printed, its numbers, its folder)."""
    kept = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("demo"))
    lines: list[str] = []
    data = tour("deciban-demo", 200_000 if "DECIBAN_README" in os.environ else 20_000, lines.append)
    yield "\n".join(lines), data, Path.cwd()
    os.chdir(kept)


def shape(text: str) -> list[str]:
    """The lines without their numbers, bars and the words that another version of a library may have."""
    lines = [line for line in text.splitlines() if not re.match(r"   (numpy|scipy|scikit-learn) ", line)]
    return [re.sub(r"[-+]?[\d.,]+(e[-+]?\d+)?", "#", line.replace("█", "")).split("│")[0].split() for line in lines]


def test_play_tennis_is_the_worked_example(told):
    assert told[1]["tennis"] == pytest.approx({"no": 0.7954, "yes": 0.2046}, abs=5e-5)


def test_numbers_of_the_tour_are_sensible(told):
    data = told[1]
    assert data["table"]["held_out"]["accuracy"] > 0.93
    assert min(data["table"]["log_loss"].values()) < 0.08
    assert data["texts"]["accuracy"] > 0.85
    assert data["texts"]["documents"] > 1000


def test_report_is_written(told):
    page = (told[2] / "deciban-demo" / "report.html").read_text()
    assert "</html>" in page
    assert "deciban-demo/report.html" in told[0]


def test_a_page_shows_what_the_demo_prints(told):
    page = ROOT / "docs" / "demo.md"
    before, rest = page.read_text().split(BEGIN)
    shown, after = rest.split(END)
    if "DECIBAN_README" in os.environ:
        page.write_text(before + BEGIN + told[0] + END + after)
    else:
        assert shape(shown) == shape(told[0])
