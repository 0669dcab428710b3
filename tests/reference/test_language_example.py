"""The example on languages, and TextClassifier on the shared texts: what SOURCES and the lectures say of them."""

import gzip
import json
import lzma
from csv import DictReader

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer as TheirCounts
from sklearn.naive_bayes import MultinomialNB

from deciban import TextClassifier
from deciban.mail.strip import stripped, without_headers


def test_more_words_tell_a_language_better(example, shared):
    found = example("language").table(shared("language_id/language_id.csv.gz"), every=16)
    assert found["sentence"] > found["word pair"] > found["word"] > 0.5
    assert found["first 8 words"] > found["first 2 words"] > found["first 1 word"]


def test_spam_is_told_and_a_third_answer_is_unsure(shared):
    with gzip.open(shared("sms_spam/sms_spam.csv.gz"), "rt", newline="") as file:
        rows = list(DictReader(file))
    texts, labels = [row["text"] for row in rows], np.array([row["label"] for row in rows])
    new = np.arange(len(rows)) % 5 == 0
    train = [text for text, held in zip(texts, new, strict=True) if not held]
    test = [text for text, held in zip(texts, new, strict=True) if held]
    model = TextClassifier().fit(train, labels[~new])
    assert model.score(test, labels[new]) > 0.98
    answer = model.decide(test, costs={("ham", "spam"): 1000}, reject=0.1, rejected="unsure")
    assert set(answer) == {"ham", "spam", "unsure"}
    assert (answer[labels[new] == "ham"] == "spam").mean() <= 0.002
    X = TheirCounts().fit(train)
    theirs = MultinomialNB().fit(X.transform(train), labels[~new])
    ours = TextClassifier(counts=True, smoothing="even", alpha=1.0).fit(train, labels[~new])
    assert (ours.predict(test) == theirs.predict(X.transform(test))).all()


@pytest.fixture
def posts(shared):
    with lzma.open(shared("newsgroups20/newsgroups20_bydate.jsonl.xz"), "rt") as file:
        rows = [json.loads(line) for i, line in enumerate(file) if i % 8 == 0]
    return [row["text"] for row in rows], [row["label"] for row in rows]


def test_headers_are_what_stands_before_the_first_empty_line(posts):
    texts, _ = posts
    same = np.mean([without_headers(text) == text.partition("\n\n")[2] for text in texts])
    assert same > 0.97


def test_what_is_stripped_leaves_about_what_scikit_learn_leaves(posts):
    from sklearn.datasets import _twenty_newsgroups as theirs

    texts, _ = posts
    mine = [stripped(text, ("headers", "quotes", "footers")) for text in texts]
    other = [
        theirs.strip_newsgroup_footer(theirs.strip_newsgroup_quoting(theirs.strip_newsgroup_header(text)))
        for text in texts
    ]
    size = sum(map(len, other))
    assert 0.85 < sum(map(len, mine)) / size < 1.15
    words = [[set(text.split()) for text in part] for part in (mine, other)]
    shared_words = [len(a & b) / max(1, len(a | b)) for a, b in zip(*words, strict=True)]
    assert np.mean(shared_words) > 0.9


def test_the_groups_words_come_first(posts):
    texts, labels = posts
    model = TextClassifier(counts=True, strip="all", stop_words="english").fit(texts, labels)
    top = {label: [word for word, _ in words] for label, words in model.top_words(5).items()}
    named = {"rec.autos": "car", "sci.space": "space", "talk.politics.guns": "gun", "rec.motorcycles": "bike"}
    assert all(word in top[label] for label, word in named.items())
