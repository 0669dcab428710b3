"""Audit of labelled rows before a model is trusted: wrong labels, equal rows of different classes, leaking columns,
columns of no use, classes of few rows, groups that differ.

Every finding is a sentence, a table and what to do about it. Nothing is changed: the decision is the user's.

>>> rows = {"size": [1.0, 1.1, 0.9, 5.0, 5.2, 5.1] * 10, "code": [f"k{i}" for i in range(60)]}
>>> found = audit(rows, ["small", "small", "small", "large", "large", "large"] * 10)
>>> [one.name for one in found.findings]
['leaking columns', 'columns of no use']
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils import column_or_1d

from deciban.data import frames
from deciban.data.frames import Column
from deciban.display import LONGEST, Table, cell_text, format_list, paragraphs, truncate
from deciban.errors import DataError, did_you_mean
from deciban.model_selection import leakage
from deciban.model_selection.compare import get_candidate
from deciban.model_selection.drift import CHANCE, DISTANCE, drift_of_columns, shares_moved
from deciban.model_selection.label_errors import LabelErrors, find_label_errors, is_texts
from deciban.model_selection.leakage import Leakage
from deciban.rows import inputs
from deciban.rows.digests import row_digests
from deciban.rows.sampling import sample_rows
from deciban.rows.unused_columns import drop_reason

if TYPE_CHECKING:
    from deciban.reports import Report

CHECKS = ("labels", "duplicates", "leakage", "columns", "classes", "groups")
FEW = 10  # rows of a class that are too few
SHOWN = 10  # lines of a table
LEAST_GROUP, GROUPS = 20, 50  # rows of a group that is compared; groups that are compared, the largest
SURE = 1.0  # standard errors by which a column must improve on the class frequencies


@dataclass(frozen=True)
class Finding:
    """Something that was found, and what to do about it."""

    name: str
    sentence: str
    advice: str
    table: Table
    items: tuple[dict[str, Any], ...] = ()  # all lines as plain data


@dataclass(frozen=True)
class Conflict:
    """Rows that are equal in all columns and have different labels."""

    rows: tuple[Any, ...]
    labels: dict[Any, int]  # label → number of the rows that have it


@dataclass(frozen=True)
class GroupDifference:
    """A group that differs from the others."""

    group: Any
    rows: int
    what: str  # "classes", "likely label errors", or the name of a column
    distance: float  # least share of its rows that differ
    words: str


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """What an audit found.

    Attributes
    ----------
    label_errors : LabelErrors or None
        All rows, ranked by the probability that their label is wrong.
    conflicts : list of Conflict
        Equal rows with different labels, the largest number of rows first.
    leaks : list of Leakage
        Columns that may leak the target.
    unused : dict
        Column → why it is of no use: an identifier, a row number, free text, no values.
    uninformative : dict
        Column → why it carries nothing.
    small_classes : dict
        Class → number of its rows, of classes with fewer than 10.
    groups : list of GroupDifference
        Groups that differ from the others, where `groups` are given.
    unlabelled : list
        Rows without a label, which are left out.
    findings : list of Finding
        The same in sentences, with tables and advice.
    """

    rows: int
    columns: int
    target: str | None
    counts: dict[Any, int]  # class → its rows
    checks: tuple[str, ...]
    label_errors: LabelErrors | None = None
    conflicts: list[Conflict] = field(default_factory=list)
    leaks: list[Leakage] = field(default_factory=list)
    unused: dict[str, str] = field(default_factory=dict)
    uninformative: dict[str, str] = field(default_factory=dict)
    small_classes: dict[Any, int] = field(default_factory=dict)
    groups: list[GroupDifference] = field(default_factory=list)
    unlabelled: list[Any] = field(default_factory=list)

    @cached_property
    def findings(self) -> list[Finding]:
        """What was found, by kind; kinds of which there is nothing are left out."""
        each = (_labels, _conflicts, _leaks, _unused, _uninformative, _small_classes, _groups, _unlabelled)
        return [one for one in (make(self) for make in each) if one is not None]

    def to_frame(self) -> Any:
        """All findings: a line for each likely label error, group of equal rows, column, class and group."""
        lines = [
            {"check": one.name, "where": str(item["where"]), "finding": item["finding"], "advice": one.advice}
            for one in self.findings
            for item in one.items
        ]
        names = ("check", "where", "finding", "advice")
        return frames.make_frame({name: [line[name] for line in lines] for name in names})

    def to_dict(self) -> dict[str, Any]:
        """The findings as plain data (for JSON)."""
        labels = self.label_errors
        return {
            "rows": self.rows,
            "columns": self.columns,
            "target": self.target,
            "classes": {str(label): n for label, n in self.counts.items()},
            "expected_label_errors": None if labels is None or np.isnan(labels.expected) else labels.expected,
            "likely_label_errors": [] if labels is None else labels.records(int(labels.likely.sum())),
            "findings": [
                {"name": one.name, "sentence": one.sentence, "advice": one.advice, "items": list(one.items)}
                for one in self.findings
            ],
        }

    def report(self, path: str | os.PathLike | None = None, *, title: str | None = None) -> Report:
        """The audit as one page of HTML without external files.

        Parameters
        ----------
        path : path, optional
            The file to write; without it the page is only returned.
        title : str, optional
            The title of the page.

        Returns
        -------
        Report
            The page as `html`, its `sections` as data.
        """
        from deciban.reports import audit_report  # a page is made when it is asked for

        return audit_report(self, path, title)

    @property
    def summary(self) -> str:
        """What was looked at."""
        what = f"{self.rows:,} rows, {self.columns:,} columns, " if self.columns else f"{self.rows:,} rows, "
        return what + f"{len(self.counts):,} classes" + (f" of `{self.target}`" if self.target else "")

    @property
    def nothing(self) -> str:
        """Which checks found nothing."""
        found = {one.name for one in self.findings}
        named = {
            "labels": ("label errors",),
            "duplicates": ("equal rows with different labels",),
            "leakage": ("leaking columns",),
            "columns": ("columns of no use", "columns that carry nothing"),
            "classes": ("classes of few rows",),
            "groups": ("groups that differ",),
        }
        clear = [name for check in self.checks for name in named[check] if name not in found]
        return f"Nothing found: {format_list(clear, len(clear), '')}." if clear else ""

    def __str__(self) -> str:
        parts = [self.summary]
        for number, one in enumerate(self.findings, 1):
            table = f"{_indented(one.table)}\n" if one.table.rows else ""
            parts.append(f"{number}. {one.name}: {one.sentence}\n{table}   → {one.advice}")
        return "\n\n".join([*parts, *([self.nothing] if self.nothing else [])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        parts = [paragraphs([self.summary])]
        for one in self.findings:
            table = one.table.to_html() if one.table.rows else ""
            parts.append(paragraphs([f"{one.name}: {one.sentence}"]) + table + paragraphs([one.advice]))
        return "".join([*parts, paragraphs([self.nothing])])


def _indented(table: Table) -> str:
    return "\n".join(f"   {line}" for line in table.to_text().splitlines())


def audit(
    X: Any,
    y: Any = None,
    model: Any = None,
    groups: Any = None,
    *,
    sample_weight: Any = None,
    checks: Sequence[str] = CHECKS,
) -> Audit:
    """Look for wrong labels, leaks and other defects of labelled rows.

    Parameters
    ----------
    X : path, frame, array, sparse matrix, dictionaries, or list of texts
        The rows.
    y : array of shape (n,), or str
        Their labels, or the name of the column of X that holds them. Rows without a label are left out, and listed.
    model : classifier or str, optional
        A classifier whose held-out predictions judge the labels, by leave-one-out or ten folds, or its name (see
        `list_classifiers`); it is cloned. By default a mix of discriminants and naive Bayes, or for texts
        `TextClassifier`.
    groups : array of shape (n,), or str, optional
        The group of each row (a customer, a file, a day), or the name of the column of X that holds it. The column is
        not used to judge labels.
    sample_weight : array of shape (n,), optional
        Weights of the rows, in training.
    checks : sequence of str
        What to look for: "labels", "duplicates", "leakage", "columns", "classes", "groups". By default everything.

    Returns
    -------
    Audit
        It prints its findings; `label_errors` ranks all rows, `to_frame()`, `to_dict()` and `report(path)` have all.

    See Also
    --------
    find_leakage : Only columns that leak the target.
    report : A model and labelled rows as a page.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> species = np.repeat(["cat", "dog"], 50)
    >>> X = {"weight": rng.normal(4, 0.5, 100) + 6 * (species == "dog"), "age": rng.integers(1, 15, 100)}
    >>> species[7] = "dog"
    >>> found = audit(X, species, checks=["labels"])
    >>> first = found.label_errors.order[0]
    >>> print(first, found.label_errors.y[first], found.label_errors.suggested[first])
    7 dog cat
    """
    unknown = [check for check in checks if check not in CHECKS]
    if unknown:
        hint = did_you_mean(unknown[0], CHECKS) or f"the checks are {format_list(CHECKS, len(CHECKS), '')}"
        raise DataError(f"checks: there is no {unknown[0]!r}\n\nhint: {hint}")
    if isinstance(model, str):
        model = get_candidate(model).make()
    rows = _Rows.from_data(X, y, groups, sample_weight)
    apply = {
        "leakage": rows.columns is not None,
        "columns": rows.columns is not None,
        "groups": rows.groups is not None,
    }
    wanted = [check for check in CHECKS if check in checks and apply.get(check, True)]
    found: dict[str, Any] = {}
    if "labels" in wanted:
        found["label_errors"] = rows.label_errors(model)
    if "duplicates" in wanted:
        found["conflicts"] = rows.conflicts()
    if "leakage" in wanted:
        found["leaks"] = rows.leaks()
    if "columns" in wanted:
        found["unused"], found["uninformative"] = rows.unused, rows.uninformative()
    if "classes" in wanted:
        found["small_classes"] = {label: n for label, n in rows.counts.items() if n < FEW}
    if "groups" in wanted:
        found["groups"] = rows.group_differences(found.get("label_errors"))
    d = 0 if rows.columns is None else len(rows.columns)
    return Audit(len(rows.y), d, rows.target, rows.counts, tuple(wanted), **found, unlabelled=rows.unlabelled)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Labelled rows, and what is known about their columns."""

    X: Any
    y: np.ndarray  # (n,), labels
    classes: np.ndarray
    codes: np.ndarray  # (n,)
    w: np.ndarray | None
    groups: np.ndarray | None  # (n,)
    names: np.ndarray | None  # of the rows; None: they are numbered
    target: str | None
    columns: list[Column] | None  # None: texts, or a sparse matrix
    unlabelled: list[Any]

    @classmethod
    def from_data(cls, X: Any, y: Any, groups: Any, sample_weight: Any) -> _Rows:
        if isinstance(X, str | os.PathLike):
            X = _read(X)
        if y is None:
            raise DataError("y is missing\n\nhint: give the labels, or the name of their column: audit(X, y='label')")
        target = frames.target_name(y)
        names = frames.row_labels(X)
        X, y = frames.take_target(frames.records(X), y)
        if isinstance(groups, str):
            X, groups = frames.take_target(X, groups)
        missing = frames.missing_rows(y)
        y = column_or_1d(np.asarray(y, dtype=object if missing else None))
        n = inputs.count_rows(X)
        if n != len(y):
            raise DataError(f"X has {n} rows, y has {len(y)}\n\nhint: give one label for each row")
        groups = None if groups is None else np.asarray(groups)
        if groups is not None and groups.shape != (n,):
            raise DataError(f"groups has shape {groups.shape}, X has {n} rows\n\nhint: give one group for each row")
        w = None if sample_weight is None else np.asarray(sample_weight)
        if names is not None and names.dtype.kind in "iu" and np.array_equal(names, np.arange(n)):
            names = None
        unlabelled = missing if names is None else names[missing].tolist()
        if missing:
            there = np.setdiff1d(np.arange(n), missing)
            X, names = _at(X, there), there if names is None else names[there]
            y = np.array(y[there].tolist())
            groups, w = (None if each is None else each[there] for each in (groups, w))
        classes, codes = inputs.labels(y, None)
        texts = is_texts(X)
        if not (texts or sparse.issparse(X) or frames.is_frame(X)):
            X = np.asarray(X, dtype=None if isinstance(X, np.ndarray) else object)
        columns = None if texts or sparse.issparse(X) else frames.columns(X)
        return cls(X, y, classes, codes, inputs.weights(w, codes), groups, names, target, columns, unlabelled)

    @cached_property
    def counts(self) -> dict[Any, int]:
        """Class → number of its rows."""
        rows = np.bincount(self.codes, minlength=len(self.classes)).tolist()
        return dict(zip(self.classes.tolist(), rows, strict=True))

    @cached_property
    def unused(self) -> dict[str, str]:
        """Column → why it is of no use."""
        reasons = {column.label: drop_reason(column) for column in self.columns or ()}
        return {name: why for name, why in reasons.items() if why}

    @cached_property
    def used(self) -> list[int]:
        """The places of the other columns."""
        return [j for j, column in enumerate(self.columns or ()) if column.label not in self.unused]

    @cached_property
    def sample(self) -> leakage.Rows | None:
        """A sample of the rows, and what single columns say about the class; None: there are too few rows."""
        if self.columns is None or len(self.y) < 20 or len(self.classes) < 2:
            return None
        at = sample_rows(self.columns, self.codes, leakage.ROWS)
        return leakage.Rows(self.X, at, self.codes[at], self.columns, self.classes, len(self.y))

    def called(self, rows: np.ndarray) -> list[Any]:
        """Rows as they are called."""
        return (rows if self.names is None else self.names[rows]).tolist()

    def label_errors(self, model: Any) -> LabelErrors:
        columns = None if self.columns is None else [self.columns[j] for j in self.used]
        found = find_label_errors(self.X, self.y, model, sample_weight=self.w, columns=columns)
        return found.with_names(self.names)

    def conflicts(self) -> list[Conflict]:
        if self.columns is None:
            digest = row_digests(list(self.X) if is_texts(self.X) else self.X)
        elif self.used:
            digest = row_digests([self.columns[j] for j in self.used])
        else:
            return []
        _, group = np.unique(digest, return_inverse=True)
        k = len(self.classes)
        kinds = np.unique(group * np.int64(k) + self.codes)  # pairs of a group and a class
        mixed = np.flatnonzero(np.bincount(kinds // k) > 1)
        here = np.flatnonzero(np.isin(group, mixed))
        order = here[np.argsort(group[here], kind="stable")]
        out = []
        for rows in np.split(order, np.flatnonzero(np.diff(group[order])) + 1) if len(order) else []:
            labels, count = np.unique(self.codes[rows], return_counts=True)
            most = np.argsort(-count, kind="stable")
            by_label = dict(zip(self.classes[labels[most]].tolist(), count[most].tolist(), strict=True))
            out.append(Conflict(tuple(self.called(rows)), by_label))
        return sorted(out, key=lambda one: -len(one.rows))

    def leaks(self) -> list[Leakage]:
        return [] if self.sample is None else self.sample.leaks(self.used)

    def uninformative(self) -> dict[str, str]:
        """Column → why it carries nothing."""
        out: dict[str, str] = {}
        seen: dict[Any, str] = {}
        for j in self.used:
            column = (self.columns or [])[j]
            given = column.values[~column.missing]
            key = (None if column.levels is None else tuple(map(str, column.levels)), column.values.tobytes())
            if not len(given) or (given == given[0]).all():
                out[column.label] = "has one value" + (", or is missing" if len(given) < len(column.values) else "")
            elif key in seen:
                out[column.label] = f"is a copy of `{seen[key]}`"
            elif self.sample is not None and not self.sample.predicts(j, SURE):
                out[column.label] = "does not predict the class by itself"
            seen.setdefault(key, column.label)
        return out

    def group_differences(self, found: LabelErrors | None) -> list[GroupDifference]:
        assert self.groups is not None
        names, group = np.unique(
            self.groups.astype(str) if self.groups.dtype == object else self.groups, return_inverse=True
        )
        size = np.bincount(group)
        compared = [
            g for g in np.argsort(-size, kind="stable")[:GROUPS] if LEAST_GROUP <= size[g] <= len(group) - LEAST_GROUP
        ]
        chance = CHANCE / max(len(compared), 1)
        out = []
        for g in compared:
            inside, name, rows = group == g, names[g].item(), int(size[g])
            pairs = [("classes", self.codes, len(self.classes), DISTANCE, "the classes have other shares")]
            if found is not None:
                pairs.append(("likely label errors", found.likely.astype(int), 2, 0.0, "likely label errors"))
            for what, codes, k, least, words in pairs:
                counts = [np.bincount(codes[some], minlength=k) for some in (~inside, inside)]
                distance, p = shares_moved(*counts)
                fewer = what != "classes" and counts[1][1] * counts[0].sum() < counts[0][1] * counts[1].sum()
                if distance > least and p < chance and not fewer:
                    out.append(GroupDifference(name, rows, what, distance, _group_words(words, counts, self.classes)))
            own = [(self.columns or [])[j] for j in self.used]
            before, after = ([column.at(np.flatnonzero(some)) for column in own] for some in (~inside, inside))
            moved = drift_of_columns(before, after, "the other groups", "other row", chance)
            out += [GroupDifference(name, rows, one.column, one.distance, one.words) for one in moved]
        return sorted(out, key=lambda one: -one.distance)


def _group_words(words: str, counts: list[np.ndarray], classes: np.ndarray) -> str:
    others, own = (100 * count / count.sum() for count in counts)
    if words == "likely label errors":
        return f"{own[1]:.1f} % of its labels are likely errors, {others[1]:.1f} % of those of the other groups"
    c = int(np.abs(own - others).argmax())
    return f"`{classes[c]}` is {own[c]:.0f} % of its rows, {others[c]:.0f} % of those of the other groups"


def _read(path: str | os.PathLike) -> Any:
    """All rows of a file."""
    from deciban.io import readers  # pyarrow is optional

    return readers.read(path)


def _at(X: Any, rows: np.ndarray) -> Any:
    return [X[i] for i in rows.tolist()] if isinstance(X, list | tuple) else inputs.rows_at(X, rows)


# sentences


def _labels(found: Audit) -> Finding | None:
    labels = found.label_errors
    if labels is None:
        return None
    if np.isnan(labels.wrong).all():
        advice = "Add columns that predict the class, or give another `model`."
        return Finding("label errors", f"{labels.summary}.", advice, _table(("row",), []))
    if not labels.likely.any():
        return None
    likely = int(labels.likely.sum())
    items = tuple(
        {**one, "where": one["row"], "finding": f"`{one['given']}` is probably `{one['suggested']}`"}
        for one in labels.records(likely)
    )
    advice = (
        "Compare these rows with their source, from the top: correct the label, or leave out the row. A row that is "
        "rare for its class looks the same. `label_errors` ranks all rows."
    )
    return Finding("label errors", f"{labels.summary}.", advice, labels.table(min(SHOWN, likely)), items)


def _conflicts(found: Audit) -> Finding | None:
    if not found.conflicts:
        return None
    rows = sum(len(one.rows) for one in found.conflicts)
    least = sum(len(one.rows) - max(one.labels.values()) for one in found.conflicts)
    each = [
        (format_list(one.rows, 6, ""), format_list([f"{label} × {n:,}" for label, n in one.labels.items()], 4, ""))
        for one in found.conflicts
    ]
    items = tuple(
        {"where": list(one.rows), "finding": words, "labels": {str(label): n for label, n in one.labels.items()}}
        for one, (_, words) in zip(found.conflicts, each, strict=True)
    )
    sentence = (
        f"{rows:,} rows equal others in all columns, but their labels differ; no model can predict {least:,} of them."
    )
    advice = "A label is wrong, or a column is missing that separates these rows: compare them with their source."
    return Finding("equal rows with different labels", sentence, advice, _table(("rows", "labels"), each), items)


def _leaks(found: Audit) -> Finding | None:
    each = [(one.column, one.words) for one in found.leaks]
    sentence = f"{_many(len(each), 'column may', 'columns may')} hold the answer."
    advice = (
        "Drop a column that is not known when predictions are made, such as one that is recorded after the outcome."
    )
    return _of_names("leaking columns", sentence, advice, ("column", "why"), each)


def _unused(found: Audit) -> Finding | None:
    each = list(found.unused.items())
    sentence = f"{_many(len(each), 'column')} cannot be learned from: left out of all other checks."
    advice = "Drop them, or derive columns from them: a date from its text, a group from a code."
    return _of_names("columns of no use", sentence, advice, ("column", "why"), each)


def _uninformative(found: Audit) -> Finding | None:
    each = list(found.uninformative.items())
    sentence = f"{_many(len(each), 'column says', 'columns say')} nothing new about the class."
    advice = "They may be dropped. One that does not predict the class by itself may still do so together with others."
    return _of_names("columns that carry nothing", sentence, advice, ("column", "why"), each)


def _small_classes(found: Audit) -> Finding | None:
    each = [(str(label), f"{n:,}") for label, n in sorted(found.small_classes.items(), key=lambda one: one[1])]
    sentence = f"{_many(len(each), 'class has', 'classes have')} fewer than {FEW} rows, too few to learn or to check."
    advice = "Collect more rows, merge the class with a similar one, or leave it out."
    return _of_names("classes of few rows", sentence, advice, ("class", "rows"), each)


def _groups(found: Audit) -> Finding | None:
    each = [(str(one.group), f"{one.rows:,}", truncate(one.what, LONGEST), one.words) for one in found.groups]
    items = tuple(
        {"where": one.group, "finding": one.words, "rows": one.rows, "what": one.what, "distance": one.distance}
        for one in found.groups
    )
    if not each:
        return None
    count = len({one.group for one in found.groups})
    sentence = f"{_many(count, 'group differs', 'groups differ')} from the others."
    advice = (
        "Cross-validate by group (`folds=` takes the fold of each row): a model of some groups may fail on new ones."
    )
    table = _table(("group", "rows", "what", "difference"), each, (0, 2, 3))
    return Finding("groups that differ", sentence, advice, table, items)


def _unlabelled(found: Audit) -> Finding | None:
    each = [(str(row),) for row in found.unlabelled]
    sentence = f"{_many(len(each), 'row has', 'rows have')} no label: left out here."
    items = tuple({"where": row, "finding": "has no label"} for row in found.unlabelled)
    return None if not each else Finding("rows without a label", sentence, "Label them.", _table(("row",), each), items)


def _of_names(name: str, sentence: str, advice: str, head: tuple[str, str], each: list) -> Finding | None:
    if not each:
        return None
    items = tuple({"where": where, "finding": words} for where, words in each)
    return Finding(name, sentence, advice, _table(head, each), items)


def _table(head: Sequence[str], each: Sequence[Sequence[str]], left: Sequence[int] = (0, 1)) -> Table:
    more = len(each) - SHOWN
    return Table(
        "",
        head,
        [tuple(cell_text(cell, 160) for cell in line) for line in each[:SHOWN]],
        notes=(f"and {more:,} more",) if more > 0 else (),
        left=left,
    )


def _many(n: int, one: str, more: str = "") -> str:
    return f"{n:,} {one if n == 1 else more or one + 's'}"
