// Rows of one class, some together, one to a lane: what the passes that leave rows out share.
#pragma once
#include <algorithm>
#include "kernels/scores/scores.hpp"

namespace deciban {

// t[j, r] −= mean[j]
inline void centre(const double* mean, Size d, double* t) {
  for (Size j = 0; j < d; ++j)
    for (Size r = 0; r < together; ++r) t[j * together + r] -= mean[j];
}

// z[u, r] = Σ_j a[u, j] t[j, r];  a is (d, d)
inline void turned(const double* a, Size d, const double* t, double* z) {
  for (Size cell = 0; cell < d * together; ++cell) z[cell] = 0.0;
  Size u = 0;
  for (; u + 5 <= d; u += 5) affine_tile<5>(t, d, a + u * d, d, 1, z + u * together, NothingAhead{});
  for (; u < d; ++u) affine_tile<1>(t, d, a + u * d, d, 1, z + u * together, NothingAhead{});
}

// sums[q, r] = Σ_j coef[q, j] t[j, r]
inline void products(const double* coef, Size p, Size d, const double* t, double* sums) {
  std::fill(sums, sums + p * together, 0.0);
  Size q = 0;
  for (; q + 5 <= p; q += 5) affine_tile<5>(t, d, coef + q * d, d, 1, sums + q * together, NothingAhead{});
  for (; q < p; ++q) affine_tile<1>(t, d, coef + q * d, d, 1, sums + q * together, NothingAhead{});
}

}  // namespace deciban
