"""Classifiers whose columns depend on each other: every column is coded as levels first.

Texts, booleans and categories are levels by label. Numbers are cut into intervals that tell the classes apart (see
`estimation.discretise`); the cuts are learned with the first rows and then kept, on data elsewhere by a pass of their
own. A subclass of `StructuredNB` names its family:

    class TreeAugmentedNB(StructuredNB):
        def _structure(self): return partial(tree_of, …)     # (schema, known) → a family of a block of codes

Its tally (of `Pairs`, `DistinctRows` or any other that has `levels`, `relevel(levels, index)` and `crosstab()`) adds up
over rows, levels come and go with their rows, and models of other levels and classes merge by label.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from deciban import ops
from deciban.classifiers.base import CLASS_WEIGHT, PRIORS, Generative
from deciban.classifiers.mixed import levels_of
from deciban.composites.discretised import ColumnCuts, Discretised
from deciban.data import frames
from deciban.data.blocks import Mixed, Table
from deciban.data.frames import Column
from deciban.decision import Prior
from deciban.display import format_list, is_missing
from deciban.errors import DataError, MergeError
from deciban.estimation import discretise
from deciban.families.aode import Aode
from deciban.families.categorical import Categorical
from deciban.families.histogram import Histogram
from deciban.families.kdb import Kdb
from deciban.families.tree import Tree
from deciban.models.model import Known, Spec, State, fixed_family
from deciban.networks.network import Network
from deciban.networks.query import codes_of
from deciban.plots import networks
from deciban.rows.readers import COLUMNS, ColumnReader
from deciban.rows.schema import Field, Schema
from deciban.tallies import Bundle, ClassWeights, GridCounts
from deciban.tallies.grid import cell_borders

MOST = 1 << 28  # numbers that tables of counts may hold: 2 GiB
LEVELS, NUMBERS = Categorical(), Histogram()  # what a schema calls the two kinds of columns
CLASS = "class"  # what the class is called where the labels have no name
MISSING = "(missing)"  # the level of missing cells


class StructuredNB(Generative):
    """Base: needs `_structure()`, and the settings `cuts`, `missing`, `priors` and `calibrate`."""

    _parameter_constraints: dict = {
        "cuts": [StrOptions({"mdl"}), Mapping, Sequence, np.ndarray, None],
        "missing": [StrOptions({"ignore", "informative"})],
        "priors": PRIORS,
        "calibrate": ["boolean"],
        **CLASS_WEIGHT,
        **COLUMNS,
    }
    cuts: Any
    missing: str

    def _structure(self) -> Callable[[Schema | None, Known], Any]:
        """(schema, known) → the family of the coded columns."""
        raise NotImplementedError

    def _reader(self) -> ColumnReader:
        make, levels = partial(schema_of, self.cuts), partial(numbers_are_levels, self.cuts)
        return ColumnReader(type(self).__name__, make, levels, self.columns == "strict")

    def _spec(self) -> Spec:
        return Spec(
            type(self).__name__,
            self.get_params(deep=False),
            partial(coded_family, self._structure(), self.missing),
            Prior(self.priors, class_weight=self.class_weight),
            calibrate=bool(self.calibrate),
            find_cuts=None if self.cuts is None else FindCuts(self.cuts),
            check_family=check_memory,
            structured=True,
        )

    def _check_mergeable(self, other: Any) -> None:
        fields = self._state.reader.schema.fields
        for field, *both in zip(fields, self._state.known.cuts or (), other._state.known.cuts or (), strict=False):
            if any(cut is not None and cut.learned for cut in both):
                raise MergeError(
                    f"column {field.named} was cut as the rows of each model had it, so their counts do not add up\n\n"
                    "hint: give one model's cuts to the other, `cuts=model.cuts_`, and the same to every model"
                )

    # what was learned

    @property
    def class_prior_(self) -> np.ndarray:
        """Prior probability of each class, (k,)."""
        return np.exp(self._fitted_state().log_prior)

    @property
    def levels_(self) -> dict[Any, list]:
        """The levels of each nominal column, by name."""
        return levels_of(self._fitted_state())

    @property
    def evidence_(self) -> float:
        """log p(X | y), the structure being given and its tables averaged out, each drawn from a Dirichlet(alpha)."""
        state = self._fitted_state()
        try:
            found = state.family.evidence(state.tally.parts[1], state.params)
        except DataError as none:  # no prior
            raise AttributeError(str(none)) from None
        if found is None:
            averages = state.family.family.averages
            why = "is an average of models" if averages else "has tables that were given, not learned from rows"
            raise AttributeError(
                f"{type(self).__name__} {why}: no evidence in closed form\n\n"
                "hint: compare models by `leave_one_out` or `deciban.cross_validate`"
            )
        return float(found.sum())

    @property
    def missing_(self) -> list[Any]:
        """The columns whose missing cells are a level of their own, by name."""
        state = self._fitted_state()
        return [name for name, gap in zip(state.reader.schema.names, state.params.gaps, strict=True) if gap]

    @property
    def cuts_(self) -> dict[Any, list[float]]:
        """Where each column of numbers is cut, by name: what `cuts` of another model may be."""
        state = self._fitted_state()
        pairs = zip(state.reader.schema.names, cuts_of(state), strict=True)
        return {name: list(cut.at) for name, cut in pairs if cut is not None}

    def sample(self, n_samples: int = 1, random_state=None) -> tuple[Any, np.ndarray]:
        """Draw rows and their labels: (X, y), where X is a frame or an array as in training. A number is drawn evenly
        from its interval."""
        codes, y = super().sample(n_samples, random_state)
        state = self._fitted_state()
        rng = np.random.default_rng(codes.sum() + n_samples)
        columns = []
        for field, cut, values in zip(state.reader.schema.fields, cuts_of(state), codes.T, strict=True):
            if cut is None:
                columns.append(Column(field.name, np.array([*(field.levels or ()), None], dtype=object)[values]))
            else:
                columns.append(Column(field.name, cut.drawn(values, rng)))
        return frames.to_frame(columns, state.reader.library), y

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


# columns as levels


def schema_of(cuts: Any, columns: list[Column]) -> Schema:
    """The schema of columns that come for the first time: which are numbers that will be cut, and the levels of the
    others."""
    names, given = [column.name for column in columns], dict(cuts) if isinstance(cuts, Mapping) else {}
    strange = [name for name in given if name not in names]
    if strange:
        raise DataError(
            f"cuts name {format_list(strange)}, but the columns are {format_list(names)}\n\n"
            "hint: name columns as X has them, by number (0, 1, …) if X is an array"
        )
    texts = [column.name for column in columns if column.levels and column.name in given]
    if texts:
        raise DataError(f"column {format_list(texts)} has levels, which cannot be cut\n\nhint: leave it out of `cuts`")
    fields = []
    for column in columns:
        if column.levels is None and cuts is not None:
            fields.append(Field(column.name, NUMBERS))
        else:
            fields.append(Field(column.name, LEVELS, tuple(column.as_levels().levels or ())))
    return Schema(tuple(fields), reserve=True)  # a level never seen is not a missing cell


def numbers_are_levels(cuts: Any, name: Any) -> bool:
    return cuts is None


@dataclass(frozen=True, eq=False)
class FindCuts:
    """(schema, cells of the columns of numbers) → the cuts of each column: those given, or those that rows choose."""

    cuts: Any  # the setting

    def grid(self, table: Table) -> Bundle:
        """All columns of numbers on the grid that cuts are found on."""
        n = ops.class_weights(table.y, table.w, table.k)
        blocks = [b for b, (family, _) in enumerate(table.schema.groups) if family == NUMBERS]
        assert isinstance(table.x, Mixed)
        if not blocks:
            return Bundle((ClassWeights(n), GridCounts(n, (), np.zeros((table.k, 0)))))
        return Bundle((ClassWeights(n), NUMBERS.tally(table.x.blocks[blocks[0]], table.y, table.w, table.k)))  # type: ignore[arg-type]

    def __call__(self, schema: Schema, cells: GridCounts) -> tuple[ColumnCuts | None, ...]:
        out: list[ColumnCuts | None] = [None] * len(schema.fields)
        for at in [at for family, at in schema.groups if family == NUMBERS]:
            for j, keys, table in zip(at, cells.keys, cells.columns(), strict=True):
                low, high = cell_borders(keys) if len(keys) else (np.array([np.nan]), np.array([np.nan]))
                given, learns = self._given(schema.fields[j]), isinstance(self.cuts, str | Mapping)
                cuts = given if given is not None else discretise.between(keys, table) if learns else []
                out[j] = ColumnCuts(tuple(cuts), float(low[0]), float(high[-1]), given is None)
        return tuple(out)

    def _given(self, field: Field) -> list[float] | None:
        """The cuts that were given for a column, ascending; None: the rows choose."""
        given = None if isinstance(self.cuts, str) else self.cuts
        if isinstance(given, Mapping):
            given = given.get(field.name)
        if given is None:
            return None
        numbers = all(isinstance(cut, Real) for cut in given)
        at = np.array(given, dtype=np.float64) if numbers else np.zeros((0, 0))
        if at.ndim != 1 or not np.isfinite(at).all() or (np.diff(at) <= 0).any():
            raise DataError(
                f"the cuts of column {field.named} are {given!r}\n\n"
                "hint: give ascending numbers, such as [0.5, 1.5]; an empty list makes one interval of all"
            )
        return at.tolist()


def cuts_of(state: State) -> tuple[ColumnCuts | None, ...]:
    """The cuts of each column; None: it has levels."""
    return state.known.cuts or (None,) * state.reader.d


def coded_family(structure: Callable, missing: str, schema: Schema | None, known: Known) -> Discretised:
    """The family of the coded columns over columns of any kind."""
    assert schema is not None
    cuts = known.cuts or (None,) * len(schema.fields)
    levels = tuple(
        len(f.levels or ()) if c is None else len(c.at) + 1 for f, c in zip(schema.fields, cuts, strict=True)
    )
    missing = missing if known.network is None else "ignore"
    return Discretised(structure(schema, known), tuple(at for _, at in schema.groups), cuts, levels, missing)


def check_memory(family: Discretised, schema: Schema | None, k: int) -> None:
    """Refuse tables of counts that would not fit, before they are made."""
    size = family.tally_size(k, len(family.levels))
    if size <= MOST or schema is None:
        return
    wide = np.argsort(family.levels)[::-1][:3]
    names = ", ".join(f"{schema.fields[j].named} ({family.levels[j]} levels)" for j in wide)
    raise DataError(
        f"the counts of {len(family.levels)} columns with {sum(family.levels)} levels and {k} classes would take "
        f"{size * 8 / 2**30:.3g} GiB, more than {MOST * 8 / 2**30:g}; the widest columns are {names}\n\n"
        "hint: leave out columns that name their rows (ids, dates), lump rare levels together, or use MixedNB"
    )


# models that have one graph


def class_node(names: list, own: str | None) -> str:
    """What the class is called: as the labels are, unless a column is called so."""
    own = CLASS if own is None else own
    name = CLASS if own in names else own
    while name in names:
        name += "_"
    return name


def learned_network(state: State, target: str) -> Network:
    """The graph of the columns and the class, with its tables."""
    own, d, schema = state.params.params.network, state.reader.d, state.reader.schema
    prior = np.exp(state.log_prior - np.logaddexp.reduce(state.log_prior))
    told = map(level_names, schema.fields, cuts_of(state), state.params.gaps)
    levels = (*told, tuple(state.classes.tolist()))
    return Network((*schema.names, target), levels, own.parents, (*own.tables[:d], prior))


def draw_network(model: Any, ax: Any) -> Any:
    """The network of a fitted model as a picture."""
    state = model._fitted_state()
    target = class_node(state.reader.schema.names, state.reader.target)
    network = state.remember("network", lambda: learned_network(state, target))
    return networks.draw(network, ax, target=target)


@dataclass(frozen=True)
class CellReader:
    """Cells of a column as codes of its levels."""

    levels: tuple
    cut: ColumnCuts | None
    gap: bool  # whether the last level is that of missing cells

    def __call__(self, column: frames.Column) -> np.ndarray:
        if self.cut is None:
            codes = codes_of(column, self.levels)
        else:
            codes = discretise.intervals(np.asarray(column.values, dtype=np.float64), np.array(self.cut.at))
        return np.where(codes < 0, len(self.levels) - 1, codes) if self.gap else codes

    def level(self, cell: Any) -> Any:
        """The level that a number lies in, or that of a missing cell; else the cell as it is."""
        if self.gap and is_missing(cell):
            return self.levels[-1]
        if self.cut is None or not isinstance(cell, Real) or is_missing(cell):
            return cell
        return self.levels[int(discretise.intervals(np.array([float(cell)]), np.array(self.cut.at))[0])]


def level_names(field: Field, cut: ColumnCuts | None, gap: bool = False) -> tuple:
    """The levels of a column as people know them; the last one is that of missing cells, where they have one."""
    if gap:
        return (*level_names(field, cut), MISSING)
    if cut is None:
        return tuple(field.levels or ()) or ("(none)",)
    at = [f"{number:.6g}" for number in cut.at]
    if not at:
        return ("(any)",)
    if len(set(at)) < len(at):
        at = [repr(number) for number in cut.at]
    return (f"< {at[0]}", *(f"{a} – {b}" for a, b in pairwise(at)), f"≥ {at[-1]}")


class TreeAugmentedNB(StructuredNB):
    """Naive Bayes where every column but one also depends on another: the tree of columns that tell most of each other.

    X is a dataframe or an array. Texts, booleans and categories are levels; numbers are cut into intervals that tell
    the classes apart. A missing cell counts for nothing in training and is summed out exactly in prediction; so is a
    level never seen.

    Parameters
    ----------
    backoff : "auto" or a number
        How strongly a sparse table is drawn to the one without the parent, θ(x | c, p) = (n(x, c, p) + m θ(x | c) +
        alpha) / (n(c, p) + m + alpha · levels), and that to the one without the class. "auto": of each column, the
        strengths m that make held-out rows most probable. 0: none, plain (n + alpha) / (sum + alpha · levels).
    alpha : number
        Pseudo-count of every level in every table.
    root : column, or None
        Where the tree starts; by default at the column that tells most about all others.
    cuts : "mdl", {column: numbers}, numbers, or None
        Where columns of numbers are cut. "mdl": as the rows of the first `fit` or `partial_fit` have it, by Fayyad and
        Irani's rule; one cut where that finds none and the class depends on it; each of up to 10 distinct numbers by
        itself where the classes of the rows say so. Numbers: as given (of a mapping, columns left out are cut as the
        rows have it). None: every distinct number is a level.
    missing : "ignore", "informative"
        What a missing cell is. "ignore": no evidence; it counts for nothing in training and is summed out in
        prediction. "informative": a level of its own, in every column that had missing cells in training
        (see `missing_`).
    priors : sequence, mapping by class, "uniform" or None
        Class priors; by default the classes' shares of the rows.
    class_weight : "balanced", {class: weight}, or None
        Multiplies the learned class shares: "balanced" is n / (k · n_c), so that all classes are equally probable
        beforehand. Densities are learned by class and stay the same.
    columns : "align", "strict"
        Columns at prediction that are not those of training, by name: a warning (one that is not there counts as
        missing, one that was never learned is ignored), or an error.
    calibrate : bool
        Fit a temperature and a bias for each class to leave-one-out predictions, so that probabilities are honest.

    Counts of all pairs of columns are kept: classes × Σ_(i < j) levels_i · levels_j numbers.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    class_prior_ : ndarray of shape (k,)
        Prior probability of each class.
    parents_ : dict
        The column that each column depends on beside the class, by name; None: on none.
    information_ : ndarray of shape (d, d)
        Information that each pair of columns shares, given the class, in nats.
    missing_ : list
        Columns whose missing cells are a level, by name.
    levels_ : dict
        Levels of each nominal column, by name.
    cuts_ : dict
        Where each column of numbers is cut, by name; another model takes it as `cuts`.
    evidence_ : float
        log p(X | y), parameters averaged out, where it has a closed form.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, where the training rows had names.
    target_name_ : str
        Name of the labels (`y.name`, or the target of `fit_on`), where they had one.
    tally_ : tally
        The sufficient statistics: what `partial_fit` adds to and `forget` subtracts from.
    tuned_ : dict
        Settings that held-out rows chose, and their values.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": list("uuvvuuvv"), "b": list("xxyyyyxx"), "c": list("pqpqpqpq")})
    >>> y = ["same"] * 4 + ["other"] * 4  # whether a and b go together: neither tells anything by itself
    >>> model = TreeAugmentedNB().fit(X, y)
    >>> model.parents_, model.predict(X).tolist() == y
    ({'a': None, 'b': 'a', 'c': None}, True)
    """

    _parameter_constraints: dict = {
        "backoff": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "root": "no_validation",
        **StructuredNB._parameter_constraints,
    }

    def __init__(
        self,
        *,
        backoff="auto",
        alpha=1.0,
        root=None,
        cuts="mdl",
        missing="ignore",
        priors=None,
        class_weight=None,
        columns="align",
        calibrate=False,
    ):
        self.backoff = backoff
        self.alpha = alpha
        self.root = root
        self.cuts = cuts
        self.missing = missing
        self.priors = priors
        self.class_weight = class_weight
        self.columns = columns
        self.calibrate = calibrate

    def _structure(self) -> Callable[[Schema | None, Known], Tree]:
        return partial(tree_of, float(self.alpha), self.backoff, self.root)

    @property
    def parents_(self) -> dict[Any, Any]:
        """The column that each one depends on beside the class, by name; None: on the class alone."""
        state = self._fitted_state()
        names = state.reader.schema.names
        return {
            name: None if parent < 0 else names[parent]
            for name, parent in zip(names, state.params.params.parents, strict=True)
        }

    @property
    def information_(self) -> Any:
        """I(X_i; X_j | class) of every two columns in nats, (d, d): what the tree is chosen by."""
        return self._fitted_state().params.params.information

    def plot(self, ax: Any = None) -> Any:
        """Draw the network in layers, parents above children, edges as wide as the mutual information of their ends;
        returns the axes. `ax.figure.savefig("net.svg")` writes a picture."""
        return draw_network(self, ax)


def tree_of(alpha: float, backoff: Any, root: Any, schema: Schema | None, known: Known) -> Tree:
    assert schema is not None
    names = schema.names
    if root is not None and root not in names:
        raise DataError(f"root is {root!r}, but the columns are {format_list(names)}\n\nhint: name one of them")
    return Tree(alpha, backoff, None if root is None else names.index(root))


class KDependenceBayes(StructuredNB):
    """Naive Bayes where each column also depends on up to k others: of those that tell more about the class, the ones
    that tell most about it.

    X is a dataframe or an array. Texts, booleans and categories are levels; numbers are cut into intervals that tell
    the classes apart. A missing cell counts for nothing in training and is summed out exactly in prediction; so is a
    level never seen.

    Parameters
    ----------
    k : whole number
        Columns that one depends on beside the class, at most; 0 is naive Bayes. A column of many levels has fewer where
        its table would be too large (see `parents_`).
    backoff : "auto" or a number
        How strongly a sparse table is drawn to the one without its last parent, θ(x | c, p) = (n(x, c, p) + m θ(x | c)
        + alpha) / (n(c, p) + m + alpha · levels), and so on down to the one without the class. "auto": of each column,
        the strengths m that make held-out rows most probable. 0: none, plain (n + alpha) / (sum + alpha · levels).
    alpha : number
        Pseudo-count of every level in every table.
    cuts : "mdl", {column: numbers}, numbers, or None
        Where columns of numbers are cut. "mdl": as the rows of the first `fit` or `partial_fit` have it, by Fayyad and
        Irani's rule; one cut where that finds none and the class depends on it; each of up to 10 distinct numbers by
        itself where the classes of the rows say so. Numbers: as given (of a mapping, columns left out are cut as the
        rows have it). None: every distinct number is a level.
    missing : "auto", "ignore", "informative"
        What a missing cell is. "ignore": no evidence; it counts for nothing in training and is summed out in
        prediction. "informative": a level of its own, in every column that had missing cells in training. "auto": a
        level in columns whose missing cells depend on the class or on another column, if rows left out are more
        probable so, by two standard errors; else ignored (see `missing_`).
    priors : sequence, mapping by class, "uniform" or None
        Class priors; by default the classes' shares of the rows.
    class_weight : "balanced", {class: weight}, or None
        Multiplies the learned class shares: "balanced" is n / (k · n_c), so that all classes are equally probable
        beforehand. Densities are learned by class and stay the same.
    columns : "align", "strict"
        Columns at prediction that are not those of training, by name: a warning (one that is not there counts as
        missing, one that was never learned is ignored), or an error.
    calibrate : bool
        Fit a temperature and a bias for each class to leave-one-out predictions, so that probabilities are honest.

    It keeps the distinct rows, so that parents can be chosen anew as rows come and go: its memory is theirs.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    class_prior_ : ndarray of shape (k,)
        Prior probability of each class.
    parents_ : dict
        The columns that each column depends on beside the class, by name.
    missing_ : list
        Columns whose missing cells are a level, by name.
    levels_ : dict
        Levels of each nominal column, by name.
    cuts_ : dict
        Where each column of numbers is cut, by name; another model takes it as `cuts`.
    evidence_ : float
        log p(X | y), parameters averaged out, where it has a closed form.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, where the training rows had names.
    target_name_ : str
        Name of the labels (`y.name`, or the target of `fit_on`), where they had one.
    tally_ : tally
        The sufficient statistics: what `partial_fit` adds to and `forget` subtracts from.
    tuned_ : dict
        Settings that held-out rows chose, and their values.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": list("uuvvuuvv"), "b": list("xxyyyyxx")})
    >>> y = ["same"] * 4 + ["other"] * 4  # whether a and b go together: neither tells anything by itself
    >>> model = KDependenceBayes(k=1).fit(X, y)
    >>> model.parents_, model.predict(X).tolist() == y
    ({'a': [], 'b': ['a']}, True)
    """

    _parameter_constraints: dict = {
        "k": [Interval(Integral, 0, None, closed="left")],
        "backoff": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        **StructuredNB._parameter_constraints,
        "missing": [StrOptions({"auto", "ignore", "informative"})],
    }

    def __init__(
        self,
        *,
        k=1,
        backoff="auto",
        alpha=1.0,
        cuts="mdl",
        missing="auto",
        priors=None,
        class_weight=None,
        columns="align",
        calibrate=False,
    ):
        self.k = k
        self.backoff = backoff
        self.alpha = alpha
        self.cuts = cuts
        self.missing = missing
        self.priors = priors
        self.class_weight = class_weight
        self.columns = columns
        self.calibrate = calibrate

    def _structure(self) -> Callable[[Schema | None, Known], Kdb]:
        return partial(fixed_family, Kdb(int(self.k), float(self.alpha), self.backoff))

    @property
    def parents_(self) -> dict[Any, list]:
        """The columns that each one depends on beside the class, by name, the one that tells most first."""
        state = self._fitted_state()
        names, parents = state.reader.schema.names, state.params.params.parents
        return {name: [names[i] for i in own] for name, own in zip(names, parents, strict=True)}

    def plot(self, ax: Any = None) -> Any:
        """Draw the network in layers, parents above children, edges as wide as the mutual information of their ends;
        returns the axes. `ax.figure.savefig("net.svg")` writes a picture."""
        return draw_network(self, ax)


class AODE(StructuredNB):
    """The average of all models in which one column is, beside the class, the parent of all others (A1DE).

    X is a dataframe or an array. Texts, booleans and categories are levels; numbers are cut into intervals that tell
    the classes apart. A missing cell counts for nothing in training; in prediction it is no parent, and is summed out
    where it is a child; so is a level never seen.

    Parameters
    ----------
    backoff : "auto" or a number
        How strongly a sparse table is drawn to the one without the parent, θ(x | c, p) = (n(x, c, p) + m θ(x | c) +
        alpha) / (n(c, p) + m + alpha · levels), and that to the one without the class. "auto": of each pair of columns,
        the strength m that makes held-out rows most probable. 0: none, plain (n + alpha) / (sum + alpha · levels).
    alpha : number
        Pseudo-count of every level in every table.
    least : number
        Rows (of any class) that have a level before it is a parent; Webb, Boughton and Wang (2005) used 30. Where no
        level of a row is one, the answer is naive Bayes'.
    cuts : "mdl", {column: numbers}, numbers, or None
        Where columns of numbers are cut. "mdl": as the rows of the first `fit` or `partial_fit` have it, by Fayyad and
        Irani's rule; one cut where that finds none and the class depends on it; each of up to 10 distinct numbers by
        itself where the classes of the rows say so. Numbers: as given (of a mapping, columns left out are cut as the
        rows have it). None: every distinct number is a level.
    missing : "ignore", "informative"
        What a missing cell is. "ignore": no evidence; it counts for nothing in training and is no parent in prediction.
        "informative": a level of its own, in every column that had missing cells in training (see `missing_`).
    priors : sequence, mapping by class, "uniform" or None
        Class priors; by default the classes' shares of the rows.
    class_weight : "balanced", {class: weight}, or None
        Multiplies the learned class shares: "balanced" is n / (k · n_c), so that all classes are equally probable
        beforehand. Densities are learned by class and stay the same.
    columns : "align", "strict"
        Columns at prediction that are not those of training, by name: a warning (one that is not there counts as
        missing, one that was never learned is ignored), or an error.
    calibrate : bool
        Fit a temperature and a bias for each class to leave-one-out predictions, so that probabilities are honest.

    Its memory is about classes · (Σ levels)² numbers. An average of products has no part for a column: `explain` says
    what each adds as they speak one after the other, averaged over the order of the columns and its reverse; the parts
    sum to the log odds.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    class_prior_ : ndarray of shape (k,)
        Prior probability of each class.
    missing_ : list
        Columns whose missing cells are a level, by name.
    levels_ : dict
        Levels of each nominal column, by name.
    cuts_ : dict
        Where each column of numbers is cut, by name; another model takes it as `cuts`.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, where the training rows had names.
    target_name_ : str
        Name of the labels (`y.name`, or the target of `fit_on`), where they had one.
    tally_ : tally
        The sufficient statistics: what `partial_fit` adds to and `forget` subtracts from.
    tuned_ : dict
        Settings that held-out rows chose, and their values.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": list("uuvvuuvv"), "b": list("xxyyyyxx")})
    >>> y = ["same"] * 4 + ["other"] * 4  # whether a and b go together: neither tells anything by itself
    >>> AODE().fit(X, y).predict(X).tolist() == y
    True
    """

    _parameter_constraints: dict = {
        "backoff": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "least": [Interval(Real, 0, None, closed="left")],
        **StructuredNB._parameter_constraints,
    }

    def __init__(
        self,
        *,
        backoff="auto",
        alpha=1.0,
        least=1,
        cuts="mdl",
        missing="ignore",
        priors=None,
        class_weight=None,
        columns="align",
        calibrate=False,
    ):
        self.backoff = backoff
        self.alpha = alpha
        self.least = least
        self.cuts = cuts
        self.missing = missing
        self.priors = priors
        self.class_weight = class_weight
        self.columns = columns
        self.calibrate = calibrate

    def _structure(self) -> Callable[[Schema | None, Known], Aode]:
        return partial(fixed_family, Aode(float(self.alpha), self.backoff, float(self.least)))
