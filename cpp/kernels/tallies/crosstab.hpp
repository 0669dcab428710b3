// Class × level counts of coded columns. Column j's levels stand at offset[j] … offset[j + 1] − 1; a negative code is missing.
#pragma once
#include "kernels/core/views.hpp"

namespace deciban {

// top[j] = the largest code in column j, least = the smallest code anywhere
template <class C>
void code_range(Dense<C> x, std::int64_t* top, std::int64_t* least) {
  std::int64_t low = *least;  // not among `top`, so that the loop can be vectorised
  for (Size i = 0; i < x.n; ++i)
    for (Size j = 0; j < x.d; ++j) {
      const std::int64_t code = x.at(i, j);
      top[j] = code > top[j] ? code : top[j];
      low = code < low ? code : low;
    }
  *least = low;
}

// table[c, offset[j] + x[i, j]] += w[i];  whether every code is a level: others are left out
template <class C>
bool crosstab(Dense<C> x, Labels rows, const std::int64_t* offset, double* table) {
  const Size width = offset[x.d];
  bool known = true;
  for (Size i = 0; i < x.n; ++i) {
    const double w = rows.weight(i);
    double* out = table + rows.y[i] * width;
    for (Size j = 0; j < x.d; ++j) {
      const Size code = x.at(i, j);
      const auto levels = static_cast<std::uint64_t>(offset[j + 1] - offset[j]);
      if (static_cast<std::uint64_t>(code) < levels)  // one test for both ends: a negative code is a large number
        out[offset[j] + code] += w;
      else
        known &= code < 0;
    }
  }
  return known;
}

// The same where every code is known to be a level.
template <class C>
void crosstab_of_levels(Dense<C> x, Labels rows, const std::int64_t* offset, double* table) {
  const Size width = offset[x.d];
  for (Size i = 0; i < x.n; ++i) {
    const double w = rows.weight(i);
    double* out = table + rows.y[i] * width;
#pragma GCC unroll 4
    for (Size j = 0; j < x.d; ++j) out[offset[j] + x.at(i, j)] += w;
  }
}

}  // namespace deciban
