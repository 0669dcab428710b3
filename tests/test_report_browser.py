"""Reports in a real browser: nothing on the console, nothing asked of the network, something to see at every width.

Needs Chromium (Debian: `apt-get install chromium`); skipped where there is none.
"""

from __future__ import annotations

import io
import os
import shutil
import socketserver
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

import deciban

from .support.data import table
from .test_report import hostile
from .test_report_texts import talk

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no browser: apt-get install chromium")
CHATTER = ("google.com", "googleapis.com", "gvt1.com")  # what the browser asks for by itself, whatever the page
SCHEMES = {"light": "1", "dark": "0"}  # Blink's names for them


class Recorder(socketserver.ThreadingTCPServer):
    """A proxy that notes what it is asked for and gives nothing."""

    daemon_threads = True

    def __init__(self) -> None:
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", 0), Refusal)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Refusal(socketserver.StreamRequestHandler):
    server: Recorder

    def handle(self) -> None:
        self.server.asked.append(self.rfile.readline().decode(errors="replace").strip())


def browse(page: Path, folder: Path, *more: str, proxy: Recorder | None = None) -> tuple[str, str]:
    """What Chromium writes and what it says on its console."""
    assert BROWSER is not None
    command = [
        BROWSER,
        "--headless",
        "--no-sandbox",  # root in a container has none
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        "--hide-scrollbars",
        f"--user-data-dir={folder / 'profile'}",
        "--enable-logging=stderr",
        "--v=0",
        f"--proxy-server=127.0.0.1:{proxy.server_address[1]}" if proxy else "--host-resolver-rules=MAP * ~NOTFOUND",
        "--proxy-bypass-list=<-loopback>",
        *more,
        page.as_uri(),
    ]
    env = {**os.environ, "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder)}
    out = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, env=env, cwd=folder)
    return out.stdout, out.stderr


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    X, y = table(200)
    out = {name: folder / f"{name}.html" for name in ("mixed", "hostile", "texts")}
    deciban.report(deciban.MixedNB().fit(X[:120], y[:120]), X[120:], y[120:], out["mixed"], train=X[:120])
    X, y = hostile()
    deciban.report(deciban.MixedNB().fit(X[::2], y[::2]), X[1::2], y[1::2], out["hostile"])
    texts, y = talk(200)
    deciban.report(deciban.TextClassifier().fit(texts[:120], y[:120]), texts[120:], y[120:], out["texts"])
    return out


def console(said: str) -> list[str]:
    return [line for line in said.splitlines() if "CONSOLE" in line or "Refused to" in line]


@pytest.mark.parametrize("name", ["mixed", "hostile", "texts"])
def test_pages_load_without_a_word_on_the_console_or_a_request(name, pages, tmp_path):
    with Recorder() as proxy:
        dom, said = browse(pages[name], tmp_path, "--dump-dom", proxy=proxy)
        proxy.shutdown()
    assert console(said) == []
    assert [line for line in proxy.asked if not any(host in line for host in CHATTER)] == []
    assert dom.count("<section") == pages[name].read_text(encoding="utf-8").count("<section") >= 6
    assert dom.rstrip().endswith("</footer>\n\n\n</body></html>")


def test_the_console_would_be_heard_and_a_request_seen(tmp_path):
    """The test above can fail: a page with an error and a foreign picture is caught."""
    page = tmp_path / "bad.html"
    page.write_text("<script>console.error('oh')</script><img src='http://elsewhere.example/a.png'>")
    with Recorder() as proxy:
        _, said = browse(page, tmp_path, "--dump-dom", proxy=proxy)
        proxy.shutdown()
    assert any("oh" in line for line in console(said))
    assert any("elsewhere.example" in line for line in proxy.asked)


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [("mixed", 400, "light"), ("mixed", 1400, "dark"), ("texts", 400, "dark"), ("texts", 1400, "light")],
)
def test_there_is_something_to_see(width, scheme, name, pages, tmp_path):
    shot = tmp_path / "shot.png"
    look = f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}"
    browse(pages[name], tmp_path, f"--screenshot={shot}", f"--window-size={width},2400", look)
    pixels = imread(io.BytesIO(shot.read_bytes()))[:, :, :3]
    assert pixels.shape == (2400, width, 3)
    back = pixels[2, 2]
    assert (back.mean() > 0.9) == (scheme == "light")
    inked = np.abs(pixels - back).max(axis=2) > 0.2
    assert 0.01 < inked.mean() < 0.5
    bands = inked.reshape(8, -1).mean(axis=1)
    assert (bands > 0.002).all()  # no band of the page is blank
    assert not inked[:, -2:].any()  # nothing sticks out at the right
