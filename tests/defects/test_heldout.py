"""Held-out figures: samples of large tables, figures that include every choice, ties, classes of one row."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import deciban
from deciban import metrics
from deciban.cli import main
from deciban.data.sampling import LEAST
from deciban.errors import DataError
from deciban.model_selection import compare
from deciban.rows.sampling import folds_by_content, sample_rows

from ..support.data import shared_table


def table(name: str, target: str) -> tuple[pd.DataFrame, np.ndarray]:
    found = shared_table(name)
    return found.drop(columns=target), found[target].to_numpy()


def pairs(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose classes alternate."""
    y = np.array(["a", "b"] * (n // 2))
    X = np.random.default_rng(seed).normal(size=(n, 2))
    X[y == "b"] += 1
    return X, y


# B1: samples


def test_b01_alternating_classes_are_compared_on_rows_of_both():
    out = deciban.compare(*pairs(20_000), models=["gaussian"])
    held_out = out.best.held_out
    assert held_out.accuracy == pytest.approx(0.75, abs=0.02)
    assert held_out.log_loss == pytest.approx(0.50, abs=0.02)
    assert (np.bincount(held_out.codes) / held_out.repeats).tolist() == [5000, 5000]
    assert (out.rows, out.total) == (10_000, 20_000)
    assert "10,000 of 20,000 rows" in str(out)
    assert out.as_dict()["of_rows"] == 20_000


@pytest.mark.parametrize("n", [40_000, 60_000])
def test_b01_a_column_that_is_the_class_is_a_leak_in_any_order(n):
    y = np.array(["a", "b"] * (n // 2))
    X = pd.DataFrame({"k": (y == "b") * 1.0})
    order = np.argsort(y, kind="stable")
    found = [deciban.find_leakage(X, y), deciban.find_leakage(X.iloc[order], y[order])]
    assert [leak.column for leak in found[0]] == ["k"]
    assert [str(leak) for leak in found[0]] == [str(leak) for leak in found[1]]
    assert f"20,000 of {n:,} rows" in str(found[0][0])


def test_b01_a_class_of_one_row_does_not_end_in_an_index_error():
    y = np.array(["a", "c"] * 15_000)
    y[2] = "b"
    X = np.random.default_rng(0).normal(size=(30_000, 1))
    assert deciban.find_leakage(X, y) == []
    out = deciban.auto_fit(X, y, "gaussian")
    assert out.held_out.unknown == {"b": 1}
    assert np.isfinite(out.metrics["log_loss"])


def test_b01_rows_in_another_order_give_the_same_sample_and_folds():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.integers(0, 5, 3000), "c": rng.choice(["u", "v", None], 3000)})
    y = rng.integers(0, 3, 3000)
    order = rng.permutation(3000)
    at, again = sample_rows(X, y, 500), sample_rows(X.iloc[order], y[order], 500)
    assert sorted(map(repr, X.iloc[at].assign(y=y[at]).to_numpy().tolist())) == sorted(
        map(repr, X.iloc[order].iloc[again].assign(y=y[order][again]).to_numpy().tolist())
    )
    first = X.assign(y=y, f=folds_by_content(X, y, 5))
    second = X.iloc[order].assign(y=y[order], f=folds_by_content(X.iloc[order], y[order], 5))
    count = [one.groupby(["x", "c", "y", "f"], dropna=False).size().to_dict() for one in (first, second)]
    assert len(count[0]) > 200  # equal rows are spread over the folds
    assert {repr(k): v for k, v in count[0].items()} == {repr(k): v for k, v in count[1].items()}


def test_b01_a_sample_keeps_shares_and_has_a_few_rows_of_every_class():
    y = np.repeat([0, 1, 2, 3], [80_000, 19_000, 993, 7])
    at = sample_rows(np.arange(100_000.0)[:, None], y, 1000)
    there = np.bincount(y[at])
    assert len(at) == len(set(at.tolist())) == 1000
    assert there[3] == 7
    assert there[2] == LEAST
    assert there[0] / there[1] == pytest.approx(80 / 19, rel=0.02)
    assert np.bincount(at[y[at] == 0] // 8000).min() > 40  # from everywhere


def test_b01_calibration_of_many_rows_sees_every_class():
    X, y = pairs(16_384)
    plain = deciban.GaussianNB().fit(X, y).predict_proba(X)
    calibrated = deciban.GaussianNB(calibrate=True).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(calibrated, plain, atol=0.02)  # it is right already


# B16: figures that include every choice


def test_b16_printed_figures_are_those_of_ten_folds():
    """`python -m bench.held_out` asks the same of all tables."""
    X, y = table("glass/glass.csv", "Type")
    out = deciban.auto_fit(X, y, "calibrated")
    each = [deciban.cross_validate(out.model, X, y, random_state=seed).log_loss for seed in range(4)]
    assert out.metrics["log_loss"] == pytest.approx(np.mean(each), rel=0.1)
    judged = deciban.report(out.model, X, y)
    assert judged.metrics["log loss"][0] == pytest.approx(np.mean(each), rel=0.15)


def test_b16_choices_made_on_noise_do_not_flatter():
    rng = np.random.default_rng(0)
    X, y = rng.gamma(0.7, size=(60, 12)) * rng.choice([1, 100], 60)[:, None], rng.integers(0, 2, 60)
    out = deciban.auto_fit(X, y, "mixed")
    assert out.metrics["log_loss"] > out.baseline_log_loss
    assert out.how == "10 folds, repeated 3 times"
    assert len(out.held_out.losses) == 60
    whole = deciban.auto_fit(X, y)
    assert whole.metrics["log_loss"] > 0.95 * whole.baseline_log_loss


def test_b16_the_file_holds_the_same_figures(tmp_path):
    X, y = pairs(300)
    out = deciban.auto_fit(X, y, "mixed")
    deciban.save(out.model, tmp_path / "m.deciban", metrics=out.metrics)
    assert deciban.model_info(tmp_path / "m.deciban")["metrics"] == pytest.approx(out.metrics)
    assert f"{out.metrics['log_loss']:.4f}" in str(out)
    assert "10 folds" in str(out)


# ties


def test_b16_a_constant_column_of_even_classes_is_right_in_half_of_the_rows():
    X, y = pd.DataFrame({"x": [1.0] * 100}), np.array(["a", "b"] * 50)
    out = deciban.auto_fit(X, y, "mixed")
    assert out.metrics["accuracy"] == pytest.approx(0.5)
    assert deciban.report(out.model, X, y).metrics["accuracy"][0] == pytest.approx(0.5)
    assert deciban.evaluate(out.model, X, y).as_dict()["accuracy"] == pytest.approx(0.5)
    assert deciban.compare(X, y, ["mixed", "gaussian"]).best.held_out.accuracy == pytest.approx(0.5)


def test_b16_ties_count_one_over_their_number():
    y, proba = np.array([0, 1, 2, 2]), np.array([[0.4, 0.4, 0.2], [0.2, 0.4, 0.4], [0.4, 0.4, 0.2], [0, 0, 1.0]])
    assert metrics.hits(y, proba).tolist() == [0.5, 0.5, 0.0, 1.0]
    with np.errstate(divide="ignore"):
        assert metrics.hits(y, np.log(proba)).tolist() == [0.5, 0.5, 0.0, 1.0]
    nearly = np.log(np.array([[0.5, 0.5 + 1e-14]]))
    assert metrics.accuracy(np.array([0]), nearly) == 0.5


# B10: classes that no other fold has


def rare() -> tuple[np.ndarray, np.ndarray]:
    X, y = np.random.default_rng(0).normal(size=(101, 2)), np.array(["a", "b"] * 50 + ["c"])
    X[y == "b"] += 3
    return X, y


def test_b10_a_class_of_one_row_is_scored_apart_and_named():
    X, y = rare()
    out = deciban.compare(X, y)
    assert all(np.isfinite(trial.held_out.log_loss) for trial in out.trials)
    assert out.best.held_out.log_loss < 0.2
    assert out.advice.startswith(f"Use `{out.chosen.name}`")
    assert out.unknown == {"c": 1}
    assert "1 of `c`" in str(out)
    assert out.as_dict()["not_scored"] == {"c": 1}
    assert "qda" in out.unfit  # one row has no covariance


def test_b10_cross_validation_learning_and_reports_name_it_too():
    X, y = rare()
    judged = deciban.cross_validate(deciban.GaussianNB(), X, y, 5)
    assert judged.unknown == {"c": 1}
    assert np.isfinite([judged.log_loss, judged.brier, judged.accuracy, judged.calibration_error]).all()
    assert "1 of `c`" in str(judged)
    learned = deciban.auto_fit(X, y, "mixed")
    assert np.isfinite(learned.metrics["log_loss"])
    assert "1 of `c`" in str(learned)
    page = deciban.report(deciban.MixedNB().fit(X, y), X, y)
    assert np.isfinite(page.metrics["log loss"][0])
    assert any("1 of `c`" in told for told in page.warnings)
    assert not any("infinite" in told for told in page.warnings)


def test_task_100_where_every_class_has_one_row_nothing_is_judged():
    X, y = pd.DataFrame({"age": [34.0, 51.0, 28.0], "job": ["cook", "nurse", "cook"]}), np.array(["a", "b", "c"])
    with pytest.raises(DataError, match=r"every class has one row.*\n\nhint: "):
        deciban.compare(X, y)
    out = deciban.auto_fit(X, y)
    assert (out.kind.name, out.metrics) == ("mixed", {})
    assert "nan" not in str(out)
    assert any("every class has one row" in note for note in out.notes)
    page = deciban.report(out.model, X, y)
    assert np.isfinite(page.metrics["log loss"][0])
    assert "the scores are optimistic" in page.html


def test_b10_a_class_of_two_rows_is_scored():
    X, y = rare()
    X, y = np.vstack([X, [[9.0, 9.0]]]), np.append(y, "c")
    assert deciban.compare(X, y, ["mixed", "gaussian"]).unknown == {}


def test_b10_where_every_class_has_one_row_nothing_is_scored(tmp_path, capfd):
    X, y = pd.DataFrame({"x": [1.0, 2.0]}), np.array(["a", "b"])
    for model in ("auto", "mixed"):
        out = deciban.auto_fit(X, y, model)
        assert (out.held_out, out.metrics) == (None, {})
        assert "nan" not in str(out)
    page = deciban.report(out.model, X, y)
    assert "too few to be held out" in page.html
    X.assign(y=y).to_csv(tmp_path / "two.csv", index=False)
    with pytest.raises(SystemExit):
        main(["fit", str(tmp_path / "two.csv"), "-t", "y", "--json", "-o", str(tmp_path / "m.deciban")])
    told = json.loads(capfd.readouterr().out, parse_constant=lambda name: pytest.fail(name))
    assert told["metrics"] == {}
    assert told["baseline_log_loss"] is None


# B9: the model that was learned answers for the rows it was learned from


def test_b09_what_was_learned_predicts_on_all_columns():
    rng = np.random.default_rng(0)
    y = np.array(["a", "b"] * 50)
    frame = pd.DataFrame({"x": rng.normal(size=100) + (y == "b"), "when": pd.date_range("2020", periods=100)})
    out = deciban.auto_fit(frame, y, "mixed")
    assert list(out.dropped_columns) == ["when"]
    np.testing.assert_array_equal(out.predict(frame), out.model.predict(frame[["x"]]))
    array = np.column_stack([np.arange(100.0), frame["x"]])
    out = deciban.auto_fit(array, y, "gaussian")
    assert list(out.dropped_columns) == [0]
    np.testing.assert_array_equal(out.predict_proba(array), out.model.predict_proba(array[:, 1:]))


def test_b09_texts_are_found_in_their_column():
    y = np.array(["a", "b"] * 30)
    words = {"a": "tea coffee milk cup and a spoon of sugar", "b": "cake bread rice plate and a fork to eat"}
    frame = pd.DataFrame({"says": [f"{words[c]} no. {i}" for i, c in enumerate(y)]})
    out = deciban.auto_fit(frame, y)
    assert out.text == "says"
    assert (out.predict(frame) == y).all()


# B34: print-outs


def results() -> dict:
    X, y = pairs(200)
    frame = pd.DataFrame(X, columns=["x", "z"])
    model = deciban.GaussianNB().fit(frame, y)
    logistic = deciban.LogisticRegression(C="auto").fit(frame, y)
    return {
        "compare": (compared := deciban.compare(frame, y, ["gaussian", "lda"])),
        "trial": compared.best,
        "learn": deciban.auto_fit(frame, y, "gaussian"),
        "cross_validate": deciban.cross_validate(model, frame, y),
        "learning_curve": deciban.learning_curve(model, frame, y, [20, 60]),
        "path": logistic.path_,
        "adapted": model.adapt_priors(frame),
        "report": deciban.report(model, frame, y),
        "assess": deciban.evaluate(model, frame, y),
        "leaks": deciban.find_leakage(frame.assign(k=(y == "a") * 1.0), y)[0],
        "strongest": deciban.top_evidence(model)["a"][0],
    }


def test_b34_repr_is_as_readable_as_str():
    found = results()
    for name, value in found.items():
        assert repr(value) == str(value), name
        assert 10 < len(repr(value)) < 2500, name
        assert "array(" not in repr(value), name
        assert "lambda" not in repr(value), name
        assert max(map(len, repr(value).splitlines())) <= 160, name
        if name not in ("trial", "leaks", "strongest"):
            assert value._repr_html_().startswith("<"), name
    assert "GaussianNB" in repr(found["learn"])
    assert "best" in repr(found["path"])


# F14, F16, F20, F21, F25


def test_f14_what_was_not_tried_is_one_line_that_names_the_columns():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 120)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 120), "embarked": rng.choice(list("CQS"), 120), "age": y == "a"})
    out = deciban.compare(X.astype({"age": float}), y)
    assert len(out.not_tried) == 1
    assert out.not_tried[0].startswith("not tried, because `sex` and `embarked` are categorical: calibrated-rda")
    numbers = deciban.compare(pd.DataFrame({"x": rng.normal(size=120)}), y, ["mixed", "poisson", "multinomial"])
    assert numbers.not_tried == ["not tried, because they need counts in every column: poisson, multinomial"]


