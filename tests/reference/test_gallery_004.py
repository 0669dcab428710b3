"""The scripts of lecture 004: their numbers and their pictures."""

import pytest

from tests.support.gallery import run


def test_lms():
    found = run("004_1_lms")
    lms, logistic = found["first"].values()
    assert lms == pytest.approx([0.1, 0.2])
    assert logistic == pytest.approx([-0.04386, 0.06103], abs=1e-5)
    line, turned = found["response"].values()
    assert line[0] < 0 < 1 < line[2]
    assert turned[1] < 0.5 < line[1]  # the far row turns the decision at 0.6
    assert ((found["proba"] >= 0) & (found["proba"] <= 1)).all()
    assert found["proba"][1] > 0.5


def test_gda_and_logistic_regression():
    found = run("004_2_gda_logistic")
    gda, plain, penalised = (curve.mean() for curve in found["curves"].values())
    assert (gda[0], plain[0]) == pytest.approx((0.736, 0.694), abs=0.01)
    assert penalised[0] > plain[0]
    assert (gda[-1], plain[-1]) == pytest.approx((0.840, 0.840), abs=0.005)
    gda, plain, _ = (curve.mean() for curve in found["wrong"].values())
    assert (gda[-1], plain[-1]) == pytest.approx((0.664, 0.859), abs=0.01)
