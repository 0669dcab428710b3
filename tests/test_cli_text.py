"""The command line on texts: a table or a folder of them becomes a model of words, and mail a spam filter."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import deciban
from deciban import TextClassifier, spam
from deciban.io import readers

from .support.cli import exit_code, printed
from .support.data import COMMON_WORDS, HAM, SPAM, TOPICS


def said_of(label: str, rng: np.random.Generator) -> str:
    return " ".join([*rng.choice(TOPICS[label].split(), 4), *rng.choice(COMMON_WORDS, 8)])


def table(n: int, seed: int, kinds: tuple[str, ...] = ("drink", "food"), beside: bool = False) -> str:
    rng = np.random.default_rng(seed)
    lines = ["what,price,label" if beside else "what,label"]
    for i in range(n):
        label = kinds[i % len(kinds)]
        price = f"{rng.normal():.2f}," if beside else ""
        lines.append(f'"{said_of(label, rng)}, no. {i}",{price}{label}')
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Texts in tables and in a folder, and models of them, made by the command itself."""
    folder, kept = tmp_path_factory.mktemp("texts"), Path.cwd()
    os.chdir(folder)
    Path("a.csv").write_text(table(80, 0))
    Path("b.csv").write_text(table(60, 1, ("drink", "thing")))
    Path("beside.csv").write_text(table(80, 2, beside=True))
    rng = np.random.default_rng(3)
    for label in ("drink", "food"):
        Path("corpus", label).mkdir(parents=True)
        for i in range(6):
            Path("corpus", label, f"{i}.txt").write_text(said_of(label, rng))
    for name in "ab":
        assert exit_code(f"fit -q {name}.csv --updatable -o {name}.deciban") == 0
    yield folder
    os.chdir(kept)


def rows_of(path: str) -> tuple[list[str], np.ndarray]:
    X, y, _ = readers.split(readers.read(path), "label")
    return readers.strings(X, "what"), y


# a model of words


def test_a_table_of_free_text_alone_becomes_a_model_of_words(place, capfd):
    told = json.loads(printed("fit a.csv -o x.deciban --json", capfd))
    assert (told["class"], told["columns"], told["rows"]) == ("TextClassifier", ["what"], 80)
    assert set(told["compared"]) | set(told["unfit"]) == {"text", "text-calibrated", "text-logistic"}
    assert told["model"] in told["compared"]
    assert told["metrics"]["accuracy"] > 0.9
    assert (deciban.model_info("x.deciban")["text"], deciban.model_info("x.deciban")["target"]) == ("what", "label")


def test_the_updatable_one_is_plain_naive_bayes_judged_in_ten_folds(place, capfd):
    told = json.loads(printed("fit a.csv --updatable -o x.deciban --json", capfd))
    texts, y = rows_of("a.csv")
    model = TextClassifier().fit(texts, y)
    assert (told["model"], told["validation"]) == ("text", "10 folds, repeated 3 times")
    judged = deciban.cross_validate(TextClassifier(), texts, y, 10)
    assert told["metrics"]["accuracy"] == pytest.approx(judged.accuracy, abs=0.05)
    assert np.array_equal(deciban.load("x.deciban").predict_proba(texts), model.predict_proba(texts))


@pytest.mark.parametrize("name", ["text", "text-calibrated", "text-logistic"])
def test_each_kind_can_be_asked_for_and_answers(name, place, capfd):
    printed(f"fit a.csv --model {name} -o x.deciban", capfd)
    told = json.loads(printed("score x.deciban a.csv --json", capfd))
    assert told["accuracy"] > 0.95


def test_a_folder_of_a_few_texts_is_read_as_texts(place, capfd):
    told = json.loads(printed("fit corpus --model text -o x.deciban --json", capfd))
    assert (told["class"], told["target"], told["rows"]) == ("TextClassifier", "label", 12)
    assert printed("explain x.deciban corpus --row 1", capfd).startswith("row 1: label = drink against food")
    assert exit_code("fit corpus -o x.deciban") == 0


def test_pieces_give_the_model_of_the_whole(place, capfd):
    printed("fit a.csv --stream -o x.deciban", capfd)
    texts = rows_of("a.csv")[0]
    whole, streamed = deciban.load("a.deciban"), deciban.load("x.deciban")
    assert np.array_equal(whole.predict_proba(texts), streamed.predict_proba(texts))


