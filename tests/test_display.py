"""What is written the same way everywhere: hints, lists of names, missing cells, names of columns, tables."""

from __future__ import annotations

from decimal import Decimal
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from deciban.data import frames
from deciban.display import Bar, EvidenceRow, EvidenceTable, Shaded, Table, format_list, is_missing
from deciban.errors import did_you_mean
from deciban.model_selection.leakage import find_leakage
from deciban.reports.checks import drift


@pytest.mark.parametrize(
    ("name", "options", "hint"),
    [
        ("survivd", ["age", "survived"], "did you mean `survived`?"),
        ("AGE", ["page", "age"], "did you mean `age`?"),
        ("Age", ["age", "AGE"], "did you mean `age`?"),  # the first of those that are equally near
        (12, [120, 7], "did you mean `120`?"),
        ("colour", ["age", "size"], ""),
        ("x", [], ""),
    ],
)
def test_a_hint_names_the_nearest_option_in_any_case(name, options, hint):
    assert did_you_mean(name, options) == hint


def test_lists_say_how_many_are_left_out():
    assert [format_list(range(n), 3, "") for n in range(5)] == ["", "0", "0, 1", "0, 1, 2", "0, 1, 2 and 1 more"]
    assert format_list(range(2000), 1, last=" and ", more="more rows") == "`0` and 1,999 more rows"


@pytest.mark.parametrize(
    "cell", [None, np.nan, np.float32("nan"), Decimal("nan"), pd.NA, pd.NaT, np.timedelta64("NaT")]
)
def test_missing_cells_of_all_libraries(cell):
    assert is_missing(cell)
    assert frames.missing_rows([cell, "a"]) == [0]


@pytest.mark.parametrize("cell", [0, "", "nan", False, Decimal(0), np.datetime64("2020-01-01"), [np.nan], np.zeros(2)])
def test_cells_that_are_not_missing(cell):
    assert not is_missing(cell)


def test_whole_numbers_below_zero_are_not_missing():
    assert not frames.Column("t", np.array([-3, -1], dtype=np.int32)).missing.any()
    assert frames.Column("t", np.array([-1, 0], dtype=np.int32), ["a"]).missing.tolist() == [True, False]


def test_a_column_without_a_name_is_called_the_same_by_leakage_and_drift():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = np.column_stack([rng.normal(size=200), y + 0.01 * rng.normal(size=200)])
    assert (
        [leak.column for leak in find_leakage(X, y)] == [one.column for one in drift(X, X + np.array([0, 9]))] == ["x1"]
    )


TABLE = Table(
    "<t>",
    ("", "a & b", ""),
    [("x" * 50, "1", Bar(0.5)), ("y", "-22", Bar(-1.0))],
    ("all", "-21", "<end>"),
    ["n"],
    (0, 2),
)


def test_text_is_aligned_and_cut():
    title, head, *rows, footer, note = str(TABLE).splitlines()
    assert title == "<t>"
    assert head == "  " + " " * 40 + "  a & b"
    assert rows[0].startswith("  " + "x" * 39 + "…      1  ")
    assert [row.index("│") for row in rows] == [61, 61]
    assert footer == f"  {'all':<40}  {'-21':>5}  <end>"
    assert note == "  n"


def test_html_is_well_formed_and_escaped():
    page = ElementTree.fromstring(f"<div>{TABLE._repr_html_()}</div>")
    cells = [["".join(cell.itertext()) for cell in row] for row in page.iter("tr")]
    assert cells == [["", "a & b", ""], ["x" * 50, "1", ""], ["y", "-22", ""], ["all", "-21", "<end>"]]
    assert page.findtext("table/caption") == "<t>"
    assert [p.text for p in page.iter("p")] == ["n"]


def test_shaded_cells_are_texts_and_in_html_the_darker_the_larger_their_share():
    table = Table("", ("true", "a", "b"), [("a", Shaded("<9>", 0.9, bold=True), Shaded("1", 0.1))])
    assert str(table).splitlines()[1].split() == ["a", "<9>", "1"]
    page = ElementTree.fromstring(f"<div>{table.to_html()}</div>")
    cells = [cell for cell in page.iter("div") if cell.text]
    assert [cell.text for cell in cells] == ["<9>", "1"]
    styles = [dict(part.split(":") for part in cell.attrib["style"].split(";")) for cell in cells]
    assert [style["font-weight"] for style in styles] == ["bold", "normal"]
    opacity = [int(style["background"][-2:], 16) for style in styles]
    assert opacity[0] > opacity[1] > 0


def test_bars_grow_with_the_evidence():
    rows = [
        EvidenceRow("a", "", 20.0),
        EvidenceRow("b", "", -10.0),
        EvidenceRow("c", "", -np.inf),
        EvidenceRow("d", "", np.nan),
    ]
    bars = [str(row[-1]) for row in EvidenceTable("", rows, 0.0, "").table().rows]
    assert [(bar.partition("│")[0].count("█"), bar.partition("│")[2].count("█")) for bar in bars] == [
        (0, 10),
        (5, 0),
        (10, 0),
        (0, 0),
    ]
