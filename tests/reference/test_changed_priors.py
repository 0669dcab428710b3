"""Trained on as much spam as ham, deployed where one message in ten is spam: the priors are found without labels."""

import gzip

import numpy as np
import pytest

from deciban import FisherDiscriminant, LinearDiscriminantAnalysis


@pytest.fixture
def spambase(shared) -> tuple[np.ndarray, np.ndarray]:
    """(logs of the frequencies, spam or not): raw frequencies are too skewed for any Gaussian."""
    with gzip.open(shared("spambase/spambase.csv.gz"), "rt") as file:
        cells = np.loadtxt(file, delimiter=",", skiprows=1)
    return np.log(cells[:, :-1] + 0.1), cells[:, -1].astype(int)


def halves(y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on, even in both classes, and 5,000 to deploy on, drawn 90 : 10 from the others."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    first, second = np.split(order, [len(y) // 2])
    some = min(np.bincount(y[first]))
    training = np.concatenate([first[y[first] == c][:some] for c in (0, 1)])
    deployed = [rng.choice(second[y[second] == c], size) for c, size in ((0, 4_500), (1, 500))]
    return training, np.concatenate(deployed)


@pytest.mark.parametrize("model", [LinearDiscriminantAnalysis(), FisherDiscriminant()], ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_adapted_priors_of_spam_are_within_two_percent(model, seed, spambase):
    x, y = spambase
    training, deployed = halves(y, seed)
    model.fit(x[training], y[training])
    priors, posterior = model.adapt_priors(x[deployed])
    np.testing.assert_allclose(priors, [0.9, 0.1], atol=0.02)
    true = np.arange(len(deployed)), y[deployed]
    before, after = -model.predict_log_proba(x[deployed])[true].mean(), -np.log(posterior(x[deployed])[true]).mean()
    assert after < 0.75 * before
