"""Input of the commands: the columns and labels of a file that a model needs, batch by batch; parsing of priors, costs
and rejects.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from deciban.cli.options import Terminal
from deciban.cli.starting import alone
from deciban.display import cell_text, format_choices, format_list
from deciban.errors import DataError, ModelFileError, closest, did_you_mean
from deciban.io import readers

LABEL_BYTES = 64  # of a label in memory
LEDGER_KEY = "DECIBAN_LEDGER_KEY"  # variable of the environment

if alone():
    readers.leave_signals()


def loaded(path: str, data: str, empty: bool = False) -> Any:
    """Load a model; `data` is the other file of the command line, `empty`: the model may have no rows."""
    import deciban

    try:
        model = deciban.load(path)
    except ModelFileError as error:
        if not is_model(data):
            raise
        verb = click.get_current_context().command_path
        raise DataError(
            f"{path} is not a model, {data} is one\n\nhint: the model comes first: {verb} {data} {path}"
        ) from error
    check_probabilities(model, path)
    if is_empty(model) and not empty:
        raise DataError(f"no rows are left in {path}: all were forgotten\n\nhint: deciban update {path} DATA")
    return model


def is_model(path: str) -> bool:
    """Whether a file is a model."""
    import deciban

    try:
        deciban.model_info(path)
    except (OSError, ModelFileError):
        return False
    return True


def check_probabilities(model: Any, path: str) -> None:
    """Raise an error for a model without P(class | x)."""
    import deciban

    if isinstance(model, deciban.Perceptron | deciban.LeastSquaresClassifier):
        name = type(model).__name__
        raise DataError(
            f"{path} is a {name}, which has no probabilities\n\nhint: in Python, deciban.load({path!r}).predict(X)"
        )


def is_empty(model: Any) -> bool:
    """Whether no rows are left in a model."""
    state = model._tally_state()
    if state is not None:
        return state.empty
    return model.class_count_ is not None and float(np.sum(model.class_count_)) == 0.0


def ledger_setting() -> Any:
    """The setting `ledger` of a model that keeps one: the key of the environment, or True."""
    import deciban

    secret = os.environ.get(LEDGER_KEY, "")
    return deciban.LedgerKey(secret) if secret else True


def use_ledger_key(model: Any, about: dict[str, Any]) -> None:
    """Give a model from a file the key of its ledger, which the file does not hold."""
    if about["ledger"] == "secret":
        model.set_params(ledger=ledger_setting())


def target_of(source: readers.Source, given: str | None) -> str:
    """The target column: the given one, the one that the file format defines, or one with a usual name."""
    names = source.names
    if given in names:
        return str(given)
    if given is not None:
        hint = did_you_mean(given, names, "--target {}") or f"the columns are {format_choices(names)}."
        hint += " If another line of the file has the names: --header LINE" if source.header else ""
        one = f"; it was read as one column, as {source.kind}: is --delimiter right?" if len(names) == 1 else ""
        line = f"; {source.header}" if source.header and not one else ""
        raise DataError(f"{source.name} has no column {given!r}{one}{line}\n\nhint: {hint}")
    if source.target is not None:
        return source.target
    likely = [name for name in names if name.lower() in readers.TARGET_NAMES]
    if len(likely) == 1:
        return likely[0]
    line = "" if source.named else f" ({source.header})"
    raise DataError(
        f"target column of {source.name} not found{line}\n\nhint: --target COLUMN, one of {format_choices(names)}"
    )


def check_drop(source: readers.Source, drop: tuple[str, ...], target: str) -> None:
    """Raise DataError if --drop names the target or a column that does not exist."""
    for column in drop:
        if column not in source.names or column == target:
            what = "that is the target" if column == target else f"{source.name} has no such column"
            raise DataError(f"--drop {column}: {what}\n\nhint: the columns are {format_choices(source.names)}")


def feature_names(model: Any) -> list[str]:
    """The names of the columns of training; [] where they had none, as `feature_names_in_` is left out then."""
    return [str(name) for name in vars(model).get("feature_names_in_", ())]


def column_types(model: Any) -> dict[str, str]:
    """Column → its type in the model: "number", "date", "truth" or "text"."""
    levels, units = model._levels() or {}, model._units()
    return {name: readers.column_type(levels.get(name), units.get(name)) for name in feature_names(model)}


def opened(model: Any, path: str, how: dict[str, Any], target: str | None = None) -> readers.Source:
    """Open a file with the column types of a model; all other columns are text."""
    names = feature_names(model)
    how = how | {"expected": tuple(names)}
    if is_empty(model) or not (model._reads_texts or names):
        return readers.open_path(path, **how)  # no categories or no names are known: types are inferred
    known = column_types(model)
    if target is not None:
        label = model.classes_.tolist()[0]
        known[target] = readers.column_type([label])
    return readers.open_path(path, types=readers.arrow_types(known), rest=readers.TEXT, **how)


def questions(model: Any, about: dict[str, Any], path: str, how: dict[str, Any]) -> readers.Source:
    """Open rows to predict. For a text model, a .txt file is one text and standard input has one text per line, unless
    it is a table with the text column or the target."""
    if model._reads_texts and how.get("delimiter") is None and how.get("header") is None:
        how = {**how, "texts_unless": [about.get("text") or "text", about.get("target") or "label"]}
    return opened(model, path, how)


def cells(model: Any, rows: Any, here: list[str]) -> Any:
    """These columns as the model takes them; columns that the rows lack are missing in every row."""
    some = readers.selected(rows, here)
    if model._reads_texts:
        return readers.strings(some, here[0])
    if not feature_names(model):
        return readers.array(some)
    return readers.with_missing(
        some, readers.arrow_types({name: kind for name, kind in column_types(model).items() if name not in here})
    )


def text_of(about: dict[str, Any], source: readers.Source) -> str:
    """The text column: that of training, the one that the file format defines, or the only one except the target."""
    for known in (about.get("text"), source.text):
        if known in source.names:
            return str(known)
    others = [name for name in source.names if name != about.get("target")]
    if len(others) == 1:
        return others[0]
    raise DataError(
        f"text column of {source.name} not found; it has {format_choices(source.names)}\n\n"
        f"hint: name it `{about.get('text') or 'text'}`, as in training"
    )


def columns_of(model: Any, about: dict[str, Any], source: readers.Source, talk: Terminal) -> list[str]:
    """The model's columns that a file has; the others are missing in every row."""
    if model._reads_texts:
        return [text_of(about, source)]
    wanted, given = feature_names(model), set(source.names)
    here = [name for name in wanted if name in given]
    absent = [name for name in wanted if name not in given]
    readers.check_unicode_forms(absent, source.names)
    if not wanted:
        return _by_position(model, about, source, talk)
    if not here or (absent and model._levels() is None):
        near = [f"`{found}` for `{name}`" for name in absent if (found := closest(name, source.names))]
        line = "" if source.named else f"; {source.header}"
        raise DataError(
            f"the model learned from {format_choices(wanted)}; {source.name} has {format_choices(source.names)} and "
            f"lacks {format_choices(absent)}{line}\n\nhint: "
            f"{'it may have ' + format_list(near, 3, '') if near else 'give the columns their names of training'}"
        )
    if absent:
        talk.say(f"{source.name} has no {format_choices(absent)}: taken as missing in every row", "note")
    return here


