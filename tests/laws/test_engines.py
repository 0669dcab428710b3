"""Engines only add, in the order of the chunks: any of them, with any number of threads, gives the same bits."""

from __future__ import annotations

import time
import weakref
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import deciban
from deciban import ops
from deciban.data.blocks import Counts
from deciban.engines import threads
from deciban.tallies import Bundle

from ..support.compare import assert_close, assert_same_bits
from ..support.strategies import families, forms, plain_rows, some_forms, some_rows, tally

every_family = pytest.mark.parametrize("family", families())


def parts(family, table, cells: int) -> tuple:
    return table.chunks(cells), lambda part: family.tally(part.x, part.y, part.w, part.k)


def total(family, table, cells: int):
    return threads.total(*parts(family, table, cells))


@every_family
@given(data=st.data())
def test_threads_add_the_parts_up_to_the_whole(family, data):
    rows = data.draw(some_rows(family))
    cells = data.draw(st.integers(1, 40))
    for form in some_forms(family, data):
        assert_close(total(family, rows.table(form), cells), tally(family, rows, form))


@every_family
def test_any_number_of_threads_gives_the_bits_of_a_plain_sum(family):
    rows = plain_rows(family, n=997, d=5)
    for form in forms(family):
        table = rows.table(form)
        chunks, f = parts(family, table, 100)
        want = reduce(add, map(f, chunks))
        for n in (1, 2, 3):
            with deciban.threads(n):
                assert_same_bits(total(family, table, 100), want)


def sparse_forms(family) -> list:
    return [form for form in forms(family) if form.block is Counts]


@pytest.mark.parametrize("family", [one for one in families() if sparse_forms(one.values[0])])
@given(data=st.data())
def test_sparse_tables_that_threads_share_have_the_bits_of_one_that_has_one_owner(family, data):
    rows = data.draw(some_rows(family))
    for form in sparse_forms(family):
        x = form(rows.cells)
        shared = replace(x, each=lambda f, parts: threads.map_ordered(parts, f))
        with deciban.threads(2):
            assert_same_bits(family.tally(shared, rows.y, rows.w, rows.k), family.tally(x, rows.y, rows.w, rows.k))
            assert ops.minimum(shared) == ops.minimum(x)


@pytest.mark.parametrize("model", [deciban.MultinomialNB, deciban.GaussianNB], ids=lambda model: model.__name__)
def test_wide_sparse_rows_are_learned_in_one_table_with_any_number_of_threads(model, monkeypatch):
    monkeypatch.setattr("deciban.rows.rows.MANY", 0)
    rng = np.random.default_rng(0)
    X = sparse.random_array((300, 4000), density=0.02, format="csr", rng=rng)
    y, w = rng.integers(0, 9, 300) ** 2 // 9, rng.integers(1, 4, 300)
    fits = []
    for n in (1, 2, 3):
        with deciban.threads(n):
            fits.append(of_classes(model().fit(X, y, sample_weight=w)))
    assert_same_bits(fits[0], fits[1])
    assert_same_bits(fits[0], fits[2])
    assert_close(fits[0], of_classes(model().fit(X.toarray(), y, sample_weight=w)))


def of_classes(model):
    """The tally by class; that of GaussianNB has another beside it, of all rows."""
    tally = model.tally_.parts[1]
    return tally.parts[0] if isinstance(tally, Bundle) else tally


@every_family
def test_the_same_rows_twice_give_the_same_bits(family):
    rows = plain_rows(family, n=997, d=5)
    for form in forms(family):
        assert_same_bits(*(total(family, rows.table(form), 100) for _ in range(2)))


def test_threads_read_chunks_from_anything_that_yields_them():
    assert threads.total((10 * i for i in range(50)), lambda chunk: chunk + 1) == sum(10 * i + 1 for i in range(50))


def test_threads_add_in_the_order_of_the_chunks():
    """Strings do not commute."""
    with deciban.threads(3):
        assert threads.total("abcdefghijklmnop", str.upper) == "ABCDEFGHIJKLMNOP"


def test_an_error_in_a_chunk_comes_out_of_the_threads():
    def refuse(chunk):
        if chunk == 7:
            raise ZeroDivisionError("seven")
        return chunk

    with deciban.threads(2), pytest.raises(ZeroDivisionError, match="seven"):
        threads.total(range(20), refuse)
    assert threads.total(range(5), refuse) == 10


def test_threads_hold_no_more_chunks_than_they_work_on():
    """A million chunks would not fit in memory: they are asked for as they are needed."""
    asked = []
    with deciban.threads(2):
        results = threads.map_ordered((asked.append(i) or i for i in range(1000)), lambda chunk: chunk)
        for _ in range(10):
            next(results)
        results.close()
    assert len(asked) < 20


def test_threads_do_not_run_ahead_of_who_uses_their_results():
    """A reader that is faster than the adding would fill the memory with tallies."""
    asked = []
    with deciban.threads(3):
        for number, _ in enumerate(
            threads.map_ordered((asked.append(i) or i for i in range(200)), lambda chunk: chunk)
        ):
            time.sleep(0.001)
            assert len(asked) <= number + 1 + threads.AHEAD * 3


def test_work_inside_of_work_holds_no_chunks_when_it_is_done():
    """All threads are busy with the outer work, so the inner one's calls wait in line: they must not keep its rows."""
    alive: list = []

    def inner(_):
        rows = [np.zeros(4), np.ones(4)]
        alive.extend(map(weakref.ref, rows))
        out = threads.total(iter(rows), np.sum)
        rows.clear()
        return out, sum(one() is not None for one in alive)

    with deciban.threads(2):
        kept = [count for _, count in threads.map_ordered(range(40), inner)]
    assert max(kept) < 20


def test_number_of_threads_is_put_back_after_an_error():
    before = threads.workers()
    with pytest.raises(ZeroDivisionError), deciban.threads(7):
        threads.workers() / 0
    assert threads.workers() == before


def test_borders_depend_on_the_rows_alone():
    table = plain_rows(families()[0].values[0], n=1000, d=4).table(forms(families()[0].values[0])[0])
    sizes = [chunk.n for chunk in table.chunks(300)]
    assert sum(sizes) == 1000
    assert max(sizes) - min(sizes) <= 1
    with deciban.threads(1):
        assert sizes == [chunk.n for chunk in table.chunks(300)]
    assert np.log2(len(sizes)) % 1 == 0


@pytest.mark.parametrize("n", [1, 2, 3])
def test_source_that_breaks_is_heard_of(n):
    """A reader that fails in the middle must not pass for one that is done."""

    def chunks():
        yield from range(5)
        raise OSError("disk")

    with deciban.threads(n), pytest.raises(OSError, match="disk"):
        threads.total(chunks(), lambda chunk: chunk)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_first_failure_in_order_is_the_one_that_is_raised(n):
    def f(chunk):
        if chunk in (3, 7):
            raise KeyError(chunk)
        return chunk

    with deciban.threads(n), pytest.raises(KeyError, match="3"):
        threads.total(range(10), f)


def test_threads_that_limit_blas_at_the_same_time_set_its_number_back():
    libraries = threads._blas_libraries()
    before = [library.get_num_threads() for library in libraries]
    for library in libraries:
        library.set_num_threads(2)
    first, second = threads.one_blas_thread(), threads.one_blas_thread()
    try:
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert {library.get_num_threads() for library in libraries} <= {1}
        second.__exit__(None, None, None)
        assert {library.get_num_threads() for library in libraries} <= {2}
    finally:
        for library, count in zip(libraries, before, strict=True):
            library.set_num_threads(count)
