"""Answers to the rows of files, in files: one for one, or a folder for a folder; each is there when it is whole.

>>> import pathlib, tempfile
>>> from deciban import MixedNB
>>> rows = pathlib.Path(tempfile.mkdtemp()) / "rows.csv"
>>> _ = rows.write_text("id,sky\\n007,grey\\n008,blue\\n")
>>> model = MixedNB().fit([["grey"], ["grey"], ["blue"]], ["rain", "rain", "sun"])
>>> written(model, rows, rows.with_name("out.csv"), None, "sky", None).read_text().splitlines()[1][:13]
'007,grey,rain'
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deciban.classifiers.answering import Answering, columns_for
from deciban.engines import stream
from deciban.errors import DataError


def written(model: Any, path: Any, out: Any, priors: Any, features: Any, progress: Any) -> Any:
    """Where the answers to the rows of a path are now; what was not asked for stays as it stands there."""
    from deciban import files

    if out is None:
        raise DataError(
            f"where shall the answers to {path} go?\n\nhint: out=, a file such as {files.named_beside(path).name!r}, "
            "or a folder for a folder; or give rows instead of a path, and have them back"
        )
    for one in (path, *(files.listed(path) or ((), ()))[1]):
        if Path(out).exists() and Path(one).exists() and Path(out).samefile(one):
            raise DataError(f"{out} would take the place of the data\n\nhint: name another file: out=…")
    found = files.listed(path)
    if found is None or (Path(out).suffix and not Path(out).is_dir()):
        _write(model, path, out, priors, features, progress)
        return out
    root, paths = found
    folder = Path(out)
    before = 0

    def tell(rows: int, share: float | None) -> None:
        if progress is not None:
            progress(before + rows, None)

    how = path.how if isinstance(path, files.Described) else {}
    for one in paths:
        where = folder / one.relative_to(root)
        where.parent.mkdir(parents=True, exist_ok=True)
        before += _write(model, files.Described(one, how), where, priors, features, tell, root)
    return folder


def _write(
    model: Any, path: Any, where: Any, priors: Any, features: Any, progress: Any, root: Path | None = None
) -> int:
    """The answers to one file; how many they are."""
    from deciban import files

    told = [0]

    def tell(rows: int, share: float | None) -> None:
        told[0] = rows
        if progress is not None:
            progress(rows, share)

    source = files.opened(path, types=files.kinds_for(kinds(model)), rest=files.TEXT, root=root)
    f = Answering(model, columns_for(model, source.names, features), priors)
    if files.keeps_lines(source, where):
        files.write_beside(source, f.beside(source, tell), where)
    else:
        files.write(stream.answered(source, f, f.schema(source.schema), tell), where)
    stream.tell_notes(source)
    return told[0]


def kinds(model: Any) -> dict[str, str]:
    """What each column of a model holds: "number", "truth" or "text"."""
    levels = getattr(model, "levels_", {})
    if model._reads_texts:
        return dict.fromkeys(map(str, getattr(model, "feature_names_in_", [])), "text")
    return {str(name): _kind(levels.get(name)) for name in getattr(model, "feature_names_in_", [])}


def _kind(levels: list | None) -> str:
    if not levels:
        return "number"
    return "truth" if isinstance(levels[0], bool) else "text" if isinstance(levels[0], str) else "number"
