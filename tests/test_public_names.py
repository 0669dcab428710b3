"""The public names: one table, a stub for type checkers, and what both find wrong in a user's script.

python -m tests.test_public_names > src/deciban/__init__.pyi
"""

import subprocess
import sys
from pathlib import Path

import pytest

import deciban

STUB = Path(deciban.__file__).with_suffix(".pyi")
SCRIPT = """
import deciban
from deciban import GaussianNB, plots

GaussianNB(calibrated=True)
deciban.GausianNB
model = GaussianNB(calibrate=True).fit([[0.0], [1.0]], ["a", "b"])
plots.waterfall(model.explain([[0.5]]))
deciban.metrics.log_loss
deciban.load("model.deciban")
"""


def stub() -> str:
    """The text of `__init__.pyi`."""
    by_module: dict[str, list[str]] = {}
    for name, module in deciban._HOMES.items():
        by_module.setdefault(module, []).append(name)
    lines = [f"from deciban import {name} as {name}" for name in deciban._MODULES]
    for module, names in sorted(by_module.items()):
        lines += [f"from deciban.{module} import {name} as {name}" for name in sorted(names)]
    return "# written by `python -m tests.test_public_names`\n" + "\n".join(lines) + "\n\n__version__: str\n"


def test_the_stub_is_that_of_the_table():
    assert STUB.read_text() == stub(), "python -m tests.test_public_names > src/deciban/__init__.pyi"


def test_only_public_names_are_listed():
    assert [name for name in dir(deciban) if name.startswith("_")] == ["__all__", "__doc__", "__version__"]
    assert {*deciban.__all__, "plots", "metrics", "errors"} <= set(dir(deciban))


def test_modules_are_there_after_the_import():
    code = "import deciban; deciban.plots.nomogram; deciban.metrics.log_loss; deciban.errors.DataError"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", ["waterfall", "nomogram", "coefficient_path"])
def test_plots_are_in_their_module(name):
    assert callable(getattr(deciban.plots, name))
    assert not hasattr(deciban, name)


def test_a_type_checker_finds_a_wrong_setting_and_a_wrong_name(tmp_path):
    pytest.importorskip("mypy")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--cache-dir", str(tmp_path / "cache"), str(script)]
    found = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False).stdout
    wrong = [
        int(line.split(":")[1]) for line in found.splitlines() if line.startswith("script.py") and ": error:" in line
    ]
    assert wrong == [5, 6], found
    assert "calibrated" in found
    assert "GausianNB" in found


if __name__ == "__main__":
    print(stub(), end="")
