"""Every row of the lectures' table works, by public names, in one or two lines."""

import ast

import pytest

from tests.coverage import all_rows, page
from tests.support.data import ROOT

ROWS = list(all_rows())
COUNTS = {"000": 65, "001": 48, "002": 23, "003": 71, "004": 14}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row_works(row):
    row.check()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row_is_a_line_or_two_of_public_names(row):
    assert len(row.statements()) <= 2
    private = [
        one.attr
        for statement in row.statements()
        for one in ast.walk(statement)
        if isinstance(one, ast.Attribute) and one.attr.startswith("_")
    ]
    assert not private


def test_no_row_is_missing():
    found = {row.name for row in ROWS}
    assert found == {f"{lecture}-{number:02}" for lecture, n in COUNTS.items() for number in range(1, n + 1)}


def test_the_page_of_calls_is_that_of_the_rows():
    text = (ROOT / "docs" / "lectures" / "calls.md").read_text()
    assert text == page(), "python -m tests.coverage --page > docs/lectures/calls.md"