def _by_position(model: Any, about: dict[str, Any], source: readers.Source, talk: Terminal) -> list[str]:
    """All columns but the target, for a model without column names."""
    here = [name for name in source.names if name != about.get("target")]
    if len(here) != model.n_features_in_:
        raise DataError(
            f"the model learned from {model.n_features_in_} columns without names; {source.name} has {len(here)}: "
            f"{format_choices(here)}\n\nhint: give a file with those columns alone, in the order of training; or learn "
            "from a table with names"
        )
    talk.say(
        f"the model learned from columns without names: columns are taken in this order: {format_choices(here)}",
        "note",
    )
    return here


@dataclass(frozen=True)
class LabelledData:
    """Labelled rows of a file for a model of another file: its columns and the target."""

    model: Any
    about: dict[str, Any]
    target: str
    source: readers.Source
    columns: list[str]

    @classmethod
    def of(
        cls, model: str, data: str, target: str | None, how: dict[str, Any], talk: Terminal, empty: bool = False
    ) -> LabelledData:
        """From two files; `target` is the target column, if it is not that of training; `empty`: the model may have no
        rows."""
        import deciban

        fitted, about = loaded(model, data, empty), deciban.model_info(model)
        column = target_of(opened(fitted, data, how), target or about.get("target"))
        if column in feature_names(fitted):
            learned = about.get("target")
            other = f"its classes are those of {learned}: --target {learned}" if learned else "name another --target"
            raise DataError(f"the model reads `{column}`, which cannot be the target too\n\nhint: {other}")
        source = opened(fitted, data, how, column)
        return cls(fitted, about, column, source, columns_of(fitted, {**about, "target": column}, source, talk))

    def pairs(self, talk: Terminal, what: str) -> Iterator[tuple[Any, np.ndarray]]:
        """(rows, labels) as the model takes them, batch by batch."""
        for X, y in labelled(self.source, self.target, talk, what):
            yield cells(self.model, X, self.columns), as_learned(self.model, y)

    def whole(self, talk: Terminal, what: str) -> tuple[Any, np.ndarray]:
        """All rows and labels at once."""
        pieces = [(readers.selected(X, self.columns), y) for X, y in labelled(self.source, self.target, talk, what)]
        X, y = readers.concat(pieces)
        return cells(self.model, X, self.columns), as_learned(self.model, y)

    def numbered(self, talk: Terminal, what: str, column: str | None, row: int | None) -> NumberedRows:
        """All labelled rows at once, with their numbers in the file, another column, and the row of that number."""
        if column is not None and column not in self.source.names:
            hint = did_you_mean(column, self.source.names, "--groups {}")
            hint = hint or f"the columns are {format_choices(self.source.names)}"
            raise DataError(f"{self.source.name} has no column {column!r}\n\nhint: {hint}")
        pieces, values, numbers, start, asked = [], [], [], 0, None
        for batch in batches(self.source, talk, what):
            if row is not None and start <= row < start + batch.num_rows:
                asked = batch.slice(row - start, 1)
            numbers.append(start + np.flatnonzero(np.asarray(batch[self.target].is_valid())))
            start += batch.num_rows
            X, y, _ = readers.split(batch, self.target)
            if len(y):
                pieces.append((readers.selected(X, self.columns), y))
                if column is not None:
                    values += X[column].to_pylist()
        if row is not None and asked is None:
            raise DataError(f"{self.source.name} has {start:,} rows\n\nhint: --row N, from 0 to {max(start - 1, 0):,}")
        if not pieces:
            raise DataError(f"no row of {self.source.name} has a label in `{self.target}`\n\nhint: --target COLUMN")
        X, y = readers.concat(pieces)
        own = None if asked is None else cells(self.model, asked, self.columns)
        return NumberedRows(
            cells(self.model, X, self.columns),
            as_learned(self.model, y),
            np.concatenate(numbers),
            None if column is None else np.array([cell_text(value) for value in values], dtype=object),
            own,
        )


