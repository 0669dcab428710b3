"""Where the shared data sets are: beside the repository, if they are there at all."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


@pytest.fixture
def shared():
    """The path of a shared data file; a test that asks for one that is not there is skipped."""

    def find(name: str) -> Path:
        path = SHARED / name
        if not path.exists():
            pytest.skip(f"shared data set {name} is not beside this checkout")
        return path

    return find
