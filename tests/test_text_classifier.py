"""TextClassifier: equal to scikit-learn's naive Bayes where it should be, exact in learning and forgetting, plain about
what it cannot do."""

import copy
import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer as TheirCounts
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

import deciban
from deciban import CountVectorizer, HashingVectorizer, TextClassifier, TfidfVectorizer, ops
from deciban.errors import DataError, ForgetError, MergeError, ModelFileError, NotAdditiveError

WORDS = [
    "tea",
    "milk",
    "cake",
    "chair",
    "lamp",
    "rain",
    "sun",
    "the",
    "and",
    "of",
    "Straße",
    "naïve",
    "東京",
    "ab",
    "c3",
]
NAIVE = ["multinomial", "bernoulli", "complement"]
MODELS = [*NAIVE, "logistic", "nb-logistic"]


def some_texts(n=60, seed=0, labels=("a", "b", "c")):
    rng = np.random.default_rng(seed)
    y = rng.integers(len(labels), size=n)
    chance = rng.dirichlet(np.full(len(WORDS), 0.5), size=len(labels))
    texts = [" ".join(rng.choice(WORDS, size=rng.integers(1, 12), p=chance[c])) for c in y]
    return texts, [labels[c] for c in y]


TEXTS, LABELS = some_texts()


def file_of(model, tmp_path, name="model"):
    path = tmp_path / f"{name}.deciban"
    deciban.save(model, path)
    return path.read_bytes()


# the numbers


@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize("alpha", [0.1, 1.0])
def test_even_smoothing_gives_the_numbers_of_scikit_learn(alpha, counts):
    X = TheirCounts(binary=not counts).fit(TEXTS)
    theirs = MultinomialNB(alpha=alpha).fit(X.transform(TEXTS), LABELS)
    ours = TextClassifier(alpha=alpha, smoothing="even", counts=counts).fit(TEXTS, LABELS)
    np.testing.assert_allclose(ours.predict_log_proba(TEXTS), theirs.predict_log_proba(X.transform(TEXTS)), atol=1e-10)


def test_bernoulli_gives_the_numbers_of_scikit_learn():
    X = TheirCounts().fit(TEXTS)
    theirs = BernoulliNB(alpha=0.3).fit(X.transform(TEXTS), LABELS)
    ours = TextClassifier("bernoulli", alpha=0.3).fit(TEXTS, LABELS)
    np.testing.assert_allclose(ours.predict_log_proba(TEXTS), theirs.predict_log_proba(X.transform(TEXTS)), atol=1e-10)


def test_complement_gives_the_labels_of_scikit_learn():
    X = TheirCounts().fit(TEXTS)
    theirs = ComplementNB(alpha=0.7).fit(X.transform(TEXTS), LABELS)
    ours = TextClassifier("complement", alpha=0.7, counts=True).fit(TEXTS, LABELS)
    np.testing.assert_allclose(ours.predict_log_proba(TEXTS), theirs.predict_log_proba(X.transform(TEXTS)), atol=1e-10)


def test_corpus_smoothing_is_its_formula():
    X = TheirCounts(binary=True).fit_transform(TEXTS).toarray().astype(float)
    classes, y = np.unique(LABELS, return_inverse=True)
    v = np.array([X[y == c].sum(axis=0) for c in range(len(classes))])
    theta = v + 0.5 * v.sum(axis=0)
    theta /= theta.sum(axis=1, keepdims=True)
    joint = X @ np.log(theta).T + np.log(np.bincount(y) / len(y))
    ours = TextClassifier(alpha=0.5, smoothing="corpus").fit(TEXTS, LABELS)
    np.testing.assert_allclose(
        ours.predict_log_proba(TEXTS), joint - logsumexp(joint, axis=1, keepdims=True), atol=1e-10
    )


@pytest.mark.parametrize("features", ["words", "words+bigrams", "chars"])
def test_features_are_those_of_a_vectoriser(features):
    settings = {
        "words": {},
        "words+bigrams": {"ngram_range": (1, 2)},
        "chars": {"analyzer": "char_wb", "ngram_range": (1, 5)},
    }
    names = TheirCounts(**settings[features]).fit(TEXTS).get_feature_names_out().tolist()
    assert TextClassifier(features=features).fit(TEXTS, LABELS).vocabulary_ == names


