"""Fits on a real Dask cluster of two worker processes: the bits of the stream, whatever happens to the workers."""

from __future__ import annotations

import sys
import threading
import time
from functools import partial

import numpy as np
import pandas as pd
import pytest

import deciban
from deciban.engines import dask as engine
from deciban.errors import ClusterError, DataError

from .support import clusters
from .support.clusters import dask_frame as spread

dd = pytest.importorskip("dask.dataframe", reason="pip install 'deciban[dask]'")
distributed = pytest.importorskip("distributed", reason="pip install 'deciban[dask]'")
import cloudpickle  # noqa: E402
import dask  # noqa: E402

cloudpickle.register_pickle_by_value(clusters)  # workers need not find the folder of the tests


@pytest.fixture(scope="module", autouse=True)
def client():
    with (
        dask.config.set({"distributed.worker.daemon": True, "distributed.admin.log-length": 0}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@clusters.every_model
def test_dask_has_the_bits_of_the_stream(model):
    clusters.assert_fits_like_the_stream(model, clusters.cut(clusters.made(model), 5), spread)


@pytest.mark.parametrize("name", clusters.REAL)
def test_dask_has_the_bits_of_the_stream_on_real_tables(name):
    target, models = clusters.REAL[name]
    pieces = clusters.cut(clusters.real(name), 6)
    for model in models:
        clusters.assert_fits_like_the_stream(model, pieces, spread, target)


@pytest.mark.parametrize(("name", "target"), clusters.NUMERIC.items())
def test_exact_discriminants_have_one_fingerprint_however_they_were_made(name, target):
    clusters.assert_one_fingerprint(name, target, spread)


@clusters.every_coded_model
def test_columns_are_coded_as_in_memory(model):
    clusters.assert_coded_as_in_memory(model, spread)


@clusters.several_passes
def test_several_passes_end_where_the_stream_does(model):
    clusters.assert_several_passes_end_where_the_stream_does(model, spread)


def test_number_of_workers_changes_no_bit_of_a_tree_of_many_partitions():
    data = spread(clusters.cut(clusters.made(n=900), 40))
    fit = partial(clusters.fitted, deciban.LinearDiscriminantAnalysis())
    got = fit(data)
    with dask.config.set(scheduler="synchronous"):
        clusters.assert_same_fit(got, fit(data))
    with dask.config.set(scheduler="threads"):
        clusters.assert_same_fit(got, fit(data))
    clusters.assert_same_fit(got, fit([data.compute()]), bits=False)


def test_odd_partitions_are_learned():
    clusters.assert_odd_pieces_are_learned(spread)


def test_order_of_columns_and_widths_of_whole_numbers_may_differ():
    pieces = clusters.cut(clusters.made(deciban.CategoricalNB()), 4)
    odd = [pieces[0], pieces[1].astype({"x0": np.int8}), pieces[2][pieces[2].columns[::-1]], pieces[3]]
    odd[3] = pieces[3].astype({"x1": np.uint16, "x2": np.float32})
    got = clusters.fitted(deciban.CategoricalNB(), spread(odd))
    clusters.assert_same_fit(got, clusters.fitted(deciban.CategoricalNB(), pieces))


def test_texts_that_a_partition_has_none_of_may_be_numbers_there():
    """What pandas makes of an empty column."""
    frame = clusters.odd_pieces()[0]
    pieces = [frame, frame.assign(sky=np.nan), frame.assign(sky="red")]
    for kind in ("str", "object"):
        got = clusters.fitted(deciban.MixedNB(), spread(pieces, meta=frame.iloc[:0].astype({"sky": kind})))
        assert got.levels_["sky"] == ["blue", "grey", "red"]
        clusters.assert_same_fit(got, clusters.fitted(deciban.MixedNB(), pieces))


def test_names_of_columns_may_be_numbers_and_no_two_the_same():
    frame = clusters.made()
    numbered = spread(clusters.cut(frame.rename(columns={"x0": 0, "x1": 1}), 2))
    for model in (deciban.GaussianNB(), deciban.LogisticRegression()):
        got = model.fit_on(numbered)
        assert got.feature_names_in_[:2].tolist() == ["0", "1"]
        answers = got.predict_on(numbered).compute()
        assert answers.predicted.tolist() == got.predict_on(answers).predicted.tolist()
    with pytest.raises(DataError, match="two columns are named `x0`"):
        clusters.fitted(deciban.GaussianNB(), spread([pd.concat([frame, frame[["x0"]]], axis=1)]))


def test_columns_that_are_not_read_may_hold_anything():
    frame = clusters.made().assign(odd=[1, "two"] * 100, turn=1j)
    data = spread(clusters.cut(frame, 2))
    names = [name for name in frame if name.startswith("x")]
    model = deciban.GaussianNB().fit_on(data, features=names)
    answers = model.predict_on(data).compute()
    assert answers.predicted.tolist() == model.predict(frame[names]).tolist()
    assert answers.turn.tolist() == frame.turn.tolist()
    with pytest.raises(DataError, match="`turn`"):
        deciban.GaussianNB().fit_on(data, features=["turn"])


def test_poison_row_is_told_once():
    clusters.assert_poison_is_told_once(spread)


def test_poison_row_among_those_to_be_answered_is_told():
    pieces = clusters.poisoned()
    model = clusters.fitted(deciban.GaussianNB(), pieces[:3])
    with pytest.raises(DataError, match=r"row 7 of partition 3, column `x2`"):
        model.predict_on(spread(pieces)).compute()


def test_column_that_holds_all_sorts_is_told():
    frame = clusters.made().assign(x1=[1, "two"] * 100)
    with pytest.raises(DataError, match="x1"):
        clusters.fitted(deciban.MultinomialNB(), spread(clusters.cut(frame, 3)))  # Dask makes all of them texts


def test_killed_worker_changes_nothing(tmp_path):
    clusters.assert_a_killed_worker_changes_nothing(spread, tmp_path / "killed")


def test_data_are_kept_between_passes(tmp_path):
    log = tmp_path / "made"

    def before(i: int) -> None:
        with open(log, "a") as out:
            out.write(f"{i}\n")

    with engine.kept(spread(clusters.cut(clusters.made(), 3), before)) as held:
        for _ in range(3):
            assert engine.total(held, lambda batch: batch.num_rows) == 200
    assert sorted(log.read_text().split()) == ["0", "1", "2"]


def test_workers_hold_no_rows_when_the_passes_are_done_and_users_keep_their_own(client):
    """At once: a frame in a cycle of references is there until Python looks for those."""
    rows = clusters.cut(clusters.made(), 3)
    mine = spread(rows[:2]).persist()
    for data in (spread(rows), mine):
        with engine.kept(data) as held:
            assert len(held) == sum(map(len, rows[: data.npartitions]))
    theirs = {future.key for future in distributed.futures_of(mine)}
    deadline = time.monotonic() + 10
    while (left := {key for keys in client.has_what().values() for key in keys}) != theirs:
        assert time.monotonic() < deadline, left - theirs
        time.sleep(0.05)
    assert held is not None
    assert len(mine) == sum(map(len, rows[:2]))


def test_answers_are_a_lazy_frame_with_the_same_index():
    frame = clusters.made().set_index(pd.Index(np.arange(200) * 3, name="id"))
    data = spread(clusters.cut(frame, 4))
    model = clusters.fitted(deciban.GaussianNB(), data)
    answers = model.predict_on(data)
    assert isinstance(answers, dd.DataFrame)
    assert list(answers.columns) == [*frame.columns, "predicted", "p_a", "p_b", "p_c"]
    got = answers.compute()
    pd.testing.assert_frame_equal(got[frame.columns], frame, check_dtype=False)
    X = frame.drop(columns="label")
    assert got.predicted.tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(got[["p_a", "p_b", "p_c"]], model.predict_proba(X), rtol=0, atol=1e-12)


def test_cluster_that_is_lost_is_told():
    def before(i: int) -> None:
        time.sleep(1.0)

    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False, timeout=2) as lost,
        lost.as_current(),
    ):
        data = spread(clusters.cut(clusters.made(), 30), before)
        threading.Timer(0.7, cluster.close, [1]).start()
        with pytest.raises(ClusterError, match="lost"):
            clusters.fitted(deciban.GaussianNB(), data)


