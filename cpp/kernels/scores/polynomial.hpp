// Scores that are polynomials of the cells.
#pragma once
#include <algorithm>
#include "kernels/scores/scores.hpp"

namespace deciban {

// out[i, c] = Σ_m Σ_j coef[m − 1, c, j] x (w x)^m for m from 1 to `terms`;  w null: 1
inline void series(Dense<double> x, const double* w, const double* coef, Size terms, Size k, double* out) {
  const Size d = x.d;
  Scratch t(tile * together), power(tile * together), scores(k * together);
  double weight[together];
  for (Size start = 0; start < x.n; start += together) {
    const Size count = std::min(x.n - start, together);
    for (Size r = 0; r < together; ++r) weight[r] = w ? w[start + std::min(r, count - 1)] : 1.0;
    std::fill(scores.data(), scores.data() + k * together, 0.0);
    for (Size from = 0; from < d; from += tile) {
      const Size cols = std::min(d - from, tile);
      pack<together>(x, start, count, from, cols, t.data());
      std::copy(t.data(), t.data() + cols * together, power.data());
      for (Size m = 0; m < terms; ++m) {
        for (Size j = 0; j < cols; ++j)
          for (Size r = 0; r < together; ++r) power[j * together + r] *= t[j * together + r] * weight[r];
        const double* b = coef + m * k * d + from;
        Size c = 0;
        for (; c + 5 <= k; c += 5) affine_tile<5>(power.data(), cols, b + c * d, d, 1, &scores[c * together], NothingAhead{});
        for (; c + 2 <= k; c += 2) affine_tile<2>(power.data(), cols, b + c * d, d, 1, &scores[c * together], NothingAhead{});
        for (; c < k; ++c) affine_tile<1>(power.data(), cols, b + c * d, d, 1, &scores[c * together], NothingAhead{});
      }
    }
    unpack<together>(scores.data(), start, count, k, out);
  }
}

}  // namespace deciban