def test_text_beside_other_columns_is_left_out_unless_it_is_named(place, capfd):
    assert exit_code("fit beside.csv --model mixed -o x.deciban --json") == 0
    out, err = capfd.readouterr()
    told = json.loads(out)
    assert (told["columns"], told["dropped_columns"]) == (["price"], {"what": "is free text"})
    assert "--text what" in err
    told = json.loads(printed("fit beside.csv --text what -o x.deciban --json", capfd))
    assert (told["class"], told["dropped_columns"]) == ("TextClassifier", {"price": "is not the text column"})
    assert json.loads(printed("score x.deciban beside.csv --json", capfd))["accuracy"] > 0.95


# the verbs


def test_predict_appends_what_the_model_says(place, capfd):
    printed("predict a.deciban a.csv -o out.csv", capfd)
    out = readers.read("out.csv")
    texts = rows_of("a.csv")[0]
    model = deciban.load("a.deciban")
    assert out.column_names == ["what", "label", "predicted", "p_drink", "p_food"]
    assert np.allclose(out["p_food"].to_numpy(), model.predict_proba(texts)[:, 1])
    assert out["predicted"].to_pylist() == model.predict(texts).tolist()
    printed("predict a.deciban a.csv -o out.jsonl --priors uniform --reject 0.1", capfd)
    assert readers.read("out.jsonl").num_rows == 80


def test_the_only_column_beside_the_target_is_the_text_whatever_its_name(place, capfd):
    Path("new.csv").write_text("words\nmilk and tea\n")
    assert printed("predict a.deciban new.csv", capfd).splitlines()[1].startswith("milk and tea,drink,")
    Path("two.csv").write_text("words,others\nmilk,tea\n")
    assert exit_code("predict a.deciban two.csv") == 1
    assert "name it `what`" in capfd.readouterr().err


def test_explain_tells_the_decibans_of_the_words_of_the_row(place, capfd):
    (told,) = json.loads(printed("explain a.deciban a.csv --row 3 --json", capfd))
    why = deciban.load("a.deciban").explain(rows_of("a.csv")[0][3])
    assert told["total"] == pytest.approx(why.total[0])
    assert {word: one["decibans"] for word, one in told["columns"].items()} == pytest.approx(
        dict(zip(why.columns, why.decibans[0], strict=True))
    )
    assert "█" in printed("explain a.deciban a.csv --row 3 --rows 2", capfd)


def test_show_tells_the_words_of_each_class(place, capfd):
    told = json.loads(printed("show a.deciban --json --evidence 3", capfd))
    for label in ("drink", "food"):
        assert {one["column"] for one in told["top_evidence"][label]} <= set(TOPICS[label].split())
    assert "words\n" in printed("show a.deciban", capfd)


def test_update_forget_and_merge_equal_what_happens_in_memory(place, capfd):
    before = deciban.load("a.deciban")
    (texts, y), (more, z) = rows_of("a.csv"), rows_of("b.csv")
    both = TextClassifier().fit([*texts, *more], [*y, *z])
    printed("update a.deciban b.csv -o ab.deciban", capfd)
    printed("merge a.deciban b.deciban -o m.deciban", capfd)
    for name in ("ab", "m"):
        assert np.array_equal(deciban.load(f"{name}.deciban").predict_proba(texts), both.predict_proba(texts))
        assert deciban.model_info(f"{name}.deciban")["text"] == "what"
    printed("forget ab.deciban b.csv", capfd)
    assert np.array_equal(deciban.load("ab.deciban").predict_proba(texts), before.predict_proba(texts))


def test_what_cannot_be_done_changes_nothing_and_is_told(place, capfd):
    before = Path("a.deciban").read_bytes()
    assert exit_code("forget a.deciban b.csv") == 1
    assert Path("a.deciban").read_bytes() == before
    assert exit_code("fit a.csv --model lda -o x.deciban") == 1
    assert "does not read texts" in capfd.readouterr().err
    assert exit_code("fit beside.csv --model text -o x.deciban") == 1
    assert "--text COLUMN" in capfd.readouterr().err


def test_report_tells_of_words(place, capfd):
    assert printed("report a.deciban a.csv -o a.html", capfd) == "a.html\n"
    assert "Words for drink" in Path("a.html").read_text(encoding="utf-8")


def test_a_report_has_figures_unless_they_are_not_wanted(place, capfd):
    for options, wanted in (("", True), ("--no-figures", False)):
        assert printed(f"report a.deciban a.csv -o a.html {options}", capfd) == "a.html\n"
        assert ("<svg" in Path("a.html").read_text(encoding="utf-8")) == wanted


def test_compare_ranks_the_classifiers_of_texts(place, capfd):
    told = json.loads(printed("compare a.csv --folds 3 --json", capfd))
    assert {one["name"] for one in told["ranked"]} == {"text", "text-calibrated", "text-logistic"}
    assert not told["unfit"]


