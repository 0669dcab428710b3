"""New classes in updates (F9)."""

import sys
import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from deciban import (
    AODE,
    BayesNet,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    FisherDiscriminant,
    GaussianNB,
    KDependenceBayes,
    LinearDiscriminantAnalysis,
    MixedNB,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    TextClassifier,
    TreeAugmentedNB,
)
from deciban.cli import main
from deciban.errors import DataError, NotAdditiveError

OURS = [
    MixedNB,
    lambda: TreeAugmentedNB(cuts=[1.5, 3.5]),
    lambda: AODE(cuts=[1.5, 3.5]),
    lambda: KDependenceBayes(cuts=[1.5, 3.5]),
    lambda: BayesNet(cuts=[1.5, 3.5]),
    PoissonNB,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
]
SKLEARN = [GaussianNB, MultinomialNB, BernoulliNB, ComplementNB, CategoricalNB]


def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.repeat(["b", "c", "a"], [20, 20, 20])
    return rng.poisson(2 + (y == "c")[:, None] + 2 * (y == "a")[:, None], (60, 3)).astype(float), y


@pytest.mark.parametrize("make", OURS)
def test_f09_the_first_call_needs_no_classes_and_new_ones_may_come(make):
    X, y = rows()
    model = make()
    for some in (slice(20), slice(20, 45), slice(45, None)):  # b; b and c; then a
        model.partial_fit(X[some], y[some])
    whole = make().fit(X, y)
    assert model.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("make", [*OURS, *SKLEARN])
def test_f09_new_classes_come_after_fit(make):
    X, y = rows()
    model = make().fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
    np.testing.assert_allclose(model.predict_proba(X), make().fit(X, y).predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("make", [*OURS, *SKLEARN])
def test_f09_where_classes_were_given_no_others_come(make):
    X, y = rows()
    model = make().partial_fit(X[:40], y[:40], classes=["b", "c"])
    before = model.predict_proba(X)
    with pytest.raises(DataError, match="classes"):
        model.partial_fit(X[40:], y[40:])
    np.testing.assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize("make", SKLEARN)
def test_f09_classes_named_as_those_of_scikit_learn_keep_its_rule(make):
    X, y = rows()
    with pytest.raises(ValueError, match="classes"):
        make().partial_fit(X, y)


def test_f09_frames_levels_and_classes_come_together():
    X = pd.DataFrame({"sky": ["grey", "blue", "red"], "wind": [3.0, 1.0, 2.0]})
    model = MixedNB().partial_fit(X[:1], ["rain"]).partial_fit(X[1:], ["sun", "dusk"])
    assert model.classes_.tolist() == ["dusk", "rain", "sun"]
    np.testing.assert_allclose(
        model.predict_proba(X), MixedNB().fit(X, ["rain", "sun", "dusk"]).predict_proba(X), rtol=1e-12
    )


def test_f09_texts():
    model = TextClassifier().partial_fit(["tea"], ["drink"]).partial_fit(["cake"], ["food"])
    assert model.classes_.tolist() == ["drink", "food"]


def test_f09_labels_of_another_type_are_refused():
    X, y = rows()
    model = MixedNB().fit(X, y)
    with pytest.raises(DataError, match=r"labels are numbers \(such as 1\), but those learned so far are texts"):
        model.partial_fit(X[:2], [1, 2])
    assert model.classes_.tolist() == ["a", "b", "c"]


def test_f09_priors_by_sequence_cannot_take_a_new_class():
    X, y = rows()
    model = MixedNB(priors=[0.5, 0.5]).fit(X[:40], y[:40])
    with pytest.raises(DataError, match="priors"):
        model.partial_fit(X[40:], y[40:])
    assert model.classes_.tolist() == ["b", "c"]


def test_f09_the_command_line_updates_with_new_classes(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.csv").write_text("sky,wind,y\n" + "grey,3,rain\nblue,1,sun\n" * 6)
    (tmp_path / "two.csv").write_text("sky,wind,y\n" + "red,2,dusk\n" * 6)
    for words in ("fit -q one.csv -t y --updatable -o m", "update m two.csv"):
        with pytest.raises(SystemExit) as ended:
            main(words.split())
        assert ended.value.code == 0
    assert "18 in all" in capfd.readouterr().out


@pytest.mark.parametrize("make", [GaussianNB, MixedNB])
def test_task_76_threads_that_update_one_model_lose_no_row(make):
    X, y = rows()
    model = make().fit(X, y)

    def update() -> None:
        for _ in range(25):
            model.partial_fit(X[:1], y[:1])

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=update) for _ in range(8)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    finally:
        sys.setswitchinterval(interval)
    assert model.class_count_.sum() == 60 + 8 * 25


@pytest.mark.parametrize("n", [40, 5])  # rows of which sums are kept, or the rows themselves
@pytest.mark.parametrize(
    ("model", "changed"),
    [
        (RegularizedDiscriminantAnalysis(blend=0.5), {"blend": 1.0}),
        (RegularizedDiscriminantAnalysis(blend=1.0), {"blend": 0.5}),
        (RegularizedDiscriminantAnalysis(blend=0.5, exact=True), {"blend": 1.0}),
        (LinearDiscriminantAnalysis(estimate="bayes"), {"estimate": "plugin", "priors": [0.2, 0.8]}),
        (LinearDiscriminantAnalysis(solver="eigen"), {"shrinkage": "auto"}),
        (LinearDiscriminantAnalysis(exact=True), {"exact": False}),
        (FisherDiscriminant(), {"exact": True}),
    ],
)
def test_settings_that_need_other_sums_of_rows_are_refused_in_updates(model, changed, n):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 7)), np.arange(n) % 2
    model = clone(model).fit(X, y)
    before = model.predict_proba(X)
    model.set_params(**changed)
    for update in (model.partial_fit, model.forget):
        with pytest.raises(NotAdditiveError, match="other sums"):
            update(X[-1:], y[-1:])
    assert np.array_equal(model.predict_proba(X), before)
    assert np.isfinite(model.fit(X, y).partial_fit(X[:1], y[:1]).predict_proba(X)).all()
