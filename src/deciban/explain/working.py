"""The working of a posterior, as one writes it by hand: the product of the fractions of each class, and its share.

    P(class) P(x | class)  =  P(class) · Π_j p(x_j | class)
    P(class | x)           =  P(class) P(x | class) / Σ over all classes

A fraction is a quotient of counts, pseudo-counts included, and is not reduced. Densities of numbers are decimals.

>>> import pandas as pd
>>> from deciban import MixedNB
>>> X = pd.DataFrame({"sky": ["grey", "grey", "blue", "grey"], "wind": ["weak", "strong", "weak", "weak"]})
>>> print(MixedNB(alpha=0).fit(X, ["rain", "rain", "sun", "sun"]).explain(X[3:], form="fractions"))
row 3: prior · sky = grey · wind = weak
  P(rain) P(x | rain) = 2/4 · 2/2 · 1/2 = 0.2500
  P(sun)  P(x | sun)  = 2/4 · 1/2 · 2/2 = 0.2500
  P(rain | x) = 0.2500 / (0.2500 + 0.2500) = 0.500
  P(sun | x)  = 0.2500 / (0.2500 + 0.2500) = 0.500
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from deciban import decision, display
from deciban.display import cell_text, format_count, format_exp, format_fraction, format_list, format_probability
from deciban.errors import DataError
from deciban.estimation.fractions import Factors
from deciban.explain.explanation import class_places, plain, plain_cell

SUMMANDS = 6  # classes whose products are written as a sum; of more classes there is the sum alone
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
ESCAPES = str.maketrans({**{mark: f"\\{mark}" for mark in "&%$#_{}"}, "\\": "", "^": "", "~": " "})  # of LaTeX


class Term(NamedTuple):
    """A factor of every class: what it is of, and the number that it stands for."""

    name: str  # "sky = grey"
    fractions: list[tuple[float, float] | None]  # of each class; None: a decimal
    logs: list[float]  # of each class, without the power
    power: float = 1.0
    column: str = ""  # "": the prior, or several columns
    cell: Any = None

    def text(self, c: int) -> str:
        """As text: 3/12, 0.0340 or (3/12)²."""
        own = self.fractions[c]
        base = format_exp(self.logs[c]) if own is None else format_fraction(*own)
        if self.power == 1:
            return base
        whole = self.power == int(self.power)
        return f"({base}){str(int(self.power)).translate(SUPERSCRIPTS)}" if whole else f"({base})^{self.power:.4g}"

    def latex(self, c: int) -> str:
        r"""As LaTeX: \frac{3}{12}, 0.0340 or \left(\frac{3}{12}\right)^{2}."""
        own = self.fractions[c]
        base = latex_number(format_exp(self.logs[c])) if own is None else latex_fraction(*map(format_count, own))
        return base if self.power == 1 else rf"\left({base}\right)^{{{self.power:.4g}}}"


@dataclass(frozen=True, repr=False, eq=False)
class Working:
    """P(class | x) as a product of fractions for each class, for every row: what `explain(form="fractions")` returns.

    >>> from deciban import MultinomialNB
    >>> model = MultinomialNB().fit([[2, 0], [1, 1], [0, 3]], ["ham", "ham", "spam"])
    >>> why = model.explain([[2, 0]], form="fractions", of="spam")
    >>> print(why)
    row 0: prior · x0 = 2
      P(spam) P(x | spam) = 1/3 · (1/5)² = 0.0133
      P(spam | x) = 0.0133 / (0.2963 + 0.0133) = 0.043
    >>> why.probability.round(3).tolist()
    [[0.957, 0.043]]
    """

    classes: np.ndarray  # (k,), labels
    log_prior: np.ndarray  # (k,)
    class_count: np.ndarray | None  # (k,), where the prior of a class is its share of them; None: it is not
    factors: Factors
    columns: tuple[str, ...]  # (d,), names
    values: np.ndarray  # (n, d), the cells; None or NaN: missing
    rows: np.ndarray  # (n,), row numbers, or the labels of a frame's index
    shown: np.ndarray  # (n, s), places in `classes` of those whose products are written
    target: str = ""  # what the classes are classes of, where it has a name

    @classmethod
    def from_factors(
        cls,
        classes: np.ndarray,
        log_prior: np.ndarray,
        class_count: np.ndarray,
        factors: Factors,
        columns: Sequence[str],
        values: np.ndarray,
        of: Any = None,
        against: Any = None,
        rows: np.ndarray | None = None,
        target: str = "",
    ) -> Working:
        """`of` and `against` are labels, or None: of all classes. The prior is a fraction where it is that of the
        counts."""
        n, given = len(values), [label for label in (of, against) if label is not None]
        every = np.broadcast_to(np.arange(len(classes)), (n, len(classes)))
        shown = np.stack([class_places(label, classes, n) for label in given], axis=1) if given else every
        learned = class_count.any() and np.allclose(np.exp(log_prior), class_count / class_count.sum(), rtol=1e-12)
        labels = np.arange(n) if rows is None else rows
        own = class_count if learned else None
        return cls(classes, log_prior, own, factors, tuple(columns), values, labels, shown, target)

    # numbers

    @cached_property
    def joint(self) -> np.ndarray:
        """log P(class) P(x | class), (n, k)."""
        with np.errstate(invalid="ignore"):
            return self.log_prior + self.factors.terms().sum(axis=2)

    @cached_property
    def probability(self) -> np.ndarray:
        """P(class | x), (n, k); the prior, where every product is 0."""
        joint = decision.resolve_impossible_rows(self.joint.copy(), self.log_prior)
        return np.exp(joint - decision.log_evidence(joint)[:, None])

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: Any) -> Working:
        """Some of the rows: a number, a slice, or an array of numbers."""
        at = np.atleast_1d(np.arange(len(self))[index])
        own = self.factors
        arrays = {name: value[at] for name, value in vars(own).items() if name in ("log", "numerator", "denominator")}
        factors = replace(own, **arrays, power=own.power[at])
        return replace(self, factors=factors, values=self.values[at], rows=self.rows[at], shown=self.shown[at])

    # what one looks at

    def text(self, rows: int = 3, columns: int = 10) -> str:
        """The first rows: a product for each class, and the posterior. Of many factors, those that differ most between
        the classes are written, the others as one number."""
        parts = ["\n".join(self._lines(row, columns)) for row in range(min(rows, len(self)))]
        return "\n\n".join([*parts, *self._more(rows)])

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        tables = [self._table(row).to_html() for row in range(min(3, len(self)))]
        return "".join([*tables, display.paragraphs(self._more(3))])

    def _more(self, rows: int) -> list[str]:
        more = len(self) - rows
        return [f"… and {more} more row{'s' * (more > 1)}"] if more > 0 else []

    def _lines(self, row: int, columns: int) -> list[str]:
        terms, shown = self.terms(row, columns), self.shown[row].tolist()
        title = " · ".join(term.name for term in terms)
        joint = self._products(row)
        products = _aligned([(f"P({self.classes[c]})", f"P(x | {self.classes[c]})") for c in shown])
        lines = [
            f"{name} = {' · '.join(term.text(c) for term in terms)} = {joint[c]}"
            for name, c in zip(products, shown, strict=True)
        ]
        lines += [*self._shares(row), *self._notes(row)]
        return [f"row {self.rows[row]}: {title}", *(f"  {line}" for line in lines)]

    def _shares(self, row: int) -> list[str]:
        """P(class | x) of the classes shown, each as the share of its product."""
        joint, shown = self._products(row), self.shown[row].tolist()
        whole = f"({' + '.join(joint)})" if len(joint) <= SUMMANDS else self._sum(row)
        names = _aligned([(f"P({self.classes[c]} | x)",) for c in shown])
        return [
            f"{name} = {'' if self._impossible(row) else f'{joint[c]} / {whole} = '}{self._posterior(row, c)}"
            for name, c in zip(names, shown, strict=True)
        ]

    def _posterior(self, row: int, c: int) -> str:
        """P(class | x) as text."""
        own = self.probability[row]
        return format_probability(float(own[c]), float(np.delete(own, c).sum()))

    def _products(self, row: int) -> list[str]:
        """The products of all classes as text: with four decimals, or three digits where some need them."""
        joint = self.joint[row]
        decimals = not ((joint < np.log(1e-3)) & (joint > -np.inf)).any()
        return [format_exp(log, decimals) for log in joint.tolist()]

    def _sum(self, row: int) -> str:
        return format_exp(float(np.logaddexp.reduce(self.joint[row])), decimals=False)

    def _impossible(self, row: int) -> bool:
        """Whether the products of all classes are 0."""
        return bool(np.isneginf(self.joint[row]).all())

    def _notes(self, row: int) -> list[str]:
        """What has no factor, and what the posterior is where all products are 0."""
        missing, unseen = [], []
        for i in np.flatnonzero(np.isnan(self.factors.power[row])):
            cell = self.values[row, self.factors.columns[i]]
            name = self.columns[self.factors.columns[i]]
            if display.is_missing(cell):
                missing.append(name)
            else:
                unseen.append(f"{name} = {cell_text(cell)}")
        notes = [f"left out, as missing: {format_list(missing, quote='')}"] if missing else []
        notes += [f"left out, as in no training row: {format_list(unseen, quote='')}"] if unseen else []
        if self._impossible(row):
            notes.append("every product is 0: the posterior is the prior")
        return notes

    def _table(self, row: int, columns: int = 10) -> display.Table:
        """One row as a table: a line for each class, a column for each factor."""
        terms, joint = self.terms(row, columns), self._products(row)
        head = ["", *(term.name for term in terms), "product", "P(class | x)"]
        lines = []
        for c in self.shown[row].tolist():
            first, *others = (term.text(c) for term in terms)
            name = f"P({self.classes[c]}) P(x | {self.classes[c]})"
            numbers = f"= {joint[c]}", self._posterior(row, c)
            lines.append((name, f"= {first}", *(f"· {text}" for text in others), *numbers))
        title = f"row {self.rows[row]}" + (f": {self.target}" if self.target else "")
        return display.Table(title, head, lines, notes=[*self._shares(row), *self._notes(row)])

    def terms(self, row: int = 0, columns: int = 10) -> list[Term]:
        """The prior of one row, and its factors in the order of the columns. Of more than `columns` factors the others
        are one number."""
        if not -len(self) <= row < len(self):
            raise DataError(f"there is no row {row} among {len(self)}\n\nhint: rows are counted from 0")
        n = self.class_count
        prior: list[Any] = [None] * len(self.classes) if n is None else [(own, float(n.sum())) for own in n.tolist()]
        found, own = self.factors, self[row].factors.terms()[0]  # (k, m)
        used = np.flatnonzero(np.nan_to_num(found.power[row]) > 0)
        shown = used
        if len(used) > columns + 1:
            floor = np.maximum(own[self.shown[row]][:, used], np.finfo(float).min / 4)
            shown = np.sort(used[np.argsort(-np.ptp(floor, axis=0), kind="stable")[:columns]])
        rest = np.setdiff1d(used, shown)
        out = [Term("prior", prior, self.log_prior.tolist())]
        for i in shown.tolist():
            pairs = zip(found.numerator[row, :, i].tolist(), found.denominator[row, :, i].tolist(), strict=True)
            fractions = [None if np.isnan(pair[0]) else pair for pair in pairs]
            logs, power, j = found.log[row, :, i].tolist(), float(found.power[row, i]), found.columns[i]
            out.append(Term(self._name(row, i), fractions, logs, power, self.columns[j], self.values[row, j]))
        if len(rest):
            logs = own[:, rest].sum(axis=1).tolist()
            out.append(Term(f"{len(rest)} more columns", [None] * len(self.classes), logs))
        return out

    def _name(self, row: int, i: int) -> str:
        """What a factor is of: "humidity = high | outlook = sunny"."""
        found, j = self.factors, int(self.factors.columns[i])
        if found.missingness is not None and found.missingness[i]:
            return f"{self.columns[j]} {'is' if display.is_missing(self.values[row, j]) else 'is not'} missing"
        given = found.parents[j] if found.parents else ()
        own, *others = (f"{self.columns[a]} = {cell_text(self.values[row, a])}" for a in (j, *given))
        return f"{own} | {', '.join(others)}" if others else own

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain Python values, for JSON.

        Returns
        -------
        dict
            `target` (name of what is predicted, or None), `classes`, and `rows`, a list: for each row its `row` label,
            `left_out` (the columns without a factor) and `products`, a list: for each class its `class`, `prior`,
            `factors`, `joint`, P(class) P(x | class), and `probability`, P(class | x). A factor has its `name`,
            `column` and `value` (the cell), `numerator` and `denominator` (None: a density), `power`, and `factor`,
            its number with that power; the prior has `numerator`, `denominator` and `factor`.

        Examples
        --------
        >>> from deciban import BernoulliNB
        >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"])
        >>> (row,) = model.explain([[1, 0]], form="fractions").to_dict()["rows"]
        >>> [(one["numerator"], one["denominator"]) for one in row["products"][0]["factors"]]
        [(3.0, 4.0), (2.0, 4.0)]
        """
        joint, probability = self.joint, self.probability
        rows = []
        for i in range(len(self)):
            terms = self.terms(i, len(self.factors.columns))
            products = [
                {
                    "class": plain(self.classes[c]),
                    "prior": _numbers(terms[0], c),
                    "factors": [
                        {"name": term.name, "column": term.column, "value": plain_cell(term.cell), "power": term.power}
                        | _numbers(term, c)
                        for term in terms[1:]
                    ],
                    "joint": float(np.exp(joint[i, c])),
                    "probability": float(probability[i, c]),
                }
                for c in self.shown[i].tolist()
            ]
            without = np.unique(self.factors.columns[np.isnan(self.factors.power[i])])
            left_out = {self.columns[j]: plain_cell(self.values[i, j]) for j in without}
            rows.append({"row": plain(self.rows[i]), "left_out": left_out, "products": products})
        return {"target": self.target or None, "classes": [plain(label) for label in self.classes], "rows": rows}

    def latex(self, row: int = 0, columns: int = 10) -> str:
        r"""One row as LaTeX, for a display formula.

        >>> from deciban import CategoricalNB
        >>> model = CategoricalNB(alpha=0).fit([[0], [0], [1]], ["no", "yes", "yes"])
        >>> print(model.explain([[0]], form="fractions", of="yes").latex())
        \begin{aligned}
        P(\text{yes}) \, P(x \mid \text{yes}) &= \frac{2}{3} \cdot \frac{1}{2} = 0.3333 \\
        P(\text{yes} \mid x) &= \frac{0.3333}{0.3333 + 0.3333} = 0.500
        \end{aligned}
        """
        terms, joint = self.terms(row, columns), [latex_number(text) for text in self._products(row)]
        whole = " + ".join(joint) if len(joint) <= SUMMANDS else latex_number(self._sum(row))
        products, shares = [], []
        for c in self.shown[row].tolist():
            name, number = rf"\text{{{str(self.classes[c]).translate(ESCAPES)}}}", joint[c]
            product = r" \cdot ".join(term.latex(c) for term in terms)
            products.append(rf"P({name}) \, P(x \mid {name}) &= {product} = {number}")
            quotient = "" if self._impossible(row) else f"{latex_fraction(number, whole)} = "
            shares.append(rf"P({name} \mid x) &= {quotient}{latex_number(self._posterior(row, c))}")
        lines = " \\\\\n".join([*products, *shares])
        return f"\\begin{{aligned}}\n{lines}\n\\end{{aligned}}"


def _numbers(term: Term, c: int) -> dict[str, Any]:
    """A factor of a class for JSON."""
    own = term.fractions[c]
    numerator, denominator = own or (None, None)
    factor = float(np.exp(term.power * term.logs[c])) if own is None else (own[0] / own[1]) ** term.power
    return {"numerator": numerator, "denominator": denominator, "factor": factor}


def _aligned(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Texts in columns of the same width, as one text for each row."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [" ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)) for row in rows]


def latex_number(text: str) -> str:
    """A number as LaTeX writes it.

    >>> latex_number("3.6e-05"), latex_number("1 − 2e-09")
    ('3.6 \\\\cdot 10^{-5}', '1 - 2 \\\\cdot 10^{-9}')
    """
    head, mark, power = text.replace("−", "-").partition("e")
    return rf"{head} \cdot 10^{{{int(power)}}}" if mark else head


def latex_fraction(numerator: str, denominator: str) -> str:
    return rf"\frac{{{numerator}}}{{{denominator}}}"
