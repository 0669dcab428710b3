"""Run the blocks of a page, or a script of the gallery, and keep what they print and draw.

Results are kept in a folder, by a key of the text, the data and the library, so that a build runs only what has changed.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "docs" / "data"
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINES = 60  # of an output that are shown


def library_key() -> str:
    """A hash of the sources of the library and of the data of the pages."""
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "cpp").rglob("*.*pp"), *DATA.glob("*"), Path(__file__)]
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def in_folder_of_data() -> contextlib.AbstractContextManager:
    """A new folder with the files of `docs/data`, as the working folder."""
    stack = contextlib.ExitStack()
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    shutil.copytree(DATA, folder, dirs_exist_ok=True)
    stack.enter_context(contextlib.chdir(folder))
    return stack


def run_python(code: str, namespace: dict, name: str) -> str:
    """What a block prints, with the value of its last line, as in a notebook."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(tree, name, "exec"), namespace)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
            if value is not None and not hasattr(value, "fit") and not type(value).__module__.startswith("matplotlib"):
                print(repr(value))
    return out.getvalue()


def run_shell(code: str) -> str:
    """What the commands of a block print; messages too."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"}
    found = subprocess.run(
        ["sh", "-e", "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        check=False,
    )
    if found.returncode:
        raise RuntimeError(f"{code}\n{found.stdout}")
    return found.stdout


def figures() -> list[bytes]:
    """The open figures as PNG, which are closed."""
    if "matplotlib.pyplot" not in sys.modules:
        return []
    from matplotlib import pyplot

    pictures = []
    for number in pyplot.get_fignums():
        content = io.BytesIO()
        pyplot.figure(number).savefig(content, dpi=110, bbox_inches="tight")
        pictures.append(content.getvalue())
    pyplot.close("all")
    return pictures


def run_page(name: str, text: str, shell: bool) -> list[dict]:
    """Text and pictures of each block of a page."""
    import matplotlib

    matplotlib.use("agg")
    namespace: dict = {"__name__": "page"}
    found = []
    with in_folder_of_data():
        for language, code in BLOCK.findall(text):
            if language == "python":
                printed = run_python(code, namespace, name)
            else:
                printed = run_shell(code) if shell else ""
            found.append({"text": printed, "pictures": [one.hex() for one in figures()]})
    return found


def run_script(path: str) -> list[dict] | None:
    """Text and pictures of a script; None if it stops because a file of data is not there."""
    import runpy

    import matplotlib

    matplotlib.use("agg")
    with in_folder_of_data(), contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            runpy.run_path(path, run_name="lecture")
        except SystemExit:
            return None
    return [{"text": out.getvalue(), "pictures": [one.hex() for one in figures()]}]


def run_all(jobs: dict[str, tuple], kept: Path) -> dict[str, list[dict] | None]:
    """The results of jobs (name → function and arguments), those that were kept without running them again."""
    library = library_key()
    kept.mkdir(parents=True, exist_ok=True)
    done, new = {}, {}
    for name, (function, *arguments) in jobs.items():
        text = Path(arguments[0]).read_text() if function is run_script else arguments[1]
        key = hashlib.sha256(f"{library}{name}{text}".encode()).hexdigest()[:24]
        path = kept / f"{key}.json"
        if path.exists():
            done[name] = json.loads(path.read_text())
        else:
            new[name] = (path, function, arguments)
    if new:
        with ProcessPoolExecutor(min(2, os.cpu_count() or 1), mp_context=get_context("spawn")) as pool:
            futures = {name: pool.submit(function, *arguments) for name, (_, function, arguments) in new.items()}
            for name, future in futures.items():
                done[name] = future.result()
                if done[name] is not None:
                    new[name][0].write_text(json.dumps(done[name]))
    return done
