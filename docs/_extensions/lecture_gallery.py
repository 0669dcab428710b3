"""The gallery of `examples/lectures`: every script has a page with its picture, what it prints, and its code.

The pages are written to `lectures/gallery/` before the sources are read; the texts are those of the scripts and of the
table in their README.
"""

import ast
import re
from pathlib import Path

from run_code import ROOT, run_all, run_script
from sphinx.util import logging

SCRIPTS = ROOT / "examples" / "lectures"
ROW = re.compile(r"^\| \[(\w+)\.py\]\([^)]+\) \| (.+) \| (\d{3}), (.+) \|$", re.MULTILINE)
LECTURES = {
    "000": "Likelihood, logistic regression, normal classes, naive Bayes",
    "001": "Discriminants, naive Bayes, texts",
    "002": "Newton, softmax, exponential families",
    "003": "Hypotheses, play tennis, missing values, odds",
    "004": "Least squares, generative against discriminative",
}
PAGE = """\
# {title}

{text}

*Lecture {lecture}, {section}. Script: `examples/lectures/{name}.py`, [download](/lectures/gallery/{name}.py).*

{pictures}

```{{code-block}} python

{code}
```

{printed}
"""
INDEX = """\
# Gallery of the lectures

{count} scripts, each with the picture that it draws, what it prints and its code. Each runs when this site is built.
Run one of your own copy with `python examples/lectures/NAME.py`.

{sections}
"""
CARD = """\
:::{{grid-item-card}} {shows}
:link: {name}
:link-type: doc
{image}
{section}
:::
"""
SECTION = """\
## Lecture {lecture}: {title}

::::{{grid}} 1 2 3 3
:gutter: 3
:class-container: gallery

{cards}
::::

```{{toctree}}
:hidden:

{pages}
```
"""
logger = logging.getLogger(__name__)


def title_and_text(path: Path) -> tuple[str, str]:
    """The first sentence of a script's docstring, without the place in the lecture, and the rest."""
    first, _, rest = ast.get_docstring(ast.parse(path.read_text())).partition("\n\n")
    first = " ".join(first.split())
    sentence, dot, more = first.partition(". ")
    title = re.sub(r"^Lecture \d{3}, | \(lecture .*\)", "", sentence).rstrip(".")
    text = "\n\n".join(part for part in (more, rest) if part)
    return title[0].upper() + title[1:], re.sub(r"([*|])", r"\\\1", text)


def write(path: Path, text: str) -> None:
    """Write a file if its text is another one, so that unchanged pages are not read again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def make(app) -> None:
    folder = Path(app.srcdir) / "lectures" / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    rows = ROW.findall((SCRIPTS / "README.md").read_text())
    jobs = {name: (run_script, str(SCRIPTS / f"{name}.py")) for name, *_ in rows}
    results = run_all(jobs, Path(app.doctreedir).parent / "outputs")
    cards: dict[str, list[str]] = {}
    for name, shows, lecture, section in rows:
        script = SCRIPTS / f"{name}.py"
        write(folder / script.name, script.read_text())
        pictures, printed = [], "It needs files that are not part of the repository, and did not run for this page."
        if results[name] is not None:
            found = results[name][0]
            for order, content in enumerate(found["pictures"]):
                picture = folder / f"{name}-{order}.png"
                if not picture.exists() or picture.read_bytes() != bytes.fromhex(content):
                    picture.write_bytes(bytes.fromhex(content))
                pictures.append(f"![{shows}]({picture.name})")
            lines = found["text"].rstrip().replace(str(ROOT), "…")
            printed = f"It prints:\n\n````{{code-block}} text\n:class: output\n\n{lines}\n````" if lines else ""
        title, text = title_and_text(script)
        page = PAGE.format(
            title=title,
            text=text,
            lecture=lecture,
            section=section,
            name=name,
            pictures="\n\n".join(pictures),
            printed=printed,
            code=script.read_text().split('"""', 2)[2].strip(),
        )
        write(folder / f"{name}.md", page)
        image = f":img-top: {name}-0.png\n" if pictures else ""
        cards.setdefault(lecture, []).append(CARD.format(shows=shows, name=name, image=image, section=section))
    sections = [
        SECTION.format(
            lecture=lecture,
            title=LECTURES[lecture],
            cards="\n".join(found),
            pages="\n".join(name for name, _, of, _ in rows if of == lecture),
        )
        for lecture, found in cards.items()
    ]
    write(folder / "index.md", INDEX.format(count=len(rows), sections="\n".join(sections)))
    wanted = {"index", *(name for name, *_ in rows)}
    for path in folder.glob("*.md"):
        if path.stem not in wanted:
            path.unlink()
    stopped = [name for name, result in results.items() if result is None]
    logger.info(
        "gallery: %d scripts have run%s", len(rows) - len(stopped), f", not {', '.join(stopped)}" * bool(stopped)
    )


def setup(app) -> dict:
    app.connect("builder-inited", make, priority=300)
    return {"parallel_read_safe": True}
