"""scikit-learn's tests of logistic regression that our class fails, by the start of their id: why each does.

Listed tests must fail (strict xfail). Of 688 tests these are 22.
"""

CALLBACKS = "scikit-learn's own callback protocol (its mixin, its contexts) is not offered; `fit` is not built on it"
INDEX = "ours is deliberately better: rows with 64-bit indices are taken by every solver, where these refuse them"
THEIRS = "compares scikit-learn's LogisticRegressionCV, stopped early, with our class to more digits than that has"
NAMED = "ours is deliberately better: `penalty` by name is a setting like others, without a warning"

LOGISTIC: dict[str, str] = {
    "test_liblinear_dual_random_state[": "wants two random seeds to give two answers; ours has one, the minimum",
    "test_logistic_cv[": THEIRS,
    "test_logistic_cv_multinomial_score[neg_log_loss": THEIRS,
    "test_large_sparse_matrix[csr_matrix-liblinear]": INDEX,
    "test_large_sparse_matrix[csr_matrix-sag": INDEX,
    "test_large_sparse_matrix[csr_array-liblinear]": INDEX,
    "test_large_sparse_matrix[csr_array-sag": INDEX,
    "test_liblinear_with_large_values": "ours is deliberately better: 1e100 in X has an answer, no solver freezes",
    "test_newton_cholesky_fallback_to_lbfgs": "ours needs no fallback: a singular Hessian is mended in place",
    "test_logistic_regression_callback_": CALLBACKS,
    "test_penalty_deprecated[LogisticRegression]": NAMED,
    "test_lr_penalty_l1ratio_incompatible[l1-0.0]": NAMED,
}


def reason(name: str) -> str | None:
    return next((why for start, why in LOGISTIC.items() if name.startswith(start)), None)