def test_f16_reliability_is_judged_by_the_calibration_error_and_its_interval():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 0.95, 4000)
    y = (rng.random(4000) < p).astype(int)

    class Says(deciban.GaussianNB):
        def predict_log_proba(self, X, **more):
            q = np.asarray(X)[:, 0]
            return np.log(np.column_stack([1 - q, q]))

    def told(q: np.ndarray) -> str:
        X = pd.DataFrame({"q": q})
        return deciban.report(Says().fit(X, y), X, y, held_out=True).html

    assert "the model is well calibrated" in told(p)
    assert "the model is overconfident." in told(np.clip(p**4 / (p**4 + (1 - p) ** 4), 1e-6, 1 - 1e-6))
    both = np.where(p > 0.5, np.clip(p + 0.25, 0, 0.99), np.clip(p + 0.15, 0, 0.49))  # the mean is about right
    assert "well calibrated" not in told(both)


def test_f16_the_report_names_the_target():
    X, y = pairs(60)
    page = deciban.report(deciban.GaussianNB().fit(X, y), X, pd.Series(y, name="play"))
    assert "<h1>GaussianNB of play: 60 rows</h1>" in page.html
    assert "Classes of <code>play</code>" in page.html
    assert "of <code>win</code>" in deciban.report(deciban.GaussianNB().fit(X, y), X, y, target="win").html


