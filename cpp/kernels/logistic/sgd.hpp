// Coordinate descent for a lasso of few parameters, and the online rule of logistic regression.
#pragma once
#include "kernels/logistic/loss.hpp"

namespace deciban {

// One round over the coordinates in `order`: each goes to where  g·d + ½ dᵀHd + Σ lasso |w + d|  is least, the others
// held; `turn` = H d. Returns the largest gain of one of them.
inline double descend(const double* h, Size size, const double* g, const double* w, const double* lasso,
                      const std::vector<Size>& order, double* d, double* turn) {
  double most = 0.0;
  for (Size j : order) {
    const double curve = h[j * size + j];
    if (!(curve > 0.0)) continue;
    const double here = w[j] + d[j], aim = here - (g[j] + turn[j]) / curve, edge = lasso[j] / curve;
    const double there = aim > edge ? aim - edge : aim < -edge ? aim + edge : 0.0;
    const double step = there - here;
    if (step == 0.0) continue;
    d[j] = there - w[j];
    const double* __restrict row = h + j * size;
    double* __restrict to = turn;
    for (Size l = 0; l < size; ++l) to[l] += step * row[l];
    most = std::max(most, curve * step * step);
  }
  return most;
}

// Rounds over all coordinates, and between them over those that are not 0, until none gains more than `tol`.
inline Size lasso_descent(const double* h, Size size, const double* g, const double* w, const double* lasso, double tol,
                          Size most, double* d, double* turn) {
  std::vector<Size> whole(size), active;
  for (Size j = 0; j < size; ++j) whole[j] = j;
  Size rounds = 0;
  while (rounds < most) {
    ++rounds;
    if (descend(h, size, g, w, lasso, whole, d, turn) <= tol) break;
    active.clear();
    for (Size j = 0; j < size; ++j)
      if (w[j] + d[j] != 0.0 || lasso[j] == 0.0) active.push_back(j);
    while (rounds < most && descend(h, size, g, w, lasso, active, d, turn) > tol) ++rounds;
  }
  return rounds;
}

// The online rule, row by row:  coef[c] ← (1 − rate · decay) coef[c] + rate · w (y_c − p_c) x, with
// rate = speed / (mean |x|² (1 + rows / 1000)^⅓), and a running average of coef that weighs row t by t + 1. `past` = {rows, Σ |x|²}.
inline void online(DenseRows& rows, Size n, Labels labels, Size m, double speed, const double* decay, double* coef,
                   double* mean, double* past) {
  const Size ld = rows.ld, wide = rows.vectors.stride;
  std::vector<double> z(m);
  for (Size start = 0; start < n; start += rows.block) {
    const Size count = std::min(rows.block, n - start);
    rows.read(start, count);
    for (Size i = 0; i < count; ++i) {
      const double* x = rows.cells.data() + i * wide;
      vec square = {};
      for (Size j = 0; j < wide; j += lanes) square += load(x + j) * load(x + j);
      past[0] += 1.0, past[1] += sum_of(square);
      const double rate = past[1] > 0.0 ? speed * past[0] / (past[1] * std::cbrt(1.0 + 1e-3 * past[0])) : 0.0,
                   share = 2.0 / (past[0] + 1.0);
      double top = 0.0, sum = 0.0;
      for (Size c = 0; c < m; ++c) {
        vec dot = {};
        for (Size j = 0; j < wide; j += lanes) dot += load(x + j) * load(coef + c * ld + j);
        z[c] = sum_of(dot);
        top = c == 0 || z[c] > top ? z[c] : top;
      }
      if (m > 1)
        for (Size c = 0; c < m; ++c) sum += z[c] = std::exp(z[c] - top);
      const std::int32_t y = labels.y[start + i];
      for (Size c = 0; c < m; ++c) {
        const double p = m > 1 ? z[c] / sum : 1.0 / (1.0 + std::exp(-z[c])), own = m > 1 ? y == c : y > 0;
        const vec step = all(rate * labels.weight(start + i) * (own - p));
        double *to = coef + c * ld, *average = mean + c * ld;
        for (Size j = 0; j < wide; j += lanes) {
          const vec now = load(to + j) + (step * load(x + j) - rate * load(decay + j) * load(to + j)), was = load(average + j);
          store(to + j, now);
          store(average + j, was + share * (now - was));
        }
      }
    }
  }
}

}  // namespace deciban
