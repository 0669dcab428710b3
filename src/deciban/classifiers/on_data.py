"""`fit_on` and `predict_on`: the front for data of any size and kind. The engine is picked by the type of the data.

>>> import pyarrow as pa
>>> from deciban import GaussianNB
>>> rows = pa.table({"size": [1.0, 1.2, 3.0, 3.1], "label": ["a", "a", "b", "b"]})
>>> model = GaussianNB().fit_on(rows)
>>> model.predict_on(rows).column_names
['size', 'label', 'predicted', 'p_a', 'p_b']
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType
from typing import Any, Self

import numpy as np

from deciban.classifiers import file_answers
from deciban.classifiers.answering import Answering, columns_for
from deciban.classifiers.parts import Part, Reading, Tallying
from deciban.classifiers.steady import Steady
from deciban.decision import check_priors
from deciban.engines import picking, stream
from deciban.errors import DataError, NotAdditiveError
from deciban.progress import rows_shown

TARGET = "label"  # the column of the classes, where none is named
INDEX = re.compile(r"__index_level_\d+__")  # what pandas calls an index without a name when it writes files


@dataclass(frozen=True)
class Job:
    """A pass, or several, over data: what is to be read of them, and by which engine."""

    engine: ModuleType
    data: Any
    reading: Reading
    progress: Any = None
    checkpoint: Any = None

    def total(self, f: Callable[[Any], Any]) -> Any:
        """Σ f(batch); f is picklable and keeps no state."""
        return self.engine.total(self.data, f, progress=self.progress)

    @property
    def repeats(self) -> bool:
        """Whether the rows can be gone through more than once."""
        from deciban import files

        return self.engine is not stream or not files.once(self.data)

    @contextmanager
    def several(self) -> Iterator[Job]:
        """The same for several passes, between which the engine keeps the data."""
        if self.checkpoint is not None:
            raise DataError(
                "`checkpoint` is for models that go through the data once, and this one takes several passes\n\n"
                "hint: leave it out; or learn a generative classifier"
            )
        with self.engine.kept(self.data, self.reading.columns) as data:
            yield replace(self, data=data)

    def _resumed(self, f: Tallying) -> Any:
        """The same, from where an earlier job had come."""
        if self.checkpoint is None:
            return self.total(f)
        if self.engine is not stream:
            raise DataError(
                f"`checkpoint` is for files that are read here; {self.engine.__name__.rpartition('.')[2]} does lost "
                "work again by itself\n\nhint: leave out `checkpoint`"
            )
        checkpoints = import_module("deciban.storage.checkpoints")  # which knows how models are stored
        keeper = checkpoints.Keeper(self.checkpoint, checkpoints.mark(f.model, f.reading, stream.opened(self.data)))
        out = stream.total(self.data, f, progress=self.progress, start=keeper.start(), after=keeper.after)
        keeper.done()
        return out

    def sum_of_parts(self, model: Any) -> Part:
        """The parts of all rows, by a model without state."""
        job = self
        while True:
            part = job._resumed(Tallying(model, job.reading))
            if part is None:
                return Part.nothing()
            if not part.again:
                return part
            if not self.repeats:
                with self.engine.kept(self.data):  # tells that they come once
                    pass
            job = replace(self, reading=replace(self.reading, kinds=part.kinds))


class OnData(Steady):
    """Mixin of every classifier: needs `_learn_on(job)`, `_validate_params`, `predict_proba`."""

    classes_: np.ndarray
    _validate_params: Callable[[], None]
    _reads_texts = False

    def _learn_on(self, job: Job) -> None:
        raise NotAdditiveError(
            f"{type(self).__name__} learns from rows in memory only\n\nhint: use `fit`, or a generative classifier"
        )

    def fit_on(
        self,
        data: Any,
        target: str = TARGET,
        features: str | Sequence[str] | None = None,
        engine: Any = None,
        sample_weight: str | None = None,
        checkpoint: Any = None,
        progress: Any = None,
        header: int | bool | None = None,
        delimiter: str | None = None,
    ) -> Self:
        """Learn from data of any size, in pieces: the model that `fit` would make of all rows.

        data: a path, glob or folder (Parquet, CSV, Feather, JSON), an Arrow dataset, reader or table, a frame,
        an iterator of frames, a Dask or a Spark DataFrame. target: the column of the classes; features: the columns to
        learn from, by default all others; sample_weight: the column of the weights. checkpoint: a file that keeps how
        far the reading of files has come; a job that was killed goes on from there, and ends in the same bits.
        progress: True shows rows/s and the time left; or a function of (rows so far, share of all or None). header,
        delimiter: of CSV files where looking at them is not enough: the line with the names of the columns (the first
        is 1; False: no line has them, the columns are x0, x1, …), and what separates the cells.

        >>> import pyarrow as pa
        >>> from deciban import MixedNB
        >>> rows = pa.table({"sky": ["grey", "blue", "grey"], "label": ["rain", "sun", "rain"]})
        >>> MixedNB().fit_on(rows).predict(pa.table({"sky": ["grey"]})).tolist()
        ['rain']
        """
        self._validate_params()
        picked = picking.of(data, engine)
        found = ready(picked, described(data, header, delimiter, (target,)))
        while True:
            reading = reading_of(picked, found, target, features, sample_weight, self._reads_texts)
            try:
                with self._unchanged_on_failure(), rows_shown(progress, "fit_on") as tell:
                    self._learn_on(Job(picked, found, reading, tell, checkpoint))
                    self._name_target(reading.target)
                return self
            except Exception as error:
                found = _described_again(found, error)
                if found is None:
                    raise

    def predict_on(
        self,
        data: Any,
        *,
        out: Any = None,
        priors: Any = None,
        features: str | Sequence[str] | None = None,
        engine: Any = None,
        progress: Any = None,
        header: int | bool | None = None,
        delimiter: str | None = None,
    ) -> Any:
        """The rows with `predicted` and the probability of each class (`p_…`) appended, as the kind of thing they came.

        The answers to a path are written to a file `out`, those to a folder or a glob to a folder `out`; its path is
        returned. A frame gives a frame, a LazyFrame or a DuckDB relation the same kind, an Arrow stream or dataset a
        reader of batches, an iterator one of frames; Dask and Spark frames give lazy ones. priors: as in `predict`;
        features: the columns to read, where the model was learned from an array; header, delimiter: see `fit_on`.

        >>> import pyarrow as pa
        >>> from deciban import GaussianNB
        >>> model = GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])
        >>> model.predict_on(pa.table({"size": [0.3]})).to_pylist()[0]["predicted"]
        'a'
        """
        from deciban import files

        picked = picking.of(data, engine)
        if priors is not None:
            check_priors(priors, self.classes_)
        if files.is_path(data):
            with rows_shown(progress, "predict_on") as tell:
                data = described(data, header, delimiter, tuple(map(str, getattr(self, "feature_names_in_", ()))))
                return file_answers.written(self, data, out, priors, features, tell)
        if out is not None:
            raise DataError("`out` is for data that are files\n\nhint: the answers are returned; write those")
        data = ready(picked, data)
        schema = picked.schema(data)
        f = Answering(self, columns_for(self, schema.names, features), priors)
        return picked.transform(data, f, f.schema(schema))

    def _name_target(self, name: str | None) -> None:
        """Keep what is predicted as `target_name_`, where it has a name."""
        self.__dict__.pop("target_name_", None)
        if name is not None:
            self.target_name_ = name

    def _readable(self, rows: Any, columns: Sequence[str]) -> Any:
        """Those columns of Arrow rows, as the model takes them."""
        from deciban import files

        return files.selected(rows, columns)


def described(data: Any, header: int | bool | None, delimiter: str | None, expected: tuple[str, ...]) -> Any:
    """A path with what is known of the CSV files that it means; other data as they are."""
    from deciban import files

    if not isinstance(data, str | os.PathLike):
        if header is not None or delimiter is not None:
            raise DataError("`header` and `delimiter` are for CSV files\n\nhint: leave them out, or give a path")
        return data
    if header is True:
        header = None
    if header is not None and header is not False and header < 1:
        raise DataError(f"`header` is {header}, but lines count from 1\n\nhint: False, where no line has the names")
    if delimiter is not None and len(delimiter) != 1:
        raise DataError(f"`delimiter` is {delimiter!r}, not one character\n\nhint: for tabs, '\\t'")
    how = {"header": None if header is None else int(header), "delimiter": delimiter, "expected": expected}
    return files.Described(data, how)


def _described_again(data: Any, error: Exception) -> Any:
    """A path with a column more, where an error says that its files have one; else None."""
    from deciban import files

    if not isinstance(error, files.Changed) or not isinstance(data, files.Described):
        return None
    return replace(data, how={**data.how, "types": error.types})


def ready(engine: ModuleType, data: Any) -> Any:
    """Data that can be asked for their names before their rows."""
    return engine.ready(data) if hasattr(engine, "ready") else data


def reading_of(
    engine: ModuleType, data: Any, target: str, features: Any, weight: str | None, texts: bool = False
) -> Reading:
    """Which columns are what, by the names that the data have."""
    source = stream.opened(data) if engine is stream else None  # a folder takes its time to open: once is enough
    schema: Any = source.schema if source is not None else engine.schema(data) if hasattr(engine, "schema") else None
    names = engine.names(data) if source is None else source.names
    for name in [target] if weight is None else [target, weight]:
        check_there(name, names, "" if source is None else source.header)
    if features is None:
        wanted = [name for name in names if name not in (target, weight) and not INDEX.fullmatch(name)]
    else:
        wanted = [features] if isinstance(features, str) else [str(name) for name in features]
    for name in wanted:
        check_there(name, names)
    if target in wanted or not wanted or (texts and len(wanted) != 1):
        what = "one column of texts" if texts else "columns, and not the target"
        raise DataError(f"to learn from {wanted}, where {what} are needed\n\nhint: name them: features=…")
    return Reading(tuple(wanted), target, weight, _kinds(schema, wanted), texts)


def _kinds(schema: Any, names: Sequence[str]) -> tuple[str, ...]:
    """What the columns hold, where the data say."""
    if schema is None:
        return ()
    from deciban.files import cells

    return tuple(cells.kind(schema.field(name).type) or "" for name in names)


def check_there(name: str, names: Sequence[str], header: str = "") -> None:
    """Whether the data have one column of that name; `header` says which line of a CSV file was taken for what."""
    if names.count(name) > 1:
        raise DataError(f"two columns are named `{name}`\n\nhint: give every column a name of its own")
    if name not in names:
        near = get_close_matches(str(name), names, 1, 0.5)
        columns = ", ".join(names[:12]) + (f", … ({len(names)} in all)" if len(names) > 12 else "")
        if name == TARGET:  # the default
            hint = f"target=NAME, one of {columns}"
        else:
            hint = f"did you mean `{near[0]}`?" if near else f"the columns are {columns}"
        if header:
            hint += ("" if hint[-1] == "?" else ".") + " If another line of the file has the names, pass header=LINE"
        line = f"; {header}" if header else ""
        raise DataError(f"there is no column `{name}` in the data{line}\n\nhint: {hint}")
