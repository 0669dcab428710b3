"""What users are told is true: README blocks run, docstrings have examples, a family is one file and no rebuild."""

import importlib.metadata
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import deciban
from deciban import families

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()
FAMILY = '''"""A family for a test, seen only by the process that is told of it."""

import os


class Dropped:
    support = "real"


if os.environ.get("DECIBAN_DROPPED"):
    FAMILY = Dropped
'''


def blocks(*languages: str, page: str = README) -> list[str]:
    """The fenced blocks of a page in these languages."""
    return re.findall(rf"^```(?:{'|'.join(languages)})\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)


def editable() -> bool:
    """Whether the package is read from this checkout."""
    if Path(families.__file__).resolve().parent != ROOT / "src" / "deciban" / "families":
        return False
    url = importlib.metadata.distribution("deciban").read_text("direct_url.json")
    return bool(url and json.loads(url).get("dir_info", {}).get("editable"))


@pytest.mark.parametrize("name", ["README.md", "docs/guide.md"])
def test_python_blocks_run_in_order(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace: dict = {}
    found = blocks("python", page=(ROOT / name).read_text())
    assert found
    for block in found:
        exec(compile(block, name, "exec"), namespace)


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 120


def test_shell_blocks_of_the_readme_name_verbs_that_make_has():
    verbs = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    named = [
        verb for block in blocks("sh", "bash", "shell", "console") for verb in re.findall(r"\bmake ([a-z]+)", block)
    ]
    assert named
    assert set(named) <= verbs


def test_commands_that_the_readme_names_in_running_text_exist_too():
    verbs = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert set(re.findall(r"`make ([a-z]+)`", README)) <= verbs


def test_files_that_the_readme_links_to_are_there():
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.parametrize("name", deciban.__all__)
def test_public_name_has_a_docstring_with_an_example(name):
    text = getattr(deciban, name).__doc__
    assert text
    assert ">>> " in text


def test_version_is_the_one_that_is_installed():
    assert deciban.__version__ == importlib.metadata.version("deciban")


@pytest.mark.skipif(not editable(), reason="the package is installed, not read from this checkout")
def test_new_family_file_is_seen_without_a_rebuild():
    path = ROOT / "src" / "deciban" / "families" / "dropped_by_a_test.py"
    script = "from deciban.families import find; print(find()['dropped_by_a_test'].__name__)"
    try:
        path.write_text(FAMILY)
        told = {**os.environ, "DECIBAN_DROPPED": "1"}
        out = subprocess.run(
            [sys.executable, "-B", "-c", script], capture_output=True, text=True, check=False, env=told
        )
    finally:
        path.unlink(missing_ok=True)
    assert (out.stdout.strip(), out.returncode) == ("Dropped", 0), out.stderr