@pytest.mark.parametrize("model", MODELS)
def test_the_python_path_says_the_same(model):
    """A tokeniser of one's own is not compiled; neither is anything under the specification."""
    fast = TextClassifier(model).fit(TEXTS, LABELS)
    slow = TextClassifier(
        model, TheirCounts(tokenizer=lambda text: TheirCounts().build_tokenizer()(text), token_pattern=None)
    )
    slow.fit(TEXTS, LABELS)
    np.testing.assert_allclose(fast.predict_log_proba(TEXTS), slow.predict_log_proba(TEXTS), atol=1e-6)
    with ops.specification():
        spec = TextClassifier(model).fit(TEXTS, LABELS).predict_log_proba(TEXTS)
    np.testing.assert_allclose(spec, fast.predict_log_proba(TEXTS), atol=1e-6)


def test_one_message_is_as_many():
    model = TextClassifier().fit(TEXTS, LABELS)
    alone = np.vstack([model.predict_proba([text]) for text in TEXTS])
    np.testing.assert_array_equal(alone, model.predict_proba(TEXTS))
    np.testing.assert_array_equal(alone, model.predict_proba(tuple(TEXTS)))
    np.testing.assert_array_equal(alone, model.predict_proba(np.array(TEXTS, dtype=object)))
    np.testing.assert_array_equal(alone, model.predict_proba(iter(TEXTS)))


def test_unknown_words_leave_the_prior():
    model = TextClassifier().fit(TEXTS, LABELS)
    share = np.bincount(np.unique(LABELS, return_inverse=True)[1]) / len(LABELS)
    np.testing.assert_allclose(model.predict_proba(["zzz qqq", ""]), [share, share])
    np.testing.assert_allclose(model.predict_proba(["zzz"], priors=[0.2, 0.3, 0.5]), [[0.2, 0.3, 0.5]])


def test_limits_and_stop_words_are_a_view():
    X = TheirCounts(min_df=3, max_df=0.5).fit(TEXTS)
    model = TextClassifier(min_df=3, max_df=0.5).fit(TEXTS, LABELS)
    assert model.vocabulary_ == X.get_feature_names_out().tolist()
    model.set_params(min_df=1, max_df=1.0, stop_words=["the", "and", "of"])
    assert model.vocabulary_ == TheirCounts(stop_words=["the", "and", "of"]).fit(TEXTS).get_feature_names_out().tolist()


@pytest.mark.parametrize("min_df", [1, 2, 4])
@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize("model", NAIVE)
@pytest.mark.parametrize("smoothing", ["corpus", "even"])
def test_leave_one_out_is_fitting_without_each_text(model, counts, smoothing, min_df):
    texts, labels = some_texts(25, seed=3)
    texts += ["quite alone", "tea quite"]
    labels += ["a", "b"]
    one = TextClassifier(model, alpha=0.4, counts=counts, smoothing=smoothing, min_df=min_df)
    left = one.fit(texts, labels).leave_one_out(texts, labels)
    for i in range(len(texts)):
        others = clone(one).fit(texts[:i] + texts[i + 1 :], labels[:i] + labels[i + 1 :])
        np.testing.assert_allclose(left[i], others.predict_log_proba([texts[i]])[0], atol=1e-9)


def test_auto_takes_an_alpha_of_the_grid_and_calibration_tempers():
    model = TextClassifier(alpha="auto", calibrate=True).fit(TEXTS, LABELS)
    assert 0.001 <= model.tuned_["alpha"] <= 10
    np.testing.assert_allclose(model.predict_proba(TEXTS).sum(axis=1), 1.0)


@pytest.mark.parametrize("model", ["logistic", "nb-logistic"])
def test_logistic_models_tell_the_classes_apart(model):
    texts, labels = some_texts(200, seed=5)
    fitted = TextClassifier(model).fit(texts, labels)
    assert fitted.score(texts, labels) > 0.8
    shifted = fitted.predict_proba(["zzz"], priors=[1 / 3] * 3)
    assert np.isfinite(shifted).all()