def test_f20_surprising_rows_are_called_by_their_index():
    X, y = pairs(60)
    frame = pd.DataFrame(X, columns=["x", "z"], index=[f"patient {i}" for i in range(60)])
    assert "row patient " in deciban.report(deciban.GaussianNB().fit(frame, y), frame, y).html
    plain = deciban.report(deciban.GaussianNB().fit(frame, y), frame.reset_index(drop=True), y).html
    assert "row patient " not in plain


def test_f21_a_good_predictor_is_not_called_a_leak():
    iris = load_iris(as_frame=True)
    assert deciban.find_leakage(iris.data, iris.target) == []
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    X = pd.DataFrame({"noise": rng.normal(size=300), "later": y + 0.3 * rng.normal(size=300)})
    (leak,) = deciban.find_leakage(X, y)
    assert leak.column == "later"
    assert "the other columns of" in str(leak)
    assert str(leak).endswith("?")


def test_f25_folds_of_one_row_are_said_to_be_that_and_many_are_capped():
    X, y = pairs(40)
    out = deciban.compare(X, y, ["gaussian"], folds=500)
    assert (out.folds, out.rows) == (40, 40)
    assert "of one row each (leave-one-out)" in str(out)
    assert "500 folds were requested; 40 are used" in out.notes[0]
    assert deciban.compare(*pairs(300), ["gaussian"], folds=250).folds == compare.MOST_FOLDS


