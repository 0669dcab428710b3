"""Mail as texts for a classifier: from a mailbox, a folder, a file, bytes or a message.

    raw message → headers, parts → transfer encoding, character set → text, HTML as it is seen → words and marks

Headers, links and attachments become tokens before the body: `subject_prize`,
`from_shop_example`, `host_shop_example`, `attachment_exe`, which every tokenizer keeps. Messages are
untrusted input: with unknown or wrong character sets, broken encodings and wrong lengths the readable part is used, and
work is bounded by the sizes below, for any nesting of parts.

>>> raw = b'''From: Ann <ann@shop.example>
... Subject: =?utf-8?q?A_prize=21?=
... Content-Type: text/html; charset=no-such-thing
...
... <p>Claim your pr<!-- x -->ize <a href="http://evil.example/1">here</a>'''
>>> mail = parse(raw)
>>> mail.subject, mail.body.split()
('A prize!', ['Claim', 'your', 'prize', 'here'])
>>> mail.marks[:3], mail.marks[-1]
(('subject:prize', 'from:ann@shop.example', 'from:shop.example'), 'host:evil.example')

Bytes of a message as they were meant: headers, transfer encodings, character sets; broken ones as far as they go.

>>> headers, body = headers_of(b"Subject: a\\n long one\\nContent-Transfer-Encoding: base64\\n\\nR3LDvMOfZQ==")
>>> headers["subject"], decode_text(decode_transfer(headers, body, 99), "utf-8")
('a long one', 'Grüße')
>>> decode_text(b"caf\\xe9", "no-such-set"), decode_header("=?iso-8859-1?q?caf=E9?= =?utf-8?b?ISE=?=")
('café', 'café!!')
"""

from __future__ import annotations

import binascii
import codecs
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote_to_bytes

from deciban.errors import DataError
from deciban.mail.html import host_of, visible_text

MOST_HEAD = 1 << 16  # bytes of headers
LONGEST = 4000  # characters of one header

Headers = dict[str, str]  # by name in small letters; of several of one name, the first

END = re.compile(rb"\r?\n\r?\n|\r\r")
FIELD = re.compile(r"[!-9;-~]{1,80}[ \t]*:")
FOLD = re.compile(r"\r\n?|\n")
ENCODED = re.compile(r"=\?([^?\s]{1,60})\?([bq])\?([^?]{0,2000})\?=(?:\s+(?==\?[^?\s]{1,60}\?[bq]\?))?", re.I)
UNICODE = {"utf-8", "ascii"}  # which many claim
# slow, or no character set at all
NOT_TEXT = {
    "punycode",
    "idna",
    "unicode-escape",
    "raw-unicode-escape",
    "unicode_escape",
    "raw_unicode_escape",
    "undefined",
    "mbcs",
    "oem",
}


