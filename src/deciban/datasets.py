"""Small data sets of lectures on classification, generated point sets, and the reader of 20 Newsgroups.

A function returns (X, y), rows and their labels, unless its docstring names more. Tables with named columns are pandas
frames, or polars frames where only polars is installed, or else dictionaries of columns.

>>> from deciban import MixedNB, datasets
>>> X, y = datasets.play_tennis()
>>> query = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "windy": "true"}
>>> MixedNB(alpha=0).fit(X, y).predict_proba(query).round(4).tolist()
[[0.7954, 0.2046]]
"""

from __future__ import annotations

import gzip
import json
import lzma
import tarfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deciban.data.frames import make_frame
from deciban.errors import DataError
from deciban.mail.strip import check_parts, stripped

__all__ = [
    "HalfPlane",
    "coin",
    "eight_mails",
    "half_planes",
    "load_20newsgroups",
    "multimodal",
    "play_tennis",
    "quiz",
    "sigmoid_points",
    "three_classes",
    "two_gaussians",
    "viagra_networks",
    "votes",
]

_TENNIS = """\
sunny hot high false no
sunny hot high true no
overcast hot high false yes
rainy mild high false yes
rainy cool normal false yes
rainy cool normal true no
overcast cool normal true yes
sunny mild high false no
sunny cool normal false yes
rainy mild normal false yes
sunny mild normal true yes
overcast mild high true yes
overcast hot normal false yes
rainy mild high true no"""
_TEMPERATURE = (85, 80, 83, 70, 68, 65, 64, 72, 69, 75, 75, 72, 81, 71)
_HUMIDITY = (85, 90, 86, 96, 80, 70, 65, 95, 70, 80, 70, 90, 75, 91)
_MAILS = {
    "spam": ("b d e b b d e", "b c e b b d d e c c", "a d a d e a e e", "b a d b e d a b"),
    "ham": ("a b a b a b a e d", "a c a c a c a e d", "e a e d a e a", "d e d"),
}
_OPEN: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open}  # by the ending of JSON lines
FORMS = ("texts", "counts", "presence")


def play_tennis(numeric: bool = False) -> tuple[Any, np.ndarray]:
    """Fourteen days, their weather, and whether tennis was played (9 yes, 5 no).

    Parameters
    ----------
    numeric : bool
        Temperature (°F) and humidity (%) as numbers instead of levels.

    Returns
    -------
    X : frame of shape (14, 4)
        Columns outlook, temperature, humidity, windy.
    y : ndarray of shape (14,)
        "yes" or "no".

    See Also
    --------
    eight_mails : Eight mails of three words.

    Examples
    --------
    >>> from deciban import datasets
    >>> X, y = datasets.play_tennis(numeric=True)
    >>> list(X), int(X["temperature"][0]), str(y[0])
    (['outlook', 'temperature', 'humidity', 'windy'], 85, 'no')
    """
    outlook, temperature, humidity, windy, play = zip(*(row.split() for row in _TENNIS.splitlines()), strict=True)
    columns = {
        "outlook": outlook,
        "temperature": _TEMPERATURE if numeric else temperature,
        "humidity": _HUMIDITY if numeric else humidity,
        "windy": windy,
    }
    return make_frame(columns), np.array(play)


