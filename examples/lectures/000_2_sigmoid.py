"""Logistic regression finds the curve that labels were drawn from (lecture 000, section 7.2, figure 7.1).

100 labels are drawn from p(y = 1 | x) = 1 / (1 + exp(−4x − 2)). Maximum likelihood (C=np.inf: no penalty) gives a
steeper curve here, with nearly the same decision point θ·x = 0; from 200,000 labels it finds θ = (2, 4).
"""

import matplotlib.pyplot as plt
import numpy as np

from deciban import LogisticRegression, datasets, plots

X, y = datasets.sigmoid_points(100, offset=2, slope=4, random_state=0)
true = LogisticRegression.from_parameters(coef=[[4.0]], intercept=[2.0])
fitted = LogisticRegression(C=np.inf, tol=1e-8).fit(X, y)
θ = np.append(fitted.intercept_, fitted.coef_)
value, true_value = fitted.log_likelihood(X, y), true.log_likelihood(X, y)
print(f"fitted θ = ({θ[0]:.3f}, {θ[1]:.3f}), l = {value:.3f}; at the true θ = (2, 4), l = {true_value:.3f}")

# the decision point, where both classes have probability 1/2
point = -θ[0] / θ[1]
print(f"decision point {point:.3f} (true: {-2 / 4}), P(1 | x) there {fitted.predict_proba([[point]])[0, 1]:.3f}")

# the gradient of l is the sum of (y − h) x: 0 at the maximum
gradient = fitted.log_likelihood(X, y, gradient=True)[1]
print(f"gradient at the fitted θ: {gradient['intercept'][0]:.1e}, {gradient['coef'][0, 0]:.1e}")

many = LogisticRegression(C=np.inf).fit(*datasets.sigmoid_points(200_000))
print(f"from 200,000 labels: θ = ({many.intercept_[0]:.3f}, {many.coef_[0, 0]:.3f})")

ax = plots.sigmoid({"generating": true, "fitted": fitted}, X, y, title="100 labels, and the curves")

if __name__ == "__main__":
    plt.show()
