"""What a model file tells about training rows, and what may be removed from a model."""

import numpy as np
import pytest

import deciban
from deciban.errors import DataError, ForgetError, ModelFileError, NoRowsError

from ..support.cli import output
from ..support.forgery import read_parts

X = np.random.default_rng(0).normal(size=(6, 10))
y = np.array([0, 1] * 3)
DISCRIMINANTS = [
    deciban.LinearDiscriminantAnalysis(),
    deciban.LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    deciban.QuadraticDiscriminantAnalysis(reg_param=0.5),
    deciban.RegularizedDiscriminantAnalysis(),
    deciban.FisherDiscriminant(),
]


def holds_rows(path) -> bool:
    """Whether a training row stands in an array of the file."""
    tables = [a for a in read_parts(path)[1].values() if a.ndim == 2 and a.shape[1] == X.shape[1]]
    return any((np.abs(table - row).max(axis=1) < 1e-9).any() for table in tables for row in X if len(table))


def test_e6_a_ledger_refuses_rows_that_were_never_learned():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(40, 2)), np.arange(40) % 2
    model = deciban.GaussianNB(ledger=True).fit(rows, labels)
    with pytest.raises(ForgetError):
        model.forget([[0.1, 0.2]], [0])
    model.forget(rows[:1], labels[:1])
    with pytest.raises(ForgetError):
        model.forget(rows[:1], labels[:1])
    assert model.class_count_.tolist() == [19.0, 20.0]


@pytest.mark.parametrize("name", ["GaussianNB", "MultinomialNB", "CategoricalNB", "LinearDiscriminantAnalysis",
                                  "MixedNB", "AODE", "BayesNet"])  # fmt: skip
def test_e7_a_model_without_rows_does_not_answer(name):
    rows, labels = np.arange(8.0).reshape(4, 2), [0, 1, 0, 1]
    model = getattr(deciban, name)().fit(rows, labels).forget(rows, labels)
    for ask in (model.predict, model.predict_proba):
        with pytest.raises(NoRowsError):
            ask(rows[:1])


@pytest.mark.parametrize("model", DISCRIMINANTS, ids=repr)
def test_p1_rows_of_discriminants_are_counted_or_left_out(model, tmp_path):
    path = tmp_path / "p.deciban"
    model.fit(X, y)
    deciban.save(model, path)
    assert deciban.model_info(path)["rows_kept"] == 6
    assert holds_rows(path)
    deciban.save(model, path, rows=False)
    assert deciban.model_info(path)["rows_kept"] == 0
    assert not holds_rows(path)
    loaded = deciban.load(path)
    np.testing.assert_allclose(loaded.predict_proba(X), model.predict_proba(X), atol=1e-10)
    assert loaded.forget(X[:1], y[:1]).class_count_.tolist() == [2.0, 3.0]


@pytest.mark.parametrize("model", [deciban.BayesNet(), deciban.KDependenceBayes()], ids=repr)
def test_p2_rows_of_networks_are_counted_and_not_left_out(model, tmp_path):
    pd = pytest.importorskip("pandas")
    rows = pd.DataFrame({"ill": ["flu", "hiv", "none", "flu"], "name": ["ann", "bob", "cid", "dee"]})
    path = tmp_path / "p.deciban"
    deciban.save(model.fit(rows, ["a", "b"] * 2), path)
    assert deciban.model_info(path)["rows_kept"] == 4
    before = path.read_bytes()
    with pytest.raises(ModelFileError):
        deciban.save(model, path, rows=False)
    assert path.read_bytes() == before


@pytest.mark.parametrize("kind", ["multinomial", "logistic", "nb-logistic"])
def test_texts_are_counted_or_left_out(kind):
    texts, labels = ["win money now", "lunch at noon", "money for lunch"] * 4, ["spam", "ham", "ham"] * 4
    model = deciban.TextClassifier(kind).fit(texts, labels)
    assert deciban.model_info(deciban.dumps(model))["rows_kept"] == 12
    content = deciban.dumps(model, rows=False)
    assert deciban.model_info(content)["rows_kept"] == 0
    loaded = deciban.loads(content)
    np.testing.assert_array_equal(loaded.predict_proba(texts), model.predict_proba(texts))
    for change in (loaded.partial_fit, loaded.forget):
        with pytest.raises(DataError):
            change(texts[:1], labels[:1])
    with pytest.raises(DataError):
        loaded + loaded