def eight_mails(form: str = "texts") -> tuple[Any, np.ndarray]:
    """Four spam and four ham mails of the words a to e, of which d and e are stop words.

    Parameters
    ----------
    form : {"texts", "counts", "presence"}
        The texts; or for each of the words a, b and c how often it occurs, or whether it occurs (0 or 1).

    Returns
    -------
    X : list of str, or frame of shape (8, 3)
        The rows.
    y : ndarray of shape (8,)
        "spam" or "ham".

    See Also
    --------
    play_tennis : Fourteen days, nominal columns.

    Examples
    --------
    >>> from deciban import MultinomialNB, datasets
    >>> texts, labels = datasets.eight_mails()
    >>> texts[3], str(labels[3])
    ('b a d b e d a b', 'spam')
    >>> model = MultinomialNB().fit(*datasets.eight_mails("counts"))
    >>> round(float(model.likelihood_ratio({"a": 3, "b": 1, "c": 0}, "spam", "ham")[0]), 4)
    0.3125
    """
    if form not in FORMS:
        raise DataError(f"`form` is {form!r}\n\nhint: one of {list(FORMS)}")
    texts = [text for some in _MAILS.values() for text in some]
    labels = np.repeat(list(_MAILS), [len(some) for some in _MAILS.values()])
    if form == "texts":
        return texts, labels
    counts = [Counter(text.split()) for text in texts]
    most = 1 if form == "presence" else None
    columns = {word: [min(count[word], most or count[word]) for count in counts] for word in "abc"}
    return make_frame(columns), labels


def viagra_networks() -> tuple[Any, Any]:
    """Two models of mails (`y`: spam or ham) by whether the words `viagra` and `lottery` occur (0 or 1).

    Returns
    -------
    full : BayesNet
        P(y | viagra, lottery) as one table, with P(viagra = 1) = 0.1. P(lottery = 1) is 0.5, which no answer about a
        mail with known lottery depends on.
    naive : BayesNet
        P(viagra = 1 | y) = 0.40 and 0.12, P(lottery = 1 | y) = 0.21 and 0.13 for spam and ham, equal priors.

    See Also
    --------
    quiz : Five rows of three bits.

    Examples
    --------
    >>> from deciban import datasets
    >>> full, naive = datasets.viagra_networks()
    >>> full.query("y", {"lottery": 1}).values.round(3).tolist()
    [0.625, 0.375]
    >>> mails = {"viagra": [0, 1, 0, 1], "lottery": [0, 1, 1, 0]}
    >>> naive.likelihood_ratio(mails, "spam", "ham").round(2).tolist()
    [0.62, 5.38, 1.1, 3.03]
    """
    from deciban.classifiers.bayes_net import BayesNet

    words = ("viagra", "lottery")
    levels: dict[str, list] = {"y": ["spam", "ham"], "viagra": [0, 1], "lottery": [0, 1]}
    spam = np.array([[0.31, 0.65], [0.80, 0.40]])  # of viagra, lottery
    tables = {"viagra": [0.9, 0.1], "lottery": [0.5, 0.5], "y": np.stack([spam, 1 - spam], axis=-1)}
    full = BayesNet.from_edges([(word, "y") for word in words], levels=levels, tables=tables, target="y")
    tables = {"y": [0.5, 0.5], "viagra": [[0.60, 0.40], [0.88, 0.12]], "lottery": [[0.79, 0.21], [0.87, 0.13]]}
    naive = BayesNet.from_edges([("y", word) for word in words], levels=levels, tables=tables, target="y")
    return full, naive


def quiz() -> tuple[np.ndarray, np.ndarray]:
    """Five rows of three bits whose classes a plane separates: logistic regression without penalty diverges.

    Returns
    -------
    X : ndarray of shape (5, 3)
        The rows.
    y : ndarray of shape (5,)
        0 or 1.

    See Also
    --------
    votes : Three hypotheses that vote.

    Examples
    --------
    >>> from deciban import LogisticRegression, datasets
    >>> LogisticRegression().fit(*datasets.quiz()).predict([[0, 0, 0]]).tolist()
    [0]
    """
    return np.array([[1, 0, 0], [1, 0, 1], [0, 1, 0], [1, 1, 1], [1, 1, 0]]), np.array([0, 0, 0, 1, 1])


