"""What users are told is true: README blocks run, docstrings have examples, a family is one file and no rebuild."""

import importlib.metadata
import re
import shutil
import subprocess
import sys

import pytest

import deciban
from deciban import ops

from .support.data import ROOT

README = (ROOT / "README.md").read_text()
USED = '''"""A family in a folder that the registry is given, wherever families are used."""

import sys

import numpy as np

from deciban import families

families.__path__.append(sys.argv[1])

import matplotlib

matplotlib.use("agg")

import deciban
from deciban import BayesOptimal, MixedNB, plots, select_model
from deciban.cli import main

rng, y = np.random.default_rng(0), np.repeat([0, 1], 60)
X = np.column_stack([rng.geometric(np.where(y == 0, 0.2, 0.6)) - 1.0, rng.geometric(0.3, 120) - 1.0])
assert deciban.list_families()["geometric"] == "numbers of failures before a success; for whole numbers ≥ 0"
model = MixedNB(families="geometric", alpha=1.0).fit(X, y)
assert [type(family).__name__ for family in model.families_.values()] == ["Geometric", "Geometric"]

theta = np.array([(60 + 1) / (60 + X[y == c].sum(axis=0) + 2) for c in (0, 1)])
joint = (np.log(theta) + X[:, None, :] * np.log1p(-theta)).sum(axis=2) + np.log(0.5)
np.testing.assert_allclose(model.predict_joint_log_proba(X), joint, rtol=1e-12)

row = np.arange(120) != 3
again = MixedNB(families="geometric", alpha=1.0).fit(X[row], y[row])
np.testing.assert_allclose(model.leave_one_out(X, y)[3], again.predict_log_proba(X[3:4])[0], rtol=1e-9)

odds = np.diff(np.log(theta) + X[0] * np.log1p(-theta), axis=0)[0] * 10 / np.log(10)
np.testing.assert_allclose(np.abs(model.explain(X[:1]).decibans[0]), np.abs(odds), rtol=1e-9)
assert plots.nomogram(model) is not None

averaged = MixedNB(families="geometric", alpha=1.0, average="subsets").fit(X, y)
assert averaged.inclusion_[0] > 0.999 > 0.5 > averaged.inclusion_[1]
assert averaged.leave_one_out(X, y).shape == (120, 2)

found = select_model({"all columns": model, "subsets": averaged}, X, y)
assert (found.names[found.chosen], found.of) == ("subsets", "p(X, y), counts")
both = BayesOptimal({"all columns": model, "subsets": averaged}, weights="evidence").fit(X, y)
np.testing.assert_allclose(both.predict_proba(X).sum(axis=1), 1.0)

deciban.save(model, "model.deciban")
np.testing.assert_array_equal(deciban.load("model.deciban").predict_proba(X), model.predict_proba(X))
for verb in (["families"], ["show", "model.deciban"]):
    try:
        main(verb)
    except SystemExit as end:
        assert not end.code, end.code
'''


def blocks(*languages: str, page: str = README) -> list[str]:
    """The fenced blocks of a page in these languages."""
    return re.findall(rf"^```(?:{'|'.join(languages)})\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)


MADE = ("docs/lectures/gallery/", "docs/reference/generated/")  # by a build of the site
FRAGMENTS = {"docs/scaling.md"}  # blocks that need files or a cluster
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
PAGES = [name for name in PAGES if not name.startswith(MADE) and "```python" in (ROOT / name).read_text()]


@pytest.mark.parametrize("name", ["README.md", *sorted(set(PAGES) - FRAGMENTS)])
def test_python_blocks_run_in_order(name, tmp_path, monkeypatch):
    shutil.copytree(ROOT / "docs" / "data", tmp_path, dirs_exist_ok=True)
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


def test_family_in_one_file_on_the_registry_path_is_used_everywhere(tmp_path):
    """`MixedNB`, leave-one-out, explanation, nomogram, averaging over subsets, selection, ensembles, model file and
    command line: nothing but the file says anything of the family."""
    (tmp_path / "families").mkdir()
    page = (ROOT / "docs" / "contributing" / "family.md").read_text()
    (tmp_path / "families" / "geometric.py").write_text(blocks("python", page=page)[0])
    (tmp_path / "used.py").write_text(USED)
    out = subprocess.run(
        [sys.executable, "-B", "used.py", str(tmp_path / "families")],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert out.returncode == 0, out.stderr
    assert "numbers of failures before a success" in out.stdout  # `deciban families`
    assert "Geometric" in out.stdout  # `deciban show`


PRIVATE = re.compile(
    r"^\s*(from sklearn[\w.]*\._\w+ import|from sklearn[\w.]* import .*\b_\w+|import sklearn[\w.]*\._)", re.M
)


def test_private_names_of_scikit_learn_are_imported_in_few_files():
    package = ROOT / "src" / "deciban"
    found = {path.relative_to(package).as_posix() for path in package.rglob("*.py") if PRIVATE.search(path.read_text())}
    assert found == {"classifiers/base.py", "rows/inputs.py"}


def test_the_oldest_versions_that_are_tested_are_those_that_are_required():
    pins = dict(re.findall(r"^([\w-]+)==([\d.]+)$", (ROOT / "tests" / "oldest.txt").read_text(), re.M))
    bounds = dict(re.findall(r'"([\w-]+)(?:\[[\w,]+\])?>=([\d.]+)', (ROOT / "pyproject.toml").read_text()))
    wrong = {
        name: (pin, bounds.get(name)) for name, pin in pins.items() if not f"{pin}.".startswith(f"{bounds[name]}.")
    }
    assert not wrong
    needed = {
        "numpy",
        "scipy",
        "scikit-learn",
        "narwhals",
        "threadpoolctl",
        "click",
        "rich",
        "pyarrow",
        "matplotlib",
        "jinja2",
    }
    assert needed <= pins.keys()


def test_the_compiled_module_is_there():
    """Many laws skip without it, and the NumPy fallback would hide that it was not built."""
    assert ops.core() is not None
    assert ops.instruction_sets()
