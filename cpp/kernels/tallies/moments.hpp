// Mean and centred sum of squares from sums over x − r, where r is one of the rows: Σ(x − r)² ≤ (1 + n) Σ(x − mean)²,
// so the closing subtraction loses at most log2(n) bits, whatever the magnitudes. Where rows so far weigh next to nothing
// beside a new one, the new one becomes the reference.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>
#include "kernels/core/row_blocks.hpp"

namespace deciban {

inline bool outweighs(double w, double so_far) { return w > 1024 * so_far; }

// Sums over x − r become sums over x − next.
inline void move_reference(double next, double n, double& r, double& s1, double& s2) {
  const double move = r - next;
  s2 += move * (2 * s1 + n * move);
  s1 += n * move;
  r = next;
}

// mean = r + s1 / n,   m2 = s2 − s1² / n;   s1 arrives in `mean`, s2 in `m2`
inline void close_moments(const double* ref, double n, Size d, double* mean, double* m2) {
  for (Size j = 0; j < d; ++j) {
    const double s1 = mean[j];
    const double shift = n > 0 ? s1 / n : 0.0;
    const double left = m2[j] - s1 * shift;
    m2[j] = left < 0 ? 0.0 : left;  // NaN stays NaN: it tells the caller that the data were not finite
    mean[j] = n > 0 ? ref[j] + shift : 0.0;
  }
}

}  // namespace deciban
