// Scores of rows against k classes, out[i, c]. Some rows go together, one to a lane, so that no sum crosses lanes and
// the columns need no padding; as many as leave the accumulators in registers.
#pragma once
#include <cmath>
#include "sums.hpp"
#include "simd.hpp"

namespace deciban {

constexpr Size vecs = registers / 8, together = vecs * lanes;
constexpr Size tile = 128;  // columns packed at a time

// t[j, r] = x[start + r, from + j]; lanes past the last row repeat it
template <class T>
inline void pack(Dense<T> x, Size start, Size count, Size from, Size cols, double* t) {
  if (x.row == 1 && count == together) {
    for (Size j = 0; j < cols; ++j)
      for (Size r = 0; r < together; ++r) t[j * together + r] = x.data[start + r + (from + j) * x.col];
    return;
  }
  for (Size r = 0; r < together; ++r) {
    const T* row = x.data + (start + (r < count ? r : count - 1)) * x.row + from * x.col;
    if (x.col == 1)
      for (Size j = 0; j < cols; ++j) t[j * together + r] = row[j];
    else
      for (Size j = 0; j < cols; ++j) t[j * together + r] = row[j * x.col];
  }
}

// out[start + r, c] = scores[c, r]
inline void unpack(const double* scores, Size start, Size count, Size k, double* out) {
  for (Size r = 0; r < count; ++r)
    for (Size c = 0; c < k; ++c) out[(start + r) * k + c] = scores[c * together + r];
}

// scores[c, r] += Σ_j coef[c, j] f(t[j, r]) for `wide` classes
template <int wide>
inline void affine_tile(const double* t, Size cols, const double* coef, Size coef_class, Size coef_col, double* scores) {
  vec acc[wide][vecs];
  for (int c = 0; c < wide; ++c)
    for (Size v = 0; v < vecs; ++v) acc[c][v] = load(scores + c * together + v * lanes);
  for (Size j = 0; j < cols; ++j) {
    vec x[vecs];
    for (Size v = 0; v < vecs; ++v) x[v] = load(t + j * together + v * lanes);
    for (int c = 0; c < wide; ++c) {
      const vec b = all(coef[c * coef_class + j * coef_col]);
      for (Size v = 0; v < vecs; ++v) acc[c][v] += b * x[v];
    }
  }
  for (int c = 0; c < wide; ++c)
    for (Size v = 0; v < vecs; ++v) store(scores + c * together + v * lanes, acc[c][v]);
}

// out[i, c] = bias[c] + Σ_j coef[j, c] f(x[i, j]);  coef is (d, k)
template <class T, class F>
void affine(Dense<T> x, const double* coef, const double* bias, Size k, F f, double* out) {
  std::vector<double> t(tile * together), scores(static_cast<std::size_t>(k * together));
  for (Size start = 0; start < x.n; start += together) {
    const Size count = x.n - start < together ? x.n - start : together;
    for (Size c = 0; c < k; ++c)
      for (Size r = 0; r < together; ++r) scores[c * together + r] = bias[c];
    for (Size from = 0; from < x.d; from += tile) {
      const Size cols = x.d - from < tile ? x.d - from : tile;
      pack(x, start, count, from, cols, t.data());
      for (Size cell = 0; cell < cols * together; ++cell) t[cell] = f(t[cell]);
      const double* b = coef + from * k;
      Size c = 0;
      for (; c + 5 <= k; c += 5) affine_tile<5>(t.data(), cols, b + c, 1, k, &scores[c * together]);
      for (; c + 2 <= k; c += 2) affine_tile<2>(t.data(), cols, b + c, 1, k, &scores[c * together]);
      for (; c < k; ++c) affine_tile<1>(t.data(), cols, b + c, 1, k, &scores[c * together]);
    }
    unpack(scores.data(), start, count, k, out);
  }
}

// The same for stored cells only (f(0) = 0). The classes of a column lie together, and are asked for ahead of use.
template <class T, class I, class F>
void affine(Csr<T, I> x, const double* coef, const double* bias, Size k, F f, double* out) {
  const I end = x.indptr[x.n];
  for (Size i = 0; i < x.n; ++i) {
    double* __restrict score = out + i * k;
    for (Size c = 0; c < k; ++c) score[c] = bias[c];
    for (I p = x.indptr[i]; p < x.indptr[i + 1]; ++p) {
      if (p + 8 < end)
        for (Size line = 0; line < k; line += 8) __builtin_prefetch(coef + x.indices[p + 8] * k + line);
      const double v = f(x.values[p]);
      const double* __restrict b = coef + static_cast<Size>(x.indices[p]) * k;
      for (Size c = 0; c < k; ++c) score[c] += v * b[c];
    }
  }
}

// out[i, c] = bias[c] − ½ Σ_j ((x[i, j] − mean[c, j]) · scale[c, j])²;  with `missing`, NaN cells are left out and the
// cell's own share of the bias, logscale[c, j], is counted only where the cell is there.
template <bool missing, class T>
void quadratic_diagonal(Dense<T> x, const double* mean, const double* scale, const double* logscale, const double* bias,
                        Size k, double* out) {
  std::vector<double> t(tile * together), scores(static_cast<std::size_t>(k * together));
  for (Size start = 0; start < x.n; start += together) {
    const Size count = x.n - start < together ? x.n - start : together;
    for (Size c = 0; c < k; ++c)
      for (Size r = 0; r < together; ++r) scores[c * together + r] = bias[c];
    for (Size from = 0; from < x.d; from += tile) {
      const Size cols = x.d - from < tile ? x.d - from : tile;
      pack(x, start, count, from, cols, t.data());
      for (Size c = 0; c < k; ++c) {
        const double* m = mean + c * x.d + from;
        const double* s = scale + c * x.d + from;
        vec acc[vecs] = {};
        for (Size j = 0; j < cols; ++j) {
          const vec mj = all(m[j]), sj = all(s[j]);
          for (Size v = 0; v < vecs; ++v) {
            const vec cell = load(&t[j * together + v * lanes]);
            const vec z = (cell - mj) * sj;
            if constexpr (missing)
              acc[v] += cell == cell ? z * z - 2.0 * logscale[c * x.d + from + j] : all(0.0);
            else
              acc[v] += z * z;
          }
        }
        for (Size v = 0; v < vecs; ++v) {
          double* score = &scores[c * together + v * lanes];
          store(score, load(score) - 0.5 * acc[v]);
        }
      }
    }
    unpack(scores.data(), start, count, k, out);
  }
}

// The same for sparse rows: bias[c] already holds what zeros add, a stored cell v changes it by v · (a[j, c] + b[j, c] v)
// with a = mean · scale², b = −½ scale². Exact while (mean · scale)² is moderate; the caller sees to that.
template <class T, class I>
void quadratic_diagonal(Csr<T, I> x, const double* a, const double* b, const double* bias, Size k, double* out) {
  for (Size i = 0; i < x.n; ++i) {
    double* __restrict score = out + i * k;
    for (Size c = 0; c < k; ++c) score[c] = bias[c];
    for (I p = x.indptr[i]; p < x.indptr[i + 1]; ++p) {
      const double v = x.values[p];
      const Size at = static_cast<Size>(x.indices[p]) * k;
      for (Size c = 0; c < k; ++c) score[c] += v * (a[at + c] + b[at + c] * v);
    }
  }
}

// z[u, r] = Σ_{j < cols} a[u, j] t[j, r];  norm[r] += Σ_u z[u, r]²  for `tall` rows of a
template <int tall>
inline void norm_tile(const double* a, Size ld, const double* t, Size cols, vec* norm) {
  vec z[tall][vecs] = {};
  for (Size j = 0; j < cols; ++j) {
    vec x[vecs];
    for (Size v = 0; v < vecs; ++v) x[v] = load(t + j * together + v * lanes);
    for (int u = 0; u < tall; ++u) {
      const vec b = all(a[u * ld + j]);
      for (Size v = 0; v < vecs; ++v) z[u][v] += b * x[v];
    }
  }
  for (int u = 0; u < tall; ++u)
    for (Size v = 0; v < vecs; ++v) norm[v] += z[u][v] * z[u][v];
}

// out[i, c] = bias[c] − ½ |A_c (x[i] − mean_c)|²;  white holds A_c, (k, d, d) and lower triangular
template <class T>
void quadratic_full(Dense<T> x, const double* mean, const double* white, const double* bias, Size k, double* out) {
  const Size d = x.d;
  std::vector<double> raw(static_cast<std::size_t>(d * together)), t(raw.size()), scores(static_cast<std::size_t>(k * together));
  for (Size start = 0; start < x.n; start += together) {
    const Size count = x.n - start < together ? x.n - start : together;
    pack(x, start, count, 0, d, raw.data());
    for (Size c = 0; c < k; ++c) {
      const double* a = white + c * d * d;
      for (Size j = 0; j < d; ++j)
        for (Size r = 0; r < together; ++r) t[j * together + r] = raw[j * together + r] - mean[c * d + j];
      vec norm[vecs] = {};
      Size u = 0;
      for (; u + 5 <= d; u += 5) norm_tile<5>(a + u * d, d, t.data(), u + 5, norm);
      for (; u < d; ++u) norm_tile<1>(a + u * d, d, t.data(), u + 1, norm);
      for (Size v = 0; v < vecs; ++v) store(&scores[c * together + v * lanes], bias[c] - 0.5 * norm[v]);
    }
    unpack(scores.data(), start, count, k, out);
  }
}

// out[i, c] = bias[c] + Σ_j table[offset[j] + x[i, j], c];  missing and unseen codes add nothing.
// `table` is (levels, k) with rows padded to `ld`, a multiple of the lanes.
template <class C>
void lookup(Dense<C> x, const std::int64_t* offset, const double* table, const double* bias, Size k, Size ld, double* out) {
  for (Size from = 0; from < k; from += lanes) {
    const Size count = k - from < lanes ? k - from : lanes;
    double first[lanes] = {};
    for (Size c = 0; c < count; ++c) first[c] = bias[from + c];
    for (Size i = 0; i < x.n; ++i) {
      vec score = load(first);
      for (Size j = 0; j < x.d; ++j) {
        const Size code = x.at(i, j);
        if (code >= 0 && code < offset[j + 1] - offset[j]) score += load(table + (offset[j] + code) * ld + from);
      }
      double* row = out + i * k + from;
      for (Size c = 0; c < count; ++c) row[c] = score[c];
    }
  }
}

// Each row of scores becomes its posterior (or the log of it); norm[i] = log Σ_c e^scores. In place.
// A row of −∞ alone has no posterior: it is left as NaN for the caller to settle.
inline void posterior(double* scores, Size n, Size k, bool logs, double* norm) {
  constexpr Size block = 2048;
  const Size rows = block / k > 0 ? block / k : 1;
  std::vector<double> e(static_cast<std::size_t>((rows * k + lanes - 1) / lanes * lanes), 0.0);
  for (Size start = 0; start < n; start += rows) {
    const Size count = n - start < rows ? n - start : rows;
    double* s = scores + start * k;
    for (Size i = 0; i < count; ++i) {
      double top = s[i * k];
      for (Size c = 1; c < k; ++c) top = s[i * k + c] > top ? s[i * k + c] : top;
      norm[start + i] = top;
      for (Size c = 0; c < k; ++c) e[i * k + c] = s[i * k + c] - top;
    }
    for (Size cell = 0; cell < count * k; cell += lanes) store(&e[cell], exp_negative(load(&e[cell])));
    for (Size i = 0; i < count; ++i) {
      double sum = 0;
      for (Size c = 0; c < k; ++c) sum += e[i * k + c];
      if (logs) {
        norm[start + i] += std::log(sum);
        for (Size c = 0; c < k; ++c) s[i * k + c] -= norm[start + i];
      } else {
        const double share = 1.0 / sum;
        for (Size c = 0; c < k; ++c) s[i * k + c] = e[i * k + c] * share;
      }
    }
  }
}

}  // namespace deciban
