"""The sections of a report, as data: each function takes what is known about a model and its rows (`ReportData`) and
returns a title with tables, figures and paragraphs, or None where it does not apply.

    summary         the main numbers and all warnings
    metrics         every metric with its 95 % interval, and by class
    reliability     do predicted probabilities match observed frequencies? ROC curves
    confusion       true against predicted classes
    effects         nomogram of two classes; the columns (or words) with the strongest evidence for each class
    largest_errors  the rows with the smallest probability of their true class, and the evidence behind it
    data            columns, or texts
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from deciban import metrics as scores
from deciban import plots
from deciban.data import frames
from deciban.display import (
    Bar,
    Cell,
    EvidenceTable,
    Shaded,
    Table,
    bar_share,
    cell_text,
    format_decibans,
    format_probability,
    truncate,
)
from deciban.errors import DecibanError
from deciban.explain.text import TextExplanation, WordEvidence, top_word_evidence, with_shares
from deciban.metrics import Estimate
from deciban.model_selection.audit import Audit
from deciban.model_selection.label_errors import LabelErrors
from deciban.models.logistic_posterior import LogisticPosterior
from deciban.models.posterior import Posterior
from deciban.reports.data import ReportData, baseline_metrics, by_class
from deciban.reports.page import Alerts, Block, Figure, Paragraph, Piece, Quote, Section, SideBySide, Stat, Stats
from deciban.reports.render import figure_svg

NAME = 60  # characters of a name
SIDES = "against ← → for"  # above bars


def _decibans(value: float) -> str:
    return format_decibans(value).replace("-", "−")


# the main numbers

SUMMARY = ("accuracy", "log loss", "area under ROC", "calibration error")


def summary(facts: ReportData, warnings: tuple[str, ...]) -> Section:
    stats = [Stat("rows", f"{facts.n:,}", f"{len(facts.classes)} classes, {facts.d:,} {facts.what}")]
    for name in SUMMARY:
        if name in facts.metrics:
            e = facts.metrics[name]
            stats.append(Stat(name, f"{e.value:.3f}", f"{e.low:.3f} – {e.high:.3f}"))
    alerts = Alerts("Warnings", warnings, "None.")
    return Section("Summary", (Stats(tuple(stats)), Paragraph(facts.how), alerts))


MEANING = {
    "accuracy": "share of rows whose most probable class is the true one",
    "balanced accuracy": "mean of the recalls of all classes",
    "log loss": "mean of −log P(true class), in nats; less is better",
    "Brier score": "mean squared error of all probabilities, 0 … 2; less is better",
    "calibration error": "mean difference of confidence and accuracy over 15 bins; less is better",
    "area under ROC": "probability that a row of the second class ranks above one of the first",
}


def metrics(facts: ReportData) -> Section:
    base = baseline_metrics(facts)
    overall = Table(
        "All rows",
        ("metric", "value", "95 % interval", "baseline", "meaning"),
        [
            (name, f"{e.value:.4f}", _interval(e), f"{base[name]:.4f}" if name in base else "–", MEANING[name])
            for name, e in facts.metrics.items()
        ],
        left=(0, 4),
    )
    each = Table(
        "By class",
        ("class", "rows", "recall", "95 % interval", "precision", "95 % interval"),
        [
            (truncate(name, NAME), f"{n:,}", _value(recall), _interval(recall), _value(precision), _interval(precision))
            for name, n, recall, precision in by_class(facts)
        ],
        notes=(
            "Baseline: always predicting the frequencies of the classes. Intervals: Wilson for "
            "shares, mean ± 1.96 standard errors for losses, DeLong for the area under ROC, bootstrap for the "
            "calibration error. Recall: share of the rows of a class that are predicted as it. Precision: share of the "
            "predictions of a class that are correct.",
        ),
    )
    return Section("Metrics", (overall, each))


def _value(e: Estimate) -> str:
    return "–" if e.value != e.value else f"{e.value:.3f}"


def _interval(e: Estimate) -> str:
    return "–" if e.value != e.value else f"{e.low:.3f} – {e.high:.3f}"


# reliability

SMALL = 0.02  # calibration error up to which a model is well calibrated; smallest difference that is mentioned
CURVES = 7  # classes up to which each has a ROC curve


def reliability(facts: ReportData) -> Section:
    confidence = float(facts.proba[facts.judged].max(axis=1).mean())
    accuracy, error = facts.metrics["accuracy"].value, facts.metrics["calibration error"]
    first = Paragraph(
        f"The mean probability of the predicted class is {confidence:.3f}, the accuracy is {accuracy:.3f}. "
        f"The calibration error is {error.value:.3f} ({error.low:.3f} – {error.high:.3f}): "
        f"{verdict(confidence - accuracy, error)}."
    )
    return Section("Reliability", (first, *(_curves(facts, error) if facts.figures else [_reliability_table(facts)])))


def _curves(facts: ReportData, error: Estimate) -> list[Block]:
    labels = facts.classes[facts.y]

    def draw_reliability(figure: Any) -> None:
        some = facts.judged
        plots.reliability(labels[some], facts.proba[some], figure.subplots(), classes=facts.classes)

    def draw_roc(figure: Any) -> None:
        plots.roc(labels, facts.proba, figure.subplots(), classes=facts.classes)

    title = f"Reliability diagram: calibration error {error.value:.3f}"
    figures = [
        Figure(
            figure_svg(draw_reliability, 4.4, 4.2, title, "figure-reliability"),
            "On the dashed diagonal, predicted probabilities match observed frequencies. Grey columns: number of rows.",
        )
    ]
    if len(facts.classes) <= CURVES:
        title = "ROC curves, each class against the rest"
        figures.append(
            Figure(
                figure_svg(draw_roc, 4.4, 4.2, title, "figure-roc"),
                "True positive rate against false positive rate, for every threshold; the dashed line is chance.",
            )
        )
    return [SideBySide(tuple(figures))]


def _reliability_table(facts: ReportData) -> Table:
    """The reliability diagram in numbers."""
    labels = facts.classes[facts.y[facts.judged]]
    one = scores.reliability_outcome(labels, facts.proba[facts.judged], facts.classes)
    name = "the most probable class" if one.label is None else truncate(str(one.label), NAME)
    found = scores.reliability_bins(one.hit, one.score)
    rows = []
    for low, bin_ in zip(np.arange(len(found)) / len(found), found, strict=True):
        if bin_ is not None:
            mean, hits, n = bin_
            share = scores.proportion_interval(hits, n)
            span = f"{low:.1f} – {low + 1 / len(found):.1f}"
            rows.append((span, f"{n:,}", f"{mean:.3f}", f"{share.value:.3f}", _interval(share)))
    return Table(
        f"Predicted and observed: {name}",
        ("probability", "rows", "mean probability", "observed frequency", "95 % interval"),
        rows,
    )


def verdict(gap: float, error: Estimate) -> str:
    """How well calibrated a model is, by the calibration error and its interval; `gap` is mean confidence less
    accuracy.

    >>> verdict(0.0, Estimate(0.077, 0.05, 0.10))
    'the model is overconfident for some rows and underconfident for others'
    >>> verdict(0.0, Estimate(0.01, 0.0, 0.02)), verdict(0.0, Estimate(0.03, 0.0, 0.06))
    ('the model is well calibrated', 'there are too few rows to say whether the model is well calibrated')
    """
    if error.high <= 2 * SMALL:
        return "the model is well calibrated"
    if error.low <= SMALL:
        return "there are too few rows to say whether the model is well calibrated"
    if abs(gap) < SMALL:
        return "the model is overconfident for some rows and underconfident for others"
    return f"the model is {'overconfident' if gap > 0 else 'underconfident'}"


# confusion

ALL_PAIRS = 20  # classes up to which all pairs are shown
PERCENT = 8  # classes up to which a count is followed by its share
COMMONEST = 12  # errors that are listed


def confusion(facts: ReportData) -> Section:
    k = len(facts.classes)
    counts = scores.confusion(facts.y, facts.predicted, k)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    blocks: list[Block] = [_confusion_table(facts, counts, share)] if k <= ALL_PAIRS else []
    wrong = [(i, j) for i in range(k) for j in range(k) if i != j and counts[i, j]]
    wrong.sort(key=lambda pair: -counts[pair])
    if k > 2 and wrong:
        rows = [
            (
                f"{truncate(facts.names[i], 40)} → {truncate(facts.names[j], 40)}",
                f"{counts[i, j]:,.0f}",
                f"{100 * share[i, j]:.1f} %",
            )
            for i, j in wrong[:COMMONEST]
        ]
        blocks.append(Table("Most frequent errors", ("true class → predicted", "rows", "of the true class"), rows))
    if not wrong:
        blocks.append(Paragraph("Every row is predicted correctly."))
    return Section("Confusion", tuple(blocks))


def _confusion_table(facts: ReportData, counts: np.ndarray, share: np.ndarray) -> Table:
    k = len(counts)
    rows: list[tuple[Cell, ...]] = [
        (
            truncate(name, 40),
            *(Shaded(_count(counts[i, j], share[i, j], k), float(share[i, j]), i == j) for j in range(k)),
        )
        for i, name in enumerate(facts.names)
    ]
    head = ("true ↓ predicted →", *(truncate(name, 16) for name in facts.names))
    return Table("True and predicted classes", head, rows)


def _count(count: float, share: float, k: int) -> str:
    return f"{count:,.0f} ({100 * share:.0f} %)" if count and k <= PERCENT else f"{count:,.0f}"


# effects of columns

CELLS = 20_000_000  # numbers that the explanations of a class may take
ROWS = 500  # of a class that are explained, at most
LEAST_ROWS = 10  # that are worth a mean
COLUMNS = 8
CLASSES = 12  # that are shown
SCALES = 12
SCALE_LEVELS = 10
LARGEST = 100.0  # decibans of a cell that count in a mean
MANY = 1000  # columns of which no nomogram is drawn


def effects(facts: ReportData) -> Section | None:
    try:
        if not isinstance(facts.model._posterior(), Posterior | LogisticPosterior):
            return None  # texts, and models of models
        blocks = (*_nomogram(facts), *_evidence(facts))
    except (AttributeError, DecibanError):  # a classifier of another library, or columns that cannot be separated
        return None
    return Section("Feature effects", blocks) if blocks else None


def _nomogram(facts: ReportData) -> list[Block]:
    model = facts.model
    if len(model.classes_) != 2 or not model._posterior().splits or facts.d > MANY or not facts.figures:
        return []
    of, against = model.classes_[1], model.classes_[0]

    def draw(figure: Any) -> None:
        values = _commonest_levels(facts)
        plots.nomogram(model, columns=SCALES, values=values, names=facts.called, ax=figure.subplots())

    title = f"Nomogram: the decibans that each value of the strongest columns adds for {of} against {against}"
    height = 2.4 + 0.52 * min(facts.d, SCALES)
    caption = (
        "Find the values of a row on the scales, read their decibans off the ruler at the top, add them up, and find "
        "the sum on the ruler at the bottom: its probability is below it."
    )
    return [Figure(figure_svg(draw, 7.6, height, title, "figure-nomogram"), caption)]


def _commonest_levels(facts: ReportData) -> dict[str, np.ndarray]:
    """The commonest levels of columns that have too many for a scale."""
    out = {}
    for column in facts.columns or []:
        if column.levels is not None and len(column.levels) > SCALE_LEVELS:
            counts = np.bincount(column.values[~column.missing], minlength=len(column.levels))
            first = np.argsort(-counts, kind="stable")[:SCALE_LEVELS]
            levels = np.empty(len(first), dtype=object)
            levels[:] = [column.levels[i] for i in first]
            out[facts.column_name(column)] = levels
    return out


def _evidence(facts: ReportData) -> list[Block]:
    """For each class, the columns with the strongest evidence for its rows."""
    size = len(facts.model.classes_) * facts.d
    rows = min(ROWS, CELLS // max(size, 1))
    if rows < LEAST_ROWS:
        return [Paragraph(f"{facts.d:,} columns are too many to be listed one by one.")]
    rng = np.random.default_rng(facts.seed)
    if not facts.model._posterior().splits:
        return _joint_evidence(facts, rows, rng)
    first = Paragraph(
        "Mean evidence of each column for the true class against the class closest to it, over rows of the class. "
        "A negative number means that the column misleads more often than it helps."
    )
    own = {c: np.flatnonzero(facts.y == c) for c in np.flatnonzero(facts.known)[:CLASSES]}
    tables = [_evidence_of_class(facts, c, np.sort(rng.permutation(at)[:rows])) for c, at in own.items() if len(at)]
    return [first, SideBySide(tuple(tables)), *_not_listed(int(facts.known.sum()))]


def _not_listed(classes: int) -> list[Block]:
    left = classes - CLASSES
    return [Paragraph(f"{left} more classes are not listed.")] if left > 0 else []


def _joint_evidence(facts: ReportData, rows: int, rng: np.random.Generator) -> list[Block]:
    """Where columns interact, the evidence of all of them."""
    mean = {}
    for c in np.flatnonzero(facts.known & (np.bincount(facts.y, minlength=len(facts.known)) > 0)):
        some = np.sort(rng.permutation(np.flatnonzero(facts.y == c))[:rows])
        decibans = facts.explain(some, facts.classes[c]).decibans
        mean[facts.names[c]] = float(np.clip(decibans, -LARGEST, LARGEST).mean())
    largest = max([abs(value) for value in mean.values()], default=0.0) or 1.0
    lines = [(truncate(name, NAME), _decibans(value), Bar(value / largest)) for name, value in mean.items()]
    return [
        Paragraph("The columns of this model interact, so a single column has no evidence: this is the joint one."),
        Table("Evidence for the true class", ("class", "decibans", SIDES), lines),
    ]


def _evidence_of_class(facts: ReportData, c: int, rows: np.ndarray) -> Table:
    why = facts.explain(rows, facts.classes[c])
    evidence = np.clip(np.nan_to_num(why.decibans, nan=0.0), -LARGEST, LARGEST).mean(axis=0)
    order = np.argsort(-np.abs(evidence), kind="stable")[:COLUMNS]
    largest = max(float(np.abs(evidence).max(initial=0.0)), 1e-9)
    lines = [
        (
            truncate(why.columns[j], NAME),
            _typical(why.values[:, j]),
            _decibans(evidence[j]),
            Bar(float(evidence[j] / largest)),
        )
        for j in order
    ]
    title = f"Evidence for {truncate(facts.names[c], NAME)}"
    return Table(title, ("column", "typical value", "decibans", SIDES), lines)


def _typical(cells: np.ndarray) -> str:
    """The median of numbers, the commonest of levels."""
    column = frames.from_objects("", np.asarray(cells, dtype=object)) if cells.dtype == object else None
    if column is None or column.levels is None:
        values = np.asarray(cells if column is None else column.values, dtype=np.float64)
        values = values[~np.isnan(values)]
        return cell_text(float(np.median(values))) if len(values) else "missing"
    counts = np.bincount(column.values[~column.missing], minlength=len(column.levels))
    if not counts.any():
        return "missing"
    return cell_text(column.levels[int(counts.argmax())]) if counts.max() > 1 else "(all differ)"


# effects of words

WORDS = 12


def word_effects(facts: ReportData) -> Section | None:
    top = top_word_evidence(facts.model, WORDS).items()
    positive = {
        label: [one for one in words if one.decibans > 0] for label, words in top
    }  # few words: some are against
    found = {label: words for label, words in positive.items() if words}
    if not found:
        return None
    largest = max(one.decibans for words in found.values() for one in words)
    first = Paragraph(
        "The words that distinguish each class from the others, the evidence of each as a text of one word, and the "
        "number of training texts that contain it."
    )
    tables = [_words_of_class(str(label), words, largest) for label, words in list(found.items())[:CLASSES]]
    return Section("Feature effects", (first, SideBySide(tuple(tables)), *_not_listed(len(found))))


def _words_of_class(name: str, words: list[WordEvidence], largest: float) -> Table:
    lines = [
        (
            truncate(one.word, 40),
            f"{one.own:,}",
            f"{one.others:,}",
            _decibans(one.decibans),
            Bar(bar_share(one.decibans, largest)),
        )
        for one in words
    ]
    return Table(f"Words for {truncate(name, NAME)}", ("word", "texts", "other texts", "decibans", "for →"), lines)


# largest errors

CHARACTERS = 700  # of a text that are shown


def largest_errors(facts: ReportData) -> Section | None:
    known = facts.known[facts.y] & facts.judged
    loss = np.where(known, -facts.log_proba[np.arange(facts.n), facts.y], -1.0)
    order = np.argsort(-loss, kind="stable")[: facts.rows]
    order = order[loss[order] > 0]
    if not len(order) or len(facts.model.classes_) < 2:
        return None
    try:
        explained = [block for i in order for block in _explained(facts, i)]
    except (AttributeError, DecibanError):  # a classifier of another library, or too many columns
        return Section("Largest errors", (_error_table(facts, order),))
    first = Paragraph(
        "Decibans of evidence for the true class against the most probable other one: 10 are odds of 10 : 1, negative "
        "ones are evidence against it. Look for wrong labels, wrong values and information that the model lacks."
    )
    return Section("Largest errors", (first, *explained))


def _explained(facts: ReportData, i: int) -> list[Block]:
    """The evidence in a row, below the text if it is one."""
    why = facts.explain(np.array([i]), facts.classes[facts.y[i]])
    quote = [] if facts.texts is None else [_quote(why)]
    return [*quote, _evidence_in_row(facts, i, why.account(0, COLUMNS))]


def _quote(why: Any) -> Quote:
    """The beginning of a text, its words shaded by their evidence."""
    beginning: TextExplanation = replace(why, texts=(truncate(why.texts[0], CHARACTERS),))
    return Quote(tuple(Piece(*piece) for piece in with_shares(beginning.segments())))


def _evidence_in_row(facts: ReportData, row: int, account: EvidenceTable) -> Table:
    lines = [
        (
            truncate(line.name, NAME),
            line.value,
            _decibans(line.decibans),
            Bar(bar_share(line.decibans, account.largest)),
        )
        for line in account.lines
    ]
    p = facts.proba[row, facts.y[row]]
    held_out = f"; held out, P = {format_probability(p, 1 - p)}" if facts.cross_validated else ""
    head = ("column", "value") if facts.texts is None else ("word", "count")
    footer = ("total", "", _decibans(account.total), account.verdict)
    return Table(account.title + held_out, (*head, "decibans", SIDES), lines, footer)


def _error_table(facts: ReportData, order: np.ndarray) -> Table:
    rows = []
    for name, i in zip(facts.named_rows(order), order, strict=True):
        p, q = facts.proba[i, facts.y[i]], facts.proba[i, facts.predicted[i]]
        rows.append(
            (
                truncate(f"row {name}", NAME),
                truncate(facts.names[facts.y[i]], 40),
                format_probability(p, 1 - p),
                truncate(facts.names[facts.predicted[i]], 40),
                format_probability(q, 1 - q),
            )
        )
    return Table("Rows", ("row", "true class", "its probability", "predicted", "its probability"), rows)


# data

LISTED = 60  # columns


def data(facts: ReportData) -> Section:
    if facts.columns is None:
        size = facts.n * facts.d
        first = Paragraph(
            f"{facts.n:,} rows of {facts.d:,} columns, sparse: {facts.X.nnz:,} cells are not 0 "
            f"({100 * facts.X.nnz / size:.2g} %), {facts.X.nnz / facts.n:.1f} a row."
        )
        return Section("Data", (first, _class_table(facts)))
    missing = [column.missing for column in facts.columns]
    total, size = sum(int(m.sum()) for m in missing), facts.n * facts.d
    rows = int(np.logical_or.reduce(missing).sum())
    some = f"{total:,} of {size:,} cells are missing ({100 * total / max(size, 1):.2g} %), in {rows:,} rows."
    lines = [_column_line(facts, *pair) for pair in zip(facts.columns[:LISTED], missing, strict=False)]
    columns = Table("Columns", ("column", "kind", "missing", "distinct", "values"), lines, left=(0, 4))
    more = [Paragraph(f"{facts.d - LISTED:,} more columns are not listed.")] if facts.d > LISTED else []
    first = Paragraph(some if total else "No cell is missing.")
    return Section("Data", (first, columns, *more, _class_table(facts)))


def _class_table(facts: ReportData) -> Table:
    counts = np.bincount(facts.y, minlength=len(facts.classes))
    rows = [
        (truncate(name, NAME), f"{n:,}", f"{100 * n / facts.n:.1f} %")
        for name, n in zip(facts.names, counts, strict=True)
    ]
    return Table("Classes", ("class", "rows", "share"), rows)


def _column_line(facts: ReportData, column: frames.Column, missing: np.ndarray) -> tuple[str, ...]:
    """Name, kind, missing cells, distinct values; least, median and largest number, or the commonest levels."""
    present, name = column.values[~missing], truncate(facts.column_name(column), NAME)
    count, distinct = int(missing.sum()), len(np.unique(present))
    first = name, "number" if column.levels is None else "levels"
    absent = f"{count:,} ({100 * missing.mean():.1f} %)" if count else "–"
    if column.levels is None:
        low, middle, high = np.quantile(present, [0.0, 0.5, 1.0]) if len(present) else (np.nan,) * 3
        values = f"{low:.4g} … {middle:.4g} … {high:.4g}" if len(present) else "none"
        return (*first, absent, f"{distinct:,}", values)
    commonest = [
        f"{truncate(str(column.levels[code]), 20)} {100 * times / len(present):.0f} %"
        for code, times in Counter(present.tolist()).most_common(3)
    ]
    return (*first, absent, f"{distinct:,}", ", ".join(commonest) + ", …" * (distinct > 3))


LISTED_WORDS = 15


def text_data(facts: ReportData) -> Section:
    assert facts.texts is not None
    characters = np.array([len(text) for text in facts.texts])
    words = np.asarray(facts.words.sum(axis=1)).ravel()
    empty = sum(not text.strip() for text in facts.texts)
    copies = facts.n - len(set(facts.texts))
    first = Paragraph(
        f"{facts.n:,} texts; {empty:,} are empty, {copies:,} are copies of another. The model knows {facts.d:,} words."
    )
    rows = [_text_line("all", characters, words, facts.n)]
    for c, name in enumerate(facts.names):
        own = facts.y == c
        rows.append(_text_line(truncate(name, NAME), characters[own], words[own], facts.n))
    texts = Table(
        "Texts",
        ("class", "texts", "share", "words: least", "median", "most", "characters: median", "most"),
        rows,
        notes=("Only words that the model knows are counted.",),
    )
    return Section("Data", (first, texts, *_commonest_words(facts)))


def _text_line(name: str, characters: np.ndarray, words: np.ndarray, n: int) -> tuple[str, ...]:
    first = name, f"{len(words):,}", f"{100 * len(words) / n:.1f} %"
    if not len(words):
        return (*first, *"–––––")
    numbers = words.min(), np.median(words), words.max(), np.median(characters), characters.max()
    return (*first, *(f"{number:,.0f}" for number in numbers))


def _commonest_words(facts: ReportData) -> list[Block]:
    texts = np.bincount(facts.words.indices[facts.words.data > 0], minlength=facts.d)
    order = [j for j in np.argsort(-texts, kind="stable")[:LISTED_WORDS] if texts[j]]
    vocabulary = facts.model.vocabulary_
    rows = [(truncate(vocabulary[j], 40), f"{texts[j]:,}", f"{100 * texts[j] / facts.n:.1f} %") for j in order]
    return [Table("Commonest words", ("word", "texts", "share"), rows)] if rows else []


BY_COLUMN = (metrics, reliability, confusion, effects, largest_errors, data)
BY_WORD = (metrics, reliability, confusion, word_effects, largest_errors, text_data)


def sections(facts: ReportData, warnings: tuple[str, ...]) -> tuple[Section, ...]:
    """All sections that apply."""
    others = (part(facts) for part in (BY_COLUMN if facts.texts is None else BY_WORD))
    return (summary(facts, warnings), *(section for section in others if section is not None))


# an audit


def audit_sections(found: Audit) -> tuple[Section, ...]:
    """The findings of an audit: all of them in sentences, then a section each."""
    stats = [Stat("rows", f"{found.rows:,}", f"{len(found.counts):,} classes, {found.columns:,} columns")]
    labels = found.label_errors
    if labels is not None and not np.isnan(labels.wrong).all():
        share = 100 * labels.expected / max(len(labels), 1)
        stats.append(Stat("expected label errors", f"{labels.expected:,.0f}", f"{share:.1f} % of the rows"))
        stats.append(Stat("likely label errors", f"{int(labels.likely.sum()):,}", "P(wrong) above 0.5"))
    named = [(f"{one.name[0].upper()}{one.name[1:]}", one) for one in found.findings]
    alerts = Alerts("Findings", tuple(f"{name}: {one.sentence}" for name, one in named), "None.")
    summary = Section("Summary", (Stats(tuple(stats)), alerts, Paragraph(found.nothing, small=True)))
    out = [summary]
    for name, one in named:
        blocks: list[Block] = [Paragraph(one.sentence[0].upper() + one.sentence[1:]), Paragraph(one.advice)]
        if not one.table.rows:
            out.append(Section(name, tuple(blocks)))
        elif labels is not None and one.name == "label errors":
            table = labels.table(min(LISTED_LABELS, int(labels.likely.sum())))
            out.append(Section(name, (*blocks, replace(table, title="Least credible labels"), *_noise(labels))))
        else:
            out.append(Section(name, (*blocks, replace(one.table, title=f"{len(one.items):,} found"))))
    return tuple(out)


LISTED_LABELS = 50
NOISE_CLASSES = 12  # classes up to which the noise is shown


def _noise(labels: LabelErrors) -> list[Block]:
    """How often labels of each class are given to others, as a table."""
    if len(labels.classes) > NOISE_CLASSES:
        return []
    names = [truncate(str(label), NAME) for label in labels.classes.tolist()]
    most = max(float((labels.noise - np.diag(np.diag(labels.noise))).max()), 1e-12)
    rows: list[tuple[Cell, ...]] = [
        (name, *(Shaded(f"{100 * p:.1f} %", 0.0 if c == t else p / most, c == t) for c, p in enumerate(line)))
        for t, (name, line) in enumerate(zip(names, labels.noise.tolist(), strict=True))
    ]
    note = "Estimated share of the rows of each true class that are given each label."
    return [Table("Given label by true class", ("true / given", *names), rows, notes=(note,))]
