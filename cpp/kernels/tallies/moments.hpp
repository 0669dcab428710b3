// Per class mean and centred sum of squares, in one pass.
//
// Sums run over x − r, where r is the class's first row. It is one of the rows averaged, so Σ(x − r)² ≤ (1 + n) Σ(x − mean)²:
// the closing subtraction loses at most log2(n) bits, whatever the magnitudes. Where rows so far weigh next to nothing
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

constexpr Size reach = 1024;  // doubles ahead that are asked for: less, or into the first cache, measured no gain

// Rows of a class wait until there are four: sums are then fetched and put back once for all of them. What is added, and in
// what order, stays the same.
struct Waiting {
  static constexpr Size full = 4;
  const double* row[full];
  double weight[full];
  Size count = 0;

  void add_to(const double* __restrict r, Size d, double* __restrict s1, double* __restrict s2) {
    if (count == full) {
      const double *__restrict a = row[0], *__restrict b = row[1], *__restrict c = row[2], *__restrict e = row[3];
      for (Size j = 0; j < d; ++j) {
        double first = s1[j], second = s2[j];
        const auto take = [&, ref = r[j]](double x, double w) {
          const double delta = x - ref;
          first += w * delta;
          second += w * delta * delta;
        };
        take(a[j], weight[0]);
        take(b[j], weight[1]);
        take(c[j], weight[2]);
        take(e[j], weight[3]);
        s1[j] = first;
        s2[j] = second;
      }
    } else {
      for (Size i = 0; i < count; ++i)
        for (Size j = 0; j < d; ++j) {
          const double delta = row[i][j] - r[j];
          s1[j] += weight[i] * delta;
          s2[j] += weight[i] * delta * delta;
        }
    }
    count = 0;
  }
};

template <class X>
void moments(const X& x, Labels rows, Size k, double* n, double* mean, double* m2) {
  const bool small = k * x.d <= 1 << 14;  // then sums are kept where no vector of them straddles two cache lines
  const Size ld = small ? (x.d + 7) / 8 * 8 : x.d;
  Scratch memory((small ? 3 : 1) * k * ld);
  double* ref = memory.data();
  double* first = small ? ref + k * ld : mean;
  double* second = small ? first + k * ld : m2;
  const Size patience = small ? Waiting::full : 1;  // rows that wait are still in the cache when their turn comes
  std::vector<Waiting> waiting(static_cast<std::size_t>(k));
  const auto serve = [&](Size c) { waiting[c].add_to(ref + c * ld, x.d, first + c * ld, second + c * ld); };
  RowBlocks<X> blocks(x);
  const bool ahead = blocks.direct();
  for (Size start = 0; start < x.n; start += blocks.rows) {
    const Size count = x.n - start < blocks.rows ? x.n - start : blocks.rows;
    Size stride;
    const double* block = blocks.at(start, count, stride);
    for (Size i = 0; i < count; ++i) {
      const double w = rows.weight(start + i);
      if (w == 0) continue;
      const Size c = rows.y[start + i];
      const double* row = block + i * stride;
      for (Size j = 0; ahead && j < x.d; j += 8) __builtin_prefetch(row + reach + j, 0, 2);
      if (outweighs(w, n[c])) {
        serve(c);
        double *r = ref + c * ld, *s1 = first + c * ld, *s2 = second + c * ld;
        for (Size j = 0; j < x.d; ++j) move_reference(row[j], n[c], r[j], s1[j], s2[j]);
      }
      n[c] += w;
      Waiting& queue = waiting[c];
      queue.row[queue.count] = row;
      queue.weight[queue.count] = w;
      if (++queue.count == patience) serve(c);
    }
    if (!ahead || start + count == x.n)
      for (Size c = 0; c < k; ++c) serve(c);
  }
  for (Size c = 0; c < k; ++c) {
    close_moments(ref + c * ld, n[c], x.d, first + c * ld, second + c * ld);
    if (!small) continue;
    std::copy_n(first + c * ld, x.d, mean + c * x.d);
    std::copy_n(second + c * ld, x.d, m2 + c * x.d);
  }
}

// Every cell has its own n: n[c, j].
template <class X>
void moments_missing(const X& x, Labels rows, Size k, double* n, double* mean, double* m2) {
  std::vector<double> ref(static_cast<std::size_t>(k * x.d), 0.0);
  RowBlocks<X> blocks(x);
  for (Size start = 0; start < x.n; start += blocks.rows) {
    const Size count = x.n - start < blocks.rows ? x.n - start : blocks.rows;
    Size stride;
    const double* block = blocks.at(start, count, stride);
    for (Size i = 0; i < count; ++i) {
      const double w = rows.weight(start + i);
      if (w == 0) continue;
      const double* __restrict row = block + i * stride;
      const Size at = rows.y[start + i] * x.d;
      double* __restrict r = ref.data() + at;
      double* __restrict seen = n + at;
      double* __restrict s1 = mean + at;
      double* __restrict s2 = m2 + at;
      for (Size j = 0; j < x.d; ++j) {
        const bool here = row[j] == row[j];
        if (here && outweighs(w, seen[j])) move_reference(row[j], seen[j], r[j], s1[j], s2[j]);
        const double delta = here ? row[j] - r[j] : 0.0;
        seen[j] += here ? w : 0.0;
        s1[j] += w * delta;
        s2[j] += w * delta * delta;
      }
    }
  }
  for (Size cell = 0; cell < k * x.d; ++cell) close_moments(ref.data() + cell, n[cell], 1, mean + cell, m2 + cell);
}

// Of the classes first … first + k − 1. Stored cells first (n_c, mean, m2 of those alone), then the zeros join by the
// pairwise update.
template <class T>
void moments(Csr<T> x, Labels rows, Size first, Size k, double* n, double* mean, double* m2) {
  const ByClass classes(rows.y, x.n, k, first);
  std::vector<double> ref(static_cast<std::size_t>(x.d)), seen(static_cast<std::size_t>(x.d));
  for (Size c = 0; c < k; ++c) {
    std::fill(seen.begin(), seen.end(), 0.0);
    std::fill(ref.begin(), ref.end(), 0.0);
    double* s1 = mean + c * x.d;
    double* s2 = m2 + c * x.d;
    for (Size o = classes.start[c]; o < classes.start[c + 1]; ++o) {
      const Size i = classes.order[o];
      const double w = rows.weight(i);
      if (o + 1 < classes.start[c + 1]) prefetch(x, classes.order[o + 1]);
      if (w == 0) continue;
      n[c] += w;
      for (Size p = x.indptr[i]; p < x.indptr[i + 1]; ++p) {
        const Size j = x.indices[p];
        const double v = x.values[p];
        if (outweighs(w, seen[j])) move_reference(v, seen[j], ref[j], s1[j], s2[j]);
        seen[j] += w;
        const double delta = v - ref[j];
        s1[j] += w * delta;
        s2[j] += w * delta * delta;
      }
    }
    for (Size j = 0; j < x.d; ++j) {
      if (seen[j] == 0) continue;
      close_moments(&ref[j], seen[j], 1, s1 + j, s2 + j);
      const double zeros = n[c] - seen[j] > 0 ? n[c] - seen[j] : 0.0;
      s2[j] += s1[j] * s1[j] * (seen[j] * (zeros / n[c]));
      s1[j] *= zeros > 0 ? seen[j] / n[c] : 1.0;
    }
  }
}

}  // namespace deciban
