"""Docstrings of the public names: numpydoc sections, every parameter described, examples that run.

The examples run as doctests with the other doctests of the package; here their presence is checked.
"""

import inspect
import re

import pytest

import deciban

SECTION = re.compile(r"^([A-Z][A-Za-z ]*)\n-{3,}$", re.MULTILINE)


def sections(docstring: str) -> dict[str, str]:
    """Title → text of each section."""
    marks = list(SECTION.finditer(docstring))
    ends = [*(mark.start() for mark in marks[1:]), *([len(docstring)] if marks else [])]
    return {mark[1]: docstring[mark.end() : end] for mark, end in zip(marks, ends, strict=True)}


def described(text: str) -> set[str]:
    """The names of the entries of a section; `a, b : type` describes two."""
    return {
        name.strip().lstrip("*") for entry in re.findall(r"^(\S.*?) :", text, re.MULTILINE) for name in entry.split(",")
    }


def lacking(name: str) -> list[str]:
    """What the docstring of a public name lacks."""
    found = getattr(deciban, name)
    parts = sections(inspect.getdoc(found) or "")
    is_class = isinstance(found, type)
    out = [] if ">>> " in parts.get("Examples", "") else ["Examples with a doctest"]
    if is_class and issubclass(found, Warning):
        return out
    parameters = list(inspect.signature(found).parameters)
    missing = [one for one in parameters if one not in described(parts.get("Parameters", ""))]
    out += [f"Parameters: {', '.join(missing)}"] if missing else []
    wanted = "Attributes" if is_class else "Yields" if "Yields" in parts else "Returns"
    if inspect.signature(found).return_annotation not in (None, "None") and not parts.get(wanted, "").strip():
        out.append(wanted)
    return out


@pytest.mark.parametrize("name", deciban.__all__)
def test_a_public_name_has_all_sections(name):
    assert not lacking(name)


def test_parameters_are_those_of_the_signature():
    for name in deciban.__all__:
        found = getattr(deciban, name)
        if isinstance(found, type) and issubclass(found, Warning):
            continue
        parts = sections(inspect.getdoc(found) or "")
        extra = described(parts.get("Parameters", "")) - set(inspect.signature(found).parameters)
        assert not extra, f"{name} describes {extra}, which it does not take"


def test_the_check_finds_a_parameter_without_description(monkeypatch):
    def sample(X, y) -> int:
        """Nothing.

        Parameters
        ----------
        X : array
            The rows.
        """

    monkeypatch.setattr(deciban, "compare", sample)
    assert lacking("compare") == ["Examples with a doctest", "Parameters: y", "Returns"]
