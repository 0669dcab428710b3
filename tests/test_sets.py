"""Sets of classes: split conformal prediction by its definition, CV+ by refits, weights, few rows, real tables, and the
command."""

from __future__ import annotations

import csv
import json
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from sklearn.model_selection import train_test_split

import deciban
from deciban import BayesOptimal, GaussianNB, LogisticRegression, MixedNB, TextClassifier
from deciban.errors import DataError, ForgetError
from deciban.rows.digests import stirred
from deciban.rows.folds import copies_in_folds
from deciban.rows.raw_rows import RawArrays

from .support.cli import exit_code, output
from .support.data import shared_table


def rows(n: int, seed: int = 0, k: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    return rng.normal(size=(n, 3)) + y[:, None] * [1.2, 0.5, 0.0], np.array(list("abcd"))[y]


def by_definition(proba: np.ndarray, y: np.ndarray, new: np.ndarray, coverage: float, by_class: bool) -> np.ndarray:
    """Split conformal sets: score 1 − P(class), the ceil((n + 1) coverage)-th smallest is the largest in a set."""
    out = np.ones(new.shape, dtype=bool)
    for c in range(new.shape[1]):
        at = np.flatnonzero(y == c) if by_class else np.arange(len(y))
        scores = np.sort(1.0 - proba[at, y[at]])
        rank = int(np.ceil(np.round((len(scores) + 1) * coverage, 9)))
        if rank <= len(scores):
            out[:, c] = 1.0 - new[:, c] <= scores[rank - 1]
    return out


@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.99])
@pytest.mark.parametrize("model", [GaussianNB(), LogisticRegression()], ids=repr)
def test_sets_of_new_rows_are_those_of_the_definition(model, coverage, by_class):
    model = model.fit(*rows(200))
    (X, y), (new, _) = rows(299, 1), rows(500, 2)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "too few", UserWarning)
        found = model.predict_set(new, coverage, by_class, calibration=(X, y))
    codes = np.searchsorted(model.classes_, y)
    wanted = by_definition(model.predict_proba(X), codes, model.predict_proba(new), coverage, by_class)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("model", [GaussianNB(), LogisticRegression()], ids=repr)
def test_sets_of_training_rows_are_those_of_refits(model):
    X, y = rows(120)
    new, _ = rows(80, 1)
    found = model.fit(X, y).predict_set(new, 0.8, calibration=(X, y), learned=True)
    codes, table = np.searchsorted(model.classes_, y), RawArrays(X, y)
    fold = copies_in_folds(stirred(table.key), codes, np.ones(120, dtype=np.int64), 10).argmax(axis=1)
    assert np.bincount(fold).tolist() == [12] * 10
    passed = np.zeros((80, 3))
    for f in range(10):
        here = fold == f
        one = type(model)().fit(X[~here], y[~here])
        own = one.predict_proba(X[here])[np.arange(12), codes[here]]
        passed += (own[:, None, None] > one.predict_proba(new)).sum(axis=0)
    np.testing.assert_array_equal(found, passed < 0.8 * 121)


def test_an_empty_set_is_possible_and_equal_rows_count_as_equal():
    model = GaussianNB().fit([[0.0], [1.0], [9.0], [10.0]], ["a", "a", "b", "b"])
    assert model.predict_set([[5.0]], 0.5, calibration=([[0.0]] * 9, ["a"] * 9)).tolist() == [[False, False]]
    # nine of ten rows are equal: their set has their class, whatever the coverage
    same = [[0.3]] * 9 + [[0.4]]
    for coverage in (0.05, 0.3, 0.8):
        assert model.predict_set([[0.3]], coverage, calibration=(same, ["a"] * 10))[0, 0]