# learning, forgetting, adding


@pytest.mark.parametrize("model", NAIVE)
@pytest.mark.parametrize("features", ["words", "words+bigrams", "chars"])
def test_parts_add_up_to_the_whole(model, features, tmp_path):
    whole = TextClassifier(model, features).fit(TEXTS, LABELS)
    parts = TextClassifier(model, features)
    for start in range(0, len(TEXTS), 7):
        parts.partial_fit(TEXTS[start : start + 7], LABELS[start : start + 7])
    halves = TextClassifier(model, features).fit(TEXTS[:31], LABELS[:31]) + TextClassifier(model, features).fit(
        TEXTS[31:], LABELS[31:]
    )
    assert file_of(whole, tmp_path) == file_of(parts, tmp_path) == file_of(halves, tmp_path)


def test_learn_then_forget_is_the_same_file(tmp_path):
    model = TextClassifier().fit(TEXTS, LABELS)
    before = file_of(model, tmp_path)
    new = ["neue Wörter, ganz neue", TEXTS[0], "", "tea tea tea"]
    model.partial_fit(new, ["a much longer label", "a", "b", "c"])
    assert file_of(model, tmp_path) != before
    assert len(model.classes_) == 4
    model.forget(new[::-1], ["c", "b", "a", "a much longer label"])
    assert file_of(model, tmp_path) == before
    assert model.classes_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("texts", "labels", "error"),
    [
        (["never seen"], ["a"], ForgetError),
        (["tea"] * 500, ["a"] * 500, ForgetError),
        ([TEXTS[0]], ["nobody"], DataError),
        (TEXTS, LABELS, DataError),
    ],
)
def test_what_was_never_learned_cannot_be_forgotten_and_changes_nothing(texts, labels, error, tmp_path):
    model = TextClassifier().fit(TEXTS, LABELS)
    before = file_of(model, tmp_path)
    with pytest.raises(error, match="hint"):
        model.forget(texts, labels)
    assert file_of(model, tmp_path) == before


def test_the_other_class_of_a_text_cannot_forget_it(tmp_path):
    model = TextClassifier().fit(["one two", "three"], ["a", "b"])
    before = file_of(model, tmp_path)
    with pytest.raises(ForgetError, match="one"):
        model.forget(["one two"], ["b"])
    assert file_of(model, tmp_path) == before


def test_sums_of_models_and_merging_files(tmp_path):
    models = [TextClassifier().fit([text], [label]) for text, label in zip(TEXTS[:9], LABELS[:9], strict=True)]
    whole = file_of(TextClassifier().fit(TEXTS[:9], LABELS[:9]), tmp_path)
    assert file_of(sum(models), tmp_path) == file_of(deciban.merge(models), tmp_path) == whole


def test_models_of_other_settings_do_not_add_up():
    with pytest.raises(MergeError, match="alpha"):
        TextClassifier(alpha=1.0).fit(["tea"], [1]) + TextClassifier(alpha=0.5).fit(["tea"], [1])


@pytest.mark.parametrize(
    "settings", [{"model": "logistic"}, {"model": "nb-logistic", "counts": True}, {"calibrate": True}, {"counts": True}]
)
def test_what_all_texts_decide_is_decided_by_those_that_are_there(settings):
    whole = TextClassifier(**settings).fit(TEXTS, LABELS)
    parts = TextClassifier(**settings).partial_fit(TEXTS[:20], LABELS[:20]).partial_fit(TEXTS[20:], LABELS[20:])
    more = TextClassifier(**settings).fit([*TEXTS, "tea lamp", TEXTS[0]], [*LABELS, "a", LABELS[0]])
    more.forget([TEXTS[0], "tea lamp"], [LABELS[0], "a"])
    halves = TextClassifier(**settings).fit(TEXTS[:31], LABELS[:31]) + TextClassifier(**settings).fit(
        TEXTS[31:], LABELS[31:]
    )
    for other in (parts, more, halves):
        np.testing.assert_array_equal(other.predict_proba(TEXTS), whole.predict_proba(TEXTS))
        assert other.tuned_ == whole.tuned_


