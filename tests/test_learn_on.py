"""Learning from data of any size in one go: any source, rows without labels, a sample to judge by."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest

import deciban
from deciban.errors import DataError
from deciban.io import readers
from deciban.model_selection import auto

WORDS = {"a": "tea coffee milk cup", "b": "cake bread rice plate"}


def rows(n: int = 600, gaps: bool = True) -> pa.Table:
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], n)
    x = rng.normal(size=n) + (y == "b")
    sky = np.where(rng.random(n) < 0.3, "blue", np.where(y == "a", "grey", "black"))
    label = [None if gaps and i % 50 == 7 else one for i, one in enumerate(y.tolist())]
    return pa.table({"x": x, "sky": sky, "late": [f"{one}!" for one in y], "label": label})


def as_file(table: pa.Table, kind: str, folder: Path) -> str:
    path = folder / f"rows.{kind}"
    if kind == "parquet":
        parquet.write_table(table, path, row_group_size=70)
    elif kind == "arrow":
        feather.write_feather(table, path, chunksize=90)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    else:
        readers.write(iter(table.to_batches()), path)
    return str(path)


def assert_same(a, b, X) -> None:
    np.testing.assert_allclose(a.model.predict_proba(X), b.model.predict_proba(X))
    assert a.metrics == pytest.approx(b.metrics)


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "arrow", "jsonl", "table", "iterator"])
def test_any_source_gives_the_model_of_all_labelled_rows(kind, tmp_path):
    table = rows()
    data = table if kind == "table" else iter(table.to_batches(100)) if kind == "iterator" else None
    out = auto.auto_fit_on(as_file(table, kind, tmp_path) if data is None else data, drop=["late"])
    labelled = table.filter(table["label"].is_valid())
    X = labelled.select(["x", "sky"])
    assert_same(out, deciban.auto_fit(X, labelled["label"].to_numpy(zero_copy_only=False), "mixed"), X)
    assert out.rows == X.num_rows
    assert out.notes == ["12 rows without `label` were skipped"]


def test_many_rows_are_judged_by_some_of_them_and_that_is_told(monkeypatch):
    monkeypatch.setattr(auto, "SAMPLE", 1000)
    table = rows(20_000, gaps=False)
    out = auto.auto_fit_on(iter(table.to_batches(700)), drop=["late"])
    assert out.how.startswith("leave-one-out of 1,000 of 20,000 rows")
    assert len(out.held_out.codes) == 1000
    whole = deciban.auto_fit(table.select(["x", "sky"]), table["label"].to_numpy(zero_copy_only=False), "mixed")
    assert out.metrics["log_loss"] == pytest.approx(whole.metrics["log_loss"], abs=0.05)


def test_which_rows_are_kept_does_not_hang_on_the_threads():
    kept = []
    for n in (1, 4):
        found = readers.LabelledSource(readers.open_data(rows(5000)), "label", 200)
        with deciban.threads(n):
            deciban.MixedNB().fit_on(found.source, "label", ["x", "sky"])
        kept.append(found.kept()[0])
    assert kept[0].equals(kept[1])
    assert kept[0].num_rows == 200
    assert len(set(kept[0]["x"].to_pylist())) == 200


def test_kept_rows_are_drawn_evenly():
    table = pa.table({"x": np.arange(100_000), "label": ["a", "b"] * 50_000})
    found = readers.LabelledSource(readers.open_data(iter(table.to_batches(3000))), "label", 2000)
    for piece in found.source.pieces():
        for _ in piece():
            pass
    drawn = np.array(found.kept()[0]["x"])
    tenths = np.bincount(drawn // 10_000, minlength=10)
    assert tenths.min() > 150  # 200 each, give or take four standard errors
    assert tenths.max() < 260


def test_every_class_has_a_few_rows_among_those_kept():
    y = np.array(["a", "b"] * 50_000, dtype=object)
    y[77_000:77_004], y[500:530] = "rare", "seldom"
    table = pa.table({"x": np.arange(100_000), "label": y})
    for step in (3000, 100_000):
        found = readers.LabelledSource(readers.open_data(iter(table.to_batches(step))), "label", 2000)
        for piece in found.source.pieces():
            for _ in piece():
                pass
        X, labels = found.kept()
        assert set(X["x"].to_pylist()) >= set(range(77_000, 77_004))
        assert (labels == "seldom").sum() == readers.batches.LEAST
        assert 2000 <= len(labels) <= 2000 + 2 * readers.batches.LEAST


def test_a_column_that_knows_too_much_is_found_in_pieces_too():
    assert [leak.column for leak in auto.auto_fit_on(rows()).leaks] == ["late"]


def test_texts_are_learned_in_pieces():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 200).tolist()
    texts = [" ".join(rng.choice(WORDS[c].split(), 8)) + f" and some more words, no. {i}" for i, c in enumerate(y)]
    out = auto.auto_fit_on(iter(pa.table({"says": texts, "label": y}).to_batches(30)))
    assert out.text == "says"
    whole = deciban.TextClassifier().fit(texts, y)
    np.testing.assert_allclose(out.model.predict_proba(texts), whole.predict_proba(texts))
    assert out.metrics["accuracy"] > 0.95


def test_a_type_that_turns_out_late_is_read_again(tmp_path):
    path = tmp_path / "late.csv"
    path.write_text("x,z,label\n" + "1,3,a\n2,4,b\n" * 400_000 + "1,word,a\n2,word,b\n")
    out = readers.retry_on_type_change(str(path), lambda source: auto.auto_fit_on(source))
    assert out.model.levels_ == {"z": ["3", "4", "word"]}


def test_nothing_to_learn_from_is_told():
    with pytest.raises(DataError, match="no rows"):
        auto.auto_fit_on(rows()[:0])
    with pytest.raises(DataError, match="only one class in the target"):
        auto.auto_fit_on(pa.table({"x": [1.0, 2.0], "label": ["a", "a"]}))
