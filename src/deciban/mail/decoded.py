"""Bytes of a message as they were meant: headers, transfer encodings, character sets; broken ones as far as they go.

>>> headers, body = headers_of(b"Subject: a\\n long one\\nContent-Transfer-Encoding: base64\\n\\nR3LDvMOfZQ==")
>>> headers["subject"], characters(transferred(headers, body, 99), "utf-8")
('a long one', 'Grüße')
>>> characters(b"caf\\xe9", "no-such-set"), readable("=?iso-8859-1?q?caf=E9?= =?utf-8?b?ISE=?=")
('café', 'café!!')
"""

from __future__ import annotations

import binascii
import codecs
import re
from urllib.parse import unquote_to_bytes

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


def raw_of(text: str) -> bytes:
    """The bytes that a text stands for, where some of them were no characters."""
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


def named(value: str, name: str) -> str:
    """A parameter of a header, such as the boundary of `multipart/mixed; boundary="x"`; "" where there is none.

    >>> named('text/plain; charset="UTF-8"', "charset"), named("a; filename*=utf-8''%C3%BC.exe", "filename")
    ('UTF-8', 'ü.exe')
    """
    found = re.search(rf'[;\s]{name}(\*0?\*?)?[ \t]*=[ \t]*(?:"([^"]*)"|([^\s;"]+))', value, re.I)
    if not found:
        return ""
    text = found[2] if found[2] is not None else found[3]
    if not (found[1] or "").endswith("*"):
        return text
    charset, _, quoted = text.partition("'")
    return characters(unquote_to_bytes(quoted.partition("'")[2]), charset)


def transferred(headers: Headers, body: bytes, most: int) -> bytes:
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


def characters(raw: bytes, charset: str) -> str:
    """Bytes as text: by the character set named, else UTF-8, else Windows' western one. What cannot be is U+FFFD."""
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
    """Without halves of characters, which nothing could write down."""
    return text.encode("utf-8", "replace").decode("utf-8")


def readable(value: str) -> str:
    """A header's value with its encoded words decoded."""
    value = value[:LONGEST]
    plain = characters(raw_of(value), "utf-8")
    return ENCODED.sub(_word, plain)


def _word(found: re.Match[str]) -> str:
    raw = found[3].encode("utf-8", "replace")
    if found[2] in "bB":
        return characters(_base64(raw), found[1].partition("*")[0])
    return characters(binascii.a2b_qp(raw, header=True), found[1].partition("*")[0])
