"""Texts and mails: a test for every defect that users found there."""

import csv
import gzip
import io
import json
import lzma
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import deciban
from deciban import TextClassifier, spam
from deciban.cli import main
from deciban.errors import DataError

from ..support.data import shared_path


def sms() -> tuple[list[str], np.ndarray]:
    with gzip.open(shared_path("sms_spam/sms_spam.csv.gz"), "rt", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [row["text"] for row in rows], np.array([row["label"] for row in rows])


def lines_of(name: str) -> list[dict]:
    with lzma.open(shared_path(name), "rt") as file:
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


def test_b05_free_prize_is_spam():
    spam = TextClassifier().fit(*sms()).predict_proba(["free prize", "prize", "win a free prize now"])[:, 1]
    assert spam[0] > 0.9
    assert spam[1] > 0.75
    assert spam[2] > 0.98


def test_b05_messages_beat_scikit_learn_in_log_loss():
    assert_not_worse_than_scikit_learn(*train_test_split(*sms(), test_size=1 / 3, random_state=0))


def test_b05_film_reviews_and_pieces_of_them_beat_scikit_learn_in_log_loss():
    rows = lines_of("movie_polarity/movie_polarity.jsonl.xz")
    texts, labels = [row["text"] for row in rows], np.array([row["label"] for row in rows])
    train, test, y_train, y_test = train_test_split(texts, labels, test_size=1 / 3, random_state=0)
    ours = assert_not_worse_than_scikit_learn(train, test, y_train, y_test)
    pieces = [" ".join(text.split()[40:60]) for text in test]
    theirs = make_pipeline(CountVectorizer(), MultinomialNB()).fit(train, y_train)
    assert log_loss(ours, pieces, y_test) < log_loss(theirs, pieces, y_test)


def test_b05_subject_lines_beat_scikit_learn_in_log_loss():
    rows = lines_of("newsgroups20/newsgroups20_bydate.jsonl.xz")
    found = [re.search(r"(?m)^Subject:(.*)$", row["text"]) for row in rows]
    texts = np.array([one[1] if one else "" for one in found], dtype=object)
    labels, early = np.array([row["label"] for row in rows]), np.array([row["split"] == "train" for row in rows])
    assert_not_worse_than_scikit_learn(texts[early], texts[~early], labels[early], labels[~early])


def test_b05_what_was_chosen_is_exposed():
    texts, labels = ["win a prize", "win money", "lunch at noon", "see you at lunch"], ["spam", "spam", "ham", "ham"]
    model = TextClassifier().fit(texts, labels)
    names = ("alpha", "smoothing", "dependence", "spread")
    assert model.tuned_ == dict(
        zip(names, (model.alpha_, model.smoothing_, model.dependence_, model.spread_), strict=True)
    )
    assert f"alpha={model.alpha_:g}" in str(model.summary())
    plain = TextClassifier(alpha=0.5).fit(texts, labels)
    assert (plain.alpha_, plain.smoothing_, plain.dependence_, plain.spread_) == (0.5, "even", 0.0, 0.0)
    assert plain.tuned_ == {}


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
    assert plain.alpha_ == TextClassifier(priors="uniform").fit(texts, labels).alpha_
    for given in ("uniform", [0.5, 0.5], {"ham": 0.5, "spam": 0.5}):
        even = TextClassifier(priors=given).fit(texts, labels)
        np.testing.assert_allclose(even.predict_proba(["zzz"]), [[0.5, 0.5]])
        np.testing.assert_allclose(plain.predict_proba(["zzz"], priors=given), [[0.5, 0.5]])
        np.testing.assert_allclose(plain.decibans(["zzz"], priors=given), [[0, 0]], atol=1e-9)
        assert plain.predict(["zzz"], priors={"ham": 0.1, "spam": 0.9}).tolist() == ["spam"]
        assert plain.explain("win", priors=given).prior.tolist() == [0.0]
        plain.decide(["zzz"], priors=given, reject=0.1)
        np.testing.assert_allclose(even.class_prior_, [0.5, 0.5])
        left = plain.leave_one_out(texts, labels, priors=given)
        np.testing.assert_allclose(left, even.leave_one_out(texts, labels), rtol=1e-9)
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


# mails


def as_mail(text: str, number: int) -> bytes:
    subject = " ".join(text.split()[:4])
    return f"From: a@x.example\nSubject: {subject}\nMessage-ID: <{number}@x.example>\n\n{text}\n".encode()


@pytest.fixture
def mails(tmp_path):
    """A filter that knows 200 messages of each kind, and 100 more of each."""
    texts, labels = sms()
    some = {kind: [as_mail(texts[i], i) for i in np.flatnonzero(labels == kind)[:300]] for kind in ("ham", "spam")}
    state = tmp_path / "s.deciban"
    for kind, found in some.items():
        spam.update_file(state, found[:200], kind, spam.learn)
    return state, some


def test_issue_4_the_filter_is_a_regression_that_learning_does_not_solve(mails):
    state, some = mails
    model = deciban.load(state)
    assert model.model == "nb-logistic"
    assert model.class_count_.tolist() == [200, 200]
    assert not spam.weights_of(state).exists()
    answers = {kind: spam.check(state, found[200:]) for kind, found in some.items()}
    assert spam.weights_of(state).exists()
    assert not any(one["outcome"] == "spam" for one in answers["ham"])
    assert sum(one["outcome"] == "ham" for one in answers["spam"]) < 10
    right = [(one["spam"] > 0.5) == (kind == "spam") for kind, found in answers.items() for one in found]
    assert np.mean(right) > 0.93


def test_task_91_text_messages_as_mails(tmp_path):
    """Short messages are not all unsure: what is like no other message, as a telephone number, has a form."""
    texts, labels = sms()
    state, answers = tmp_path / "s.deciban", {}
    some = {kind: [as_mail(texts[i], i) for i in np.flatnonzero(labels == kind)[:600]] for kind in ("ham", "spam")}
    for kind, found in some.items():
        spam.update_file(state, found[:400], kind, spam.learn)
    for kind, found in some.items():
        told = [one["outcome"] for one in spam.check(state, found[400:])]
        answers[kind] = {outcome: told.count(outcome) for outcome in ("ham", "unsure", "spam")}
    assert answers["ham"]["spam"] == 0
    assert answers["ham"]["unsure"] < 20
    assert answers["spam"]["spam"] > 120
    assert answers["spam"]["ham"] < 5


def test_issue_4_unlearn_and_learn_is_the_same_file_and_the_same_answer(mails):
    state, some = mails
    first, before = spam.check(state, some["ham"][200:]), state.read_bytes()
    spam.update_file(state, some["spam"][:50], "spam", spam.unlearn)
    assert not spam.weights_of(state).exists()
    fewer = spam.check(state, some["ham"][200:])
    assert state.read_bytes() != before
    spam.update_file(state, some["spam"][:50], "spam", spam.learn)
    assert state.read_bytes() == before
    assert spam.check(state, some["ham"][200:]) == first != fewer


def test_issue_4_weights_of_another_state_or_damaged_ones_are_solved_for_again(mails):
    state, some = mails
    first = spam.check(state, some["ham"][200:])
    weights = spam.weights_of(state).read_bytes()
    for damaged in (b"", b"no weights", weights[:-100]):
        spam.weights_of(state).write_bytes(damaged)
        assert spam.check(state, some["ham"][200:]) == first
    spam.update_file(state, some["spam"][200:250], "spam", spam.learn)
    other = spam.check(state, some["ham"][200:])
    spam.weights_of(state).write_bytes(weights)
    assert spam.check(state, some["ham"][200:]) == other


def test_issue_4_filters_merge(mails, tmp_path):
    state, some = mails
    parts = tmp_path / "a.deciban", tmp_path / "b.deciban"
    for part, span in zip(parts, (slice(0, 120), slice(120, 200)), strict=True):
        for kind, found in some.items():
            spam.update_file(part, found[span], kind, spam.learn)
    deciban.save(deciban.merge(parts), tmp_path / "both.deciban")
    assert (tmp_path / "both.deciban").read_bytes() == state.read_bytes()


def test_issue_4_one_side_alone_is_unsure(tmp_path):
    state = tmp_path / "s.deciban"
    spam.update_file(state, [as_mail("win a prize now", 1), as_mail("win money now", 2)], "spam", spam.learn)
    assert [one["outcome"] for one in spam.check(state, [as_mail("win money", 3)])] == ["unsure"]


@dataclass
class Ended:
    returncode: int
    stdout: bytes
    stderr: bytes


@pytest.fixture
def run(monkeypatch, capfdbinary):
    """Runs a command in a folder with these bytes on standard input."""

    def command(line: str, stdin: bytes, folder: Path) -> Ended:
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as ended:
            main(shlex.split(line))
        return Ended(ended.value.code or 0, *capfdbinary.readouterr())

    return command


def test_b21_a_mail_comes_through_a_pipe(tmp_path, run):
    for number, text in enumerate(["win a prize now", "win money now"]):
        assert run("spam learn s.deciban - --as spam", as_mail(text, number), tmp_path).returncode == 0
    box = b"".join(b"From x\n" + as_mail(text, 10 + i) + b"\n" for i, text in enumerate(["lunch at noon", "noon then"]))
    learned = run("spam learn s.deciban - --as ham", box, tmp_path)
    assert learned.stdout == b"s.deciban: learned 2 as ham\n"
    checked = run("spam check s.deciban -", as_mail("win a lunch now", 20), tmp_path)
    assert checked.returncode == 0
    assert checked.stdout.startswith(b"unsure  P(spam) = 0.")
    assert b"  -  win a lunch now" in checked.stdout
    assert run("spam unlearn s.deciban - --as ham", box, tmp_path).returncode == 0
    assert run("spam check s.deciban - -", b"", tmp_path).returncode == 2


# one text on the command line


@pytest.fixture
def films(tmp_path, run):
    """A model of texts, made from a folder."""
    for kind, words in (("pos", "wonderful lovely film"), ("neg", "boring awful film")):
        (tmp_path / "t" / kind).mkdir(parents=True)
        for i in range(6):
            (tmp_path / "t" / kind / f"{i}").write_text(f"{words} {i}\n")
    assert run("fit t -o t.deciban -q", b"", tmp_path).returncode == 0
    return tmp_path


def test_b20_standard_input_is_one_text_a_line(films, run):
    told = run("predict t.deciban -", "a wonderful film\r\nboring, awful\n\nwünderful lovely".encode(), films)
    rows = list(csv.DictReader(told.stdout.decode().splitlines()))
    assert [row["text"] for row in rows] == ["a wonderful film", "boring, awful", "", "wünderful lovely"]
    assert [row["predicted"] for row in rows if row["text"]] == ["pos", "neg", "pos"]
    assert float(rows[2]["p_pos"]) == 0.5  # an empty line gets the prior


def test_b20_a_text_file_is_one_text(films, run):
    (films / "one.txt").write_text("a wonderful film\nwith a boring, lovely end; text\n")
    told = run("predict t.deciban one.txt --json", b"", films)
    (row,) = [json.loads(line) for line in told.stdout.splitlines()]
    assert (row["text"], row["predicted"]) == ("a wonderful film\nwith a boring, lovely end; text\n", "pos")
    why = run("explain t.deciban one.txt --json", b"", films)
    assert set(json.loads(why.stdout)[0]["columns"]) == {"wonderful", "film", "boring", "lovely"}
    piped = run("explain t.deciban - --row 1", b"boring\na wonderful film\n", films)
    assert piped.stdout.startswith(b"row 1: label = pos against neg")


def test_b20_a_table_through_a_pipe_is_still_a_table(films, run):
    told = run("predict t.deciban -", b"id,text\n7,a wonderful film\n", films)
    assert told.stdout.decode().splitlines()[1].startswith("7,a wonderful film,pos,")
    told = run("predict t.deciban -", b'{"text": "awful"}\n', films)
    assert b"neg" in told.stdout
    (films / "table.txt").write_text("text;label\nawful;pos\n")
    assert run("predict t.deciban table.txt", b"", films).stdout.decode().splitlines()[1].startswith("awful;pos;neg;")


# pictures, lectures, settings


def test_coverage_09_the_axis_of_top_words_is_named_after_the_measure():
    plots = pytest.importorskip("deciban.plots")
    model = TextClassifier().fit(["win a prize", "win money", "lunch at noon", "see you"], ["spam"] * 2 + ["ham"] * 2)
    names = {
        by: plots.top_words(model.top_words(3, by=by)["spam"]).get_xlabel() for by in ("kl", "log_odds", "evidence")
    }
    assert names["evidence"] == "decibans"
    assert "KL" in names["kl"]
    assert "log odds" in names["log_odds"]
    assert plots.top_words(["a", "b"], [1.0, 2.0]).get_xlabel() == "value"
    assert plots.top_words(["a", "b"], [1.0, 2.0], measure="tf-idf").get_xlabel() == "tf-idf"
    with pytest.raises(DataError, match=r"hint: .*top_words"):
        plots.top_words([1.0, 2.0])


SPAM_WORDS = ["b b b", "b b b c c c", "a a a d", "b a d b e d a b"]
HAM_WORDS = ["a a a a b b b", "a a c c c a a", "a d a a", "d e d"]


def test_coverage_12_the_eight_mails_of_the_lecture():
    """The lecture's settings give its numbers. By default eight mails do not say much, and counts of them say ham."""
    words = CountVectorizer(token_pattern=r"\w", stop_words=["d", "e"])
    texts, labels = SPAM_WORDS + HAM_WORDS, ["spam"] * 4 + ["ham"] * 4
    lecture = TextClassifier("multinomial", words, alpha=1, counts=True, smoothing="even").fit(texts, labels)
    np.testing.assert_allclose(lecture.likelihood_ratio(["a a a b"], "spam", "ham"), 5 / 16)
    assert 0.4 < TextClassifier(features=words).fit(texts, labels).predict_proba(["a a a b"])[0, 1] < 0.6
    assert TextClassifier(features=words, counts=True).fit(texts, labels).predict(["a a a b"]).tolist() == ["ham"]


def test_task_86_stop_words_and_ngrams():
    texts = ["das ist nicht gut", "das ist sehr gut"]
    model = TextClassifier(stop_words=["das", "ist"], ngram_range=(1, 2)).fit(texts, ["-", "+"])
    assert model.vocabulary_ == ["gut", "ist nicht", "ist sehr", "nicht", "nicht gut", "sehr", "sehr gut"]
    pairs = TextClassifier(features="words+bigrams").fit(texts, ["-", "+"])
    assert TextClassifier(ngram_range=(1, 2)).fit(texts, ["-", "+"]).vocabulary_ == pairs.vocabulary_
    for wrong in ((2, 1), (0, 1), (1,), (1.0, 2.0)):
        with pytest.raises(DataError, match=r"words\+bigrams"):
            TextClassifier(ngram_range=wrong).fit(texts, ["-", "+"])
    with pytest.raises(DataError, match="vectoriser"):
        TextClassifier(features=CountVectorizer(), ngram_range=(1, 2)).fit(texts, ["-", "+"])
    with pytest.raises(DataError, match="a list of the words"):
        TextClassifier(stop_words="german").fit(texts, ["-", "+"])


def test_task_88_words_against_a_class_are_not_among_its_strongest():
    model = TextClassifier().fit(
        ["lovely film", "lovely film", "awful film", "awful film"], ["pos", "pos", "neg", "neg"]
    )
    said = deciban.top_evidence(model)
    assert [one.column for one in said["pos"]] == ["lovely"]
    assert [one.column for one in said["neg"]] == ["awful"]


def test_task_91_messages_of_a_folder_are_called_by_their_files(tmp_path):
    for number in range(3):
        (tmp_path / "box").mkdir(exist_ok=True)
        (tmp_path / "box" / f"{number}.eml").write_bytes(b"Subject: Lunch %d\n\nat noon" % number)
    state = tmp_path / "f.deciban"
    spam.update_file(state, tmp_path / "box", "ham", spam.learn)
    told = spam.check(state, [str(tmp_path / "box"), b"Subject: x\n\n"])
    assert [one["source"] for one in told] == [*(str(tmp_path / "box" / f"{n}.eml") for n in range(3)), "-"]


def test_task_92_a_message_that_is_not_there(tmp_path, run):
    spam.update_file(tmp_path / "f.deciban", b"Subject: Lunch\n\nat noon", "ham", spam.learn)
    with pytest.raises(DataError, match=r"file or folder not found: 'no.eml'\n\nhint: a raw message is given as bytes"):
        spam.check(tmp_path / "f.deciban", ["no.eml"])
    told = run("spam check f.deciban no.eml", b"", tmp_path)
    assert told.returncode == 1
    assert b"file or folder not found: 'no.eml'\nhint: check the path; - is standard input" in told.stderr
