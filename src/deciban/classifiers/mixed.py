"""Naive Bayes for tables with columns of any type, missing cells and unseen levels.

With `average="subsets"` it is averaged over all subsets of its columns (see `deciban.composites.subsets`).

>>> import numpy as np
>>> from deciban import MixedNB
>>> rng = np.random.default_rng(0)
>>> y = np.repeat(["a", "b"], 100)
>>> X = np.column_stack([rng.normal(size=200) + (y == "b"), rng.normal(size=200)])  # a column, and noise
>>> MixedNB(average="subsets").fit(X, y).inclusion_.round(2).tolist()
[1.0, 0.11]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from deciban.classifiers.base import CLASS_WEIGHT, COLUMNS, LEDGER, PRIORS, SAMPLE, Interval, StrOptions
from deciban.classifiers.naive_bayes import WEIGHTS, NaiveBayes
from deciban.composites.best_of import BestOf
from deciban.composites.levels_and_words import LevelsAndWords
from deciban.composites.product import Product
from deciban.composites.subsets import SubsetAverage
from deciban.data import frames
from deciban.data.frames import Column
from deciban.decision import Prior, class_index
from deciban.display import format_choices, format_list
from deciban.errors import DataError, UnavailableError
from deciban.families import Family, find
from deciban.families.categorical import Categorical
from deciban.families.gamma_poisson import GammaPoisson
from deciban.families.gaussian import Gaussian
from deciban.families.histogram import Histogram
from deciban.families.student import Student
from deciban.models.feature_weights import FeatureWeights
from deciban.models.joint_tables import InteractionTable, JointTables, interaction_table
from deciban.models.known_parameters import given_columns
from deciban.models.model import Known, Spec, State
from deciban.rows.readers import ColumnReader
from deciban.rows.sample import SIZE
from deciban.rows.schema import Field, Schema

# Settings that joint tables do not go with: the value that they do go with, why, and what to do.
UNLIKE_INTERACTIONS: dict[str, tuple[Any, str, str]] = {
    "weights": (None, "the tables of single columns have weights already", "leave out `weights`"),
    "calibrate": (False, "both fit probabilities to held-out rows", "leave out `calibrate`: the weights include it"),
    "average": (None, "evidence of columns together is no average over single columns", "leave out one of them"),
    "families": ("auto", "columns are levels and cells of numbers, without densities", "leave out `families`"),
    "missing": ("ignore", "a missing cell is a level in all tables of its column", "leave out `missing`"),
    "unseen": ("ignore", "an unseen level is no evidence in any table", "leave out `unseen`"),
}
WORDS = "words"  # the family of texts, as `families` names it
LEAST = 0.01  # least weight of the prior of a mean, in rows


class MixedNB(NaiveBayes):
    """Naive Bayes where every column has its own family of densities.

    X is a dataframe (pandas, polars, pyarrow) or an array. Frames are read by name: reordered columns are
    aligned, an absent column is missing in every row. A missing cell (NaN, None, NA, null) is ignored in training and
    integrated out in prediction.

    Parameters
    ----------
    families : "auto", a name, or {column: family}
        "auto": text, booleans and categoricals are "categorical", free text "words" (each word is evidence; not with
        `average`, `interactions` and missing="average"); for a column of numbers the family is chosen by held-out log
        loss. A name is the family of all columns of numbers. A mapping has families by name or as objects such as
        `Categorical(alpha=0)`; columns that it leaves out are "auto". See `list_families`.
    alpha : "auto" or a number
        Pseudo-count of every level and of every cell of a histogram; where the family is chosen by the rows, also the
        weight of the prior of a mean, in rows. "auto": for each column, the value that maximises the likelihood of
        held-out rows.
    ddof : float
        Variances of columns of the family "gaussian" are divided by n − ddof; 1: sample variances.
    missing : "ignore", "informative", "average"
        "ignore": a missing cell is no evidence. "informative": that a cell is missing is evidence. "average":
        posteriors are averaged over the possible values of a missing level, P(class | a) = Σ_b P(class | a, b) P(b),
        with P(b) its frequency in all rows (unseen levels too, unless reserved); missing numbers are integrated out.
    unseen : "ignore", "reserve"
        A level that is not in the training rows is no evidence, or has the probability of one pseudo-count.
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
    weights : None, "discriminative"
        Fit a weight for each column (of three or more classes: and class) by conditional likelihood on held-out rows:
        `feature_weights_`, `class_feature_weights_`, `class_bias_`, `n_iter_`. `sample` and `score_samples` are those
        of the unweighted naive Bayes model.
    interactions : None, "auto"
        "auto": add evidence of pairs, triples and quadruples of columns, as far as these pay for themselves on held-out
        rows, with one weight for each (`interactions_`); `explain` has a line for each, `plots.interaction` a picture.
        Columns are then levels, and numbers cells (of equal mass, or that separate the classes) and, in addition, one
        linear term; a missing cell is a level, in columns where training rows lack cells; an unseen level is no
        evidence. Few rows add no set. Implies weights of columns (`feature_weights_`). `sample`, `score_samples` and
        `families_` are those of naive Bayes.
    average : None, "subsets"
        "subsets": average over all 2^d subsets of the columns, in linear time: a column outside the subset has
        one density for all classes. `inclusion_` is the posterior probability that each depends on the class
        (`plots.inclusion`).
    inclusion : a probability, or {column: probability}
        Prior probability that a column depends on the class; columns that a mapping leaves out have 0.5.
    ledger : bool or LedgerKey
        Keep a keyed hash of every training row, so that `forget` refuses every row that was not learned; True: with a
        key that anybody knows.
    keep_rows : int
        Size of the sample of training rows (a quarter more are in reserve) that is kept where a setting is fitted to
        held-out rows, and used to fit it again after `partial_fit`, `forget` and `+`. Saved models hold these rows. 0:
        no row is kept; such models cannot be updated, merged or forget rows.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    class_prior_ : ndarray of shape (k,)
        Prior probability of each class.
    class_log_prior_ : ndarray of shape (k,)
        Its logarithm.
    families_ : dict
        Family of each column, by name.
    levels_ : dict
        Levels of each nominal column, by name.
    evidence_ : float
        log p(X | y) with parameters integrated out, where it has a closed form.
    inclusion_ : ndarray of shape (d,)
        Probability that each column depends on the class, with `average="subsets"`.
    interactions_ : list of (columns, weight)
        The sets of columns that are looked at together, with `interactions="auto"`.
    settled_ : bool
        Whether these sets stay when rows are added and removed: they are chosen again while all rows are kept.
    feature_weights_, class_feature_weights_, class_bias_, n_iter_
        Results of `weights="discriminative"`: weights of columns (d,), of columns by class (k, d), biases (k,),
        number of steps.
    n_parameters_, n_parameters_joint_ : int
        Number of free parameters, and that of a joint distribution without independent columns (where it is known).
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
    tuned_ : dict
        Settings chosen by held-out rows, and their values.

    See Also
    --------
    GaussianNB : Normal columns.
    TreeAugmentedNB : Each column depends on one other.
    AutoClassifier : The best classifier, or a mix.

    Notes
    -----
    The default settings are chosen by held-out rows, so probabilities from few rows are close to the class priors.
    Naive Bayes as lectures compute it by hand is `alpha=0` (relative frequencies) or `alpha=1` (Laplace), with
    `families="gaussian"` for a normal density of each column of numbers. On the 14 rows of "play tennis",
    `MixedNB(alpha=0)` gives (sunny, cool, high, strong) the lecture's 0.795 for no.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"sky": ["grey", "blue", "grey", None], "wind": [3.0, 1.0, None, 0.5]})
    >>> model = MixedNB(alpha=1, families={"wind": "gaussian"}).fit(X, ["rain", "sun", "rain", "sun"])
    >>> model.predict(pd.DataFrame({"wind": [None, 0.7], "sky": ["grey", "green"]})).tolist()
    ['rain', 'sun']
    """

    _parameter_constraints: dict = {
        "families": [str, Mapping],
        "alpha": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "ddof": [Interval(Real, 0, None, closed="left")],
        "missing": [StrOptions({"ignore", "informative", "average"})],
        "unseen": [StrOptions({"ignore", "reserve"})],
        "priors": PRIORS,
        "calibrate": ["boolean"],
        **SAMPLE,
        **CLASS_WEIGHT,
        **COLUMNS,
        **WEIGHTS,
        **LEDGER,
        "interactions": [None, StrOptions({"auto"})],
        "average": [None, StrOptions({"subsets"})],
        "inclusion": [Interval(Real, 0, 1, closed="both"), Mapping],
    }

    def __init__(
        self,
        *,
        families="auto",
        alpha="auto",
        ddof=0,
        missing="ignore",
        unseen="ignore",
        priors=None,
        class_weight=None,
        columns="align",
        calibrate=False,
        weights=None,
        interactions=None,
        average=None,
        inclusion=0.5,
        ledger=False,
        keep_rows=SIZE,
    ):
        self.families = families
        self.alpha = alpha
        self.ddof = ddof
        self.missing = missing
        self.unseen = unseen
        self.priors = priors
        self.class_weight = class_weight
        self.columns = columns
        self.calibrate = calibrate
        self.weights = weights
        self.interactions = interactions
        self.average = average
        self.inclusion = inclusion
        self.ledger = ledger
        self.keep_rows = keep_rows

    @classmethod
    def from_parameters(cls, columns, /, *, class_prior=None, classes=None, **settings) -> Self:
        """The model with these parameters of its columns.

        The model predicts, explains, samples and can be saved; it has no rows, so it cannot be updated or merged.

        Parameters
        ----------
        columns : mapping of mappings
            The parameters of each column, by name. A nominal column has "levels" and "feature_prob", of shape (k,
            levels); a column of numbers has "theta" and "var" (normal), "rate" (Poisson), or "feature_prob" (present or
            absent), of shape (k,).
        class_prior : sequence, mapping by class or None
            Class priors, in the order of `classes`; None: uniform.
        classes : sequence or None
            The labels of the rows of the arrays, in any order; None: 0, 1, … .
        **settings
            Settings of the constructor.

        Returns
        -------
        MixedNB
            A fitted model.

        Examples
        --------
        >>> columns = {
        ...     "sky": {"levels": ["grey", "blue"], "feature_prob": [[0.8, 0.2], [0.3, 0.7]]},
        ...     "wind": {"theta": [3.0, 1.0], "var": [1.0, 1.0]},
        ... }
        >>> model = MixedNB.from_parameters(columns, classes=["rain", "sun"])
        >>> model.predict_proba({"sky": ["grey"], "wind": [2.0]}).round(3).tolist()
        [[0.727, 0.273]]
        """
        model = cls(**settings)
        model._validate_params()
        if (model.missing, model.unseen, model.average) != ("ignore", "ignore", None):
            raise DataError(
                "`missing`, `unseen` and `average` need rows, and a model with given parameters has none\n\n"
                "hint: leave them out"
            )
        state = given_columns(model._spec(), model._reader(), columns, classes, class_prior)
        state.params  # noqa: B018 (parameters that make no density fail here, not in predict)
        return model._adopt(state)

    def _reader(self) -> ColumnReader:
        make = partial(schema_of, self.families, self.alpha, self.ddof, self.missing, self.unseen)
        named, strict = partial(is_named, self.families), self.columns == "strict"
        words = partial(has_words, self.families) if self._reads_words else None
        return ColumnReader("MixedNB", make, named, strict, has_words=words)

    @property
    def _reads_words(self) -> bool:
        """Whether texts are evidence by their words."""
        return self.interactions is None and self.average is None and self.missing != "average"

    def _spec(self) -> Spec:
        if self.interactions is not None:
            for name, (fine, why, hint) in UNLIKE_INTERACTIONS.items():
                if (value := getattr(self, name)) != fine:
                    given = f"{name}={value!r}" if isinstance(value, str | bool) else f"`{name}`"
                    raise DataError(f"interactions='auto' and {given}: {why}\n\nhint: {hint}")
        if self.average is not None and self.missing == "average":
            raise DataError(
                "missing='average' fills in levels, which averaging over subsets (average='subsets') does not "
                "support\n\nhint: with average='subsets' use missing='ignore' or 'informative'"
            )
        if self.weights is not None and self.missing == "average":
            raise DataError(
                "missing='average' fills in levels, which weights='discriminative' does not "
                "support\n\nhint: with weights='discriminative' use missing='ignore' or 'informative'"
            )
        if not self._reads_words and isinstance(self.families, Mapping) and WORDS in self.families.values():
            other = "missing='average'" if self.missing == "average" else "average='subsets'"
            raise DataError(f"the family 'words' does not go with {other}\n\nhint: leave out one of them")
        words = self.families if self._reads_words else None
        family = partial(product_of, None if self.average is None else self.inclusion, words)
        return self._weighted_spec(
            family,
            Prior(self.priors, class_weight=self.class_weight),
            interactions=self.interactions is not None,
            average_missing=self.missing == "average",
            check_setup=None if self.average is None else partial(check_subsets, self.inclusion, self.alpha),
        )

    # fitted attributes

    @property
    def interactions_(self) -> list[tuple[tuple, float]]:
        """The sets of columns that are looked at together, by name, each with its weight (the sum of weights, where
        numbers are there in several codes); the heaviest first."""
        tables = self._joint_tables()
        names, chosen = self._fitted_state().reader.schema.names, tables.chosen
        found = dict.fromkeys(chosen.together, 0.0)
        for own, weight in zip(chosen.sets, tables.set_weights.tolist(), strict=True):
            if len(own) > 1:
                found[chosen.columns_of(own)] += weight
        each = [(tuple(names[j] for j in columns), weight) for columns, weight in found.items()]
        return sorted(each, key=lambda one: -one[1])

    @property
    def settled_(self) -> bool:
        """Whether the sets of columns, and the cells of numbers, stay when rows are added and removed: where there are
        more rows than the model keeps. `fit` chooses again."""
        self._joint_tables()
        return self._fitted_state().known.tables is not None

    def interaction_table(self, columns, of=None) -> InteractionTable:
        """What columns say together about a class, beyond what each says alone: the evidence of every cell.

        Parameters
        ----------
        columns : sequence of names
            Columns that `interactions_` has together, in any order.
        of : label or None
            The class; None: the last one. Of two classes the evidence is against the other, of more against their mean.

        Returns
        -------
        InteractionTable
            `decibans` and `rows` have an axis for each of `columns`, whose cells are named in `levels`.

        Examples
        --------
        >>> X = [["u", "x"], ["u", "y"], ["v", "x"], ["v", "y"]] * 30
        >>> model = MixedNB(interactions="auto").fit(X, ["same", "other", "other", "same"] * 30)
        >>> table = model.interaction_table((0, 1), of="same")
        >>> table.levels, (table.decibans > 0).tolist()
        ([['u', 'v'], ['x', 'y']], [[True, False], [False, True]])
        """
        tables, state = self._joint_tables(), self._fitted_state()
        names, wanted = state.reader.schema.names, list(columns)
        found = {frozenset(one): one for one in tables.chosen.together}
        places = frozenset(names.index(name) for name in wanted if name in names)
        if places not in found or len(places) < len(wanted):
            known = [" × ".join(str(names[j]) for j in one) for one in tables.chosen.together]
            raise DataError(
                f"{wanted!r} is no set of columns that this model looks at together\n\n"
                f"hint: {format_choices(known) if known else 'there is none: `interactions_` is empty'}"
            )
        c = len(state.classes) - 1 if of is None else class_index(of, state.classes)
        return interaction_table(tables, state.reader.schema, found[places], c, state.classes)

    def _joint_tables(self) -> JointTables:
        tables = self._fitted_state().tables
        if tables is None:
            raise UnavailableError("this model looks at each column alone\n\nhint: fit with interactions='auto'")
        return tables

    def _feature_weights(self) -> FeatureWeights:
        tables = self._fitted_state().tables
        if tables is None:
            return super()._feature_weights()
        return replace(tables.weights, table=tables.column_weights)

    @property
    def levels_(self) -> dict[Any, list]:
        """The levels of each nominal column, by name."""
        return levels_of(self._fitted_state())

    @property
    def inclusion_(self) -> np.ndarray:
        """Posterior probability that each column depends on the class, (d,)."""
        state = self._fitted_state()
        if not isinstance(state.family, SubsetAverage):
            raise AttributeError("this model has no posterior over its columns\n\nhint: fit with average='subsets'")
        return np.exp(state.params.log_in)

    @property
    def families_(self) -> dict[Any, Any]:
        """The family of each column, by name, with the chosen smoothing."""
        state = self._fitted_state()
        schema, family, params = state.reader.schema, state.family, state.params
        if isinstance(family, SubsetAverage):
            family, params = family.product, params.own
        out: dict[Any, Any] = {}
        for factor, at, own, tally in zip(
            family.factors, family.columns, params, state.tally.parts[1].parts, strict=True
        ):
            if factor is schema.gaps:
                continue
            names = [schema.fields[j].name for j in at]
            out.update(zip(names, factor.of_columns(tally, own), strict=True))
        return {name: out[name] for name in schema.names}

    @property
    def tuned_(self) -> dict[str, Any]:
        """Settings chosen by the rows: "alpha" has the pseudo-count of each column that has one, by name."""
        if self.alpha != "auto" or self._fitted_state().given:
            return {}
        return {"alpha": {name: f.alpha for name, f in self.families_.items() if f.alpha is not None}}

    def sample(self, n_samples: int = 1, random_state=None) -> tuple[Any, np.ndarray]:
        """Draw rows and their labels: (X, y), where X is a frame or an array as in training.

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
        drawn, y = super().sample(n_samples, random_state)
        reader = self._fitted_state().reader
        schema = reader.schema
        out: dict[Any, np.ndarray] = {}
        for block, (family, at) in zip(drawn, schema.groups, strict=True):
            for values, j in zip(block.T, at, strict=True):
                field = schema.fields[j]
                if family is schema.gaps:
                    nothing: Any = np.nan if field.levels is None else None
                    out[field.name] = np.where(values == 1, nothing, out[field.name])
                elif field.levels is not None:
                    out[field.name] = np.array([*field.levels, None], dtype=object)[values]
                else:
                    out[field.name] = values
        return frames.to_frame([Column(f.name, out[f.name], unit=f.unit) for f in schema.fields], reader.library), y

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def levels_of(state: State) -> dict[Any, list]:
    """The levels of each nominal column, by name."""
    return {field.name: list(field.levels) for field in state.reader.schema.fields if field.levels is not None}


