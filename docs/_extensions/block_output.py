"""What the blocks of a page print and draw, below each block.

The blocks of a page run from top to bottom, in one namespace and a folder of their own. Pages that only compute
(assertions, no `print` and no picture) are left to the tests. `sh` blocks run on the pages of `SHELL`.
"""

import re
from pathlib import Path

from run_code import BLOCK, LINES, ROOT, run_all, run_page
from sphinx.util import logging

SHELL = {"start/command-line"}
SHOWS = re.compile(r"print\(|plots\.|\.plot\(")
TABLE = re.compile(r"\S {2,}\S")  # what is printed in columns keeps its lines; other lines may wrap
PICTURES = ROOT / "docs" / "generated"
logger = logging.getLogger(__name__)


def shows(page: str, text: str) -> bool:
    """Whether a page has blocks whose output is to be seen."""
    if page.startswith(("reference/", "mathematics/", "lectures/gallery/", "generated/")):
        return False
    return any(SHOWS.search(code) for language, code in BLOCK.findall(text) if language == "python") or page in SHELL


def run(app) -> None:
    docs = Path(app.srcdir)
    texts = {path.relative_to(docs).with_suffix("").as_posix(): path.read_text() for path in docs.rglob("*.md")}
    pages = {page: text for page, text in texts.items() if shows(page, text)}
    jobs = {page: (run_page, page, text, page in SHELL) for page, text in pages.items()}
    app.block_output = run_all(jobs, Path(app.doctreedir).parent / "outputs")
    app.block_texts = texts
    PICTURES.mkdir(exist_ok=True)
    logger.info("blocks of %d pages have run", len(jobs))


def output(page: str, number: int, result: dict) -> str:
    """Text and pictures of a block, as Markdown."""
    out = ""
    lines = result["text"].rstrip().split("\n")
    if lines != [""]:
        lines = [*lines[:LINES], "…"] if len(lines) > LINES else lines
        text = "\n".join(lines)
        kind = "output" if TABLE.search(text) else "output prose"
        out += f"\n\n````{{code-block}} text\n:class: {kind}\n\n{text}\n````\n"
    for order, picture in enumerate(result["pictures"]):
        name = f"{page.replace('/', '-')}-{number}-{order}.png"
        path = PICTURES / name
        content = bytes.fromhex(picture)
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)
        out += f"\n\n![output of the block above](/generated/{name})\n"
    return out


def read(app, page: str, source: list[str]) -> None:
    if page not in app.block_output:
        return
    results = iter(enumerate(app.block_output[page]))
    source[0] = BLOCK.sub(lambda match: match[0] + output(page, *next(results)), source[0])


def setup(app) -> dict:
    app.connect("builder-inited", run, priority=400)
    app.connect("source-read", read, priority=50)
    return {"parallel_read_safe": False}