def test_weights_count_as_shares():
    model = GaussianNB().fit(*rows(200))
    (X, y), (new, _) = rows(300, 1), rows(400, 2)
    plain = model.predict_set(new, 0.8, calibration=(X, y))
    np.testing.assert_array_equal(model.predict_set(new, 0.8, calibration=(X, y, np.full(300, 7.0))), plain)
    chosen = np.where(np.arange(300) < 250, 1.0, 0.0)
    some = model.predict_set(new, 0.8, calibration=(X[:250], y[:250]))
    np.testing.assert_array_equal(model.predict_set(new, 0.8, calibration=(X, y, chosen)), some)
    # rows of one class with all of the weight: the sets are those of its rows
    heavy = np.where(y == "a", 1e6, 1e-6)
    np.testing.assert_array_equal(
        model.predict_set(new, 0.8, calibration=(X, y, heavy)),
        model.predict_set(new, 0.8, calibration=(X[y == "a"], y[y == "a"])),
    )


def test_too_few_rows_give_all_classes_and_a_warning():
    model = GaussianNB().fit(*rows(200))
    X, y = rows(8, 1)
    with pytest.warns(UserWarning, match="8 calibration rows are too few for coverage 0.9") as found:
        assert model.predict_set(rows(5, 2)[0], calibration=(X, y)).all()
    assert "9 rows are needed" in str(found[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict_set(rows(5, 2)[0], calibration=rows(9, 1))
    X, y = rows(60, 1)
    some = np.flatnonzero((y != "c") | (np.arange(60) < 10))
    with pytest.warns(UserWarning, match=r"every set has 'c' \("):
        sets = model.predict_set(rows(50, 2)[0], by_class=True, calibration=(X[some], y[some]))
    assert sets[:, 2].all()
    assert not sets[:, 0].all()


def test_rows_that_were_not_learned_are_no_training_rows():
    model = MixedNB(calibrate=True).fit(*rows(100))
    with pytest.raises(ForgetError):
        model.predict_set(rows(5, 2)[0], calibration=rows(100, 1), learned=True)
    with pytest.raises(DataError, match="learned"):
        LogisticRegression().fit(*rows(100)).predict_set(rows(5, 2)[0], calibration=rows(60), learned=True)


def test_a_ledger_shows_rows_that_were_learned():
    (X, y), (other, labels) = rows(100), rows(100, 1)
    model = GaussianNB(ledger=True).fit(X, y)
    with pytest.warns(UserWarning, match="60 of 100 calibration rows"):
        model.predict_set(X, calibration=(np.vstack([X[:60], other[:40]]), np.append(y[:60], labels[:40])))


def test_a_predictor_answers_for_the_model_as_it_was():
    model, (X, y) = GaussianNB().fit(*rows(200)), rows(100, 1)
    sets = model.set_predictor(calibration=(X, y))
    before = sets.predict(X)
    model.partial_fit(*rows(200, 3))
    np.testing.assert_array_equal(sets.predict(X), before)


def test_hypotheses_that_were_not_learned_have_sets_by_new_rows():
    X, y = rows(200, k=2)
    vote = BayesOptimal.of([GaussianNB().fit(*rows(50, 1, k=2)), LogisticRegression().fit(*rows(50, 2, k=2))])
    sets = vote.predict_set(X, 0.8, calibration=rows(100, 3, k=2))
    assert sets[np.arange(200), (y == "b").astype(int)].mean() > 0.68
    with pytest.raises(DataError, match="were not learned"):
        vote.predict_set(X, calibration=rows(100, 3, k=2), learned=True)


def covered(model: Any, X: Any, y: np.ndarray, **how: Any) -> tuple[np.ndarray, np.ndarray]:
    """(whether the sets of rows have their classes, the sizes of the sets)"""
    sets = model.predict_set(X, 0.9, **how)
    return sets[np.arange(len(y)), np.searchsorted(model.classes_, y)], sets.sum(axis=1)


@pytest.mark.parametrize("name", ["adult", "letter", "sms_spam"])
def test_real_rows_are_covered(name):
    table = shared_table(f"{name}/{name}.csv.gz")
    target = {"adult": "income", "letter": "lettr", "sms_spam": "label"}[name]
    y = table[target].to_numpy(object).astype(str)
    X = table["text"].to_numpy(object) if name == "sms_spam" else table.drop(columns=[target, "split"])
    some = np.random.default_rng(0).permutation(len(y))[:8000]
    learned, rest = train_test_split(some, test_size=0.5, random_state=0)
    fresh, test = train_test_split(rest, test_size=0.6, random_state=0)
    rows_of = (lambda at: X[at]) if name == "sms_spam" else (lambda at: X.iloc[at])
    model = TextClassifier() if name == "sms_spam" else MixedNB(calibrate=True)
    model.fit(rows_of(learned), y[learned])
    limit = 3 * np.sqrt(0.09 * (1 / len(fresh) + 1 / len(test)))
    for how in ({"calibration": (rows_of(fresh), y[fresh])}, {}):
        inside, _ = covered(model, rows_of(test), y[test], **how)
        assert abs(inside.mean() - 0.9) < limit


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A model of a table whose labels have separators, in the working directory."""
    monkeypatch.chdir(tmp_path)
    X, y = rows(240)
    frame = pd.DataFrame(X, columns=["u", "v", "w"])
    frame["kind"] = pd.Series(y).map({"a": "a|b", "b": 'say "b"', "c": "c, d"})
    frame[:150].to_csv("learn.csv", index=False)
    frame[150:200].to_csv("fresh.csv", index=False)
    frame[200:].drop(columns="kind").to_csv("new.csv", index=False)
    deciban.save(
        MixedNB(calibrate=True).fit(frame[:150].drop(columns="kind"), frame.kind[:150]), "m.deciban", target="kind"
    )
    return tmp_path


def sets_of(text: str) -> list[set[str]]:
    cells = [row["set"] for row in csv.DictReader(text.splitlines())]
    return [set(next(csv.reader([cell], delimiter="|"), [])) for cell in cells]


def test_the_command_writes_sets(folder, capfd):
    model, new = deciban.load("m.deciban"), pd.read_csv("new.csv")
    kept = [set(model.classes_[one].tolist()) for one in model.predict_set(new, 0.7)]
    assert any(len(one) > 1 for one in kept)
    assert sets_of(output("predict m.deciban new.csv --coverage 0.7", capfd)[0]) == kept
    lines = output("predict m.deciban new.csv --coverage 0.7 --json", capfd)[0].splitlines()
    assert [set(json.loads(line)["set"]) for line in lines] == kept
    assert exit_code("predict m.deciban new.csv --coverage 0.7 -o out.parquet") == 0
    assert [set(one) for one in pq.read_table("out.parquet")["set"].to_pylist()] == kept
    assert exit_code("predict m.deciban new.csv --coverage 0.7 -o out.csv") == 0
    assert sets_of((folder / "out.csv").read_text()) == kept


def test_the_command_reads_calibration_rows(folder, capfd):
    model, new, fresh = deciban.load("m.deciban"), pd.read_csv("new.csv"), pd.read_csv("fresh.csv")
    calibration = fresh.drop(columns="kind"), fresh["kind"]
    wanted = model.predict_set(new, 0.8, True, calibration)
    found = sets_of(output("predict m.deciban new.csv --coverage 0.8 --by-class --calibration fresh.csv", capfd)[0])
    assert found == [set(model.classes_[one].tolist()) for one in wanted]
    assert "--learned" in output("predict m.deciban new.csv --coverage 0.8 --calibration learn.csv", capfd, 1)[1]
    output("predict m.deciban new.csv --coverage 0.8 --calibration learn.csv --learned", capfd)
    assert "--coverage" in output("predict m.deciban new.csv --by-class", capfd, 2)[1]
    assert "--calibration" in output("predict m.deciban new.csv --coverage 0.8 --learned", capfd, 2)[1]
