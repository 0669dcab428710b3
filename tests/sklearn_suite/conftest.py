"""What scikit-learn's own conftest gives its tests: two fixtures and its rules for warnings."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.utils._testing import get_pytest_filterwarning_lines

from .child import needs_child, take_over
from .exceptions import reason

FOLDER = Path(__file__).parent
WARNINGS = pytest.mark.filterwarnings("ignore::UserWarning", *get_pytest_filterwarning_lines())


@pytest.fixture(params=[np.float32, np.float64])
def global_dtype(request):
    return request.param


def pytest_configure(config):
    config.addinivalue_line("markers", "thread_unsafe: scikit-learn's mark for tests that share state")


def pytest_generate_tests(metafunc):
    if "global_random_seed" in metafunc.fixturenames:
        metafunc.parametrize("global_random_seed", [42])


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent == FOLDER:
            item.add_marker(WARNINGS, append=False)  # before the tests' own marks, which overrule it
            if why := reason(f"{item.path.name}::{item.name}"):
                item.add_marker(pytest.mark.xfail(reason=why, strict=True))


def pytest_pyfunc_call(pyfuncitem):
    """Take the result of an array API test from a child process that has SCIPY_ARRAY_API set."""
    if "array_namespace" in pyfuncitem.fixturenames and needs_child():
        take_over(pyfuncitem)
        return True
    return None
