"""The words of the source, the benchmarks, the examples and the pages: those of the field, not metaphors.

Identifiers, docstrings, comments, messages and help texts are searched for words that stand for a thing which has a
name of its own (`told` for *printed* or *reported*, `gone` for *missing*, `strange` for *unknown*). Python files are
split into tokens: names are split at underscores and capitals, strings and comments into words.
"""

import io
import re
import tokenize
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
WITHDRAWN = {
    "tell": ("tell", "tells", "told", "telling"),
    "said": ("said", "unsaid"),
    "gone": ("gone",),
    "strange": ("strange", "strangely", "stranger", "strangers"),
    "anew": ("anew",),
    "honest": ("honest", "honestly", "honesty"),
    "hear": ("hear", "hears", "heard", "hearing", "unheard"),
    "speak": ("speak", "speaks", "spoke", "spoken", "speaking", "loud", "loudest", "loudly"),
    "door": ("door", "doors"),
    "twin": ("twin", "twins"),
    "cure": ("cure", "cures", "cured"),
    "beside": ("beside", "besides"),
    "whatever": ("whatever",),
    "rival": ("rival", "rivals", "contestant", "contestants"),
}
KEYS = {form: key for key, forms in WITHDRAWN.items() for form in forms}
SEARCHED = ("src/deciban", "bench", "examples", "docs")

# (file, word): why it may stay.
ALLOWED: dict[tuple[str, str], str] = {
    ("bench/libraries/naive_bayes.py", "beside"): "the text of the file is part of the key of cached results",
    ("bench/libraries/naive_bayes_binned.py", "rival"): "the text of the file is part of the key of cached results",
    ("bench/coverage.py", "rival"): "the public attribute of explanations",
    ("src/deciban/explain/explanation.py", "rival"): "a public attribute: the class that a class is explained against",
    ("src/deciban/mail/strip.py", "said"): "a pattern of mail: `… said:` introduces a quotation",
}

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def split_words(text: str) -> list[str]:
    """The words of a text or an identifier, in lower case."""
    return [word.lower() for word in WORD.findall(text)]


def withdrawn_words(path: Path) -> list[tuple[int, str]]:
    """(line, word) of each withdrawn word of a file."""
    text = path.read_text()
    if not KEYS.keys() & set(split_words(text)):  # most files: no need to look at each token
        return []
    out = []
    if path.suffix == ".py":
        kinds = {tokenize.NAME, tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
        pieces = [
            (token.start[0], token.string)
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type in kinds
        ]
    else:
        pieces = list(enumerate(text.splitlines(), 1))
    for first, piece in pieces:
        for line, content in enumerate(piece.splitlines(), first):
            out += [(line, word) for word in split_words(content) if word in KEYS]
    return out


@cache
def searched_files() -> list[Path]:
    found = [path for folder in SEARCHED for suffix in ("py", "md") for path in (ROOT / folder).rglob(f"*.{suffix}")]
    return sorted(found)


@cache
def all_found() -> dict[str, list[tuple[int, str]]]:
    """File → withdrawn words."""
    names = {str(path.relative_to(ROOT)): path for path in searched_files()}
    return {name: withdrawn_words(path) for name, path in names.items()}


@pytest.mark.parametrize("folder", SEARCHED)
def test_no_withdrawn_word_is_used(folder):
    wrong = [
        f"{name}:{line}: {word}"
        for name, words in all_found().items()
        for line, word in words
        if name.startswith(f"{folder}/") and (name, KEYS[word]) not in ALLOWED
    ]
    assert not wrong, "use the word of the field:\n" + "\n".join(wrong)


def test_no_file_is_named_by_a_withdrawn_word():
    names = [str(path.relative_to(ROOT)) for path in searched_files()]
    wrong = [name for name in names if KEYS.keys() & set(split_words(name))]
    assert not wrong


def test_every_exception_is_needed():
    found = {(name, KEYS[word]) for name, words in all_found().items() for _, word in words}
    assert not set(ALLOWED) - found


def test_the_search_finds_names_docstrings_messages_and_comments(tmp_path):
    path = tmp_path / "sample.py"
    path.write_text(
        '"""Says what was\ntold."""\n\n\ndef rows_gone(isStrange):\n'
        '    raise ValueError(f"{isStrange} anew")  # the cure\n\n\nnothing = "doorstep, retold, insaid"\n'
    )
    assert withdrawn_words(path) == [(2, "told"), (5, "gone"), (5, "strange"), (6, "strange"), (6, "anew"), (6, "cure")]
