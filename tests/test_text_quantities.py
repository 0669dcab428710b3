"""Text classification under the lectures' names: priors, P(word | class), joint probabilities, tokens and top words."""

from pathlib import Path

import numpy as np
import pytest
from sklearn import naive_bayes as theirs
from sklearn.feature_extraction.text import CountVectorizer as TheirCounts

import deciban
from deciban import CountVectorizer, TextClassifier, datasets
from deciban.errors import DataError, ModelFileError

POSTS = Path(__file__).resolve().parents[2] / "shared" / "data" / "newsgroups20" / "newsgroups20_original.jsonl.xz"
TEXTS, LABELS = datasets.eight_mails()
LECTURE = {"token_pattern": r"\w", "stop_words": ["d", "e"], "alpha": 1, "smoothing": "even"}
QUERY = ["a a a b d"]  # counts (3, 1, 0)


def lecture(model="multinomial", **settings):
    return TextClassifier(model, **LECTURE | settings).fit(TEXTS, LABELS)


def probabilities(model):
    frame = model.word_probabilities()
    return {word: [float(frame[label][i]) for label in model.classes_] for i, word in enumerate(frame["word"])}


def test_the_prior_is_the_share_of_the_texts():
    model = TextClassifier().fit(["tea", "cake", "pie", "bun"], ["drink", "food", "food", "food"])
    np.testing.assert_allclose(model.class_prior_, [0.25, 0.75])
    np.testing.assert_allclose(lecture(priors={"spam": 1 / 3, "ham": 2 / 3}).class_prior_, [2 / 3, 1 / 3])


def test_word_probabilities_of_the_eight_mails():
    many = probabilities(lecture(counts=True))  # ham, spam
    assert list(many) == ["a", "b", "c"]
    np.testing.assert_allclose(list(many.values()), [[0.6, 0.3], [0.2, 0.5], [0.2, 0.2]])
    once = probabilities(lecture("bernoulli"))
    np.testing.assert_allclose(list(once.values()), [[4 / 6, 3 / 6], [2 / 6, 4 / 6], [2 / 6, 2 / 6]])


def test_word_probabilities_have_the_smoothing_of_the_model():
    model = TextClassifier(token_pattern=r"\w").fit(TEXTS, LABELS)
    assert model.smoothing_ in ("even", "corpus")
    np.testing.assert_allclose(np.sum(list(probabilities(model).values()), axis=0), [1, 1])


@pytest.mark.parametrize("name", ["complement", "logistic", "nb-logistic"])
def test_only_generative_models_have_probabilities_of_words(name):
    model = TextClassifier(name, token_pattern=r"\w").fit(TEXTS, LABELS)
    for act in (model.word_probabilities, lambda: model.predict_joint_log_proba(QUERY)):
        with pytest.raises(DataError, match=name):
            act()


def test_without_words_in_use_there_is_the_prior():
    model = TextClassifier(stop_words=["tea", "cake"], alpha=1).fit(["tea", "cake", "tea cake"], ["a", "b", "b"])
    assert list(model.word_probabilities()["word"]) == []
    np.testing.assert_allclose(np.exp(model.predict_joint_log_proba(["tea"])), [[1 / 3, 2 / 3]])


def test_a_class_named_word_has_no_frame():
    with pytest.raises(DataError, match="word"):
        TextClassifier().fit(["tea", "cake"], ["word", "food"]).word_probabilities()


def test_joint_probabilities_are_prior_times_product_over_positions():
    joint = np.exp(lecture(counts=True).predict_joint_log_proba(QUERY))  # ham, spam
    np.testing.assert_allclose(joint, [[0.5 * 0.6**3 * 0.2, 0.5 * 0.3**3 * 0.5]])
    given = np.exp(lecture(counts=True).predict_joint_log_proba(QUERY, priors={"spam": 1 / 3, "ham": 2 / 3}))
    np.testing.assert_allclose(given / joint, [[4 / 3, 2 / 3]])
    np.testing.assert_allclose(lecture(counts=True).likelihood_ratio(QUERY, "spam", "ham"), [5 / 16])