def schema_of(
    families: Any, alpha: float | str, ddof: float, missing: str, unseen: str, columns: list[Column]
) -> Schema:
    """The schema of the first training columns: the family of each, and its levels."""
    names = [column.name for column in columns]
    every = families if isinstance(families, str) else "auto"  # of columns of numbers
    given = {} if isinstance(families, str) else families
    wanted = {name if name in names else str(name): family for name, family in given.items()}
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise DataError(
            f"families name {format_list(unknown)}, but the columns are {format_list(names)}\n\n"
            "hint: use the column names of X, or numbers (0, 1, …) if X is an array"
        )
    fields = []
    for column in columns:
        usual = every if column.levels is None else "auto"
        family = family_of(column, wanted.get(column.name, usual), len(columns), alpha, ddof)
        coded = family.block == "codes"
        levels = tuple(column.as_levels().levels or ()) if coded else None
        fields.append(Field(column.name, family, levels, column.unit))
    gaps = Categorical(alpha=1.0) if missing == "informative" else None
    return Schema(tuple(fields), gaps, unseen == "reserve")


def family_of(column: Column, wanted: Any, columns: int, alpha: float | str, ddof: float) -> Any:
    """The family of a column, by name or as an object; "auto": categorical, or chosen by the rows."""
    nominal = levels(alpha)
    if isinstance(wanted, str) and wanted == "auto":
        return nominal if column.levels is not None else choice(alpha, columns)
    known = {name: family for name, family in find().items() if family.columnwise}
    if isinstance(wanted, str) and wanted == WORDS:
        if column.levels is not None:
            return nominal
        raise DataError(
            f"column `{column.name}` holds numbers, and the family 'words' is for texts\n\n"
            "hint: name the columns of texts, families={'note': 'words'}"
        )
    if isinstance(wanted, str) and wanted in known:
        own = {"categorical": nominal, "gaussian": Gaussian(ddof=ddof, each=True)}
        wanted = own.get(wanted) or known[wanted]()
        wanted = wanted if alpha == "auto" else wanted.with_alpha(alpha)
    if not isinstance(wanted, Family) or not wanted.columnwise:
        raise DataError(
            f"column `{column.name}`: there is no family {wanted!r} for a single column\n\n"
            f"hint: give the name of one of {sorted([*known, WORDS])}, or an object such as Gaussian(ddof=1)"
        )
    if column.levels and wanted.block != "codes":
        raise DataError(
            f"column `{column.name}` holds {type(column.levels[0]).__name__} (such as {column.levels[0]!r}), but "
            f"{type(wanted).__name__} takes numbers\n\nhint: use `categorical` for it"
        )
    return wanted


