"""The visible text of an HTML page, the hosts of its links, and whether it hides text.

The page is parsed in one pass from left to right, in linear time for any input; the standard library's parser is
quadratic for some pages. An unclosed comment, quote or script hides all that follows, as it does in a browser. Tags
within a word do not split it: spam uses them to hide words from filters.

>>> page = visible_text("<p>V<!-- not -->ia<b>gra</b><p hidden>hello</p>&pound;5 <a href='http://x.example/buy'>here</a>")
>>> page.text.split(), page.hosts, page.hides
(['Viagra', '£5', 'here'], ('x.example',), True)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape

RAW = {name: re.compile(f"</{name}(?=[\\s/>])", re.I | re.A) for name in ("script", "style", "template", "title")}
UNSEEN = {"script", "style", "template"}  # elements whose content is not text
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
INLINE_TAGS = {
    "a",
    "abbr",
    "acronym",
    "b",
    "bdi",
    "bdo",
    "big",
    "cite",
    "code",
    "del",
    "dfn",
    "em",
    "font",
    "i",
    "img",
    "ins",
    "kbd",
    "label",
    "mark",
    "nobr",
    "o:p",
    "q",
    "s",
    "samp",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "sup",
    "tt",
    "u",
    "var",
    "wbr",
}  # tags that do not part words
LINKS = {"href", "src", "action", "background", "formaction"}
MOST_HOSTS = 200

TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]{0,40})")
NAME = re.compile(r"[\s/]*([^\s/>=]*)")
EQUALS = re.compile(r"\s*=\s*")
BARE = re.compile(r"[^\s>]*")
HOST = re.compile(r"\s*(?:https?:)?//([^/?#\s]{1,260})|\s*mailto:[^@?\s]{1,260}@([^?\s]{1,260})", re.I)
FAR = re.compile(r"&#(?:\d{8,}|x[0-9a-f]{7,});?", re.I)  # no such character; its number would take long to read
NOTHING = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))  # characters without width
HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all|opacity\s*:\s*0(?![.\d])"
    r"|(?:font-size|max-height|line-height)\s*:\s*[01](?:px|pt|%|em)?\s*(?:;|!|$)",
    re.I,
)


@dataclass(frozen=True)
class Page:
    text: str
    hosts: tuple[str, ...]  # that links and pictures go to, in their order, each once
    hides: bool  # whether there is hidden text


def visible_text(html: str) -> Page:
    """The visible text of a page, the hosts of its links, and whether it hides text."""
    return _Reader(html).read()


def host_of(link: str) -> str | None:
    """The host of a link, in lower case, without user and port; the domain of a mail address.

    >>> host_of("HTTPS://user@Shop.Example:8080/x?y"), host_of("mailto:ann@b.example"), host_of("#top")
    ('shop.example', 'b.example', None)
    """
    found = HOST.match(link)
    if not found:
        return None
    return (found[1] or found[2]).rpartition("@")[2].partition(":")[0].strip(".").lower() or None


class _Reader:
    def __init__(self, html: str):
        self.html, self.at = html, 0
        self.pieces: list[str] = []
        self.hosts: dict[str, None] = {}
        self.hides = False
        self.within: tuple[str, int] | None = None  # the hidden element, and how many of its name are open

    def read(self) -> Page:
        html, end = self.html, len(self.html)
        while self.at < end:
            start = html.find("<", self.at)
            start = end if start < 0 else start
            self._say(html[self.at : start])
            self.at = start
            if start < end:
                self._markup()
        text = "".join(self.pieces).translate(NOTHING)
        return Page(text, tuple(self.hosts), self.hides)

    def _say(self, text: str) -> None:
        if not text:
            return
        if self.within is None:
            self.pieces.append(unescape(FAR.sub("\ufffd", text)))
        elif text.strip():
            self.hides = True

    def _markup(self) -> None:
        """What starts with `<` here; a lone one is text."""
        html, start = self.html, self.at
        if html.startswith("<!--", start):
            self._skip("-->", start + (2 if html.startswith("<!-->", start) else 4))
        elif html.startswith(("<!", "<?"), start):
            self._skip(">", start + 2)
        elif found := TAG.match(html, start):
            self.at = found.end()
            self._tag(found[2].lower(), bool(found[1]))
        else:
            self._say("<")
            self.at = start + 1

    def _skip(self, mark: str, start: int) -> None:
        stop = self.html.find(mark, start)
        self.at = len(self.html) if stop < 0 else stop + len(mark)

    def _tag(self, name: str, closes: bool) -> None:
        hidden = self._attributes() and not closes
        if name not in INLINE_TAGS and self.within is None:
            self.pieces.append("\n")
        if not closes and name in RAW:
            self._raw(name)
        elif self.within is not None:
            mine, depth = self.within
            if name == mine:
                depth += -1 if closes else 1
                self.within = (mine, depth) if depth else None
        elif hidden and name not in VOID:
            self.within = (name, 1)

    def _raw(self, name: str) -> None:
        """Content in which nothing is a tag but the end of it."""
        found = RAW[name].search(self.html, self.at)
        stop = found.start() if found else len(self.html)
        if name not in UNSEEN:
            self._say(self.html[self.at : stop])
        self.at = stop

    def _attributes(self) -> bool:
        """Read to the end of the tag; whether it hides what it holds."""
        hidden = False
        while True:
            found = NAME.match(self.html, self.at)
            assert found is not None  # it matches nothing at all, too
            self.at, name = found.end(), found[1].lower()
            value = self._value()
            if name == "hidden" or (name == "style" and HIDING.search(value[:2000])):
                hidden = True
            elif name in LINKS and len(self.hosts) < MOST_HOSTS and (host := host_of(unescape(value[:600]))):
                self.hosts[host] = None
            here = self.html[self.at : self.at + 1]
            if here in ("", ">"):
                self.at += 1
                return hidden

    def _value(self) -> str:
        """What follows `=`, if that is next."""
        html = self.html
        found = EQUALS.match(html, self.at)
        if not found:
            return ""
        self.at = found.end()
        quote = html[self.at : self.at + 1]
        if quote in ("'", '"') and quote:
            start = self.at + 1
            stop = html.find(quote, start)
            stop = len(html) if stop < 0 else stop
            self.at = stop + 1
        else:
            bare = BARE.match(html, self.at)
            assert bare is not None
            start, stop = self.at, bare.end()
            self.at = stop
        return html[start:stop]