def test_a_regression_leaves_out_no_text():
    with pytest.raises(NotAdditiveError, match="all texts at once"):
        TextClassifier("nb-logistic").fit(TEXTS, LABELS).leave_one_out(TEXTS, LABELS)


def test_one_against_the_rest_is_the_fit_on_two_classes():
    model = TextClassifier(alpha=0.5).fit(TEXTS, LABELS)
    for label, one in model.one_vs_rest().items():
        again = TextClassifier(alpha=0.5).fit(TEXTS, [other == label for other in LABELS])
        np.testing.assert_allclose(one.predict_proba(TEXTS), again.predict_proba(TEXTS), atol=1e-12)
        assert one.classes_.tolist() == [False, True]


# evidence


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("features", ["words", "words+bigrams", "chars"])
def test_words_sum_to_the_log_odds(model, features):
    fitted = TextClassifier(model, features, calibrate=model in NAIVE).fit(TEXTS, LABELS)
    why = fitted.explain(TEXTS[:5], of="a", against="b")
    np.testing.assert_allclose(why.total, fitted.decibans(TEXTS[:5], against="b")[:, 0], atol=1e-8)
    for row in range(5):
        shaded = sum(decibans for *_, decibans in why.spans(row))
        np.testing.assert_allclose(shaded, why.decibans[row].sum(), atol=1e-8)


def test_html_shades_the_words_and_escapes_the_text():
    model = TextClassifier().fit(["win money", "lunch noon"], ["spam", "ham"])
    html = model.explain("<b>Win</b> lunch & more")._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert html.count("<mark") == 2
    assert ">Win</mark>" in html


def test_top_words_by_kl_are_the_formula():
    model = TextClassifier(counts=True, smoothing="even", alpha=1.0).fit(TEXTS, LABELS)
    X = TheirCounts().fit(TEXTS)
    counts, names = X.transform(TEXTS).toarray(), X.get_feature_names_out()
    own = np.array(LABELS) == "b"
    theta = [(counts[mask].sum(axis=0) + 1) / (counts[mask].sum() + counts.shape[1]) for mask in (own, ~own)]
    kl = theta[0] * np.log(theta[0] / theta[1])
    best = np.argsort(-kl)[:4]
    assert [word for word, _ in model.top_words(4)["b"]] == names[best].tolist()
    np.testing.assert_allclose([v for _, v in model.top_words(4)["b"]], kl[best])


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("by", ["kl", "log_odds", "evidence"])
def test_top_words_are_words_of_the_class(model, by):
    fitted = TextClassifier(model).fit(["tea tea milk", "milk tea", "lamp chair", "chair lamp"], ["x", "x", "y", "y"])
    assert {word for word, _ in fitted.top_words(2, by=by)["y"]} == {"lamp", "chair"}


def test_decisions_take_costs_and_may_be_refused():
    model = TextClassifier().fit(["win money", "lunch noon", "win prize", "noon tea"], ["spam", "ham"] * 2)
    assert model.decide(["win noon"], reject=0.1, rejected="unsure").tolist() == ["unsure"]
    assert model.decide(["win"], costs={("ham", "spam"): 1000}).tolist() == ["ham"]
    assert model.decide(["win"], priors=[0.99, 0.01]).tolist() == ["ham"]


def test_priors_of_texts_without_labels_and_likelihood_ratios():
    texts, labels = some_texts(300, seed=9, labels=("a", "b"))
    model = TextClassifier(counts=True).fit(texts, labels)
    mostly = [text for text, label in zip(texts, labels, strict=True) if label == "a" or len(text) % 7 == 0]
    priors, posterior = model.adapt_priors(mostly)
    assert priors[0] > 0.6
    assert posterior(mostly).shape == (len(mostly), 2)
    ratio = model.likelihood_ratio(texts[:3], "a", "b", log=True)
    odds = model.log_odds(texts[:3], against="b")[:, 0] - np.log(labels.count("a") / labels.count("b"))
    np.testing.assert_allclose(ratio, odds, atol=1e-10)


