"""Which training rows made a model predict what it predicts: posteriors without each row, or each group of rows.

    influence of a row on a class = P(class | query) of a model that never learned the row − P(class | query)

A generative classifier is a view of sums, so that a row is taken out by subtraction: the values are those of `forget`,
with the choices of the model held (families, smoothing, cuts, structure, weights of columns, calibration, and the rule
of the class priors, which follow the rows that are left). Logistic regression takes one Newton step. With `y_query`,
also the change of the log loss, −log P(true class): above 0 where the prediction is worse without the row.

>>> from deciban import GaussianNB, influence
>>> X, y = [[0.0], [1.0], [2.8], [4.0], [5.0], [6.0]], ["a", "a", "a", "b", "b", "b"]
>>> found = influence(GaussianNB().fit(X, y), X, y, [[3.0]])
>>> print(found)
P(class | query): a 0.822, b 0.178; change without each of 6 rows
  row  class        a        b
    2      a  −0.8221  +0.8221
    3      b  +0.1778  −0.1778
    5      b  +0.1279  −0.1279
    4      b  −0.0646  +0.0646
    0      a  +0.0298  −0.0298
    1      a  −0.0196  +0.0196
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban.classifiers.base import Classifier
from deciban.data import frames
from deciban.display import Table, cell_text, format_number, format_probability
from deciban.errors import DataError, NotAdditiveError
from deciban.plots import influences as picture
from deciban.rows import inputs
from deciban.rows.labels import label_codes
from deciban.rows.raw_rows import RawArrays

SHOWN = 10  # rows that are printed
CLASSES = 6  # classes that are printed
LOST = 745.0  # nats: log loss of a class of probability 0


@dataclass(frozen=True, eq=False)
class Influence:
    """How the posteriors of some rows change without each training row, or each group of them.

    Attributes
    ----------
    values : ndarray of shape (rows, k), or (rows, queries, k)
        P(class | query) without the row − P(class | query); one line a group where rows are grouped.
    loss : ndarray of shape (rows,), or (rows, queries), or None
        The change of the log loss of the query's class, where it was given: above 0 where the prediction is worse
        without the row.
    proba : ndarray of shape (k,), or (queries, k)
        P(class | query) by all rows.
    classes : ndarray of shape (k,)
        The classes.
    labels : ndarray of shape (rows,), or None
        The class of each row; None where rows are grouped.
    groups : ndarray of shape (rows,), or None
        The groups; None where every row is by itself.
    exact : bool
        Whether the values are those of a model that never learned the row; False: of one step towards it.
    note : str
        How they are approximated.
    """

    values: np.ndarray
    loss: np.ndarray | None
    proba: np.ndarray
    classes: np.ndarray
    labels: np.ndarray | None
    groups: np.ndarray | None
    rows: np.ndarray | None  # names of the rows; None: numbers
    exact: bool
    note: str = ""

    def __len__(self) -> int:
        return len(self.values)

    def top(self, n: int = SHOWN, query: int = 0) -> np.ndarray:
        """Where in `values` the n rows or groups of the largest change are, the largest first: of the log loss where it
        is known, else of the posterior (half the sum of absolute changes).

        >>> from deciban import GaussianNB
        >>> X, y = [[0.0], [1.0], [2.8], [4.0], [5.0], [6.0]], ["a", "a", "a", "b", "b", "b"]
        >>> influence(GaussianNB().fit(X, y), X, y, [[3.0]]).top(2).tolist()
        [2, 3]
        """
        size = self._sizes(query)
        if n < len(size):
            some = np.argpartition(-size, n - 1)[: max(n, 0)] if n > 0 else np.zeros(0, dtype=np.intp)
            some = np.flatnonzero(size >= size[some].min()) if len(some) else some
        else:
            some = np.arange(len(size))
        return some[np.argsort(-size[some], kind="stable")][: max(n, 0)]

    def _sizes(self, query: int) -> np.ndarray:
        if self.loss is not None:
            return np.abs(self._loss(query))
        return 0.5 * np.abs(self._values(query)).sum(axis=1)

    def _values(self, query: int) -> np.ndarray:
        """(rows, k), of one query."""
        self._check(query)
        return self.values if self.values.ndim == 2 else self.values[:, query]

    def _loss(self, query: int) -> np.ndarray:
        assert self.loss is not None
        self._check(query)
        return self.loss if self.loss.ndim == 1 else self.loss[:, query]

    def _check(self, query: int) -> None:
        many = 1 if self.values.ndim == 2 else self.values.shape[1]
        if not 0 <= query < many:
            raise DataError(f"there is no query {query}\n\nhint: {many} were asked, numbered from 0")

    def _names(self, at: np.ndarray) -> list[Any]:
        """The names of rows or groups."""
        if self.groups is not None:
            return self.groups[at].tolist()
        return at.tolist() if self.rows is None else np.asarray(self.rows)[at].tolist()

    def to_frame(self, n: int | None = None, query: int = 0) -> Any:
        """A pandas DataFrame with a line for each row or group, those of the largest change first; `n`: only so many.

        >>> from deciban import GaussianNB
        >>> X, y = [[0.0], [1.0], [2.8], [4.0], [5.0], [6.0]], ["a", "a", "a", "b", "b", "b"]
        >>> influence(GaussianNB().fit(X, y), X, y, [[3.0]]).to_frame(2).columns.tolist()
        ['row', 'class', 'P(a)', 'P(b)']
        """
        try:
            import pandas as pd
        except ImportError as bad:
            raise ImportError("to_frame makes a pandas DataFrame\n\nhint: pip install pandas") from bad
        at = self.top(len(self) if n is None else n, query)
        columns: dict[str, Any] = {self._kind: self._names(at)}
        if self.labels is not None:
            columns["class"] = self.labels[at]
        for c, label in enumerate(self.classes.tolist()):
            columns[f"P({label})"] = self._values(query)[at, c]
        if self.loss is not None:
            columns["log_loss"] = self._loss(query)[at]
        return pd.DataFrame(columns)

    def to_dict(self, n: int | None = None) -> dict[str, Any]:
        """The same as plain values for JSON: for each query its posterior and its rows or groups, largest first."""
        classes = self.classes.tolist()
        queries = []
        for q, proba in enumerate(np.atleast_2d(self.proba)):
            at = self.top(len(self) if n is None else n, q)
            rows = []
            for place, name in zip(at.tolist(), self._names(at), strict=True):
                change = self._values(q)[place].tolist()
                one: dict[str, Any] = {self._kind: name}
                if self.labels is not None:
                    one["class"] = self.labels[place : place + 1].tolist()[0]
                one["change"] = {str(label): value for label, value in zip(classes, change, strict=True)}
                if self.loss is not None:
                    one["log_loss"] = float(self._loss(q)[place])
                rows.append(one)
            own = {str(label): value for label, value in zip(classes, proba.tolist(), strict=True)}
            queries.append({"proba": own, f"{self._kind}s": rows})
        return {"exact": self.exact, "note": self.note, "queries": queries}

    @property
    def _kind(self) -> str:
        return "row" if self.groups is None else "group"

    def plot(self, ax: Any = None, *, n: int = SHOWN, query: int = 0, of: Any = None) -> Any:
        """Bars of the n rows or groups of the largest change: how far P(of | query) moves without each. `of` is by
        default the most probable class. Returns the axes."""
        proba, at = np.atleast_2d(self.proba)[query], self.top(n, query)
        c = int(proba.argmax()) if of is None else self._class(of)
        names = self._names(at)
        if self.labels is not None:
            own = self.labels[at].tolist()
            names = [f"{name} ({label})" for name, label in zip(names, own, strict=True)]
        label = self.classes.tolist()[c]
        return picture.draw(
            names, self._values(query)[at, c], float(proba[c]), str(label), self._kind, len(self), self.exact, ax
        )

    def _class(self, of: Any) -> int:
        found = np.flatnonzero(self.classes == of)
        if not len(found):
            raise DataError(f"there is no class {of!r}\n\nhint: the classes are {self.classes.tolist()}")
        return int(found[0])

    def __repr__(self) -> str:
        return "\n".join(table.to_text() for table in self._tables())

    def _repr_html_(self) -> str:
        return "".join(table.to_html() for table in self._tables())

    def text(self, n: int = SHOWN) -> str:
        """As printed, with n lines for each query."""
        return "\n".join(table.to_text() for table in self._tables(n))

    def _tables(self, n: int = SHOWN) -> list[Table]:
        many = np.atleast_2d(self.proba)
        return [self._table(q, proba, n, q == len(many[:3]) - 1) for q, proba in enumerate(many[:3])]

    def _table(self, query: int, proba: np.ndarray, n: int, last: bool) -> Table:
        at, few = self.top(n, query), np.sort(np.argsort(-proba, kind="stable")[:CLASSES])
        classes = [str(label) for label in self.classes.tolist()]
        shown = ", ".join(f"{classes[c]} {format_probability(proba[c], 1 - proba[c])}" for c in few)
        what = "query" if self.values.ndim == 2 else f"query {query}"
        title = f"P(class | {what}): {shown}; change without each of {len(self):,} {self._kind}s"
        head = [self._kind, *(["class"] if self.labels is not None else []), *(classes[c] for c in few)]
        if self.loss is not None:
            head.append("log loss")
        rows = []
        for place, name in zip(at.tolist(), self._names(at), strict=True):
            line = [cell_text(name)]
            if self.labels is not None:
                line.append(cell_text(self.labels[place : place + 1].tolist()[0]))
            line += [signed(self._values(query)[place, c]) for c in few]
            if self.loss is not None:
                line.append(signed(self._loss(query)[place]))
            rows.append(line)
        notes = []
        if len(self) > len(at):
            notes.append(f"… and {len(self) - len(at):,} {self._kind}s of smaller change")
        if last and len(np.atleast_2d(self.proba)) > 3:
            notes.append(f"… and {len(np.atleast_2d(self.proba)) - 3:,} more queries")
        if not self.exact and last:
            notes.append(f"approximate: {self.note}")
        return Table(title, head, rows, notes=notes, left=())


def signed(change: float) -> str:
    """A change with its sign.

    >>> signed(-0.25), signed(1e-9), signed(0.0)
    ('−0.2500', '+1e-09', '0')
    """
    if change == 0 or np.isnan(change):
        return "0" if change == 0 else ""
    text = format_number(abs(float(change)))
    return ("+" if change > 0 else "−") + text


def influence(
    model: Any,
    X: Any,
    y: Any,
    query: Any,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    y_query: Any = None,
    second_stage: bool = False,
) -> Influence:
    """How posteriors change if each training row, or each group of rows, had never been learned.

    All choices of the model are held: families, smoothing, cuts, structure, weights of columns, calibration, the rule
    of the class priors. Of generative classifiers and their ensembles the values are those of `forget` of the row; of
    logistic regression, and of discriminants that filled in missing cells, of one step, and `exact` is False.

    Parameters
    ----------
    model : classifier
        A fitted model; it is not changed.
    X : frame, array, sparse matrix or dictionaries
        Rows that the model learned. Other rows that it learned stay; logistic regression needs all of them.
    y : array of shape (n,), or str
        Their classes, or the name of the column of X that holds them.
    query : frame, array, sparse matrix or dictionaries
        The rows whose posterior is asked for, in the form of X (of texts, one text may come alone).
    sample_weight : array of shape (n,), optional
        The weights that the rows were learned with.
    groups : array of shape (n,), or str, optional
        The group of each row, such as a customer, a file or a day, or the name of the column of X that holds it: rows
        of a group are left out together.
    y_query : label, or array of shape (queries,), optional
        The true classes of the queries, for the change of the log loss.
    second_stage : bool
        Calibration and weights of columns are fitted again without each row or group; 4,096 rows at most.

    Returns
    -------
    Influence
        With `values`, (rows, k) for one query and (rows, queries, k) for several, one line a group with `groups`;
        `exact`, `top(n)`, `to_frame()`, `plot()`.

    Raises
    ------
    ForgetError
        A row was never learned.
    NotAdditiveError
        The model keeps no sums that rows could be taken out of.

    See Also
    --------
    audit : Wrong labels and other defects of rows.
    top_evidence : The strongest evidence of a model.

    Examples
    --------
    >>> from deciban import GaussianNB, influence
    >>> X, y = [[0.0], [1.0], [2.8], [4.0], [5.0], [6.0]], ["a", "a", "a", "b", "b", "b"]
    >>> model = GaussianNB().fit(X, y)
    >>> found = influence(model, X, y, [[3.0]], y_query="a")
    >>> found.values.shape, found.exact, found.loss.round(1).tolist()  # the third row is why it says "a"
    ((6, 2), True, [-0.0, 0.0, 9.2, -0.2, 0.1, -0.1])
    >>> influence(model, X, y, [[3.0]], groups=["p", "q", "p", "q", "q", "q"]).values.round(2).tolist()
    [[-0.82, 0.82], [0.18, -0.18]]
    """
    if not isinstance(model, Classifier):
        raise NotAdditiveError(
            f"{type(model).__name__} is no classifier of deciban\n\n"
            "hint: generative classifiers, their ensembles and LogisticRegression have influences"
        )
    X, groups = _groups_of(X, groups, model)
    query = [query] if isinstance(query, str) else query
    X, y = inputs.labelled(X, y)
    rows = RawArrays(X, y, None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64))
    n = len(rows.labels)
    if groups is None:
        names, at, many = None, np.arange(n), n
    else:
        groups = np.asarray(groups, dtype=object) if isinstance(groups, list) else np.asarray(groups)
        if len(groups) != n:
            raise DataError(f"X has {n} rows and `groups` {len(groups)}\n\nhint: give the group of each row")
        if lost := frames.missing_rows(groups):
            raise DataError(f"row {lost[0]} has no group\n\nhint: give such rows a group of their own")
        names, at = label_codes(groups)
        many = len(names)
    found = model._proba_without(rows, at, many, query, second_stage)
    before, after = np.exp(found.log_proba), np.exp(found.without)
    loss = None
    if y_query is not None:
        own = _codes_of(y_query, model.classes_, len(before))
        q = np.arange(len(before))
        loss = np.maximum(found.log_proba[q, own], -LOST) - np.maximum(found.without[:, q, own], -LOST)
    values, labels = after - before, None
    if names is None:
        labels = np.asarray(rows.labels)
    one = len(before) == 1
    return Influence(
        values[:, 0] if one else values,
        loss if loss is None or not one else loss[:, 0],
        before[0] if one else before,
        np.asarray(model.classes_),
        labels,
        names,
        frames.row_labels(X) if names is None else None,
        not found.note,
        found.note,
    )


def _groups_of(X: Any, groups: Any, model: Any) -> tuple[Any, Any]:
    """(X, the group of each row): a column of X may hold them, which the model need not know."""
    if not isinstance(groups, str):
        return X, None if groups is None else groups
    if not frames.is_frame(X) or groups not in frames.names(X):
        raise DataError(
            f"there is no column `{groups}` in X\n\nhint: groups=array, with the group of each row, or a column of X"
        )
    own = next(column for column in frames.columns(X) if column.name == groups).named()
    known: Sequence = frames.feature_names(model)
    return X if groups in list(known) else frames.without(X, [groups]), own


def _codes_of(y_query: Any, classes: np.ndarray, many: int) -> np.ndarray:
    labels = [y_query] if isinstance(y_query, str) or np.ndim(y_query) == 0 else y_query
    labels = np.asarray(inputs.to_numpy(labels))
    if len(labels) != many:
        raise DataError(f"`y_query` has {len(labels)} labels and `query` {many} rows\n\nhint: give one label for each")
    return inputs.labels(labels, classes)[1]