def to_bytes(text: str) -> bytes:
    """Encode a text in which undecodable bytes were kept as surrogates."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def headers_of(raw: bytes) -> tuple[Headers, bytes]:
    """(headers, body). Bytes that do not start with a header are all body."""
    found = END.search(raw, 0, MOST_HEAD)
    start, stop = found.span() if found else (min(len(raw), MOST_HEAD), min(len(raw), MOST_HEAD))
    if raw[:1] in (b"\n", b"\r"):
        return {}, raw
    lines = FOLD.split(raw[:start].decode("utf-8", "surrogateescape"))
    if not FIELD.match(lines[0]):
        return {}, raw
    fields: list[list[str]] = []
    for line in lines:
        if line[:1] in (" ", "\t"):
            fields[-1].append(" " + line.strip())
        elif FIELD.match(line):
            name, _, value = line.partition(":")
            fields.append([name.strip().lower(), value.strip()])
    return {name: "".join(value)[:LONGEST] for name, *value in reversed(fields)}, raw[stop:]


def header_param(value: str, name: str) -> str:
    """A parameter of a header, such as the boundary of `multipart/mixed; boundary="x"`; "" where there is none.

    >>> header_param('text/plain; charset="UTF-8"', "charset")
    'UTF-8'
    >>> header_param("a; filename*=utf-8''%C3%BC.exe", "filename")
    'ü.exe'
    """
    found = re.search(rf'[;\s]{name}(\*0?\*?)?[ \t]*=[ \t]*(?:"([^"]*)"|([^\s;"]+))', value, re.I)
    if not found:
        return ""
    text = found[2] if found[2] is not None else found[3]
    if not (found[1] or "").endswith("*"):
        return text
    charset, _, quoted = text.partition("'")
    return decode_text(unquote_to_bytes(to_bytes(quoted.partition("'")[2])), charset)


def decode_transfer(headers: Headers, body: bytes, most: int) -> bytes:
    """The body without its transfer encoding; about `most` bytes of it at most."""
    encoding = headers.get("content-transfer-encoding", "").strip().lower()
    if encoding == "base64":
        return _base64(body[: 2 * most])
    if encoding == "quoted-printable":
        return binascii.a2b_qp(body[: 3 * most])
    return body[:most]


def _base64(body: bytes) -> bytes:
    letters = re.sub(rb"[^A-Za-z0-9+/]+", b"", body)
    letters = letters[: len(letters) - (len(letters) % 4 == 1)]
    return binascii.a2b_base64(letters + b"=" * (-len(letters) % 4))


def decode_text(raw: bytes, charset: str) -> str:
    """Decode bytes by the given character set, else UTF-8, else Windows-1252; undecodable bytes become U+FFFD."""
    try:
        name = codecs.lookup(charset.strip().strip("'\"")).name
        if name not in UNICODE | NOT_TEXT:
            return _whole(raw.decode(name, "replace"))
    except (LookupError, ValueError):  # no such set, or one that is none
        pass
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


def _whole(text: str) -> str:
    """Without lone surrogates, which cannot be encoded."""
    return text.encode("utf-8", "replace").decode("utf-8")


def decode_header(value: str) -> str:
    """A header's value with its encoded words decoded."""
    value = value[:LONGEST]
    plain = decode_text(to_bytes(value), "utf-8")
    return ENCODED.sub(_word, plain)


def _word(found: re.Match[str]) -> str:
    raw = found[3].encode("utf-8", "replace")
    if found[2] in "bB":
        return decode_text(_base64(raw), found[1].partition("*")[0])
    return decode_text(binascii.a2b_qp(raw, header=True), found[1].partition("*")[0])


MOST_BYTES = 1 << 24  # of a message that are read
MOST_TEXT = 1 << 18  # characters of its body
MOST_PARTS, DEEPEST = 200, 10
MOST_WORDS = 200  # of a header

WORD = re.compile(r"\w[\w'’-]*")
ADDRESS = re.compile(r"([\w.+'=-]{1,64})@([\w.-]{1,253})")
URL = re.compile(r"https?://[^\s<>\"']{1,260}", re.I)
ADDRESSES = {"from": "from", "sender": "from", "reply-to": "reply", "return-path": "return"}
WORDS = {"x-mailer": "mailer", "user-agent": "mailer", "list-id": "list", "precedence": "precedence"}


@dataclass(frozen=True)
class Message:
    """The parts of a message that a classifier uses."""

    subject: str
    sender: str  # the address, or what stands for it
    body: str
    marks: tuple[str, ...]  # "subject:prize", "from:shop.example", "attachment:exe", …
    attachments: tuple[str, ...]  # their names
    key: str  # of this very message: its Message-ID and what it says

    def tokens(self) -> list[str]:
        """Marks and the words of the body, in small letters.

        >>> parse(b"Subject: Hi\\n\\nYou there?").tokens()
        ['subject:hi', 'type:text/plain', 'you', 'there']
        """
        return [*self.marks, *WORD.findall(self.body.lower())]

    def text(self) -> str:
        """One text: the marks, as words that tokenisers keep whole, and the body.

        >>> parse(b"From: ann@b.example\\n\\nHello!").text()
        'from_ann_b_example from_b_example type_text_plain\\nHello!'
        """
        return " ".join(re.sub(r"\W+", "_", mark) for mark in self.marks) + "\n" + self.body


def read_texts(source: Any) -> list[str]:
    """The texts of all messages of a source (see `read`), ready for a `TextClassifier`.

    >>> read_texts([b"Subject: one\\n\\nfirst", b"Subject: two\\n\\nsecond"])[1]
    'subject_two type_text_plain\\nsecond'
    """
    return [mail.text() for mail in read(source)]


