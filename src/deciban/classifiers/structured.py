"""The base of classifiers whose columns depend on each other: every column is coded as levels first.

Texts, booleans and categories are levels by label. Numbers are cut into intervals that tell the classes apart (see
`structure.intervals`); the cuts are learned with the first rows and then kept. A subclass names its family:

    class TreeAugmentedNB(Structured):
        def _structure(self): return Tree(…)     # a family of a block of codes: tally, estimate, loglik, parts, …

Its tally (of `Pairs`, `DistinctRows` or any other that has `levels`, `relevel(levels, index)` and `crosstab()`) adds up
over rows, levels come and go with their rows, and models of other levels and classes merge by label.

Naive Bayes with a tree among the columns (TAN).

Naive Bayes where each column depends on up to k others (KDB).

Averaged one-dependence estimators (AODE).

Columns cut into intervals, on data of any size: one pass finds the cuts, the next counts.

The cuts of a column are chosen by the grid of its cells (`GridCounts`), which adds up over batches like any tally.

What a network tells, whether its tables were learned or given: answers, densities, rows, a picture, a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from numbers import Integral, Real
from operator import add
from os import PathLike
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from deciban import ops
from deciban.classifiers.base import CLASS_WEIGHT, PRIORS, ExplainingMixed, Generative, GivenPriors
from deciban.composites.discretised import ColumnCuts, Discretised, used_levels
from deciban.data import frames
from deciban.data.blocks import Codes, Mixed, Table, borders
from deciban.display import format_list, is_missing
from deciban.engines import threads
from deciban.errors import DataError, MergeError
from deciban.estimation import discretise
from deciban.estimation.ranges import STEPS
from deciban.families.aode import Aode
from deciban.families.categorical import Categorical
from deciban.families.histogram import Histogram
from deciban.families.kdb import Kdb
from deciban.families.tree import Tree
from deciban.io import atomic
from deciban.networks import bif
from deciban.networks.network import Network
from deciban.networks.query import QueryResult, coded, codes_of, named, query
from deciban.plots import networks
from deciban.rows.readers import COLUMNS, ReadingFrames
from deciban.rows.rows import LabelledTally
from deciban.rows.schema import Field, Schema
from deciban.tallies import Bundle, ClassWeights, GridCounts
from deciban.tallies.grid import cell_borders


class CuttingOnData:
    """Mixin of `Structured`, before it: needs `_cuts_of(cells)`, `_numbers_at(schema)` and `_check_memory`."""

    cuts: Any
    _cuts: Any
    _schema: Schema
    _bare: Callable[..., Any]
    _tally: Callable[[Table], Bundle]
    _name_columns: Callable[..., None]
    _take_part: Callable[[LabelledTally], None]
    _check_memory: Callable[[int], None]
    _grid: Callable[[Table], Any]

    def _learn_on(self, job: Any) -> None:
        bare = self._bare(job.reading)
        bare._cuts = None
        if self.cuts is not None:
            with job.engine.kept(job.data, job.reading.columns) as data:
                return self._learn_cut(replace(job, data=data), bare)
        bare._cuts = (None,) * len(job.reading.features)
        return self._take_counts(job, bare)

    def _learn_cut(self, job: Any, bare: Any) -> None:
        found = replace(job, checkpoint=None).sum_of_parts(bare)
        if found.schema is not None:
            job = replace(job, reading=replace(job.reading, kinds=found.kinds))
            bare._schema = found.schema
            bare._cuts = bare._cuts_of(found.tally.parts[1])
        self._take_counts(job, bare)

    def _take_counts(self, job: Any, bare: Any) -> None:
        part = job.sum_of_parts(bare)
        self._cuts = bare._cuts
        self._name_columns(job.reading)
        self._take_part(part.ordered())

    def _part_of(self, table: Table, bare: Any) -> tuple[Bundle, Schema]:
        """The tally of a batch, and its schema: counts where the cuts are known, else what they are found by."""
        if bare._cuts is None:
            labels = ClassWeights(ops.class_weights(table.y, table.w, table.k))
            fields = [replace(f, levels=None if f.levels is None else ()) for f in self._schema.fields]
            assert isinstance(table.x, Mixed)
            return Bundle((labels, self._grid(table))), replace(self._schema, fields=tuple(fields))
        self._cuts = bare._cuts
        self._check_memory(table.k)
        return self._tally(table), self._schema


MOST = 1 << 28  # numbers that tables of counts may hold: 2 GiB
LEVELS, NUMBERS = Categorical(), Histogram()  # what a schema calls the two kinds of columns


class Structured(CuttingOnData, ExplainingMixed, ReadingFrames, GivenPriors, Generative):
    """Base: needs `_structure()`, and the settings `cuts`, `missing`, `priors` and `calibrate`."""

    _reads = "mixed"
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
    _cuts: tuple[ColumnCuts | None, ...] | None  # of each column; None: not known yet

    def _structure(self) -> Any:
        """The family of the coded columns, from the settings."""
        raise NotImplementedError

    # reading

    def _new_schema(self, columns: list[frames.Column]) -> Schema:
        names = [column.name for column in columns]
        strange = [name for name in self._given_cuts() if name not in names]
        if strange:
            raise DataError(
                f"cuts name {format_list(strange)}, but the columns are {format_list(names)}\n\n"
                "hint: name columns as X has them, by number (0, 1, …) if X is an array"
            )
        texts = [column.name for column in columns if column.levels and column.name in self._given_cuts()]
        if texts:
            raise DataError(
                f"column {format_list(texts)} has levels, which cannot be cut\n\nhint: leave it out of `cuts`"
            )
        self._cuts = None
        fields = []
        for column in columns:
            if column.levels is None and self.cuts is not None:
                fields.append(Field(column.name, NUMBERS))
            else:
                fields.append(Field(column.name, LEVELS, tuple(column.as_levels().levels or ())))
        return Schema(tuple(fields), reserve=True)  # a level never seen is not a missing cell

    def _numbers_are_levels(self, name: Any) -> bool:
        return self.cuts is None

    def _given_cuts(self) -> dict[Any, Any]:
        return dict(self.cuts) if isinstance(self.cuts, Mapping) else {}

    def _check_fit(self, table: Table, whole: bool) -> None:
        super()._check_fit(table, whole)
        if self._cuts is None:
            self._cuts = self._found_cuts(table)
        self._check_memory(table.k)

    def _found_cuts(self, table: Table) -> tuple[ColumnCuts | None, ...]:
        """The cuts of each column of numbers: those given, or those that the rows choose."""
        return self._cuts_of(self._grid(table))

    def _grid(self, table: Table) -> GridCounts:
        """All columns of numbers on the grid that cuts are found on."""
        groups = [b for b, (family, _) in enumerate(self._schema.groups) if family == NUMBERS]
        n = ops.class_weights(table.y, table.w, table.k)
        return _cells(table, groups[0]) if groups else GridCounts(n, (), np.zeros((table.k, 0)))

    def _cuts_of(self, cells: GridCounts) -> tuple[ColumnCuts | None, ...]:
        out: list[ColumnCuts | None] = [None] * len(self._schema.fields)
        for at in [at for family, at in self._schema.groups if family == NUMBERS]:
            for j, keys, table in zip(at, cells.keys, cells.columns(), strict=True):
                low, high = cell_borders(keys) if len(keys) else (np.array([np.nan]), np.array([np.nan]))
                given = self._checked_cuts(self._schema.fields[j])
                cuts = given if given is not None else discretise.between(keys, table) if self._learns_cuts() else []
                out[j] = ColumnCuts(tuple(cuts), float(low[0]), float(high[-1]), given is None)
        return tuple(out)

    def _learns_cuts(self) -> bool:
        return isinstance(self.cuts, str | Mapping)

    def _checked_cuts(self, field: Field) -> list[float] | None:
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

    def _check_memory(self, k: int) -> None:
        """Refuse tables of counts that would not fit, before they are made."""
        family = self._family()
        size = family.tally_size(k, len(family.levels))
        if size <= MOST:
            return
        wide = np.argsort(family.levels)[::-1][:3]
        names = ", ".join(f"{self._schema.fields[j].named} ({family.levels[j]} levels)" for j in wide)
        raise DataError(
            f"the counts of {len(family.levels)} columns with {sum(family.levels)} levels and {k} classes would take "
            f"{size * 8 / 2**30:.3g} GiB, more than {MOST * 8 / 2**30:g}; the widest columns are {names}\n\n"
            "hint: leave out columns that name their rows (ids, dates), lump rare levels together, or use MixedNB"
        )

    # learning

    def _family(self, tally: Bundle | None = None) -> Discretised:
        fields, cuts = self._schema.fields, self._cuts or (None,) * len(self._schema.fields)
        levels = tuple(len(f.levels or ()) if c is None else len(c.at) + 1 for f, c in zip(fields, cuts, strict=True))
        return Discretised(self._structure(), tuple(at for _, at in self._schema.groups), cuts, levels, self._missing())

    def _missing(self) -> str:
        """How missing cells are read."""
        return self.missing

    def _tally_chunk(self, family: Discretised, chunk: Table) -> Bundle:
        tally = family.tally(chunk.x, chunk.y, chunk.w, chunk.k)  # type: ignore[arg-type]
        return Bundle((ClassWeights(ops.class_weights(chunk.y, chunk.w, chunk.k)), tally))

    def _nominal(self) -> list[bool]:
        return [field.levels is not None for field in self._schema.fields]

    def _set(self, tally: Bundle, calibration: Any = None) -> None:
        """The levels that no row has are left out, of the tally and of the schema."""
        labels, counts = tally.parts
        places = used_levels(counts.crosstab(), self._nominal())
        if places is not None:
            counts = counts.relevel(np.array([(at >= 0).sum() for at in places]), places)
            self._schema = replace(self._schema, fields=tuple(map(_with, self._schema.fields, places)))
        super()._set(Bundle((labels, counts)), calibration)

    def _aligned(self, other: Any, mine: Bundle, theirs: Bundle) -> tuple[Bundle, Bundle]:
        self._schema, *places = self._schema.merged(other._schema)
        levels = np.array(self._family().levels)
        out = []
        for tally, at in zip((mine, theirs), places, strict=True):
            labels, counts = tally.parts
            named = [p if nominal else np.arange(n) for p, n, nominal in zip(at, levels, self._nominal(), strict=True)]
            out.append(Bundle((labels, counts.relevel(levels, named))))
        return out[0], out[1]

    def _in_column_order(self, tally: Bundle, order: list[int]) -> Bundle:
        self._schema = self._schema.reordered(order)
        self._cuts = None if self._cuts is None else tuple(self._cuts[j] for j in order)
        return super()._in_column_order(tally, order)

    def _check_mergeable(self, other: Any) -> None:
        super()._check_mergeable(other)
        for field, *both in zip(self._schema.fields, self._cuts or (), other._cuts, strict=True):
            if any(cut is not None and cut.learned for cut in both):
                raise MergeError(
                    f"column {field.named} was cut as the rows of each model had it, so their counts do not add up\n\n"
                    "hint: give one model's cuts to the other, `cuts=model.cuts_`, and the same to every model"
                )

    def forget(self, X, y, sample_weight=None) -> Self:
        with self._alone(), self._unchanged_on_failure():
            return super().forget(X, y, sample_weight)

    # leaving out

    def _leave_one_out(self, family: Discretised, tally: Bundle, chunk: Table) -> np.ndarray:
        assert isinstance(chunk.x, Mixed)
        return family.leave_one_out(
            tally.parts[1], chunk.x, chunk.y, chunk.w, self._fitted.params, np.array(self._nominal())
        )

    def _without(self, family: Discretised, tally: Bundle, row: Table) -> np.ndarray:
        assert isinstance(row.x, Mixed)
        left = (tally - self._tally_chunk(family, row)).parts[1]
        fixed, codes = family.fixed(self._fitted.params), np.array(family.codes(row.x).values)
        places = used_levels(left.crosstab(), self._nominal())
        if places is not None:
            left = left.relevel(np.array([(at >= 0).sum() for at in places]), places)
            gone = left.levels  # the code of a level that is known no more
            moved = [np.where(at < 0, n, at) for at, n in zip(places, gone, strict=True)]
            codes = np.column_stack([np.append(at, -1)[code] for at, code in zip(moved, codes.T, strict=True)])
        return fixed.scores(fixed.estimate(left), Codes(codes))

    # telling

    @property
    def evidence_(self) -> float:
        """log p(X | y), the structure being given and its tables averaged out, each drawn from a Dirichlet(alpha)."""
        fitted = self._check_is_fitted()
        try:
            found = fitted.family.evidence(fitted.tally.parts[1], fitted.params)
        except DataError as none:  # no prior
            raise AttributeError(str(none)) from None
        if found is None:
            averages = fitted.family.family.averages
            why = "is an average of models" if averages else "has tables that were given, not learned from rows"
            raise AttributeError(
                f"{type(self).__name__} {why}: no evidence in closed form\n\n"
                "hint: compare models by `leave_one_out` or `deciban.cross_validate`"
            )
        return float(found.sum())

    @property
    def missing_(self) -> list[Any]:
        """The columns whose missing cells are a level of their own, by name."""
        gaps = self._check_is_fitted().params.gaps
        return [name for name, gap in zip(self._schema.names, gaps, strict=True) if gap]

    @property
    def cuts_(self) -> dict[Any, list[float]]:
        """Where each column of numbers is cut, by name: what `cuts` of another model may be."""
        self._check_is_fitted()
        pairs = zip(self._schema.names, self._cuts or (), strict=True)
        return {name: list(cut.at) for name, cut in pairs if cut is not None}

    def sample(self, n_samples: int = 1, random_state=None) -> tuple[Any, np.ndarray]:
        """Draw rows and their labels: (X, y), where X is a frame or an array as in training. A number is drawn evenly
        from its interval."""
        codes, y = super().sample(n_samples, random_state)
        rng = np.random.default_rng(codes.sum() + n_samples)
        columns = []
        for field, cut, values in zip(self._schema.fields, self._cuts or (), codes.T, strict=True):
            named = np.array([*(field.levels or ()), None], dtype=object)[values] if cut is None else None
            columns.append(frames.Column(field.name, cut.drawn(values, rng) if named is None else named))  # type: ignore[union-attr]
        return frames.to_frame(columns, self._library), y

    def _parted(self) -> bool:
        return True

    def _splits(self) -> bool:
        return self.n_features_in_ == 1  # of more, a column's part depends on what the others hold

    def _candidates(self) -> list[np.ndarray]:
        return [
            np.array([*field.levels, ""], dtype=object)[:-1]
            if field.levels is not None
            else np.linspace(cut.edges[0], cut.edges[-1], STEPS)  # type: ignore[union-attr]
            for field, cut in zip(self._schema.fields, self._cuts or (), strict=True)
        ]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _with(field: Field, places: np.ndarray) -> Field:
    """A field with the levels that have a place."""
    if field.levels is None:
        return field
    return replace(field, levels=tuple(level for level, at in zip(field.levels, places, strict=False) if at >= 0))


def _cells(table: Table, block: int) -> GridCounts:
    """The numbers of one block of a table on the grid that cuts are found on."""

    def of(span: tuple[int, int]) -> GridCounts:
        chunk = table.rows(*span)
        assert isinstance(chunk.x, Mixed)
        return NUMBERS.tally(chunk.x.blocks[block], chunk.y, chunk.w, chunk.k)  # type: ignore[arg-type]

    return reduce(add, threads.map_ordered(borders(table.n, table.x.cells, Generative._chunk), of))


CLASS = "class"  # what the class is called where the labels have no name
MISSING = "(missing)"  # the level of missing cells


class DrawnNetwork:
    """Mixin of structured models that have one graph: needs `_schema`, `_cuts` and parameters with a `network`."""

    _schema: Schema
    _cuts: tuple[ColumnCuts | None, ...] | None
    classes_: np.ndarray
    n_features_in_: int
    _check_is_fitted: Callable[[], Any]

    @property
    def _target(self) -> str:
        """What the class is called: as the labels are, unless a column is called so."""
        names = set(self._schema.names)
        own = self.__dict__.get("target_name_", CLASS)
        name = CLASS if own in names else own
        while name in names:
            name += "_"
        return name

    def _learned_network(self) -> Network:
        fitted = self._check_is_fitted()
        if "network" not in vars(fitted):
            own, d = fitted.params.params.network, self.n_features_in_
            prior = np.exp(fitted.log_prior - np.logaddexp.reduce(fitted.log_prior))
            names = (*self._schema.names, self._target)
            told = map(_told, self._schema.fields, self._cuts or (), fitted.params.gaps)
            levels = (*told, tuple(self.classes_.tolist()))
            vars(fitted)["network"] = Network(names, levels, own.parents, (*own.tables[:d], prior))
        return vars(fitted)["network"]

    def plot(self, ax: Any = None) -> Any:
        """Draw the network in layers, parents above children, edges as wide as the mutual information of their ends;
        returns the axes. `ax.figure.savefig("net.svg")` writes a picture."""
        return networks.draw(self._learned_network(), ax, target=self._target)


class TellingNetwork(DrawnNetwork):
    """Mixin of `BayesNet`: needs `_given` where tables were given, else what `Structured` has."""

    _given: Network
    target: str | None

    @property
    def _target(self) -> str:
        return super()._target if self.target is None else self.target

    @property
    def network_(self) -> Network:
        """The network: names, levels, parents and tables of the nodes. Columns of numbers have intervals as levels."""
        return self._given if "_given" in self.__dict__ else self._learned_network()

    @property
    def edges_(self) -> list[tuple[Any, Any]]:
        """(parent, child) of the network, by name; in a classifier that learned, those between columns."""
        edges = self.network_.edges
        return edges if "_given" in self.__dict__ else [edge for edge in edges if edge[0] != self._target]

    def query(self, targets: Any, evidence: Mapping | None = None) -> QueryResult:
        """P(targets | evidence), exactly: a table of the targets' levels together. `targets` is a name or several,
        `evidence` has levels by name; of a column that was cut, a number may stand for its interval."""
        network, reads = self.network_, self._readers()
        given = {}
        for name, level in (evidence or {}).items():
            if name in reads and level not in network.levels[network.place[name]]:
                level = reads[name].level(level)
            given[name] = level
        return query(network, targets, given)

    def _readers(self) -> dict[Any, _Reader]:
        """What makes codes of cells, for each column that was cut or whose missing cells are a level."""
        if "_given" in self.__dict__:
            return {}
        columns = zip(self._schema.names, self._cuts or (), self._check_is_fitted().params.gaps, strict=True)
        levels = dict(zip(self.network_.names, self.network_.levels, strict=True))
        return {name: _Reader(levels[name], cut, bool(gap)) for name, cut, gap in columns if cut is not None or gap}

    def log_density(self, rows: Any) -> np.ndarray:
        """log P(row), (n,): a frame with nodes as columns (the class too), or an array with one column a node. What is
        missing, cells or columns, is summed out (but a missing cell of a column where that is a level has this level);
        a number counts as its interval."""
        network = self.network_
        return network.log_joint(coded(network, rows, self._readers()))

    def sample(self, n_samples: int = 1, random_state=None, *, library: str | None = None) -> Any:
        """Draw rows. Of a classifier: (X, y), X as in training. Of a network without a class: an array (n, nodes) of
        levels; as frame of "pandas", "polars" or "pyarrow" if `library` says so."""
        if "_given" not in self.__dict__:
            return super().sample(n_samples, random_state)  # type: ignore[misc]
        rng = np.random.default_rng(check_random_state(random_state).randint(0, 2**31, size=4))
        network = self._given
        codes = network.sample(n_samples, rng)
        if self.target is None:
            return named(network, codes, library)
        at = network.place[self.target]
        return named(network, codes, library, without=at), self.classes_[codes[:, at]]

    def plot(self, ax: Any = None) -> Any:
        return networks.draw(self.network_, ax, target=self.target if "_given" in self.__dict__ else self._target)

    plot.__doc__ = DrawnNetwork.plot.__doc__

    def to_bif(self, path: str | PathLike) -> None:
        """Write the network as BIF; `from_bif` reads the same bits. Levels become texts."""
        text = bif.dump(self.network_).encode()
        atomic.atomic_write(path, lambda file: file.write(text))


@dataclass(frozen=True)
class _Reader:
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


def _told(field: Field, cut: ColumnCuts | None, gap: bool = False) -> tuple:
    """The levels of a column as people know them; the last one is that of missing cells, where they have one."""
    if gap:
        return (*_told(field, cut), MISSING)
    if cut is None:
        return tuple(field.levels or ()) or ("(none)",)
    at = [f"{number:.6g}" for number in cut.at]
    if not at:
        return ("(any)",)
    if len(set(at)) < len(at):
        at = [repr(number) for number in cut.at]
    return (f"< {at[0]}", *(f"{a} – {b}" for a, b in pairwise(at)), f"≥ {at[-1]}")


class TreeAugmentedNB(DrawnNetwork, Structured):
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
        **Structured._parameter_constraints,
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

    def _structure(self) -> Tree:
        return Tree(float(self.alpha), self.backoff, self._place_of_root())

    def _place_of_root(self) -> int | None:
        names = self._schema.names
        if self.root is not None and self.root not in names:
            raise DataError(
                f"root is {self.root!r}, but the columns are {format_list(names)}\n\nhint: name one of them"
            )
        return None if self.root is None else names.index(self.root)

    @property
    def parents_(self) -> dict[Any, Any]:
        """The column that each one depends on beside the class, by name; None: on the class alone."""
        names = self._schema.names
        return {
            name: None if parent < 0 else names[parent]
            for name, parent in zip(names, self._check_is_fitted().params.params.parents, strict=True)
        }

    @property
    def information_(self) -> Any:
        """I(X_i; X_j | class) of every two columns in nats, (d, d): what the tree is chosen by."""
        return self._check_is_fitted().params.params.information


class KDependenceBayes(DrawnNetwork, Structured):
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
        **Structured._parameter_constraints,
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

    def _structure(self) -> Kdb:
        return Kdb(int(self.k), float(self.alpha), self.backoff)

    @property
    def parents_(self) -> dict[Any, list]:
        """The columns that each one depends on beside the class, by name, the one that tells most first."""
        names = self._schema.names
        parents = self._check_is_fitted().params.params.parents
        return {name: [names[i] for i in own] for name, own in zip(names, parents, strict=True)}


class AODE(Structured):
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
        **Structured._parameter_constraints,
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

    def _structure(self) -> Aode:
        return Aode(float(self.alpha), self.backoff, float(self.least))
