"""Where the shared data sets are: beside the repository, if they are there at all; and the examples, as modules."""

import importlib.util
from pathlib import Path

import pytest

from ..support.data import shared_path


@pytest.fixture
def shared():
    """The path of a shared data file; a test that asks for one that is not there is skipped."""
    return shared_path


@pytest.fixture(scope="session")
def example():
    """What makes a module of an example, by its name."""

    def load(name: str):
        home = Path(__file__).resolve().parents[2] / "examples" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(name, home)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load
