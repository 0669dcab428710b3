"""Summary table: coefficients with standard errors, tests and intervals, and measures of fit.

    z = coef / error        p = 2 Φ(−|z|)        interval = coef ± Φ⁻¹((1 + level) / 2) · error
    odds ratio = exp coef, its interval exp of the interval
    deviance = −2 ℓ         AIC = −2 ℓ + 2 df    BIC = −2 ℓ + df log n
    likelihood ratio 2 (ℓ − ℓ₀), χ² with df − df₀ degrees of freedom
    pseudo-R²: McFadden 1 − ℓ/ℓ₀, Cox–Snell 1 − exp(2 (ℓ₀ − ℓ)/n), Nagelkerke: that over its largest value

ℓ₀ is the log-likelihood of the model with an intercept only (without intercept: of equal probabilities), n the sum of
weights, df the number of parameters: with an L2 penalty the effective number, trace of H (H + Λ)⁻¹. With more than two
classes there is a table for each class against the reference, by default the first.

>>> import numpy as np
>>> from deciban.logistic.likelihood import LikelihoodExpansion, Design
>>> x, y = np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([0, 1, 0, 1])
>>> found = LikelihoodExpansion.at(Design.of(x, y, None, k=2), np.array([[-1.0, 1.0]]))
>>> table = Summary.of(found, np.array(["no", "yes"]), ["dose"])
>>> table.columns, table.odds_ratio.round(3).tolist()
(('intercept', 'dose'), [[0.368, 2.718]])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import chdtrc, ndtr, ndtri

from deciban import display
from deciban.errors import DataError
from deciban.logistic.likelihood import FLAT, LikelihoodExpansion, Prior

INTERCEPT = "intercept"


@dataclass(frozen=True, repr=False, eq=False)
class Summary:
    """Coefficients (m, p) of m classes against the reference, with standard errors and tests, and measures of fit."""

    classes: tuple[Any, ...]  # (m,), each against
    reference: Any
    columns: tuple[str, ...]  # (p,)
    coef: np.ndarray  # (m, p)
    std_error: np.ndarray  # (m, p), NaN if not determined, or if the estimate has none
    level: float
    covariance: np.ndarray  # (m p, m p), in the order of coef
    n: float  # Σ w
    parameters: float  # effective number
    log_likelihood: float
    null_log_likelihood: float
    null_parameters: int
    notes: tuple[str, ...]
    ends: np.ndarray | None = None  # (2, m, p), ends of intervals that are not coef ± errors
    penalised: bool = False  # whether the penalty has a strength

    @classmethod
    def of(
        cls,
        found: LikelihoodExpansion,
        classes: np.ndarray,
        columns: Sequence[str],
        *,
        prior: Prior = FLAT,
        level: float = 0.95,
        robust: bool = False,
        reference: Any = None,
        errors: bool = True,
        parameters: float | None = None,
        notes: Sequence[str] = (),
        ends: np.ndarray | None = None,
    ) -> Summary:
        """From the likelihood around the estimate. `errors=False`: the estimate has none (an L1 penalty)."""
        check_level(level)
        names = ([INTERCEPT] if found.intercept else []) + [str(name) for name in columns]
        spread = found.spread(prior, robust)
        m, p = found.theta.shape
        turn, order, base = relevel_classes(np.asarray(classes), reference)
        whole = np.kron(turn, np.eye(p))
        matrix = whole @ spread.matrix @ whole.T
        known = ~((whole != 0) @ ~spread.determined)
        remarks = [*notes, "errors are robust (sandwich, HC0)"] if robust and errors else list(notes)
        if not spread.determined.all():
            lost: Any = (~spread.determined).reshape(m, p).any(axis=0)
            remarks.append(_undetermined([name for name, out in zip(names, lost, strict=True) if out]))
        return cls(
            tuple(np.asarray(classes)[order].tolist()),
            np.asarray(classes).tolist()[base],
            tuple(names),
            turn @ found.theta,
            np.sqrt(np.where(known & errors, np.maximum(np.diag(matrix), 0.0), np.nan)).reshape(m, p),
            level,
            matrix if errors else np.full_like(matrix, np.nan),
            found.n,
            spread.effective if parameters is None else parameters,
            found.log_likelihood,
            found.null_log_likelihood,
            m if found.intercept else 0,
            tuple(remarks),
            ends,
            prior != FLAT or not errors,
        )

    # of each coefficient, (m, p)

    @property
    def z(self) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.coef / self.std_error

    @property
    def p_value(self) -> np.ndarray:
        return 2.0 * ndtr(-np.abs(self.z))

    @property
    def low(self) -> np.ndarray:
        """Lower end of the interval."""
        return self.coef - ndtri((1 + self.level) / 2) * self.std_error if self.ends is None else self.ends[0]

    @property
    def high(self) -> np.ndarray:
        if self.ends is not None:
            return self.ends[1]
        return self.coef + ndtri((1 + self.level) / 2) * self.std_error

    @property
    def odds_ratio(self) -> np.ndarray:
        """The factor of the odds for an increase by one unit."""
        with np.errstate(over="ignore"):
            return np.exp(self.coef)

    @property
    def odds_ratio_low(self) -> np.ndarray:
        """Lower end of the odds ratio's interval."""
        with np.errstate(over="ignore"):
            return np.exp(self.low)

    @property
    def odds_ratio_high(self) -> np.ndarray:
        with np.errstate(over="ignore"):
            return np.exp(self.high)

    # of the fit

    @property
    def deviance(self) -> float:
        return -2.0 * self.log_likelihood + 0.0  # no −0 where every row is certain

    @property
    def null_deviance(self) -> float:
        return -2.0 * self.null_log_likelihood

    @property
    def residual_df(self) -> float:
        return self.n * len(self.classes) - self.parameters

    @property
    def aic(self) -> float:
        return self.deviance + 2.0 * self.parameters

    @property
    def bic(self) -> float:
        return self.deviance + float(np.log(self.n)) * self.parameters

    @property
    def mcfadden(self) -> float:
        return 1.0 - self.log_likelihood / self.null_log_likelihood if self.null_log_likelihood else float("nan")

    @property
    def cox_snell(self) -> float:
        with np.errstate(over="ignore"):
            return -float(np.expm1((self.deviance - self.null_deviance) / self.n))

    @property
    def nagelkerke(self) -> float:
        most = -float(np.expm1(-self.null_deviance / self.n))
        return self.cox_snell / most if most else float("nan")

    @property
    def likelihood_ratio(self) -> float:
        """2 (ℓ − ℓ₀): against the model without columns."""
        return self.null_deviance - self.deviance

    @property
    def likelihood_ratio_p(self) -> float:
        """Its χ² tail. It assumes an estimate without penalty."""
        more = self._more
        return float(chdtrc(more, max(self.likelihood_ratio, 0.0))) if more > 1e-9 else float("nan")

    @property
    def _more(self) -> float:
        """Degrees of freedom of the likelihood ratio."""
        return self.parameters - self.null_parameters

    # printing

    def text(self, most: int = 60) -> str:
        """Aligned tables, of at most so many columns each."""
        return "\n\n".join([*(one.to_text() for one in self._tables(most)), "\n".join(self._measures())])

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return "".join(one.to_html() for one in self._tables(60)) + display.paragraphs(self._measures())

    def to_frame(self) -> Any:
        """A pandas DataFrame with a line for each class and column."""
        try:
            import pandas as pd
        except ImportError as bad:
            raise ImportError("to_frame makes a pandas DataFrame\n\nhint: pip install pandas") from bad
        m, p = self.coef.shape
        numbers = (
            "coef",
            "std_error",
            "z",
            "p_value",
            "low",
            "high",
            "odds_ratio",
            "odds_ratio_low",
            "odds_ratio_high",
        )
        labels = np.empty(m, dtype=object)
        labels[:] = self.classes
        frame = {"class": np.repeat(labels, p), "column": list(self.columns) * m}
        return pd.DataFrame(frame | {name: getattr(self, name).ravel() for name in numbers})

    def _tables(self, most: int) -> list[display.Table]:
        ends = [f"{100 * (1 - self.level) / 2:.4g}%", f"{100 * (1 + self.level) / 2:.4g}%"]
        head = ("", "coef", "error", "z", "p", *ends, "odds ratio", *ends)
        out = []
        for c, label in enumerate(self.classes):
            numbers = [self.coef, self.std_error, self.z, self.p_value, self.low, self.high]
            numbers += [self.odds_ratio, self.odds_ratio_low, self.odds_ratio_high]
            formats = [
                display.format_number,
                display.format_number,
                display.format_2,
                display.format_pvalue,
                *[display.format_number] * 5,
            ]
            rows = [
                (name, *(form(float(a[c, j])) for form, a in zip(formats, numbers, strict=True)))
                for j, name in enumerate(self.columns[:most])
            ]
            more = len(self.columns) - most
            end = f"… and {more} more columns" if more > 0 else ""
            out.append(display.Table(f"{label} against {self.reference}", head, rows, notes=[end]))
        return out

    def _measures(self) -> list[str]:
        fit = f"{self.n:g} rows, {self._counted()}, log-likelihood {self.log_likelihood:.6g}"
        return [
            f"{fit}, without columns {self.null_log_likelihood:.6g}",
            *self._tested(),
            f"deviance {self.deviance:.6g} (null {self.null_deviance:.6g}), AIC {self.aic:.6g}, BIC {self.bic:.6g}",
            f"pseudo-R²: McFadden {self.mcfadden:.4f}, Cox–Snell {self.cox_snell:.4f}, "
            f"Nagelkerke {self.nagelkerke:.4f}",
            *(f"note: {note}" for note in self.notes),
        ]

    def _counted(self) -> str:
        """The number of parameters; what it counts where a penalty makes it less than the number of coefficients."""
        if not self.penalised:
            return f"{self.parameters:.4g} parameters"
        if np.isnan(self.std_error).all():
            return f"{self.parameters:.4g} of {self.coef.size} parameters are not 0"
        return f"{self.parameters:.4g} effective parameters ({self.coef.size} less what the penalty shrinks away)"

    def _tested(self) -> list[str]:
        """The likelihood-ratio test against the model without columns."""
        if np.isnan(self.likelihood_ratio_p) or np.isnan(self.std_error).all():
            return []
        p = display.format_pvalue(self.likelihood_ratio_p)
        test = f"likelihood ratio {self.likelihood_ratio:.6g} against no columns, {self._more:.4g} degrees of freedom"
        rough = " (approximate, as the estimate is penalised)" if self.penalised else ""
        return [f"{test}, p {p if p.startswith('<') else '= ' + p}{rough}"]


def check_level(level: float) -> None:
    if not 0 < level < 1:
        raise DataError(f"`level` is {level!r}\n\nhint: the share of intervals that cover, as 0.95")


def relevel_classes(classes: np.ndarray, reference: Any) -> tuple[np.ndarray, np.ndarray, int]:
    """(m, m) from differences to the first class to those to the reference; the compared classes; the index of the
    reference."""
    k = len(classes)
    at = [0] if reference is None else np.flatnonzero(classes == reference)
    if len(at) == 0:
        raise DataError(f"class {reference!r} is not among {classes.tolist()}\n\nhint: name a class of the model")
    base = int(at[0])
    order = np.delete(np.arange(k), base)
    whole = np.vstack([np.zeros(k - 1), np.eye(k - 1)])
    return whole[order] - whole[base], order, base


def _undetermined(names: list[str]) -> str:
    return f"the rows do not determine {display.format_list(names)}: constant, repeated, or a combination of others"
