"""A spam filter: learns and unlearns messages, and classifies them as ham, spam or "unsure".

The filter is a `TextClassifier("nb-logistic", min_df=2)`. Its file holds the counts of words by class, and each message
as a bag of words (four bytes and a count for each different word, without their order), which the regression needs.
Learning and unlearning are exact and do not fit the regression; the next `check` fits it, and caches its weights in
FILTER.weights. That file may be deleted at any time; it is rebuilt if it is missing or out of date.

In addition to its words, a message has tokens for the length of its numbers and for its signs, such as `number_11` or
`sign_exclamation_3`: a telephone number that no other message has is no evidence, its length is.

Each message adds one unique word, made of its Message-ID and content, so the tally contains the identity of what was
learned. Unlearning a message that was not learned, or with another label, would subtract a word that is not in the
tally, which is an error and changes nothing. Words that occur in one message only, such as these, are no evidence
(`min_df=2`).

Costs: ham classified as spam 100, spam let through 1, "unsure" 0.1:

    spam if 100 · P(ham) < 0.1,   ham if P(spam) < 0.1,   unsure otherwise

>>> import pathlib, tempfile
>>> state = pathlib.Path(tempfile.mkdtemp()) / "spam.deciban"
>>> update_file(state, [b"Subject: Lunch?\\n\\nat noon", b"Subject: Hi\\n\\nsee you at noon"], "ham", learn)
2
>>> update_file(state, b"Subject: Prize\\n\\nclaim your prize now", "spam", learn)
1
>>> classify(open_filter(state), ["noon"])[0]
['unsure']
>>> classify(open_filter(state), ["prize"])[1].round(2).tolist()  # in one message only: nearly the classes' frequencies
[0.35]
>>> update_file(state, b"Subject: Hi\\n\\nsee you at noon", "ham", unlearn)
1
"""

from __future__ import annotations

import re
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from deciban.classifiers.text import TextClassifier
from deciban.errors import DataError, ForgetError
from deciban.io import atomic
from deciban.mail.message import Message, files_of, read
from deciban.model_file import load, save

LABELS = ("ham", "spam")
COSTS, UNSURE = {("ham", "spam"): 100.0, ("spam", "ham"): 1.0}, 0.1
NAME = re.compile(r"\bid[0-9a-f]{32}\b")  # of a message, as a word
DIGITS, MOST_DIGITS = re.compile(r"\d+"), 12
SIGNS, MOST_SIGNS = re.compile(r"([^\w\s])\1*"), 3

Model = TextClassifier | None  # None: nothing was learned


def new() -> TextClassifier:
    """A filter that knows nothing.

    >>> new().model
    'nb-logistic'
    """
    return TextClassifier("nb-logistic", min_df=2)


def text_of(mail: Message) -> str:
    """The scored text: the text, and tokens for numbers and signs. Message ids are removed.

    >>> from deciban.mail.message import parse
    >>> text_of(parse(b"Subject: Hi\\n\\nYou there? Call 0123 456"))
    'number_3 number_4 sign_question subject_hi type_text_plain\\nYou there? Call 0123 456'
    """
    return " ".join([*_forms(f"{mail.subject}\n{mail.body}"), NAME.sub("", mail.text())])


def _forms(text: str) -> list[str]:
    """Tokens for the lengths of the numbers in a text, and for its signs, single or repeated.

    >>> _forms("£5 off!!! www.shop.example")
    ['number_1', 'sign_exclamation_3', 'sign_full_stop', 'sign_pound']
    """
    found = {f"number_{min(end - start, MOST_DIGITS)}" for start, end in map(re.Match.span, DIGITS.finditer(text))}
    runs = {one[:MOST_SIGNS] for one in map(re.Match.group, SIGNS.finditer(text))}
    found |= {f"sign_{_sign(run[0])}{f'_{len(run)}' if len(run) > 1 else ''}" for run in runs}
    return sorted(found)


@cache
def _sign(character: str) -> str:
    name = unicodedata.name(character, f"u{ord(character):x}").lower()
    return re.sub(r"\W+", "_", name.removesuffix(" sign").removesuffix(" mark"))


