"""Vectorisers beyond scikit-learn's own tests: kinds of input, bad input, threads, growing, pickles."""

import io
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.feature_extraction import text as theirs

from deciban import CountVectorizer, HashingVectorizer, TfidfVectorizer, ops
from deciban.engines.threads import threads
from deciban.errors import DataError, NotAdditiveError
from deciban.text import analysis

TEXTS = ["The cat sat", "", "on the MAT, said Éva", "ΣΊΣΥΦΟΣ 日本語 naïve İ", "the " * 50 + "x" * 300]
KINDS = {
    "list": list,
    "tuple": tuple,
    "iterator": iter,
    "generator": lambda texts: (text for text in texts),
    "numpy objects": lambda texts: np.array(texts, dtype=object),
    "numpy texts": np.array,
    "pandas": pd.Series,
    "pandas objects": lambda texts: pd.Series(texts, dtype=object),
    "polars": pl.Series,
    "arrow": pa.array,
    "arrow long": lambda texts: pa.array(texts, pa.large_string()),
    "arrow views": lambda texts: pa.array(texts, pa.string_view()),
    "arrow chunks": lambda texts: pa.chunked_array([texts[:2], texts[2:]]),
    "arrow slice": lambda texts: pa.array(["no", *texts, "no"])[1:-1],
    "arrow dictionary": lambda texts: pa.array(texts).dictionary_encode().to_pylist(),
    "bytes": lambda texts: [text.encode() for text in texts],
    "mixed": lambda texts: [texts[0].encode(), *texts[1:]],
}
MODELS = [
    CountVectorizer(),
    CountVectorizer(ngram_range=(1, 2), strip_accents="unicode"),
    CountVectorizer(analyzer="char_wb", ngram_range=(2, 4)),
    HashingVectorizer(n_features=50),
]


def same(A, B):
    return A.shape == B.shape and (A != B).nnz == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_every_kind_of_input_gives_the_same(model, kind):
    expected = clone(model).fit_transform(TEXTS)
    ours = clone(model)
    assert same(ours.fit(KINDS[kind](TEXTS)).transform(KINDS[kind](TEXTS)), expected)


def test_files_are_read_one_after_the_other(tmp_path):
    names = []
    for i, text in enumerate(TEXTS):
        names.append(tmp_path / f"{i}.txt")
        names[-1].write_bytes(text.encode("utf-16"))
    expected = CountVectorizer().fit_transform(TEXTS)
    assert same(CountVectorizer(input="filename", encoding="utf-16").fit_transform(names), expected)
    files = (io.BytesIO(text.encode()) for text in TEXTS)
    assert same(CountVectorizer(input="file").fit_transform(files), expected)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_any_number_of_threads_gives_the_same_bits(model):
    rng = np.random.default_rng(0)
    words = np.array(["".join(map(chr, rng.integers(97, 123, size=rng.integers(1, 20)))) for _ in range(3000)])
    texts = [" ".join(rng.choice(words, size=40)) for _ in range(5000)]
    found = []
    for n in (1, 2, 5):
        with threads(n):
            ours = clone(model)
            X = ours.fit_transform(texts)
            found.append(
                (X.indptr.tobytes(), X.indices.tobytes(), X.data.tobytes(), str(vars(ours).get("vocabulary_")))
            )
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("bad", [None, 3, 2.5, ["a"], np.nan])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_what_is_no_text_is_named_by_its_row(model, bad):
    with pytest.raises(DataError, match="row 1500"):
        clone(model).fit_transform(["fine"] * 1500 + [bad, "fine"])


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_a_missing_text_in_a_column_is_named_by_its_row(kind):
    with pytest.raises(DataError, match="row 1"):
        CountVectorizer().fit(KINDS[kind](["fine", None, "fine"]))


@pytest.mark.parametrize("table", [pd.DataFrame({"a": TEXTS}), pl.DataFrame({"a": TEXTS}), np.array([TEXTS, TEXTS])])
def test_a_table_is_refused(table):
    with pytest.raises(DataError, match="column"):
        CountVectorizer().fit(table)


def test_bytes_that_are_no_text_follow_decode_error():
    texts = [b"good one", b"bad \xff\xfe one"]
    with pytest.raises(UnicodeDecodeError) as error:
        CountVectorizer().fit(texts)
    assert "row 1" in error.value.__notes__[0]
    assert same(
        CountVectorizer(decode_error="replace").fit_transform(texts),
        CountVectorizer().fit_transform(["good one", "bad one"]),
    )


