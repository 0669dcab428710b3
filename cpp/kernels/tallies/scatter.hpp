// Scatter matrices Σ w (x − mean)(x − mean)ᵀ of each class (`groups` = k), or pooled (1). With them Σ w x without rounding, of
// the same blocks of rows while they are in a cache.
#pragma once
#include <algorithm>
#include <cmath>
#include "kernels/tallies/exact.hpp"

namespace deciban {

constexpr Size packed_rows = 128;

// s[i, j] += Σ_r a[r, i] a[r, j]  for the 4 rows of s from i and the `wide` vectors of columns from j
template <int wide>
inline void scatter_tile(const double* a, Size count, Size ld, Size i, Size j, double* s, Size s_row) {
  vec acc[4][wide] = {};
  for (Size r = 0; r < count; ++r) {
    const double* row = a + r * ld;
    vec right[wide];
    for (int v = 0; v < wide; ++v) right[v] = load(row + j + v * lanes);
    for (int u = 0; u < 4; ++u) {
      const vec left = all(row[i + u]);
      for (int v = 0; v < wide; ++v) acc[u][v] += left * right[v];
    }
  }
  for (int u = 0; u < 4; ++u)
    for (int v = 0; v < wide; ++v) store(s + (i + u) * s_row + j + v * lanes, load(s + (i + u) * s_row + j + v * lanes) + acc[u][v]);
}

// The upper triangle of s += aᵀa, tile by tile (tiles reach below the diagonal; those cells are not used).
inline void scatter_add(const double* a, Size count, Size ld, double* s) {
  for (Size i = 0; i < ld; i += 4) {
    constexpr int widest = registers / 8;
    Size j = i / lanes * lanes;
    for (; j + widest * lanes <= ld; j += widest * lanes) scatter_tile<widest>(a, count, ld, i, j, s, ld);
    for (; j < ld; j += lanes) scatter_tile<1>(a, count, ld, i, j, s, ld);
  }
}

// s[j, l] = s[l, j] = upper[j, l]
inline void mirror(const double* upper, Size d, Size ld, double* s) {
  for (Size j = 0; j < d; ++j)
    for (Size l = j; l < d; ++l) s[j * d + l] = s[l * d + j] = upper[j * ld + l];
}

// A row near class c's mean to centre on: the mean of its first rows, or with weights its heaviest row. The shift to the
// true mean is put right at the end.
inline void reference(const AnyRows& x, Labels rows, const ByClass& classes, Size c, double* ref) {
  Size first = classes.start[c], last = classes.start[c + 1];
  if (rows.w) {
    Size best = first;
    for (Size o = first; o < last; ++o)
      if (rows.w[classes.order[o]] > rows.w[classes.order[best]]) best = o;
    first = best, last = best + 1;
  }
  if (last - first > packed_rows) last = first + packed_rows;
  for (Size o = first; o < last; ++o)
    for (Size j = 0; j < x.d; ++j) ref[j] += x.cell(classes.order[o], j) / static_cast<double>(last - first);
}

// The rows of one class, centred, wait until there are many: total += aᵀa is then done for all of them.
struct Centred {
  Size d, ld;
  const double* ref;
  double *sum, *packed, *total;
  Size count = 0;

  void add(const double* __restrict row, double root) {
    double* __restrict out = packed + count * ld;
    double* __restrict to = sum;
    const double* __restrict from = ref;
    for (Size j = 0; j < d; ++j) out[j] = root * (row[j] - from[j]);
    for (Size j = 0; j < d; ++j) to[j] += root * out[j];
    if (++count == packed_rows) settle();
  }
  void settle() {
    scatter_add(packed, count, ld, total);
    count = 0;
  }

  // Σ(x − mean)(x − mean)ᵀ = Σ(x − ref)(x − ref)ᵀ − n (mean − ref)(mean − ref)ᵀ
  void close(double n) {
    settle();
    for (Size j = 0; j < d && n > 0; ++j)
      for (Size l = j; l < d; ++l) total[j * ld + l] -= sum[j] / n * sum[l];
  }
};

constexpr Size near_by = 1 << 17;  // doubles that rows of all classes may take while they wait, to be in cache yet

// Whether rows of all classes can wait at once.
inline bool wait_together(Size d, Size k) { return k * packed_rows * ((d + 7) / 8 * 8) <= near_by; }

struct NoSums {
  void add(Size, Size, const double*, Size) {}
};

// Rows are taken in their order where those of all classes can wait, else class after class. What is added, and in what
// order, does not hang on how x lies in memory. `sums` gets all blocks of rows, where they are taken in their order.
template <class Sums>
[[gnu::noinline]] void scatter(AnyRows& x, Labels rows, Size k, Size groups, double* s, Sums& sums) {
  const Size d = x.d, ld = (d + 7) / 8 * 8, size = packed_rows * ld;
  const ByClass classes(rows.y, x.n, k);
  const bool together = wait_together(d, k);
  const Size held = together ? k : 1, totals = together ? groups : 1;
  Scratch packed(held * size), total(totals * ld * ld), ref(k * ld), sum(k * ld);
  std::vector<Centred> all;
  std::vector<double> n(k, 0.0);
  for (Size c = 0; c < k; ++c) {
    if (classes.start[c] < classes.start[c + 1]) reference(x, rows, classes, c, &ref[c * ld]);
    all.push_back({d, ld, &ref[c * ld], &sum[c * ld], &packed[together ? c * size : 0], &total[totals > 1 ? c * ld * ld : 0]});
  }
  const auto take = [&](Size start, Size count) {
    Size stride;
    const double* row = x.at(start, count, stride);
    if (together) sums.add(start, count, row, stride);
    for (Size i = start; i < start + count; ++i, row += stride) {
      const double w = rows.weight(i);
      n[rows.y[i]] += w;
      if (w != 0) all[rows.y[i]].add(row, rows.w ? std::sqrt(w) : 1.0);
    }
  };
  for (Size start = 0; together && start < x.n; start += x.rows) take(start, std::min(x.n - start, x.rows));
  for (Size c = 0; c < k; ++c) {
    for (Size o = classes.start[c]; !together && o < classes.start[c + 1]; ++o) take(classes.order[o], 1);
    all[c].close(n[c]);
    if (groups == 1) continue;
    mirror(all[c].total, d, ld, s + c * d * d);
    if (!together) std::fill(total.data(), total.data() + ld * ld, 0.0);
  }
  if (groups == 1) mirror(total.data(), d, ld, s);
}

template <class Op>
void scatter_and_sums(AnyRows& x, Labels rows, Size k, Size groups, double* s, ExactTotals& totals) {
  ExactRows<Op> sums(x, rows, nullptr, totals, k);
  scatter(x, rows, k, groups, s, sums);
  sums.finish();
}

// `out` as of `exact_sums`.
template <class X>
bool scatter_of(const X& x, Labels rows, Size k, Size groups, double* s, LimbTable (&out)[4]) {
  RowsOf<X> blocks(x);
  if (!wait_together(x.d, k)) {
    NoSums none;
    scatter(blocks, rows, k, groups, s, none);
    return exact_sums(x, rows, k, nullptr, false, out);
  }
  const NearestRounding nearest_rounding;
  for (LimbTable& table : out) table.k = k, table.d = x.d;
  out[0].d = 1;
  ExactTotals totals(k, x.d, false);
  if (rows.w == nullptr)
    scatter_and_sums<PlainSums>(blocks, rows, k, groups, s, totals);
  else
    scatter_and_sums<WeightedSums<false>>(blocks, rows, k, groups, s, totals);
  return totals.into(out, true);
}

}  // namespace deciban