@dataclass(frozen=True, eq=False)
class NumberedRows:
    """Labelled rows of a file as a model takes them."""

    X: Any
    y: np.ndarray
    number: np.ndarray  # (n,), of each row in the file
    column: np.ndarray | None  # another column of the file, as text
    asked: Any  # one row of the file, which may have no label


def one_row(known: LabelledData, path: str, row: int, how: dict[str, Any], talk: Terminal) -> Any:
    """A row of another file, as the model takes it."""
    source = questions(known.model, known.about, path, how)
    here = columns_of(known.model, known.about, source, talk)
    return cells(known.model, readers.some_rows(source, row, 1), here)


def read_training_data(
    source: readers.Source, target: str, drop: tuple[str, ...], talk: Terminal, most: float = np.inf
) -> tuple[Any, np.ndarray]:
    """(rows, labels) of a file, all at once, without the excluded columns; raises `ReadAgain` where they need more than
    `most` bytes."""
    pieces, size = [], 0
    for piece in labelled(source, target, talk, "reading"):
        pieces.append(piece)
        size += piece[0].nbytes + len(piece[1]) * LABEL_BYTES
        if size > most:
            raise readers.ReadAgain
    X, y = readers.concat(pieces)
    return X.drop_columns(list(drop)), y


def batches(source: readers.Source, talk: Terminal, what: str) -> Iterator[Any]:
    """The batches of a file, with a progress bar."""
    yield from with_progress(source, ((batch.num_rows, batch) for batch in source.batches()), talk, what)


