"""A model as immutable values: its settings (`Spec`), what is determined before the tally (`Known`), its `State`.

A state is a tally and what is needed to interpret it. Parameters, priors and the posterior are computed from it at
first use. Learning more rows, merging and removing rows make a new state.

    rows ── TallyPass ──► tally ── Spec ──► State ──► Posterior
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from operator import add, sub
from typing import Any

import numpy as np

from deciban import ops
from deciban.data.blocks import Block, Codes, Reals, Table, concatenated
from deciban.decision import Prior
from deciban.errors import MergeError, ModelFileError, NoRowsError, SupportError
from deciban.models.calibration import Calibration
from deciban.models.feature_evidence import LinearEvidence, PartsEvidence, column_evidence
from deciban.models.feature_weights import FeatureWeights
from deciban.models.joint_tables import JointScores, JointTables, TableSets
from deciban.models.posterior import (
    AveragedPosterior,
    CalibratedScores,
    FamilyScores,
    JointPosterior,
    Posterior,
    Scores,
    WeightedScores,
    levels_of_each,
)
from deciban.rows import inputs
from deciban.rows.digests import row_digests
from deciban.rows.labels import united
from deciban.rows.levels import in_column_order, moved, nominal, recoded, spaces, with_blocks, without_unused
from deciban.rows.rows import Rows
from deciban.rows.sample import SIZE, RowSample
from deciban.rows.schema import Schema
from deciban.tallies import Bundle, ClassWeights, RowLedger, reordered
from deciban.tallies.ledger import LedgerKey, key_check, keyed_factors, row_tags

ESTIMATED = ("family", "params", "log_prior")  # kept when a calibration or weights are added


@dataclass(frozen=True, eq=False)
class Known:
    """What is determined by rows, or given by the user, before rows are tallied."""

    tuned: Mapping[str, float] = field(default_factory=dict)  # settings chosen by held-out rows
    cuts: tuple | None = None  # of each column; None: columns are not cut
    tables: TableSets | None = None  # that are counted in every row; None: there are none, or they are not settled
    covariances: tuple = ()  # by a user's covariance estimator
    network: Any = None  # a network with given tables
    parameters: Mapping[str, Any] | None = None  # arrays given by the user, by name; None: they are estimated
    steps: int = 0  # of EM
    target: str | None = None  # name of the label column
    coded: bool = False  # whether columns of a frame were coded, see `rows.coding`
    texts: Mapping[int, Any] = field(default_factory=dict)  # evidence of words, of columns whose texts are not kept


@dataclass(frozen=True, eq=False)
class Spec:
    """The settings of a classifier as a value.

    `family(schema, known)` returns the family; the type of its tally depends on settings and schema, not on the
    classes. Callables are functions of modules, or `functools.partial` of them: a spec can be pickled.
    """

    name: str  # of the classifier
    settings: Mapping[str, Any]
    family: Callable[[Schema | None, Known], Any]
    prior: Prior = Prior()  # noqa: RUF009 (a value)
    tune: Mapping[str, tuple[float, ...]] = field(default_factory=dict)  # setting → candidates, chosen by leave-one-out
    tune_rows: int = SIZE  # largest number of rows by whose scores they are chosen, but for rare classes
    calibrate: bool = False
    feature_weights: bool = False
    interactions: bool = False  # whether there are joint tables, with weights
    average_missing: bool = False
    fill_missing: Any = None  # (family, known) → the family whose Gaussians fill in missing cells by EM, or None
    find_cuts: Any = None  # (schema, grid counts) → cuts; None: columns are not cut
    find_covariances: Any = None  # (table) → covariances, by a user's estimator
    check_setup: Callable[[np.ndarray, Any], None] | None = None  # (classes, reader): raises for unsuitable settings
    check_rows: Callable[[np.ndarray, np.ndarray], None] | None = (
        None  # (rows of each class, classes): raises if too few
    )
    check_family: Callable[[Any, Schema | None, int], None] | None = None  # (family, schema, classes), before a tally
    structured: bool = False  # whether the evidence of a column depends on other columns
    eager: bool = False  # whether parameters are estimated by `fit`, since that may fail
    ledger: LedgerKey | None = None  # the key of the tags of rows; None: the tally has no ledger
    keep_rows: int = SIZE  # rows of the sample that a state keeps; 0: it keeps none, and cannot be updated

    def check(self, classes: np.ndarray, reader: Any, rows: Rows | None) -> None:
        """Raise an error if the settings do not suit these classes and columns, or the number of rows; `rows` is None
        where more rows may follow."""
        self.prior.check(classes)
        if self.check_setup is not None:
            self.check_setup(classes, reader)
        if self.check_rows is not None and rows is not None:
            self.check_rows(rows.weights, classes)

    @property
    def several_passes(self) -> bool:
        """Whether learning needs more than one pass over the rows."""
        return self.find_cuts is not None or self.interactions

    @property
    def weighted_by(self) -> str:
        """The setting that gives evidence weights; "": none does."""
        return "interactions='auto'" if self.interactions else "weights='discriminative'" * self.feature_weights

    @property
    def second_stage(self) -> bool:
        """Whether something is fitted to held-out rows, after the tally."""
        return bool(self.tune) or self.calibrate or bool(self.weighted_by)

    @property
    def sample_size(self) -> int:
        """Rows of the sample that learning needs; 0: it needs none."""
        if self.second_stage:
            return self.keep_rows or SIZE
        return self.keep_rows if self.find_cuts is not None and self.find_cuts.learns else 0


def fixed_family(family: Any, schema: Schema | None, known: Known) -> Any:
    """For `Spec.family`: a family that depends on neither schema nor rows."""
    return family


@dataclass(frozen=True, eq=False)
class TallyPass:
    """rows → class weights and the family's statistics."""

    spec: Spec
    known: Known

    def size(self, table: Table) -> int:
        """How many numbers the tally of such rows holds."""
        return self.size_of(table.schema, table.k, table.d)

    def size_of(self, schema: Schema | None, k: int, d: int) -> int:
        joint = 0 if self.known.tables is None else k * self.known.tables.size
        return self.spec.family(schema, self.known).tally_size(k, d) + joint

    def __call__(self, table: Table) -> Bundle:
        family, spec = self.spec.family(table.schema, self.known), self.spec
        if spec.check_family is not None:
            spec.check_family(family, table.schema, table.k)
        if not inputs.in_support(table.x, family.support):
            inputs.raise_negative(table.x, spec.name)
        if isinstance(table.x, Codes):
            inputs.check_levels(table.x)
        with np.errstate(all="ignore"):  # results that are not finite raise below
            tally = tally_of(family, table)
        if not tally.parts[1].finite():  # class weights are finite: weights are checked
            inputs.raise_not_finite(table.x)
        if self.known.tables is not None:
            tally = Bundle((*tally.parts, self.known.tables.tally(table)))
        return tally if spec.ledger is None else with_ledger(tally, table, spec.ledger)


