"""No probes of our own objects: nothing asks `hasattr(model, …)` or `getattr(model, name, default)`.

What differs between our models, families, tallies and engines is a method, or an attribute, with a default on their
base. Objects of other libraries, and what users pass, may be probed: `ALLOWED` says where, how often and why.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src/deciban"
MEMBERS = "members of an ensemble are estimators of any library, functions, or labels"
CLASSIFIERS = "classifiers of any library"
FRAMES = "frames, series and arrays of any library"
USERS = "what a user passed, of any type"
VERSIONS = "what another library, or the system, has in some versions only"
ALLOWED = {
    "classifiers/ensemble.py": (8, MEMBERS),
    "cli/options.py": (3, "NumPy's arrays and scalars; functions that click has decorated"),
    "cli/tour.py": (2, "modules of scikit-learn, for their docstrings"),
    "data/frames.py": (29, f"{FRAMES}; scikit-learn leaves out `feature_names_in_` where columns have no names"),
    "decision.py": (4, f"{CLASSIFIERS}: whether one is of this library, and has logarithms; priors as a series"),
    "engines/dask.py": (1, VERSIONS),
    "engines/stream.py": (1, USERS),
    "engines/threads.py": (1, VERSIONS),
    "io/atomic.py": (1, VERSIONS),
    "io/source.py": (8, FRAMES),
    "mail/message.py": (2, "messages of the standard library"),
    "model_file/__init__.py": (2, "files that are open"),
    "model_selection/compare.py": (2, CLASSIFIERS),
    "model_selection/labelled_rows.py": (1, CLASSIFIERS),
    "plots/evidence.py": (1, USERS),
    "plots/regions.py": (1, CLASSIFIERS),
    "plots/style.py": (6, f"{CLASSIFIERS}; matplotlib's axes; {USERS}"),
    "reports/data.py": (2, FRAMES),
    "rows/coding.py": (2, FRAMES),
    "rows/folds.py": (1, "splitters of scikit-learn"),
    "rows/inputs.py": (5, FRAMES),
    "rows/readers.py": (4, FRAMES),
    "rows/text_reader.py": (2, FRAMES),
    "rows/raw_rows.py": (1, FRAMES),
    "rows/row_cells.py": (2, "dates and durations of any library"),
    "storage/codec.py": (2, "arrays of any library"),
    "text/features.py": (2, "vectorisers of any library"),
    "text/reader.py": (3, FRAMES),
    "text/vectorizers.py": (1, VERSIONS),
}
MODULES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


def probes(source: str) -> list[int]:
    """The lines that ask whether an object has an attribute: `hasattr`, and `getattr` with a default."""
    return sorted(
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and (node.func.id == "hasattr" or (node.func.id == "getattr" and len(node.args) == 3))
    )


@cache
def all_probes() -> dict[str, list[int]]:
    """Module → lines of its probes."""
    return {module: probes((PACKAGE / module).read_text(encoding="utf-8")) for module in MODULES}


def test_objects_of_our_own_are_not_probed():
    wrong = []
    for module, lines in all_probes().items():
        allowed, _ = ALLOWED.get(module, (0, ""))
        if len(lines) > allowed:
            wrong.append(f"{module}: {len(lines)} probes, {allowed} allowed, in lines {lines}")
    assert not wrong, "give the base class a default, or say in ALLOWED whose objects these are:\n" + "\n".join(wrong)


def test_no_more_probes_are_allowed_than_there_are():
    found = all_probes()
    assert {module: number for module, (number, _) in ALLOWED.items() if len(found.get(module, ())) != number} == {}


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("if hasattr(model, 'levels_'):\n    pass", [1]),
        ("x = 1\ny = getattr(model, 'levels_', {})", [2]),
        ("getattr(model, name)", []),  # a name that is known to be there
        ("# hasattr(model, 'levels_')\n'getattr(a, b, c)'", []),
        ("any(hasattr(m, 'fit') or getattr(m, 'tag', None) for m in models)", [1, 1]),
    ],
)
def test_probes_are_found(code, lines):
    assert probes(code) == lines
