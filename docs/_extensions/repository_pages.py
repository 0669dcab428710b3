"""Pages that live elsewhere in the repository (benchmarks, CONTRIBUTING, CHANGELOG) as pages of the site.

A page here that holds nothing but a title and a link to such a file is replaced by the file. Links between files of the
repository, which a code host follows, become links between pages; those to files that are no page become plain text.
"""

import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = {  # file of the repository → page of the site
    "README.md": "index",
    "CONTRIBUTING.md": "contributing/map",
    "CHANGELOG.md": "changelog",
    "examples/lectures/README.md": "lectures/gallery/index",
    **{f"bench/{path.name}": f"benchmarks/{path.stem.lower()}" for path in (ROOT / "bench").glob("*.md")},
}
PAGES["bench/README.md"] = "benchmarks/speed"
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])+)\]\(([^()\s]+)\)")
FENCE = re.compile(r"^(`{3,}|:{3,}).*?^\1\s*$", re.DOTALL | re.MULTILINE)


def page_of(path: str) -> str | None:
    """The page that shows a file of the repository, if there is one."""
    if path in PAGES:
        return PAGES[path]
    if match := re.fullmatch(r"examples/lectures/(\w+)\.py", path):
        return f"lectures/gallery/{match[1]}"
    if path.startswith("docs/") and path.endswith(".md"):
        return path.removeprefix("docs/").removesuffix(".md")
    return None


def link_pages(text: str, folder: str) -> str:
    """A text with its relative links, written in a folder of the repository, as links between pages."""

    def replace(match: re.Match) -> str:
        label, target = match.groups()
        path, mark, anchor = target.partition("#")
        if not path or "://" in target or target.startswith(("mailto:", "/")):
            return match[0]
        inside = os.path.normpath(os.path.join(folder, path))
        page = page_of(inside)
        if page is not None:
            return f"[{label}](/{page}.md{mark}{anchor})"
        if inside.startswith("docs/"):
            return match[0]  # a file that the site offers, or a page that is missing: an error of the build
        if not (ROOT / inside).exists():
            raise FileNotFoundError(f"{folder}: there is no file {target}")
        return label

    pieces, end = [], 0
    for fence in FENCE.finditer(text):
        if fence[1].startswith("`"):
            pieces += [LINK.sub(replace, text[end : fence.start()]), fence[0]]
            end = fence.end()
    return "".join([*pieces, LINK.sub(replace, text[end:])])


def shown_file(text: str, folder: str) -> str | None:
    """The file that a page stands for: its text has one title and one paragraph, a link."""
    match = re.fullmatch(r"# [^\n]+\n\n\[[^\]]+\]\(([^)]+)\)\n", text)
    if match is None:
        return None
    return os.path.normpath(os.path.join(folder, match[1]))


def read(app, page: str, source: list[str]) -> None:
    if page.startswith("reference/generated/"):
        return
    folder = os.path.dirname(f"docs/{page}")
    shown = shown_file(source[0], folder)
    if shown is not None:
        app.env.note_dependency(str(ROOT / shown))
        title = source[0].split("\n")[0]
        text = (ROOT / shown).read_text()
        source[0] = re.sub(r"\A# [^\n]+", lambda _: title, text)
        folder = os.path.dirname(shown)
    source[0] = link_pages(source[0], folder)


def setup(app) -> dict:
    app.connect("source-read", read, priority=100)
    return {"parallel_read_safe": True}
