"""Tests and checks of scikit-learn that our classes fail, and why; docs/scikit-learn.md is written from these tables.

Each listed test must fail (strict xfail). An id is as pytest prints it after the folder; one that ends in `*` stands
for all ids that begin so.

    python -m tests.sklearn_suite.exceptions > docs/scikit-learn.md
"""

SINGULAR = (
    "a class whose covariance is singular gets a floor under its variances and a defined answer (`singular_` names the "
    "class); scikit-learn raises an error"
)
STORED = (
    "`covariance_` is a view of the tally, available without `store_covariance=True`; scikit-learn has no such "
    "attribute then"
)
INDEX = "sparse rows with 64-bit indices are accepted by every solver; scikit-learn refuses them for this one"
STOPPED_EARLY = (
    "compares `LogisticRegressionCV` of scikit-learn, stopped at its tolerance, with our minimum to more digits than "
    "the former has"
)
PENALTY = "`penalty` by name is a setting like any other; scikit-learn deprecates it and warns"
WHOLE_ROWS = (
    "stacking holds a row out with all of its weight, and copies of a row one by one, so that weight 2 differs from "
    "two rows"
)
NO_MINIMUM = "the check has 30 columns and 27 rows: the classes are separated, so there is no finite estimate"
ONE_STEP = "a row of weight 2 makes one step of twice the length, two rows make two steps"

TESTS: dict[str, str] = {
    "test_naive_bayes.py::test_gnb_check_update_with_no_data": (
        "calls a private method of scikit-learn's class; here the state is a tally, and an empty tally is zero"
    ),
    "test_discriminant_analysis.py::test_lda_transform": (
        "`transform` works with solver='lsqr' too; scikit-learn raises an error"
    ),
    "test_discriminant_analysis.py::test_lda_store_covariance": STORED,
    "test_discriminant_analysis.py::test_qda_store_covariance[*": STORED,
    "test_discriminant_analysis.py::test_qda_regularization[42-svd]": SINGULAR,
    "test_discriminant_analysis.py::test_qda_regularization[42-eigen]": SINGULAR,
    "test_logistic.py::test_liblinear_dual_random_state[*": (
        "expects different coefficients for different random seeds; ours are the minimum for every seed"
    ),
    "test_logistic.py::test_logistic_cv[*": STOPPED_EARLY,
    "test_logistic.py::test_logistic_cv_multinomial_score[*": (
        "passes all settings of a model to a private function of scikit-learn, which has no `history` and `init`"
    ),
    "test_logistic.py::test_large_sparse_matrix[csr_matrix-liblinear]": INDEX,
    "test_logistic.py::test_large_sparse_matrix[csr_matrix-sag*": INDEX,
    "test_logistic.py::test_large_sparse_matrix[csr_array-liblinear]": INDEX,
    "test_logistic.py::test_large_sparse_matrix[csr_array-sag*": INDEX,
    "test_logistic.py::test_liblinear_with_large_values": (
        "cells of 1e100 have an answer; the solver of scikit-learn does not converge and warns"
    ),
    "test_logistic.py::test_newton_cholesky_fallback_to_lbfgs": (
        "expects a warning and another solver where the Hessian is singular; ours regularises the step and needs "
        "neither"
    ),
    "test_logistic.py::test_logistic_regression_callback_*": (
        "the callback protocol of scikit-learn (its mixin and contexts) is not offered"
    ),
    "test_logistic.py::test_logreg_predict_proba_multinomial[*": (
        "calls a private method of scikit-learn's linear models, which ours are not"
    ),
    "test_logistic.py::test_penalty_deprecated[LogisticRegression]": PENALTY,
    "test_logistic.py::test_lr_penalty_l1ratio_incompatible[l1-0.0]": PENALTY,
}
CHECKS: dict[str, tuple[str, str]] = {  # settings → checks of `check_estimator`, reason
    'BayesOptimal(weights="loo")': ("check_sample_weight_equivalence_on_dense_data, …_sparse_data", WHOLE_ROWS),
    "LogisticRegression(C=inf)": ("check_sample_weight_equivalence_on_dense_data, …_sparse_data", NO_MINIMUM),
    'LogisticRegression(penalty="jeffreys")': (
        "check_sample_weight_equivalence_on_dense_data, …_sparse_data",
        f"{NO_MINIMUM}, and the information matrix of Firth's penalty is singular",
    ),
    'LogisticRegression(solver="online")': (
        "check_sample_weight_equivalence_on_dense_data, …_sparse_data",
        ONE_STEP,
    ),
    'LeastSquaresClassifier(solver="online"), Perceptron()': (
        "check_sample_weight_equivalence_on_dense_data",
        f"{ONE_STEP}; scikit-learn's `Perceptron` fails it too",
    ),
}
LIMITS = {  # how many tests of each file may fail
    "test_naive_bayes.py": 1,
    "test_discriminant_analysis.py": 6,
    "test_logistic.py": 28,
    "test_text.py": 0,
}


def matches(pattern: str, name: str) -> bool:
    """Whether a listed id stands for a test.

    >>> matches("a.py::t[*", "a.py::t[1]"), matches("a.py::t", "a.py::t[1]")
    (True, False)
    """
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


def reason(name: str) -> str | None:
    """Why a test fails; None: it must pass."""
    return next((why for pattern, why in TESTS.items() if matches(pattern, name)), None)


def page() -> str:
    """The text of docs/scikit-learn.md."""
    lines = [
        "# Compatibility with scikit-learn",
        "",
        "Generated by `python -m tests.sklearn_suite.exceptions`; a test compares.",
        "",
        "`GaussianNB`, `BernoulliNB`, `MultinomialNB`, `ComplementNB`, `CategoricalNB`, `LinearDiscriminantAnalysis`,",
        "`QuadraticDiscriminantAnalysis`, `LogisticRegression`, `CountVectorizer`, `HashingVectorizer` and",
        "`TfidfVectorizer` have scikit-learn's arguments, attributes and results. The tests that the installed",
        "scikit-learn carries for these classes run on ours (1,027 of them with scikit-learn 1.9). The tests below",
        "fail, each for the reason given; a listed test that begins to pass fails our suite.",
        "",
        "| test | reason |",
        "|---|---|",
        *(f"| `{name}` | {why} |" for name, why in TESTS.items()),
        "",
        "`*` stands for all tests whose name begins so. Every classifier but `Perceptron` passes `check_estimator`",
        "with its defaults. With other settings:",
        "",
        "| settings | checks that fail | reason |",
        "|---|---|---|",
        *(f"| `{settings}` | `{checks}` | {why} |" for settings, (checks, why) in CHECKS.items()),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
