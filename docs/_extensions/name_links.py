"""Public names in running text are links to the reference: `MixedNB`, `MixedNB(calibrate=True)`, `plots.nomogram`.

A name after "scikit-learn" in a sentence, or in a column of another library, is that library's and no link.
"""

import re
from functools import cache

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

OTHERS = re.compile("scikit-learn|Weka|Orange|river|R|statsmodels")
RATIO = re.compile(r"(?<=\d) : (?=\d)")
NAME = re.compile(r"(?:deciban\.)?((?:plots\.|metrics\.|datasets\.)?\w+)(?:\(.*\))?")


@cache
def pages() -> dict[str, str]:
    """Name → its page."""
    import deciban
    from deciban import datasets, plots

    names = [*deciban.__all__, *(f"plots.{name}" for name in plots.__all__)]
    names += [f"datasets.{name}" for name in datasets.__all__]
    return {name: f"reference/generated/deciban.{name}" for name in names}


def closest(node: nodes.Node, kind: type) -> nodes.Node | None:
    while node is not None and not isinstance(node, kind):
        node = node.parent
    return node


def is_of_another_library(literal: nodes.literal) -> bool:
    """Whether its sentence, or the head of its column, has named another library."""
    paragraph, entry = closest(literal, nodes.paragraph), closest(literal, nodes.entry)
    before = ""
    for text in paragraph.findall(nodes.Text) if paragraph is not None else ():
        if text.parent is literal:
            break
        before += text.astext()
    column = ""
    if entry is not None and (head := next(closest(entry, nodes.table).findall(nodes.thead), None)) is not None:
        column = head[0][entry.parent.index(entry)].astext()
    return "scikit-learn" in before.rpartition(". ")[2] or bool(OTHERS.fullmatch(column))


class NameLinks(SphinxPostTransform):
    default_priority = 900
    formats = ("html",)

    def run(self, **kwargs) -> None:
        here = self.env.docname
        if here.startswith(("changelog", "cli")):
            return
        for literal in list(self.document.findall(nodes.literal)):
            match = NAME.fullmatch(literal.astext())
            page = pages().get(match[1]) if match else None
            if page not in self.env.found_docs or page == here or self.inside_link_or_title(literal):
                continue
            if is_of_another_library(literal):
                continue
            uri = self.app.builder.get_relative_uri(here, page)
            link = nodes.reference("", "", internal=True, refuri=uri, classes=["name"])
            literal.replace_self(link)
            link += literal

    @staticmethod
    def inside_link_or_title(node: nodes.Node) -> bool:
        while node is not None:
            if isinstance(node, nodes.reference | nodes.title):
                return True
            node = node.parent
        return False


class UnbrokenRatios(SphinxPostTransform):
    """No line break inside of 10 : 1."""

    default_priority = 910
    formats = ("html",)

    def run(self, **kwargs) -> None:
        for text in list(self.document.findall(nodes.Text)):
            if RATIO.search(text) and not isinstance(text.parent, nodes.literal | nodes.literal_block):
                text.parent.replace(text, nodes.Text(RATIO.sub("\u00a0:\u00a0", text)))


def setup(app) -> dict:
    app.add_post_transform(NameLinks)
    app.add_post_transform(UnbrokenRatios)
    return {"parallel_read_safe": True}
