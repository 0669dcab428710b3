"""The spam filter of the examples: what it learns it can unlearn to the last bit, and nothing else."""

import mailbox
from email.message import EmailMessage

import numpy as np
import pytest

from deciban.errors import DecibanError, ForgetError
from deciban.mail.message import parse

from ..support import data


@pytest.fixture(scope="module")
def spam(example):
    return example("spam")


def message(text: str, number: int) -> bytes:
    out = EmailMessage()
    out["From"], out["Subject"] = f"ann{number}@x.example", text.split()[0]
    out["Message-ID"] = f"<{number}@x.example>"
    out.set_content(text)
    return out.as_bytes()


def messages(words: list[str], n: int, first: int) -> list[bytes]:
    rng = np.random.default_rng(first)
    return [message(" ".join([words[i % 4], *rng.choice(words[(i + 1) % 4].split(), 2)]), first + i) for i in range(n)]


HAM, SPAM = messages(data.HAM, 60, 0), messages(data.SPAM, 60, 100)
NEW = messages(data.SPAM, 3, 200)


@pytest.fixture
def state(spam, tmp_path):
    """A filter that knows both sides."""
    path = tmp_path / "state.deciban"
    spam.update_file(path, HAM, "ham", spam.learn)
    spam.update_file(path, SPAM, "spam", spam.learn)
    return path


def test_learn_then_unlearn_gives_back_the_same_file(spam, state):
    before = state.read_bytes()
    for label in ("ham", "spam"):
        assert spam.update_file(state, NEW, label, spam.learn) == 3
        assert state.read_bytes() != before
        spam.update_file(state, NEW[::-1], label, spam.unlearn)
        assert state.read_bytes() == before


def test_the_way_to_a_state_does_not_matter(spam, state, tmp_path):
    other = tmp_path / "other.deciban"
    for some, label in ((SPAM[:7], "spam"), (NEW, "ham"), (HAM, "ham"), (SPAM[7:], "spam")):
        spam.update_file(other, some, label, spam.learn)
    spam.update_file(other, NEW, "ham", spam.unlearn)
    assert other.read_bytes() == state.read_bytes()


def test_to_unlearn_everything_leaves_no_file(spam, tmp_path):
    path = tmp_path / "state.deciban"
    spam.update_file(path, HAM, "ham", spam.learn)
    spam.update_file(path, HAM, "ham", spam.unlearn)
    assert not path.exists()
    with pytest.raises(ForgetError, match="never learned"):
        spam.update_file(path, HAM[:1], "ham", spam.unlearn)


def test_what_was_never_learned_cannot_be_unlearned_even_if_all_its_words_were(spam, state):
    before = state.read_bytes()
    twin = HAM[0].replace(b"<0@x.example>", b"<other@x.example>")
    for wrong in (twin, NEW[0], b"Subject: x\n\nnothing known"):
        with pytest.raises(ForgetError, match=r"(?s)never learned.*hint: "):
            spam.update_file(state, [HAM[1], wrong], "ham", spam.unlearn)
        assert state.read_bytes() == before


def test_nor_under_another_name(spam, state):
    before = state.read_bytes()
    with pytest.raises(DecibanError, match="hint: "):
        spam.update_file(state, HAM[:1], "spam", spam.unlearn)
    assert state.read_bytes() == before


def test_what_was_learned_is_not_learned_again(spam, state):
    before = state.read_bytes()
    with pytest.raises(DecibanError, match=r"(?s)learned already.*hint: "):
        spam.update_file(state, [NEW[0], HAM[0]], "spam", spam.learn)
    assert state.read_bytes() == before
    assert spam.update_file(state, [NEW[0], NEW[0], HAM[0]], "spam", spam.learn, only_new=True) == 1
    spam.update_file(state, NEW[:1], "spam", spam.unlearn)
    assert state.read_bytes() == before


def test_no_message_can_speak_another_ones_name(spam, state):
    forged = message(f"id{parse(NEW[0]).key} hello", 999)
    spam.update_file(state, [forged], "ham", spam.learn)
    assert spam.update_file(state, NEW[:1], "spam", spam.learn) == 1


def test_three_outcomes(spam, state):
    model = spam.open_filter(state)
    texts = ["subject_prize free money prize online claim now", "lunch at noon thanks see you", "hello"]
    decided, chance = spam.classify(model, texts)
    assert decided == ["spam", "ham", "unsure"]
    assert chance[0] > 0.999
    assert chance[1] < 0.1
    assert spam.classify(None, texts)[0] == ["unsure"] * 3
    assert spam.classify(spam.learn(None, [parse(HAM[0])], "ham"), texts)[0] == ["unsure"] * 3


def test_the_command(spam, tmp_path, capsys):
    box = mailbox.mbox(tmp_path / "junk")
    for raw in SPAM:
        box.add(raw)
    box.close()
    folder = tmp_path / "good"
    folder.mkdir()
    for i, raw in enumerate(HAM):
        (folder / f"{i}.eml").write_bytes(raw)
    (tmp_path / "new.eml").write_bytes(NEW[0])
    state = ["--state", str(tmp_path / "s.deciban")]
    assert spam.main([*state, "learn", "spam", str(tmp_path / "junk")]) == 0
    assert spam.main([*state, "explain", str(tmp_path / "new.eml")]) == 1
    assert spam.main([*state, "learn", "ham", str(folder)]) == 0
    assert spam.main([*state, "score", str(tmp_path / "new.eml")]) == 0
    assert spam.main([*state, "explain", str(tmp_path / "new.eml")]) == 0
    assert spam.main([*state, "unlearn", "ham", str(folder / "3.eml")]) == 0
    assert spam.main([*state, "unlearn", "ham", str(folder / "3.eml")]) == 1
    assert spam.main([*state, "learn", "ham", "--new", str(folder)]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[:2] == ["learned 60 as spam", "learned 60 as ham"]
    assert lines[2].startswith("unsure  P(spam) = 0.99")  # five words, of 60 messages
    assert lines[-2:] == ["unlearned 1 as ham", "learned 1 as ham"]
    assert "decibans" in out
    assert err.count("hint: ") == 2


def test_text_messages_by_folds(spam, shared):
    found = spam.sms(shared("sms_spam/sms_spam.csv.gz"))
    assert found["accuracy, P(spam) > 0.5"] >= 0.985
    assert found["ham blocked"] <= 0.001
    assert found["ham unsure"] < 0.01
    assert found["spam caught"] > 0.78  # messages are short: not all that are spam are so at 1000 : 1
    assert found["spam let through"] < 0.04
