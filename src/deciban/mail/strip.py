r"""Removes headers, quoted lines and footers from mails and posts.

headers: all before the first empty line, if that is `Name: value` lines (and lines that go on from one, indented).
group headers: of these, the ones that name a newsgroup (Newsgroups, Xref, Followup-To, Path).
quotes: lines that begin with `>`, `|`, `:` or `}` or with initials and one of them, and lines that announce a quote
("… writes:", "In article <…>"). footers: a signature after a line of "--", or a last paragraph that a blank line or a
row of dashes parts from the rest, if it is short.

>>> post = "From: a@b.c\nSubject: tea\n\nBob writes:\n> Milk first?\nNever.\n\n--\nAnn"
>>> stripped(post, ("headers", "quotes", "footers"))
'Never.'
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from deciban.errors import DataError

PARTS = ("group headers", "headers", "quotes", "footers")
ALL = ("headers", "quotes", "footers")  # group headers are headers
_HEADER = re.compile(r"[!-9;-~]+:(?:[ \t]|$)")
_CONTINUES = (" ", "\t", ">")  # first characters of lines that go on from a header
_GROUP_HEADER = re.compile(r"(?:newsgroups|xref|followup-to|path):", re.IGNORECASE)
_QUOTED = re.compile(r"[ \t]*(?:[A-Za-z]{0,3}>|[|:}])")
_ANNOUNCES = re.compile(
    r"\b(?:writes|wrote|says|said)\b[^\n]{0,40}:|\b(?:writes|wrote)\b[.\s]*$|^[ \t]*(?:in article|quoted from)\b",
    re.IGNORECASE,
)
_RULE = re.compile(r"[ \t]*[-_=*+#~]{2,}[-_=*+#~ \t]*$")
FOOTER = 12  # lines, at most


def without_headers(text: str) -> str:
    r"""The message after the headers; a text that does not start with headers stays.

    >>> without_headers("Subject: tea\n\nMilk first?"), without_headers("Milk first: no.\n\nNever.")
    ('Milk first?', 'Milk first: no.\n\nNever.')
    """
    found = _split_headers(text)
    return text if found is None else found[1].removeprefix("\n\n")


def without_group_headers(text: str) -> str:
    r"""Without the headers that name a newsgroup.

    >>> without_group_headers("Path: a!b\nNewsgroups: rec.tea,\n rec.cake\nSubject: tea\n\nPath: up")
    'Subject: tea\n\nPath: up'
    """
    found = _split_headers(text)
    if found is None:
        return text
    lines, keep = [], True
    for line in found[0]:
        keep = keep if line[:1] in _CONTINUES else not _GROUP_HEADER.match(line)
        lines += [line] * keep
    return "\n".join(lines) + found[1]


def _split_headers(text: str) -> tuple[list[str], str] | None:
    """(lines of the headers, the rest from the empty line on); None for a text that does not start with headers."""
    head, gap, body = text.replace("\r\n", "\n").partition("\n\n")
    lines = head.split("\n")
    headers = lines[1:] if lines[0].startswith("From ") else lines  # a mailbox's own line
    fine = bool(headers) and bool(_HEADER.match(headers[0]))
    fine = fine and all(_HEADER.match(line) or line[:1] in _CONTINUES for line in headers)
    return (lines, gap + body) if fine else None


def without_quotes(text: str) -> str:
    r"""Without quoted lines and the lines that introduce them.

    >>> without_quotes("Ann wrote:\n> Milk first.\nNever.")
    'Never.'
    """
    return "\n".join(line for line in text.split("\n") if not _QUOTED.match(line) and not _ANNOUNCES.search(line))


def without_footers(text: str) -> str:
    r"""Without the signature; a text of one paragraph stays.

    >>> without_footers("Never.\n\n-- \nAnn"), without_footers("Never.")
    ('Never.', 'Never.')
    """
    lines = text.rstrip().split("\n")
    for i in range(len(lines) - 1, 0, -1):
        rule = bool(_RULE.match(lines[i]))
        if rule or not lines[i].strip():
            if len(lines) - 1 - i <= FOOTER:
                lines = lines[:i]
            break
    return "\n".join(lines).rstrip()


_STEPS = {
    "group headers": without_group_headers,
    "headers": without_headers,
    "quotes": without_quotes,
    "footers": without_footers,
}


def check_parts(parts: str | Iterable[str], setting: str = "strip") -> tuple[str, ...]:
    """The parts to remove, in the order of removal.

    >>> check_parts("footers"), check_parts(["quotes", "headers"]), check_parts("all")
    (('footers',), ('headers', 'quotes'), ('headers', 'quotes', 'footers'))
    """
    named = [parts] if isinstance(parts, str) else list(parts)
    named = list(ALL) if named == ["all"] else named
    unknown = sorted((part for part in named if part not in PARTS), key=str)
    if unknown:
        raise DataError(f"`{setting}` names {unknown}\n\nhint: some of {list(PARTS)}, or 'all'")
    return tuple(part for part in PARTS if part in named)


def stripped(text: str, parts: Iterable[str]) -> str:
    r"""The text without these parts of it.

    >>> stripped("Subject: tea\n\n> Milk first?\nNever.", ["headers"])
    '> Milk first?\nNever.'
    """
    for part in parts:
        text = _STEPS[part](text)
    return text