# the choice among few rows


def test_b04_a_difference_within_noise_does_not_choose_a_complex_model():
    rng = np.random.default_rng(1)
    chosen = []
    for _ in range(3):
        X = pd.DataFrame({"a": rng.choice(list("uvw"), 14), "b": rng.choice(list("xy"), 14)})
        y = np.where(rng.random(14) < 0.8, X["b"].to_numpy() == "x", rng.random(14) < 0.5).astype(int)
        out = deciban.compare(X, y, ["mixed", "calibrated", "weighted"])
        simpler = [t for t in out.trials if t.kind.complexity < out.chosen.kind.complexity]
        assert all(t.worse(out.best)[0] > t.worse(out.best)[1] for t in simpler)
        chosen.append(out.chosen.name)
    assert "mixed" in chosen


@pytest.mark.parametrize("seed", range(3))
def test_b04_learn_is_not_sure_of_eight_rows(seed):
    """A plug-in density that all of them happen to fit said 1 − 1e-12."""
    rng = np.random.default_rng(seed)
    y = np.arange(8) % 2
    X = pd.DataFrame({"a": rng.normal(size=8) + 5 * y, "b": rng.normal(size=8)})
    out = deciban.auto_fit(X, y)
    assert np.abs(out.model.decibans(X)).max() < 2 * 10 * np.log10(2 * 4 + 8)


def test_b04_a_clear_difference_does():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    x = rng.normal(size=400) + y
    X = np.column_stack([x + 0.1 * rng.normal(size=400) for _ in range(8)])  # copies: naive Bayes is far too sure
    out = deciban.compare(X, y, ["mixed", "lda"])
    assert out.chosen.name == "lda"
    assert "Use `lda`" in out.advice