def test_cluster_without_workers_is_not_waited_for_forever():
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as idle,
        idle.as_current(),
        dask.config.set({"deciban.patience": "1 second"}),
        pytest.raises(ClusterError, match="no workers for 1 seconds"),
    ):
        clusters.fitted(deciban.GaussianNB(), spread(clusters.cut(clusters.made(), 3)))


def test_scheduler_that_does_not_answer_is_not_waited_for_forever(monkeypatch):
    monkeypatch.setattr(engine, "_workers", lambda client: None)
    with (
        dask.config.set({"deciban.patience": "0 seconds"}),
        pytest.raises(ClusterError, match="has not answered for 0"),
    ):
        clusters.fitted(deciban.GaussianNB(), spread(clusters.cut(clusters.made(), 3), lambda i: time.sleep(3)))


def test_interrupted_fit_leaves_no_tasks_behind_and_the_client_lives_on(client, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "_workers", interrupt)
    model, gate = deciban.GaussianNB(), distributed.Event("gate")
    with pytest.raises(KeyboardInterrupt):
        model.fit_on(spread(clusters.cut(clusters.made(), 8), lambda i: distributed.Event("gate").wait(60)))
    gate.set()  # two were under way
    deadline = time.monotonic() + 20
    while any(client.processing().values()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert client.submit(len, "abc").result(timeout=20) == 3
    assert not hasattr(model, "classes_")


def test_sums_come_in_the_order_of_the_partitions():
    """Strings do not commute."""
    frames = [pd.DataFrame({"a": [chr(97 + i)]}) for i in range(26)]
    assert engine.total(spread(frames), lambda batch: batch.column(0)[0].as_py()) == "abcdefghijklmnopqrstuvwxyz"


def test_only_the_columns_that_are_asked_for_are_read():
    assert engine.total(spread([clusters.made()]), lambda batch: batch.num_columns, columns=("x1", "label")) == 2


def test_other_data_and_a_missing_package_are_told(monkeypatch):
    with pytest.raises(DataError, match=r"from_pandas"):
        deciban.GaussianNB().fit_on(clusters.made(), engine="dask")
    monkeypatch.setitem(sys.modules, "dask", None)
    monkeypatch.delitem(sys.modules, "dask.dataframe")
    with pytest.raises(ImportError, match=r"pip install 'deciban\[dask\]'"):
        deciban.GaussianNB().fit_on(clusters.made(), engine="dask")
