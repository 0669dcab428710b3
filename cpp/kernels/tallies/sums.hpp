// Weights of classes, and what is looked up in all values: the least, the largest, whether they are finite.
#pragma once
#include <cmath>
#include "kernels/core/row_blocks.hpp"

namespace deciban {

struct Raw {
  double operator()(double v) const { return v; }
};
struct Above {
  double threshold;
  double operator()(double v) const { return (v > threshold ? 1.0 : 0.0) + (v - v); }  // NaN and ±∞ become NaN
};

// n[c] += w[i]
inline void weights(Labels rows, Size n, double* out) {
  for (Size i = 0; i < n; ++i) out[rows.y[i]] += rows.weight(i);
}

// The largest |value|; NaN never is.
inline double largest(const double* values, Size size) {
  vec high = all(0.0);
  Size p = 0;
  for (; p + lanes <= size; p += lanes) {
    const vec v = load(values + p);
    high = larger(v < all(0.0) ? -v : v, high);
  }
  double out = 0.0;
  for (Size l = 0; l < lanes; ++l) out = high[l] > out ? high[l] : out;
  for (; p < size; ++p) out = std::fabs(values[p]) > out ? std::fabs(values[p]) : out;
  return out;
}

// Whether all values are finite: v − v is 0, and NaN of what is not.
inline bool all_finite(const double* values, Size size) {
  vec rest = all(0.0);
  Size p = 0;
  for (; p + lanes <= size; p += lanes) {
    const vec v = load(values + p);
    rest += v - v;
  }
  double out = 0.0;
  for (Size l = 0; l < lanes; ++l) out += rest[l];
  for (; p < size; ++p) out += values[p] - values[p];
  return out == 0.0;
}

// The least stored value; NaN never is.
template <class T>
double least(const T* values, Size size) {
  T low = 0;
  for (Size p = 0; p < size; ++p) low = values[p] < low ? values[p] : low;
  return low;
}

}  // namespace deciban