def votes() -> tuple[dict[str, str], list[float]]:
    """Three hypotheses and their posterior probabilities: the most probable one predicts +, their weighted vote is −.

    Returns
    -------
    hypotheses : dict
        The label that each hypothesis predicts.
    weights : list of float
        P(hypothesis | data).

    See Also
    --------
    quiz : Five rows of three bits.

    Examples
    --------
    >>> from deciban import BayesOptimal, datasets
    >>> BayesOptimal.of(*datasets.votes()).predict([[0]]).tolist()
    ['-']
    """
    return {"h1": "+", "h2": "-", "h3": "-"}, [0.4, 0.3, 0.3]


def coin(heads: int = 5, tosses: int = 7) -> tuple[np.ndarray, np.ndarray]:
    """Tosses of one coin, heads first.

    Parameters
    ----------
    heads, tosses : int
        Number of heads, and of all tosses.

    Returns
    -------
    X : ndarray of shape (tosses, 1)
        1 for heads, 0 for tails.
    y : ndarray of shape (tosses,)
        0: all tosses are of one class.

    See Also
    --------
    sigmoid_points : Labels drawn from a sigmoid.

    Examples
    --------
    >>> from deciban import BernoulliNB, datasets
    >>> X, y = datasets.coin()
    >>> round(float(BernoulliNB(alpha=0).fit(X, y).score_samples(X).sum()), 6)
    -4.187887
    """
    if not 0 <= heads <= tosses:
        raise DataError(f"{heads} heads of {tosses} tosses\n\nhint: 0 ≤ heads ≤ tosses")
    return (np.arange(tosses) < heads).astype(int)[:, None], np.zeros(tosses, dtype=int)


