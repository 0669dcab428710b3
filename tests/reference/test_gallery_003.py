"""The scripts of lecture 003: their numbers and their pictures."""

import numpy as np
import pytest

from tests.support.gallery import run


def test_hypotheses():
    found = run("003_1_hypotheses")
    assert found["most_probable"] == "+"
    assert found["posterior"] == pytest.approx({"+": 0.4, "-": 0.6})
    assert found["share"] == 0.4032
    assert found["mixed"] == pytest.approx([0.48, 0.52])


def test_gibbs():
    found = run("003_2_gibbs")
    assert (found["vote"].weights_ > 0).sum() == 17
    assert found["vote"].weights_.max() == pytest.approx(1 / 17)
    average, _, single = found["errors"].T
    assert (np.diff(average) < 0).all()
    assert ((found["ratios"] > 1) & (found["ratios"] < 2)).all()
    assert (average <= single).all()


def test_play_tennis():
    found = run("003_3_play_tennis")
    assert "9/14 · 2/9 · 3/9 · 3/9 · 3/9 = 0.0053" in str(found["working"])
    assert found["joint"] == pytest.approx([0.020571, 0.005291], abs=5e-7)
    assert found["posterior"] == pytest.approx([0.7954, 0.2046], abs=5e-5)
    assert found["defaults"][0] > 0.5


def test_numeric():
    found = run("003_4_numeric")
    assert found["given"] == pytest.approx(0.0340, abs=5e-5)
    assert found["means"] == pytest.approx([74.6, 73.0])
    assert found["deviations"] == pytest.approx([7.893, 6.164], abs=5e-4)
    assert found["density"] == pytest.approx([0.027918, 0.033964], abs=5e-7)
    assert found["posterior"][0] == pytest.approx(0.792, abs=5e-4)


def test_zero_frequency():
    found = run("003_5_zero_frequency")
    assert found["marked"] == pytest.approx({0.0: 0.0, 0.5: 0.198, 1.0: 0.278}, abs=5e-4)
    assert found["other"][0] == pytest.approx(0.795, abs=5e-4)
    assert (np.diff(found["curve"])[:20] > 0).all()


def test_subtleties():
    found = run("003_6_subtleties")
    accuracies = [score.accuracy for score in found["scores"]]
    assert (accuracies[0], accuracies[-1]) == pytest.approx((0.7625, 0.698))
    assert (np.diff(accuracies) < 0).all()
    assert found["tennis"] == pytest.approx([0.795, 0.700, 0.583, 0.456], abs=5e-4)
    assert found["sure"].mean() == pytest.approx(0.93, abs=5e-3)
    assert found["right_if_sure"] == pytest.approx(0.972, abs=5e-4)
    assert (found["naive"].log_loss, found["calibrated"].log_loss) == pytest.approx((0.612, 0.149), abs=5e-4)


def test_eight_mails():
    found = run("003_7_eight_mails")
    assert found["likelihood"] == pytest.approx([4 / 27, 6 / 27])
    assert (found["bernoulli_ratio"], found["odds"]) == pytest.approx((3 / 2, 3 / 4))
    assert found["counted"] == pytest.approx([0.1728, 0.054])
    assert found["from_texts"] == pytest.approx([3 / 2, 5 / 16])
    assert found["multinomial_ratio"] == pytest.approx(5 / 16)


def test_missing():
    found = run("003_8_missing")
    assert found["posterior"].values == pytest.approx([0.625, 0.375])
    assert (found["averaged"], found["left_out"]) == pytest.approx((0.5103, 0.5902), abs=5e-5)
    assert found["by_hand"] == pytest.approx(found["averaged"])
    assert "sunny      2/4   2/9" in str(found["with_gap"].counts_table(fractions=True))


def test_odds():
    found = run("003_9_odds")
    assert found["odds"] == pytest.approx([0.449, 1.857, 4.0, 0.667], abs=5e-4)
    assert found["ratios"] == pytest.approx([0.62, 1.10, 3.03, 5.38], abs=5e-3)
    assert found["same"] == pytest.approx(found["ratios"])
    assert found["by_hand"] == pytest.approx(found["ratios"])
    assert found["agree"] == 3


def test_mdl():
    found = run("003_10_mdl")
    assert found["by_mdl"].total_bits == pytest.approx([7.48, 4.72], abs=5e-3)
    assert found["by_map"].chosen == found["by_mdl"].chosen == 1
    assert found["evidence"].weight == pytest.approx([0.203, 0.797], abs=5e-4)
    assert [model.n_parameters_ for model in found["tables"].models] == [13, 29]
    assert found["logs"] == pytest.approx([-63.26, -70.11], abs=5e-3)
    assert found["lines"].chosen == 0
    assert found["lines"].data_bits[1] < found["lines"].data_bits[0]
