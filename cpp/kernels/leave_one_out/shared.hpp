// Gaussians that share a covariance, each row left out of its own class.
#pragma once
#include <algorithm>
#include "kernels/leave_one_out/rows.hpp"

namespace deciban {

// Of a row of class a, without itself: with δ = x − mean_a and white of the identity,
// norms[i, c] = |x − mean_c|² in the metric (I − φ δδᵀ) τ;  lever[i] = 1 − φ δᵀδ.  `white` is (d, d), lower triangular.
inline void left_shared(Dense<double> x, const std::int32_t* y, Size k, const double* mean, const double* white,
                        const double* phi, const double* tau, double* norms, double* lever) {
  const Size d = x.d;
  const ByClass classes(y, x.n, k);
  Scratch delta(d * together), z(d * together), apart(k * d), near(k * together), length(k);
  for (Size a = 0; a < k; ++a) {
    const Size first = classes.start[a], last = classes.start[a + 1];
    if (first == last) continue;
    for (Size c = 0; c < k; ++c) {  // apart[c] = white (mean_a − mean_c)
      length[c] = 0.0;
      for (Size u = 0; u < d; ++u) {
        double sum = 0.0;
        for (Size j = 0; j <= u; ++j) sum += white[u * d + j] * (mean[a * d + j] - mean[c * d + j]);
        apart[c * d + u] = sum, length[c] += sum * sum;
      }
    }
    for (Size start = first; start < last; start += together) {
      const Size count = std::min(last - start, together);
      const Size* rows = classes.order.data() + start;
      for (Size r = 0; r < together; ++r) {
        const double* row = x.data + rows[std::min(r, count - 1)] * x.row;
        for (Size j = 0; j < d; ++j) delta[j * together + r] = row[j * x.col] - mean[a * d + j];
      }
      std::fill(z.data(), z.data() + d * together, 0.0);
      Size u = 0;
      for (; u + 5 <= d; u += 5) affine_tile<5>(delta.data(), u + 5, white + u * d, d, 1, &z[u * together], NothingAhead{});
      for (; u < d; ++u) affine_tile<1>(delta.data(), u + 1, white + u * d, d, 1, &z[u * together], NothingAhead{});
      double own[together] = {};
      for (Size j = 0; j < d; ++j)
        for (Size r = 0; r < together; ++r) own[r] += z[j * together + r] * z[j * together + r];
      products(apart.data(), k, d, z.data(), near.data());
      for (Size r = 0; r < count; ++r) {
        const Size i = rows[r];
        lever[i] = 1.0 - phi[i] * own[r];
        const double ratio = phi[i] / lever[i], shorter = 1.0 / tau[i];
        for (Size c = 0; c < k; ++c) {
          const double n = near[c * together + r] + own[r];
          norms[i * k + c] = (length[c] - own[r] + n * (2.0 + n * ratio)) * shorter;
        }
      }
    }
  }
}

}  // namespace deciban
