// Scores of rows against k classes, out[i, c]. Some rows go together, one to a lane, so that no sum crosses lanes and
// the columns need no padding; as many as leave the accumulators in registers.
#pragma once
#include <algorithm>
#include <cmath>
#include "kernels/core/row_pack.hpp"
#include "kernels/tallies/sums.hpp"

namespace deciban {

constexpr Size vecs = 2, together = vecs * lanes;  // of rows that are soon done: more would not stay in the first cache
constexpr Size many = registers / 8;               // vectors of rows where each is worked on for long
constexpr Size tile = 128;                         // columns packed at a time

// scores[c, r] += Σ_j coef[c, j] f(t[j, r]) for `wide` classes
template <int wide, class Fetch>
inline void affine_tile(const double* t, Size cols, const double* coef, Size coef_class, Size coef_col, double* scores,
                        Fetch&& ahead) {
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
    ahead.step();
  }
  for (int c = 0; c < wide; ++c)
    for (Size v = 0; v < vecs; ++v) store(scores + c * together + v * lanes, acc[c][v]);
}

// out[i, c] = bias[c] + Σ_j coef[j, c] f(x[i, j]);  coef is (d, ld), ld ≥ k; f is whether a cell is above a number, or
// (null) the cell
inline void affine(AnyReals x, const double* coef, Size ld, const double* bias, Size k, const double* above, double* out) {
  Scratch t(tile * together), scores(k * together);
  for (Size start = 0; start < x.n; start += together) {
    const Size count = x.n - start < together ? x.n - start : together;
    for (Size c = 0; c < k; ++c)
      for (Size r = 0; r < together; ++r) scores[c * together + r] = bias[c];
    Ahead ahead(x, start, together, x.d * (k / 5 + k % 5 / 2 + k % 5 % 2));
    for (Size from = 0; from < x.d; from += tile) {
      const Size cols = x.d - from < tile ? x.d - from : tile;
      pack<together>(x, start, count, from, cols, t.data());
      if (above)
        for (Size cell = 0; cell < cols * together; ++cell) t[cell] = Above{*above}(t[cell]);
      const double* b = coef + from * ld;
      Size c = 0;
      for (; c + 5 <= k; c += 5) affine_tile<5>(t.data(), cols, b + c, 1, ld, &scores[c * together], ahead);
      for (; c + 2 <= k; c += 2) affine_tile<2>(t.data(), cols, b + c, 1, ld, &scores[c * together], ahead);
      for (; c < k; ++c) affine_tile<1>(t.data(), cols, b + c, 1, ld, &scores[c * together], ahead);
    }
    unpack<together>(scores.data(), start, count, k, out);
  }
}

// score[c] += Σ over the stored cells of a row of coef[j, c] f(x), for `wide` vectors of classes, held in registers. What
// comes `ahead` is asked for early.
constexpr Size ahead = 16;

template <int wide, class T, class F>
inline void affine_row(Csr<T> x, Size i, const double* coef, Size ld, F f, double* score) {
  vec acc[wide];
  for (int v = 0; v < wide; ++v) acc[v] = load(score + v * lanes);
  const Size end = x.indptr[x.n], last = x.indptr[i + 1];
  for (Size p = x.indptr[i]; p < last; ++p) {
    const Size next = p + ahead < end ? p + ahead : p;
    const double* later = coef + static_cast<Size>(x.indices[next]) * ld;
    for (int v = 0; v < wide; v += static_cast<int>(8 / lanes)) __builtin_prefetch(later + v * lanes);
    const vec value = all(f(x.values[p]));
    const double* b = coef + static_cast<Size>(x.indices[p]) * ld;
    for (int v = 0; v < wide; ++v) acc[v] += value * load(b + v * lanes);
  }
  for (int v = 0; v < wide; ++v) store(score + v * lanes, acc[v]);
}

// The same for stored cells only (f(0) = 0); ld is a multiple of 8.
template <class T, class F>
void affine(Csr<T> x, const double* coef, Size ld, const double* bias, Size k, F f, double* out) {
  constexpr Size line = 8 / lanes;  // vectors in a cache line
  Scratch score(ld);
  for (Size i = 0; i < x.n; ++i) {
    for (Size c = 0; c < k; ++c) score[c] = bias[c];
    Size c = 0;
    for (; c + 24 <= ld; c += 24) affine_row<3 * line>(x, i, coef + c, ld, f, &score[c]);
    if (c + 16 <= ld) affine_row<2 * line>(x, i, coef + c, ld, f, &score[c]), c += 16;
    if (c + 8 <= ld) affine_row<line>(x, i, coef + c, ld, f, &score[c]);
    for (Size j = 0; j < k; ++j) out[i * k + j] = score[j];
  }
}

