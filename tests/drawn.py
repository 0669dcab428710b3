"""What the tests of pictures share: a table to draw, and figures that are closed after each test."""

from __future__ import annotations

import matplotlib as mpl
import pytest
from sklearn.datasets import load_iris

mpl.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    """Where a test imports it, figures do not outlive the test."""
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def iris():
    data = load_iris(as_frame=True)
    return data.data, data.target_names[data.target]
