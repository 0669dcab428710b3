// What several families want of the same cells, in one pass over each column: the key of every cell on a grid that does
// not depend on the data, moments, moments of logarithms, sums of whole numbers, and the weight of what is none.
//
// Rows are taken by class, so that sums stay in registers. Sums run over x − r, where r is the first of the heaviest
// cells: it is one of those averaged, so the closing subtraction loses at most log2(n) bits.
#pragma once
#include <algorithm>
#include <cstring>
#include <limits>
#include "kernels/core/arguments.hpp"
#include "kernels/core/simd.hpp"
#include "kernels/tallies/moments.hpp"

namespace deciban {

// The sign, exponent and leading 12 bits of the mantissa, in the order of numbers.
inline ivec keys_of(vec x) {
  const ivec bits = (ivec)x, sign = bits >> 63, size = (bits & 0x7FFFFFFFFFFFFFFFLL) >> key_shift;
  return (size ^ sign) - sign;
}

inline void store_keys(std::int32_t* p, ivec keys) {
  typedef std::int32_t narrow __attribute__((vector_size(4 * lanes)));
  const narrow out = __builtin_convertvector(keys, narrow);
  std::memcpy(p, &out, sizeof out);
}

// Cells that are whole numbers ≥ 0; from 2^52 on all numbers are whole.
inline ivec whole_numbers(vec x) {
  const vec even = all(4503599627370496.0);
  return (x >= all(0.0)) & ((x >= even) | ((x + even) - even == x));
}

inline double sum(vec v) {
  double out = 0.0;
  for (Size l = 0; l < lanes; ++l) out += v[l];
  return out;
}

inline double sum(ivec v) {
  long long out = 0;
  for (Size l = 0; l < lanes; ++l) out += v[l];
  return static_cast<double>(out);
}

inline bool any(ivec mask) {
  for (Size l = 0; l < lanes; ++l)
    if (mask[l]) return true;
  return false;
}

// What is found on the way.
enum Found { nothing = 0, infinite = 1, missing = 2 };

// The sums of one class in one column, each about a reference.
struct Sums {
  double ref, log_ref;
  vec n = all(0.0), s1 = all(0.0), s2 = all(0.0), positive = all(0.0), log1 = all(0.0), log2 = all(0.0);
  vec whole = all(0.0), total = all(0.0), not_positive = all(0.0), not_whole = all(0.0);
  ivec endless = {}, gone = {};

  // Any cells with any weights.
  ivec add(vec x, vec given) {
    const vec none = all(0.0);
    const ivec here = x == x, above = x > none, counts = whole_numbers(x);
    const vec w = here ? given : none, delta = here ? x - ref : none;
    const vec log = above ? log_positive(above ? x : all(1.0)) - log_ref : none;
    n += w, s1 += w * delta, s2 += w * delta * delta;
    positive += above ? w : none, log1 += w * log, log2 += w * log * log;
    not_positive += above ? none : w;
    whole += counts ? w : none, total += counts ? w * x : none;
    not_whole += counts ? none : w;
    const ivec key = here ? keys_of(x) : ivec{} + missing_key;
    endless |= (key == infinite_key) | (key == -infinite_key);
    gone |= ~here;
    return key;
  }

  void write(const Shared& out, Size at) const {
    out.seen[at] = sum(n), out.mean[at] = sum(s1), out.m2[at] = sum(s2);
    close_moments(&ref, out.seen[at], 1, out.mean + at, out.m2 + at);
    out.positive[at] = sum(positive), out.log_mean[at] = sum(log1), out.log_m2[at] = sum(log2);
    close_moments(&log_ref, out.positive[at], 1, out.log_mean + at, out.log_m2 + at);
    out.whole[at] = sum(whole), out.total[at] = sum(total);
    out.not_positive[at] = sum(not_positive), out.not_whole[at] = sum(not_whole);
  }
  int found() const { return (any(endless) ? infinite : nothing) | (any(gone) ? missing : nothing); }
};

// The same of cells that are all there and finite, of weight 1: NaN and infinity show in the sums.
struct PlainSums {
  double ref, log_ref;
  vec s1 = all(0.0), s2 = all(0.0), log1 = all(0.0), log2 = all(0.0), total = all(0.0);
  ivec positive = {}, whole = {};
  Size count = 0;

