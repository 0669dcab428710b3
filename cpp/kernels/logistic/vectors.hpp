// Several long vectors against one: each is read once, a piece at a time, while the one's piece stays in cache.
#pragma once
#include <algorithm>
#include "kernels/core/simd.hpp"

namespace deciban {

constexpr Size piece = 1024;

// a · b
inline double inner(const double* a, const double* b, Size n) {
  vec sum[4] = {};
  Size j = 0;
  for (; j + 4 * lanes <= n; j += 4 * lanes)
    for (int u = 0; u < 4; ++u) sum[u] += load(a + j + u * lanes) * load(b + j + u * lanes);
  const vec all_sums = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  double out = 0.0;
  for (Size l = 0; l < lanes; ++l) out += all_sums[l];
  for (; j < n; ++j) out += a[j] * b[j];
  return out;
}

// out[v] += Σ_j vectors[v][j] g[j]
inline void dots(const double* const* vectors, Size count, const double* g, Size n, double* out) {
  for (Size start = 0; start < n; start += piece)
    for (Size v = 0; v < count; ++v) out[v] += inner(vectors[v] + start, g + start, std::min(piece, n - start));
}

// out[j] += Σ_v factors[v] vectors[v][j]
inline void plus(const double* const* vectors, Size count, const double* factors, Size n, double* out) {
  for (Size start = 0; start < n; start += piece)
    for (Size v = 0; v < count; ++v) {
      const double* __restrict from = vectors[v] + start;
      double* __restrict to = out + start;
      const double factor = factors[v];
      const Size end = std::min(piece, n - start);
      for (Size j = 0; j < end; ++j) to[j] += factor * from[j];
    }
}

}  // namespace deciban
