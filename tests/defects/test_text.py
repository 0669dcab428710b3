"""Texts and mails: a test for every defect that users found there."""

import csv
import gzip
import json
import lzma
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from deciban import TextClassifier
from deciban.errors import DataError

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
shared = pytest.mark.skipif(not DATA.exists(), reason="the shared data are not here")


def sms() -> tuple[list[str], np.ndarray]:
    with gzip.open(DATA / "sms_spam" / "sms_spam.csv.gz", "rt", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [row["text"] for row in rows], np.array([row["label"] for row in rows])


def lines_of(name: str) -> list[dict]:
    with lzma.open(DATA / name, "rt") as file:
        return [json.loads(line) for line in file]


def log_loss(model, texts, labels) -> float:
    proba = model.predict_proba(texts)[np.arange(len(labels)), np.searchsorted(model.classes_, labels)]
    return -float(np.log(np.maximum(proba, 1e-300)).mean())


def assert_not_worse_than_scikit_learn(train, test, y_train, y_test) -> TextClassifier:
    ours = TextClassifier().fit(train, y_train)
    theirs = make_pipeline(CountVectorizer(), MultinomialNB()).fit(train, y_train)
    assert ours.score(test, y_test) > theirs.score(test, y_test) - 0.01
    assert log_loss(ours, test, y_test) < log_loss(theirs, test, y_test)
    return ours


# B5


@shared
def test_b05_free_prize_is_spam():
    spam = TextClassifier().fit(*sms()).predict_proba(["free prize", "prize", "win a free prize now"])[:, 1]
    assert spam[0] > 0.9
    assert spam[1] > 0.75
    assert spam[2] > 0.98


@shared
def test_b05_messages_beat_scikit_learn_in_log_loss():
    assert_not_worse_than_scikit_learn(*train_test_split(*sms(), test_size=1 / 3, random_state=0))


@shared
def test_b05_film_reviews_and_pieces_of_them_beat_scikit_learn_in_log_loss():
    rows = lines_of("movie_polarity/movie_polarity.jsonl.xz")
    texts, labels = [row["text"] for row in rows], np.array([row["label"] for row in rows])
    train, test, y_train, y_test = train_test_split(texts, labels, test_size=1 / 3, random_state=0)
    ours = assert_not_worse_than_scikit_learn(train, test, y_train, y_test)
    pieces = [" ".join(text.split()[40:60]) for text in test]
    theirs = make_pipeline(CountVectorizer(), MultinomialNB()).fit(train, y_train)
    assert log_loss(ours, pieces, y_test) < log_loss(theirs, pieces, y_test)


@shared
def test_b05_subject_lines_beat_scikit_learn_in_log_loss():
    rows = lines_of("newsgroups20/newsgroups20_bydate.jsonl.xz")
    found = [re.search(r"(?m)^Subject:(.*)$", row["text"]) for row in rows]
    texts = np.array([one[1] if one else "" for one in found], dtype=object)
    labels, early = np.array([row["label"] for row in rows]), np.array([row["split"] == "train" for row in rows])
    assert_not_worse_than_scikit_learn(texts[early], texts[~early], labels[early], labels[~early])


def test_b05_what_was_chosen_is_exposed():
    texts, labels = ["win a prize", "win money", "lunch at noon", "see you at lunch"], ["spam", "spam", "ham", "ham"]
    model = TextClassifier().fit(texts, labels)
    assert model.tuned_ == {"alpha": model.alpha_, "smoothing": model.smoothing_, "dependence": model.dependence_}
    assert f"alpha={model.alpha_:g}" in str(model.summary())
    plain = TextClassifier(alpha=0.5).fit(texts, labels)
    assert (plain.alpha_, plain.smoothing_, plain.dependence_, plain.tuned_) == (0.5, "even", 0.0, {})


def test_b05_a_few_texts_stay_near_laplaces_rule():
    model = TextClassifier().fit(["win a prize", "win money", "lunch at noon", "see you"], ["spam"] * 2 + ["ham"] * 2)
    assert 0.5 < model.predict_proba(["win"])[0, 1] < 0.9


def drawn(n: int, classes: str, seed: int) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(seed)
    y = rng.integers(len(classes), size=n)
    words = np.array([f"word{j}" for j in range(300)])
    odds = rng.dirichlet(np.full(300, 0.1), size=len(classes))
    return [" ".join(rng.choice(words, rng.integers(1, 15), p=odds[c])) for c in y], [classes[c] for c in y]


def test_b05_the_choice_is_that_of_one_fit_after_updates_merges_and_forgetting(monkeypatch):
    """Also where the texts are more than a sample holds."""
    from deciban.text import kept_texts

    monkeypatch.setattr(kept_texts, "MOST", 128)
    monkeypatch.setattr(kept_texts, "FEWEST", 32)
    texts, labels = drawn(1000, "ab", seed=1)
    more, other = drawn(200, "bc", seed=2)
    whole = TextClassifier().fit(texts, labels)
    assert len(whole._words.kept) < 200
    parts = TextClassifier()
    for start in range(0, 1000, 130):
        parts.partial_fit(texts[start : start + 130], labels[start : start + 130])
    merged = TextClassifier().fit(texts[:300], labels[:300]) + TextClassifier().fit(texts[300:], labels[300:])
    forgetful = TextClassifier().fit(more + texts, other + labels).forget(more, other)
    for model in (parts, merged, forgetful):
        assert model.tuned_ == whole.tuned_
        np.testing.assert_array_equal(model.predict_proba(texts), whole.predict_proba(texts))


def test_b05_copies_of_a_text_do_not_flatter_the_choice():
    """Each text is judged without its copies too: else the smallest alpha would seem best."""
    texts, labels = drawn(12, "ab", seed=3)
    once, often = TextClassifier().fit(texts, labels), TextClassifier().fit(texts * 50, labels * 50)
    assert often.alpha_ >= 0.1
    assert once.alpha_ >= 0.1


# F24, 86 and class_weight


def test_f24_priors_of_the_classifier_and_of_every_method():
    texts, labels = (
        ["win a prize", "win money", "lunch at noon", "see you at lunch", "noon"],
        ["spam"] * 2 + ["ham"] * 3,
    )
    plain = TextClassifier().fit(texts, labels)
    for given in ("uniform", [0.5, 0.5], {"ham": 0.5, "spam": 0.5}):
        even = TextClassifier(priors=given).fit(texts, labels)
        np.testing.assert_allclose(even.predict_proba(["zzz"]), [[0.5, 0.5]])
        np.testing.assert_allclose(plain.predict_proba(["zzz"], priors=given), [[0.5, 0.5]])
        np.testing.assert_allclose(plain.decibans(["zzz"], priors=given), [[0, 0]], atol=1e-9)
        assert plain.predict(["zzz"], priors={"ham": 0.1, "spam": 0.9}).tolist() == ["spam"]
        assert plain.explain("win", priors=given).prior.tolist() == [0.0]
        plain.decide(["zzz"], priors=given, reject=0.1)
        np.testing.assert_allclose(even.class_prior_, [0.5, 0.5])
    np.testing.assert_allclose(plain.class_prior_, [0.6, 0.4])
    with pytest.raises(DataError, match="hint"):
        TextClassifier(priors={"ham": 1.0}).fit(texts, labels)
    with pytest.raises(DataError, match="uniform"):
        plain.predict(["zzz"], priors="even")


@pytest.mark.parametrize("model", ["multinomial", "nb-logistic", "logistic"])
def test_f08_balanced_classes_have_equal_priors(model):
    texts, labels = drawn(100, "ab", seed=4)
    texts, labels = texts + texts[:1] * 60, labels + labels[:1] * 60
    balanced = TextClassifier(model, class_weight="balanced").fit(texts, labels)
    np.testing.assert_allclose(balanced.class_prior_, [0.5, 0.5])
    again = TextClassifier(model, class_weight={"a": 160 / (2 * labels.count("a")), "b": 160 / (2 * labels.count("b"))})
    np.testing.assert_allclose(again.fit(texts, labels).predict_proba(texts), balanced.predict_proba(texts), atol=1e-6)
    with pytest.raises(DataError, match="the classes are"):
        TextClassifier(class_weight={"nobody": 2.0}).fit(texts, labels)
