"""Mails and mailboxes that are malformed, learned and checked by the spam filter."""

from __future__ import annotations

import base64
from pathlib import Path
from random import Random

from deciban import spam
from deciban.mail.message import read

from .mutations import mutated
from .runner import Case, Part, WrongAnswer

CHARSETS = [
    *("utf-8", "UTF-7", "utf-16", "utf_32", "iso-8859-1", "ISO-2022-JP", "gb18030", "big5", "koi8-r", "cp037", "hz"),
    *("no-such-set", "", "rot13", "zlib", "base64", "hex", "idna", "punycode", "unicode_escape", "undefined", "mbcs"),
    *('"utf-8', "utf-8\x00", "x" * 90, "utf-8; charset=latin-1", "*0=utf", "..", "string_escape", "raw_unicode_escape"),
]
TYPES = [
    *("text/plain", "text/html", "TEXT/HTML", "text", "", "/", "image/png", "message/rfc822", "application/pdf"),
    *("multipart/mixed", "multipart/alternative", "multipart/", 'text/plain; name="a.exe"', "text/*", "a/b/c", "\x00"),
]
ENCODINGS = ["base64", "quoted-printable", "7bit", "8bit", "uuencode", "x-uuencode", "BASE64 ", "", "gzip", "base64;x"]
HEADERS = [
    "Subject",
    "From",
    "To",
    "Date",
    "Message-ID",
    "Received",
    "Content-Disposition",
    "X" * 200,
    "",
    "Sub ject",
    "é",
]
VALUES = [
    *("a prize", "Ann <ann@shop.example>", "=?utf-8?q?A_prize=21?=", "=?utf-8?b?////?=", "=?x?q?=ZZ?=", "=?utf-8?q?"),
    *("=?utf-8?b?" + "QUJD" * 700 + "?=", "=?utf-7?q?+AGE-?=", "<>", "@", "a@", "a@b@c", "\x00", "\x1b[2J", "\ud83d"),
    *("attachment; filename=a.exe", "attachment; filename*=utf-8''%ff%00", "x" * 5000, "a\n b\n\tc", "", "\r", "é ü"),
    *("id" + "0" * 32, 'inline; filename="' + "../" * 50 + '"', "=?" * 900, "<" * 900, "1 Jan 0000 99:99:99 +9999"),
]
BODIES = [
    *(
        "claim your prize now",
        "see you at noon",
        "<p>Claim <b>it</b> <a href='http://evil.example/1'>here</a>",
        "",
        "\x00",
    ),
    *("<" * 3000, "<a href=" * 300, "<!--" * 200, "&#x110000; &#0; &amp &nosuch; &#99999999999;", "<script>" * 50),
    *(
        "=3D=\n=ZZ=",
        "a" * 60_000,
        "\n" * 3000,
        "From me\n>From you",
        "--b",
        "--b--",
        "begin 644 x\n!!!\nend",
        "٣٤٥ ½ Ⅷ",
    ),
    *(
        "<div style='display:none'>" * 100 + "x",
        "http://[::1]/ http://a@b:99999/ http://%00/",
        "\ufeff\u202e\u200b",
        "$" * 99,
    ),
]


def prepare(folder: Path) -> Path:
    """A filter that knows both classes."""
    state = folder / "spam.deciban"
    for label, words in (("ham", "lunch at noon"), ("spam", "claim your prize")):
        mails = [f"Subject: {words}\nMessage-ID: <{label}{i}@x>\n\n{words} {i}".encode() for i in range(6)]
        spam.update_file(state, mails, label, spam.learn)
    spam.check(state, [b"Subject: a\n\nb"])
    return state


def run(state: Path, case: Case) -> None:
    """One mail or mailbox: read it, check it, and learn it."""
    rng = case.rng
    mails = [message(rng) for _ in range(rng.choice([1, 1, 1, 2, 5]))]
    content = b"\n".join(b"From x@y Thu Jan  1 00:00:00 1970\n" + one for one in mails) if len(mails) > 1 else mails[0]
    if rng.random() < 0.5:
        content = mutated(content or b"\n", b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\n--b--\n", rng)
    found = case.attempt(lambda: list(read(content)))
    if rng.random() < 0.3:
        case.attempt(lambda: check(state, write(content, case.folder)))
    else:
        case.attempt(lambda: check(state, content))
    if found:
        learned = case.attempt(lambda: spam.learn(spam.open_filter(state), found, rng.choice(spam.LABELS)))
        if learned is not None:
            case.attempt(lambda: spam.classify(learned, [spam.text_of(one) for one in found]))


def check(state: Path, source: bytes | Path) -> None:
    """Check messages; the outcomes must be ones that there are."""
    for one in spam.check(state, [source]):
        if one["outcome"] not in ("ham", "spam", "unsure") or not 0 <= one["spam"] <= 1:
            raise WrongAnswer(repr(one)[:300])


def write(content: bytes, folder: Path) -> Path:
    (path := folder / "mail").write_bytes(content)
    return path


def message(rng: Random, depth: int = 0) -> bytes:
    """A message, or a part of one."""
    kind = rng.choice(TYPES)
    if rng.random() < 0.4 and depth < 4:
        kind = rng.choice(["multipart/mixed", "multipart/alternative", "message/rfc822"])
    boundary = rng.choice(["b", "b", "=_x", "", "b" * 300, "a b", '"', "--", "\\"])
    quote = rng.choice(["", '"'])
    head = [f"Content-Type: {kind}; charset={rng.choice(CHARSETS)}; boundary={quote}{boundary}{quote}"]
    coding = rng.choice(ENCODINGS)
    head.append(f"Content-Transfer-Encoding: {coding}")
    head += [
        f"{rng.choice(HEADERS)}{rng.choice([': ', ':', ' : ', ''])}{rng.choice(VALUES)}"
        for _ in range(rng.randrange(5))
    ]
    rng.shuffle(head)
    if kind.startswith("multipart"):
        parts = [message(rng, depth + 1) for _ in range(rng.choice([0, 1, 2, 3]))]
        if rng.random() < 0.02:
            parts = [b"Content-Type: multipart/mixed; boundary=b\n\n--b\n"] * 300
        border = f"--{boundary}\n".encode()
        body = border + (b"\n" + border).join(parts) + rng.choice([b"", f"\n--{boundary}--\n".encode()])
    elif kind == "message/rfc822":
        body = message(rng, depth + 1)
    else:
        body = " ".join(rng.choice(BODIES) for _ in range(rng.choice([1, 2, 3]))).encode("utf-8", "surrogatepass")
        body = base64.encodebytes(body) if "base64" in coding and rng.random() < 0.7 else body
    end = rng.choice(["\n", "\n", "\r\n", "\r"])
    return (end.join(head) + end * rng.choice([2, 2, 2, 1])).encode("utf-8", "surrogatepass") + body


PART = Part("mails", 5_000, prepare, run)
