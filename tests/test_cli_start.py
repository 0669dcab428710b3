"""The command starts quickly: what a verb does not need is not imported. (How quickly is measured by hand.)"""

import subprocess
import sys
from pathlib import Path

import pytest

from .support.cli import exit_code, passengers

HEAVY = ("pandas", "matplotlib", "scipy.ndimage", "scipy.optimize", "sklearn.linear_model", "sklearn.metrics", "rich")
AFTER = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr))"
RUN = f"{AFTER}; from deciban.cli import main; main()"


def imported(*arguments: str, before: str = "pass") -> tuple[set[str], str]:
    """(modules that a command has imported when it ends, what it printed)"""
    command = [sys.executable, "-c", f"{before}; {RUN}", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    return set(ended.stderr.splitlines()[-1].split()), ended.stdout


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("start")
    (folder / "all.csv").write_text(passengers())
    (folder / "one.csv").write_text("\n".join(passengers().splitlines()[:2]) + "\n")
    assert exit_code(f"fit -q {folder}/all.csv -t survived --model weighted -o {folder}/m.deciban") == 0
    return folder


def test_help_needs_no_library_of_numbers():
    assert not imported("--help")[0] & {"numpy", "scipy", "sklearn", "pyarrow", "rich"}


def test_a_prediction_needs_nothing_heavy_and_ctrl_c_is_left_to_python(place):
    spy = "import pyarrow; pyarrow.enable_signal_handlers = lambda on: print('handlers', on)"
    modules, out = imported("predict", f"{place}/m.deciban", f"{place}/one.csv", before=spy)
    assert not modules & set(HEAVY)
    assert "handlers False" in out


def test_what_is_loaded_late_is_there_when_asked_for(place):
    """The statistics that reports need are SciPy's own, although the command starts without them."""
    found, _ = imported("report", f"{place}/m.deciban", f"{place}/all.csv", "-o", f"{place}/r.html")
    assert {"scipy.stats", "scipy.stats._distn_infrastructure"} <= found
    assert "pandas" not in found
