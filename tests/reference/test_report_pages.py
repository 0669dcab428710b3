"""Pages of reports are those that are kept, to the last character: a change of looks or words is seen in the diff."""

from __future__ import annotations

import pytest

from .golden_reports import FOLDER, pages


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return pages()


@pytest.mark.parametrize("name", ["table", "text"])
def test_pages_are_those_that_are_kept(name, made):
    """If the change is meant: `python -m tests.reference.golden_reports`."""
    assert made[name].splitlines() == (FOLDER / f"{name}.html").read_text(encoding="utf-8").splitlines()


def test_every_kept_page_is_made(made):
    assert {path.stem for path in FOLDER.glob("*.html")} == made.keys()
