"""batch → the same batch with `predicted` and the probability of each class appended, for an engine to go through data.

>>> import pyarrow as pa
>>> from deciban import GaussianNB
>>> model = GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])
>>> PredictBatch(model, ("size",))(pa.record_batch({"name": ["x"], "size": [0.5]})).to_pylist()[0]["predicted"]
'a'

Answers to the rows of files, in files: one for one, or a folder for a folder; each is there when it is whole.

>>> import pathlib, tempfile
>>> from deciban import MixedNB
>>> rows = pathlib.Path(tempfile.mkdtemp()) / "rows.csv"
>>> _ = rows.write_text("id,sky\\n007,grey\\n008,blue\\n")
>>> model = MixedNB().fit([["grey"], ["grey"], ["blue"]], ["rain", "rain", "sun"])
>>> written(model, rows, rows.with_name("out.csv"), None, "sky", None).read_text().splitlines()[1][:13]
'007,grey,rain'
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deciban.data import frames
from deciban.display import format_list
from deciban.engines import stream
from deciban.errors import DataError, DecibanError, levels_up, relocate


@dataclass(frozen=True)
class PredictBatch:
    model: Any
    columns: tuple[str, ...]  # those of the model that the data have, in its order
    priors: Any = None

    def answers(self, rows: Any, taken: Sequence[str]) -> Any:
        """The new columns; a name that is taken gets a `_`."""
        from deciban.io import readers

        model = self.model
        try:
            proba = np.zeros((0, len(model.classes_)))
            if rows.num_rows:
                proba = np.asarray(model.predict_proba(model._readable(rows, self.columns), priors=self.priors))
        except DecibanError as wrong:
            raise relocate(wrong, names=self.columns) from None
        return readers.prediction_columns(model.classes_, proba, taken)

    def __call__(self, batch: Any) -> Any:
        from deciban.io import readers

        return readers.append_to_batch(batch, self.answers(batch, batch.schema.names))

    def schema(self, of_rows: Any) -> Any:
        """That of the answers to rows of such a schema."""
        from deciban.io import readers

        more = readers.prediction_columns(self.model.classes_, np.zeros((0, len(self.model.classes_))), of_rows.names)
        for field in more.schema:
            of_rows = of_rows.append(field)
        return of_rows

    def beside(self, source: Any, progress: Any = None) -> Iterator[tuple[Any, Any]]:
        """(lines, answers) of a file whose lines go through as they are."""
        before = 0
        for rows, lines in source.lines(self.columns):
            if len(lines):
                try:
                    yield lines, self.answers(rows, source.names)
                except DecibanError as wrong:
                    raise relocate(wrong, rows=before) from None
            before += len(lines)
            if progress is not None:
                progress(before, source.done())


def columns_for(model: Any, names: Sequence[str], features: Any = None) -> tuple[str, ...]:
    """The columns of the data that the model reads, in its order. Columns that it can do without may be missing."""
    if features is not None:
        wanted = [features] if isinstance(features, str) else [str(name) for name in features]
    else:
        wanted = frames.feature_names(model) or list(names)
    absent = [name for name in wanted if name not in names]
    here = tuple(name for name in wanted if name in names)
    spared = absent and here and model._fills_columns()
    if absent and not spared:
        raise DataError(
            f"the model learned from {format_list(wanted)}; the data have {format_list(names)} and lack "
            f"{format_list(absent)}\n\nhint: give the columns their names of training"
        )
    width = vars(model).get("n_features_in_", 1)  # texts, and functions as hypotheses, have one column
    if len(wanted) != width:
        raise DataError(
            f"which of the columns {format_list(names)} does the model read?\n\n"
            f"hint: it learned from {width} without names; name them here: features=[…]"
        )
    if spared:
        message = f"{format_list(absent)} not in the data: taken as missing in every row"
        warnings.warn(message, UserWarning, stacklevel=levels_up())
    return here


def written(model: Any, path: Any, out: Any, priors: Any, features: Any, progress: Any) -> Any:
    """Where the answers to the rows of a path are now; what was not asked for stays as it stands there."""
    from deciban.io import readers

    if out is None:
        raise DataError(
            f"where shall the answers to {path} go?\n\n"
            f"hint: out=, a file such as {readers.default_output_path(path).name!r}, or "
            "a folder for a folder; or give rows instead of a path, and have them back"
        )
    for one in (path, *(readers.list_files(path) or ((), ()))[1]):
        if Path(out).exists() and Path(one).exists() and Path(out).samefile(one):
            raise DataError(f"{out} would take the place of the data\n\nhint: name another file: out=…")
    found = readers.list_files(path)
    if found is None or (Path(out).suffix and not Path(out).is_dir()):
        _write(model, path, out, priors, features, progress)
        return out
    root, paths = found
    folder = Path(out)
    before = 0

    def tell(rows: int, share: float | None) -> None:
        if progress is not None:
            progress(before + rows, None)

    how = path.how if isinstance(path, readers.Described) else {}
    for one in paths:
        where = folder / one.relative_to(root)
        where.parent.mkdir(parents=True, exist_ok=True)
        before += _write(model, readers.Described(one, how), where, priors, features, tell, root)
    return folder


def _write(
    model: Any, path: Any, where: Any, priors: Any, features: Any, progress: Any, root: Path | None = None
) -> int:
    """The answers to one file; how many they are."""
    from deciban.io import readers

    told = [0]

    def tell(rows: int, share: float | None) -> None:
        told[0] = rows
        if progress is not None:
            progress(rows, share)

    source = readers.open_path(path, types=readers.arrow_types(kinds(model)), rest=readers.TEXT, root=root)
    f = PredictBatch(model, columns_for(model, source.names, features), priors)
    if readers.can_append_to_lines(source, where):
        readers.write_csv_with_predictions(source, f.beside(source, tell), where)
    else:
        readers.write(stream.map_batches(source, f, f.schema(source.schema), tell), where)
    stream.warn_notes(source)
    return told[0]


def kinds(model: Any) -> dict[str, str]:
    """What each column of a model holds: "number", "truth" or "text"."""
    if model._reads_texts:
        return dict.fromkeys(frames.feature_names(model), "text")
    levels = model._levels() or {}
    return {name: _kind(levels.get(name)) for name in frames.feature_names(model)}


def _kind(levels: list | None) -> str:
    if not levels:
        return "number"
    return "truth" if isinstance(levels[0], bool) else "text" if isinstance(levels[0], str) else "number"
