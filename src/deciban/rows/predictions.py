"""Predictions for batches and files: `predicted` and the probability of each class are appended to the rows.

`PredictBatch` is the function of a batch that an engine applies to all batches.

>>> import pyarrow as pa
>>> from deciban import GaussianNB
>>> model = GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])
>>> PredictBatch(model, ("size",))(pa.record_batch({"name": ["x"], "size": [0.5]})).to_pylist()[0]["predicted"]
'a'

`written` writes predictions for a file to a file, or for a folder to a folder; a file appears when it is complete.

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
    columns: tuple[str, ...]  # columns of the model that the data have, in the order of the model
    priors: Any = None

    def predictions(self, rows: Any, taken: Sequence[str]) -> Any:
        """The new columns; `_` is appended to a name that is already used."""
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

        return readers.append_to_batch(batch, self.predictions(batch, batch.schema.names))

    def schema(self, of_rows: Any) -> Any:
        """Schema of the predictions for rows of this schema."""
        from deciban.io import readers

        more = readers.prediction_columns(self.model.classes_, np.zeros((0, len(self.model.classes_))), of_rows.names)
        for field in more.schema:
            of_rows = of_rows.append(field)
        return of_rows

    def lines_with_predictions(self, source: Any, progress: Any = None) -> Iterator[tuple[Any, Any]]:
        """(lines, predictions) of a file whose lines are copied unchanged."""
        before = 0
        for rows, lines in source.lines(self.columns):
            if len(lines):
                try:
                    yield lines, self.predictions(rows, source.names)
                except DecibanError as wrong:
                    raise relocate(wrong, rows=before) from None
            before += len(lines)
            if progress is not None:
                progress(before, source.done())


def columns_for(model: Any, names: Sequence[str], features: Any = None) -> tuple[str, ...]:
    """The columns of the data that the model reads, in its order. Models that accept missing columns may lack some."""
    if features is not None:
        wanted = [features] if isinstance(features, str) else [str(name) for name in features]
    else:
        wanted = frames.feature_names(model) or list(names)
    absent = [name for name in wanted if name not in names]
    frames.check_unicode_forms(absent, names)
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
    """Write predictions for the rows of a path and return where they are; columns that the model does not read are
    copied."""
    from deciban.io import readers

    if out is None:
        raise DataError(
            f"`out` is needed to write predictions for {path}\n\n"
            f"hint: out= is a file such as {readers.default_output_path(path).name!r}, or a folder for a folder; rows "
            "given instead of a path are returned with their predictions"
        )
    for one in (path, *(readers.list_files(path) or ((), ()))[1]):
        if Path(out).exists() and Path(one).exists() and Path(out).samefile(one):
            raise DataError(f"{out} would overwrite the data\n\nhint: name another file: out=…")
    found = readers.list_files(path)
    into_file = found is None or (Path(out).suffix and not Path(out).is_dir())
    readers.check_not_read(path, out if into_file or found is None else Path(out, found[1][0].name))
    if found is None or into_file:
        _write(model, path, out, priors, features, progress)
        return out
    root, paths = found
    folder = Path(out)
    before = 0

    def report(rows: int, share: float | None) -> None:
        if progress is not None:
            progress(before + rows, None)

    how = path.how if isinstance(path, readers.Described) else {}
    for one in paths:
        where = folder / one.relative_to(root)
        where.parent.mkdir(parents=True, exist_ok=True)
        before += _write(model, readers.Described(one, how), where, priors, features, report, root)
    return folder


def _write(
    model: Any, path: Any, where: Any, priors: Any, features: Any, progress: Any, root: Path | None = None
) -> int:
    """Write predictions for one file; the number of rows."""
    from deciban.io import readers

    done = [0]

    def report(rows: int, share: float | None) -> None:
        done[0] = rows
        if progress is not None:
            progress(rows, share)

    source = readers.open_path(path, types=readers.arrow_types(column_types(model)), rest=readers.TEXT, root=root)
    f = PredictBatch(model, columns_for(model, source.names, features), priors)
    if readers.can_append_to_lines(source, where):
        none = lambda: ((), f.predictions(source.schema.empty_table(), source.names))  # noqa: E731
        lines = readers.or_empty(f.lines_with_predictions(source, report), none)
        readers.write_csv_with_predictions(source, lines, where)
    else:
        schema = f.schema(source.schema)
        readers.write(readers.or_empty(stream.map_batches(source, f, schema, report), schema.empty_table), where)
    stream.warn_notes(source)
    return done[0]


def column_types(model: Any) -> dict[str, str]:
    """What each column of a model holds: "number", "date", "truth" or "text"."""
    if model._reads_texts:
        return dict.fromkeys(frames.feature_names(model), "text")
    from deciban.io import readers

    levels, units = model._levels() or {}, model._units()
    return {name: readers.column_type(levels.get(name), units.get(name)) for name in frames.feature_names(model)}