def sigmoid_points(
    n: int = 100, offset: float = 2.0, slope: float = 4.0, random_state: Any = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Points with labels drawn from p(y = 1) = 1 / (1 + exp(−offset − slope x)), x uniform between −3 and 2.

    Parameters
    ----------
    n : int
        Number of points.
    offset, slope : float
        The parameters θ of the sigmoid.
    random_state : int, or NumPy generator
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 1)
        The rows.
    y : ndarray of shape (n,)
        0 or 1.

    See Also
    --------
    coin : Tosses of a coin.

    Examples
    --------
    >>> import numpy as np
    >>> from deciban import LogisticRegression, datasets
    >>> model = LogisticRegression(C=np.inf).fit(*datasets.sigmoid_points())
    >>> model.intercept_.round(3).tolist(), model.coef_.round(3).tolist()
    ([3.05], [[6.036]])
    """
    rng = np.random.default_rng(random_state)
    x = rng.uniform(-3.0, 2.0, n)
    p = 1.0 / (1.0 + np.exp(-offset - slope * x))
    return x[:, None], (rng.random(n) < p).astype(int)


def two_gaussians(n: tuple[int, int] = (150, 100), random_state: Any = 2) -> tuple[np.ndarray, np.ndarray]:
    """Two normal classes with one covariance: means (0, 0) and (2.6, 1), covariance ((1, 0.6), (0.6, 1.2)).

    Parameters
    ----------
    n : (int, int)
        Rows of each class.
    random_state : int, or NumPy generator
        Seed.

    Returns
    -------
    X : ndarray of shape (n₁ + n₂, 2)
        The rows.
    y : ndarray of shape (n₁ + n₂,)
        "k" or "l".

    See Also
    --------
    multimodal : A class in two clusters.

    Examples
    --------
    >>> from deciban import LinearDiscriminantAnalysis, datasets
    >>> LinearDiscriminantAnalysis().fit(*datasets.two_gaussians()).coef_.round(3).tolist()
    [[2.763, -0.544]]
    """
    rng = np.random.default_rng(random_state)
    covariance = [[1.0, 0.6], [0.6, 1.2]]
    X = [
        rng.multivariate_normal(mean, covariance, size) for mean, size in zip([(0.0, 0.0), (2.6, 1.0)], n, strict=True)
    ]
    return np.concatenate(X), np.repeat(["k", "l"], n)


def multimodal(n: int = 240, random_state: Any = 2) -> tuple[np.ndarray, np.ndarray]:
    """A class in two clusters, around (−2.5, 2.5) and (2.5, −2.5), with the other class between them.

    No line separates the classes. Layout and seed were searched for: LDA and logistic regression have the training
    accuracy 0.533, QDA 0.971 and `MixedNB` 1.

    Parameters
    ----------
    n : int
        Number of rows: a quarter in each cluster of the first class, half in the second class.
    random_state : int, or NumPy generator
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The rows.
    y : ndarray of shape (n,)
        "outer" or "inner".

    See Also
    --------
    two_gaussians : Two normal classes.

    Examples
    --------
    >>> from deciban import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, datasets
    >>> X, y = datasets.multimodal()
    >>> models = LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()
    >>> [round(model.fit(X, y).score(X, y), 3) for model in models]
    [0.533, 0.971]
    """
    rng = np.random.default_rng(random_state)
    sizes = (n // 4, n // 4, n - 2 * (n // 4))
    centres = [(-2.5, 2.5), (2.5, -2.5), (0.0, 0.0)]
    X = [rng.normal(centre, 0.5, (size, 2)) for centre, size in zip(centres, sizes, strict=True)]
    return np.concatenate(X), np.repeat(["outer", "outer", "inner"], sizes)


def three_classes(n: int = 120, random_state: Any = 2) -> tuple[np.ndarray, np.ndarray]:
    """Three normal classes with different covariances: the boundaries are quadratic.

    Layout and seed were searched for: LDA in (x1, x2) has the training accuracy 0.9222, LDA in (x1, x2, x1x2, x1², x2²)
    and QDA have 0.9306 and agree in 98.9 % of the rows.

    Parameters
    ----------
    n : int
        Rows of each class.
    random_state : int, or NumPy generator
        Seed.

    Returns
    -------
    X : ndarray of shape (3 n, 2)
        The rows.
    y : ndarray of shape (3 n,)
        0, 1 or 2.

    See Also
    --------
    two_gaussians : Two normal classes.

    Examples
    --------
    >>> from deciban import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, datasets
    >>> X, y = datasets.three_classes()
    >>> models = LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()
    >>> [round(model.fit(X, y).score(X, y), 4) for model in models]
    [0.9222, 0.9306]
    """
    rng = np.random.default_rng(random_state)
    means = [(0.0, 0.0), (2.0, 2.0), (2.0, -2.0)]
    covariances = [[[1.0, 0.4], [0.4, 1.0]], [[1.0, -0.4], [-0.4, 1.0]], [[0.5, 0.0], [0.0, 0.5]]]
    X = [rng.multivariate_normal(mean, own, n) for mean, own in zip(means, covariances, strict=True)]
    return np.concatenate(X), np.repeat([0, 1, 2], n)


@dataclass(frozen=True)
class HalfPlane:
    """A hypothesis: + where a row is on the positive side of a line.

    Parameters
    ----------
    normal : (float, float)
        Direction at a right angle to the line.
    offset : float
        Distance of the line from the origin.

    See Also
    --------
    half_planes : Hypotheses that are half planes, and rows.

    Examples
    --------
    >>> from deciban.datasets import HalfPlane
    >>> HalfPlane((1.0, 0.0), 0.5)([[0.0, 0.0], [1.0, 0.0]]).tolist()
    ['-', '+']
    """

    normal: tuple[float, float]
    offset: float

    def __call__(self, X: Any) -> np.ndarray:
        return np.where(np.asarray(X) @ np.array(self.normal) > self.offset, "+", "-")


def half_planes(
    n: int = 8, n_hypotheses: int = 200, random_state: Any = 0
) -> tuple[np.ndarray, np.ndarray, list[HalfPlane]]:
    """Points of the square [−1, 1]², labelled by one of many half-planes, which are returned as well.

    Parameters
    ----------
    n : int
        Number of points.
    n_hypotheses : int
        Number of half-planes, drawn with uniform directions and offsets between −0.8 and 0.8.
    random_state : int, or NumPy generator
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The rows.
    y : ndarray of shape (n,)
        "+" or "-", by one of the half-planes.
    hypotheses : list of HalfPlane
        Functions of X that return labels.

    See Also
    --------
    three_classes : Three normal classes.

    Examples
    --------
    >>> from deciban import datasets
    >>> X, y, hypotheses = datasets.half_planes()
    >>> len(hypotheses), len([h for h in hypotheses if (h(X) == y).all()])
    (200, 17)
    """
    rng = np.random.default_rng(random_state)
    angles, offsets = rng.uniform(0, 2 * np.pi, n_hypotheses), rng.uniform(-0.8, 0.8, n_hypotheses)
    normals = zip(np.cos(angles).tolist(), np.sin(angles).tolist(), strict=True)
    hypotheses = [HalfPlane(normal, offset) for normal, offset in zip(normals, offsets.tolist(), strict=True)]
    truth = hypotheses[rng.integers(n_hypotheses)]
    X = rng.uniform(-1, 1, (n, 2))
    return X, truth(X), hypotheses


def load_20newsgroups(path: Any, remove: str | Iterable[str] = ()) -> tuple[list[str], np.ndarray]:
    """The posts of 20 Newsgroups, from a copy on this machine.

    Parameters
    ----------
    path : str or path
        The published archive (such as 20news-19997.tar.gz), the folder unpacked from it (a sub-folder for each group,
        a file for each post), or JSON lines with `text` and `label`, compressed or not.
    remove : "group headers", "headers", "quotes", "footers", a list of them, or "all"
        Parts of the posts that are left out. "group headers" are the headers that name the group: Newsgroups, Xref,
        Followup-To and Path.

    Returns
    -------
    texts : list of str
        The posts.
    groups : ndarray of str
        Their groups.

    See Also
    --------
    eight_mails : Eight mails of three words.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from deciban import datasets
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> (folder / "sci.space").mkdir()
    >>> _ = (folder / "sci.space" / "59848").write_text("Newsgroups: sci.space\\nSubject: Moon\\n\\nIs it far?\\n")
    >>> datasets.load_20newsgroups(folder, remove="group headers")
    (['Subject: Moon\\n\\nIs it far?\\n'], array(['sci.space'], dtype='<U9'))
    """
    parts = check_parts(remove, "remove")
    posts = list(_posts(Path(path)))
    if not posts:
        raise DataError(
            f"{path} has no posts\n\nhint: the archive, the folder with a sub-folder for each group, or JSON lines"
        )
    return [stripped(text, parts) for _, text in posts], np.array([group for group, _ in posts])


def _posts(path: Path) -> Iterator[tuple[str, str]]:
    """(group, text) of each post."""
    if not path.exists():
        raise DataError(f"there is no {path}\n\nhint: download 20news-19997.tar.gz or 20news-bydate.tar.gz first")
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.is_file() and file.parent != path and not file.name.startswith("."):
                yield file.parent.name, file.read_bytes().decode("latin-1")
    elif tarfile.is_tarfile(path):
        with tarfile.open(path) as archive:
            for member in archive:
                if member.isfile() and (content := archive.extractfile(member)) is not None:
                    yield Path(member.name).parent.name, content.read().decode("latin-1")
    else:
        yield from _json_posts(path)


def _json_posts(path: Path) -> Iterator[tuple[str, str]]:
    with _OPEN.get(path.suffix, open)(path, "rt", encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                yield row["label"], row["text"]
            except (ValueError, KeyError, TypeError) as error:
                raise DataError(
                    f"line {number} of {path} is not JSON with `text` and `label`\n\n"
                    "hint: the published archive, the folder unpacked from it, or JSON lines"
                ) from error
