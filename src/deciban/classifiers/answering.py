"""batch → the same batch with `predicted` and the probability of each class appended, for an engine to go through data.

>>> import pyarrow as pa
>>> from deciban import GaussianNB
>>> model = GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])
>>> Answering(model, ("size",))(pa.record_batch({"name": ["x"], "size": [0.5]})).to_pylist()[0]["predicted"]
'a'
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban.errors import DataError, DecibanError, levels_up, placed
from deciban.frames import some


@dataclass(frozen=True)
class Answering:
    model: Any
    columns: tuple[str, ...]  # those of the model that the data have, in its order
    priors: Any = None

    def answers(self, rows: Any, taken: Sequence[str]) -> Any:
        """The new columns; a name that is taken gets a `_`."""
        from deciban import files

        model = self.model
        try:
            proba = np.zeros((0, len(model.classes_)))
            if rows.num_rows:
                proba = np.asarray(model.predict_proba(model._readable(rows, self.columns), priors=self.priors))
        except DecibanError as wrong:
            raise placed(wrong, names=self.columns) from None
        return files.told(model.classes_, proba, taken)

    def __call__(self, batch: Any) -> Any:
        from deciban import files

        return files.widened(batch, self.answers(batch, batch.schema.names))

    def schema(self, of_rows: Any) -> Any:
        """That of the answers to rows of such a schema."""
        from deciban import files

        more = files.told(self.model.classes_, np.zeros((0, len(self.model.classes_))), of_rows.names)
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
                    raise placed(wrong, rows=before) from None
            before += len(lines)
            if progress is not None:
                progress(before, source.done())


def columns_for(model: Any, names: Sequence[str], features: Any = None) -> tuple[str, ...]:
    """The columns of the data that the model reads, in its order. Columns that it can do without may be missing."""
    if features is not None:
        wanted = [features] if isinstance(features, str) else [str(name) for name in features]
    else:
        wanted = [str(name) for name in getattr(model, "feature_names_in_", names)]
    absent = [name for name in wanted if name not in names]
    here = tuple(name for name in wanted if name in names)
    spared = absent and hasattr(model, "levels_") and here and getattr(model, "columns", "") != "strict"
    if absent and not spared:
        raise DataError(
            f"the model learned from {some(wanted)}; the data have {some(names)} and lack {some(absent)}\n\n"
            "hint: give the columns their names of training"
        )
    if len(wanted) != getattr(model, "n_features_in_", 1):
        raise DataError(
            f"which of the columns {some(names)} does the model read?\n\n"
            f"hint: it learned from {getattr(model, 'n_features_in_', 1)} without names; name them here: features=[…]"
        )
    if spared:
        message = f"{some(absent)} not in the data: taken as missing in every row"
        warnings.warn(message, UserWarning, stacklevel=levels_up())
    return here
