"""`deciban.datasets`: tables of the lectures, figures of the generated sets, and the reader of 20 Newsgroups."""

import gzip
import json
import lzma
import subprocess
import sys
import tarfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from deciban import (
    BayesOptimal,
    BernoulliNB,
    FisherDiscriminant,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
    datasets,
)
from deciban.data import frames
from deciban.errors import DataError

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
POST = "Path: a!b\nNewsgroups: {group}\nXref: host {group}:1\nSubject: {word}\n\nAbout {word}.\nPath: stays\n"


def accuracy(model, X, y):
    return round(model.fit(X, y).score(X, y), 4)


def test_the_module_is_there_after_the_import():
    subprocess.run([sys.executable, "-c", "import deciban; deciban.datasets.quiz()"], check=True)


def test_play_tennis_gives_the_product_on_the_board():
    X, y = datasets.play_tennis()
    query = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "windy": "true"}
    model = MixedNB(alpha=0).fit(X, y)
    np.testing.assert_allclose(np.exp(model.predict_joint_log_proba(query)), [[0.020571, 0.005291]], atol=5e-7)
    assert model.class_count_.tolist() == [5, 9]


def test_numeric_play_tennis_has_the_means_of_the_lecture():
    X, y = datasets.play_tennis(numeric=True)
    warm = np.array(X["temperature"], dtype=float)
    assert [warm[y == "yes"].mean(), round(warm[y == "yes"].std(ddof=1), 3)] == [73, 6.164]
    assert np.mean(np.array(X["humidity"], dtype=float)[y == "no"]) == pytest.approx(86.2)


def test_eight_mails_have_the_sums_of_the_lecture():
    presence = BernoulliNB().fit(*datasets.eight_mails("presence"))
    counts = MultinomialNB().fit(*datasets.eight_mails("counts"))
    assert presence.feature_count_.tolist() == [[3, 1, 1], [2, 3, 1]]  # ham, spam
    assert counts.feature_count_.tolist() == [[11, 3, 3], [5, 9, 3]]
    texts, labels = datasets.eight_mails()
    assert (len(texts), labels.tolist()) == (8, ["spam"] * 4 + ["ham"] * 4)
    with pytest.raises(DataError, match="form"):
        datasets.eight_mails("bits")


def test_viagra_networks_give_odds_and_ratios_of_the_lecture():
    full, naive = datasets.viagra_networks()
    mails = {"viagra": [0, 1, 0, 1], "lottery": [0, 1, 1, 0]}
    place = full.classes_.tolist().index("spam")
    np.testing.assert_allclose(np.exp(full.log_odds(mails))[:, place], [0.449, 0.667, 1.857, 4.0], atol=5e-4)
    np.testing.assert_allclose(naive.likelihood_ratio(mails, "spam", "ham"), [0.619, 5.385, 1.101, 3.027], atol=5e-4)
    assert (full.predict(mails) == naive.predict(mails)).sum() == 3
    np.testing.assert_allclose(full.query("y", {"lottery": 1}).values, [0.625, 0.375])


def test_quiz_is_separable_and_votes_contradict_the_most_probable_hypothesis():
    X, y = datasets.quiz()
    model = LogisticRegression().fit(X, y)
    assert model.predict([[0, 0, 0]]).tolist() == [0]
    assert round(model.predict_proba([[0, 0, 0]])[0, 0], 3) == 0.763
    np.testing.assert_allclose(BayesOptimal.of(*datasets.votes()).predict_proba([[0]]), [[0.4, 0.6]])


def test_coin_has_the_given_heads():
    X, y = datasets.coin(3, 4)
    assert (X.ravel().tolist(), y.tolist()) == ([1, 1, 1, 0], [0] * 4)
    with pytest.raises(DataError):
        datasets.coin(8, 7)


def test_sigmoid_points_have_the_fit_of_the_gallery():
    X, y = datasets.sigmoid_points(100, random_state=0)
    model = LogisticRegression(C=np.inf, solver="newton", tol=1e-10).fit(X, y)
    found = [model.intercept_[0], model.coef_[0, 0], -model.intercept_[0] / model.coef_[0, 0]]
    np.testing.assert_allclose(found, [3.050023, 6.035881, -0.505315], atol=2e-5)
    assert model.summary().log_likelihood == pytest.approx(-9.452240, abs=1e-6)


def test_two_gaussians_have_the_numbers_of_the_gallery():
    X, y = datasets.two_gaussians()
    lda, qda = LinearDiscriminantAnalysis().fit(X, y), QuadraticDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(lda.coef_, [[2.762578, -0.543926]], atol=1e-6)
    np.testing.assert_allclose(lda.intercept_, [-3.908731], atol=1e-6)
    assert round(float(qda.predict_proba(X[:1])[0, 0]), 3) == 0.955
    assert round(float(qda.predict_proba(X[:1], priors={"k": 0.1, "l": 0.9})[0, 0]), 3) == 0.611
    apart = [X[y == label] for label in ("k", "l")]
    within = sum(np.cov(rows.T, bias=True) for rows in apart)
    difference = apart[1].mean(axis=0) - apart[0].mean(axis=0)
    assert difference @ np.linalg.solve(within, difference) == pytest.approx(3.276809, abs=1e-6)
    assert accuracy(FisherDiscriminant(), X, y) > 0.85


