"""The tour: learn, score, update, merge, forget and weigh evidence on bundled data, beside scikit-learn."""

import time

import numpy as np
import pandas as pd
import sklearn.discriminant_analysis
import sklearn.naive_bayes
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split

import deciban

THEIRS = {**vars(sklearn.naive_bayes), **vars(sklearn.discriminant_analysis)}
DATA = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}


def accuracy() -> None:
    """Every classifier on every data set; where scikit-learn has the class, the two must agree."""
    print("Held-out accuracy (30 % of the rows); `=` where all probabilities equal scikit-learn's\n")
    print(f"{'':34}" + "".join(f"{name:>16}" for name in DATA))
    for name in deciban.__all__:
        if not isinstance(getattr(deciban, name), type):
            continue
        cells = []
        for load in DATA.values():
            X, y = load(return_X_y=True)
            if name == "CategoricalNB":
                X = np.floor(X / (np.ptp(X, axis=0) + 1e-9) * 5)
                X -= X.min(axis=0)
            train, test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
            model = getattr(deciban, name)().fit(train, y_train)
            cells.append(f"{model.score(test, y_test):.3f} {agrees(name, model, train, y_train, test)}")
        print(f"{name:34}" + "".join(f"{cell:>16}" for cell in cells))


def agrees(name: str, model, train, y_train, test) -> str:
    try:
        rival = THEIRS[name]().fit(train, y_train)
        return "=" if np.allclose(model.predict_proba(test), rival.predict_proba(test), rtol=1e-6) else " "
    except Exception:  # scikit-learn has no such class, or gives up on this data
        return " "


def additive() -> None:
    """Pieces add up: merged, updated and forgetful models are the model of the rows that are left."""
    X, y = load_digits(return_X_y=True)
    whole = deciban.GaussianNB().fit(X, y)
    merged = sum(deciban.GaussianNB().fit(X[i : i + 300], y[i : i + 300]) for i in range(0, len(X), 300))
    forgetful = deciban.GaussianNB().fit(X, y).forget(X[1000:], y[1000:])
    fresh = deciban.GaussianNB().fit(X[:1000], y[:1000])
    print("\nLargest difference of any class mean on digits")
    print(
        f"  six models of 300 rows, merged, against one of all rows    {np.abs(merged.theta_ - whole.theta_).max():.1e}"
    )
    left = np.abs(forgetful.theta_ - fresh.theta_).max()
    print(f"  all rows less the last 797, against the first 1,000 alone  {left:.1e}")


def evidence() -> None:
    """One iris, weighed."""
    X, y = load_iris(return_X_y=True)
    names = load_iris().target_names[y]
    model = deciban.GaussianNB().fit(X, names)
    row = X[[77]]
    print(f"\nIris number 78, a {names[77]}: decibans of evidence for each class against the rest")
    for label, value, p in zip(model.classes_, model.decibans(row)[0], model.predict_proba(row)[0], strict=True):
        print(f"  {label:12} {value:8.1f} dB   P = {p:.3f}")
    row[0, 3] = np.nan
    print(f"  without its petal width: P = {model.predict_proba(row)[0].round(3).tolist()}")


def mixed() -> None:
    """Columns of two kinds, cells missing: what each cell of a row says, and what to do about it."""
    rng = np.random.default_rng(7)
    ill = rng.random(400) < 0.3
    rows = pd.DataFrame(
        {
            "fever": np.where(ill, rng.normal(38.6, 0.7, 400), rng.normal(36.8, 0.4, 400)).round(1),
            "cough": np.where(rng.random(400) < np.where(ill, 0.8, 0.2), "yes", "no"),
            "visits": rng.poisson(np.where(ill, 4, 1)),
        }
    )
    rows = rows.mask(rng.random(rows.shape) < 0.1)
    y = np.where(ill, "ill", "well")
    model = deciban.MixedNB(calibrate=True).fit(rows, y)
    families = {name: type(family).__name__ for name, family in model.families_.items()}
    print(f"\n400 patients, a tenth of the cells missing; the rows chose {families}\n")
    print(model.explain(rows[1:3]))
    decided = model.decide(rows, costs={("ill", "well"): 10}, reject=0.5)
    asked = sum(answer is None for answer in decided)
    print(f"\nMissing an illness costs 10, a false alarm 1, a second look 0.5: {asked} of 400 get the second look")
    print(deciban.cross_validate(deciban.MixedNB(calibrate=True), rows, y, folds=5, random_state=0))


def speed() -> None:
    """Half a million rows beside scikit-learn, in this process."""
    rng = np.random.default_rng(0)
    y = rng.integers(10, size=500_000)
    X = rng.standard_normal((500_000, 50)) + 0.3 * rng.standard_normal((10, 50))[y]
    print("\n500,000 × 50, 10 classes       scikit-learn      deciban     ratio")
    for name in ("GaussianNB", "LinearDiscriminantAnalysis"):
        for verb in ("fit", "predict_proba"):
            times = []
            for library in (THEIRS, vars(deciban)):
                model = library[name]()
                arguments = (X, y) if verb == "fit" else (X,)
                if verb != "fit":
                    model.fit(X, y)
                getattr(model, verb)(*arguments)
                start = time.perf_counter()
                getattr(model, verb)(*arguments)
                times.append(time.perf_counter() - start)
            short = "LDA" if name.startswith("Linear") else name
            print(f"  {short + ' ' + verb:26} {times[0]:10.3f} s {times[1]:10.3f} s {times[0] / times[1]:8.0f} ×")


if __name__ == "__main__":
    accuracy()
    additive()
    evidence()
    mixed()
    speed()
