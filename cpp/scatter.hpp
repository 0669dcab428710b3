// Per class mean and scatter matrix Σ w (x − mean)(x − mean)ᵀ; `groups` = k, or 1 to pool the matrices of all classes.
#pragma once
#include <algorithm>
#include <cmath>
#include "simd.hpp"

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
template <class X>
void reference(const X& x, Labels rows, const ByClass& classes, Size c, double* ref) {
  Size first = classes.start[c], last = classes.start[c + 1];
  if (rows.w) {
    Size best = first;
    for (Size o = first; o < last; ++o)
      if (rows.w[classes.order[o]] > rows.w[classes.order[best]]) best = o;
    first = best, last = best + 1;
  }
  if (last - first > packed_rows) last = first + packed_rows;
  std::fill(ref, ref + x.d, 0.0);
  for (Size o = first; o < last; ++o)
    for (Size j = 0; j < x.d; ++j) ref[j] += x.at(classes.order[o], j) / static_cast<double>(last - first);
}

template <class X>
void scatter(const X& x, Labels rows, Size k, Size groups, double* n, double* mean, double* s) {
  const Size d = x.d, ld = (d + 7) / 8 * 8;
  const ByClass classes(rows.y, x.n, k);
  Scratch packed(packed_rows * ld), total(ld * ld);
  std::vector<double> ref(d), sum(d);
  for (Size c = 0; c < k; ++c) {
    const Size first = classes.start[c], last = classes.start[c + 1];
    if (first == last) continue;
    reference(x, rows, classes, c, ref.data());
    std::fill(sum.begin(), sum.end(), 0.0);
    if (groups > 1) std::fill(total.data(), total.data() + ld * ld, 0.0);
    for (Size o = first; o < last; o += packed_rows) {
      const Size count = last - o < packed_rows ? last - o : packed_rows;
      for (Size r = 0; r < count; ++r) {
        const Size i = classes.order[o + r];
        const double w = rows.weight(i), root = rows.w ? std::sqrt(w) : 1.0;
        double* __restrict out = packed.data() + r * ld;
        double* __restrict add = sum.data();
        n[c] += w;
        if (w == 0) {
          std::fill(out, out + d, 0.0);
          continue;
        }
        if (const auto* __restrict row = x.rows_from(i)) {
          for (Size j = 0; j < d; ++j) out[j] = root * (row[j] - ref[j]);
        } else {
          for (Size j = 0; j < d; ++j) out[j] = root * (x.at(i, j) - ref[j]);
        }
        for (Size j = 0; j < d; ++j) add[j] += root * out[j];
      }
      scatter_add(packed.data(), count, ld, total.data());
    }
    // Σ(x − mean)(x − mean)ᵀ = Σ(x − ref)(x − ref)ᵀ − n (mean − ref)(mean − ref)ᵀ
    const double weight = n[c];
    double* m = mean + c * d;
    for (Size j = 0; j < d; ++j) {
      const double shift = weight > 0 ? sum[j] / weight : 0.0;
      m[j] = weight > 0 ? ref[j] + shift : 0.0;
      for (Size l = j; l < d && weight > 0; ++l) total[j * ld + l] -= shift * sum[l];
    }
    if (groups > 1) mirror(total.data(), d, ld, s + c * d * d);
  }
  if (groups == 1) mirror(total.data(), d, ld, s);
}

}  // namespace deciban