def read(source: Any) -> Iterator[Message]:
    """The messages of a source, one at a time.

    A source is a path (a mailbox file that starts with "From ", a Maildir, a folder of files, a file with a message),
    a message as bytes (a mailbox, if they start with "From "), as a text of several lines or as an
    `email.message.Message`, or several sources.

    >>> [mail.subject for mail in read([b"Subject: one\\n\\n", "Subject: two\\n\\nbody"])]
    ['one', 'two']
    """
    if isinstance(source, os.PathLike) or (isinstance(source, str) and "\n" not in source):
        yield from _from_path(Path(source))
    elif isinstance(source, bytes | bytearray) and source.startswith(b"From "):
        yield from map(parse, _split_mbox(BytesIO(source)))
    elif isinstance(source, bytes | bytearray | str) or hasattr(source, "get_payload"):
        yield parse(source)
    elif isinstance(source, Iterable):
        for one in source:
            yield from read(one)
    else:
        raise DataError(
            f"a {type(source).__name__} is not a source of mail\n\n"
            "hint: give a path, the bytes of a message, an email.message.Message, or a list of these"
        )


def parse(message: Any) -> Message:
    """One message: bytes, a text, or an `email.message.Message`.

    >>> parse("Subject: Hello\\nFrom: bob@b.example\\n\\nLunch?").sender
    'bob@b.example'
    """
    if hasattr(message, "get_payload"):
        parts = _parts_of_object(message)
    else:
        some = message[:MOST_BYTES]
        parts = _parts_of_bytes(to_bytes(some) if isinstance(some, str) else bytes(some))
    return _build_message(parts)


# messages of a path


def files_of(path: Path) -> Iterator[Path]:
    """The files with messages of a Maildir or a folder; a file itself.

    >>> list(files_of(Path("new.eml")))
    [PosixPath('new.eml')]
    """
    if not path.is_dir():
        yield path
        return
    maildir = [path / name for name in ("new", "cur") if (path / name).is_dir()]
    for folder in maildir or [path]:
        for file in sorted(folder.rglob("*")):
            if file.is_file() and not any(part.startswith(".") for part in file.relative_to(folder).parts):
                yield file


def _from_path(path: Path) -> Iterator[Message]:
    if path.is_dir():
        for file in files_of(path):
            yield from _from_path(file)
    elif path.is_file():
        with path.open("rb") as opened:
            box = opened.read(5) == b"From "
            opened.seek(0)
            yield from map(parse, _split_mbox(opened) if box else [opened.read(MOST_BYTES)])
    elif path.exists():
        raise DataError(
            f"{str(path)!r} is no regular file, but a pipe or a device\n\n"
            "hint: give what it holds as bytes; in the command as standard input, -"
        )
    else:
        raise DataError(f"file or folder not found: {str(path)!r}\n\nhint: a raw message is given as bytes")


def _split_mbox(file: BinaryIO) -> Iterator[bytes]:
    """The messages of an mbox file; what one has beyond the bytes that are read is passed over."""
    lines: list[bytes] | None = None
    size, blank, envelope = 0, True, False
    while line := file.readline(1 << 16):
        if blank and line.startswith(b"From "):
            if lines is not None:
                yield b"".join(lines)
            lines, size, envelope = [], 0, True
        elif not envelope and lines is not None and size < MOST_BYTES:
            lines.append(line[1:] if line.startswith(b">From ") else line)
            size += len(line)
        envelope = envelope and not line.endswith(b"\n")  # a line may be as long as a book
        blank = not line.strip()
    if lines is not None:
        yield b"".join(lines)


# parts of a message

Part = tuple[Headers, bytes]


def _parts_of_bytes(raw: bytes) -> Iterator[Part]:
    """The message and all its parts, in their order; a part that holds parts has no body of its own."""
    stack, number = [(raw, 0)], 0
    while stack and number < MOST_PARTS:
        raw, depth = stack.pop()
        number += 1
        headers, body = headers_of(raw)
        kind = _kind(headers)
        inner: list[bytes] = []
        if depth < DEEPEST and kind == "message/rfc822":
            inner = [decode_transfer(headers, body, MOST_BYTES)]
        elif depth < DEEPEST and kind.startswith("multipart/"):
            inner = _split(body, header_param(headers.get("content-type", ""), "boundary"))
        yield headers, b"" if inner else body
        stack += [(part, depth + 1) for part in reversed(inner)]