# the contract


def test_not_fitted_says_so():
    for ask in ("predict", "predict_proba", "explain", "decide", "decibans"):
        with pytest.raises(NotFittedError):
            getattr(TextClassifier(), ask)(["text"])
    with pytest.raises(NotFittedError):
        TextClassifier().top_words()


@pytest.mark.parametrize("model", MODELS)
def test_clones_pickles_copies_and_files(model, tmp_path):
    one = TextClassifier(model, CountVectorizer(ngram_range=(1, 2)), stop_words=["the"]).fit(TEXTS, LABELS)
    answer = one.predict_proba(TEXTS)
    assert clone(one).get_params()["model"] == model
    assert not hasattr(clone(one), "classes_")
    deciban.save(one, tmp_path / "one.deciban")
    for again in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one), deciban.load(tmp_path / "one.deciban")):
        np.testing.assert_array_equal(again.predict_proba(TEXTS), answer)


def test_a_loaded_model_goes_on_learning(tmp_path):
    deciban.save(TextClassifier().fit(TEXTS[:40], LABELS[:40]), tmp_path / "a.deciban")
    loaded = deciban.load(tmp_path / "a.deciban").partial_fit(TEXTS[40:], LABELS[40:])
    whole = TextClassifier().fit(TEXTS, LABELS)
    np.testing.assert_array_equal(loaded.predict_proba(TEXTS), whole.predict_proba(TEXTS))


@pytest.mark.parametrize("name", ["label", "start", "offsets", "count", "n"])
def test_a_file_with_other_numbers_is_refused(name, tmp_path):
    from dataclasses import replace

    model = TextClassifier().fit(TEXTS, LABELS)
    broken = getattr(model._words, name).copy()
    broken[-1] += 1000
    model._words = replace(model._words, **{name: -broken if name in ("count", "n") else broken})
    with pytest.raises(ModelFileError, match="its words"):
        deciban.save(model, tmp_path / "x.deciban")


@pytest.mark.parametrize(
    "vectorizer", [TfidfVectorizer(), HashingVectorizer(n_features=64, alternate_sign=False, norm=None)]
)
@pytest.mark.parametrize("model", MODELS)
def test_vectorisers_with_columns_of_their_own(vectorizer, model):
    one = TextClassifier(model, vectorizer).fit(TEXTS, LABELS)
    assert one.score(TEXTS, LABELS) > 0.6
    if model == "multinomial":
        one.partial_fit(TEXTS[:5], LABELS[:5]).forget(TEXTS[:5], LABELS[:5])
    assert len(one.explain(TEXTS[:2])) == 2


def test_strip_takes_headers_quotes_and_footers_away():
    post = "Subject: tea\nFrom: x@y.z\n\nBob writes:\n> rain\nmilk please\n\n--\ncake"
    assert TextClassifier(strip="all").fit([post, "lamp"], [0, 1]).vocabulary_ == ["lamp", "milk", "please"]
    assert "tea" in TextClassifier(strip=["quotes"]).fit([post, "lamp"], [0, 1]).vocabulary_


@pytest.mark.parametrize(
    ("texts", "labels", "what"),
    [
        ("one string", ["a"], "several are expected"),
        (["tea", None], ["a", "b"], "row 1"),
        (["tea", 3.5], ["a", "b"], "row 1"),
        ([], [], "no texts"),
        (["tea"], ["a", "b"], "1 texts and 2 labels"),
        (["a", "?!"], ["a", "b"], "no text has a word"),
        (["tea", "milk"], ["a", None], "label of text 1 is missing"),
    ],
)
def test_what_cannot_be_learned_says_why(texts, labels, what):
    with pytest.raises(DataError, match=what) as told:
        TextClassifier().fit(texts, labels)
    assert "hint: " in str(told.value)


def test_what_cannot_be_read_says_why():
    model = TextClassifier().fit(TEXTS, LABELS)
    for bad, what in (
        ("tea", "several are expected"),
        ([None], "not a text"),
        (["tea", 7], "row 1"),
        ([float("nan")], "nan"),
    ):
        with pytest.raises(DataError, match=what):
            model.predict_proba(bad)
    assert model.predict_proba([]).shape == (0, 3)


