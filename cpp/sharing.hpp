// What several families want of the same cells, in one pass over each column: the key of every cell on a grid that does
// not depend on the data, moments, moments of logarithms, sums of whole numbers, and the weight of what is none.
//
// Rows are taken by class, so that sums stay in registers. Sums run over x − r, where r is the first of the heaviest
// cells: it is one of those averaged, so the closing subtraction loses at most log2(n) bits.
#pragma once
#include <algorithm>
#include <cstring>
#include <limits>
#include "moments.hpp"
#include "simd.hpp"

namespace deciban {

constexpr long long key_shift = 40, infinite_key = 0x7FF000, missing_key = 0x7FFFFF;

// Tables (k, d); keys (d, n), rows by class.
struct Shared {
  double *seen, *mean, *m2;              // of the cells that are there
  double *positive, *log_mean, *log_m2;  // of the logarithms of those above 0
  double *whole, *total;                 // of whole numbers ≥ 0
  double *not_positive, *not_whole;      // what weight the others have
  std::int32_t* keys;
};

// Sums that add up lane by lane.
struct Lanes {
  vec n = all(0.0), s1 = all(0.0), s2 = all(0.0);
  void add(vec delta, vec w) {
    n += w;
    s1 += w * delta;
    s2 += w * delta * delta;
  }
};

inline double total(vec v) {
  double out = 0.0;
  for (Size l = 0; l < lanes; ++l) out += v[l];
  return out;
}

// The sign, exponent and leading 12 bits of the mantissa, in the order of numbers.
inline ivec keys_of(vec x) {
  const ivec bits = (ivec)x, sign = bits >> 63, size = (bits & 0x7FFFFFFFFFFFFFFFLL) >> key_shift;
  return x != x ? ivec{} + missing_key : (size ^ sign) - sign;
}

inline void store_keys(std::int32_t* p, ivec keys, Size count) {
  typedef std::int32_t narrow __attribute__((vector_size(4 * lanes)));
  const narrow out = __builtin_convertvector(keys, narrow);
  std::memcpy(p, &out, static_cast<std::size_t>(count) * 4);
}

template <class T>
class Column {
 public:
  static constexpr Size block = 512;

  Column(Dense<T> x, const double* w) : x_(x), j_(0), w_(w), cells_(block), weights_(block) {}
  void of(Size j) { j_ = j; }

  // The first of the heaviest cells above `least`; 0 if there is none.
  double reference(const Size* rows, Size n, double least) const {
    double heaviest = 0.0, out = 0.0;
    for (Size i = 0; i < n; ++i) {
      const double v = x_.at(rows[i], j_), w = w_ ? w_[rows[i]] : 1.0;
      if (!(v > least) || w <= heaviest) continue;
      heaviest = w, out = v;
      if (!w_) break;
    }
    return out;
  }

  // Up to `block` cells and their weights; what has no weight, and lanes after the last, hold `ref`.
  void fetch(const Size* rows, Size n, double ref) {
    for (Size i = 0; i < n; ++i) cells_[i] = x_.at(rows[i], j_);
    std::fill_n(weights_.data(), n, 1.0);
    for (Size i = 0; w_ && i < n; ++i) {
      weights_[i] = w_[rows[i]];
      if (weights_[i] == 0) cells_[i] = ref;
    }
    for (Size i = n; i % lanes; ++i) cells_[i] = ref, weights_[i] = 0.0;
  }
  vec cells(Size i) { return load(cells_.data() + i); }
  vec weights(Size i) { return load(weights_.data() + i); }

 private:
  Dense<T> x_;
  Size j_;
  const double* w_;
  Scratch cells_, weights_;
};

inline void close(const Lanes& sums, double ref, double& n, double& mean, double& m2) {
  n = total(sums.n), mean = total(sums.s1), m2 = total(sums.s2);
  close_moments(&ref, n, 1, &mean, &m2);
}

// What is found on the way.
enum Found { nothing = 0, infinite = 1, missing = 2 };

inline bool any(ivec mask) {
  for (Size l = 0; l < lanes; ++l)
    if (mask[l]) return true;
  return false;
}

// One class of one column; `at` is its place in the tables.
template <class T>
int share_run(Column<T>& column, const Size* rows, Size n, Size at, std::int32_t* keys, const Shared& out) {
  const double ref = column.reference(rows, n, -std::numeric_limits<double>::infinity());
  const double first = column.reference(rows, n, 0.0), log_ref = log_positive(all(first > 0 ? first : 1.0))[0];
  Lanes cells, logs;
  vec whole = all(0.0), events = all(0.0), low = all(0.0), broken = all(0.0);
  ivec endless = {}, gone = {};
  const vec none = all(0.0), even = all(4503599627370496.0);  // 2^52: from here on all numbers are whole
  for (Size start = 0; start < n; start += Column<T>::block) {
    const Size count = std::min(n - start, Column<T>::block);
    column.fetch(rows + start, count, ref);
    for (Size i = 0; i < count; i += lanes) {
      const vec x = column.cells(i);
      const ivec here = x == x, key = keys_of(x), positive = x > none;
      const vec w = here ? column.weights(i) : none;
      cells.add(here ? x - ref : none, w);
      logs.add(positive ? log_positive(positive ? x : all(1.0)) - log_ref : none, positive ? w : none);
      const ivec counts = (x >= none) & ((x >= even) | ((x + even) - even == x));
      whole += counts ? w : none;
      events += counts ? w * x : none;
      low += positive ? none : w;
      broken += counts ? none : w;
      endless |= (key == infinite_key) | (key == -infinite_key);
      gone |= ~here;
      store_keys(keys + start + i, key, std::min(count - i, lanes));
    }
  }
  close(cells, ref, out.seen[at], out.mean[at], out.m2[at]);
  close(logs, log_ref, out.positive[at], out.log_mean[at], out.log_m2[at]);
  out.whole[at] = total(whole), out.total[at] = total(events);
  out.not_positive[at] = total(low), out.not_whole[at] = total(broken);
  return (any(endless) ? infinite : nothing) | (any(gone) ? missing : nothing);
}

// start[c] … start[c + 1] receive where the rows of class c are.
template <class T>
int share(Dense<T> x, Labels rows, Size k, const Shared& out, std::int64_t* start) {
  const ByClass classes(rows.y, x.n, k);
  std::copy(classes.start.begin(), classes.start.end(), start);
  Column<T> column(x, rows.w);
  int found = nothing;
  for (Size j = 0; j < x.d; ++j) {
    column.of(j);
    for (Size c = 0; c < k; ++c)
      found |= share_run(column, classes.order.data() + start[c], start[c + 1] - start[c], c * x.d + j,
                         out.keys + j * x.n + start[c], out);
  }
  return found;
}

}  // namespace deciban
