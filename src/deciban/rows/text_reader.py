"""`TextReader`: texts and labels, as a user passes them or in batches, → counts of terms, as rows to learn from.

>>> from deciban.text.features import Features
>>> rows = TextReader(Features.from_settings("words")).rows(["to be", "to do"], ["a", "b"])
>>> rows.table.x.terms.strings(), rows.classes.tolist()
(['be', 'do', 'to'], ['a', 'b'])
>>> rows.discover(TallyWords(None))[1].count.tolist()
[1.0, 1.0, 1.0, 1.0]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import column_or_1d

from deciban.data.blocks import Table
from deciban.data.frames import labels_of_indicators, missing_rows
from deciban.errors import DataError, NotAdditiveError
from deciban.mail.strip import check_parts, stripped
from deciban.rows.labels import label_codes
from deciban.rows.rows import ArrayRows, ColumnRoles
from deciban.tallies.ledger import LedgerKey
from deciban.text.analysis import Terms
from deciban.text.features import Features
from deciban.text.scorer import check_texts
from deciban.text.word_tally import WordTally


@dataclass(frozen=True, eq=False)
class TermCounts:
    """A block of texts: how often each has each of the terms, which are sorted."""

    terms: Terms
    X: sparse.csr_array  # (n, d)

    @property
    def n(self) -> int:
        return self.X.shape[0]

    @property
    def d(self) -> int:
        return self.X.shape[1]

    @property
    def cells(self) -> int:
        return self.X.nnz

    def rows(self, start: int, stop: int) -> TermCounts:
        return self if stop - start == self.n else replace(self, X=self.X[start:stop])


@dataclass(frozen=True)
class TallyWords:
    """Rows of texts → their `WordTally`; keep: "all" texts, "some" of them, or none."""

    keep: str | None
    key: LedgerKey | None = None  # of a ledger of the texts

    def __call__(self, table: Table) -> WordTally:
        x: Any = table.x
        return WordTally.from_counts(x.terms, x.X, table.y, table.k, self.keep, self.key)

    @staticmethod
    def size(table: Table) -> int:
        """Numbers in the tally of a chunk: as many as it has cells, so that rows in memory are one chunk."""
        return table.x.cells


@dataclass(frozen=True, eq=False)
class TextReader:
    """Texts, in any form that a vectoriser takes."""

    features: Features
    strip: Any = ()  # parts of mails and posts that are left out
    names: np.ndarray | None = None  # (1,), the column of texts in data elsewhere
    schema: ClassVar[None] = None

    def read(self, texts: Any) -> Any:
        """Texts without the parts that `strip` names."""
        if type(texts) is not list:
            check_texts(texts)
        if not self.strip:
            return texts
        parts = check_parts(self.strip)
        return [stripped(text, parts) if isinstance(text, str) else text for text in texts]

    def labelled(self, texts: Any, labels: Any) -> tuple[Any, np.ndarray]:
        """(the texts, their labels), checked."""
        check_texts(texts)
        labels = labels_of_indicators(labels)
        y = column_or_1d(labels if not hasattr(labels, "to_numpy") else labels.to_numpy())
        texts = self.read(texts if hasattr(texts, "__len__") else list(texts))
        if len(texts) != len(y):
            raise DataError(f"{len(texts)} texts and {len(y)} labels\n\nhint: give each text one label")
        if len(y) == 0:
            raise DataError("no texts to learn from\n\nhint: pass at least one text and its label")
        unlabelled = missing_rows(
            labels if isinstance(labels, (list, tuple)) else y
        )  # NaN in a list becomes a text in y
        if unlabelled:
            raise DataError(f"the label of text {unlabelled[0]} is missing\n\nhint: leave out texts without a label")
        return texts, y

    def rows(self, texts: Any, labels: Any, first: bool = True) -> ArrayRows:
        """Rows to learn from; `first`: a vectoriser with fixed columns is fitted."""
        texts, y = self.labelled(texts, labels)
        x: Any = self._counted(texts, first)
        classes, codes = label_codes(y)
        return ArrayRows(self, classes, Table(x, codes, None, len(classes)))

    def _counted(self, texts: Any, first: bool) -> TermCounts:
        terms, X = self.features.fit_counts(texts) if first else self.features.counts(texts)
        if X.nnz and X.data.min() < 0:
            raise DataError(
                "the vectoriser gives negative numbers, which are not counts\n\nhint: alternate_sign=False for hashes"
            )
        return TermCounts(terms, X)

    # batches

    def of_columns(self, roles: ColumnRoles) -> TextReader:
        """The reader of a column of data elsewhere."""
        if roles.weight is not None:
            raise DataError("a text classifier takes no weights\n\nhint: leave out `sample_weight`")
        if not self.features.open_ended:
            raise NotAdditiveError(
                "this vectoriser's columns are learned from all texts at once\n\n"
                "hint: take features='words', or a CountVectorizer without min_df, max_df and max_features"
            )
        return replace(self, names=np.array(roles.features, dtype=object))

    def read_batch(self, batch: Any, columns: Sequence[str]) -> Any:
        """The texts of Arrow rows."""
        from deciban.io import batches

        texts = batches.strings(batch, columns[0])
        return self.read(texts.to_pylist()) if self.strip else texts

    def of_batch(self, batch: Any, roles: ColumnRoles) -> tuple[TextReader, tuple[str, ...]]:
        """(the reader of these rows only, type of each column)."""
        return self, ()

    def learning_batch(self, batch: Any, roles: ColumnRoles) -> TermCounts:
        """The rows of a batch to learn from."""
        return self._counted(self.read_batch(batch, roles.features), first=False)

    def with_schema(self, schema: None) -> TextReader:
        return self