def test_models_inside_of_models_count(tmp_path):
    path = tmp_path / "p.deciban"
    rows = np.random.default_rng(0).normal(size=(20, 30))
    model = deciban.BayesOptimal([deciban.LinearDiscriminantAnalysis(), deciban.GaussianNB()], weights=[0.5, 0.5])
    deciban.save(model.fit(rows, np.arange(20) % 2), path)
    assert deciban.model_info(path)["rows_kept"] == 20
    deciban.save(model, path, rows=False)
    assert deciban.model_info(path)["rows_kept"] == 0
    np.testing.assert_allclose(deciban.load(path).predict_proba(rows), model.predict_proba(rows), atol=1e-9)


def test_models_of_statistics_keep_no_rows():
    rows = np.abs(np.random.default_rng(0).normal(size=(60, 3))).round()
    models = [
        deciban.GaussianNB(),
        deciban.MultinomialNB(),
        deciban.CategoricalNB(),
        deciban.MixedNB(calibrate=True, keep_rows=0),
        deciban.LogisticRegression(),
        deciban.AODE(keep_rows=0),
        deciban.TreeAugmentedNB(keep_rows=20),
        deciban.TreeAugmentedNB(cuts=[1.0]),
    ]
    for model in models:
        assert deciban.model_info(deciban.dumps(model.fit(rows, np.arange(60) % 2)))["rows_kept"] == 0


def test_a_sample_of_rows_is_in_the_file_or_left_out(tmp_path):
    rng, path = np.random.default_rng(0), tmp_path / "p.deciban"
    rows, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    for model, kept in (
        (deciban.MixedNB(calibrate=True), 60),
        (deciban.GaussianNB(weights="discriminative", keep_rows=20), 40),  # a quarter more, and 20 of each class
        (deciban.AODE(), 60),
    ):
        deciban.save(model.fit(rows, y), path)
        assert deciban.model_info(path)["rows_kept"] == kept
        deciban.save(model, path, rows=False)
        assert deciban.model_info(path)["rows_kept"] == 0
        assert rows[0].tobytes() not in path.read_bytes()
        np.testing.assert_array_equal(deciban.load(path).predict_proba(rows), model.predict_proba(rows))


def test_a_forgotten_row_is_not_in_the_file():
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    model = deciban.GaussianNB(calibrate=True).fit(rows, y)
    assert rows[7].tobytes() in deciban.dumps(model)
    assert rows[7].tobytes() not in deciban.dumps(model.forget(rows[7:8], y[7:8]))


def test_the_command_line_keeps_a_ledger_with_the_key_of_the_environment(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines = [f"{x:.3f},{'yes' if x > 0 else 'no'}" for x in rng.normal(size=60)]
    (tmp_path / "t.csv").write_text("\n".join(["x,class", *lines]))
    (tmp_path / "one.csv").write_text("\n".join(["x,class", lines[0]]))
    (tmp_path / "other.csv").write_text("x,class\n0.12345,yes\n")
    for secret, said in ((None, "public"), ("a long secret", "secret")):
        if secret:
            monkeypatch.setenv("DECIBAN_LEDGER_KEY", secret)
        output("fit t.csv --ledger -q -o m.deciban --force", capfd)
        assert deciban.model_info("m.deciban")["ledger"] == said
        assert f"with a {said} key" in output("show m.deciban", capfd)[0]
        output("forget m.deciban other.csv", capfd, code=1)
        output("forget m.deciban one.csv", capfd)
        output("forget m.deciban one.csv", capfd, code=1)
    monkeypatch.setenv("DECIBAN_LEDGER_KEY", "another")
    assert "DECIBAN_LEDGER_KEY" in output("update m.deciban one.csv", capfd, code=1)[1]
    assert "no ledger" in output("fit t.csv --ledger --model logistic -o l.deciban", capfd, code=1)[1]
