"""The scripts of lecture 002: their numbers and their pictures."""

import numpy as np
import pytest

from tests.support.gallery import run


def test_newton():
    found = run("002_1_newton")
    good, bad, damped = (found[name].history_ for name in ("good", "bad", "damped"))
    assert good.parameters[1] == pytest.approx(found["by_hand"])
    assert good.gradient_norm[5] < 1e-9
    assert len(good) == 6  # five steps of the seven that it may take: the gradient is at rounding
    assert bad.parameters[1, 0] == pytest.approx(-2.5e12, rel=0.01)
    for history in (good, damped):
        assert history.parameters[-1] == pytest.approx([1.902375, 0.404659, -13.046030], abs=1e-5)
        assert history.log_likelihood[-1] == pytest.approx(-55.162854, abs=1e-6)


def test_softmax():
    found = run("002_2_softmax")
    assert found["E"] == pytest.approx(found["E_by_hand"])
    assert found["gradient"] == pytest.approx(found["gradient_by_hand"], abs=1e-9)
    assert found["hessian"] == pytest.approx(found["blocks"].reshape(9, 9))
    assert found["E"] < 20


def test_exponential_family():
    found = run("002_3_exponential_family")
    poisson = found["rates"].as_logistic()
    assert (poisson.coef_[0, 0], poisson.intercept_[0]) == pytest.approx((np.log(2.5), -3))
    assert found["bits"].as_logistic().coef_[0] == pytest.approx([np.log(4), 0])
    assert found["words"].as_logistic().coef_[0] == pytest.approx(np.log([2.5, 0.625]))
    for line in (found["generative"].as_logistic(), found["discriminative"]):
        assert (line.coef_[0, 0], line.intercept_[0]) == pytest.approx((np.log(2.5), -3), abs=0.25)
    assert found["linear"].coef_[0] == pytest.approx([np.log(2.5), 1 / 3 - 1], abs=0.05)
    assert found["linear"].predict_proba(found["table"]) == pytest.approx(found["mixed"].predict_proba(found["table"]))


def test_feature_space():
    found = run("002_4_feature_space")
    assert found["accuracy"] == {"x": 0.5125, "φ(x)": 0.995}
