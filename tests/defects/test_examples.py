"""The examples run without an argument, and say what they need."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
NAMES = [path.stem for path in sorted(FOLDER.glob("*.py"))]
if not NAMES:
    pytest.skip("the examples are not part of the package", allow_module_level=True)


def load(name: str):
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NAMES)
def test_b35_every_example_says_how_it_is_called_what_it_needs_and_how_long_it_takes(name):
    told = ast.get_docstring(ast.parse((FOLDER / f"{name}.py").read_text()))
    assert f"python examples/{name}.py" in told
    assert "takes" in told.lower() or "take a few seconds" in told
    assert "needs" in told.lower() or "by default" in told


def test_b35_pictures_go_to_a_temporary_folder(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    pictures = load("pictures")
    monkeypatch.setattr(pictures, "PICTURES", pictures.PICTURES[:1])
    (path,) = pictures.main()
    assert path.exists()
    assert tmp_path in path.parents


def test_b35_the_network_is_drawn_into_a_temporary_folder(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = load("bayesnet").main()
    assert path.exists()
    assert tmp_path in path.parents
    assert "most probable" in capsys.readouterr().out


def test_b35_the_bound_of_gibbs_is_looked_at_on_few_concepts():
    gibbs = load("gibbs")
    assert gibbs.CONCEPTS * gibbs.DRAWS * len(gibbs.ROWS) <= 60_000  # seven seconds; it was 420,000


def test_b35_the_filter_runs_its_experiment_without_a_verb(monkeypatch, capsys):
    spam = load("spam")
    monkeypatch.setattr(spam, "sms", lambda path: {"accuracy": 0.5})
    monkeypatch.setattr(spam, "SMS", FOLDER / "spam.py")
    assert spam.main([]) == 0
    assert "accuracy" in capsys.readouterr().out
    assert spam.main(["sms", "no such file"]) == 1
    assert "hint: give a CSV file" in capsys.readouterr().err
