// Coordinate descent for a lasso of many parameters, on columns: nothing of the size of a Hessian is made.
//
//   least  g·d + ½ dᵀHd + Σ lasso |w + d|,    H = Σ_i curvature_i ⊗ x_i x_iᵀ + ridge
//   kept:  u[c, i] = x_i · d_c  and  mean[i] = Σ_c p[c, i] u[c, i],  so that  (H d)[c, j] = Σ_i q[c, i] x[i, j] (u[c, i] − mean[i]) + ridge_j d[c, j]
//
// Softmax: q = weight · p. One margin: q = weight · p (1 − p), and no mean.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>
#include "kernels/core/arguments.hpp"

namespace deciban {

struct Columns : LassoColumns {
  template <class F>
  void each(Size j, F f) const {
    for (std::int32_t at = x.indptr[j]; at < x.indptr[j + 1]; ++at) f(x.indices[at], x.values[at]);
  }
  double curve(Size c, Size j) const {
    const double *weigh = q + c * x.d, *part = share + c * x.d;
    double out = 0.0;
    each(j, [&](Size i, double v) { out += weigh[i] * (1.0 - part[i]) * v * v; });
    return out;
  }
  double turn(Size c, Size j) const {
    const double *weigh = q + c * x.d, *own = u + c * x.d;
    double out = 0.0;
    each(j, [&](Size i, double v) { out += weigh[i] * v * (own[i] - mean[i]); });
    return out;
  }
  void move(Size c, Size j, double step) const {
    const double* part = share + c * x.d;
    double* own = u + c * x.d;
    each(j, [&](Size i, double v) { own[i] += step * v, mean[i] += part[i] * step * v; });
  }
  // dᵀHd without the ridge
  double square() const {
    double out = 0.0;
    for (Size c = 0; c < m; ++c)
      for (Size i = 0; i < x.d; ++i) out += q[c * x.d + i] * u[c * x.d + i] * (u[c * x.d + i] - mean[i]);
    return out;
  }
};

// Rounds over the coordinates in `order` (c · columns + j), and between them over those that are not 0, until none gains
// more than `share` of the most that one has gained in the first round. Returns dᵀHd.
inline double lasso_columns(const LassoColumns& given, const double* g, const double* w, const double* lasso,
                            const double* ridge, const std::int64_t* order, Size size, double share, Size most, double* d) {
  const Columns columns{given};
  const Size p = columns.x.n;
  std::vector<double> curve(size);
  std::vector<Size> whole(size), active;
  for (Size a = 0; a < size; ++a) {
    whole[a] = a;
    curve[a] = columns.curve(order[a] / p, order[a] % p) + ridge[order[a] % p];
  }
  // an order of its own for each round: neighbours in a vocabulary are no strangers
  auto chance = [state = std::uint64_t{1}]() mutable { return static_cast<Size>(state = state * 48271 % 2147483647); };
  auto round = [&](std::vector<Size>& some) {
    double best = 0.0;
    for (Size a = static_cast<Size>(some.size()) - 1; a > 0; --a) std::swap(some[a], some[chance() % (a + 1)]);
    for (Size a : some) {
      const Size at = order[a], c = at / p, j = at % p;
      if (!(curve[a] > 0.0)) continue;
      const double slope = g[at] + ridge[j] * d[at] + columns.turn(c, j), here = w[at] + d[at];
      const double aim = here - slope / curve[a], edge = lasso[j] / curve[a];
      const double there = aim > edge ? aim - edge : aim < -edge ? aim + edge : 0.0, step = there - here;
      if (step == 0.0) continue;
      d[at] = there - w[at];
      columns.move(c, j, step);
      best = std::max(best, curve[a] * step * step);
    }
    return best;
  };
  double enough = 0.0;
  for (Size rounds = 0; rounds < most;) {
    const double best = round(whole);
    if (++rounds == 1) enough = share * best;
    if (best <= enough) break;
    active.clear();
    for (Size a = 0; a < size; ++a)
      if (w[order[a]] + d[order[a]] != 0.0 || lasso[order[a] % p] == 0.0) active.push_back(a);
    while (rounds < most && round(active) > enough) ++rounds;
  }
  double out = columns.square();
  for (Size a = 0; a < size; ++a) out += ridge[order[a] % p] * d[order[a]] * d[order[a]];
  return out;
}

}  // namespace deciban