@pytest.mark.parametrize(
    ("model", "counts", "their"),
    [
        ("multinomial", True, theirs.MultinomialNB()),
        ("multinomial", False, theirs.MultinomialNB()),
        ("bernoulli", False, theirs.BernoulliNB()),
    ],
)
def test_joint_probabilities_are_those_of_scikit_learn(model, counts, their):
    vectoriser = TheirCounts(token_pattern=r"\w", binary=not counts)
    their.fit(vectoriser.fit_transform(TEXTS), LABELS)
    ours = TextClassifier(model, token_pattern=r"\w", counts=counts, alpha=1).fit(TEXTS, LABELS)
    new = ["a b c", "d e e e", "", "z"]
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(new), their.predict_joint_log_proba(vectoriser.transform(new))
    )


@pytest.mark.parametrize(
    "settings",
    [
        *({}, {"counts": True}, {"model": "bernoulli"}, {"smoothing": "corpus"}, {"calibrate": True}),
        *({"dependence": 0.2}, {"spread": 0.4}, {"dependence": 0.2, "spread": 0.4, "calibrate": True}),
    ],
    ids=str,
)
def test_the_joint_normalised_is_the_posterior(settings):
    texts, labels = TEXTS * 5, list(LABELS) * 5
    model = TextClassifier(**settings, token_pattern=r"\w").fit(texts, labels)
    joint = model.predict_joint_log_proba(TEXTS)
    np.testing.assert_allclose(
        joint - np.logaddexp.reduce(joint, axis=1, keepdims=True), model.predict_log_proba(TEXTS), atol=1e-9
    )


def test_the_token_pattern_is_that_of_the_vectoriser():
    assert lecture().vocabulary_ == ["a", "b", "c"]
    for pattern in (r"\w", r"\w+", r"(?u)\b\w{3,}\b", r"#(\w+)"):
        texts = ["win 5 #cash now", "see #you at 9"]
        ours = TextClassifier(token_pattern=pattern).fit(texts, ["spam", "ham"])
        assert ours.vocabulary_ == TheirCounts(token_pattern=pattern).fit(texts).get_feature_names_out().tolist()
    pairs = TextClassifier(features="words+bigrams", token_pattern=r"\w").fit(["a b"], ["x"])
    assert pairs.vocabulary_ == ["a", "a b", "b"]


def test_the_token_pattern_goes_through_files_and_sums(tmp_path):
    model = lecture(counts=True)
    deciban.save(model, tmp_path / "mails.deciban")
    back = deciban.load(tmp_path / "mails.deciban")
    assert back.token_pattern == r"\w"
    np.testing.assert_array_equal(back.predict_proba(QUERY), model.predict_proba(QUERY))
    half = [TextClassifier(**LECTURE, counts=True).fit(TEXTS[i::2], LABELS[i::2]) for i in (0, 1)]
    np.testing.assert_allclose((half[0] + half[1]).predict_proba(QUERY), model.predict_proba(QUERY))
    assert "token_pattern" in str(model)
    assert "a" in str(model.explain(QUERY))


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"features": "chars", "token_pattern": r"\w"}, "chars"),
        ({"features": CountVectorizer(), "token_pattern": r"\w"}, "vectoriser"),
        ({"token_pattern": "(a"}, "regular expression"),
        ({"token_pattern": "(a)(b)"}, "groups"),
    ],
)
def test_patterns_that_cannot_be_are_named(settings, named):
    with pytest.raises(DataError, match=named):
        TextClassifier(**settings).fit(TEXTS, LABELS)


@pytest.mark.parametrize("by", ["kl", "log_odds", "evidence"])
def test_top_words_as_a_frame_have_score_and_theta(by):
    model = lecture(counts=True)
    top = model.top_words(2, by=by)
    frame = top.to_frame()
    assert list(frame) == ["class", "word", "score", "theta"]
    assert list(frame["class"]) == ["ham", "ham", "spam", "spam"]
    assert [*zip(frame["word"], frame["score"], strict=True)] == [*top["ham"], *top["spam"]]
    theta = probabilities(model)
    column = {"ham": 0, "spam": 1}
    for label, word, value in zip(frame["class"], frame["word"], frame["theta"], strict=True):
        assert value == pytest.approx(theta[word][column[label]])  # alpha = 1: the pseudo-count of the measures


