// Per class Σ w x, of the values or of the indicator [x > above].
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

// total[c, j] += w[i] · f(x[i, j])   for every row i of class c
template <class X, class F>
void sums(const X& x, Labels rows, F f, double* total) {
  RowBlocks<X> blocks(x);
  for (Size start = 0; start < x.n; start += blocks.rows) {
    const Size count = x.n - start < blocks.rows ? x.n - start : blocks.rows;
    Size stride;
    const double* block = blocks.at(start, count, stride);
    for (Size i = 0; i < count; ++i) {
      const double w = rows.weight(start + i);
      if (w == 0) continue;
      const double* row = block + i * stride;
      double* out = total + rows.y[start + i] * x.d;
      for (Size j = 0; j < x.d; ++j) out[j] += w * f(row[j]);
    }
  }
}

// The same where cells may be missing: seen[c, j] += w[i] where x[i, j] is there, and only then total.
template <class X, class F>
void sums_missing(const X& x, Labels rows, F f, double* seen, double* total) {
  RowBlocks<X> blocks(x);
  for (Size start = 0; start < x.n; start += blocks.rows) {
    const Size count = x.n - start < blocks.rows ? x.n - start : blocks.rows;
    Size stride;
    const double* block = blocks.at(start, count, stride);
    for (Size i = 0; i < count; ++i) {
      const double w = rows.weight(start + i);
      const double* row = block + i * stride;
      const Size c = rows.y[start + i] * x.d;
      for (Size j = 0; j < x.d; ++j) {
        const bool here = !std::isnan(row[j]);
        seen[c + j] += here ? w : 0.0;
        total[c + j] += here ? w * f(row[j]) : 0.0;
      }
    }
  }
}

// The same for the classes first … first + k − 1. f(0) must be 0: a cell that is not stored adds nothing.
template <class T, class F>
void sums(Csr<T> x, Labels rows, Size first, Size k, F f, double* total) {
  const ByClass classes(rows.y, x.n, k, first);
  for (Size c = 0; c < k; ++c) {
    double* out = total + c * x.d;
    for (Size o = classes.start[c]; o < classes.start[c + 1]; ++o) {
      const Size i = classes.order[o];
      const double w = rows.weight(i);
      if (o + 1 < classes.start[c + 1]) prefetch(x, classes.order[o + 1]);
      if (w == 0) continue;
      for (Size p = x.indptr[i]; p < x.indptr[i + 1]; ++p) out[x.indices[p]] += w * f(x.values[p]);
    }
  }
}

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
