"""`fit` is `fit_on` of a Dask frame, for pairs of settings in which each value of each setting occurs.

Tasks run in this thread: what is compared is what is learned, not a cluster.
"""

from __future__ import annotations

import pytest

from ..support.clusters import dask_frame
from ..support.settings import TABLE, Case
from .pairs_known import KNOWN, NOT_PROMISED
from .pairs_laws import Answers, answering, check_same, judged, laws_of, quiet, refused

dask = pytest.importorskip("dask", reason="pip install 'deciban[dask]'")

LAW = "fit_on"
SLOW = "solver=gradient"  # takes hundreds of passes


def cover(name: str) -> list[Case]:
    """Pairs that `fit_on` takes, as few as a greedy choice finds, in which each value that it takes occurs three times;
    once where a fit takes many passes."""
    unlike = (*NOT_PROMISED, *KNOWN)
    cases = [case for case in judged(name, LAW) if not any(one.match(LAW, case) for one in unlike)]
    cases = [case for case in cases if SLOW not in case.key]
    lacking = dict.fromkeys((key for case in cases for key in case.key), 3 if TABLE[name].within < 1e-8 else 1)
    chosen = []
    for size, new in ((2, 2), (2, 1), (1, 1)):  # pairs of which both values are wanted come first
        for case in cases:
            if len(case.key) == size and sum(lacking[key] > 0 for key in case.key) >= new and not refused(case):
                chosen.append(case)
                lacking.update({key: lacking[key] - 1 for key in case.key})
    return chosen


@quiet
def fit_on_dask(case: Case) -> None:
    with dask.config.set(scheduler="synchronous"):
        found = answering(case, lambda: case.fit_on(dask_frame(case.partitions())))
    if not isinstance(found, Answers):
        raise found
    check_same(case, found)


@pytest.mark.parametrize("name", [name for name in TABLE if LAW in laws_of(name)])
def test_fit_is_fit_on_of_a_dask_frame(name):
    chosen = cover(name)
    assert len(chosen) > 1
    for case in chosen:
        try:
            fit_on_dask(case)
        except Exception as error:
            error.add_note(f"{name}: {' + '.join(case.key)}")
            raise
