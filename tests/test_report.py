"""Reports: every classifier, honest numbers, warnings that are due, HTML that is whole and gives nothing a way out."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from functools import partial
from html.parser import HTMLParser
from importlib import resources

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.stats import chi2
from sklearn import metrics, naive_bayes
from sklearn.datasets import load_breast_cancer, load_iris

import deciban
from deciban.display import Table
from deciban.errors import DataError
from deciban.reports.checks import drift, run_checks, shares_moved
from deciban.reports.data import collect
from deciban.reports.render import POLICY, VARIABLES, environment
from deciban.rows.sampling import folds_by_content

from .support.data import table
from .support.models import CLASSES, rows_for

EVIL = "<script>alert(1)</script>\"'&amp; $x^{ `]]> --> url(http://evil.example/a) é 日本"
VOID = {"meta", "link", "br", "img"}


class Tree(HTMLParser):
    """What a page holds: tags with their attributes, ids, texts; and that all that is opened is closed."""

    def __init__(self, text: str):
        super().__init__()
        self.stack: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.words: list[str] = []
        self.feed(text)
        assert not self.stack

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    def all(self, tag: str) -> list[dict]:
        return [attrs for name, attrs in self.tags if name == tag]


def sound(html: str) -> Tree:
    """A page that is whole, accessible, and asks for nothing from elsewhere."""
    tree = Tree(html)
    ids = [attrs["id"] for _, attrs in tree.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    for _, attrs in tree.tags:
        for name, value in attrs.items():
            assert not name.startswith("on"), name
            if name in ("href", "src", "xlink:href", "data", "action"):
                assert re.match(r"#|data:", value), value
                assert not value.startswith("#") or value[1:] in ids, value
    assert not {"script", "iframe", "object", "embed", "form", "base"} & {name for name, _ in tree.tags}
    policies = [attrs["content"] for attrs in tree.all("meta") if attrs.get("http-equiv") == "Content-Security-Policy"]
    assert policies == [POLICY]
    for landmark in ("header", "nav", "main", "footer", "h1", "title"):
        assert len([a for a in tree.all(landmark) if landmark != "title" or "id" not in a]) == 1, landmark
    assert tree.all("a")[0] == {"class": "skip", "href": "#main"}
    assert tree.all("html")[0]["lang"] == "en"
    for attrs in tree.all("svg"):
        assert attrs["role"] == "img"
        assert attrs["aria-labelledby"] in ids
    assert all(attrs["scope"] in ("row", "col") for attrs in tree.all("th"))
    assert len(tree.all("caption")) == len(tree.all("table")) > 2
    for attrs in tree.all("section"):
        assert attrs["aria-labelledby"] in ids
    return tree


def headings(html: str) -> list[str]:
    return re.findall(r"<h2[^>]*>([^<]*)</h2>", html)


def breast():
    data = load_breast_cancer(as_frame=True)
    return data.data.iloc[:, :6], data.target_names[data.target]


# every classifier


@pytest.mark.parametrize("kind", [*CLASSES, deciban.LogisticRegression], ids=lambda kind: kind.__name__)
def test_every_classifier_has_a_report(kind):
    model, k = kind(), 2 + len(kind.__name__) % 2
    X, y = rows_for(model, n=120, k=k)
    model.fit(X[:80], y[:80])
    out = deciban.report(model, X[80:], y[80:], train=(X[:80], y[:80]), rows=2)
    sound(out.html)
    assert {"Summary", "Metrics", "Reliability", "Confusion", "Largest errors", "Data"} <= set(headings(out.html))
    assert "Feature effects" in headings(out.html)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_with_missing_cells(library):
    X, y = table(200)
    X = X if library == "pandas" else pl.from_pandas(X)
    model = deciban.MixedNB().fit(X[:120], y[:120])
    out = deciban.report(model, X[120:], y[120:], train=X[:120])
    tree = sound(out.html)
    assert "cells are missing" in out.html
    assert "sky" in tree.words


def test_sparse_counts():
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    X = sparse.csr_array(rng.poisson(0.2 + 0.3 * y[:, None] * (np.arange(40) < 10), (100, 40)))
    out = deciban.report(deciban.MultinomialNB().fit(X[:60], y[:60]), X[60:], y[60:], train=(X[:60], y[:60]))
    sound(out.html)
    assert "sparse" in out.html
    words = [f"word {j}" for j in range(40)]
    named = deciban.report(deciban.MultinomialNB().fit(X[:60], y[:60]), X[60:], y[60:], names=words).html
    assert "word 3" in sound(named).words
    assert "x3" not in sound(named).words
    with pytest.raises(DataError, match="3 names for 40 columns"):
        deciban.report(deciban.MultinomialNB().fit(X, y), X, y, names=["a", "b", "c"])


def test_classifiers_of_others_have_a_report_without_evidence():
    X, y = load_iris(return_X_y=True)
    out = deciban.report(naive_bayes.GaussianNB().fit(X[::2], y[::2]), X[1::2], y[1::2])
    sound(out.html)
    assert "Feature effects" not in headings(out.html)
    assert "Largest errors" in headings(out.html)


def test_many_classes_and_many_columns():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 30
    X = rng.normal(size=(300, 120)) + y[:, None] * 0.2
    out = deciban.report(deciban.GaussianNB().fit(X, y), X, y)
    sound(out.html)
    assert "60 more columns are not listed" in out.html
    assert "Most frequent errors" in out.html


# honest numbers


def test_numbers_equal_scikit_learns_and_lie_in_their_intervals():
    X, y = breast()
    model = deciban.GaussianNB().fit(X[::2], y[::2])
    out = deciban.report(model, X[1::2], y[1::2])
    proba, wanted = model.predict_proba(X[1::2]), y[1::2]
    theirs = {
        "accuracy": metrics.accuracy_score(wanted, model.predict(X[1::2])),
        "balanced accuracy": metrics.balanced_accuracy_score(wanted, model.predict(X[1::2])),
        "Brier score": 2 * metrics.brier_score_loss(wanted, proba[:, 1], pos_label="malignant"),
        "area under ROC": metrics.roc_auc_score(wanted == "malignant", model.decibans(X[1::2])[:, 1]),
    }
    for name, value in theirs.items():
        assert out.metrics[name][0] == pytest.approx(value), name
    assert all(low <= value <= high for value, low, high in out.metrics.values())


def test_a_small_calibration_error_lies_in_its_interval():
    data = load_breast_cancer(as_frame=True)
    model = deciban.MixedNB(calibrate=True).fit(data.data, data.target)
    value, low, high = deciban.report(model, data.data, data.target).metrics["calibration error"]
    assert 0 <= low < value < high


@pytest.mark.parametrize("model", [deciban.GaussianNB(), deciban.LogisticRegression(), deciban.MixedNB(calibrate=True)])
def test_rows_that_were_learned_from_are_cross_validated_and_it_is_said(model):
    X, y = rows_for(deciban.GaussianNB(), n=90, k=2)
    model = model.fit(X, y)
    facts = collect(model, X, y, None, None, 5, 0)
    fold = folds_by_content(X, np.unique(y, return_inverse=True)[1], 10)
    np.testing.assert_allclose(facts.log_proba, deciban.cross_validate(model, X, y, fold).log_proba)
    assert "cross-validated in 10 folds" in deciban.report(model, X, y).html
    np.testing.assert_array_equal(collect(model, X, y, None, True, 5, 0).log_proba, model.predict_log_proba(X))


def test_learned_rows_are_known_again_in_other_dtypes():
    X, y = rows_for(deciban.GaussianNB(), n=90, k=2)
    level = np.array(["low", "mid", "high"])[np.arange(90) % 3]
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(level=level)
    model = deciban.MixedNB(weights="discriminative").fit(frame, y)
    other = frame.assign(level=pd.Categorical(level, categories=["mid", "low", "high"], ordered=True))
    assert "cross-validated" in collect(model, other, y, None, None, 5, 0).how


def test_scores_of_rows_too_few_to_be_held_out_are_called_optimistic():
    X, y = [[0.0], [1.0], [2.0]], [0, 0, 1]
    out = deciban.report(deciban.LogisticRegression().fit(X, y), X, y)
    assert "the scores are optimistic" in out.html
    sound(out.html)


def test_the_most_surprising_rows_come_first_and_add_up():
    X, y = breast()
    model = deciban.GaussianNB().fit(X[::2], y[::2])
    log_proba = model.predict_log_proba(X[1::2])
    surprise = -log_proba[np.arange(len(log_proba)), (y[1::2] == "malignant").astype(int)]
    told = re.findall(r"<caption>row (\d+): ", deciban.report(model, X[1::2], y[1::2], rows=3).html)
    order = np.argsort(-surprise, kind="stable")[:3]
    assert [int(row) for row in told] == X.index[1::2][order].tolist()  # as the frame calls them


# warnings


def test_columns_that_know_the_outcome_are_named():
    X, y = breast()
    X = X.assign(later=np.where(y == "malignant", 1.0, np.nan), outcome=(y == "benign") * 1.0)
    out = deciban.report(deciban.MixedNB().fit(X, y), X, y)
    assert {"later", "outcome"} <= {re.findall("`(.*?)`", told)[0] for told in out.warnings if told.startswith("Leak")}


def test_drift_is_told_where_there_is_some_and_only_there():
    rng = np.random.default_rng(0)
    y = np.arange(1000) % 2
    X = pd.DataFrame({"a": rng.normal(size=1000), "b": rng.choice(list("uvw"), 1000), "c": rng.normal(size=1000)})
    later = X.assign(a=X["a"] + 1, b="new", c=X["c"].where(rng.random(1000) < 0.5))
    again = X.sample(frac=1, random_state=0).reset_index(drop=True)
    model = deciban.MixedNB().fit(X, y)
    assert {one.column for one in drift(X, later)} == {"a", "b", "c"}
    assert drift(X, again) == []
    told = deciban.report(model, later, y, train=(X, y)).warnings
    assert sum("Drift" in one for one in told) == 3
    assert any("a category that no training row has" in one for one in told)
    rare = deciban.report(model, X[:300], np.r_[np.zeros(290, int), np.ones(10, int)], train=(X, y)).warnings
    assert any(one.startswith("Drift of classes") for one in rare)


def test_counts_that_moved_are_found_by_pearsons_test():
    before, after = np.array([30.0, 50, 20, 0, 0]), np.array([45, 40, 10, 5, 0])
    expected = np.outer([100, 100], (before + after)[:4]) / 200
    statistic = ((np.stack([before, after])[:, :4] - expected) ** 2 / expected).sum()
    distance, chance = shares_moved(before, after)
    assert distance == pytest.approx(0.2)
    assert chance == pytest.approx(chi2.sf(statistic, 3))
    assert shares_moved(np.array([3, 0]), np.array([9, 0])) == (0.0, 1.0)  # one group
    assert shares_moved(np.array([3, 4]), np.array([0, 0])) == (0.0, 1.0)  # no rows


def test_chance_is_seldom_taken_for_drift():
    rng = np.random.default_rng(3)
    found = [len(drift(rng.normal(size=(200, 20)), rng.normal(size=(200, 20)))) for _ in range(20)]
    assert sum(found) <= 1


def test_duplicates_few_rows_and_unknown_classes_are_warnings():
    X, y = breast()
    model = deciban.GaussianNB().fit(X[:300], y[:300])
    assert any(
        "duplicates" in one for one in deciban.report(model, X[:100], y[:100], train=(X[:300], y[:300])).warnings
    )
    assert not any(
        "duplicates" in one for one in deciban.report(model, X[300:], y[300:], train=(X[:300], y[:300])).warnings
    )
    labels = y[300:].astype(object)
    labels[:3] = "other"
    told = run_checks(collect(model, X[300:], labels, None, None, 5, 0))
    assert any("does not know: other" in one for one in told)
    assert any("Few rows to evaluate" in one and "`other` (3)" in one for one in told)
    sound(deciban.report(model, X[300:], labels).html)


def test_true_classes_of_probability_zero_are_a_warning():
    model = deciban.MixedNB(families={0: "categorical"}, alpha=0).fit(
        np.array([["u"], ["v"]] * 20, object), [0, 1] * 20
    )
    out = deciban.report(model, np.array([["u"], ["u"], ["v"]], object), [0, 1, 1])
    assert any("predicted probability 0" in one for one in out.warnings)
    assert out.metrics["log loss"][0] == np.inf
    sound(out.html)


# the page


def hostile():
    X, y = breast()
    X = X.iloc[:, :4].rename(columns={"mean radius": EVIL}).assign(kind=np.where(X["mean area"] > 600, EVIL, "b"))
    return X, np.where(y == "benign", EVIL, "b<i>")


def test_hostile_names_stay_names():
    X, y = hostile()
    out = deciban.report(deciban.MixedNB().fit(X[::2], y[::2]), X[1::2], y[1::2], title=EVIL, train=X[::2])
    tree = sound(out.html)
    assert EVIL in tree.words
    assert "<script" not in out.html
    assert "<i>" not in out.html


@pytest.mark.parametrize("figures", [True, False])
def test_hostile_cells_stay_cells_wherever_they_are_shown(figures):
    """In names of rows and columns, levels, labels, the target, a setting of the model and all warnings."""
    names = [f"{EVIL}{i}" for i in range(4)]
    rng, y = np.random.default_rng(0), np.repeat([f"{EVIL}0", f"{EVIL}1", f"{EVIL}2"], 40)
    codes = np.repeat([0, 1, 2], 40)
    X = pd.DataFrame(
        {
            names[0]: rng.normal(size=120) + codes,
            names[1]: np.array([f"{EVIL}{c}" for c in codes], dtype=object),
            names[2]: rng.choice([f"{EVIL}", "b", None], 120),
        },
        index=[f"{EVIL}{i}" for i in range(120)],
    )
    X.iloc[[0, 119], 1] = X.iloc[[119, 0], 1].to_numpy()  # all but the target itself
    model = deciban.MixedNB(families={names[0]: "gaussian"}).fit(X, y)
    later = X.assign(**{names[2]: f"{EVIL}new"})
    out = deciban.report(model, later, y, train=(X, y), target=EVIL, figures=figures)
    tree = sound(out.html)
    assert "<script" not in out.html
    assert "alert(1)</" not in out.html
    assert not {"img", "b"} & {name for name, _ in tree.tags}
    shown = "".join(tree.words)
    assert shown.count("<script>") > 20
    assert any("Leak" in one for one in out.warnings)
    assert any("Drift" in one for one in out.warnings)
    assert "<script" not in out._repr_html_()


def test_nothing_but_style_and_figures_goes_into_the_page_unescaped():
    folder = resources.files("deciban.reports")
    templates = [file for file in folder.iterdir() if file.name.endswith(".j2")]
    text = "".join(file.read_text(encoding="utf-8") for file in templates)
    assert sorted(re.findall(r"([\w.]+) \| safe", text)) == ["css", "it.svg"]
    assert "autoescape" not in text
    assert environment().autoescape is True


def test_sections_are_data_without_html():
    """Every text of a section is text: tags come from the template, from tables and from figures alone."""
    X, y = breast()
    out = deciban.report(deciban.MixedNB().fit(X[::2], y[::2]), X[1::2], y[1::2])
    assert [section.title for section in out.sections] == headings(out.html)
    texts = list(strings(out.sections))
    assert len(texts) > 100
    tags = re.compile(r"</?[a-z]")
    assert [text for text in texts if tags.search(text)] == [text for text in texts if text.startswith("<svg ")]
    assert sum(text.startswith("<svg ") for text in texts) == 3


def strings(value):
    if isinstance(value, str):
        yield value
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from strings(getattr(value, field.name))
    elif isinstance(value, tuple | list):
        for one in value:
            yield from strings(one)


# without figures, and without libraries


def test_a_page_without_figures_has_numbers_in_their_place():
    X, y = breast()
    model = deciban.GaussianNB().fit(X[::2], y[::2])
    with_figures, without = (deciban.report(model, X[1::2], y[1::2], figures=figures) for figures in (True, False))
    tree = sound(without.html)
    assert not tree.all("svg")
    assert len(sound(with_figures.html).all("svg")) == 3
    assert (without.metrics, without.warnings) == (with_figures.metrics, with_figures.warnings)
    assert headings(without.html) == headings(with_figures.html)
    (table,) = (
        block for s in without.sections if s.title == "Reliability" for block in s.blocks if isinstance(block, Table)
    )
    score = model.predict_proba(X[1::2])[:, 1]
    low, high = (float(part) for part in table.rows[-1][0].split(" – "))
    inside = (score >= low) & (score <= high)
    assert table.rows[-1][1] == str(inside.sum())
    assert table.rows[-1][2] == f"{score[inside].mean():.3f}"
    assert table.rows[-1][3] == f"{(y[1::2] == 'malignant')[inside].mean():.3f}"
    assert sum(int(row[1].replace(",", "")) for row in table.rows) == len(score)


SCRIPT = """
import sys
for name in {missing!r}: sys.modules[name] = None
import deciban
X, y = [[0.0], [1.0], [2.0], [4.0], [5.0], [6.0]], ["a", "a", "a", "b", "b", "b"]
model = deciban.GaussianNB().fit(X, y)
texts = deciban.TextClassifier().fit(["tea", "milk", "cake", "rice"], ["drink", "drink", "food", "food"])
for figures in {figures!r}:
    for one, rows, labels in ((model, X, y), (texts, ["tea", "cake"], ["drink", "food"])):
        try:
            print(len(deciban.report(one, rows, labels, figures=figures).html) > 5000)
        except ImportError as error:
            print(*str(error).split())
    print("matplotlib" in sys.modules)