def test_a_text_column_that_is_not_utf8_is_an_error_and_later_rows_are_read():
    buffers = [None, pa.array([0, 2, 5], pa.int32()).buffers()[1], pa.py_buffer(b"ok\xff\xfeq")]
    column = pa.Array.from_buffers(pa.string(), 2, buffers)
    with pytest.raises(DataError, match="row 1 is not UTF-8"):
        CountVectorizer().fit(column)


@pytest.mark.parametrize("texts", [[], [""], ["the", "and so"], ["! ?"]])
def test_no_words_at_all_is_an_error(texts):
    with pytest.raises(DataError, match="empty vocabulary"):
        CountVectorizer(stop_words="english").fit(texts)


def test_no_texts_cannot_be_hashed_and_count_as_no_rows():
    with pytest.raises(DataError, match="empty sequence"):
        HashingVectorizer().transform([])
    assert CountVectorizer(vocabulary=["a"]).transform([]).shape == (0, 1)


def test_a_failed_fit_changes_nothing_that_was_learned():
    count = CountVectorizer().fit(["so it goes"])
    with pytest.raises(DataError):
        count.fit(["fine", None])
    assert count.transform(["so"]).toarray().tolist() == [[0, 0, 1]]


def test_partial_fit_appends_new_words_and_keeps_the_old_columns():
    count = CountVectorizer().partial_fit(["dd bb"]).partial_fit(["bb aa"]).partial_fit(["?"]).partial_fit(["cc"])
    assert count.get_feature_names_out().tolist() == ["bb", "dd", "aa", "cc"]
    assert count.transform(["cc bb cc"]).toarray().tolist() == [[1, 0, 0, 2]]


def test_partial_fit_starts_where_fit_ended():
    count = CountVectorizer().fit(["bb"]).partial_fit(["aa"])
    assert count.vocabulary_ == {"bb": 0, "aa": 1}
    assert CountVectorizer(vocabulary=["aa"]).partial_fit(["bb"]).transform(["aa bb"]).toarray().tolist() == [[1]]
    with pytest.raises(NotAdditiveError):
        CountVectorizer(min_df=2).partial_fit(["aa"])
    with pytest.raises(NotAdditiveError):
        TfidfVectorizer().partial_fit(["aa"])


@pytest.mark.parametrize("model", [*MODELS, TfidfVectorizer()], ids=str)
def test_a_pickle_gives_the_same(model):
    ours = clone(model).fit(TEXTS)
    ours.transform(TEXTS)
    again = pickle.loads(pickle.dumps(ours))
    assert same(again.transform(TEXTS), ours.transform(TEXTS))


def test_a_changed_vocabulary_is_noticed():
    count = CountVectorizer().fit(["aa bb"])
    assert count.transform(["aa"]).shape == (1, 2)
    count.vocabulary_["cc"] = 2
    assert count.transform(["cc"]).toarray().tolist() == [[0, 0, 1]]
    count.vocabulary_ = {"bb": 0}
    assert count.transform(["bb cc"]).toarray().tolist() == [[1]]


def test_vocabulary_is_made_when_asked_for_and_is_a_dict():
    count = CountVectorizer().fit(["aa bb"])
    count.transform(["aa"])
    assert "vocabulary_" not in vars(count)
    assert type(count.vocabulary_) is dict
    assert count.vocabulary_ is count.vocabulary_


def test_a_vocabulary_of_any_order_keeps_its_columns():
    options = {"vocabulary": {"cat sat": 0, "the": 2, "cat": 1, "a b c": 3}, "ngram_range": (1, 2)}
    assert same(CountVectorizer(**options).transform(TEXTS), theirs.CountVectorizer(**options).transform(TEXTS))


@pytest.mark.parametrize(
    "options", [{"tokenizer": str.split, "token_pattern": None}, {"token_pattern": r"\d|\w+"}, {"analyzer": str.split}]
)
def test_what_the_reader_does_not_know_runs_in_python(options):
    ours = CountVectorizer(**options)
    assert analysis.analyzer_spec(ours) is None
    assert same(ours.fit_transform(TEXTS), theirs.CountVectorizer(**options).fit_transform(TEXTS))
    assert same(ours.transform(TEXTS), theirs.CountVectorizer(**options).fit_transform(TEXTS))
    ours.set_params(analyzer="word", tokenizer=None, token_pattern=r"\w+")
    assert same(ours.fit_transform(TEXTS), theirs.CountVectorizer(token_pattern=r"\w+").fit_transform(TEXTS))


