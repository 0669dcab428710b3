"""Base class of class-conditional densities p(x | class): the methods of a family, with defaults.

A family is a frozen dataclass of hyper-parameters that subclasses `Family`. Four methods must be written; the others
have defaults, so nothing is probed: what a family lacks, it says by a default.

>>> from deciban.families.poisson import Poisson
>>> Poisson.uses_prior, Poisson.chooses, Poisson.measure, Poisson().n_parameters(None, k=2, d=3)
(True, False, 'counts', 6)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from deciban.data.blocks import Reals
from deciban.errors import DataError
from deciban.estimation.dependence import without_each_row
from deciban.estimation.fractions import Factors, missing_cells
from deciban.estimation.left_out import LeftOut, PartsLeft
from deciban.estimation.linear import Linear, LinearScores
from deciban.estimation.parameters import Parameter
from deciban.estimation.ranges import values_of_sample
from deciban.estimation.sensitivity import Sensitivity

DRAWN = 4096  # rows that show what a density ranges over
MOST = 1e100  # of a hyper-parameter in a model file


class Family(ABC):
    """p(x | class) of one kind: shapes are `n` rows, `d` columns, `k` classes; `w` weights and `y` class codes (n,)."""

    block: ClassVar[str] = "reals"  # how rows are handed over: reals, dense, counts, codes or mixed
    support: ClassVar[str] = "real"  # which cells have a density: real, count, positive, nonnegative or level
    measure: ClassVar[str] = "densities"  # of what `loglik` and `carrier` are the log density or mass, in one word
    columnwise: ClassVar[bool] = True  # whether one column by itself has a density
    has_parts: ClassVar[bool] = True  # whether `parts` are there
    structured: ClassVar[bool] = False  # whether the part of a column depends on the cells of others
    averages: ClassVar[bool] = False  # whether the density is an average over several models
    density: ClassVar[bool] = True  # False: scores of a rule, which do not sum to 1
    uses_prior: ClassVar[bool] = True  # False: class priors are added only where they are given
    chooses: ClassVar[bool] = False  # whether the estimate makes choices that stay when a row is left out
    needs_estimate: ClassVar[bool] = True  # whether `leave_one_out` may use the estimate
    alpha: Any = None  # pseudo-counts of each level; None: there are none
    above: float | None = None  # cells above it count as presence; None: cells are taken as they are
    log_prior: Any = None  # class priors (k,) that come with the family; None: there are none
    separate: ClassVar[bool] = False  # whether the parameters of a class come from its own sums alone
    shared_tally: ClassVar[str] = ""  # which of the tallies that `ops.cells.shared` makes is the family's own

    @abstractmethod
    def tally(self, x: Any, y: Any, w: Any, k: int) -> Any:
        """Sufficient statistics of rows: they add up."""

    @abstractmethod
    def estimate(self, t: Any) -> Any:
        """Parameters from a tally: smoothing, floors and shrinkage happen here and nowhere else."""

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """The parameters that a user may give, by name; {}: none."""
        return {}

    def parameters_from(self, weights: np.ndarray, **given: Any) -> Any:
        """Parameters from arrays that a user gives, checked by `parameters`; class weights (k,)."""
        raise DataError(f"the parameters of {type(self).__name__} cannot be given\n\nhint: fit a model to rows of data")

    def bound(self, weights: np.ndarray, given: bool) -> Family:
        """The family with class weights (k,), or with given class priors, where the estimate depends on them."""
        return self

    @abstractmethod
    def loglik(self, p: Any, x: Any) -> np.ndarray:
        """log p(x | c) (n, k), up to what all classes share."""

    @abstractmethod
    def sample(self, p: Any, y: np.ndarray, rng: np.random.Generator) -> Any:
        """A row (n, d) of each of the classes y."""

    def parts(self, p: Any, x: Any) -> np.ndarray:
        """`loglik` by column, (n, k, d)."""
        raise NotImplementedError(f"the score of {type(self).__name__} is not a sum over columns")

    def splits(self, p: Any) -> bool:
        """Whether a score by these parameters is a sum over columns: of `parts`, or of those that p has."""
        return self.has_parts

    def carrier(self, p: Any, x: Any) -> np.ndarray | None:
        """The part of the log density (n,) that is not in `loglik`, the same for all classes; None: nothing."""
        return None

    def carrier_parts(self, p: Any, x: Any) -> np.ndarray | None:
        """`carrier` by column, (n, d)."""
        if self.carrier(p, x) is None:
            return None
        each: list[Any] = [self.carrier(p, Reals(column[:, None])) for column in x.dense().T]
        return np.stack(each, axis=1)

    @property
    def factorises(self) -> bool:
        """Whether p(x | c) is a product with a factor for each column: those of `cell_factors`."""
        return self.has_parts and self.density and not self.averages

    def cell_factors(self, t: Any, p: Any, x: Any) -> Factors:
        """The factors of p(x | c): quotients of counts where the estimate has them, else densities. t is None where
        parameters do not come from rows, so that there are no counts."""
        logs, common = self.parts(p, x), self.carrier_parts(p, x)
        return Factors.from_logs(logs if common is None else logs + common[:, None, :], missing_cells(x))

    def quotients(self, t: Any, p: Any) -> list[Any]:
        """θ of each column as `Quotients` of counts, None where it is not one; []: none of them is."""
        return []

    def estimates(self, p: Any) -> dict[str, np.ndarray]:
        """Name → estimates (k, d) of a density of numbers, such as its mean; NaN: the column has none."""
        return {}

    def never_seen(self, t: Any) -> dict[str, np.ndarray]:
        """Kind of cell → columns (d,) where such a cell has probability 0 in every class; {}: there is no such cell."""
        return {}

    def log_density(self, p: Any, x: Any) -> np.ndarray:
        """log p(x | c) (n, k) that rows are drawn from; differs from `loglik` where that is not a density."""
        return self.loglik(p, x)

    def linear(self, p: Any, degree: int = 1) -> LinearScores | None:
        """The score as a linear function of the cells, of whether they are levels, and (degree = 2) of products of two
        cells; None: it is not one."""
        found = self.linear_terms(p)
        return None if found is None else found.scores(self.above)

    def nonlinear_columns(self, p: Any, degree: int) -> list[int]:
        """The columns whose scores `linear` does not have; []: all of them."""
        return []

    def linear_terms(self, p: Any) -> Linear | None:
        """What each cell adds to a score that is linear in the cells; None: the score is not a sum of such terms."""
        return None

    def leave_one_out(self, t: Any, x: Any, y: Any, w: Any, p: Any = None) -> np.ndarray:
        """`loglik` of each row by what is estimated from all others; NaN: there is no closed form, so refit. `p` is the
        estimate of t, for families whose choices stay."""
        return np.full((x.n, t.k), np.nan)

    def for_second_stage(self, t: Any) -> Family:
        """The family by which rows are left out where settings and a calibration are fitted to their scores: it may
        hold what single rows hardly change, to have a closed form."""
        return self

    def parts_without(self, t: Any, p: Any, out: LeftOut, x: Any) -> PartsLeft | None:
        """`parts` of rows x by what is estimated without each group of training rows, up to a term that all classes
        share; p is the estimate of t, whose choices stay. None, or NaN for a group: there is no closed form."""
        found = self.estimate_without(t, out) if self.has_parts and not self.structured else None
        if found is None:
            return None
        params, known = found
        own = self.parts(params, x)
        own[:, ~known] = np.nan
        return PartsLeft(own)

    def loglik_without(self, t: Any, p: Any, out: LeftOut, x: Any) -> np.ndarray | None:
        """`loglik` of rows x (q, groups, k) by what is estimated without each group of training rows, as
        `parts_without`."""
        if self.has_parts and not self.structured:
            found = self.parts_without(t, p, out, x)
            return None if found is None else found.scores(out, self.loglik(p, x))
        left = self.estimate_without(t, out)
        if left is None:
            return None
        whole = np.repeat(self.loglik(p, x)[:, None], out.groups, axis=1)
        own = self.loglik(left[0], x)
        own[:, ~left[1]] = np.nan
        whole[:, out.group, out.y] = own
        return whole

    def estimate_without(self, t: Any, out: LeftOut) -> tuple[Any, np.ndarray] | None:
        """(parameters whose classes are the parts that are left out: of the class of each without it, which of them
        are known (p,)). None: parameters of a class depend on others."""
        if not self.separate:
            return None
        left = t.take(out.y) - out.tally(self.tally)
        return self.estimate(left), known_parts(left)

    def held(self, t: Any, p: Any) -> Family:
        """The family with all choices of its estimate p of t fixed: families, smoothing, cuts, structure."""
        return self.fixed(p)

    def gradient(self, t: Any, p: Any) -> dict[str, Any]:
        """The derivatives of Σ log p(x | c), of rows with this tally, by the `parameters`, by name. Probabilities that
        sum to 1 are varied one at a time."""
        raise DataError(
            f"the log likelihood of {type(self).__name__} has no gradient in closed form\n\nhint: leave out `gradient`"
        )

    def sensitivity(self, t: Any, p: Any) -> Sensitivity | None:
        """How `parts` depend on the training rows; p: the estimate of t. None: there is no closed form."""
        return None

    def evidence(self, t: Any) -> np.ndarray | None:
        """log marginal likelihood (k,) of each class's rows; None: there is no closed form."""
        return None

    def grid(self, p: Any, k: int) -> list[np.ndarray]:
        """Values of each column that a scale is drawn at: what a sample of all classes ranges over."""
        rows = self.sample(p, np.arange(DRAWN, dtype=np.int32) % k, np.random.default_rng(0))
        return [values_of_sample(rows[:, j]) for j in range(rows.shape[1])]

    def evidence_by_column(self, t: Any, p: Any) -> np.ndarray:
        """log evidence that each column depends on the class, and that it does not, (2, d); p: the estimate of t."""
        raise DataError(
            f"{type(self).__name__} has no evidence by column, so its relevance is not known\n\n"
            "hint: name another family for it, such as 'student', 'histogram' or 'categorical', or leave out `average`"
        )

    def dependence_left_out(self, t: Any, p: Any, x: Any, y: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Of one column: log evidence that it depends on the class over that it does not, without each row, (n,)."""
        apart, alike = self.evidence_by_column(without_each_row(t, self.tallied_cells(x), y, w), None)
        return apart - alike

    def tallied_cells(self, x: Any) -> np.ndarray:
        """The numbers (n, d) that a tally sums up."""
        return x.dense()

    def pooled(self, t: Any, p: Any) -> Any:
        """Parameters of all classes as one, k = 1; p: the estimate of t."""
        return self.estimate(t.collapse())

    def with_alpha(self, alpha: float | str) -> Family:
        """The same with other pseudo-counts, where the family has any."""
        return self if self.alpha is None else replace(self, alpha=alpha)  # type: ignore[type-var]

    def of_columns(self, t: Any, p: Any) -> list[Family]:
        """The family of each column, with what was chosen in place of "auto"; p: the estimate of t."""
        return [self] * t.d

    def fixed(self, p: Any) -> Family:
        """The family with the choices of these parameters fixed, independent of the counts."""
        return self

    def text_columns(self, t: Any) -> list[int]:
        """The columns of levels that are texts, of which the words are evidence."""
        return []

    def text_params(self, p: Any) -> dict[int, Any]:
        """The parameters of the columns whose words are evidence, by column."""
        return {}

    def tally_size(self, k: int, d: int) -> int:
        """Numbers in a tally."""
        return k * d

    def level_tally_size(self, levels: np.ndarray, k: int) -> int:
        """Numbers in a tally, or in what is made of it, of columns with so many levels (d,)."""
        return k * int(levels.sum())

    def row_width(self, k: int) -> int:
        """Numbers that a row needs while it is scored."""
        return k

    def sound(self) -> bool:
        """Whether hyper-parameters are numbers that densities can be computed with: a check of model files."""
        values = list(vars(self).values())
        if any(abs(value) > MOST for value in values if isinstance(value, int)):  # no double holds it
            return False
        numbers = [np.abs(value) for value in values if isinstance(value, float | int | np.ndarray)]
        return all(bool((one <= MOST).all()) for one in map(np.asarray, numbers) if one.dtype.kind in "iufb")

    def n_parameters(self, p: Any, k: int, d: int) -> int | None:
        """How many numbers are learned freely; None: that is not known."""
        return None

    def n_parameters_joint(self, p: Any, k: int, d: int) -> int | None:
        """The same without the assumption that columns are independent in each class; None: it has no meaning here."""
        return None


def known_parts(left: Any) -> np.ndarray:
    """Of which classes (k,) something is left in every column, and nothing less than nothing."""
    n = left.n if left.n.ndim == 1 else left.n.min(axis=1, initial=np.inf)
    return (n > 0) & ~left.short()
