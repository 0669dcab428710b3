"""The scripts of lecture 000 print and draw the lecture's numbers."""

import numpy as np
import pytest

from tests.support.gallery import run


def test_coin():
    found = run("000_1_coin")
    assert found["φ"] == pytest.approx(5 / 7)
    assert found["best_value"] == pytest.approx(-4.187887, abs=1e-6)
    assert found["best_slope"] == pytest.approx(0, abs=1e-9)
    assert (found["fair_value"], found["fair_slope"]) == pytest.approx((-4.852030, 6.0), abs=1e-6)
    assert found["φ_mean"] == pytest.approx(6 / 9)
    assert found["evidence"] == pytest.approx(-5.123964, abs=1e-6)
    assert found["curve"].max() == pytest.approx(found["best_value"], abs=1e-3)


def test_sigmoid():
    found = run("000_2_sigmoid")
    assert found["θ"] == pytest.approx([3.050, 6.036], abs=5e-4)
    assert found["point"] == pytest.approx(-0.505, abs=5e-4)
    assert (found["value"], found["true_value"]) == pytest.approx((-9.452, -10.379), abs=5e-4)
    assert [text.get_text() for text in found["ax"].get_legend().get_texts()] == ["0", "1", "generating", "fitted"]


def test_gradient():
    found = run("000_3_gradient")
    assert found["batch"].coef_[0] == pytest.approx([-0.149813, 0.142817], abs=1e-6)
    assert found["online"].coef_[0] == pytest.approx([-0.043860, 0.061031], abs=1e-6)
    assert found["steps"]["α = 0.01"][:4] == pytest.approx([-69.3, -82.7, -548.1, -710.4], abs=0.05)
    for name in ("α = 0.0001", "α = 0.0015"):
        assert (np.diff(found["steps"][name]) > 0).all()
    ends = [model.coef_[0] for model in found["long"].values()]
    assert ends[0] == pytest.approx(ends[1], abs=0.1)
    assert found["surface"].get_xlabel() == "θ0"


def test_two_gaussians():
    found = run("000_4_two_gaussians")
    assert found["lda"].coef_[0] == pytest.approx(found["w"], rel=1e-12)
    assert found["lda"].intercept_[0] == pytest.approx(found["a"], rel=1e-12)
    assert found["w"] == pytest.approx([2.762578, -0.543926], abs=1e-6)
    assert abs(found["cosine"]) < 1e-9
    assert found["accuracies"] == (0.892, 0.888)
    assert found["ax"].get_aspect() == 1


def test_multimodal():
    found = run("000_5_multimodal")
    assert list(found["accuracies"].values()) == pytest.approx([0.533, 0.533, 0.971, 1.0], abs=5e-4)


def test_fisher():
    found = run("000_6_fisher")
    assert found["fisher"].coef_[0] / 2 == pytest.approx(found["w"], rel=1e-9)
    assert found["ratio"] == pytest.approx(3.2768, abs=5e-5)
    assert found["other_ratio"] < found["ratio"]
    assert found["equal_fisher"] == pytest.approx(found["equal_lda"], rel=1e-9)
    assert found["equal_lda"] == pytest.approx([2.067466, -0.067738], abs=1e-6)


def test_classes_learned_apart():
    found = run("000_7_apart")
    assert found["largest"] < 1e-12
    assert found["posterior"] == pytest.approx(found["whole"].predict_proba(found["row"])[0])
    assert (found["posterior"][0], found["known_posterior"][0]) == pytest.approx((0.954958, 0.610966), abs=1e-6)
    assert found["moved"].predict_proba(found["row"])[0] == pytest.approx(found["known_posterior"])


def test_parameters():
    found = run("000_8_parameters")
    assert (found["naive_3"], found["joint_3"]) == (7, 15)
    assert (found["naive_many"], found["digits"]) == (100_001, 15_052)
    assert 10**15_051 < 2 * (2**50_000 - 1) + 1 < 10**15_052
    assert found["joint"][-1] == 2**41 - 1
    assert found["accuracy"] > 0.9