// out[i, c] = bias[c] − ½ Σ_j ((x[i, j] − mean[c, j]) · scale[c, j])²;  with `missing`, a NaN cell takes
// back its share of the bias instead.
template <bool missing>
void quadratic_diagonal(AnyReals x, const double* mean, const double* scale, const double* share, const double* bias,
                        Size k, double* out) {
  Scratch t(tile * together), scores(k * together);
  for (Size start = 0; start < x.n; start += together) {
    const Size count = x.n - start < together ? x.n - start : together;
    for (Size c = 0; c < k; ++c)
      for (Size r = 0; r < together; ++r) scores[c * together + r] = bias[c];
    Ahead ahead(x, start, together, k * ((x.d + tile - 1) / tile));
    for (Size from = 0; from < x.d; from += tile) {
      const Size cols = x.d - from < tile ? x.d - from : tile;
      pack<together>(x, start, count, from, cols, t.data());
      for (Size c = 0; c < k; ++c) {
        ahead.step();
        const double* m = mean + c * x.d + from;
        const double* s = scale + c * x.d + from;
        vec acc[vecs] = {};
        for (Size j = 0; j < cols; ++j) {
          const vec mj = all(m[j]), sj = all(s[j]);
          for (Size v = 0; v < vecs; ++v) {
            const vec cell = load(&t[j * together + v * lanes]);
            const vec z = (cell - mj) * sj;
            if constexpr (missing)
              acc[v] += cell == cell ? z * z : all(2.0 * share[c * x.d + from + j]);
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
    unpack<together>(scores.data(), start, count, k, out);
  }
}

// The same for sparse rows: bias[c] already holds what zeros add, a stored cell v changes it by v · (a[j, c] + b[j, c] v)
// with a = mean · scale², b = −½ scale². Exact while (mean · scale)² is moderate; the caller sees to that.
template <class T>
void quadratic_diagonal(Csr<T> x, const double* a, const double* b, Size ld, const double* bias, Size k, double* out) {
  for (Size i = 0; i < x.n; ++i) {
    double* __restrict score = out + i * k;
    for (Size c = 0; c < k; ++c) score[c] = bias[c];
    for (Size p = x.indptr[i]; p < x.indptr[i + 1]; ++p) {
      const double v = x.values[p];
      const Size at = static_cast<Size>(x.indices[p]) * ld;
      for (Size c = 0; c < k; ++c) score[c] += v * (a[at + c] + b[at + c] * v);
    }
  }
}

// z[u, r] = Σ_{j < cols} a[u, j] t[j, r];  norm[r] += Σ_u z[u, r]²  for `tall` rows of a
template <int tall>
inline void norm_tile(const double* a, Size ld, const double* t, Size cols, vec* norm) {
  constexpr Size vecs = many, together = vecs * lanes;
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
inline void quadratic_full(AnyReals x, const double* mean, const double* white, const double* bias, Size k, double* out) {
  constexpr Size vecs = many, together = vecs * lanes;
  const Size d = x.d;
  Scratch raw(d * together), t(d * together), scores(k * together);
  for (Size start = 0; start < x.n; start += together) {
    const Size count = x.n - start < together ? x.n - start : together;
    pack<together>(x, start, count, 0, d, raw.data());
    Ahead ahead(x, start, together, k);
    for (Size c = 0; c < k; ++c) {
      ahead.step();
      const double* a = white + c * d * d;
      for (Size j = 0; j < d; ++j)
        for (Size r = 0; r < together; ++r) t[j * together + r] = raw[j * together + r] - mean[c * d + j];
      vec norm[vecs] = {};
      Size u = 0;
      for (; u + 5 <= d; u += 5) norm_tile<5>(a + u * d, d, t.data(), u + 5, norm);
      for (; u < d; ++u) norm_tile<1>(a + u * d, d, t.data(), u + 1, norm);
      for (Size v = 0; v < vecs; ++v) store(&scores[c * together + v * lanes], bias[c] - 0.5 * norm[v]);
    }
    unpack<together>(scores.data(), start, count, k, out);
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

// e[i, c] = scores[i, c] + prior[c] − the largest of row i. Not inlined, so that its few loops have registers to themselves.
[[gnu::noinline]] inline void below_largest(const double* scores, const double* prior, Size n, Size k, double* e) {
  for (Size i = 0; i < n; ++i) {
    double* row = e + i * k;
    for (Size c = 0; c < k; ++c) row[c] = scores[i * k + c] + prior[c];
    double top = row[0];
    for (Size c = 1; c < k; ++c) top = row[c] > top ? row[c] : top;
    for (Size c = 0; c < k; ++c) row[c] -= top;
  }
}

// out[i, c] = e[i, c] / Σ_c e[i, c], or out[i, c] − log Σ_c e[i, c]
template <bool logs>
[[gnu::noinline]] void normalise(const double* e, Size n, Size k, double* out) {
  for (Size i = 0; i < n; ++i) {
    double sum = 0;
    for (Size c = 0; c < k; ++c) sum += e[i * k + c];
    const double share = 1.0 / sum, log_sum = logs ? std::log(sum) : 0.0;
    for (Size c = 0; c < k; ++c) out[i * k + c] = logs ? out[i * k + c] - log_sum : e[i * k + c] * share;
  }
}

// out[i] = the posterior (or its logarithm) of row i from log likelihoods and log priors: e^(scores + prior) over its sum.
// `out` may be `scores`. A row of −∞ alone has no posterior and becomes NaN.
inline void posterior(const double* scores, const double* prior, Size n, Size k, bool logs, double* out) {
  constexpr Size block = 2048;
  const Size rows = block / k > 0 ? block / k : 1;
  Scratch e((rows * k + lanes - 1) / lanes * lanes);
  for (Size start = 0; start < n; start += rows) {
    const Size count = n - start < rows ? n - start : rows;
    double* o = out + start * k;
    below_largest(scores + start * k, prior, count, k, e.data());
    if (logs) std::copy_n(e.data(), count * k, o);
    for (Size cell = 0; cell < count * k; cell += lanes) store(&e[cell], exp_negative(load(&e[cell])));
    (logs ? normalise<true> : normalise<false>)(e.data(), count, k, o);
  }
}

}  // namespace deciban