"""


def printed(missing: list[str], figures: list[bool]) -> list[str]:
    """For each choice of figures: whether there is a page of the table and of the texts, or the error; and whether
    matplotlib was imported."""
    script = SCRIPT.format(missing=missing, figures=figures)
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    return out.stdout.splitlines()


def test_a_page_without_figures_does_not_import_matplotlib():
    assert printed([], [False]) == ["True", "True", "False"]


def test_absence_of_matplotlib_or_jinja_is_an_error_with_a_hint():
    picture = "the figures of a report need matplotlib hint: pip install 'deciban[report]', or use figures=False"
    assert printed(["matplotlib"], [False, True]) == ["True", "True", "True", picture, picture, "True"]
    page = "a report needs Jinja2 hint: pip install 'deciban[report]'"
    assert printed(["jinja2"], [True]) == [page, page, "False"]


def test_the_same_rows_make_the_same_page():
    X, y = breast()
    model = deciban.GaussianNB().fit(X[::2], y[::2])
    assert deciban.report(model, X[1::2], y[1::2]).html == deciban.report(model, X[1::2], y[1::2]).html


def test_pages_are_written_whole_or_not_at_all(tmp_path, monkeypatch):
    X, y = rows_for(deciban.GaussianNB(), n=40, k=2)
    model, path = deciban.GaussianNB().fit(X, y), tmp_path / "report.html"
    out = deciban.report(model, X, y, path)
    assert path.read_text(encoding="utf-8") == out.html
    with monkeypatch.context() as patch, pytest.raises(OSError, match="full"):
        patch.setattr(os, "replace", partial(_fail, OSError("full")))
        deciban.report(model, X, y, path, title="another")
    assert path.read_text(encoding="utf-8") == out.html
    assert os.listdir(tmp_path) == ["report.html"]


def _fail(trouble, *_):
    raise trouble


def test_labels_of_another_kind_are_refused_with_a_cure():
    X, y = rows_for(deciban.GaussianNB(), n=40, k=2)
    model = deciban.GaussianNB().fit(X, y)
    with pytest.raises(DataError, match="hint: give y as it was given"):
        deciban.report(model, X, np.arange(40) % 2)
    with pytest.raises(DataError, match="one label for each row"):
        deciban.report(model, X, y[:-1])


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a: str, b: str) -> float:
    low, high = sorted([luminance(a), luminance(b)])
    return (high + 0.05) / (low + 0.05)


def css_colours() -> tuple[dict[str, str], dict[str, str]]:
    """The variables of the style in light and in dark mode."""
    css = resources.files("deciban.reports").joinpath("report.css").read_text(encoding="utf-8")
    light, dark = (re.findall(r":root \{(.*?)\}", css, re.DOTALL))[:2]
    return tuple(dict(re.findall(r"(--[\w-]+): (#\w{6});", block)) for block in (light, dark))  # type: ignore[return-value]


def test_text_stands_out_in_light_and_dark():
    for seen, least in zip(css_colours(), (1.9, 3), strict=True):
        for back in ("--background", "--card", "--alert"):
            assert contrast(seen["--text"], seen[back]) >= 7
            assert contrast(seen["--grey"], seen[back]) >= (4.5 if back != "--alert" else 3)
        assert contrast(seen["--class-1"], seen["--background"]) >= 4.5  # links
        assert all(contrast(seen[name], seen["--background"]) >= least for name in seen if name.startswith("--class"))


def test_the_style_has_the_colours_of_the_figures_in_light_and_dark():
    light, dark = css_colours()
    assert {variable: light[variable] for variable in VARIABLES.values()} == {v: c for c, v in VARIABLES.items()}
    assert light.keys() == dark.keys()
