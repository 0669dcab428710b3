"""The example on film reviews: naive Bayes ratios make logistic regression better than either."""

import pytest


@pytest.fixture
def nbsvm(example):
    return example("nbsvm")


def test_a_part_of_the_reviews_has_a_table(nbsvm, shared):
    found = nbsvm.table(shared("movie_polarity/movie_polarity.jsonl.xz"), every=10)
    assert list(found) == list(nbsvm.METHODS)
    assert all(0.6 < share < 1.0 for share in found.values())


def test_ratios_gain_three_points_over_naive_bayes_by_the_canonical_folds(nbsvm, shared, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["nbsvm.py", str(shared("movie_polarity/movie_polarity.jsonl.xz"))])
    nbsvm.main()
    lines = capsys.readouterr().out.splitlines()
    shares = {line[:32].strip(): float(line[32:]) for line in lines[1:]}
    assert shares["logistic regression of ratios"] >= shares["multinomial naive Bayes"] + 3.0
    assert shares["logistic regression of ratios"] > shares["logistic regression"]