# spam


def message(words: str, number: int) -> str:
    return f"From: ann@x.example\nSubject: {words.split()[0]}\nMessage-ID: <{number}@x.example>\n\n{words}\n"


@pytest.fixture
def post(tmp_path, monkeypatch, capfd):
    """A filter that knows 40 of each."""
    monkeypatch.chdir(tmp_path)
    Path("junk.mbox").write_text("\n".join(f"From x\n{message(SPAM[i % 4], i)}" for i in range(40)))
    Path("good").mkdir()
    for i in range(40):
        Path("good", f"{i}.eml").write_text(message(HAM[i % 4], 100 + i))
    Path("offer.eml").write_text(message("claim free prize money online now winner", 300))
    Path("note.eml").write_text(message("thanks, see you at lunch, the report is attached", 301))
    Path("odd.eml").write_text(message("hm", 302))
    assert printed("spam learn s.deciban junk.mbox --as spam", capfd) == "s.deciban: learned 40 as spam\n"
    assert printed("spam learn s.deciban good --as ham", capfd) == "s.deciban: learned 40 as ham\n"
    return tmp_path


def test_mail_is_ham_unsure_or_spam(post, capfd):
    told = json.loads(printed("spam check s.deciban offer.eml note.eml odd.eml --json", capfd))
    assert [one["outcome"] for one in told] == ["spam", "ham", "unsure"]
    assert [one["source"] for one in told] == ["offer.eml", "note.eml", "odd.eml"]
    out = printed("spam check s.deciban offer.eml --explain", capfd)
    assert out.startswith("spam    P(spam) = ")
    assert "spam against ham" in out


def test_to_unlearn_gives_back_the_file_and_what_was_never_learned_is_an_error(post, capfd):
    state = Path("s.deciban")
    before = state.read_bytes()
    printed("spam learn s.deciban odd.eml --as spam", capfd)
    after = state.read_bytes()
    for wrong in ("odd.eml --as ham", "odd.eml note.eml --as spam", "note.eml --as ham"):
        assert exit_code(f"spam unlearn s.deciban {wrong}") == 1
        assert "hint: " in capfd.readouterr().err
        assert state.read_bytes() == after != before
    printed("spam unlearn s.deciban odd.eml --as spam", capfd)
    assert state.read_bytes() == before


def test_known_mail_is_passed_over_if_asked(post, capfd):
    assert exit_code("spam learn s.deciban good odd.eml --as ham") == 1
    assert "--new" in capfd.readouterr().err
    assert printed("spam learn s.deciban good odd.eml --as ham --new", capfd) == "s.deciban: learned 1 as ham\n"


@pytest.mark.parametrize(
    ("command", "ended", "word"),
    [
        ("spam check no.deciban odd.eml", 1, "no.deciban"),
        ("spam check s.deciban no.eml", 1, "no.eml"),
        ("spam unlearn no.deciban odd.eml --as ham", 1, "never learned"),
        ("spam learn s.deciban odd.eml", 2, "deciban spam learn --help"),
        ("spam lern s.deciban", 2, "lern"),
    ],
)
def test_bad_mail_and_bad_usage(command, ended, word, post, capfd):
    capfd.readouterr()
    assert exit_code(command) == ended
    err = capfd.readouterr().err
    assert word in err
    assert "Traceback" not in err


def test_another_model_is_no_filter(post, capfd):
    deciban.save(TextClassifier().fit(["tea", "cake"], ["drink", "food"]), "t.deciban")
    with pytest.raises(deciban.errors.DataError, match="not a spam filter"):
        spam.open_filter(Path("t.deciban"))


@pytest.mark.parametrize("kind", ["text-calibrated", "text-logistic"])
def test_models_that_all_texts_decide_are_updated_and_forget(kind, place, capfd):
    printed(f"fit a.csv --model {kind} -o x.deciban", capfd)
    texts, y = rows_of("a.csv")
    before = deciban.load("x.deciban").predict_proba(texts)
    printed("update x.deciban b.csv", capfd)
    more, labels = rows_of("b.csv")
    whole = deciban.load("x.deciban")
    again = TextClassifier(**whole.get_params()).fit([*texts, *more], [*y, *labels])
    np.testing.assert_array_equal(whole.predict_proba(texts), again.predict_proba(texts))
    printed("forget x.deciban b.csv", capfd)
    np.testing.assert_array_equal(deciban.load("x.deciban").predict_proba(texts), before)