def with_progress(
    source: readers.Source, pieces: Iterable[tuple[int, Any]], talk: Terminal, what: str
) -> Iterator[Any]:
    """(number of rows, batch) pairs → batches, with a progress bar."""
    seen = 0
    with talk.bar(what) as advance:
        for count, piece in pieces:
            yield piece
            seen += count
            advance(seen, source.done())
    for note in source.notes:
        talk.say(note, "note")


def labelled(source: readers.Source, target: str, talk: Terminal, what: str) -> Iterator[tuple[Any, np.ndarray]]:
    """(rows, labels) of each batch, without the rows that have no label."""
    skipped = 0
    for batch in batches(source, talk, what):
        X, y, without = readers.split(batch, target)
        skipped += without
        if len(y):
            yield X, y
    if skipped:
        talk.say(f"{skipped:,} rows without `{target}` were skipped", "note")


def label_of(model: Any, text: str, option: str) -> Any:
    """The class that an option names."""
    for label in model.classes_.tolist():
        if str(label) == text:
            return label
    labels = [str(label) for label in model.classes_.tolist()]
    hint = did_you_mean(text, labels, "{}") or f"the classes are {format_choices(labels)}"
    raise DataError(f"{option}: no class is called {text!r}\n\nhint: {hint}")


def as_learned(model: Any, y: np.ndarray) -> np.ndarray:
    """Labels in the type of the model's classes."""
    kind = model.classes_.dtype.kind
    if kind in "iu" and y.dtype.kind == "f":
        return y.astype(model.classes_.dtype) if (y == np.floor(y)).all() else y
    return y


@dataclass(frozen=True)
class DecisionOptions:
    """A model with priors, costs and a reject cost."""

    model: Any
    priors: Any
    costs: dict[tuple[Any, Any], float]
    reject: float | None

    @classmethod
    def of(cls, model: Any, priors: str | None, costs: tuple[str, ...], reject: float | None) -> DecisionOptions:
        return cls(model, parse_priors(model, priors), dict(parsed_cost(model, cost) for cost in costs), reject)

    def answer(self, X: Any) -> tuple[Any, np.ndarray]:
        """(labels, probabilities) of rows; the label of a rejected row is None."""
        proba = np.asarray(self.model.predict_proba(X, priors=self.priors))
        if not self.costs and self.reject is None:
            return self.model.classes_[proba.argmax(axis=1)], proba
        labels = self.model.decide(X, costs=self.costs or None, reject=self.reject, priors=self.priors)
        return labels.tolist(), proba


def parse_priors(model: Any, text: str | None) -> Any:
    """Parse `yes=0.2,no=0.8`, normalised to sum 1, or `uniform`: what `priors` of a model takes."""
    if text is None or text == "uniform":
        return text
    given = {}
    for part in text.split(","):
        name, _, value = part.rpartition("=")
        given[label_of(model, name.strip(), "--priors")] = number(value, "--priors", part)
    absent = [label for label in model.classes_.tolist() if label not in given]
    if absent:
        raise click.BadParameter(f"no prior for {absent}", param_hint="--priors")
    wrong = {label: weight for label, weight in given.items() if not 0 <= weight < np.inf}
    whole = sum(given.values())
    if wrong or whole == 0:
        label, weight = next(iter((wrong or given).items()))
        raise click.BadParameter(
            f"the prior of {label!r} is {weight:g}{'' if wrong else ', as all are'}; priors are numbers ≥ 0, and not "
            "all are 0",
            param_hint="--priors",
        )
    return {label: weight / whole for label, weight in given.items()}


def parsed_cost(model: Any, text: str) -> tuple[tuple[Any, Any], float]:
    """Parse `spam:ham=5`: predicting ham for spam costs 5."""
    pair, _, value = text.rpartition("=")
    cost = number(value, "--costs", text)
    if not 0 <= cost < np.inf:
        raise click.BadParameter(f"{text!r}: a cost is a finite number ≥ 0", param_hint="--costs")
    true, colon, decided = pair.partition(":")
    if not colon:
        raise click.BadParameter(f"{text!r} does not name two classes, TRUE:DECIDED", param_hint="--costs")
    return (label_of(model, true.strip(), "--costs"), label_of(model, decided.strip(), "--costs")), cost


def number(text: str, option: str, whole: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise click.BadParameter(f"{whole!r} does not end in =NUMBER", param_hint=option) from None
