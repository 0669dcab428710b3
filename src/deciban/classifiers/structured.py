"""Classifiers whose columns depend on each other: every column is coded as levels first.

Texts, booleans and categories are levels by label. Numbers are cut into intervals that separate the classes (see
`estimation.discretise`); the cuts are learned from the first rows and then fixed. On data elsewhere this is a separate
pass. A subclass of `StructuredNB` defines its family:

    class TreeAugmentedNB(StructuredNB):
        def _structure(self): return partial(tree_of, …)     # (schema, known) → a family of a block of codes

Its tally (of `Pairs`, `DistinctRows` or any other that has `levels`, `relevel(levels, index)` and `crosstab()`) adds up
over rows; levels are added and removed with their rows, and models with different levels and classes merge by label.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np

from deciban import ops
from deciban.classifiers.base import CLASS_WEIGHT, COLUMNS, LEDGER, PRIORS, SAMPLE, Generative, Interval, StrOptions
from deciban.classifiers.mixed import levels_of
from deciban.composites.discretised import ColumnCuts, Discretised
from deciban.data import frames
from deciban.data.blocks import Mixed, Table
from deciban.data.frames import Column
from deciban.decision import Prior
from deciban.display import MISSING_LEVEL, format_list, is_missing
from deciban.errors import DataError
from deciban.estimation import discretise
from deciban.explain.counts_table import CountsTable
from deciban.families.aode import Aode
from deciban.families.categorical import Categorical
from deciban.families.histogram import Histogram
from deciban.families.kdb import Kdb
from deciban.families.tree import Tree
from deciban.models.model import Known, Spec, State, fixed_family
from deciban.networks.graph import class_node
from deciban.networks.network import ModelGraph, Network
from deciban.networks.query import codes_of
from deciban.rows.readers import ColumnReader
from deciban.rows.sample import SIZE
from deciban.rows.schema import Field, Schema
from deciban.tallies import Bundle, ClassWeights, GridCounts
from deciban.tallies.grid import cell_borders
from deciban.tallies.ledger import key_from_setting

MOST = 1 << 28  # largest number of entries in tables of counts: 2 GiB
LEVELS, NUMBERS = Categorical(), Histogram()  # families that mark the two types of columns in a schema


class StructuredNB(Generative):
    """Base: needs `_structure()`, and the settings `cuts`, `missing`, `priors` and `calibrate`."""

    _parameter_constraints: dict = {
        "cuts": [StrOptions({"mdl"}), Mapping, Sequence, np.ndarray, None],
        "missing": [StrOptions({"ignore", "informative"})],
        "priors": PRIORS,
        "calibrate": ["boolean"],
        **SAMPLE,
        **CLASS_WEIGHT,
        **COLUMNS,
        **LEDGER,
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
            ledger=key_from_setting(self.ledger),
            keep_rows=int(self.keep_rows),
        )

    # fitted attributes

    @property
    def levels_(self) -> dict[Any, list]:
        """The levels of each nominal column, by name."""
        return levels_of(self._fitted_state())

    @property
    def evidence_(self) -> float:
        """log p(X | y) given the structure, with tables integrated out under a Dirichlet(alpha) prior."""
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
        """The columns with a level for missing cells, by name."""
        state = self._fitted_state()
        return [name for name, gap in zip(state.reader.schema.names, state.params.gaps, strict=True) if gap]

    @property
    def settled_(self) -> bool:
        """Whether learned cuts stay as they are when rows are added or removed. False while the model keeps all rows:
        then the cuts are those of a fit on the same rows."""
        return self._current_state().settled

    @property
    def cuts_(self) -> dict[Any, list[float]]:
        """Cuts of each column of numbers, by name; may be passed to another model as `cuts`."""
        state = self._fitted_state()
        pairs = zip(state.reader.schema.names, cuts_of(state), strict=True)
        return {name: list(cut.at) for name, cut in pairs if cut is not None}

    def counts_table(self, *, fractions: bool = False) -> CountsTable:
        """The counts of each level of each column by class and the levels of its parents, as a table.

        Parameters
        ----------
        fractions : bool
            Whether to show P(level | class, parents) as fractions, not reduced and with pseudo-counts, instead of
            counts.

        Returns
        -------
        CountsTable
            Prints as a table, in notebooks too; `to_frame()`, `to_dict()`.
        """
        state = self._fitted_state()
        levels = list(map(level_names, state.reader.schema.fields, cuts_of(state), state.params.gaps))
        return self._counts_table(levels, fractions)

    def sample(self, n_samples: int = 1, random_state=None) -> tuple[Any, np.ndarray]:
        """Draw rows and their labels: (X, y), where X is a frame or an array as in training. A number is uniform in
        its interval.

        Parameters
        ----------
        n_samples : int
            The number of rows.
        random_state : int, generator or None
            The seed of the random numbers.

        Returns
        -------
        X, y : rows and labels
            Rows, as a frame or an array as in training, and their labels.
        """
        codes, y = super().sample(n_samples, random_state)
        state = self._fitted_state()
        rng = np.random.default_rng(codes.sum() + n_samples)
        columns = []
        for field, cut, values in zip(state.reader.schema.fields, cuts_of(state), codes.T, strict=True):
            if cut is None:
                columns.append(Column(field.name, np.array([*(field.levels or ()), None], dtype=object)[values]))
            else:
                columns.append(Column(field.name, cut.drawn(values, rng), unit=field.unit))
        return frames.to_frame(columns, state.reader.library), y

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


# columns as levels


def schema_of(cuts: Any, columns: list[Column]) -> Schema:
    """The schema of the first training columns: which are numbers to be cut, and the levels of the others."""
    names, given = [column.name for column in columns], dict(cuts) if isinstance(cuts, Mapping) else {}
    unknown = [name for name in given if name not in names]
    if unknown:
        raise DataError(
            f"cuts name {format_list(unknown)}, but the columns are {format_list(names)}\n\n"
            "hint: use the column names of X, or numbers (0, 1, …) if X is an array"
        )
    texts = [column.name for column in columns if column.levels and column.name in given]
    if texts:
        raise DataError(f"column {format_list(texts)} has levels, which cannot be cut\n\nhint: leave it out of `cuts`")
    fields = []
    for column in columns:
        if column.levels is None and cuts is not None:
            fields.append(Field(column.name, NUMBERS, unit=column.unit))
        else:
            fields.append(Field(column.name, LEVELS, tuple(column.as_levels().levels or ()), column.unit))
    return Schema(tuple(fields), reserve=True)  # an unseen level is not a missing cell


def numbers_are_levels(cuts: Any, name: Any) -> bool:
    return cuts is None


@dataclass(frozen=True, eq=False)
class FindCuts:
    """(schema, grid counts of the columns of numbers) → the cuts of each column: given, or learned from the rows."""

    cuts: Any  # the setting

    @property
    def learns(self) -> bool:
        """Whether cuts of some column come from the rows."""
        return isinstance(self.cuts, str | Mapping)

    def grid(self, table: Table) -> Bundle:
        """Grid counts of all columns of numbers, from which cuts are learned."""
        n = ops.exact_class_weights(table.y, table.w, table.k)
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
                given = self._given(schema.fields[j])
                cuts = given if given is not None else discretise.between(keys, table) if self.learns else []
                out[j] = ColumnCuts(tuple(cuts), float(low[0]), float(high[-1]), given is None)
        return tuple(out)

    def _given(self, field: Field) -> list[float] | None:
        """The given cuts of a column, ascending; None: learned from the rows."""
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
    """The family of the coded columns, over columns of any type."""
    assert schema is not None
    cuts = known.cuts or (None,) * len(schema.fields)
    levels = tuple(
        len(f.levels or ()) if c is None else len(c.at) + 1 for f, c in zip(schema.fields, cuts, strict=True)
    )
    missing = missing if known.network is None else "ignore"
    return Discretised(structure(schema, known), tuple(at for _, at in schema.groups), cuts, levels, missing)


def check_memory(family: Discretised, schema: Schema | None, k: int) -> None:
    """Raise an error if the tables of counts would be too large."""
    size = family.tally_size(k, len(family.levels))
    if size <= MOST or schema is None:
        return
    wide = np.argsort(family.levels)[::-1][:3]
    names = ", ".join(f"{schema.fields[j].named} ({family.levels[j]} levels)" for j in wide)
    raise DataError(
        f"the counts of {len(family.levels)} columns with {sum(family.levels)} levels and {k} classes would take "
        f"{size * 8 / 2**30:.3g} GiB, more than {MOST * 8 / 2**30:g}; the widest columns are {names}\n\n"
        "hint: leave out identifiers and dates, merge rare levels, or use MixedNB"
    )


# models with one graph


def learned_network(state: State, target: str) -> Network:
    """The graph of the columns and the class, with its tables."""
    own, d, schema = state.params.params.network, state.reader.d, state.reader.schema
    prior = np.exp(state.log_prior - np.logaddexp.reduce(state.log_prior))
    names = map(level_names, schema.fields, cuts_of(state), state.params.gaps)
    levels = (*names, tuple(state.classes.tolist()))
    return Network((*schema.names, target), levels, own.parents, (*own.tables[:d], prior))


def learned_graph(state: State) -> ModelGraph:
    """The graph of a fitted model of one network."""
    target = class_node(state.reader.schema.names, state.reader.target)
    return ModelGraph.from_network(state.remember("network", lambda: learned_network(state, target)), target)


@dataclass(frozen=True)
class CellReader:
    """Cells of a column as codes of its levels."""

    levels: tuple
    cut: ColumnCuts | None
    gap: bool  # whether the last level is for missing cells

    def __call__(self, column: frames.Column) -> np.ndarray:
        if self.cut is None:
            codes = codes_of(column, self.levels)
        else:
            codes = discretise.intervals(np.asarray(column.values, dtype=np.float64), np.array(self.cut.at))
        return np.where(codes < 0, len(self.levels) - 1, codes) if self.gap else codes

    def level(self, cell: Any) -> Any:
        """The interval of a number, or the level of a missing cell; else the cell itself."""
        if self.gap and is_missing(cell):
            return self.levels[-1]
        if self.cut is None or not isinstance(cell, Real) or is_missing(cell):
            return cell
        return self.levels[int(discretise.intervals(np.array([float(cell)]), np.array(self.cut.at))[0])]


def level_names(field: Field, cut: ColumnCuts | None, gap: bool = False) -> tuple:
    """The levels of a column as in X; the last one is for missing cells, if they are a level."""
    if gap:
        return (*level_names(field, cut), MISSING_LEVEL)
    if cut is None:
        return tuple(field.levels or ()) or ("(none)",)
    return discretise.interval_names(cut.at)


class TreeAugmentedNB(StructuredNB):
    """Tree-augmented naive Bayes: every column but one also depends on another column.

    The columns form the tree with the largest total mutual information given the class.

    X is a dataframe or an array. Texts, booleans and categories are levels; numbers are cut into intervals that
    separate the classes. A missing cell is ignored in training and summed out exactly in prediction; so is an unseen
    level.

    Parameters
    ----------
    backoff : "auto" or a number
        Strength with which a sparse table is shrunk towards the one without the parent, θ(x | c, p) = (n(x, c, p) + m
        θ(x | c) + alpha) / (n(c, p) + m + alpha · levels), and that to the one without the class. "auto": for each
        column, the strengths m that maximise the likelihood of held-out rows. 0: no back-off, (n + alpha) / (sum +
        alpha · levels).
    alpha : number
        Pseudo-count of every level in every table.
    root : column, or None
        Root of the tree; by default the column with the most information about all others.
    cuts : "mdl", {column: numbers}, numbers, or None
        Where columns of numbers are cut. "mdl": learned from the rows of the first `fit` or `partial_fit`, by Fayyad
        and Irani's rule; one cut if the rule finds none although the class depends on the column; a level for each of
        up to 10 distinct numbers if that predicts the classes better. Numbers: these cuts (columns that a mapping
        leaves out are cut by "mdl"). None: every distinct number is a level.
    missing : "ignore", "informative"
        How missing cells are treated. "ignore": no evidence; ignored in training and summed out in prediction.
        "informative": a level of its own, in every column with missing cells in training
        (see `missing_`).
    priors : sequence, mapping by class, "uniform" or None
        Class priors; by default the class frequencies of the training rows.
    class_weight : "balanced", {class: weight}, or None
        Multiplies the learned class frequencies: "balanced" is n / (k · n_c), which makes the class priors equal.
        Densities are learned by class and do not change.
    columns : "align", "strict"
        If the columns at prediction differ from those of training, by name: "align" warns, takes absent columns as
        missing and ignores unknown ones; "strict" raises an error.
    calibrate : bool
        Calibrate probabilities: fit a temperature and a bias for each class to leave-one-out predictions.
    ledger : bool or LedgerKey
        Keep a keyed hash of every training row, so that `forget` refuses every row that was not learned; True: with a
        key that anybody knows.
    keep_rows : int
        Size of the sample of training rows (a quarter more are in reserve) that is kept to learn cuts, and to fit a
        calibration, again after `partial_fit`, `forget` and `+`. Of more rows than that, cuts stay as they are
        (`settled_`). Saved models hold these rows. 0: no row is kept; with `calibrate`, such models cannot be updated.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    class_prior_ : ndarray of shape (k,)
        Prior probability of each class.
    parents_ : dict
        The parent of each column in the tree, by name; None: only the class.
    information_ : ndarray of shape (d, d)
        Mutual information of each pair of columns given the class, in nats.
    missing_ : list
        Columns whose missing cells are a level, by name.
    levels_ : dict
        Levels of each nominal column, by name.
    cuts_ : dict
        Cuts of each column of numbers, by name; may be passed to another model as `cuts`.
    evidence_ : float
        log p(X | y) with parameters integrated out, where it has a closed form.
    n_parameters_ : int
        Number of free entries of the tables, given the edges, and k − 1 class priors.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, if the training rows have names.
    target_name_ : str
        Name of the labels (`y.name`, or the target of `fit_on`), if they have one.
    tally_ : tally
        The sufficient statistics, to which `partial_fit` adds and from which `forget` subtracts.
    sample_exact_ : bool
        Whether updates still equal a refit: no row of the sample that the model keeps was lost to `forget`.
    settled_ : bool
        Whether the learned cuts no longer follow the rows, as the model keeps a sample of them only.
    tuned_ : dict
        Settings chosen by held-out rows, and their values.
    settled_ : bool
        Whether learned cuts stay as they are when rows are added or removed.

    See Also
    --------
    AODE : The average over all single parents.
    KDependenceBayes : Each column depends on up to k others.
    BayesNet : Any graph, and queries of any node.
    MixedNB : A density for each column of a table of any type.

    Notes
    -----
    Counts of all pairs of columns are kept: classes × Σ_(i < j) levels_i · levels_j numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": list("uuvvuuvv"), "b": list("xxyyyyxx"), "c": list("pqpqpqpq")})
    >>> y = ["same"] * 4 + ["other"] * 4  # depends on a and b together, on neither alone
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
        ledger=False,
        keep_rows=SIZE,
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
        self.ledger = ledger
        self.keep_rows = keep_rows

    def _structure(self) -> Callable[[Schema | None, Known], Tree]:
        return partial(tree_of, float(self.alpha), self.backoff, self.root)

    @property
    def parents_(self) -> dict[Any, Any]:
        """The parent of each column in the tree, by name; None: only the class."""
        state = self._fitted_state()
        names = state.reader.schema.names
        return {
            name: None if parent < 0 else names[parent]
            for name, parent in zip(names, state.params.params.parents, strict=True)
        }

    @property
    def information_(self) -> Any:
        """I(X_i; X_j | class) of each pair of columns in nats, (d, d): the tree maximises its sum."""
        return self._fitted_state().params.params.information

    def _graph(self) -> ModelGraph:
        return learned_graph(self._fitted_state())