def test_only_stop_words_leave_the_prior():
    model = TextClassifier(stop_words="english").fit(["the of and", "and the", "of"], ["a", "a", "b"])
    np.testing.assert_allclose(model.predict_proba(["the and"]), [[2 / 3, 1 / 3]])


def test_one_class_is_certain_and_has_no_rival():
    model = TextClassifier().fit(["tea", "cake"], ["a", "a"])
    assert model.predict_proba(["tea"]).tolist() == [[1.0]]
    for act in (model.top_words, model.one_vs_rest, lambda: model.explain("tea")):
        with pytest.raises(DataError, match=r"one class|two classes"):
            act()
    with pytest.raises(DataError, match="two classes"):
        TextClassifier("logistic").fit(["tea", "cake"], ["a", "a"])


def test_a_failed_fit_leaves_the_model_as_it_was():
    model = TextClassifier().fit(TEXTS, LABELS)
    before = model.predict_proba(TEXTS)
    for act in (model.fit, model.partial_fit):
        with pytest.raises(DataError):
            act(["tea", None], ["a", "b"])
        np.testing.assert_array_equal(model.predict_proba(TEXTS), before)


def test_labels_of_any_kind():
    assert TextClassifier().fit(["tea", "cake"], [7, 3]).partial_fit(["lamp"], [5]).classes_.tolist() == [3, 5, 7]
    assert TextClassifier().fit(["tea", "cake"], [True, False]).predict(["tea"]).tolist() == [True]
    with pytest.raises(DataError, match="another type"):
        TextClassifier().fit(["tea", "cake"], [7, 3]).partial_fit(["lamp"], ["five"])


# texts elsewhere

ON_DATA = [
    TextClassifier(),
    TextClassifier(calibrate=True, counts=True),
    TextClassifier("complement", "chars", calibrate=True),
    TextClassifier("bernoulli", min_df=2, strip="all"),
    TextClassifier("nb-logistic"),
]


def in_uneven_batches(texts, labels):
    table = pa.table({"text": texts, "label": labels})
    borders = [0, 1, 1, 7, 30, 31, len(texts)]
    return pa.RecordBatchReader.from_batches(
        table.schema, [b for i, j in pairwise(borders) for b in table.slice(i, j - i).to_batches()]
    )


def in_dask_partitions(texts, labels):
    dd = pytest.importorskip("dask.dataframe", reason="pip install 'deciban[dask]'")
    return dd.from_pandas(pd.DataFrame({"text": texts, "label": labels}), npartitions=4)


@pytest.mark.parametrize(
    "data_of",
    [
        lambda texts, labels: pa.table({"text": texts, "label": labels}),
        in_uneven_batches,
        pytest.param(in_dask_partitions, marks=pytest.mark.dask),
    ],
    ids=["table", "uneven batches", "dask"],
)
@pytest.mark.parametrize("model", ON_DATA, ids=repr)
def test_texts_elsewhere_give_the_model_of_texts_in_memory(model, data_of, tmp_path):
    here = clone(model).fit(TEXTS, LABELS)
    there = clone(model).fit_on(data_of(TEXTS, LABELS))
    assert there.tuned_ == here.tuned_
    np.testing.assert_array_equal(there.predict_proba(TEXTS), here.predict_proba(TEXTS))
    for name in ("feature_names_in_", "target_name_"):
        del there.__dict__[name]
    assert file_of(there, tmp_path, "there") == file_of(here, tmp_path, "here")


def test_leaving_out_a_text_of_an_unknown_class_is_an_error():
    model = TextClassifier().fit(TEXTS, LABELS)
    with pytest.raises(DataError, match="zz"):
        model.leave_one_out(TEXTS[:2], ["a", "zz"])


@pytest.mark.parametrize("strip", [[["headers"]], [{}], ["headers", []], "tea"])
def test_unknown_parts_of_posts_are_refused(strip):
    with pytest.raises(DataError, match="strip"):
        TextClassifier(strip=strip).fit(["a lamp", "milk"], [0, 1])
