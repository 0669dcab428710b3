"""Check a built site: links, pictures and anchors inside of it resolve, nothing is loaded from elsewhere, and the
search finds what people look for: in its index, and, where Chromium is installed, among the first results of the page.

    python docs/check_site.py build/docs/html
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, unquote, urldefrag

SEARCHES = {  # query → a page that it must find
    "forget": "guide/updating",
    "missing values": "guide/tables",
    "odds ratio": "guide/inference",
    "play tennis": "lectures/gallery/003_3_play_tennis",
    "label errors": "guide/auditing",
    "calibration": "guide/calibration",
    "remove a customer": "guide/updating",
    "leave-one-out": "mathematics/leave-one-out",
}
TASKS = {  # what a new user looks for → the page, at most three clicks from the first one
    "the class for a mixed table with missing cells": "choose",
    "calibrate it": "guide/calibration",
    "explain a row": "guide/explaining",
    "save and load it": "guide/files",
    "remove a customer": "guide/updating",
    "reproduce a figure of a lecture": "lectures/gallery/000_4_two_gaussians",
    "how LDA's leave-one-out is computed": "mathematics/gaussian-joint",
    "how GaussianNB differs from scikit-learn's": "coming-from/scikit-learn",
}
FIRST = 5  # results among which the page is
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--virtual-time-budget=20000",
    "--dump-dom",
]
SKIPPED = ("search.html", "genindex.html", "_static/", "_modules/")


class Page(HTMLParser):
    """Links, loaded files and anchors of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        found = dict(attrs)
        self.anchors |= {found[key] for key in ("id", "name") if found.get(key)}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag in ("img", "script") and found.get("src"):
            self.loaded.append(found["src"])
        if tag == "link" and found.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.append(found["href"])


@cache
def page(path: Path) -> Page:
    return Page(path.read_text())


def dead_links(site: Path) -> list[str]:
    """Links and files of all pages that lead nowhere, and files that are loaded from elsewhere."""
    wrong = []
    for path in sorted(site.rglob("*.html")):
        name = path.relative_to(site).as_posix()
        if name.startswith(SKIPPED):
            continue
        for link in page(path).links + page(path).loaded:
            target, anchor = urldefrag(link)
            if re.match(r"[a-z]+:|//", link):
                wrong += [f"{name}: loads {link}"] if link in page(path).loaded and not link.startswith("data:") else []
                continue
            where = (path.parent / unquote(target.partition("?")[0])).resolve() if target else path
            if not where.is_file():
                wrong.append(f"{name}: {link}")
            elif anchor and where.suffix == ".html" and unquote(anchor) not in page(where).anchors:
                wrong.append(f"{name}: {link} (no such anchor)")
    return wrong


def pages_found(site: Path, query: str) -> set[str]:
    """The pages whose text or title has all words of a query, by the index that the site searches."""
    import snowballstemmer
    from sphinx.search.en import SearchEnglish

    index = json.loads((site / "searchindex.js").read_text().removeprefix("Search.setIndex(").removesuffix(")"))
    stem = snowballstemmer.stemmer("english").stemWord
    found = None
    for word in re.findall(r"\w+", query.lower()):
        if word in SearchEnglish.stopwords:
            continue
        entries = [index[part].get(stem(word), []) for part in ("terms", "titleterms")]
        pages = {number for one in entries for number in (one if isinstance(one, list) else [one])}
        found = pages if found is None else found & pages
    return {index["docnames"][number] for number in found or ()}


def first_results(site: Path, query: str) -> list[str]:
    """The pages of the first results that the page of the search shows in a browser."""
    address = f"{(site / 'search.html').resolve().as_uri()}?q={quote(query)}"
    with tempfile.TemporaryDirectory() as profile:
        command = [BROWSER, *OPTIONS, f"--user-data-dir={profile}", "--host-resolver-rules=MAP * ~NOTFOUND", address]
        found = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    results = re.search(r'<ul[^>]*class="search".*?</ul>', found, re.DOTALL)
    links = re.findall(r'<a href="([^"?#]+)\.html', results[0]) if results else []
    return list(dict.fromkeys(links))[:FIRST]


def clicks(site: Path) -> dict[str, int]:
    """The least number of clicks from the first page to each page."""
    distance, queue = {"index": 0}, ["index"]
    while queue:
        here = queue.pop(0)
        path = site / f"{here}.html"
        for link in page(path).links:
            target = urldefrag(link)[0]
            where = (path.parent / unquote(target)).resolve()
            if not target.endswith(".html") or ":" in target or not where.is_file():
                continue
            name = where.relative_to(site.resolve()).with_suffix("").as_posix()
            if name not in distance:
                distance[name] = distance[here] + 1
                queue.append(name)
    return distance


def main(folder: str) -> int:
    site = Path(folder)
    wrong = [f"dead link: {one}" for one in dead_links(site)]
    for query, wanted in SEARCHES.items():
        found = pages_found(site, query)
        print(f"search {query!r}: {len(found)} pages")
        if wanted not in found:
            wrong.append(f"the search for {query!r} does not find {wanted}, but {sorted(found)[:5]}")
        elif BROWSER and wanted not in (first := first_results(site, query)):
            wrong.append(f"the first results of the search for {query!r} are {first}, without {wanted}")
    distance = clicks(site)
    for task, wanted in TASKS.items():
        print(f"{task}: {distance.get(wanted)} clicks")
        if distance.get(wanted, 9) > 3:
            wrong.append(f"{wanted} is more than three clicks away")
    print(*wrong, sep="\n", file=sys.stderr)
    print(f"{len(list(site.rglob('*.html')))} pages, {len(wrong)} errors")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