def tree_of(alpha: float, backoff: Any, root: Any, schema: Schema | None, known: Known) -> Tree:
    assert schema is not None
    names = schema.names
    if root is not None and root not in names:
        raise DataError(f"root is {root!r}, but the columns are {format_list(names)}\n\nhint: name one of them")
    return Tree(alpha, backoff, None if root is None else names.index(root))


class KDependenceBayes(StructuredNB):
    """Naive Bayes where each column also depends on up to k other columns (KDB).

    Columns are ordered by their mutual information with the class; the parents of a column are those before it with the
    most information about it.

    X is a dataframe or an array. Texts, booleans and categories are levels; numbers are cut into intervals that
    separate the classes. A missing cell is ignored in training and summed out exactly in prediction; so is an unseen
    level.

    Parameters
    ----------
    k : whole number
        Largest number of parents of a column, without the class; 0 is naive Bayes. A column of many levels has fewer if
        its table would be too large (see `parents_`).
    backoff : "auto" or a number
        Strength with which a sparse table is shrunk towards the one without its last parent, θ(x | c, p) = (n(x, c, p)
        + m θ(x | c) + alpha) / (n(c, p) + m + alpha · levels), and so on down to the one without the class. "auto": for
        each column, the strengths m that maximise the likelihood of held-out rows. 0: no back-off, (n + alpha) / (sum +
        alpha · levels).
    alpha : number
        Pseudo-count of every level in every table.
    cuts : "mdl", {column: numbers}, numbers, or None
        Where columns of numbers are cut. "mdl": learned from the rows of the first `fit` or `partial_fit`, by Fayyad
        and Irani's rule; one cut if the rule finds none although the class depends on the column; a level for each of
        up to 10 distinct numbers if that predicts the classes better. Numbers: these cuts (columns that a mapping
        leaves out are cut by "mdl"). None: every distinct number is a level.
    missing : "auto", "ignore", "informative"
        How missing cells are treated. "ignore": no evidence; ignored in training and summed out in prediction.
        "informative": a level of its own, in every column with missing cells in training. "auto": a
        level in columns whose missing cells depend on the class or on another column, if that raises the leave-one-out
        log likelihood by two standard errors; else ignored (see `missing_`).
    priors : sequence, mapping by class, "uniform" or None
        Class priors; by default the class frequencies of the training rows.
    class_weight : "balanced", {class: weight}, or None
        Multiplies the learned class frequencies: "balanced" is n / (k · n_c), which makes the class priors equal.
        Densities are learned by class and do not change.
    columns : "align", "strict"
        If the columns at prediction differ from those of training, by name: "align" warns, takes absent columns as
        missing and ignores unknown ones; "strict" raises an error.
    calibrate : bool
        Calibrate probabilities: fit a temperature and a bias for each class to leave-one-out predictions.
    ledger : bool or LedgerKey
        Keep a keyed hash of every training row, so that `forget` refuses every row that was not learned; True: with a
        key that anybody knows.
    keep_rows : int
        Size of the sample of training rows (a quarter more are in reserve) that is kept to learn cuts, and to fit a
        calibration, again after `partial_fit`, `forget` and `+`. Of more rows than that, cuts stay as they are
        (`settled_`). Saved models hold these rows. 0: no row is kept; with `calibrate`, such models cannot be updated.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    class_prior_ : ndarray of shape (k,)
        Prior probability of each class.
    parents_ : dict
        The parents of each column, by name, without the class.
    missing_ : list
        Columns whose missing cells are a level, by name.
    levels_ : dict
        Levels of each nominal column, by name.
    cuts_ : dict
        Cuts of each column of numbers, by name; may be passed to another model as `cuts`.
    evidence_ : float
        log p(X | y) with parameters integrated out, where it has a closed form.
    n_parameters_ : int
        Number of free entries of the tables, given the edges, and k − 1 class priors.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, if the training rows have names.
    target_name_ : str
        Name of the labels (`y.name`, or the target of `fit_on`), if they have one.
    tally_ : tally
        The sufficient statistics, to which `partial_fit` adds and from which `forget` subtracts.
    sample_exact_ : bool
        Whether updates still equal a refit: no row of the sample that the model keeps was lost to `forget`.
    settled_ : bool
        Whether the learned cuts no longer follow the rows, as the model keeps a sample of them only.
    tuned_ : dict
        Settings chosen by held-out rows, and their values.
    settled_ : bool
        Whether learned cuts stay as they are when rows are added or removed.

    See Also
    --------
    TreeAugmentedNB : Each column depends on one other.
    AODE : The average over all single parents.
    BayesNet : Any graph, and queries of any node.

    Notes
    -----
    The state is the distinct rows, so that parents can be chosen again when rows are added or removed; memory grows
    with their number.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": list("uuvvuuvv"), "b": list("xxyyyyxx")})
    >>> y = ["same"] * 4 + ["other"] * 4  # depends on a and b together, on neither alone
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
        ledger=False,
        keep_rows=SIZE,
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
        self.ledger = ledger
        self.keep_rows = keep_rows

    def _structure(self) -> Callable[[Schema | None, Known], Kdb]:
        return partial(fixed_family, Kdb(int(self.k), float(self.alpha), self.backoff))

    @property
    def parents_(self) -> dict[Any, list]:
        """The parents of each column, by name, without the class; the most informative first."""
        state = self._fitted_state()
        names, parents = state.reader.schema.names, state.params.params.parents
        return {name: [names[i] for i in own] for name, own in zip(names, parents, strict=True)}

    def _graph(self) -> ModelGraph:
        return learned_graph(self._fitted_state())


class AODE(StructuredNB):
    """Averaged one-dependence estimators: the average of all models in which one column is a parent of all others
    (A1DE).

    X is a dataframe or an array. Texts, booleans and categories are levels; numbers are cut into intervals that
    separate the classes. A missing cell is ignored in training; in prediction it is no parent, and is summed out as a
    child; so is an unseen level.

    Parameters
    ----------
    backoff : "auto" or a number
        Strength with which a sparse table is shrunk towards the one without the parent, θ(x | c, p) = (n(x, c, p) + m
        θ(x | c) + alpha) / (n(c, p) + m + alpha · levels), and that to the one without the class. "auto": for each pair
        of columns, the strength m that maximises the likelihood of held-out rows. 0: no back-off, (n + alpha) / (sum +
        alpha · levels).
    alpha : number
        Pseudo-count of every level in every table.
    least : number
        Least rows (of any class) with a level for it to be a parent; Webb, Boughton and Wang (2005) used 30. A row
        without such a level is classified by naive Bayes.
    cuts : "mdl", {column: numbers}, numbers, or None
        Where columns of numbers are cut. "mdl": learned from the rows of the first `fit` or `partial_fit`, by Fayyad
        and Irani's rule; one cut if the rule finds none although the class depends on the column; a level for each of
        up to 10 distinct numbers if that predicts the classes better. Numbers: these cuts (columns that a mapping
        leaves out are cut by "mdl"). None: every distinct number is a level.
    missing : "ignore", "informative"
        How missing cells are treated. "ignore": no evidence; ignored in training and no parent in prediction.
        "informative": a level of its own, in every column with missing cells in training (see `missing_`).
    priors : sequence, mapping by class, "uniform" or None
        Class priors; by default the class frequencies of the training rows.
    class_weight : "balanced", {class: weight}, or None
        Multiplies the learned class frequencies: "balanced" is n / (k · n_c), which makes the class priors equal.
        Densities are learned by class and do not change.
    columns : "align", "strict"
        If the columns at prediction differ from those of training, by name: "align" warns, takes absent columns as
        missing and ignores unknown ones; "strict" raises an error.
    calibrate : bool
        Calibrate probabilities: fit a temperature and a bias for each class to leave-one-out predictions.
    ledger : bool or LedgerKey
        Keep a keyed hash of every training row, so that `forget` refuses every row that was not learned; True: with a
        key that anybody knows.
    keep_rows : int
        Size of the sample of training rows (a quarter more are in reserve) that is kept to learn cuts, and to fit a
        calibration, again after `partial_fit`, `forget` and `+`. Of more rows than that, cuts stay as they are
        (`settled_`). Saved models hold these rows. 0: no row is kept; with `calibrate`, such models cannot be updated.

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
        Cuts of each column of numbers, by name; may be passed to another model as `cuts`.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, if the training rows have names.
    target_name_ : str
        Name of the labels (`y.name`, or the target of `fit_on`), if they have one.
    tally_ : tally
        The sufficient statistics, to which `partial_fit` adds and from which `forget` subtracts.
    sample_exact_ : bool
        Whether updates still equal a refit: no row of the sample that the model keeps was lost to `forget`.
    settled_ : bool
        Whether the learned cuts no longer follow the rows, as the model keeps a sample of them only.
    tuned_ : dict
        Settings chosen by held-out rows, and their values.
    settled_ : bool
        Whether learned cuts stay as they are when rows are added or removed.

    See Also
    --------
    TreeAugmentedNB : Each column depends on one other.
    KDependenceBayes : Each column depends on up to k others.

    Notes
    -----
    Memory is about classes · (Σ levels)² numbers. An average of products is not a sum over columns: `explain` reports
    what the log odds gain as columns are added one by one, averaged over the order of the columns and its reverse; the
    parts sum to the log odds.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": list("uuvvuuvv"), "b": list("xxyyyyxx")})
    >>> y = ["same"] * 4 + ["other"] * 4  # depends on a and b together, on neither alone
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
        ledger=False,
        keep_rows=SIZE,
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
        self.ledger = ledger
        self.keep_rows = keep_rows

    def _structure(self) -> Callable[[Schema | None, Known], Aode]:
        return partial(fixed_family, Aode(float(self.alpha), self.backoff, float(self.least)))
