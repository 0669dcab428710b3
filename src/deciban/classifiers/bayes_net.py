"""Bayesian networks: classifiers that learn the graph of the columns, and given networks that answer queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from deciban.classifiers.base import Interval, StrOptions
from deciban.classifiers.structured import (
    LEVELS,
    CellReader,
    StructuredNB,
    check_memory,
    cuts_of,
    learned_network,
)
from deciban.composites.discretised import Discretised
from deciban.errors import DataError, NotAdditiveError
from deciban.families.network import Graph
from deciban.io import atomic
from deciban.models.model import Known, Spec, State
from deciban.networks import bif
from deciban.networks.graph import class_node, parents_of
from deciban.networks.network import GivenNetwork, ModelGraph, Network
from deciban.networks.query import ConditionalTable, QueryResult, coded, learned, named, query
from deciban.networks.search import check_cells
from deciban.rows.sample import SIZE
from deciban.rows.schema import Field, Schema
from deciban.tallies import Bundle, ClassWeights, DistinctRows


class NoClassError(DataError, AttributeError):
    """An attribute of a classifier was used on a network without a class."""


class BayesNet(StructuredNB):
    """A Bayesian network, as a classifier or by itself.

    As a classifier, the class is a parent of every column, and columns may be parents of columns: given edges, or edges
    found by greedy search for the largest marginal likelihood (BDeu). X is a dataframe or an array. Texts, booleans and
    categories are levels; numbers are cut into intervals that separate the classes. A missing cell is not counted in
    the tables of its column, and is summed out exactly in prediction; so is an unseen level.

    `from_bif` and `from_edges` make a network with given tables. With a `target` it predicts that node, at any position
    in the graph. Every network (also `network_` of a fitted classifier) has `query`, `plot` and `to_bif`.

    The state is the distinct rows: `partial_fit`, merging and `forget` are exact, and the graph is always that of all
    rows. `leave_one_out` keeps the graph.

    Parameters
    ----------
    edges : sequence of (parent, child), or None
        Edges between columns, by name or number. None: searched for.
    target : str, or None
        The name of the class in the network. None: that of y, if it has one (a series, a column of a file) that no
        column of X has, else "class".
    prior : number
        Equivalent sample size of BDeu, which compares graphs: pseudo-rows of each class, spread evenly over the cells
        of a table.
    max_parents : int
        Largest number of parents of a column, without the class, if edges are searched for; 0 is naive Bayes.
    backoff : "auto" or a number
        Strength with which a sparse table is shrunk towards the one without its last parent, θ(x | c, p) = (n(x, c, p)
        + m θ(x | c) + alpha) / (n(c, p) + m + alpha · levels), and so on down to the one without the class. "auto": for
        each column, the strengths m that maximise the likelihood of held-out rows. 0: no back-off, (n + alpha) / (sum +
        alpha · levels).
    alpha : number, or None
        Pseudo-count of every level in every table. None: `prior`, spread evenly over the table, as in BDeu. 0, with
        backoff=0: tables are the relative frequencies (maximum likelihood).
    cuts : "mdl", {column: numbers}, numbers, or None
        Where columns of numbers are cut, as in `KDependenceBayes`. "mdl": learned from the rows; None: every distinct
        number is a level.
    missing : "auto", "ignore", "informative"
        How missing cells are treated, as in `KDependenceBayes`. "ignore": no evidence; "informative": a level of its
        own; "auto": a level where that predicts held-out rows better.
    priors : sequence, mapping by class, "uniform" or None
        Class priors; by default the class frequencies of the training rows.
    class_weight : "balanced", {class: weight}, or None
        Multiplies the learned class frequencies: "balanced" is n / (k · n_c), which makes the class priors equal.
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
    edges_ : list of (parent, child)
        Edges between columns, by name.
    network_ : Network
        The network with its tables.
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
    KDependenceBayes : Each column depends on up to k others.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": list("uuvvuuvv"), "b": list("xxyyyyxx"), "c": list("pqpqpqpq")})
    >>> y = ["same"] * 4 + ["other"] * 4  # depends on a and b together, on neither alone
    >>> model = BayesNet().fit(X, y)
    >>> model.edges_, model.predict(X).tolist() == y
    ([('a', 'b')], True)
    >>> model.query("class", {"a": "u", "b": "x"})["same"].round(3)
    np.float64(0.75)
    """

    _parameter_constraints: dict = {
        "edges": ["array-like", None],
        "target": [str, None],
        "prior": [Interval(Real, 0, None, closed="neither")],
        "max_parents": [Interval(Integral, 0, None, closed="left")],
        "backoff": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left"), None],
        **StructuredNB._parameter_constraints,
        "missing": [StrOptions({"auto", "ignore", "informative"})],
    }
    _given: Network  # a network with given tables

    def __init__(
        self,
        edges=None,
        *,
        target=None,
        prior=1.0,
        max_parents=2,
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
        self.edges = edges
        self.target = target
        self.prior = prior
        self.max_parents = max_parents
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

    # networks with given tables

    @classmethod
    def from_bif(cls, path: str | PathLike, *, target: str | None = None) -> Self:
        """The network in a BIF file. With a `target`, `predict` and related methods predict that node.

        Parameters
        ----------
        path : path
            The file.
        target : str or None
            The node that `predict` and related methods predict.

        Returns
        -------
        BayesNet
            The network.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "wet.bif"
        >>> _ = path.write_text('''
        ... network wet { }
        ... variable rain { type discrete [ 2 ] { no, yes }; }
        ... variable wet { type discrete [ 2 ] { no, yes }; }
        ... probability ( rain ) { table 0.8, 0.2; }
        ... probability ( wet | rain ) { (no) 0.9, 0.1; (yes) 0.2, 0.8; }
        ... ''')
        >>> print(BayesNet.from_bif(path).query("rain", {"wet": "yes"}))
        P(rain | wet = yes)
          rain       P
          no    0.3333
          yes   0.6667
        """
        try:
            network = bif.parse(Path(path).read_text(encoding="utf-8-sig"))
        except UnicodeDecodeError as error:
            raise DataError(f"{fspath(path)} is not text (byte {error.start})\n\nhint: BIF files are UTF-8") from None
        except DataError as error:
            raise DataError(f"{fspath(path)}: {error}") from None
        return cls._of(network, target)

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[tuple[Any, Any]],
        rows: Any = None,
        *,
        levels: Mapping[Any, Sequence] | None = None,
        tables: Mapping[Any, Any] | None = None,
        prior: float = 1.0,
        target: str | None = None,
    ) -> Self:
        """The network of these edges, with tables learned from rows (a frame, or {name: cells}), or with given `levels`
        and `tables`: tables[node][level of its first parent, …, own level], parents in the order of the edges.

        `prior` rows, spread evenly over its cells, are added to every table. 0: tables are the relative frequencies
        (maximum likelihood), uniform for a combination of the parents' levels that no row has.

        Parameters
        ----------
        edges : pairs of names
            (parent, child) of each edge.
        rows : frame, mapping of cells by name, or None
            The rows that tables are learned from.
        levels : mapping or None
            The levels of each node.
        tables : mapping or None
            tables[node][level of its first parent, …, own level], parents in the order of the edges.
        prior : float
            Rows that are added to every table, spread evenly over its cells.
        target : str or None
            The node that `predict` and related methods predict.

        Returns
        -------
        BayesNet
            The network.

        Examples
        --------
        >>> coin = BayesNet.from_edges([], levels={"side": ["heads", "tails"]}, tables={"side": [0.5, 0.5]})
        >>> coin.query("side")["heads"]
        np.float64(0.5)
        >>> pair = BayesNet.from_edges([("a", "b")], {"a": [0, 0, 1, 1], "b": ["x", "x", "y", "y"]}, prior=2.0)
        >>> pair.query("a", {"b": "x"}).values.round(3).tolist()
        [0.833, 0.167]
        >>> shares = BayesNet.from_edges([], {"side": ["heads", "heads", "heads", "tails"]}, prior=0)
        >>> shares.query("side").values.round(3).tolist()
        [0.75, 0.25]
        """
        if (rows is None) == (tables is None) or (levels is None) != (tables is None):
            raise DataError("tables come from `rows`, or as `levels` and `tables`\n\nhint: give one of the two")
        if not 0 <= prior < np.inf:
            raise DataError(f"prior is {prior!r}\n\nhint: it is a number of rows; 0 is maximum likelihood")
        if tables is not None and levels is not None:
            return cls._of(Network.of(levels, edges, tables), target)
        return cls._of(learned(rows, edges, float(prior)), target)

    @classmethod
    def _of(cls, network: Network, target: str | None) -> Self:
        out = cls(edges=list(network.edges), target=target)
        out._given = network
        return out if target is None else out._adopt(given_state(out, network))

    # learning

    def _adopt(self, state: State) -> Self:
        if state.known.network is None:
            self.__dict__.pop("_given", None)  # replaced by the learned network
        return super()._adopt(state)

    def _spec(self) -> Spec:
        spec = super()._spec()
        return replace(spec, check_family=check_graph)

    def _structure(self) -> Callable[[Schema | None, Known], Any]:
        alpha = None if self.alpha is None else float(self.alpha)
        graph = float(self.prior), int(self.max_parents), self.backoff, alpha
        return partial(graph_of, self.edges, self.target, graph)

    def _check_additive(self) -> None:
        super()._check_additive()
        if "_given" in self.__dict__:
            raise NotAdditiveError(
                "the tables of this network were given: rows cannot be added or removed\n\n"
                "hint: `fit` learns tables from rows"
            )

    def _fitted_state(self) -> State:
        if "_given" in self.__dict__ and "_state" not in self.__dict__:
            raise NoClassError(
                "this network has no class\n\nhint: name one of its nodes, `from_bif(path, target=...)`, or ask `query`"
            )
        return super()._fitted_state()

    # queries and views of the network

    @property
    def _class_name(self) -> str:
        """Name of the class in the network."""
        state = self._fitted_state()
        return class_node(state.reader.schema.names, state.reader.target) if self.target is None else self.target

    @property
    def network_(self) -> Network:
        """The network: names, levels, parents and tables of the nodes. Columns of numbers have intervals as levels."""
        if "_given" in self.__dict__:
            return self._given
        state = self._fitted_state()
        return state.remember("network", lambda: learned_network(state, self._class_name))

    @property
    def edges_(self) -> list[tuple[Any, Any]]:
        """(parent, child) of the network, by name; of a fitted classifier, those between columns."""
        edges = self.network_.edges
        return edges if "_given" in self.__dict__ else [edge for edge in edges if edge[0] != self._class_name]

    def query(self, targets: Any, evidence: Mapping | None = None) -> QueryResult:
        """P(targets | evidence), exactly: a table of the targets' levels together. `targets` is a name or several,
        `evidence` has levels by name; a number is read as its interval in a column of numbers.

        Parameters
        ----------
        targets : name, or sequence of names
            The nodes that are asked about.
        evidence : mapping or None
            Levels by name; a number is read as its interval in a column of numbers.

        Returns
        -------
        QueryResult
            The probability of each combination of levels; it prints as a table.
        """
        network, reads = self.network_, self._readers()
        given = {}
        for name, level in (evidence or {}).items():
            if name in reads and level not in network.levels[network.place[name]]:
                level = reads[name].level(level)
            given[name] = level
        return query(network, targets, given)

    def table(self, node: Any) -> ConditionalTable:
        """P(node | its parents) of the network: a row for each combination of the parents' levels, a column for each
        level of the node. It prints as a table; `to_frame()` is a frame, `to_dict()` has plain lists.

        Parameters
        ----------
        node : name
            The node.

        Returns
        -------
        ConditionalTable
            The table.

        Examples
        --------
        >>> rows = {"play": ["no", "no", "yes", "yes"], "wind": ["weak", "strong", "weak", "weak"]}
        >>> print(BayesNet.from_edges([("play", "wind")], rows, prior=0).table("wind"))
        P(wind | play)
          play  strong    weak
          no    0.5000  0.5000
          yes   0.0000  1.0000
        """
        return ConditionalTable.from_network(self.network_, node)

    def _readers(self) -> dict[Any, CellReader]:
        """Readers of cells, for each column that is cut or whose missing cells are a level."""
        if "_given" in self.__dict__:
            return {}
        state = self._fitted_state()
        columns = zip(state.reader.schema.names, cuts_of(state), state.params.gaps, strict=True)
        levels = dict(zip(self.network_.names, self.network_.levels, strict=True))
        return {name: CellReader(levels[name], cut, bool(gap)) for name, cut, gap in columns if cut is not None or gap}

    def log_density(self, rows: Any) -> np.ndarray:
        """log P(row), (n,): a frame with nodes as columns (the class too), or an array with one column per node.
        Missing cells and columns are summed out (a missing cell is a level where the column has one for it); a number
        is read as its interval.

        Parameters
        ----------
        rows : frame or array
            A column for each node.

        Returns
        -------
        ndarray of shape (n,)
            The log probability of each row.
        """
        network = self.network_
        return network.log_joint(coded(network, rows, self._readers()))

    def sample(self, n_samples: int = 1, random_state=None, *, library: str | None = None) -> Any:
        """Draw rows. Of a classifier: (X, y), X as in training. Of a network without a class: an array (n, nodes) of
        levels; with `library`, a frame of "pandas", "polars" or "pyarrow".

        Parameters
        ----------
        n_samples : int
            The number of rows.
        random_state : int, generator or None
            The seed of the random numbers.
        library : "pandas", "polars", "pyarrow" or None
            The library of the frame of a network without a class; None: an array.

        Returns
        -------
        X, y : rows and labels
            Rows, as a frame or an array as in training, and their labels.
        """
        if "_given" not in self.__dict__:
            return super().sample(n_samples, random_state)
        rng = np.random.default_rng(check_random_state(random_state).randint(0, 2**31, size=4))
        network = self._given
        codes = network.sample(n_samples, rng)
        if self.target is None:
            return named(network, codes, library)
        at = network.place[self.target]
        return named(network, codes, library, without=at), self.classes_[codes[:, at]]

    def _graph(self) -> ModelGraph:
        target = self.target if "_given" in self.__dict__ else self._class_name
        return ModelGraph.from_network(self.network_, target)

    def to_bif(self, path: str | PathLike) -> None:
        """Write the network as BIF; `from_bif` reads the same bits. Levels become texts.

        Parameters
        ----------
        path : path
            The file.
        """
        text = bif.dump(self.network_).encode()
        atomic.atomic_write(path, lambda file: file.write(text))


def graph_of(edges: Any, target: str | None, settings: tuple, schema: Schema | None, known: Known) -> Any:
    """The family of a network: with given tables, or with a graph that is given or searched for."""
    assert schema is not None
    if known.network is not None:
        return GivenNetwork(known.network, known.network.place[target])
    prior, max_parents, backoff, alpha = settings
    return Graph(column_edges(edges, target, known.target, schema), prior, max_parents, backoff, alpha)


def column_edges(
    edges: Any, target: str | None, called: str | None, schema: Schema
) -> tuple[tuple[int, int], ...] | None:
    """The given edges by column number; edges from the class are implied."""
    names = schema.names
    if target in names:
        raise DataError(
            f"a column has the name of the class, `{target}`\n\nhint: give the class another name, `target=...`"
        )
    if edges is None:
        return None
    top = class_node(names, called) if target is None else target
    named = [_named(edge, names) for edge in edges]
    if any(not isinstance(edge, str) and len(edge) == 2 and edge[1] == top for edge in named):
        raise DataError(f"an edge leads to the class, `{top}`\n\nhint: the class is a parent of every column")
    parents = parents_of([*names, top], named)
    return tuple((a, b) for b, own in enumerate(parents) for a in own if a < len(names))


def _named(edge: Any, names: list) -> Any:
    """An edge by names: a number is the position of a column, unless it is a name itself."""
    if isinstance(edge, str):
        return edge
    numbered: dict[Any, Any] = {j: name for j, name in enumerate(names) if j not in names}
    return tuple(numbered.get(end, end) if isinstance(end, Integral) else end for end in edge)


def check_graph(family: Discretised, schema: Schema | None, k: int) -> None:
    """Raise an error for tables that would be too large."""
    check_memory(family, schema, k)
    if schema is None or not isinstance(family.family, Graph):
        return
    names, levels = schema.names, family.levels
    for node, own in enumerate(parents_of(range(len(names)), family.family.edges or ())):
        check_cells(k, [f"column `{names[j]}`" for j in (*own, node)], [levels[j] for j in (*own, node)])


def given_state(model: BayesNet, network: Network) -> State:
    """The state of a classifier with given tables."""
    at = network.place.get(model.target, -1)
    if at < 0 or len(network.names) < 2:
        raise DataError(f"target is {model.target!r}\n\nhint: it is one of the nodes {list(network.names)}")
    names = [name for name in network.names if name != model.target]
    schema = Schema(tuple(Field(name, LEVELS, network.levels[network.place[name]]) for name in names))
    classes = np.array([*network.levels[at], None])[:-1]
    if all(isinstance(level, str) for level in network.levels[at]):
        classes = classes.astype(str)
    k, sizes = len(classes), np.array([len(field.levels or ()) for field in schema.fields])
    nothing = DistinctRows.of(np.zeros((0, len(names))), np.zeros(0, dtype=np.int32), None, k, sizes)
    reader = replace(model._reader(), schema=schema, names=np.array(names, dtype=object))
    return State(model._spec(), reader, classes, Bundle((ClassWeights(np.zeros(k)), nothing)), Known(network=network))