def _named_text_of(mail: Message) -> str:
    """The learned text: the scored text and the id of the message."""
    return f"id{mail.key} {text_of(mail)}"


def already_learned(model: Model, mails: Iterable[Message]) -> list[Message]:
    """The messages that were learned before, with any label.

    >>> from deciban.mail.message import parse
    >>> hello = parse(b"Subject: Hello\\n\\n")
    >>> already_learned(None, [hello]), already_learned(learn(None, [hello], "ham"), [hello]) == [hello]
    ([], True)
    """
    words = set() if model is None else set(model._words.terms.strings())
    return [mail for mail in mails if f"id{mail.key}" in words]


def learn(model: Model, mails: Iterable[Message], label: str) -> Model:
    """Learn messages, each once; a message that was learned before is an error.

    >>> from deciban.mail.message import parse
    >>> learn(None, [parse(b"Subject: Hello\\n\\n")], "ham").classes_.tolist()
    ['ham']
    """
    mails = _once_each(mails)
    again = already_learned(model, mails)
    if again:
        raise DataError(f"{_listed(again)} learned already\n\nhint: unlearn first, or pass --new to learn the others")
    if not mails:
        return model
    return (new() if model is None else model).partial_fit([*map(_named_text_of, mails)], [label] * len(mails))


def unlearn(model: Model, mails: Iterable[Message], label: str) -> Model:
    """Remove messages that were learned as `label`; None where no message is left.

    >>> from deciban.mail.message import parse
    >>> hello = parse(b"Subject: Hello\\n\\n")
    >>> unlearn(learn(None, [hello], "ham"), [hello], "ham") is None
    True
    """
    mails = _once_each(mails)
    unknown = set(mails) - set(already_learned(model, mails))
    if unknown:
        raise ForgetError(f"{_listed(unknown)} never learned\n\nhint: only learned messages can be unlearned")
    if model is None or not mails:
        return model
    if len(mails) == model.class_count_.sum() and model.classes_.tolist() == [label]:
        return None
    return model.forget([*map(_named_text_of, mails)], [label] * len(mails))


def _once_each(mails: Iterable[Message]) -> list[Message]:
    return list({mail.key: mail for mail in mails}.values())


def _listed(mails: Iterable[Message]) -> str:
    first, *more = mails
    return f"{first.subject or first.body[:40]!r}{f' and {len(more)} more were' if more else ' was'}"