def _split(body: bytes, boundary: str) -> list[bytes]:
    """The parts between lines of the boundary."""
    if not boundary:
        return []
    mark = re.escape(to_bytes(boundary))
    border = re.compile(rb"(?:\A|\n)--" + mark + rb"(--)?[ \t]*(?=\r?\n|\Z)")
    starts: list[int] = []
    stops: list[int] = []
    for found in border.finditer(body):
        stops.append(found.start())
        if found[1] or len(starts) >= MOST_PARTS:
            break
        starts.append(found.end())
    else:
        stops.append(len(body))  # the end is missing
    return [body[a:b].removeprefix(b"\r").removeprefix(b"\n") for a, b in zip(starts, stops[1:], strict=True)]


def _parts_of_object(message: Any) -> Iterator[Part]:
    stack, number = [(message, 0)], 0
    while stack and number < MOST_PARTS:
        message, depth = stack.pop()
        number += 1
        headers = {name.lower(): str(value) for name, value in reversed(message.items())}
        inner = message.get_payload()
        if isinstance(inner, list):
            yield headers, b""
            stack += [(part, depth + 1) for part in reversed(inner[:MOST_PARTS]) if depth < DEEPEST]
        else:
            some = inner[:MOST_BYTES] if isinstance(inner, str | bytes) else ""
            yield headers, some if isinstance(some, bytes) else to_bytes(some)


def _kind(headers: Headers) -> str:
    given = headers.get("content-type", "text/plain").partition(";")[0]
    return decode_text(to_bytes(given), "utf-8").strip().lower() or "text/plain"


# what they say


def _build_message(parts: Iterator[Part]) -> Message:
    first, body, attachments, left = None, [], [], MOST_TEXT
    late: dict[str, None] = {}  # marks of parts: each once
    for headers, raw in parts:
        first = headers if first is None else first
        kind = _kind(headers)
        line = headers.get("content-type", "")
        name = decode_header(
            header_param(headers.get("content-disposition", ""), "filename") or header_param(line, "name")
        )
        late[f"type:{kind[:60]}"] = None
        if name or not kind.startswith(("text/", "multipart/", "message/")):
            attachments.append(name or kind)
            late |= dict.fromkeys(_of_attachment(name, kind))
        elif raw and left > 0:
            text = decode_text(decode_transfer(headers, raw, 4 * left), header_param(line, "charset"))[:left]
            left -= len(text)
            page = visible_text(text) if kind == "text/html" else None
            body.append((text if page is None else page.text).replace("\r\n", "\n").strip())
            hosts = map(host_of, URL.findall(text)) if page is None else page.hosts
            late |= {f"host:{host}": None for host in list(hosts)[:MOST_WORDS] if host}
            late |= {"html:hidden": None} if page is not None and page.hides else {}
    head = first or {}
    text = "\n".join(body)
    subject, sender, name = (decode_header(head.get(header, "")) for header in ("subject", "from", "message-id"))
    key = sha256("\0".join([name, subject, text]).encode("utf-8", "replace"))
    address = ADDRESS.search(sender)
    marks = tuple(dict.fromkeys([*_of_headers(head, subject), *late]))
    return Message(subject, address[0] if address else sender, text, marks, tuple(attachments), key.hexdigest()[:32])


def _of_headers(head: Headers, subject: str) -> Iterator[str]:
    """Tokens of the subject, the sender and the mail program."""
    yield from (f"subject:{word}" for word in WORD.findall(subject.lower())[:MOST_WORDS] if len(word) > 1)
    for header, mark in ADDRESSES.items():
        for found in list(ADDRESS.finditer(decode_header(head.get(header, ""))))[:20]:
            yield f"{mark}:{found[0].lower()}"
            yield f"{mark}:{found[2].lower().strip('.')}"
    for header, mark in WORDS.items():
        yield from (f"{mark}:{word}" for word in WORD.findall(decode_header(head.get(header, "")).lower())[:20])


def _of_attachment(name: str, kind: str) -> Iterator[str]:
    yield f"attachment:{(name or kind).lower()[:100]}"
    if "." in name:
        yield f"attachment:{name.lower().rpartition('.')[2][:20]}"
