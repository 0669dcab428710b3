"""Audits: wrong labels rank first, laws of the ranking, and every other finding where it is due and only there."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.csv
import pytest
from scipy import sparse
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier

import deciban
from deciban import GaussianNB, LogisticRegression, MixedNB, audit
from deciban.data.frames import Column
from deciban.errors import DataError
from deciban.model_selection.label_errors import evidence_of_models, find_label_errors, noise_of_labels
from deciban.rows.unused_columns import drop_reason

from .support.cli import exit_code, output
from .support.data import shared_path, shared_table
from .test_report import Tree, hostile


def rows(n: int = 400, seed: int = 0, share: float = 0.1) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """(X, given labels, which of them are wrong) of three classes with columns of each kind."""
    rng = np.random.default_rng(seed)
    true = rng.integers(0, 3, n)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=n) + 2.0 * true,
            "width": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n) - 1.5 * true),
            "colour": np.where(rng.random(n) < 0.75, np.array(["red", "green", "blue"])[true], "grey"),
        }
    )
    wrong = np.zeros(n, dtype=bool)
    wrong[rng.choice(n, round(share * n), replace=False)] = True
    given = np.where(wrong, (true + rng.integers(1, 3, n)) % 3, true)
    return X, np.array(["a", "b", "c"])[given], wrong


def places(found: Any) -> np.ndarray:
    """The place of each row in the ranking."""
    out = np.empty(len(found), dtype=int)
    out[found.order] = np.arange(len(found))
    return out


# wrong labels


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2])
def test_wrong_labels_are_first_and_their_number_is_about_right(share):
    X, y, wrong = rows(1500, share=share)
    found = audit(X, y).label_errors
    assert roc_auc_score(wrong, -places(found)) > 0.95
    assert found.expected == pytest.approx(wrong.sum(), rel=0.35)
    assert wrong[found.likely].mean() > 0.7
    assert found.likely.sum() > 0.3 * wrong.sum()
    assert (found.suggested != y)[found.likely].all()
    np.testing.assert_allclose(found.noise.sum(axis=1), 1.0)


def test_labels_without_errors_are_hardly_suspected():
    X, y, _ = rows(1500, share=0.0)
    found = audit(X, y).label_errors
    assert found.expected < 0.03 * len(y)
    assert found.likely.mean() < 0.015


def test_labels_that_no_column_predicts_are_not_judged():
    rng = np.random.default_rng(0)
    found = audit(rng.normal(size=(500, 3)), rng.integers(0, 2, 500))
    assert np.isnan(found.label_errors.wrong).all()
    assert not found.label_errors.likely.any()
    assert "say too little" in str(found)


@pytest.mark.parametrize("name", ["vehicle", "heart_cleveland"])
def test_flipped_labels_of_real_tables_rank_first(name):
    table = shared_table(f"{name}/{name}.csv")
    y = table.pop({"vehicle": "Class", "heart_cleveland": "num"}[name]).to_numpy().astype(str)
    rng = np.random.default_rng(0)
    wrong = rng.random(len(y)) < 0.1
    classes = np.unique(y)
    given = np.where(wrong, rng.choice(classes, len(y)), y)
    wrong = given != y
    assert (
        roc_auc_score(wrong, -places(find_label_errors(table, given))) > {"vehicle": 0.9, "heart_cleveland": 0.7}[name]
    )


@pytest.mark.parametrize(
    "model", [GaussianNB(), MixedNB(weights="discriminative"), LogisticRegression(), KNeighborsClassifier(15)], ids=repr
)
def test_any_classifier_can_judge_labels(model):
    X, y, wrong = rows(600)
    X = X[["size"]].assign(width=X["width"].fillna(0.0))
    found = audit(X, y, model, checks=["labels"]).label_errors
    assert list(found.models) == [type(model).__name__]
    assert roc_auc_score(wrong, -places(found)) > 0.8
    with pytest.raises((AttributeError, ValueError)):
        model.predict(X)  # a clone was fitted


def test_a_model_may_be_named():
    X, y, _ = rows(100)
    assert list(audit(X[["size"]], y, "lda").label_errors.models) == ["LinearDiscriminantAnalysis"]


def test_held_out_probabilities_of_a_model_are_those_without_the_row():
    X, y, _ = rows(60)
    X = X[["size"]].to_numpy()
    found = audit(X, y, GaussianNB(), checks=["labels"]).label_errors
    logs = GaussianNB().fit(X, y).leave_one_out(X, y, priors="uniform")
    own = np.take_along_axis(logs, np.searchsorted(found.classes, y)[:, None], axis=1)[:, 0]
    top = np.argsort(own)[:5]
    without = [
        GaussianNB().fit(np.delete(X, i, 0), np.delete(y, i)).predict_proba(X[i : i + 1], priors="uniform")[0]
        for i in top
    ]
    np.testing.assert_allclose(np.exp(logs[top]), without)
    assert set(found.order[:3]) & set(top)


# laws of the ranking


def test_evidence_of_some_rows_is_that_of_all_rows():
    X, y, _ = rows(300)
    codes = np.searchsorted(np.unique(y), y).astype(np.int32)
    at = np.arange(5, 300, 7)
    for given in (X, X[["size"]]):
        every = evidence_of_models(given, codes, None, 3, None, None)
        assert len(every) > 1
        for of in every.values():
            np.testing.assert_allclose(of(at), of(slice(None))[at], rtol=1e-9, atol=1e-9)


def test_the_order_of_rows_does_not_matter():
    X, y, _ = rows(6000)  # more than the models are weighted by
    order = np.random.default_rng(1).permutation(len(y))
    one, two = (
        audit(part, labels, checks=["labels"]).label_errors for part, labels in ((X, y), (X.iloc[order], y[order]))
    )
    np.testing.assert_allclose(two.wrong, one.wrong[order], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(two.probability, one.probability[order], rtol=1e-6, atol=1e-9)
    assert two.expected == pytest.approx(one.expected)


def test_the_order_of_columns_and_names_of_classes_do_not_matter():
    X, y, _ = rows()
    one = find_label_errors(X, y)
    np.testing.assert_allclose(find_label_errors(X[X.columns[::-1]], y).wrong, one.wrong, rtol=1e-6, atol=1e-9)
    other = np.array([{"a": 9, "b": 4, "c": 7}[label] for label in y])
    np.testing.assert_allclose(find_label_errors(X, other).wrong, one.wrong, rtol=1e-6, atol=1e-9)


def test_units_of_numbers_do_not_matter():
    X, y, _ = rows(3000)  # histograms: densities would have priors in units of the column
    one, two = find_label_errors(X, y), find_label_errors(X.assign(size=1000 * X["size"] + 7), y)
    assert np.corrcoef(one.wrong, two.wrong)[0, 1] > 0.999


def test_weights_of_one_are_no_weights_and_rows_of_weight_zero_change_nothing():
    X, y, _ = rows(300)
    plain = find_label_errors(X, y)
    np.testing.assert_allclose(find_label_errors(X, y, sample_weight=np.ones(300)).wrong, plain.wrong, atol=1e-7)
    w = np.r_[np.ones(300), np.zeros(50)]
    more, labels = pd.concat([X, X[:50]], ignore_index=True), np.r_[y, np.roll(y[:50], 1)]
    found = find_label_errors(more[["size"]], labels, GaussianNB(), sample_weight=w)
    alone = find_label_errors(X[["size"]], y, GaussianNB())
    assert np.corrcoef(found.wrong[:300], alone.wrong)[0, 1] > 0.98


def test_frames_arrays_and_files_have_the_same_ranking(tmp_path):
    X, y, _ = rows(300)
    X = X[["size"]].assign(width=X["width"].fillna(0.0))
    one = audit(X, y, checks=["labels"]).label_errors
    path = tmp_path / "rows.csv"
    X.assign(kind=y).to_csv(path, index=False)
    others = [
        audit(X.to_numpy(), y),
        audit(pl.from_pandas(X), y),
        audit(X.assign(kind=y), "kind"),
        audit(path, "kind"),
        audit(pyarrow.csv.read_csv(path), "kind"),
        audit({name: X[name].tolist() for name in X}, y.tolist()),
    ]
    for other in others:
        np.testing.assert_allclose(other.label_errors.wrong, one.wrong, atol=1e-9)


def test_rows_are_called_by_the_index_of_a_frame():
    X, y, _ = rows(100)
    found = audit(X.set_index(np.array([f"r{i}" for i in range(100)])), y)
    plain = audit(X, y)
    first = found.label_errors.records(1)[0]["row"]
    assert first == f"r{plain.label_errors.order[0]}"


def test_noise_is_found_by_pair_of_classes():
    rng = np.random.default_rng(0)
    true = rng.integers(0, 3, 30_000)
    given = np.where((true == 0) & (rng.random(30_000) < 0.2), 2, true)
    log_p = np.log(np.where(true[:, None] == np.arange(3), 0.9 + 0.01 * rng.random((30_000, 1)), 0.05))
    noise = noise_of_labels(log_p, given)
    assert noise is not None
    assert noise[0, 2] == pytest.approx(0.2, abs=0.03)
    assert noise[0, 1] < 0.02
    assert noise[1, 0] < 0.02


def test_the_only_row_of_a_class_is_not_judged_and_comes_last():
    X, y, _ = rows(100)
    y = y.astype(object)
    y[17] = "lone"
    found = audit(X, y)
    assert np.isnan(found.label_errors.wrong[17])
    assert found.label_errors.order[-1] == 17
    assert found.small_classes == {"lone": 1}


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.zeros((2, 1)), [0, 1]),
        (np.ones((30, 2)), [0, 1] * 15),
        (np.arange(40.0)[:, None], [0, 1] * 20),  # a row number, and nothing else
        (np.random.default_rng(0).normal(size=(12, 30)), [0, 1] * 6),
        (np.full((20, 2), np.nan), [0, 1] * 10),
        ([["x", 1.0], ["y", 2.0]] * 20, ["p", "q"] * 20),
        (np.random.default_rng(0).normal(size=(30, 2)), [1] * 30),
        (np.random.default_rng(0).normal(size=(60, 2)), list(range(60))),
    ],
)
def test_few_rows_and_empty_columns_have_an_answer(X, y):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes")
        found = audit(X, y)
    assert sorted(found.label_errors.order.tolist()) == list(range(len(y)))
    assert str(found)
    json.dumps(found.to_dict())


# texts and counts


def test_texts_are_judged_by_their_words():
    texts = [f"win cash prize {i % 7}" for i in range(60)] + [f"see you at lunch {i % 5}" for i in range(60)]
    y = ["spam"] * 60 + ["ham"] * 60
    y[3], y[100] = "ham", "spam"
    found = audit(texts, y)
    assert set(found.label_errors.order[:2].tolist()) == {3, 100}
    assert list(found.label_errors.models) == ["TextClassifier"]
    assert found.conflicts  # equal texts
    assert "leaking" not in str(found)


def test_sparse_counts_are_judged():
    rng = np.random.default_rng(0)
    true = np.repeat([0, 1], 150)
    X = sparse.csr_array(rng.poisson(np.where(true[:, None] == 0, [3, 0.3, 1, 1], [0.3, 3, 1, 1])))
    y = true.copy()
    y[:8] = 1
    assert roc_auc_score(y != true, -places(audit(X, y).label_errors)) > 0.95
    with pytest.raises(DataError, match="below 0"):
        audit(-X, y)


# other findings


def test_equal_rows_with_different_labels_are_found():
    X = pd.DataFrame({"a": [1.0, 1.0, 2.0, 1.0, 2.0, np.nan, np.nan], "b": list("xxyxyzz")})
    X = pd.concat([X, pd.DataFrame({"a": np.arange(20) / 3, "b": "w"})], ignore_index=True)
    y = np.array(["p", "q", "p", "p", "p", "q", "p", *["p", "q"] * 10])
    found = audit(X, y).conflicts
    assert [(one.rows, one.labels) for one in found] == [((0, 1, 3), {"p": 2, "q": 1}), ((5, 6), {"p": 1, "q": 1})]
    assert not audit(X, ["p"] * 13 + ["q"] * 14).conflicts[1:]


def test_findings_are_there_where_they_are_due():
    X, y, _ = rows(300, share=0.0)
    rng = np.random.default_rng(0)
    X = X.assign(
        leak=y,
        code=[f"k{i}" for i in range(300)],
        number=np.arange(300),
        same=5,
        copy=X["size"],
        dice=rng.normal(size=300),
        none=None,
    )
    found = audit(X, y)
    assert [one.column for one in found.leaks] == ["leak"]
    assert set(found.unused) == {"code", "number", "none"}
    assert set(found.uninformative) == {"same", "copy", "dice"}
    assert not found.conflicts
    assert not found.small_classes
    text = str(found)
    for word in ("leaking columns", "is a row number", "has one value", "is a copy of `size`", "→"):
        assert word in text
    assert "Nothing found: " in text


def test_the_largest_numbers_are_no_row_numbers():
    far = np.repeat([-1.7e308, 1.7e308], 15)
    for values in (far, np.where(far > 0, np.inf, -np.inf), np.append(far, np.arange(30.0))):
        assert drop_reason(Column("a", values)) == ""
    assert drop_reason(Column("a", np.arange(5.0, 35.0)[::-1])) == "is a row number"


def test_a_table_without_defects_has_few_findings():
    X, y, _ = rows(400, share=0.0)
    found = audit(X, y)
    assert {one.name for one in found.findings} <= {"label errors"}


def test_groups_that_differ_are_found_and_others_are_not():
    X, y, _ = rows(900, share=0.0)
    day = np.arange(900) % 3
    X.loc[day == 2, "size"] += 3.0
    y = np.where((day == 1) & (y == "a") & (np.arange(900) % 2 == 0), "b", y)
    found = audit(X, y, groups=np.array(["mon", "tue", "wed"])[day])
    differences = {(one.group, one.what) for one in found.groups}
    assert ("wed", "size") in differences
    assert ("tue", "classes") in differences
    assert not any(one.what == "colour" for one in found.groups)
    assert audit(X.assign(day=day), y, groups="day").groups
    assert not audit(X[["colour"]], y, groups=np.random.default_rng(0).permutation(day) > 0).groups


def test_groups_with_more_label_errors_are_found():
    X, y, _ = rows(1200, share=0.0)
    group = np.arange(1200) % 4
    at = np.flatnonzero(group == 3)[:120]
    y[at] = np.roll(np.array(["a", "b", "c"]), 1)[np.searchsorted(["a", "b", "c"], y[at])]
    found = audit(X, y, groups=group, checks=["labels", "groups"]).groups
    assert [one.group for one in found if one.what == "likely label errors"] == [3]


def test_rows_without_a_label_are_left_out_and_listed():
    X, y, _ = rows(200)
    labels = y.astype(object)
    labels[[3, 50]] = None
    found = audit(X, labels, groups=np.arange(200) % 2)
    assert found.unlabelled == [3, 50]
    assert found.rows == 198
    assert not {3, 50} & set(found.label_errors.to_frame()["row"])
    assert len(found.label_errors) == 198


def test_checks_choose_what_is_looked_at():
    X, y, _ = rows(100)
    found = audit(X, y, checks=["classes", "columns"])
    assert found.label_errors is None
    assert "labels" not in str(found)


# forms


def test_frames_dictionaries_and_pages_hold_the_findings(tmp_path):
    X, y, _ = rows(300)
    y = y.astype(object)
    y[0] = "rare"
    found = audit(X.assign(id=np.arange(300)), pd.Series(y, name="kind"))
    frame = found.label_errors.to_frame()
    assert list(frame.columns) == ["row", "given", "suggested", "probability", "wrong", "likely"]
    assert frame["row"].tolist() == found.label_errors.order.tolist()
    assert (frame["wrong"].dropna().diff().dropna() <= 1e-12).all()
    every = found.to_frame()
    assert (every["check"] == "label errors").sum() == found.label_errors.likely.sum()
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["classes"]["rare"] == 1
    assert len(plain["likely_label_errors"]) == found.label_errors.likely.sum()
    assert "<table" in found._repr_html_()
    assert found.label_errors._repr_html_()
    page = found.report(tmp_path / "audit.html")
    tree = Tree((tmp_path / "audit.html").read_text())
    assert "Audit of kind: 300 rows" in " ".join(tree.words)
    assert [section.title for section in page.sections][:2] == ["Summary", "Label errors"]
    assert page.html.count("<h2") == len(page.sections)


def test_a_page_of_hostile_names_runs_nothing():
    X, y = hostile()
    page = audit(X.assign(**{"<script>x": 1, "same `as` <b>": X.iloc[:, 0]}), y).report().html
    Tree(page)
    assert "<script" not in page
    assert "<b>" not in page


# the command


def test_the_command_prints_and_writes(tmp_path, capfd):
    X, y, _ = rows(200)
    path, page, ranking = (tmp_path / name for name in ("rows.csv", "audit.html", "ranking.csv"))
    X.assign(kind=y, day=np.arange(200) % 2).to_csv(path, index=False)
    out, _ = output(f"audit {path} --target kind --groups day -o {page}", capfd)
    assert out.startswith("200 rows, 3 columns, 3 classes of `kind`")
    assert page.read_text().startswith("<!DOCTYPE html>")
    out, _ = output(f"audit {path} --target kind --drop day --json -o {ranking}", capfd)
    found = json.loads(out)
    assert found["rows"] == 200
    first = pd.read_csv(ranking)
    assert (
        first["row"].tolist() == audit(path, "kind", checks=["labels"]).label_errors.order.tolist() or len(first) == 200
    )
    assert first["row"][0] == found["likely_label_errors"][0]["row"]
    output(f"audit {path} --target kind --drop day --drop colour --drop width --model lda", capfd)
    output(f"audit {path} --target kin", capfd, 1)
    assert exit_code(f"audit {path} --target kind -o {path}") == 1


def test_the_command_reads_texts(tmp_path, capfd):
    path = tmp_path / "texts.csv"
    pd.DataFrame({"label": ["spam", "ham"] * 20, "text": ["win cash now", "see you soon"] * 20}).to_csv(
        path, index=False
    )
    out, _ = output(f"audit {path} --target label --text text --json", capfd)
    assert json.loads(out)["columns"] == 0


# errors


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda X, y: audit(X), "y is missing"),
        (lambda X, y: audit(X, y[:5]), "one label for each row"),
        (lambda X, y: audit(X, y, groups=[1, 2]), "one group for each row"),
        (lambda X, y: audit(X, y, checks=["label"]), "labels"),
        (lambda X, y: audit(X, "nothing"), "no column"),
        (lambda X, y: audit(X, y, groups="nothing"), "no column"),
        (lambda X, y: audit(X, y, "linear"), "no classifier|names are"),
    ],
)
def test_errors_have_hints(call, words):
    X, y, _ = rows(50)
    with pytest.raises(DataError, match=words) as raised:
        call(X, y)
    assert "hint: " in str(raised.value)


def test_shared_titanic_finds_the_lifeboat():
    found = deciban.audit(shared_path("titanic/titanic.csv"), "survived")
    assert "boat" in [one.column for one in found.leaks]
    assert {"name", "ticket"} <= set(found.unused)