def test_the_score_is_theta_times_the_log_ratio():
    frame = lecture(counts=True).top_words(1).to_frame()
    assert list(frame["word"]) == ["a", "b"]
    np.testing.assert_allclose(list(frame["score"]), [0.6 * np.log(0.6 / 0.3), 0.5 * np.log(0.5 / 0.2)])


def test_group_headers_are_stripped_alone():
    post = "Path: a!b\nNewsgroups: rec.tea,\n rec.cake\nSubject: milk\n\nOrganization: none.\n"
    fitted = TextClassifier(strip=("group headers",)).fit([post, "Newsgroups: sci.cake\n\nflour"], ["tea", "cake"])
    assert fitted.vocabulary_ == ["flour", "milk", "none", "organization", "subject"]
    mbox = TextClassifier(strip="group headers").fit(["From ann Mon\nXref: x\nSubject: y", "Path: z"], ["a", "b"])
    assert mbox.vocabulary_ == ["ann", "from", "mon", "subject"]
    both = TextClassifier(strip=("headers", "group headers")).fit([post, "flour"], ["tea", "cake"])
    assert both.vocabulary_ == ["flour", "none", "organization"]


# what the scores of a text are divided by


def grouped_texts(n=300, k=10, seed=0):
    """Texts of k classes, each with its own distribution of words and with variants of each word: the words of a text
    depend on each other."""
    rng = np.random.default_rng(seed)
    y, odds = rng.integers(k, size=n), rng.dirichlet(np.ones(60), size=k)
    drawn = [rng.choice(60, rng.integers(1, 30), p=rng.dirichlet(3 * odds[c] + 0.001)) for c in y]
    texts = [" ".join(f"w{j}{v}" for j in words for v in "abcdefghijklmnop"[: rng.integers(1, 17)]) for words in drawn]
    return texts, [f"c{c}" for c in y]


def test_the_spread_divides_the_scores():
    texts, labels = grouped_texts()
    plain = TextClassifier(alpha=1, priors="uniform").fit(texts, labels)
    scores = plain.predict_log_proba(texts[:50])
    divided = scores / (0.5 * (0.4 + scores.std(axis=1, keepdims=True)))
    both = plain.set_params(spread=0.5).predict_log_proba(texts[:50])
    np.testing.assert_allclose(both, divided - np.logaddexp.reduce(divided, axis=1, keepdims=True), atol=1e-9)
    assert (plain.dependence_, plain.spread_) == (0.0, 0.5)
    effect = 1 + 0.1 * (np.array([len(set(text.split())) for text in texts[:50]]) - 1)[:, None]
    divided = scores / (0.5 * (0.4 * effect + scores.std(axis=1, keepdims=True)))
    both = plain.set_params(dependence=0.1).predict_log_proba(texts[:50])
    np.testing.assert_allclose(both, divided - np.logaddexp.reduce(divided, axis=1, keepdims=True), atol=1e-9)


def test_the_spread_is_chosen_for_many_classes_and_not_for_two():
    texts, labels = grouped_texts()
    model = TextClassifier().fit(texts, labels)
    assert (model.dependence_, model.spread_ > 0) == (0.0, True)
    assert f"spread={model.spread_:g}, chosen by held-out texts" in str(model.summary())
    assert all(two.spread_ == 0 and "spread" in two.tuned_ for two in model.one_vs_rest().values())
    for given in ({"dependence": 0.1}, {"spread": 0.3}):
        model = TextClassifier(**given).fit(texts, labels)
        assert set(model.tuned_) == {"alpha", "smoothing"}
        assert {"dependence": model.dependence_, "spread": model.spread_} == {"dependence": 0.0, "spread": 0.0} | given