def test_without_compiled_code_scikit_learn_does_it():
    expected = CountVectorizer().fit_transform(TEXTS)
    with ops.specification():
        assert same(CountVectorizer().fit_transform(TEXTS), expected)


PATTERNS = [
    r"\w+",
    r"(?u)\b\w\w+\b",
    r"\b\w{3,}",
    r"\S\S+",
    r"[^\s]+",
    r"[a-z]+",
    r"[\w'-]{2,}",
    r"[A-Za-z0-9_.@]+",
    r"[a-c-]+",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_known_patterns_find_what_re_finds(pattern):
    text = "It's a 'test' of a-b--c, d_e@f.g. Ünder\u00a0\x1cthe  naïve\u0301 x²1 -a-"
    count = CountVectorizer(token_pattern=pattern, lowercase=False)
    assert analysis.analyzer_spec(count) is not None
    assert set(count.fit([text]).vocabulary_) == set(re.findall(pattern, text))


UNKNOWN = [r"\b[a-z]+\b", r"\w*", r"\w", r"(\w+)", r"(?i)\w+", r"[^a]+", r"[\d]+", r"\w+|\S", r"\w{2,4}", r"[a b]+"]


@pytest.mark.parametrize("pattern", UNKNOWN)
def test_other_patterns_are_left_to_re(pattern):
    assert analysis.token_class(pattern) is None


def test_one_giant_text_is_counted():
    text = "the quick brown Fox " * 200_000
    X = CountVectorizer(ngram_range=(1, 2)).fit_transform([text, "fox"])
    assert X[0].toarray().tolist() == [[200_000, 200_000, 200_000, 199_999, 200_000, 200_000, 200_000, 200_000]]


GIANT = "text = ' '.join(f'w{i % 5000:04d}' for i in range(1_000_000))"  # 6 MB
MANY = "texts = [' '.join(f'w{i:06d}' for i in range(j, j + 500)) for j in range(0, 200_000, 500)]"  # 1.6 MB
MEASURED = {  # (what is made before, the call) → MB that it may need
    (GIANT, "CountVectorizer().fit_transform([text, 'w1'])"): 14,
    (GIANT, "TextClassifier().fit([text, 'w1'], [0, 1]).predict([text])"): 16,
    (MANY, "CountVectorizer().fit_transform(texts)"): 40,
    (MANY, "TextClassifier().fit(texts, [0, 1] * 200)"): 80,
    # what a giant text needed is not kept
    (
        f"{GIANT}; v = CountVectorizer().fit([text]); v.transform([text]); v.transform(['w1'])",
        "v.transform(['w1'])",
    ): 2,
}
CHILD = """
import os, re, sys
from pathlib import Path
from deciban import CountVectorizer, TextClassifier

def at(name):
    return int(re.search(name + r":\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

for made, call in zip(sys.argv[1::2], sys.argv[2::2]):
    if os.fork() == 0:  # each starts with the memory of none of the others
        CountVectorizer(ngram_range=(1, 2)).fit_transform(["ab cd"] * 4)
        TextClassifier().fit(["ab", "cd"], [0, 1])
        exec(made)
        Path("/proc/self/clear_refs").write_text("5")
        before = at("VmRSS")
        exec(call)
        print((at("VmHWM") - before) / 1024, flush=True)
        os._exit(0)
    os.wait()
"""


@pytest.fixture(scope="module")
def peaks() -> list[float]:
    """MB that each call adds to what is resident, at most; Linux tells."""
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("no /proc here")
    asked = [part for one in MEASURED for part in one]
    run = subprocess.run([sys.executable, "-c", CHILD, *asked], capture_output=True, text=True, check=True)
    return [float(line) for line in run.stdout.splitlines()]


@pytest.mark.parametrize("place", range(len(MEASURED)), ids=[call for _, call in MEASURED])
def test_giant_texts_and_vocabularies_need_little_more_than_themselves(place, peaks):
    assert peaks[place] < list(MEASURED.values())[place]
