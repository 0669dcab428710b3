"""The scripts of lecture 001: the numbers of the lecture come out, and the pictures can be read."""

import numpy as np
import pytest

from tests.support.data import shared_path
from tests.support.gallery import run


def test_quiz():
    found = run("001_1_quiz")
    assert [found[name].predict(found["x6"])[0] for name in ("ridge", "plain", "firth")] == [0, 0, 0]
    assert found["ridge"].predict_proba(found["x6"])[0, 0] == pytest.approx(0.763, abs=5e-4)
    assert found["firth"].predict_proba(found["x6"])[0, 0] == pytest.approx(0.976, abs=5e-4)
    assert (found["separation"].kind, found["separation"].columns) == ("complete", ("x0", "x1"))
    assert len(found["warned"]) == 1
    assert (np.diff(found["chances"]) > 0).all()


def test_boundaries():
    found = run("001_2_boundaries")
    assert [round(share, 4) for share in found["accuracy"].values()] == [0.9222, 0.9306, 0.9306]
    assert found["alike"] == pytest.approx(0.989, abs=5e-4)
    assert found["n_parameters"] == [11, 32, 17]


def test_bias_and_variance():
    found = run("001_3_bias_variance")
    few, many = ({key: curve.mean()[at] for key, curve in found["curves"].items()} for at in (0, -1))
    assert few["one covariance", "LDA"] == pytest.approx(0.689, abs=2e-3)
    assert few["one covariance", "QDA"] == pytest.approx(0.599, abs=2e-3)
    assert many["two covariances", "LDA"] == pytest.approx(0.788, abs=2e-3)
    assert many["two covariances", "QDA"] == pytest.approx(0.856, abs=2e-3)
    assert found["n_parameters"] == [34, 55]


def test_language():
    shared_path("language_id/language_id.csv.gz")
    accuracy = run("001_4_language")["accuracy"]
    np.testing.assert_allclose([accuracy[n] for n in (1, 2, 3, 5)], [0.787, 0.917, 0.961, 0.990], atol=0.015)


def test_naive_graph():
    found = run("001_5_naive_graph")
    np.testing.assert_allclose(found["selection"].total_bits, [95.29, 93.32], atol=5e-3)
    np.testing.assert_allclose(found["selection"].weight, [0.203, 0.797], atol=5e-4)
    assert sum(parent is not None for parent in found["tree"].parents_.values()) == 3
    np.testing.assert_allclose(found["star"].table("outlook").values, [[0, 2 / 5, 3 / 5], [4 / 9, 3 / 9, 2 / 9]])


def test_linear_rule():
    found = run("001_6_linear_rule")
    rule = found["rule"]
    assert rule.intercept_[0] == pytest.approx(-0.287682, abs=5e-7)
    np.testing.assert_allclose(rule.coef_[0], [-0.693147, 1.386294, 0], atol=5e-7)
    np.testing.assert_allclose(rule.coef_[0], found["by_hand"], atol=1e-12)
    np.testing.assert_allclose(found["posterior"], found["model"].predict_proba(found["X"]), atol=1e-12)


def test_laplace():
    found = run("001_7_laplace")
    assert found["without_rows"].tolist() == [0.5, 0.5]
    assert found["never_seen"] == pytest.approx(0.1)
    assert found["frequent"] == pytest.approx([0.4, 401 / 1002])
    np.testing.assert_allclose(found["four"], [0.3, 0.2, 0.4, 0.1])


def test_newsgroups():
    shared_path("newsgroups20/newsgroups20_original.jsonl.xz")
    found = run("001_8_newsgroups")
    assert found["accuracy"]["without headers that name the group"] == pytest.approx(0.892, abs=0.006)
    assert found["accuracy"]["without all headers"] == pytest.approx(0.859, abs=0.006)
    assert found["accuracy"]["counts of words, Laplace's rule"] == pytest.approx(0.834, abs=0.01)
    assert found["accuracy"]["defaults"] > 0.885
    assert found["unbalanced"].sum() == 13332
    assert found["apart"] == pytest.approx(found["together"], abs=0.03)
    means = found["curve"].mean()
    assert (np.diff(means) > 0).all()
    assert means[0] < 0.5
    assert means[-1] > 0.885


def test_top_words():
    shared_path("newsgroups20/newsgroups20_original.jsonl.xz")
    found = run("001_9_top_words")
    assert found["found"] == {1: 15, 2: 18, 5: 19}
    assert list(found["frame"]) == ["class", "word", "score", "theta"]
    first = found["frame"].groupby("class").first()
    assert first.loc["sci.space"].tolist() == [
        "space",
        pytest.approx(0.0610, abs=5e-5),
        pytest.approx(0.0171, abs=5e-5),
    ]


def test_one_family():
    found = run("001_10_one_family")
    logs = [-188.3756, -263.2037, -326.0501, -384.0883]
    np.testing.assert_allclose(list(found["log_likelihood"].values()), logs, atol=5e-5)
    assert list(found["n_parameters"].values()) == [44, 24, 26, 18]
    assert found["difference"] < 1e-6
    np.testing.assert_allclose(found["linear"].coef_[0], [1.984, 2.056, 5.018, 12.472], atol=5e-4)


@pytest.mark.parametrize("name", ["001_4_language", "001_8_newsgroups", "001_9_top_words"])
def test_absent_data_are_named(name, monkeypatch):
    for variable in ("LANGUAGES", "NEWSGROUPS"):
        monkeypatch.setenv(variable, "nowhere")
    with pytest.raises(SystemExit, match="there is no nowhere"):
        run(name)
