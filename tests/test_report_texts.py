"""Reports of classifiers of texts: words in the place of columns, texts shaded by what their words say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import deciban
from deciban import TextClassifier
from deciban.errors import DataError
from deciban.reports.checks import run_checks
from deciban.reports.data import collect

from .support.data import COMMON_WORDS, TOPICS
from .test_report import EVIL, headings, sound


def talk(n: int, seed: int = 0, more: str = "") -> tuple[list[str], np.ndarray]:
    """Texts about drink and food, some of either kind with words of the other."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, "drink", "food")
    other = np.where(rng.random(n) < 0.1, np.where(y == "drink", "food", "drink"), y)
    texts = [
        f"{' '.join([*rng.choice(TOPICS[c].split(), 3), *rng.choice(COMMON_WORDS, 8)])} {i} {more}"
        for i, c in enumerate(other)
    ]
    return texts, y


def warned(word: str, model: TextClassifier, texts: list[str], y: np.ndarray, train: tuple | None = None) -> list[str]:
    """The warnings of a report that have this in them."""
    return [told for told in run_checks(collect(model, texts, y, train, None, 5, 0)) if word in told]


@pytest.mark.parametrize(
    ("kind", "features"),
    [("multinomial", "words"), ("bernoulli", "words"), ("complement", "chars"), ("nb-logistic", "words+bigrams")],
)
def test_every_model_of_texts_has_a_report(kind, features):
    texts, y = talk(120)
    model = TextClassifier(kind, features).fit(texts[:80], y[:80])
    out = deciban.report(model, texts[80:], y[80:], rows=2)
    tree = sound(out.html)
    assert headings(out.html) == [
        *("Summary", "Metrics", "Reliability", "Confusion"),
        *("Feature effects", "Largest errors", "Data"),
    ]
    assert len(tree.all("blockquote")) == 2
    assert tree.all("mark")
    assert out.metrics["accuracy"][0] > 0.6


def test_words_of_a_class_are_told_with_the_texts_that_have_them():
    texts, y = talk(200)
    html = deciban.report(TextClassifier().fit(texts, y), texts, y).html
    assert "Words for drink" in html
    has = np.array(["coffee" in text for text in texts])
    row = html[html.index('<th scope="row">coffee</th>') :]
    assert row.startswith(
        f'<th scope="row">coffee</th><td>{(has & (y == "drink")).sum()}</td><td>{(has & (y == "food")).sum()}</td>'
    )


def test_texts_that_were_learned_are_judged_without_themselves():
    texts, y = talk(150)
    model = TextClassifier().fit(texts, y)
    out = deciban.report(model, texts, y)
    assert "cross-validated in 10 folds" in out.html
    right = (model.classes_[model.leave_one_out(texts, y).argmax(axis=1)] == y).mean()
    assert out.metrics["accuracy"][0] == pytest.approx(right, abs=0.05)
    fresh = deciban.report(model, *talk(50, 1))
    assert "as held-out rows" in fresh.html


def test_a_word_that_decides_alone_is_pointed_out():
    texts, y = talk(100)
    leaky = [text + (" zzdrink" if label == "drink" else "") for text, label in zip(texts, y, strict=True)]
    model = TextClassifier().fit(leaky, y)
    assert warned("Leak? The presence of `zzdrink` alone predicts the class of 100.0 %", model, leaky, y)
    assert not warned("Leak?", TextClassifier().fit(texts, y), texts, y)


def test_copies_empty_texts_and_two_classes_of_one_text_are_pointed_out():
    texts, y = talk(60)
    model = TextClassifier().fit(texts, y)
    odd = ["", "zzz qqq", *texts[:20], texts[0]]
    labels = np.array(["food", "food", *y[:20], "food" if y[0] == "drink" else "drink"])
    out = deciban.report(model, odd, labels, train=(texts, y))
    for told in (
        "1 texts occur with more than one class",
        "91 % of these texts are duplicates of training texts",
        "2 texts contain no known word",
    ):
        assert any(told in one for one in out.warnings), told
        assert told in out.html
    assert "1 are empty, 1 are copies" in out.html
    assert warned("9 % of the texts are duplicates", TextClassifier().fit(odd, labels), odd, labels)


def test_words_that_moved_and_words_never_seen_are_drift():
    texts, y = talk(200)
    model = TextClassifier().fit(texts, y)
    later, labels = talk(200, 1, "again uno dos tres cuatro cinco")
    assert warned("Drift: `again` is in 100 % of these texts", model, later, labels)
    assert warned("of the words of these texts do not occur in the training texts", model, later, labels)
    assert not warned("Drift: `", model, *talk(200, 2))
    assert not warned("Drift", model, texts, y)


def test_hostile_texts_and_labels_stay_texts():
    texts = [f"{EVIL} tea {i}" for i in range(20)] + [f"cake <img src=http://evil.example/{i}>" for i in range(20)]
    y = np.array([EVIL] * 20 + ["food"] * 20)
    y[[0, 30]] = y[[30, 0]]
    tree = sound(deciban.report(TextClassifier().fit(texts, y), texts, y).html)
    assert not tree.all("img")
    assert any("<script>" in word for word in tree.words)


def test_texts_may_be_a_series_and_nothing_but_texts():
    texts, y = talk(60)
    model = TextClassifier().fit(texts, y)
    assert deciban.report(model, pd.Series(texts), pd.Series(y)).html == deciban.report(model, texts, y).html
    with pytest.raises(DataError, match="text 1 is None"):
        deciban.report(model, ["tea", None], ["drink", "food"])
    with pytest.raises(DataError, match="DataFrame"):
        deciban.report(model, pd.DataFrame({"text": texts}), y)
    with pytest.raises(DataError, match="X has 2 rows"):
        deciban.report(model, ["tea", "cake"], ["drink"])


def test_an_account_of_a_text_counts_its_own_words_alone():
    model = TextClassifier().fit(*talk(60))
    why = model.explain(["tea and cake with some more", "milk of the day"])
    assert "and 3 more words" in why.text(1, 3)
    assert {line.name for line in why.account(1).lines} == {"prior", "milk", "of", "the"}
