"""`fit_on` and `predict_on`: the front for data of any size and kind. The engine is picked by the type of the data.

>>> import pyarrow as pa
>>> from deciban import GaussianNB
>>> rows = pa.table({"size": [1.0, 1.2, 3.0, 3.1], "label": ["a", "a", "b", "b"]})
>>> model = GaussianNB().fit_on(rows)
>>> model.predict_on(rows).column_names
['size', 'label', 'predicted', 'p_a', 'p_b']
"""

from __future__ import annotations

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
        target: str = "label",
        features: str | Sequence[str] | None = None,
        engine: Any = None,
        sample_weight: str | None = None,
        checkpoint: Any = None,
        progress: Any = None,
    ) -> Self:
        """Learn from data of any size, in pieces: the model that `fit` would make of all rows.

        data: a path, glob or folder (Parquet, CSV, Feather, JSON lines), an Arrow dataset, reader or table, a frame,
        an iterator of frames, a Dask or a Spark DataFrame. target: the column of the classes; features: the columns to
        learn from, by default all others; sample_weight: the column of the weights. checkpoint: a file that keeps how
        far the reading of files has come; a job that was killed goes on from there, and ends in the same bits.
        progress: True shows rows/s and the time left; or a function of (rows so far, share of all or None).

        >>> import pyarrow as pa
        >>> from deciban import MixedNB
        >>> rows = pa.table({"sky": ["grey", "blue", "grey"], "label": ["rain", "sun", "rain"]})
        >>> MixedNB().fit_on(rows).predict(pa.table({"sky": ["grey"]})).tolist()
        ['rain']
        """
        self._validate_params()
        picked = picking.of(data, engine)
        data = ready(picked, data)
        reading = reading_of(picked, data, target, features, sample_weight, self._reads_texts)
        with self._unchanged_on_failure(), rows_shown(progress, "fit_on") as tell:
            self._learn_on(Job(picked, data, reading, tell, checkpoint))
            self._name_target(reading.target)
        return self

    def predict_on(
        self,
        data: Any,
        *,
        out: Any = None,
        priors: Any = None,
        features: str | Sequence[str] | None = None,
        engine: Any = None,
        progress: Any = None,
    ) -> Any:
        """The rows with `predicted` and the probability of each class (`p_…`) appended, as the kind of thing they came.

        A path gives a file, a folder a folder: `out`, or one beside it, whose path is returned. An Arrow stream or
        dataset gives a reader of batches, an iterator one of frames; Dask and Spark frames give lazy ones. priors: as
        in `predict`; features: the columns to read, where the model was learned from an array.

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


def ready(engine: ModuleType, data: Any) -> Any:
    """Data that can be asked for their names before their rows."""
    return engine.ready(data) if hasattr(engine, "ready") else data


def reading_of(
    engine: ModuleType, data: Any, target: str, features: Any, weight: str | None, texts: bool = False
) -> Reading:
    """Which columns are what, by the names that the data have."""
    known = None if engine is stream else engine.names(data)
    schema: Any = engine.schema(data) if hasattr(engine, "schema") else None
    names = schema.names if known is None else known  # a folder of files, which takes its time to open, is opened once
    for name in [target] if weight is None else [target, weight]:
        check_there(name, names)
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


def check_there(name: str, names: Sequence[str]) -> None:
    """Whether the data have one column of that name."""
    if names.count(name) > 1:
        raise DataError(f"two columns are named `{name}`\n\nhint: give every column a name of its own")
    if name not in names:
        near = get_close_matches(str(name), names, 1, 0.5)
        told = ", ".join(names[:12]) + (f", … ({len(names)} in all)" if len(names) > 12 else "")
        hint = f"did you mean `{near[0]}`?" if near else f"the columns are {told}"
        raise DataError(f"there is no column `{name}` in the data\n\nhint: {hint}")
