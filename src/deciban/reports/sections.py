"""What the model believes: a nomogram of two classes, and for each class the columns that speak for it.

Which classes are taken for which.

What the rows are: every column's kind, gaps, range or levels.

How good the answers are, each number with its 95 % interval, beside one who knows the class shares alone.

Whether probabilities mean what they say, and how they rank the rows.

At a glance: the main numbers as tiles, and all warnings.

The rows that the model was most wrong about, and the evidence that misled it.

What the texts are: how many, how long, how many of them empty or there twice.

What a model of texts believes: for each class the words that speak loudest for it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from html import escape
from typing import Any

import numpy as np

from deciban import metrics, plots
from deciban.data import frames
from deciban.display import EvidenceTable, bar_share, cell_text, format_decibans, format_probability, truncate
from deciban.errors import DecibanError
from deciban.explain.text import WordEvidence, top_word_evidence
from deciban.metrics import Estimate
from deciban.reports.checks import Findings
from deciban.reports.data import ReportData, baseline_metrics, by_class
from deciban.reports.render import Cell, Section, bar, bullets, coded, figure, figure_svg, paragraph, table

CELLS = 20_000_000  # numbers that explanations of a class may take
ROWS = 500  # of a class that are looked at, at most
COLUMNS = 8
CLASSES = 12  # that are told about
SCALES = 12
LEVELS = 10  # of a scale


def beliefs_section(facts: ReportData, found: Findings) -> Section | None:
    try:
        body = _nomogram(facts) + _evidence(facts)
    except (AttributeError, DecibanError):  # not one of ours, or columns that cannot be told apart
        return None
    return Section("What it believes", body) if body else None


def _nomogram(facts: ReportData) -> str:
    model = facts.model
    if len(model.classes_) != 2 or not model._posterior().splits or facts.d > 1000:
        return ""
    of, against = model.classes_[1], model.classes_[0]

    def draw(fig: Any) -> None:
        plots.nomogram(model, columns=SCALES, values=_commonest(facts), names=facts.called, ax=fig.subplots())

    told = f"Nomogram: the decibans that each value of the strongest columns adds for {of} against {against}"
    high = 2.4 + 0.52 * min(facts.d, SCALES)
    svg = figure_svg(draw, 7.6, high, told, "picture-nomogram")
    how = (
        "Find a row's cells on the scales, read their decibans off the ruler on top, add them up, and find the sum "
        "on the ruler at the bottom: its probability stands below it."
    )
    return figure(svg, how)


def _commonest(facts: ReportData) -> dict[str, np.ndarray]:
    """Of columns with many levels, the commonest: a scale with a thousand names is read by nobody."""
    out = {}
    for column in facts.columns or []:
        if column.levels is not None and len(column.levels) > LEVELS:
            seen = np.bincount(column.values[~column.missing], minlength=len(column.levels))
            first = np.argsort(-seen, kind="stable")[:LEVELS]
            out[facts.column_name(column)] = np.array([*(column.levels[i] for i in first), None], dtype=object)[:-1]
    return out


def _evidence(facts: ReportData) -> str:
    """For each class, the columns that speak loudest for its rows."""
    size = len(facts.model.classes_) * facts.d
    rows = min(ROWS, CELLS // max(size, 1))
    if rows < 10:
        return paragraph(f"{facts.d:,} columns are too many to be listed one by one.")
    rng = np.random.default_rng(facts.seed)
    if not facts.model._posterior().splits:
        return _together(facts, rows, rng)
    out = []
    for c in np.flatnonzero(facts.known)[:CLASSES]:
        mine = np.flatnonzero(facts.y == c)
        if len(mine):
            some = np.sort(rng.permutation(mine)[:rows])
            out.append(_of_class(facts, c, some))
    left = int(facts.known.sum()) - CLASSES
    more = paragraph(f"{left} more classes are not listed.") if left > 0 else ""
    lead = paragraph(
        "Mean evidence of each column for the right class against its closest rival, over rows of the class. "
        "A negative number means that the column misleads more than it helps."
    )
    return lead + "".join(out) + more


def _together(facts: ReportData, rows: int, rng: np.random.Generator) -> str:
    """Where columns interact, what they say together."""
    mean = {}
    for c in np.flatnonzero(facts.known & (np.bincount(facts.y, minlength=len(facts.known)) > 0)):
        some = np.sort(rng.permutation(np.flatnonzero(facts.y == c))[:rows])
        mean[facts.names[c]] = float(np.clip(facts.explain(some, facts.classes[c]).decibans, -100, 100).mean())
    largest = max([abs(value) for value in mean.values()], default=0.0) or 1.0
    lines = [[truncate(name, 60), f"{v:+.1f}".replace("-", "−"), bar(v / largest)] for name, v in mean.items()]
    told = paragraph("Columns of this model interact, so none has evidence of its own: this is what all say together.")
    return told + table("Evidence for the right class", ["class", "decibans", Cell("against ← → for", "middle")], lines)


def _of_class(facts: ReportData, c: int, some: np.ndarray) -> str:
    why = facts.explain(some, facts.classes[c])
    evidence = np.clip(np.nan_to_num(why.decibans, nan=0.0), -100.0, 100.0).mean(axis=0)
    order = np.argsort(-np.abs(evidence), kind="stable")[:COLUMNS]
    largest = max(float(np.abs(evidence).max(initial=0.0)), 1e-9)
    lines = [
        [
            truncate(why.columns[j], 60),
            _typical(why.values[:, j]),
            f"{evidence[j]:+.1f}".replace("-", "−"),
            bar(evidence[j] / largest),
        ]
        for j in order
    ]
    name = f"Evidence for {truncate(facts.names[c], 60)}"
    return table(name, ["column", "typical cell", "decibans", Cell("against ← → for", "middle")], lines)


def _typical(cells: np.ndarray) -> str:
    """The median of numbers, the commonest of levels."""
    column = frames.from_objects("", np.asarray(cells, dtype=object)) if cells.dtype == object else None
    if column is None or column.levels is None:
        values = np.asarray(cells if column is None else column.values, dtype=np.float64)
        values = values[~np.isnan(values)]
        return cell_text(float(np.median(values))) if len(values) else "missing"
    seen = np.bincount(column.values[~column.missing], minlength=len(column.levels))
    if not seen.any():
        return "missing"
    return cell_text(column.levels[int(seen.argmax())]) if seen.max() > 1 else "(all differ)"


SQUARE = 20  # classes up to which all pairs are shown
BOTH = 8  # up to which a share stands beside each count
PAIRS = 12  # of which the commonest mistakes are shown else


def confusion_section(facts: ReportData, found: Findings) -> Section:
    k = len(facts.classes)
    counts = metrics.confusion(facts.y, facts.predicted, k)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    body = _square(facts, counts, share) if k <= SQUARE else ""
    wrong = [(i, j) for i in range(k) for j in range(k) if i != j and counts[i, j]]
    wrong.sort(key=lambda pair: -counts[pair])
    if k > 2 and wrong:
        lines = [
            [
                f"{truncate(facts.names[i], 40)} → {truncate(facts.names[j], 40)}",
                f"{counts[i, j]:,.0f}",
                f"{100 * share[i, j]:.1f} %",
            ]
            for i, j in wrong[:PAIRS]
        ]
        body += table("Commonest mistakes", ["true class → predicted", "rows", "of the true class"], lines)
    if not wrong:
        body += paragraph("No row is taken for another class.")
    return Section("Confusion", body)


def _cell(count: float, share: float, k: int) -> str:
    return f"{count:,.0f} ({100 * share:.0f} %)" if count and k <= BOTH else f"{count:,.0f}"


def _square(facts: ReportData, counts: np.ndarray, share: np.ndarray) -> str:
    rows = []
    for i, name in enumerate(facts.names):
        cells = [
            Cell(_cell(counts[i, j], share[i, j], len(share)), "shade right" if i == j else "shade", share[i, j])
            for j in range(len(facts.names))
        ]
        rows.append([truncate(name, 40), *cells])
    head = ["true ↓ predicted →", *(truncate(name, 16) for name in facts.names)]
    return table("True and predicted classes", head, rows)


MOST = 60  # columns that are listed


def data_section(facts: ReportData, found: Findings) -> Section:
    share = np.bincount(facts.y, minlength=len(facts.classes)) / facts.n
    classes = table(
        "Classes",
        ["class", "rows", "share"],
        [
            [truncate(name, 60), f"{s * facts.n:,.0f}", f"{100 * s:.1f} %"]
            for name, s in zip(facts.names, share, strict=True)
        ],
    )
    if facts.columns is None:
        cells = facts.n * facts.d
        body = paragraph(
            f"{facts.n:,} rows of {facts.d:,} columns, sparse: {facts.X.nnz:,} cells are not 0 "
            f"({100 * facts.X.nnz / cells:.2g} %), {facts.X.nnz / facts.n:.1f} a row."
        )
        return Section("Data", body + classes)
    gaps = [column.missing for column in facts.columns]
    whole = sum(g.sum() for g in gaps)
    rows = np.logical_or.reduce(gaps)
    told = (
        f"{whole:,} of {facts.n * facts.d:,} cells are missing ({100 * whole / max(facts.n * facts.d, 1):.2g} %), "
        f"in {rows.sum():,} rows."
        if whole
        else "No cell is missing."
    )
    lines = [_line(facts, column, gone) for column, gone in zip(facts.columns[:MOST], gaps, strict=False)]
    head = ["column", "kind", "missing", "distinct", Cell("values", "text")]
    more = facts.d - MOST
    left = paragraph(f"{more:,} more columns are not listed.") if more > 0 else ""
    return Section("Data", paragraph(told) + table("Columns", head, lines) + left + classes)


def _line(facts: ReportData, column: frames.Column, gone: np.ndarray) -> list:
    there, name = column.values[~gone], truncate(facts.column_name(column), 60)
    count = int(gone.sum())
    missing = f"{count:,} ({100 * gone.mean():.1f} %)" if count else "–"
    if column.levels is None:
        low, middle, high = np.quantile(there, [0.0, 0.5, 1.0]) if len(there) else (np.nan,) * 3
        told = f"{low:.4g} … {middle:.4g} … {high:.4g}" if len(there) else "none"
        return [name, "number", missing, f"{len(np.unique(there)):,}", Cell(told, "text")]
    seen = Counter(there.tolist()).most_common(3)
    told = ", ".join(
        f"{truncate(str(column.levels[code]), 20)} {100 * times / len(there):.0f} %" for code, times in seen
    )
    distinct = len(np.unique(there))
    return [name, "levels", missing, f"{distinct:,}", Cell(told + ", …" * (distinct > 3), "text")]


MEANING = {
    "accuracy": "share of rows whose most probable class is right",
    "balanced accuracy": "the same, averaged over the classes",
    "log loss": "mean surprise at the right class, in nats; less is better",
    "Brier score": "mean squared error of all probabilities, 0 … 2; less is better",
    "calibration error": "how far confidence is from being right; less is better",
    "area under ROC": "probability that a row of the second class ranks above one of the first",
}


def metrics_section(facts: ReportData, found: Findings) -> Section:
    base = baseline_metrics(facts)
    rows = [
        [name, f"{e.value:.4f}", _between(e), f"{base[name]:.4f}" if name in base else "–", Cell(MEANING[name], "text")]
        for name, e in found.measures.items()
    ]
    whole = table(
        "All rows", ["measure", "value", "95 % interval", "class shares alone", Cell("meaning", "text")], rows
    )
    each = table(
        "Class by class",
        ["class", "rows", "recall", "95 % interval", "precision", "95 % interval"],
        [
            [truncate(name, 60), f"{n:,}", _value(recall), _between(recall), _value(precision), _between(precision)]
            for name, n, recall, precision in by_class(facts)
        ],
    )
    note = paragraph(
        "Intervals: Wilson's for shares, mean ± 1.96 standard errors for losses, DeLong's for the area, "
        "rows drawn again for the calibration error. Recall is the share of a class that was found, precision the "
        "share of what was called so that is."
    )
    return Section("How good it is", whole + each + note.replace("<p>", '<p class="note">'))


def _value(e: Estimate) -> str:
    return "–" if e.value != e.value else f"{e.value:.3f}"


def _between(e: Estimate) -> str:
    return "–" if e.value != e.value else f"{e.low:.3f} – {e.high:.3f}"


SURE = 0.02  # calibration error up to which confidence is as good as accuracy, and difference that is worth a word
CURVES = 7  # classes up to which each has a ROC curve


def reliability_section(facts: ReportData, found: Findings) -> Section:
    confidence, right = float(facts.proba[facts.judged].max(axis=1).mean()), found.measures["accuracy"].value
    e = found.measures["calibration error"]
    told = paragraph(
        f"On average the model gives its choice a probability of {confidence:.3f}, and is right in {right:.3f}. "
        f"The calibration error is {e.value:.3f} ({e.low:.3f} – {e.high:.3f}): {verdict(confidence - right, e)}."
    )
    labels = facts.classes[facts.y]

    def reliable(fig) -> None:
        plots.reliability(labels, facts.proba, fig.subplots(), classes=facts.classes)

    def ranked(fig) -> None:
        plots.roc(labels, facts.proba, fig.subplots(), classes=facts.classes)

    pictures = figure(
        figure_svg(reliable, 4.4, 4.2, f"Reliability diagram: calibration error {e.value:.3f}", "picture-reliability"),
        "Points on the dashed line are calibrated: what is given 70 % happens in 70 %. Grey columns: how many rows.",
    )
    if len(facts.classes) <= CURVES:
        pictures += figure(
            figure_svg(ranked, 4.4, 4.2, "ROC curves, each class against the rest", "picture-roc"),
            "Hits over false alarms, for every threshold; the dashed line is guessing.",
        )
    return Section("Reliability", told + f'<div class="pair">{pictures}</div>')


def verdict(gap: float, error: Estimate) -> str:
    """Whether probabilities can be taken at their word, by the calibration error and its interval; `gap` is mean
    confidence less accuracy.

    >>> verdict(0.0, Estimate(0.077, 0.05, 0.10))
    'it is too sure of some rows and not sure enough of others'
    >>> verdict(0.0, Estimate(0.01, 0.0, 0.02)), verdict(0.0, Estimate(0.03, 0.0, 0.06))
    ('it is about as sure as it is right', 'these rows are too few to say whether it is as sure as it is right')
    """
    if error.high <= 2 * SURE:
        return "it is about as sure as it is right"
    if error.low <= SURE:
        return "these rows are too few to say whether it is as sure as it is right"
    if abs(gap) < SURE:
        return "it is too sure of some rows and not sure enough of others"
    return "it is too sure of itself" if gap > 0 else "it is not sure enough"


SHOWN = ("accuracy", "log loss", "area under ROC", "calibration error")


def summary_section(facts: ReportData, found: Findings) -> Section:
    tiles = [("rows judged", f"{facts.n:,}", f"{len(facts.classes)} classes, {facts.d:,} {facts.what}")]
    for name in SHOWN:
        if name in found.measures:
            e = found.measures[name]
            tiles.append((name, f"{e.value:.3f}", f"{e.low:.3f} – {e.high:.3f}"))
    body = "".join(
        f"<div><dt>{escape(name)}</dt><dd><strong>{escape(value)}</strong><small>{escape(more)}</small></dd></div>"
        for name, value, more in tiles
    )
    warned = (
        bullets([coded(told) for told in found.doubts], "warnings")
        if found.doubts
        else paragraph("Nothing to warn of was found.")
    )
    return Section("Summary", f'<dl class="tiles">{body}</dl>{paragraph(facts.how)}<h3>Warnings</h3>{warned}')


CHARACTERS = 700  # of a text that are shown


def surprises_section(facts: ReportData, found: Findings) -> Section | None:
    known = facts.known[facts.y] & facts.judged
    surprise = np.where(known, -facts.log_proba[np.arange(facts.n), facts.y], -1.0)
    order = np.argsort(-surprise, kind="stable")[: facts.rows]
    order = order[surprise[order] > 0]
    if not len(order) or len(facts.model.classes_) < 2:
        return None
    lead = paragraph(
        "Decibans of evidence for the right class against the one that the model likes best beside it: 10 are odds of "
        "10 : 1, negative ones speak against it. Look here for wrong labels, odd cells and what the model lacks."
    )
    try:
        accounts = _accounts(facts, order)
    except (AttributeError, DecibanError):  # not one of ours, or too many columns
        return Section("Most surprising rows", _plain(facts, order))
    return Section(
        "Most surprising rows",
        lead + "".join(_told(facts, i, account, above) for i, (account, above) in zip(order, accounts, strict=True)),
    )


def _accounts(facts: ReportData, order: np.ndarray) -> list[tuple[EvidenceTable, str]]:
    """What is said about each row, and what is to be seen of it first."""
    labels = facts.classes[facts.y[order]]
    if facts.texts is not None:
        alone = [facts.explain(order[i : i + 1], labels[i]) for i in range(len(order))]
        return [(why.account(0, COLUMNS), _quoted(why)) for why in alone]
    why = facts.explain(order, labels)
    return [(why.account(i, COLUMNS), "") for i in range(len(order))]


def _quoted(why: Any) -> str:
    """The beginning of a text, its words shaded by what they say."""
    cut = replace(why, texts=(truncate(why.texts[0], CHARACTERS),))
    return f"<blockquote>{cut.shaded()}</blockquote>"


def _told(facts: ReportData, row: int, account: EvidenceTable, above: str) -> str:
    lines = [
        [
            truncate(line.name, 60),
            line.value,
            format_decibans(line.decibans).replace("-", "−"),
            bar(bar_share(line.decibans, account.largest)),
        ]
        for line in account.lines
    ]
    foot = ["total", "", format_decibans(account.total).replace("-", "−"), account.verdict]
    p = facts.proba[row, facts.y[row]]
    title = account.title + (f"; P = {format_probability(p, 1 - p)} by the model without it" if facts.anew else "")
    of = ["column", "value"] if facts.texts is None else ["word", "times"]
    return above + table(title, [*of, "decibans", Cell("against ← → for", "middle")], lines, foot)


def _plain(facts: ReportData, order: np.ndarray) -> str:
    rows = []
    for place, i in enumerate(order):
        p, q = facts.proba[i, facts.y[i]], facts.proba[i, facts.predicted[i]]
        said = truncate(facts.names[facts.predicted[i]], 40)
        rows.append(
            [
                truncate(f"row {facts.named_rows(order)[place]}", 60),
                truncate(facts.names[facts.y[i]], 40),
                format_probability(p, 1 - p),
                said,
                format_probability(q, 1 - q),
            ]
        )
    return table("Rows", ["row", "true class", "its probability", "predicted", "its probability"], rows)


COMMON = 15  # words that are listed


def texts_section(facts: ReportData, found: Findings) -> Section:
    assert facts.texts is not None
    letters = np.array([len(text) for text in facts.texts])
    words = np.asarray(facts.words.sum(axis=1)).ravel()
    empty = sum(not text.strip() for text in facts.texts)
    twice = facts.n - len(set(facts.texts))
    told = paragraph(
        f"{facts.n:,} texts; {empty:,} are empty, {twice:,} are copies of another. The model knows {facts.d:,} words."
    )
    lines = [_text_line("all", letters, words, facts.n)]
    for c, name in enumerate(facts.names):
        mine = facts.y == c
        lines.append(_text_line(truncate(name, 60), letters[mine], words[mine], facts.n))
    head = ["class", "texts", "share", "words: least", "median", "most", "characters: median", "most"]
    note = paragraph("Words are those that the model knows.").replace("<p>", '<p class="note">')
    return Section("Data", told + table("Texts", head, lines) + note + _commonest_words(facts))


def _text_line(name: str, letters: np.ndarray, words: np.ndarray, n: int) -> list[str]:
    first = [name, f"{len(words):,}", f"{100 * len(words) / n:.1f} %"]
    if not len(words):
        return [*first, *"–––––"]
    numbers = [words.min(), np.median(words), words.max(), np.median(letters), letters.max()]
    return [*first, *(f"{number:,.0f}" for number in numbers)]


def _commonest_words(facts: ReportData) -> str:
    there = np.bincount(facts.words.indices[facts.words.data > 0], minlength=facts.d)
    order = [j for j in np.argsort(-there, kind="stable")[:COMMON] if there[j]]
    vocabulary = facts.model.vocabulary_
    lines = [[truncate(vocabulary[j], 40), f"{there[j]:,}", f"{100 * there[j] / facts.n:.1f} %"] for j in order]
    return table("Commonest words", ["word", "texts", "share"], lines) if lines else ""


WORDS = 12


def words_section(facts: ReportData, found: Findings) -> Section | None:
    said = {label: words for label, words in top_word_evidence(facts.model, WORDS).items() if words}
    if not said:
        return None
    largest = max(abs(one.decibans) for words in said.values() for one in words) or 1.0
    tables = [_words_of_class(str(label), words, largest) for label, words in list(said.items())[:CLASSES]]
    lead = paragraph(
        "Words that tell each class from the rest, with what each says as a text by itself, and in how many training "
        "texts it was."
    )
    left = len(said) - CLASSES
    more = paragraph(f"{left} more classes are not listed.") if left > 0 else ""
    return Section("What it believes", lead + f'<div class="pair">{"".join(tables)}</div>' + more)


def _words_of_class(name: str, words: list[WordEvidence], largest: float) -> str:
    lines = [
        [
            truncate(one.word, 40),
            f"{one.own:,}",
            f"{one.others:,}",
            format_decibans(one.decibans).replace("-", "−"),
            bar(one.decibans / largest),
        ]
        for one in words
    ]
    head = ["word", "texts", "other texts", "decibans", Cell("for →", "middle")]
    return table(f"Words for {truncate(name, 60)}", head, lines)
