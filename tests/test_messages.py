"""The wording of errors, in one table: call → class and full message. Other tests ask for the class, and for the name
of what is wrong at most."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import deciban
from deciban import BernoulliNB, GaussianNB, LogisticRegression, MixedNB, MultinomialNB, TextClassifier
from deciban.errors import DataError, ForgetError, MergeError, ModelFileError, NotAdditiveError, SupportError

X = np.array([[0.0, 1.0], [1.0, 0.5], [2.0, 2.0], [3.0, 1.5]])
Y = np.array(["a", "b", "a", "b"])
FRAME = pd.DataFrame({"age": [30.0, 40.0, 50.0, 60.0], "sky": ["grey", "blue", "blue", "grey"]})
MANY, LABELS = np.tile(X, (4, 1)), np.tile(Y, 4)


def with_cell(value: float) -> np.ndarray:
    cells = X.copy()
    cells[2, 1] = value
    return cells


def labels(*values: Any) -> np.ndarray:
    return np.array(values, dtype=object)


def gauss(**settings: Any) -> GaussianNB:
    return GaussianNB(**settings).fit(X, Y)


def started() -> GaussianNB:
    return GaussianNB().partial_fit(X, Y, classes=["a", "b"])


TABLE: list[tuple[Callable[[], Any], type[Exception], str]] = [
    # coded columns
    (
        lambda: GaussianNB().fit(FRAME, Y).predict(FRAME.assign(age="old")),
        DataError,
        "column `age` holds str (such as 'old'), but was learned as numbers\n\n"
        "hint: convert it to numbers, missing cells as NaN or None",
    ),
    (
        lambda: GaussianNB().fit(FRAME, Y).predict(FRAME.assign(age=pd.Timestamp(0))),
        DataError,
        "column `age` holds dates, but was learned as numbers\n\nhint: give numbers, as in training",
    ),
    (
        lambda: GaussianNB().fit(FRAME, Y).predict(FRAME.assign(sky=1.5)),
        DataError,
        "column `sky` holds float (such as 1.5), but was learned from str (such as 'blue')\n\n"
        "hint: convert it to the type that it had in training",
    ),
    (
        lambda: GaussianNB().fit(FRAME, Y) + GaussianNB().fit(FRAME.assign(sky="red"), Y),
        MergeError,
        "column `sky` is coded differently in the two models\n\n"
        "hint: fit one model on all rows; or go on with `partial_fit`, for which new levels are no evidence",
    ),
    (
        lambda: BernoulliNB().fit(FRAME, Y).sample(),
        DataError,
        "this BernoulliNB has probabilities of single indicators: rows drawn from these make no table\n\n"
        "hint: CategoricalNB, MixedNB and TreeAugmentedNB draw tables with categories",
    ),
    (
        lambda: MultinomialNB().fit_on(FRAME.assign(label=Y)),
        DataError,
        "column `sky` holds text, 'grey' in row 0\n\n"
        "hint: MixedNB takes such columns, and so do all models but those of counts; or exclude it: features=[…]",
    ),
    (
        lambda: LogisticRegression().fit(FRAME[["sky"]].assign(sky="red"), Y),
        DataError,
        "no column is left to learn from: every column has one value\n\n"
        "hint: give columns of numbers or categories; TextClassifier learns from texts",
    ),
    # linear views
    (
        lambda: MixedNB(families={"age": "gaussian"}, alpha=1).fit(FRAME, Y).as_logistic(),
        DataError,
        "the posterior of this MixedNB is not linear in x: `age` is not\n\n"
        "hint: as_logistic(degree=2) has squares and products of columns, too",
    ),
    (
        lambda: GaussianNB(variances="shared", estimate="bayes").fit(X, Y),
        DataError,
        "variances='shared' with estimate='bayes', which integrates out a variance for each class\n\n"
        "hint: LinearDiscriminantAnalysis(estimate='bayes') integrates out one covariance for all classes",
    ),
    # cells
    (
        lambda: GaussianNB().fit(with_cell(np.inf), Y),
        SupportError,
        "Input X contains infinity (first in row 2, column 1)\n\n"
        "hint: remove the cell's row, or put NaN there: a missing cell is ignored",
    ),
    (
        lambda: LogisticRegression().fit(with_cell(np.nan), Y),
        SupportError,
        "Input X contains NaN (first in row 2, column 1), and LogisticRegression takes no missing values\n\n"
        "hint: MixedNB does, and LogisticRegression of a frame that has some in training; or fill them in first "
        "(sklearn.impute)",
    ),
    (
        lambda: MultinomialNB().fit(-X, Y),
        SupportError,
        "Negative values in data passed to MultinomialNB (input X): first in row 0, column 1\n\n"
        "hint: counts are ≥ 0; for real numbers use GaussianNB",
    ),
    (
        lambda: MultinomialNB().fit(FRAME, Y),
        DataError,
        "column `sky` holds text, 'grey' in row 0, and this model takes numbers\n\n"
        "hint: MixedNB takes such columns; or make numbers of them (sklearn.preprocessing.OneHotEncoder)",
    ),
    (
        lambda: TextClassifier().fit(X, Y),
        DataError,
        "texts of shape (4, 2), one row of texts is needed\n\nhint: pass one column: X[:, 0]",
    ),
    # columns
    (
        lambda: MixedNB(columns="strict").fit(FRAME, Y).predict(FRAME[["sky"]]),
        DataError,
        "`age` is not in X (columns='strict')\n\nhint: the columns of training are `age`, `sky`",
    ),
    (
        lambda: MixedNB().fit(pd.concat([FRAME, FRAME[["age"]]], axis=1), Y),
        DataError,
        "two columns are named `age`\n\nhint: give every column a name of its own",
    ),
    (
        lambda: MixedNB(families={"aeg": "gaussian"}).fit(FRAME, Y),
        DataError,
        "families name `aeg`, but the columns are `age`, `sky`\n\n"
        "hint: use the column names of X, or numbers (0, 1, …) if X is an array",
    ),
    (
        lambda: MixedNB(families={"age": "poisson"}).fit(FRAME.assign(age=FRAME["age"] + 0.5), Y),
        SupportError,
        "column `age` has 30.5 in row 0, but `poisson` needs whole numbers ≥ 0\n\n"
        "hint: use another family for `age`, such as `gaussian` or `histogram`, or correct the cell",
    ),
    # labels
    (
        lambda: LogisticRegression().fit(X, ["a"] * 4),
        DataError,
        "This solver needs samples of at least 2 classes in the data, but the data contains only one class: 'a'\n\n"
        "hint: a model of one class has nothing to learn",
    ),
    (
        lambda: GaussianNB().fit(X, labels("a", 1, "a", 1)),
        DataError,
        "one label is a text ('a'), another of type int (1)\n\nhint: make all labels texts",
    ),
    (
        lambda: GaussianNB().fit(X, labels("a", None, "a", "b")),
        DataError,
        "Input y contains NaN: the target has no label in row 1\n\nhint: leave out the rows without a label",
    ),
    (
        lambda: GaussianNB().fit_on([FRAME[["age"]].assign(label=Y), FRAME[["age"]].assign(label=[0, 1, 0, 1])]),
        DataError,
        "the labels are texts (such as 'a') in some parts of the data and numbers (such as 0) in others\n\n"
        "hint: write the target as the same type in all parts",
    ),
    (
        lambda: gauss() + GaussianNB().fit(X, [0, 1, 0, 1]),
        MergeError,
        "the labels are texts (such as 'a') in one model and numbers (such as 0) in the other\n\n"
        "hint: fit both with labels of the same type",
    ),
    (
        lambda: MixedNB(class_weight={"maybe": 2.0}).fit(FRAME, Y),
        DataError,
        "class_weight names 'maybe', but the classes are ['a', 'b']\n\nhint: name classes of y",
    ),
    (
        lambda: gauss().predict_proba(X, priors={"a": 1.0, "c": 1.0}),
        DataError,
        "`priors` names 'c', which is not a class\n\nhint: name each of the classes 'a', 'b' once",
    ),
    (
        lambda: gauss(priors=[0.5, 0.2, 0.3]),
        DataError,
        "Number of priors must match number of classes. `priors` has shape (3,) and there are 2 classes\n\n"
        "hint: give one probability for each of 'a', 'b', in that order or by label",
    ),
    # weights
    (
        lambda: GaussianNB().fit(X, Y, sample_weight=[1, -3, 1, 1]),
        DataError,
        "sample_weight is -3 in row 1, but weights are ≥ 0\n\n"
        "hint: a row of weight 0 counts for nothing; generative models `forget` rows",
    ),
    (
        lambda: GaussianNB().fit(X, Y, sample_weight=np.zeros(4)),
        DataError,
        "sample_weight is zero for every sample\n\nhint: give at least one row a positive weight",
    ),
    # updates, sums, forgetting
    (
        lambda: GaussianNB().partial_fit(X, Y),
        DataError,
        "classes must be passed on the first call to partial_fit.\n\n"
        "hint: classes=[...] names all labels that may occur; or begin with `fit`",
    ),
    (
        lambda: started().partial_fit(X, ["a", "c", "a", "b"]),
        DataError,
        "The target label(s) ['c'] in y do not exist in the initial classes ['a' 'b']\n\n"
        "hint: pass all labels that may occur as `classes` in the first call",
    ),
    (
        lambda: gauss().leave_one_out(X + 9, Y),
        ForgetError,
        "row 0 of class 'a' was never learned\n\n"
        "hint: leave out only rows that went through fit or partial_fit, with their labels and weights",
    ),
    (
        lambda: TextClassifier().fit(["tea", "cake"], ["a", "b"]).leave_one_out(["tea", "tea"], ["a", "b"]),
        ForgetError,
        "text 1 was never learned with its label\n\n"
        "hint: leave out only texts that went through fit or partial_fit, with their labels",
    ),
    (
        lambda: gauss().forget([[40.0, 1.0]], ["a"]),
        ForgetError,
        "row 0 (40, 1) of class 'a' was never learned, or is removed already\n\n"
        "hint: forget only rows (and weights) that went through fit or partial_fit, with their labels",
    ),
    (
        lambda: gauss().forget(X[[0, 0, 2]], ["a"] * 3),
        ForgetError,
        "3 rows of class 'a' to forget, but the model has 2\n\n"
        "hint: forget only rows (and weights) that went through fit or partial_fit, with their labels",
    ),
    (
        lambda: gauss() + gauss(var_smoothing=0.1),
        MergeError,
        "`var_smoothing` is 1e-09 in one model and 0.1 in the other\n\nhint: fit both with the same settings",
    ),
    (
        lambda: GaussianNB(weights="discriminative", keep_rows=0).fit(MANY, LABELS).forget(X[:1], ["a"]),
        NotAdditiveError,
        "weights='discriminative' is fitted to a sample of the training rows, of which this model keeps none: no "
        "update, merge or forgetting\n\n"
        "hint: fit again with keep_rows above 0, and save with rows=True",
    ),
    # names
    (
        lambda: GaussianNB(var_smothing=1),  # type: ignore[call-arg]
        TypeError,
        "GaussianNB has no setting `var_smothing`\n\nhint: did you mean `var_smoothing`?",
    ),
    (
        lambda: deciban.GausianNB,  # type: ignore[attr-defined]
        AttributeError,
        "module 'deciban' has no attribute 'GausianNB'\n\nhint: did you mean GaussianNB?",
    ),
    (
        lambda: gauss().decide(X, costs={("a", "z"): 1.0}),
        DataError,
        "costs names 'z'\n\nhint: the classes are ['a', 'b']",
    ),
    (
        lambda: gauss().explain(X, of="eggs"),
        DataError,
        "class 'eggs' is not among ['a', 'b']\n\nhint: `of` and `against` are classes of the model",
    ),
    (
        lambda: gauss().explain(X, form="logs"),
        DataError,
        "`form` is 'logs'\n\nhint: 'decibans' or 'fractions'",
    ),
    (
        lambda: LogisticRegression().fit(X, Y).explain(X, form="fractions"),
        DataError,
        "LogisticRegression does not multiply fractions: it has no p(x | class) by column\n\n"
        "hint: explain it with form='decibans'",
    ),
    (
        lambda: deciban.LinearDiscriminantAnalysis().fit(X, Y).explain(X, form="fractions"),
        DataError,
        "p(x | class) of this LinearDiscriminantAnalysis is not a product with a factor for each column\n\n"
        "hint: explain it with form='decibans'; naive Bayes and Bayesian networks have such factors",
    ),
    (
        lambda: GaussianNB(calibrate=True).fit(MANY, LABELS).explain(X, form="fractions"),
        DataError,
        "`calibrate` changes the scores of this GaussianNB: they are no product of fractions\n\n"
        "hint: explain it with form='decibans', or fit without `calibrate`",
    ),
    (
        lambda: deciban.ComplementNB().fit(X, Y).counts_table(),
        DataError,
        "no column of this model has counts by value, or a mean\n\n"
        "hint: counts are those of naive Bayes of levels or words, and of Bayesian networks",
    ),
    (
        lambda: gauss().explain(X, against=["a", "eggs", "b", "milk"]),
        DataError,
        "classes 'eggs' and 'milk' are not among ['a', 'b']\n\nhint: `of` and `against` are classes of the model",
    ),
    # texts
    (
        lambda: TextClassifier(features="chars", token_pattern=r"\w").fit(["tea", "cake"], ["a", "b"]),
        DataError,
        "`token_pattern` is given, and features='chars' has no tokens\n\n"
        "hint: features='words' or 'words+bigrams', or leave `token_pattern` out",
    ),
    (
        lambda: TextClassifier(token_pattern="(a)(b)").fit(["tea", "cake"], ["a", "b"]),
        DataError,
        "`token_pattern` is '(a)(b)', with 2 groups\n\n"
        "hint: at most one group, which is the token; write the others as (?:…)",
    ),
    (
        lambda: TextClassifier("complement").fit(["tea", "cake"], ["a", "b"]).word_probabilities(),
        DataError,
        "model='complement' has no probabilities of words in classes\n\nhint: model='multinomial' or model='bernoulli'",
    ),
    (
        lambda: deciban.datasets.eight_mails("bits"),
        DataError,
        "`form` is 'bits'\n\nhint: one of ['texts', 'counts', 'presence']",
    ),
    # pictures
    (
        lambda: deciban.plots.roc(gauss()),
        DataError,
        "`roc` of a model needs rows\n\nhint: roc(model, X, y), or roc(y, proba)",
    ),
    (
        lambda: deciban.plots.top_words(gauss()),
        DataError,
        "GaussianNB has no words\n\nhint: top_words(model) of a TextClassifier, or top_words(words, values)",
    ),
    (
        lambda: deciban.plots.decision_regions(GaussianNB().fit(X**2, Y), X**2, normal=True, steps=20),
        DataError,
        "the boundary of GaussianNB is not a line, so it has no normal w\n\n"
        "hint: leave out `normal`, or draw LDA, logistic regression, or naive Bayes with a shared variance",
    ),
    (
        lambda: deciban.plots.densities(deciban.LogisticRegression().fit(X, Y)),
        DataError,
        "LogisticRegression has no density of single columns\n\n"
        "hint: draw naive Bayes of numbers or levels, or a linear or quadratic discriminant analysis",
    ),
    (
        lambda: deciban.plots.graph(deciban.LogisticRegression().fit(X, Y)),
        DataError,
        "LogisticRegression has no graph\n\nhint: naive Bayes, TreeAugmentedNB, KDependenceBayes and BayesNet have one",
    ),
    # files and engines
    (
        lambda: deciban.load("broken.deciban"),
        ModelFileError,
        "broken.deciban: not a model, or a damaged one: it does not start as a model file does\n\n"
        "hint: take a copy of it, or save the model again",
    ),
    (
        lambda: GaussianNB().fit_on("row.csv"),
        DataError,
        "file not found: row.csv\n\nhint: did you mean rows.csv?",
    ),
    (
        lambda: deciban.auto_fit_on("rows.csv", "buy"),
        DataError,
        "there is no column `buy` in the data; line 1 ('age,job,buys') was taken for the names of the columns\n\n"
        "hint: did you mean `buys`? If another line of the file has the names, pass header=LINE",
    ),
    (
        lambda: GaussianNB().fit_on("rows.csv", "buys", engine="flink"),
        DataError,
        "there is no engine 'flink'\n\nhint: the engines are dask, spark, stream",
    ),
    # sets of classes
    (lambda: gauss().predict_set(X, 90), DataError, "`coverage` is 90\n\nhint: a number between 0 and 1, such as 0.9"),
    (
        lambda: gauss().predict_set(X),
        DataError,
        "this GaussianNB keeps no training rows that sets could be calibrated with\n\n"
        "hint: calibration=(X, y) of rows that it has not learned, or its training rows and learned=True; models with "
        "calibrate=True or tuned settings keep rows",
    ),
    (
        lambda: gauss().predict_set(X, calibration="training"),
        DataError,
        "`calibration` is str, and (X, y) is needed\n\n"
        "hint: calibration=(X, y) or (X, y, sample_weight), of rows that the model has not learned",
    ),
    (
        lambda: gauss().predict_set(X, calibration=(X[:2], Y)),
        DataError,
        "X has 2 rows and y 4\n\nhint: give one label for each row",
    ),
    (
        lambda: gauss().predict_set(X, calibration=(X, ["a", "b", "c", "b"])),
        DataError,
        "class 'c' of the calibration rows is not among the classes of the model\n\n"
        "hint: leave these rows out, or fit the model on rows of this class too",
    ),
    (
        lambda: gauss().predict_set(X, calibration=(X, Y)),
        DataError,
        "the calibration rows are those that the model learned\n\n"
        "hint: calibration=(X, y, …) of other rows; for training rows learned=True, which holds them out",
    ),
    (
        lambda: LogisticRegression().fit(MANY, LABELS).predict_set(X, calibration=(X, Y), learned=True),
        DataError,
        "the model learned 8 rows of class 'a', and 2 are given\n\n"
        "hint: this LogisticRegression is fitted again without each tenth of its rows: give all training rows with "
        "learned=True, or rows that it has not learned without it",
    ),
    (
        lambda: deciban.BayesOptimal.of([gauss(), gauss()]).predict_set(X, calibration=(X, Y), learned=True),
        DataError,
        "these hypotheses were not learned here\n\nhint: any rows are new to them: leave out `learned`",
    ),
    (
        lambda: (
            TextClassifier()
            .fit(["tea"] * 3 + ["cake"] * 3, list("aaabbb"))
            .predict_set(["tea"], calibration=(["tea", "cake"], ["a", "b"], [1.0, 2.0]), learned=True)
        ),
        DataError,
        "a text classifier learns no weights\n\nhint: calibration=(texts, labels)",
    ),
    (
        lambda: LogisticRegression().fit_on(iter([FRAME.assign(label=Y)])),
        DataError,
        "the list_iterator can be read only once, and this model needs several passes\n\n"
        "hint: write them to a file first and give its path, or give a list of frames, or a function that returns a "
        "new iterator",
    ),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("broken.deciban").write_bytes(b"not a model")
    Path("rows.csv").write_text("age,job,buys\n1,a,x\n2,b,y\n")


@pytest.mark.parametrize(("call", "cls", "message"), TABLE, ids=[text.split("\n")[0][:60] for *_, text in TABLE])
def test_message(call, cls, message, folder):
    with pytest.raises(cls) as raised:
        call()
    assert str(raised.value) == message
    assert "\n\nhint: " in message