def finite_sum(a: Bundle, b: Bundle, how: Callable[[Bundle, Bundle], Bundle]) -> Bundle:
    """The sum or difference of two tallies; an error where float64 does not hold it."""
    with np.errstate(all="ignore"):
        out = how(a, b)
    if not out.finite():
        raise SupportError(
            "the rows of the model and the others are so far apart that their squares overflow float64\n\n"
            "hint: divide the columns by a power of ten, and fit again"
        )
    return out


def tally_of(family: Any, table: Table) -> Bundle:
    """Class weights, and the family's statistics with all levels of the schema."""
    tally = family.tally(table.x, table.y, table.w, table.k)
    n = tally.class_weights
    if n is None:
        n = ops.exact_class_weights(table.y, table.w, table.k)
    out = Bundle((ClassWeights(n), tally))
    if table.schema is not None and isinstance(tally, Bundle):
        out = with_blocks(out, spaces(table.schema), None)
    return out


def with_ledger(tally: Bundle, table: Table, key: LedgerKey) -> Bundle:
    """The tally of rows, with a ledger of them in the place of the class weights."""
    ledger = RowLedger.from_tags(ledger_tags(table, key), table.y, table.w, table.k, key_check(key))
    return Bundle((ledger, *tally.parts[1:]))


def ledger_tags(table: Table, key: LedgerKey) -> np.ndarray:
    """The tag of each row (n,)."""
    return row_tags(key, row_digests(table.x, table.schema, partial(keyed_factors, key)))


