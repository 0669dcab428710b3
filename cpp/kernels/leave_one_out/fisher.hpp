// Fisher's rule for pairs of classes, each row of the first of them left out.
#pragma once
#include <algorithm>
#include "kernels/core/arguments.hpp"
#include "kernels/leave_one_out/rows.hpp"

namespace deciban {

// Sums over the axes, with β = 1 / (1 + c part): B = (τ Σ_a + Σ_b)⁻¹ is diag β there, and B Σ_a B is diag β² part.
struct PairSums {
  double zz[together], zt[together], tt[together];              // Σ β z², Σ β z t, Σ β t²
  double own_zz[together], own_zt[together], own_tt[together];  // the same with β² part
};

template <bool same>  // whether all rows have the same c
inline void add_axes(const double* z, const double* t, const double* part, const double* c, Size d, PairSums& sums) {
  for (Size v = 0; v < together; v += lanes) {
    vec zz = {}, zt = {}, tt = {}, own_zz = {}, own_zt = {}, own_tt = {};
    for (Size u = 0; u < d; ++u) {
      const vec beta = same ? all(1.0 / (1.0 + c[0] * part[u])) : 1.0 / (1.0 + load(c + v) * part[u]);
      const vec at = load(z + u * together + v), z2 = at * at, z1 = at * t[u], t2 = all(t[u] * t[u]);
      const vec own = beta * beta * part[u];
      zz += beta * z2, zt += beta * z1, tt += beta * t2;
      own_zz += own * z2, own_zt += own * z1, own_tt += own * t2;
    }
    store(sums.zz + v, zz), store(sums.zt + v, zt), store(sums.tt + v, tt);
    store(sums.own_zz + v, own_zz), store(sums.own_zt + v, own_zt), store(sums.own_tt + v, own_tt);
  }
}

// Log odds from the sums, for rows of weight w; NaN where too little is left of a covariance along the row (`least`), or
// of a variance beside what it is the difference of (`safe`).
inline void pair_odds(const PairSums& s, const double* w, double n, double least, double safe, double* out) {
#pragma omp simd
  for (Size r = 0; r < together; ++r) {
    const double rest = n - w[r], tau = n / rest, c = w[r] / rest, phi = tau * c;
    const double left = 1.0 - phi * s.zz[r], size = phi * (s.zt[r] - c * s.zz[r]) / left - c;  // w = r + size · p
    const double slope = s.zt[r] + size * s.zz[r];
    const double own = s.own_tt[r] + size * (2.0 * s.own_zt[r] + size * s.own_zz[r]);
    const double both = s.tt[r] + size * (2.0 * s.zt[r] + size * s.zz[r]);
    const double spread_a = tau * own - phi * slope * slope, spread_b = both - tau * own;  // as B⁻¹ = τ Σ_a + Σ_b
    const double dev_a = std::sqrt(spread_a > 0.0 ? spread_a : 0.0), dev_b = std::sqrt(spread_b > 0.0 ? spread_b : 0.0);
    const double between = s.tt[r] + size * s.zt[r], sum = dev_a + dev_b, less = dev_a < dev_b ? dev_a : dev_b;
    const double odds = 2.0 * (between + slope - (between - c * slope) * dev_b / sum);
    out[r] = left > least && less * sum > safe * both && rest > 1e-9 * n ? odds : NAN;
  }
}

// out[b, i] = log odds a : b of row i, weight w[i] (null: 1), the row itself left out
inline void left_pairs(Dense<double> x, const double* w, Pairs p, double safe, double* out) {
  const Size d = p.d, m = x.n;
  Scratch t(d * together), z(d * together);
  double weight[together], c[together], odds[together];
  for (Size start = 0; start < m; start += together) {
    const Size count = std::min(m - start, together);
    pack<together>(x, start, count, 0, d, t.data());
    centre(p.mean, d, t.data());
    for (Size r = 0; r < together; ++r) {
      weight[r] = w ? w[start + std::min(r, count - 1)] : 1.0;
      c[r] = weight[r] / (p.n - weight[r]);
    }
    for (Size b = 0; b < p.q; ++b) {
      turned(p.turn + b * d * d, d, t.data(), z.data());
      PairSums sums;
      const double *apart = p.apart + b * d, *part = p.part + b * d;
      (w ? add_axes<false> : add_axes<true>)(z.data(), apart, part, c, d, sums);
      pair_odds(sums, weight, p.n, p.least[b], safe, odds);
      std::copy(odds, odds + count, out + b * m + start);
    }
  }
}

}  // namespace deciban