def test_a_chosen_spread_is_that_of_one_fit_in_all_uses(tmp_path):
    texts, labels = grouped_texts()
    whole = TextClassifier().fit(texts, labels)
    assert whole.spread_ > 0
    path = tmp_path / "groups.deciban"
    deciban.save(whole, path)
    one, two = (TextClassifier().fit(texts[i::2], labels[i::2]) for i in (0, 1))
    more = TextClassifier().fit(texts[:100], labels[:100]).partial_fit(texts[100:], labels[100:])
    less = TextClassifier().fit([*texts, "w1a w2b"], [*labels, "c1"]).forget(["w1a w2b"], ["c1"])
    for model in (one + two, more, less, deciban.load(path)):
        assert model.tuned_ == whole.tuned_
        np.testing.assert_array_equal(model.predict_log_proba(texts), whole.predict_log_proba(texts))
    left = whole.leave_one_out(texts[:3], labels[:3])
    for i in range(3):
        rest = TextClassifier().fit(texts[:i] + texts[i + 1 :], labels[:i] + labels[i + 1 :])
        rest.set_params(**whole.tuned_)
        np.testing.assert_allclose(left[i], rest.predict_log_proba([texts[i]])[0], atol=1e-9)


@pytest.mark.parametrize("spread", [-0.1, float("nan"), "0.4", None, 1])
def test_a_file_with_another_spread_is_refused(spread):
    model = TextClassifier().fit(*grouped_texts())
    model._picked = model.tuned_ | {"spread": spread}
    with pytest.raises(ModelFileError, match="tuned_"):
        deciban.loads(deciban.dumps(model))


@pytest.mark.parametrize("settings", [{}, {"spread": 0.4, "dependence": 0.1}, {"model": "complement", "spread": 0.4}])
def test_words_and_prior_add_up_to_the_log_odds_with_a_spread(settings):
    texts, labels = grouped_texts()
    model = TextClassifier(**settings).fit(texts, labels)
    assert model.spread_ > 0
    asked = [texts[0], "w1a", "unknown", ""]
    found = model.explain(asked, of="c1", against="c2")
    total = found.base + found.parts.sum(axis=2)
    np.testing.assert_allclose(total[:, 1] - total[:, 2], model.log_odds(asked, against="c2")[:, 1], atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(["unknown", ""]), [model.class_prior_] * 2)


def test_the_lectures_settings_are_not_divided():
    texts, labels = grouped_texts()
    fixed = TextClassifier(counts=True, smoothing="even", alpha=1).fit(texts, labels)
    assert (fixed.dependence_, fixed.spread_, fixed.tuned_) == (0.0, 0.0, {})


@pytest.mark.parametrize("model", ["bernoulli", "logistic"])
def test_a_spread_that_is_not_used_is_named(model):
    with pytest.raises(DataError, match="spread"):
        TextClassifier(model, spread=0.4).fit(["tea", "cake"], ["a", "b"])


def accuracy(texts, groups, settings, splits=3):
    """Mean over splits with a third held out."""
    found = []
    for seed in range(splits):
        order = np.random.default_rng(seed).permutation(len(texts))
        new, known = order[: len(texts) // 3], order[len(texts) // 3 :]
        model = TextClassifier(**settings).fit([texts[i] for i in known], groups[known])
        found.append(model.score([texts[i] for i in new], groups[new]))
    return np.mean(found)


@pytest.fixture(scope="module")
def posts():
    if not POSTS.exists():
        pytest.skip("needs shared/data")
    return datasets.load_20newsgroups(POSTS, remove="group headers")


def test_naive_bayes_reaches_the_lecture_on_newsgroups(posts):
    """The lecture has 89 %."""
    assert accuracy(*posts, {"alpha": 1, "smoothing": "corpus"}) > 0.89
    assert accuracy(*posts, {}) > 0.885


def test_the_lectures_words_of_newsgroups(posts):
    """Table 3.1 with `bench.top_words`' settings: 18 of 20 words are first or second of their group."""
    words = "atheism jpeg windows scsi mac window sale car bike baseball hockey clipper circuit patients space god gun "
    words += "armenian stephanopoulos god"
    model = TextClassifier(counts=True, alpha=1, strip="all", stop_words="english", min_df=50, max_df=0.3).fit(*posts)
    top = model.top_words(2)
    assert sum(word in dict(top[group]) for group, word in zip(sorted(top), words.split(), strict=True)) >= 18