@dataclass(frozen=True, eq=False)
class State:
    """What a generative classifier has learned."""

    spec: Spec
    reader: Any
    classes: np.ndarray
    tally: Bundle  # class weights, the family's statistics
    known: Known = field(default_factory=Known)
    calibration: Calibration | None = None
    weights: FeatureWeights | None = None  # of the columns
    tables: JointTables | None = None  # of several columns, with all weights
    closed: bool = False  # whether `classes` was given: no other class may follow
    sample: RowSample | None = None  # of the rows, to which the second stage is fitted
    stale: bool = False  # whether the second stage must be fitted again, as rows were added or removed

    # derived values

    @cached_property
    def family(self) -> Any:
        given = self.spec.prior.weights(self.classes)
        weights = self.n if given is None else given
        return self.spec.family(self.reader.schema, self.known).bound(weights, given is not None)

    @cached_property
    def params(self) -> Any:
        if self.known.parameters is not None:
            return self.family.parameters_from(self.n, **self.known.parameters)
        self.check_rows()
        return self.family.estimate(self.tally.parts[1])

    @cached_property
    def log_prior(self) -> np.ndarray:
        self.check_rows()
        own = self.family.log_prior
        return self.spec.prior.log(self.n, self.classes) if own is None else own

    @cached_property
    def evidence(self) -> PartsEvidence | LinearEvidence:
        """Evidence by column, which feature weights multiply."""
        return column_evidence(self.family, self.params)

    @cached_property
    def posterior(self) -> Posterior:
        plain = FamilyScores(self.family, self.params)
        scores: Scores = plain
        if self.tables is not None:
            scores = JointScores(plain, self.tables, self.reader.schema)
        elif self.weights is not None:
            scores = WeightedScores(plain, self.evidence, self.weights)
        elif self.calibration is not None:
            scores = CalibratedScores(plain, self.calibration)
        return self.posterior_by(scores)

    def posterior_by(self, scores: Scores) -> Posterior:
        """The posterior with other scores of the same classes and columns."""
        plain = scores if isinstance(scores, FamilyScores) else scores.plain
        takes = self.family.uses_prior or bool(self.spec.weighted_by) or len(self.classes) == 1
        added = self.log_prior if takes else np.zeros(len(self.classes))
        interacts = self.spec.structured and self.reader.d > 1
        own = self.classes, self.log_prior, added, scores, self.reader, interacts
        if isinstance(scores, JointScores):
            return JointPosterior(*own[:-1], bool(scores.tables.chosen.joint))
        if not self.spec.average_missing:
            return Posterior(*own)
        each = levels_of_each(plain.family, plain.params, self.tally.parts[1].parts, nominal(self.reader.schema))
        return AveragedPosterior(*own, levels=each)

    @property
    def n(self) -> np.ndarray:
        """The weight of the rows of each class, (k,)."""
        return self.tally.parts[0].n

    @property
    def given(self) -> bool:
        """Whether the user gave the parameters: there are no rows, and class weights are the given priors."""
        return self.known.parameters is not None or self.known.network is not None

    @property
    def empty(self) -> bool:
        """Whether every row has been removed."""
        return not self.given and not self.n.any()

    def check_rows(self) -> None:
        if self.empty:
            raise NoRowsError(
                f"no rows are left: all rows of this {self.spec.name} were removed by `forget`\n\n"
                "hint: `partial_fit` or `fit` it on rows first"
            )

    @property
    def ledger(self) -> RowLedger | None:
        """The tags of the rows, where the model keeps them."""
        weights = self.tally.parts[0]
        return weights if isinstance(weights, RowLedger) else None

    def remember(self, name: str, make: Callable[[], Any]) -> Any:
        """A derived value, computed once."""
        if name not in self.__dict__:
            self.__dict__[name] = make()
        return self.__dict__[name]

    def __getstate__(self) -> dict[str, Any]:
        """Without derived values."""
        return {one.name: self.__dict__[one.name] for one in fields(self)}

    @property
    def texts(self) -> dict[int, Any]:
        """The evidence of the texts of columns that are read as words, by column."""
        none = self.given or self.empty or not self.reader.texts
        return {} if none else self.family.text_params(self.params)

    # other states

    @property
    def texts_kept(self) -> int:
        """How many texts of a column can be read from the state, as its levels; the most of any column."""
        fields = [] if self.reader.schema is None else self.reader.schema.fields
        rows, read = self.n.sum(), self.texts
        kept = (one for j, one in enumerate(fields) if j in read or one.holds_texts(rows))
        return max((len(one.levels or ()) for one in kept), default=0)

    def without_texts(self) -> State:
        """The state with the evidence of words instead of texts: it predicts alike, and cannot be updated. Texts that
        are levels of their own raise an error."""
        if not self.texts_kept:
            return self
        found = {j: one.without_texts() for j, one in self.texts.items() if one.texts.size}
        rows = self.n.sum()
        for j, one in enumerate(self.reader.schema.fields):
            if j not in found and one.holds_texts(rows):
                raise ModelFileError(
                    f"column {one.named} has a text of its own in most rows, and each is a level of this "
                    f"{self.spec.name}: there is none without them\n\n"
                    "hint: save it with rows=True, or fit without the column; MixedNB() reads texts as words"
                )
        schema, (n, parts) = self.reader.schema, self.tally.parts[:2]
        fields = tuple(one.without_texts() if j in found else one for j, one in enumerate(schema.fields))
        each = [
            part
            if family is schema.gaps
            else part.without_levels([c for c, j in enumerate(at) if j in found], but=int(schema.reserve))
            if found.keys() & set(at)
            else part
            for part, (family, at) in zip(parts.parts, schema.groups, strict=True)
        ]
        out = self.with_reader(schema=replace(schema, fields=fields)).with_known(texts=found)
        return replace(out, tally=Bundle((n, Bundle(tuple(each)), *self.tally.parts[2:])))

    def adjusted(self, **changes: Any) -> State:
        """With a calibration or weights; estimates are kept."""
        out = replace(self, **changes)
        out.__dict__.update({name: self.__dict__[name] for name in ESTIMATED if name in self.__dict__})
        return out

    def with_reader(self, **changes: Any) -> State:
        """With other attributes of the reader."""
        return self.adjusted(reader=replace(self.reader, **changes))

    def with_known(self, **changes: Any) -> State:
        """With other tuned settings or steps."""
        return replace(self, known=replace(self.known, **changes))

    def with_spec(self, spec: Spec) -> State:
        """With other settings; a sample of another size has fewer rows."""
        sample = None if self.sample is None or not spec.sample_size else self.sample.resized(spec.sample_size)
        return replace(self, spec=spec, sample=sample)

    def with_tally(self, tally: Bundle) -> State:
        """The state of other rows in the same classes and levels, without calibration and weights."""
        return replace(self, tally=tally, calibration=None, weights=None, tables=None, sample=None, stale=False)

    def with_sample(self, sample: RowSample | None) -> State:
        """The state of other rows, whose second stage is not fitted yet."""
        if sample is not None and not self.spec.second_stage and not (self.finds_cuts and sample.complete):
            sample = None  # it is for cuts, of which there are none, or which are settled
        out = replace(self, sample=sample, calibration=None, weights=None, tables=None, stale=sample is not None)
        if self.known.tables is None or sample is None or not sample.complete:
            return out
        return replace(out.with_known(tables=None), tally=Bundle(self.tally.parts[:2]))  # rows choose again

    def pruned(self) -> State:
        """Without the levels that no row has."""
        if self.reader.schema is None or self.given:
            return self
        schema, tally = without_unused(self.reader.schema, self.tally)
        if schema is self.reader.schema:
            return self
        return self._in_levels(schema, tally)

    def without_empty_classes(self) -> State:
        """Without the classes that no row has, as in a fit on the rows that are left. Classes that the user named, or
        gave priors for, stay; so do all classes where no row is left."""
        at = np.flatnonzero(self.n)
        named = self.closed or self.spec.prior.weights(self.classes) is not None
        if named or len(at) in (0, len(self.classes)):
            return self
        sample = None if self.sample is None else self.sample.of_classes(at)
        return replace(self, classes=self.classes[at], tally=self.tally.of_classes(at), sample=sample)

    def _in_levels(self, schema: Schema, tally: Bundle) -> State:
        """The state with other levels, in which its tally is given."""
        sample = None if self.sample is None else self.sample.recoded(self.reader.schema, schema)
        return replace(self, reader=self.reader.with_schema(schema), tally=tally, sample=sample)

    def in_classes(self, classes: np.ndarray) -> State:
        """The same state in a longer list of classes."""
        if len(classes) == len(self.classes):
            return self
        return self._relabelled(classes, np.searchsorted(classes, self.classes))

    def _relabelled(self, classes: np.ndarray, places: np.ndarray) -> State:
        k = len(classes)
        sample = None if self.sample is None else self.sample.relabel(places, k)
        return replace(self, classes=classes, tally=self.tally.relabel(places, k), sample=sample)

    def one_vs_rest(self, c: int, spec: Spec) -> State:
        """The state of the same rows in two classes: class c (True) and all others (False)."""
        places = (np.arange(len(self.classes)) == c).astype(np.intp)
        out = replace(self._relabelled(np.array([False, True]), places), spec=spec)
        return out.with_sample(out.sample)

    def in_schema(self, schema: Schema | None) -> State:
        """The same state with the levels of a longer schema of the same columns."""
        if schema is None or schema is self.reader.schema or schema == self.reader.schema:
            return self
        both, here, _ = self.reader.schema.merged(schema)
        return self._in_levels(both, moved(both, self.tally, here))

    def in_level_order(self) -> State:
        """The same state with sorted levels, as in a fit on all rows: a search for a structure may depend on them."""
        if self.reader.schema is None:
            return self
        schema = self.reader.schema.ordered()
        if schema == self.reader.schema:
            return self
        return self._in_levels(schema, moved(schema, self.tally, schema.places(self.reader.schema)))

    def in_columns_of(self, other: State) -> State:
        """The same state with its columns in the order of another state."""
        mine, theirs = list(self.reader.names), list(other.reader.names)
        place = {name: at for at, name in enumerate(mine)}
        order = [place[name] for name in theirs]
        reader, known = self.reader.reordered(other.reader, order), self.known
        if known.cuts is not None:
            known = replace(known, cuts=tuple(known.cuts[j] for j in order))
        if known.tables is not None:
            known = replace(known, tables=known.tables.in_column_order(order))
        if self.reader.schema is None:
            if self.ledger is not None:
                raise MergeError(
                    f"the columns of the models are in another order, and the ledger of {self.spec.name} knows columns "
                    "by position\n\nhint: fit both on frames with the columns in the same order"
                )
            tally = reordered(self.tally, order)
        else:
            _, tally = in_column_order(self.reader.schema, self.tally, order)
        sample = None if self.sample is None else self.sample.in_column_order(order, reader.schema)
        return replace(self, reader=reader, tally=tally, known=known, sample=sample)

    def plus(self, other: State) -> State:
        """The state of the rows of both states; classes and levels may differ."""
        classes = united(self.classes, other.classes, merging=True)
        a, b = self.in_classes(classes), other.in_classes(classes)
        if a.reader.schema is not None and a.reader.schema != b.reader.schema:
            schema, here, there = a.reader.schema.merged(b.reader.schema)
            a, b = (one._in_levels(schema, moved(schema, one.tally, at)) for one, at in ((a, here), (b, there)))
        sample = None if a.sample is None or b.sample is None else a.sample + b.sample
        if a.finds_cuts:
            some = [one.sample for one in (a, b) if one.sample is not None and not one.settled]
            if len(some) == 2 and sample is not None and not sample.complete:  # for the last time, all rows are held
                rows = concatenated(some[0].all_rows(), some[1].all_rows())
                return a.recut(rows).with_sample(sample).pruned()
            a, b = with_equal_cuts(a, b)
        both = replace(a, tally=finite_sum(a.tally, b.tally, add)).with_sample(sample).pruned()
        return both.in_level_order() if both.spec.structured else both

    def minus(self, removed: Bundle, table: Table) -> State:
        """The state without the rows of a table, which have this tally. Rows that were never learned leave negative
        sums, or a sample that is `short`."""
        part = None if self.sample is None else RowSample.from_rows(table, None, self.reader.digested_names)
        return self._minus(removed, part)

    def without_sampled(self, part: RowSample) -> State:
        """The state without some rows of its sample."""
        return self._minus(self.tallied(part.all_rows()), part).pruned()

    def _minus(self, removed: Bundle, part: RowSample | None) -> State:
        """The state without rows that have this tally; `part` holds all of them."""
        tally = finite_sum(self.tally, removed, sub)
        left = replace(self, tally=tally.whole_cells(tally.parts[0].weight))
        sample = None if self.sample is None or part is None else self.sample.without(part).known_whole(left.n)
        return left.with_sample(sample)

    @property
    def settled(self) -> bool:
        """Whether learned cuts stay as they are, because not all rows are held that they depend on."""
        return self.finds_cuts and (self.sample is None or not self.sample.complete)

    @property
    def finds_cuts(self) -> bool:
        """Whether cuts of some column were learned from the rows."""
        return any(cut is not None and cut.learned for cut in self.known.cuts or ())

    def recut(self, table: Table) -> State:
        """The state of these rows, in its classes and levels, with the cuts that a fit on them finds."""
        schema = self.reader.schema.ordered()
        if schema != self.reader.schema:
            table = replace(table, x=recoded(table.x, self.reader.schema, schema), schema=schema)
            self = self._in_levels(schema, self.tally)
        grid = self.spec.find_cuts.grid(table).parts[1]
        return self.with_cuts(self.spec.find_cuts(schema, grid), table)

    def with_cuts(self, cuts: tuple, table: Table) -> State:
        """The state of these rows, cut at the same numbers as those of another state."""
        out = replace(self, known=replace(self.known, cuts=cuts))
        return replace(out, tally=out.tallied(table))

    @property
    def sample_exact(self) -> bool:
        """Whether the second stage is that of a fit on the same rows."""
        return self.sample is None or self.sample.exact

    @property
    def short(self) -> bool:
        """Whether more rows were removed than learned."""
        return bool(self.tally.short().any()) or (self.sample is not None and self.sample.short)

    def tallied(self, table: Table) -> Bundle:
        """The tally of rows in the codes of this state."""
        return TallyPass(self.spec, self.known)(table.rows(0, table.n))

    def without(self, row: Table) -> State:
        """The state without a row."""
        return self.with_tally(self.tally - tally_of(self.family, row)).pruned()

    def loglik_by(self, left: State, row: Table) -> np.ndarray:
        """log likelihoods (1, k) of a row by the state that is left without it, which is estimated for it."""
        x = row.x
        if left.reader.schema is not self.reader.schema:
            x = recoded(row.x, self.reader.schema, left.reader.schema)
        family = left.family.fixed(self.params) if self.spec.structured else left.family
        return family.loglik(family.estimate(left.tally.parts[1]), x)


def with_equal_cuts(a: State, b: State) -> tuple[State, State]:
    """Both states with the same cuts: those of one that cannot be cut in another way."""
    pairs = zip(a.reader.schema.fields, a.known.cuts or (), b.known.cuts or (), strict=True)
    unlike = [field for field, *cuts in pairs if None not in cuts and cuts[0].at != cuts[1].at]
    if not unlike:
        return a, b
    if not b.settled:
        return a, b.with_cuts(a.known.cuts, b.sample.all_rows())  # type: ignore[arg-type, union-attr]
    if not a.settled:
        return a.with_cuts(b.known.cuts, a.sample.all_rows()), b  # type: ignore[arg-type, union-attr]
    raise MergeError(
        f"the cuts of column {unlike[0].named} were learned from the rows of each model, and neither keeps all of its "
        "rows, so their counts do not add up\n\n"
        "hint: give one model's cuts to the other, `cuts=model.cuts_`, and the same to every model"
    )


def empty_block(reader: Any) -> Block:
    """A block of no rows, in the format of a reader."""
    if reader.schema is not None:
        return reader.schema.read([], 0)[0]
    cells = np.zeros((0, reader.d))
    return Codes(cells.astype(np.int32)) if reader.block == "codes" else Reals(cells)
