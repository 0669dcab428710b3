"""Command lines made of valid pieces and hostile values, run in this process."""

from __future__ import annotations

import io
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from typing import Any, TextIO

import deciban
from deciban.cli import main

from .runner import Case, Part, WrongAnswer

EVIL = "\x1b]0;t\x07\x9b2J"
ROWS = [f"{i % 7},{['red', 'blue', 'a,b'][i % 3]!r},{i * 0.5},{'ab'[i % 2]}".replace("'", '"') for i in range(24)]
VALUES = [
    *(
        "",
        " ",
        "-",
        "--",
        "-1",
        "0",
        "1",
        "2",
        "51",
        "1e9",
        "9" * 30,
        "nan",
        "inf",
        "x",
        "a",
        "b",
        "y",
        "size",
        "colour",
    ),
    *(
        EVIL,
        "\n",
        "\x00",
        "é",
        "\ud800",
        "a=b",
        "a=0.5,b=0.5",
        "a=1,b=0",
        "a=-1",
        "a=nan,b=1",
        "=",
        ",",
        "uniform",
        "a:b=3",
    ),
    *(
        "a:b=inf",
        "b:a=-1",
        ":=",
        "\\t",
        ";",
        ";;",
        ",",
        "|",
        "x" * 5000,
        "../x",
        "/",
        ".",
        "*",
        "?",
        "[",
        "~",
        "%s",
        "{}",
    ),
    *("mixed", "gaussian", "GaussianNB", "logistic", "text", "auto", "no-such", "fractions", "decibans", "spam", "ham"),
]
OPTIONS = {
    "fit": ["--target", "--drop", "--text", "--model", "--delimiter", "--header", "-o"],
    "predict": ["--priors", "--costs", "--reject", "--delimiter", "--header", "-o"],
    "explain": ["--row", "--rows", "--of", "--against", "--columns", "--form", "--priors", "--delimiter", "--header"],
    "score": ["--target", "--priors", "--delimiter", "--header"],
    "compare": ["--target", "--drop", "--text", "--folds", "--model", "--delimiter", "--header"],
    "show": ["--evidence"],
    "update": ["--target", "--delimiter", "--header", "-o"],
    "forget": ["--target", "--delimiter", "--header", "-o"],
    "merge": ["-o"],
    "report": ["--target", "-o", "--delimiter", "--header"],
    "spam": ["--as"],
    "families": [],
}
FLAGS = {
    "fit": ["--updatable", "--stream", "--no-header", "--force"],
    "predict": ["--no-header", "--force"],
    "spam": ["--new", "--explain"],
    "report": ["--no-figures"],
}
TAKES_MODEL = ("predict", "explain", "score", "show", "update", "forget", "merge", "report", "spam")
UNPRINTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def prepare(folder: Path) -> dict[str, list[str]]:
    """Models and tables, some of them damaged or with hostile names and cells."""
    files: dict[str, list[str]] = {"model": [], "data": []}

    def add(kind: str, name: str, content: bytes) -> None:
        (folder / name).write_bytes(content)
        files[kind].append(name)

    table = "\n".join(["count,colour,size,y", *ROWS, ""])
    add("data", "rows.csv", table.encode())
    add("data", "evil.csv", table.replace("red", EVIL).replace("count", f"c{EVIL}").encode())
    add("data", f"n{EVIL}.csv", table.replace(",a\n", f",a{EVIL}\n").encode())
    add("data", "short.csv", b"count,colour,size,y\n1,red,2,a\n")
    add("data", "empty.csv", b"")
    add("data", "binary.csv", bytes(range(256)))
    add("data", "one.txt", b"a text \x1b[2J of words")
    add("data", "mail", b"Subject: =?utf-8?q?=1B[2J?=\nFrom: \x1b]0;x\x07\n\nprize")
    x = {"count": [i % 7 for i in range(24)], "colour": ["red", "blue", EVIL] * 8, "size": [i * 0.5 for i in range(24)]}
    labels = ["ab"[i % 2] for i in range(24)]
    numbers = [[i % 7, i * 0.5] for i in range(24)]
    mixed = deciban.dumps(deciban.MixedNB().fit(x, labels), target="y", source=EVIL, metrics={EVIL: 0.5})
    add("model", "mixed.deciban", mixed)
    add("model", "evil.deciban", deciban.dumps(deciban.MixedNB().fit(x, [f"{label}{EVIL}" for label in labels])))
    add("model", "gaussian.deciban", deciban.dumps(deciban.GaussianNB().fit(numbers, labels)))
    add("model", "logistic.deciban", deciban.dumps(deciban.LogisticRegression().fit(numbers, labels)))
    texts = [f"some words {i % 5} {EVIL}" for i in range(24)]
    add("model", "text.deciban", deciban.dumps(deciban.TextClassifier().fit(texts, labels), text="colour"))
    add("model", "cut.deciban", mixed[: len(mixed) // 2])
    add("model", "unit.deciban", deciban.dumps(deciban.Perceptron().fit(numbers, labels)))
    return files


def run(files: dict[str, list[str]], case: Case) -> None:
    """One command line."""
    rng = case.rng
    verb = rng.choice(list(OPTIONS))
    words = [verb, *arguments(verb, files, rng)]
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        if OPTIONS[verb]:
            option = rng.choice(OPTIONS[verb])
            given = output(rng) if option == "-o" else rng.choice(VALUES)
            words += [option] if rng.random() < 0.03 else [option, given]
    words += rng.sample(flags := FLAGS.get(verb, []), rng.randrange(len(flags) + 1)) if rng.random() < 0.3 else []
    words += ["--json"] if rng.random() < 0.3 else []
    if verb in ("fit", "compare") and rng.random() < 0.6:
        words += ["--target", "y"] + (["--model", "mixed"] if rng.random() < 0.7 else [])
    if verb == "merge" and rng.random() < 0.8:
        words += ["-o", "out.deciban"]
    if verb == "spam" and words[1:2] != ["check"] and rng.random() < 0.7:
        words += ["--as", rng.choice(["ham", "spam"])]
    words = [rng.choice(VALUES) if rng.random() < 0.03 else word for word in words]
    stdin = rng.choice([b"", b"some words\n", "\n".join(["count,colour,size,y", *ROWS]).encode(), rng.randbytes(50)])
    kept = {name: (case.folder / name).read_bytes() for name in (*files["model"], *files["data"])}
    try:
        case.attempt(lambda: check(words, stdin))
    finally:
        for name, content in kept.items():
            (case.folder / name).write_bytes(content)


def arguments(verb: str, files: dict[str, list[str]], rng: Random) -> list[str]:
    """The arguments of a command, in their order; a few are missing, wrong or one too many."""
    data = lambda: rng.choice(files["data"] + ["rows.csv"] * 4 + ["-", "missing.csv", "."])  # noqa: E731
    model = lambda: rng.choice(files["model"] + ["mixed.deciban"] * 3)  # noqa: E731
    if verb == "families":
        return []
    if verb == "spam":
        return [rng.choice(["check", "learn", "unlearn"]), rng.choice(["new.deciban", model()]), "mail"]
    if verb == "merge":
        return [model() for _ in range(rng.choice([1, 2, 3]))]
    out = [model()] if verb in TAKES_MODEL else []
    return out + ([] if verb == "show" else [data()])


def output(rng: Random) -> str:
    """A file to write, within the folder."""
    return rng.choice(
        ["out.deciban", "out.csv", "out.parquet", "out.jsonl", "out.csv.gz", "", f"o{EVIL}", "no/such/x", "."]
    )


def check(words: list[str], stdin: bytes) -> None:
    """Run a command, and raise an error for what no command may do."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    code = called(words, stdin, out, err)
    printed, talk = (file.buffer.getvalue().decode("utf-8", "replace") for file in (out, err))
    wrong: list[str] = []
    if code not in (0, 1, 2):
        wrong.append(f"exit code {code}")
    if "Traceback" in talk or "--debug` shows where" in talk:
        wrong.append("an exception that nobody has foreseen")
    errors = [line for line in talk.splitlines() if line.startswith("error: ")]
    if len(errors) != (code != 0) and "Usage:" not in talk:
        wrong.append(f"{len(errors)} lines of errors")
    for name, text in (("stdout", printed), ("stderr", talk)):
        table = name == "stdout" and "predict" in words  # rows as they were read
        if not table and UNPRINTED.search(text.replace("\t", " ")):
            wrong.append(f"control characters in {name}")
    if wrong:
        raise WrongAnswer(f"{'; '.join(wrong)} of {words!r:.400}\n{talk[-500:]!r}")


def called(words: list[str], stdin: bytes, out: TextIO, err: TextIO) -> Any:
    """The exit code of a command."""
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(stdin))
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main(words)
    except SystemExit as ended:
        return ended.code
    finally:
        sys.stdin = before


PART = Part("commands", 500, prepare, run)