  ivec add(vec x) {
    const vec none = all(0.0), delta = x - ref;
    const ivec above = x > none, counts = whole_numbers(x);
    const vec log = above ? log_positive(above ? x : all(1.0)) - log_ref : none;
    s1 += delta, s2 += delta * delta, log1 += log, log2 += log * log;
    positive -= above, whole -= counts;
    total += counts ? x : none;
    count += lanes;
    return keys_of(x);
  }

  bool holds() const { return std::isfinite(sum(s1)); }

  Sums counted() const {
    Sums out{ref, log_ref};
    out.s1 = s1, out.s2 = s2, out.log1 = log1, out.log2 = log2, out.total = total;
    const double n = static_cast<double>(count);
    out.n[0] = n, out.positive[0] = sum(positive), out.whole[0] = sum(whole);
    out.not_positive[0] = n - out.positive[0], out.not_whole[0] = n - out.whole[0];
    return out;
  }
};

// The cells of one class in one column.
template <class X>
class Run {
 public:
  static constexpr Size block = 512;

  Run(const X& x, Size j, const double* w, const Size* rows, Size n) 
      : x_(x), column_(x.column(j)), j_(j), w_(w), rows_(rows), n_(n) {}

  // The first of the heaviest cells above `least`; 0 if there is none.
  double reference(double least) const {
    double heaviest = 0.0, out = 0.0;
    for (Size i = 0; i < n_; ++i) {
      const double v = cell(i), w = weight(i);
      if (!(v > least) || w <= heaviest) continue;
      heaviest = w, out = v;
      if (!w_) break;
    }
    return out;
  }

  // Plain cells are tried first; whether they were.
  bool plain(PlainSums& sums, std::int32_t* keys) const {
    if (w_) return false;
    alignas(64) double cells[block];
    const Size full = n_ / lanes * lanes;
    for (Size start = 0; start < full; start += block) {
      const Size count = std::min(full - start, block);
      if (column_)
        for (Size i = 0; i < count; ++i) cells[i] = column_[rows_[start + i]];
      else
        for (Size i = 0; i < count; ++i) cells[i] = cell(start + i);
      for (Size i = 0; i < count; i += lanes) store_keys(keys + start + i, sums.add(load(cells + i)));
    }
    return sums.holds();
  }

  // The cells from `from` on. What has no weight, and lanes after the last, hold the reference.
  void any(Sums& sums, Size from, std::int32_t* keys) const {
    alignas(64) double cells[block], weights[block];
    alignas(64) std::int32_t found[block];
    for (Size start = from; start < n_; start += block) {
      const Size count = std::min(n_ - start, block), full = (count + lanes - 1) / lanes * lanes;
      for (Size i = 0; i < full; ++i) weights[i] = i < count ? weight(start + i) : 0.0;
      for (Size i = 0; i < full; ++i) cells[i] = weights[i] != 0 ? cell(start + i) : sums.ref;
      for (Size i = 0; i < full; i += lanes) store_keys(found + i, sums.add(load(cells + i), load(weights + i)));
      std::copy_n(found, count, keys + start);
    }
  }

  int share(std::int32_t* keys, const Shared& out, Size at) const {
    const double first = reference(0.0), log_ref = log_positive(all(first > 0 ? first : 1.0))[0];
    const double ref = reference(-std::numeric_limits<double>::infinity());
    PlainSums tried{ref, log_ref};
    const bool done = plain(tried, keys);
    Sums sums = done ? tried.counted() : Sums{ref, log_ref};
    any(sums, done ? tried.count : 0, keys);
    sums.write(out, at);
    return sums.found();
  }

 private:
  double cell(Size i) const { return x_.at(rows_[i], j_); }
  double weight(Size i) const { return w_ ? w_[rows_[i]] : 1.0; }

  const X& x_;
  const typename X::Cell* column_;  // null: its cells lie apart
  Size j_;
  const double* w_;
  const Size* rows_;
  Size n_;
};

// start[c] … start[c + 1] receive where the rows of class c are.
template <class X>
int share(const X& x, Labels rows, Size k, const Shared& out, std::int64_t* start) {
  const ByClass classes(rows.y, x.n, k);
  std::copy(classes.start.begin(), classes.start.end(), start);
  int found = nothing;
  for (Size j = 0; j < x.d; ++j)
    for (Size c = 0; c < k; ++c) {
      const Run<X> run(x, j, rows.w, classes.order.data() + start[c], start[c + 1] - start[c]);
      found |= run.share(out.keys + j * x.n + start[c], out, c * x.d + j);
    }
  return found;
}

}  // namespace deciban
