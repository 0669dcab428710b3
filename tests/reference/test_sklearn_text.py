"""Our vectorisers give scikit-learn's vocabulary and matrix, cell for cell, on random Unicode and on real texts."""

import json
import lzma
import re
import sys
from itertools import islice

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction import text as theirs

import deciban

from ..support.strategies import examples

SETTINGS = {
    "word": {},
    "word 1-2": {"ngram_range": (1, 2)},
    "word 2-3": {"ngram_range": (2, 3)},
    "char 1-3": {"analyzer": "char", "ngram_range": (1, 3)},
    "char_wb 2-4": {"analyzer": "char_wb", "ngram_range": (2, 4)},
    "char_wb 3-20": {"analyzer": "char_wb", "ngram_range": (3, 20)},
    "as it is": {"lowercase": False, "token_pattern": r"(?u)\b\w+\b"},
    "blanks": {"token_pattern": r"\S+"},
    "apostrophes": {"token_pattern": r"[\w'-]+", "ngram_range": (1, 2)},
    "letters": {"token_pattern": r"[a-z]{2,}"},
    "stops": {"stop_words": ["the", "st"], "ngram_range": (1, 3)},
    "accents": {"strip_accents": "unicode"},
    "ascii": {"strip_accents": "ascii", "analyzer": "char"},
    "often": {"min_df": 2, "max_df": 0.8},
    "some": {"max_features": 5, "dtype": np.float32},
    "binary": {"binary": True, "max_features": 7, "analyzer": "char"},
}
# Plain, accented, growing (İ), context-bound (Σ), caseless, joined by marks, beyond 16 bits, lone surrogates, blanks.
ODD = "aB_9 zZ'-.\n\t\x00\x1c\x85\xa0éÉßẞİıσςΣΑǅµÅÅ\u0301\u0307\u200d日本語кИא١²ⅷℌ𝔸𐐀😀👩🏽\ud800\udfff\u3000\u2028"
TEXTS = st.lists(st.text(st.one_of(st.sampled_from(ODD), st.characters()), max_size=40), min_size=1, max_size=8)


def assert_same(ours, rival):
    rival.sort_indices()  # after `fit_transform` theirs are not
    assert type(ours) is type(rival)
    assert (ours.shape, ours.dtype, ours.indices.dtype) == (rival.shape, rival.dtype, rival.indices.dtype)
    np.testing.assert_array_equal(ours.indptr, rival.indptr)
    np.testing.assert_array_equal(ours.indices, rival.indices)
    np.testing.assert_array_equal(ours.data, rival.data)


def compare(texts, options):
    rival, ours = theirs.CountVectorizer(**options), deciban.CountVectorizer(**options)
    try:
        expected = rival.fit_transform(texts)
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error)[:20])):
            ours.fit_transform(texts)
        return
    assert_same(ours.fit_transform(texts), expected)
    assert ours.get_feature_names_out().tolist() == rival.get_feature_names_out().tolist()
    assert ours.vocabulary_ == rival.vocabulary_
    assert_same(ours.transform(texts[::-1]), rival.transform(texts[::-1]))


@pytest.mark.parametrize("options", SETTINGS.values(), ids=SETTINGS)
@examples(25)
@given(texts=TEXTS)
def test_random_unicode_gives_the_same_vocabulary_and_matrix(options, texts):
    compare(texts, options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ngram_range": (1, 2), "norm": "l1"},
        {"ngram_range": (2, 3), "n_features": 7, "stop_words": ["ab"]},
        {"analyzer": "char_wb", "ngram_range": (2, 4), "norm": None, "alternate_sign": False},
        {"analyzer": "char", "binary": True, "dtype": np.float32, "n_features": 1},
        {"n_features": 50, "dtype": np.int32, "norm": None},
    ],
    ids=str,
)
@examples(25)
@given(texts=TEXTS)
def test_random_unicode_gives_the_same_hashes(options, texts):
    rival, ours = theirs.HashingVectorizer(**options), deciban.HashingVectorizer(**options)
    try:
        expected = rival.transform(texts)
    except UnicodeEncodeError:
        with pytest.raises(ValueError, match="surrogate"):
            ours.transform(texts)
        return
    assert_same(ours.transform(texts), expected)


@pytest.mark.parametrize(
    "options", [{"token_pattern": r"\w+"}, {"token_pattern": r"\S+"}, {"analyzer": "char"}], ids=str
)
def test_every_code_point_is_a_letter_a_blank_or_lower_cased_as_python_says(options):
    points = [*range(0x30000), *range(0xE0000, 0xE0200), *range(sys.maxunicode - 511, sys.maxunicode + 1)]
    compare([" ".join(map(chr, points[start : start + 512])) for start in range(0, len(points), 512)], options)


def read(path, part):
    if path.suffix == ".xz":
        with lzma.open(path, "rt") as lines:
            return [json.loads(line)["text"] for line in islice(lines, 0, 2000, 20)]
    return pd.read_csv(path, keep_default_na=False)["text"].tolist()[::part]


REAL = {
    "newsgroups20/newsgroups20_original.jsonl.xz": 1,
    "newsgroups20/newsgroups20_bydate.jsonl.xz": 1,
    "sms_spam/sms_spam.csv.gz": 5,
    "language_id/language_id.csv.gz": 200,
}


@pytest.mark.parametrize("name", REAL)
def test_real_texts_give_the_same_vocabulary_and_matrix(name, shared):
    texts = read(shared(name), REAL[name])
    for options in ("word", "word 1-2", "char 1-3", "char_wb 2-4"):
        compare(texts, SETTINGS[options])
    for options in ("word", "char_wb 2-4"):
        ours, rival = (library.HashingVectorizer(**SETTINGS[options]) for library in (deciban, theirs))
        assert_same(ours.transform(texts), rival.transform(texts))


def test_tfidf_is_the_same():
    texts = ["one two two", "two three", "Σίσυφος ΣΊΣΥΦΟΣ"]
    ours, rival = deciban.TfidfVectorizer(), theirs.TfidfVectorizer()
    np.testing.assert_allclose(ours.fit_transform(texts).toarray(), rival.fit_transform(texts).toarray(), rtol=1e-15)
    np.testing.assert_allclose(ours.transform(texts).toarray(), rival.transform(texts).toarray(), rtol=1e-15)
