"""The pages of the site: every page is listed, links between files resolve, tables are those of their sources.

`make docs` checks what is built.
"""

import re

from .support.data import ROOT

DOCS = ROOT / "docs"
MADE = ("lectures/gallery/", "reference/generated/", "generated/", "_")
PAGES = sorted(path for path in DOCS.rglob("*.md") if not path.relative_to(DOCS).as_posix().startswith(MADE))
TOCTREE = re.compile(r"```\{toctree\}\n(.*?)```", re.DOTALL)
LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])+\]\(([^()\s]+)\)")


def listed() -> dict[str, list[str]]:
    """Page → the pages that its lists name."""
    out = {}
    for path in PAGES:
        found = []
        for text in TOCTREE.findall(path.read_text()):
            for line in text.splitlines():
                name = (re.search(r"<(\S+)>$", line) or re.search(r"(\S+)$", line) or [""])[0].strip("<>")
                if name and not line.startswith(":"):
                    found.append((path.parent / f"{name}.md").resolve())
        out[path] = found
    return out


def test_every_page_is_listed_once():
    found = [page for pages in listed().values() for page in pages]
    made = {DOCS / "lectures" / "gallery" / "index.md"}
    assert set(PAGES) - set(found) == {DOCS / "index.md"}
    assert set(found) - set(PAGES) == made
    assert len(found) == len(set(found))


def test_links_between_files_resolve():
    wrong = []
    for path in PAGES:
        text = re.sub(r"^(`{3,}).*?^\1$", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
        for link in LINK.findall(text):
            target = link.partition("#")[0]
            if "://" in link or not target:
                continue
            where = (path.parent / target).resolve()
            made = where.relative_to(DOCS).as_posix().startswith(MADE) if where.is_relative_to(DOCS) else False
            if not where.exists() and not made:
                wrong.append(f"{path.relative_to(ROOT)}: {link}")
    assert wrong == []


def test_links_to_generated_reference_pages_name_public_things():
    import deciban

    names = set()
    for path in PAGES:
        names |= set(re.findall(r"reference/generated/deciban\.(\w+)\.rst", path.read_text()))
    assert names
    assert names <= set(deciban.__all__)


def test_the_reference_lists_every_public_name():
    import deciban
    from deciban import datasets, plots

    text = (DOCS / "reference" / "index.md").read_text()
    names = {line.strip() for line in text.splitlines() if line.startswith("   ") and " " not in line.strip()}
    assert {*deciban.__all__, *plots.__all__, *datasets.__all__} - names == set()


def test_tables_of_the_chooser_are_those_of_the_results():
    from bench.chooser import tables

    text = (DOCS / "choose.md").read_text()
    for name, table in tables().items():
        assert f"<!-- {name}:begin -->\n{table}\n<!-- {name}:end -->" in text, "python -m bench.chooser"


def test_the_diagram_links_to_public_classes():
    import deciban

    names = re.findall(r'\["([^\]]+)"\]', (DOCS / "_extensions" / "chooser_diagram.py").read_text())
    found = {name.strip('" ') for group in names for name in group.split(",")}
    assert found
    assert found <= set(deciban.__all__)


def test_pages_name_no_host_of_packages_and_no_path_of_a_machine():
    wrong = [
        str(path)
        for path in PAGES
        if re.search(r"\bpypi\.org|anaconda\.org|/home/|/tmp/|(?<![\w.])/work\b", path.read_text())
    ]
    assert wrong == []