@lru_cache(maxsize=16)
def levels(alpha: float | str) -> Categorical:
    """The family of a nominal column: one object for all columns, which a model file holds once."""
    return Categorical(alpha=alpha)


@lru_cache(maxsize=16)
def choice(alpha: float | str, columns: int) -> BestOf:
    """The candidate families of a column of numbers, in a table with this number of columns."""
    alphas = (0.5, 3.0) if alpha == "auto" else (alpha,)
    rules: tuple[tuple[str | int, int], ...] = (("mdl", 0), ("values", 0), (20, 1))  # cuts, smooth
    histograms = (Histogram(a, cuts, smooth) for cuts, smooth in rules for a in alphas)
    worth = 1.0 if alpha == "auto" else max(float(alpha), LEAST)  # in rows: the prior matters where rows are few
    normal = Student(kappa=worth), Student(kappa=worth, log=True)
    return BestOf((*normal, GammaPoisson(worth, worth), *histograms), columns)


def is_named(families: Any, name: Any) -> bool:
    """Whether the settings name the family of a column."""
    return isinstance(families, Mapping) and name in families


def has_words(families: Any, field: Field) -> bool:
    """Whether a column may hold texts, of which the words are evidence: by the settings, or its levels."""
    given = family_given(families, field.name)
    if field.levels is None or not isinstance(given, str) or given not in ("auto", WORDS):
        return False
    return given == WORDS or field.may_be_texts


