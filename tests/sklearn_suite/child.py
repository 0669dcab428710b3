"""pytest in a fresh process, for what one process cannot have both ways.

scipy reads SCIPY_ARRAY_API once, when imported, and scikit-learn skips its array API tests without it.
So these run in a child that has it set and each takes over its result; no other test sees the setting.
"""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]


def run_pytest(*args, **environment) -> str:
    """What `pytest` prints, run in the repository root, free of this run's options and workers."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_XDIST", "PYTEST_ADDOPTS"))}
    options = ["-p", "no:cacheprovider", "-o", "addopts=--import-mode=importlib"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, *map(str, args)],
        cwd=ROOT,
        env=env | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    ).stdout


@cache
def array_api_results(path: Path) -> dict:
    """Each test of the file whose name holds `array_api`: None if it passed, else what kind and why."""
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        said = run_pytest(path, "-k", "array_api", "--runxfail", f"--junitxml={report}", SCIPY_ARRAY_API="1")
        if not report.exists():
            raise RuntimeError(said)
        cases = ElementTree.parse(report).iter("testcase")
        return {case.get("name"): next((verdict(part) for part in case), None) for case in cases}


def verdict(part: ElementTree.Element) -> tuple[str, str]:
    return part.tag, f"{part.get('message')}\n{part.text}"


def take_over(item: pytest.Item) -> None:
    """Pass, fail or skip as `item` does in the child."""
    match array_api_results(item.path)[item.name]:
        case None:
            return
        case "skipped", text:
            pytest.skip(text.splitlines()[0])
        case _, text:
            pytest.fail(text, pytrace=False)


def needs_child() -> bool:
    return os.environ.get("SCIPY_ARRAY_API") != "1"