def test_multimodal_defeats_linear_boundaries():
    X, y = datasets.multimodal()
    models = LinearDiscriminantAnalysis(), LogisticRegression(), QuadraticDiscriminantAnalysis(), MixedNB()
    assert [round(accuracy(model, X, y), 3) for model in models] == [0.533, 0.533, 0.971, 1.0]


def test_three_classes_have_quadratic_boundaries():
    X, y = datasets.three_classes()
    wide = np.column_stack([X, X[:, 0] * X[:, 1], X**2])
    lda, qda = LinearDiscriminantAnalysis().fit(wide, y), QuadraticDiscriminantAnalysis().fit(X, y)
    assert [accuracy(LinearDiscriminantAnalysis(), X, y), accuracy(lda, wide, y), accuracy(qda, X, y)] == [
        0.9222,
        0.9306,
        0.9306,
    ]
    assert round((lda.predict(wide) == qda.predict(X)).mean(), 3) == 0.989


def test_half_planes_label_by_one_of_their_hypotheses():
    X, y, hypotheses = datasets.half_planes(50, 30, random_state=3)
    assert any((h(X) == y).all() for h in hypotheses)
    assert len(hypotheses) == 30


@pytest.mark.parametrize("name", ["sigmoid_points", "two_gaussians", "multimodal", "three_classes", "half_planes"])
def test_a_seed_gives_the_same_points(name):
    draw = getattr(datasets, name)
    first, again, other = (draw(random_state=seed)[0] for seed in (5, 5, 6))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("there", "kind"), [(("pandas", "polars"), "pandas"), (("polars",), "polars"), ((), "builtins")]
)
def test_frames_are_of_the_library_that_is_installed(monkeypatch, there, kind):
    if any(find_spec(name) is None for name in there):
        pytest.skip("needs pandas and polars")
    monkeypatch.setattr(frames, "is_installed", lambda name: name in there)
    X, y = datasets.play_tennis()
    assert type(X).__module__.partition(".")[0] == kind
    assert MixedNB(alpha=0).fit(X, y).predict(X)[0] == "no"


def posts():
    return {f"{group}/{i}": POST.format(group=group, word=f"é{i}") for group in ("rec.tea", "sci.cake") for i in (1, 2)}


@pytest.fixture(params=["folder", "tar.gz", "jsonl", "jsonl.xz", "jsonl.gz"])
def copy(request, tmp_path):
    """A small copy of the collection in each form that it is published in."""
    folder = tmp_path / "20_newsgroups"
    for name, text in posts().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode("latin-1"))
    path = tmp_path / f"posts.{request.param}"
    if request.param == "folder":
        return folder
    if request.param == "tar.gz":
        with tarfile.open(path, "w:gz") as archive:
            archive.add(folder, "20_newsgroups")
        return path
    lines = "".join(
        json.dumps({"label": name.partition("/")[0], "text": text}) + "\n" for name, text in posts().items()
    )
    write = {"jsonl.xz": lzma.compress, "jsonl.gz": gzip.compress}.get(request.param, bytes)
    path.write_bytes(write(lines.encode()))
    return path


def test_newsgroups_are_read_from_archive_folder_and_json_lines(copy):
    texts, groups = datasets.load_20newsgroups(copy)
    assert sorted(zip(groups.tolist(), texts, strict=True)) == sorted(
        (name.partition("/")[0], text) for name, text in posts().items()
    )


def test_group_headers_are_removed_and_nothing_else(copy):
    texts, groups = datasets.load_20newsgroups(copy, remove=("group headers",))
    assert sorted(set(groups.tolist())) == ["rec.tea", "sci.cake"]
    assert all(text == f"Subject: é{text[10]}\n\nAbout é{text[10]}.\nPath: stays\n" for text in texts)


def test_a_wrong_path_and_a_wrong_part_are_named(tmp_path):
    for path in (tmp_path, tmp_path / "none.tar.gz"):
        with pytest.raises(DataError, match=str(path)):
            datasets.load_20newsgroups(path)
    with pytest.raises(DataError, match="remove"):
        datasets.load_20newsgroups(tmp_path, remove=("signatures",))


@pytest.mark.parametrize("content", [b"a,b\n", b'{"text": "tea"}\n', b"\xff\xfe"])
def test_a_file_of_another_kind_is_named(tmp_path, content):
    (tmp_path / "posts.jsonl").write_bytes(content)
    with pytest.raises(DataError, match=r"line 1 of .*posts\.jsonl"):
        datasets.load_20newsgroups(tmp_path / "posts.jsonl")


def test_files_outside_the_groups_are_no_posts(tmp_path):
    (tmp_path / "rec.tea").mkdir()
    for name in ("README", "rec.tea/1", "rec.tea/.hidden"):
        (tmp_path / name).write_text("milk")
    texts, groups = datasets.load_20newsgroups(tmp_path)
    assert (texts, groups.tolist()) == (["milk"], ["rec.tea"])


def test_the_original_edition_is_read():
    path = DATA / "newsgroups20" / "newsgroups20_original.jsonl.xz"
    if not path.exists():
        pytest.skip("needs shared/data")
    texts, groups = datasets.load_20newsgroups(path, remove=("group headers",))
    assert (len(texts), len(set(groups.tolist()))) == (19997, 20)
    heads = [text.partition("\n\n")[0].lower().split("\n") for text in texts]
    left = sum(any(line.startswith(("newsgroups:", "xref:", "path:")) for line in head) for head in heads)
    assert left < 20