def family_given(families: Any, name: Any) -> Any:
    """What the settings say of a nominal column."""
    return families.get(name, families.get(str(name), "auto")) if isinstance(families, Mapping) else "auto"


def product_of(inclusion: Any, families: Any, schema: Schema | None, known: Known) -> Product | SubsetAverage:
    """The families of all columns; averaged over subsets if `inclusion` is given. `families`: the setting; None: texts
    are not read as words."""
    assert schema is not None
    groups = schema.groups
    if families is not None and known.parameters is None:
        groups = [
            (family if family is schema.gaps else with_words(family, schema, at, families, known.texts), at)
            for family, at in groups
        ]
    factors, columns = zip(*groups, strict=True)
    product = Product(factors, columns, len(schema.fields), schema.gaps is not None, schema.reserve)
    if inclusion is None:
        return product
    if isinstance(inclusion, Mapping):
        prior = tuple(float(inclusion.get(name, 0.5)) for name in schema.names)
    else:
        prior = (float(inclusion),) * len(schema.fields)
    return SubsetAverage(product, prior)


def with_words(family: Any, schema: Schema, at: tuple[int, ...], families: Any, known: Mapping[int, Any]) -> Any:
    """The family of some columns, of which those that hold texts are read as words. `known`: the evidence of the words
    of columns whose texts are not kept."""
    fields = [schema.fields[j] for j in at]
    texts = {c: field for c, field in enumerate(fields) if has_words(families, field)}
    if not texts:
        return family
    forced = tuple(c for c, field in texts.items() if family_given(families, field.name) == WORDS)
    given = {c: known[j] for c, j in enumerate(at) if j in known}
    return LevelsAndWords(
        family, {c: partial(counts_of_words, field) for c, field in texts.items()}, forced, given=given
    )


def counts_of_words(field: Field) -> csr_array:
    """How often each level has each word."""
    return field.words.counts


def check_subsets(inclusion: Any, alpha: float | str, classes: np.ndarray, reader: Any) -> None:
    """Refuse priors of columns that are not those of X, and levels without a prior."""
    levels = any(field.levels is not None or isinstance(field.family, BestOf) for field in reader.schema.fields)
    if alpha == 0 and levels:
        raise DataError(
            "alpha=0 and average='subsets': levels without pseudo-counts have no evidence to average by\n\n"
            "hint: use alpha > 0, or leave out `average`"
        )
    if not isinstance(inclusion, Mapping):
        return
    names = reader.schema.names
    unknown = [name for name in inclusion if name not in names]
    if unknown:
        raise DataError(
            f"inclusion names {unknown}, but the columns are {names}\n\n"
            "hint: use the column names of X, or numbers (0, 1, …) if X is an array"
        )
    bad = {name: p for name, p in inclusion.items() if not (isinstance(p, Real) and 0 <= float(p) <= 1)}
    if bad:
        raise DataError(f"inclusion has {bad}\n\nhint: give probabilities, 0 … 1")