def classify(model: Model, texts: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """(ham, unsure or spam; P(spam)) of each text. A filter that knows one side only is unsure.

    >>> classify(None, ["hello"])
    (['unsure'], array([0.5]))
    """
    if model is None or len(model.classes_) < 2:
        return ["unsure"] * len(texts), np.full(len(texts), 0.5)
    decided = model.decide(texts, costs=COSTS, reject=UNSURE, rejected="unsure")
    return decided.tolist(), model.predict_proba(texts)[:, model.classes_.tolist().index("spam")]


def open_filter(state: Path) -> Model:
    """The filter in a file; None where there is no file yet.

    >>> open_filter(Path("no-such-file.deciban")) is None
    True
    """
    if not state.exists():
        return None
    model = load(state)
    if not isinstance(model, TextClassifier) or not set(model.classes_.tolist()) <= set(LABELS):
        raise DataError(
            f"{state} holds a {type(model).__name__} of {model.classes_.tolist()[:5]}, which is not a spam filter\n\n"
            "hint: name another file; it is created when the first message is learned"
        )
    return model


def solved(state: Path) -> Model:
    """The filter in a file with the weights of its words, which are solved for, or were since it last learned.

    >>> import tempfile
    >>> state = Path(tempfile.mkdtemp()) / "spam.deciban"
    >>> update_file(state, b"Subject: Lunch\\n\\n", "ham", learn)
    1
    >>> update_file(state, b"Subject: Prize\\n\\n", "spam", learn)
    1
    >>> solved(state).predict_proba(["unknown"]).tolist(), weights_of(state).exists()
    ([[0.5, 0.5]], True)
    """
    version = atomic.Stamp.from_path(state)
    model = open_filter(state)
    if model is None or len(model.classes_) < 2 or model._is_trained:
        return model
    place, digest = weights_of(state), blake2b(state.read_bytes(), digest_size=16).digest()
    if atomic.Stamp.from_path(state) != version:  # another process has learned: the digest may not be that of the model
        return solved(state)
    if not model._set_trained_weights(_stored_weights(place, digest)):
        _store_weights(place, digest, model._trained_weights())
    return model


def weights_of(state: Path) -> Path:
    """Where a filter's weights are kept.

    >>> weights_of(Path("spam.deciban")).name
    'spam.deciban.weights'
    """
    return state.with_name(f"{state.name}.weights")


def _stored_weights(place: Path, digest: bytes) -> dict[str, np.ndarray] | None:
    """The cached weights; None where there are none for this state of the filter."""
    try:
        with np.load(BytesIO(place.read_bytes()), allow_pickle=False) as file:
            found = {name: file[name] for name in file.files}
    except (OSError, EOFError, ValueError, zipfile.BadZipFile):
        return None
    return found if found.pop("digest", np.array(b"")).tobytes() == digest else None


def _store_weights(place: Path, digest: bytes, weights: dict[str, np.ndarray]) -> None:
    with suppress(OSError):  # who may not write here solves again next time
        arrays: Any = {"digest": np.frombuffer(digest, dtype=np.uint8), **weights}
        atomic.atomic_write(place, lambda file: np.savez(file, **arrays))


def _kept(model: Model, state: Path) -> None:
    if model is None:
        state.unlink(missing_ok=True)
    else:
        save(model, state)
    with suppress(OSError):  # weights that stay are those of another digest
        weights_of(state).unlink()


def update_file(state: Path, sources: Any, label: str, how: Callable, only_new: bool = False) -> int:
    """Learn or unlearn (`how`: `learn`, `unlearn`) messages of sources (see `mail.messages`) in a file, all of them
    or, if one of them is an error, none; how many there were. `only_new` passes over those that are known. Processes
    that change the same file wait for each other.

    >>> import tempfile
    >>> state = Path(tempfile.mkdtemp()) / "spam.deciban"
    >>> update_file(state, b"Subject: Hello\\n\\n", "ham", learn), state.exists()
    (1, True)
    >>> update_file(state, b"Subject: Hello\\n\\n", "ham", unlearn), state.exists()
    (1, False)
    """
    mails = _once_each(read(sources))
    with atomic.file_lock(state):
        model = open_filter(state)
        if only_new:
            old = set(already_learned(model, mails))
            mails = [mail for mail in mails if mail not in old]
        _kept(how(model, mails, label), state)
    return len(mails)


def check(state: Path, sources: Sequence[Any]) -> list[dict[str, Any]]:
    """Of each message its source (of a folder, the file in it), subject, text, outcome and P(spam).

    >>> [one["outcome"] for one in check(Path("no-such-file.deciban"), [b"Subject: Hello\\n\\n"])]
    ['unsure']
    """
    model = solved(state)
    each = [one for source in sources for one in ([source] if isinstance(source, bytes) else files_of(Path(source)))]
    found = [("-" if isinstance(source, bytes) else str(source), mail) for source in each for mail in read(source)]
    texts = [text_of(mail) for _, mail in found]
    checked = zip(found, texts, *classify(model, texts), strict=True)
    return [
        {"source": source, "subject": mail.subject, "text": text, "outcome": outcome, "spam": float(chance)}
        for (source, mail), text, outcome, chance in checked
    ]


def explain(state: Path, texts: Sequence[str]) -> Any:
    """The evidence of each word of texts for spam against ham, as an explanation.

    >>> import tempfile
    >>> state = Path(tempfile.mkdtemp()) / "spam.deciban"
    >>> update_file(state, b"Subject: Lunch\\n\\n", "ham", learn)
    1
    >>> update_file(state, b"Subject: Prize\\n\\n", "spam", learn)
    1
    >>> explain(state, ["type_text_plain subject_prize"]).columns  # the second is in one message only
    ('type_text_plain',)
    """
    model = solved(state)
    if model is None or len(model.classes_) < 2:
        raise DataError("the filter has not learned both ham and spam\n\nhint: learn messages of both")
    return model.explain(texts, of="spam")
