// Rows as the loss's kernels read them, a block at a time: products with the parameters, and back. What works on a block is a
// function of its own: whatever calls it shares it.
#pragma once
#include <algorithm>
#include "kernels/core/simd.hpp"

namespace deciban {

inline Size whole_lines(Size size) { return (size + 7) / 8 * 8; }

// The sum of each of as many vectors as have lanes, in the lane of its number.
inline vec fold(vec (&m)[lanes]) {
  constexpr std::make_index_sequence<lanes> all_lanes{};
#pragma GCC unroll 8
  for (Size i = 0; i < lanes; i += 2) exchange<1>(m[i], m[i + 1], all_lanes), m[i] += m[i + 1];
  if constexpr (lanes >= 4)
#pragma GCC unroll 8
    for (Size i = 0; i < lanes; i += 4) exchange<2>(m[i], m[i + 2], all_lanes), m[i] += m[i + 2];
  if constexpr (lanes >= 8) exchange<4>(m[0], m[4], all_lanes), m[0] += m[4];
  return m[0];
}

// Where the vectors of a row lie: one after the other, the last one back from the row's end, over the one before it.
struct Vectors {
  Size stride, count, last;  // between rows; vectors of a row; where the last of them starts
  Size at(Size v) const { return v + 1 < count ? v * lanes : last; }
};

// z[c, l] = Σ_j x[l, j] coef[c, j] for `lanes` rows and `wide` classes; rows from `rows` on repeat the last of them
template <int wide>
inline void dot_tile(const double* x, Size rows, Vectors vectors, const double* coef, Size ld, double* z, Size z_class) {
  vec acc[wide][lanes] = {};
  const double* row[lanes];
  for (Size l = 0; l < lanes; ++l) row[l] = x + std::min(l, rows - 1) * vectors.stride;
  for (Size v = 0; v < vectors.count; ++v) {
    const Size at = vectors.at(v);
    vec b[wide];
    for (int c = 0; c < wide; ++c) b[c] = load(coef + c * ld + v * lanes);
#pragma GCC unroll 8
    for (Size l = 0; l < lanes; ++l) {
      const vec cell = load(row[l] + at);
      for (int c = 0; c < wide; ++c) acc[c][l] += b[c] * cell;
    }
  }
  for (int c = 0; c < wide; ++c) store(z + c * z_class, fold(acc[c]));
}

// How rows are read back: as they are or squared, and how many rows ahead to ask memory for (0: not at all).
template <bool squared_>
struct Reading {
  static constexpr bool squared = squared_;
  Size ahead;
};

// g[c, j] += Σ_i r[c, i] x[i, j], or x², for `tall` classes and the `wide` vectors of columns from `from`
template <int tall, int wide, class How>
inline void back_tile(const double* x, Size count, Vectors vectors, How how, Size from, const double* r, Size r_class, double* g, Size ld) {
  vec acc[tall][wide];
  Size at[wide];
  for (int v = 0; v < wide; ++v) at[v] = vectors.at(from + v);
  for (int c = 0; c < tall; ++c)
    for (int v = 0; v < wide; ++v) acc[c][v] = load(g + c * ld + (from + v) * lanes);
  for (Size i = 0; i < count; ++i) {
    vec cell[wide];
    for (int v = 0; v < wide; ++v) {
      const double* here = x + i * vectors.stride + at[v];
      cell[v] = load(here);
      if (how.squared) cell[v] *= cell[v];
      if (how.ahead) __builtin_prefetch(here + how.ahead * vectors.stride, 0, 2);
    }
    for (int c = 0; c < tall; ++c) {
      const vec share = all(r[c * r_class + i]);
      for (int v = 0; v < wide; ++v) acc[c][v] += share * cell[v];
    }
  }
  for (int c = 0; c < tall; ++c)
    for (int v = 0; v < wide; ++v) store(g + c * ld + (from + v) * lanes, acc[c][v]);
}

template <int tall, class How>
inline void back_rows(const double* x, Size count, Vectors vectors, How how, const double* r, Size r_class, double* g, Size ld) {
  constexpr int widest = registers / 8;
  Size v = 0;
  for (; v + widest <= vectors.count; v += widest) back_tile<tall, widest>(x, count, vectors, how, v, r, r_class, g, ld);
  for (; v + 2 <= vectors.count; v += 2) back_tile<tall, 2>(x, count, vectors, how, v, r, r_class, g, ld);
  for (; v < vectors.count; ++v) back_tile<tall, 1>(x, count, vectors, how, v, r, r_class, g, ld);
}

// s[u, j] += Σ_i left[i, u] right[i, j]  for 4 rows of s and `wide` vectors of columns
template <int wide>
inline void gram_tile(const double* left, const double* right, Size count, Size ld, double* s) {
  vec acc[4][wide] = {};
  for (Size i = 0; i < count; ++i) {
    vec cell[wide];
    for (int v = 0; v < wide; ++v) cell[v] = load(right + i * ld + v * lanes);
    for (int u = 0; u < 4; ++u) {
      const vec share = all(left[i * ld + u]);
      for (int v = 0; v < wide; ++v) acc[u][v] += share * cell[v];
    }
  }
  for (int u = 0; u < 4; ++u)
    for (int v = 0; v < wide; ++v) store(s + u * ld + v * lanes, load(s + u * ld + v * lanes) + acc[u][v]);
}

// The upper triangle of s += leftᵀ right (tiles reach below the diagonal; those cells are not used).
inline void gram(const double* left, const double* right, Size count, Size ld, double* s) {
  constexpr int widest = registers / 8;
  for (Size u = 0; u < ld; u += 4) {
    Size j = u / lanes * lanes;
    for (; j + widest * lanes <= ld; j += widest * lanes) gram_tile<widest>(left + u, right + j, count, ld, s + u * ld + j);
    for (; j < ld; j += lanes) gram_tile<1>(left + u, right + j, count, ld, s + u * ld + j);
  }
}

// Dense rows, a block at a time: where they are, or copied as doubles padded to whole vectors, with a 1 for the intercept.
// Parameters of a class: its vectors one after the other, then (where rows are not copied) the intercept; `ld` apart.
struct DenseRows {
  AnyReals x;
  Size p, ld, block, first = 0, count = 0;
  bool copied, squared = false;
  Vectors vectors;
  const double* at = nullptr;  // the block's first row
  Scratch cells;

  DenseRows(AnyReals x_, Size p_, bool copy = false)
      : x(x_), p(p_), ld(whole_lines(p_) + 8), copied(copy || !x.first || x.col != 1 || x.d < lanes),
        cells(copied ? 64 * whole_lines(p_) : 0) {
    const Size wide = whole_lines(p);
    block = copied || wide > 128 ? (wide <= 128 ? 64 : 32) : 64;
    if (copied)
      vectors = {wide, wide / lanes, wide - lanes};
    else
      vectors = {x.row, (x.d + lanes - 1) / lanes, x.d - lanes};
  }
  Size size(Size m) const { return m * ld; }
  Size overlap() const { return copied ? 0 : vectors.count * lanes - x.d; }  // of the last vector with the one before
  Size bias() const { return !copied && p > x.d ? vectors.count * lanes : -1; }  // where the intercept is, if apart

  [[gnu::noinline]] void read(Size start, Size count_) {
    first = start, count = count_, squared = false;
    if (!copied) {
      at = x.as<double>().data + start * x.row;
      return;
    }
    double* out = cells.data();
    const Size wide = vectors.stride;
    at = out;
    x.typed([&]<class T>(Dense<T> from) {
      if (x.col == 1)
        for (Size i = 0; i < count; ++i) {
          const T* __restrict row = from.data + (start + i) * x.row;
          for (Size j = 0; j < x.d; ++j) out[i * wide + j] = row[j];
        }
      else
        for (Size j = 0; j < x.d; ++j)
          for (Size i = 0; i < count; ++i) out[i * wide + j] = from.data[(start + i) * x.row + j * x.col];
    });
    if (p > x.d)
      for (Size i = 0; i < count; ++i) out[i * wide + x.d] = 1.0;
  }

  // the place of parameter j
  Size place(Size j) const {
    if (copied) return j;
    if (j == x.d) return bias();
    return j < (vectors.count - 1) * lanes ? j : j + overlap();
  }
  [[gnu::noinline]] void pack(const double* coef, Size m, double* packed) const {
    for (Size c = 0; c < m; ++c)
      for (Size j = 0; j < p; ++j) packed[c * ld + place(j)] = coef[c * p + j];
  }
  [[gnu::noinline]] void unpack(const double* packed, Size m, double* out) const {
    for (Size c = 0; c < m; ++c)
      for (Size j = 0; j < p; ++j) out[c * p + j] += packed[c * ld + place(j)];
  }

  // Short rows: ask for those of the next block, as many as are worked on, since memory would else rest meanwhile.
  __attribute__((always_inline)) void fetch_next(Size i) const {  // else GCC takes it for one without effect
    const Size from = first + block + i;
    if (x.col != 1 || x.row > 128 || x.row < x.d || from + lanes > x.n) return;
    const Size bytes = lanes * x.row * x.width();
    const char* next = static_cast<const char*>(x.data) + from * x.row * x.width();
    for (Size b = 0; b < bytes; b += 64) __builtin_prefetch(next + b, 0, 2);
  }

  void margins(const double* coef, Size m, double* z) const {
    for (Size i = 0; i < count; i += lanes) {
      fetch_next(i);
      Size c = 0;
      const double* rows = at + i * vectors.stride;
      for (; c + 2 <= m; c += 2) dot_tile<2>(rows, count - i, vectors, coef + c * ld, ld, z + c * block + i, block);
      for (; c < m; ++c) dot_tile<1>(rows, count - i, vectors, coef + c * ld, ld, z + c * block + i, block);
      if (bias() >= 0)
        for (c = 0; c < m; ++c) store(z + c * block + i, load(z + c * block + i) + coef[c * ld + bias()]);
    }
  }

  void back(const double* r, Size m, double* g) const {
    // long rows are all in cache by now, and memory would else rest: it brings those of the next block
    const bool waits = !copied && x.row > 128 && first + 2 * block <= x.n;
    if (squared)
      back(Reading<true>{0}, r, m, g);
    else
      back(Reading<false>{waits ? block : 0}, r, m, g);
  }

  template <class How>
  [[gnu::noinline]] void back(How how, const double* r, Size m, double* g) const {
    Size c = 0;
    for (; c + 5 <= m; c += 5) back_rows<5>(at, count, vectors, how, r + c * block, block, g + c * ld, ld);
    for (; c + 2 <= m; c += 2) back_rows<2>(at, count, vectors, how, r + c * block, block, g + c * ld, ld);
    for (; c < m; ++c) back_rows<1>(at, count, vectors, how, r + c * block, block, g + c * ld, ld);
    if (bias() >= 0)
      for (c = 0; c < m; ++c)
        for (Size i = 0; i < count; ++i) g[c * ld + bias()] += r[c * block + i];
  }

  void square() { squared = true; }
};

// Sparse rows. Parameters lie by column, coef[j, c], `wide` apart: 1 for one margin, else whole cache lines; the
// intercept is the last of them.
struct CsrRows {
  const Csr<double> doubles;  // one of the two is there
  const Csr<float> floats;
  const Size p, wide, block = 64;
  Size count = 0, first = 0;
  bool squared = false;
  Scratch score;

  CsrRows(Csr<double> x, Size p_, Size wide_) : doubles(x), floats{}, p(p_), wide(wide_), score(whole_lines(wide_)) {}
  CsrRows(Csr<float> x, Size p_, Size wide_) : doubles{}, floats(x), p(p_), wide(wide_), score(whole_lines(wide_)) {}

  void read(Size start, Size count_) { first = start, count = count_, squared = false; }
  void square() { squared = true; }

  void margins(const double* coef, Size m, double* z) { floats.indptr ? margins(floats, coef, m, z) : margins(doubles, coef, m, z); }
  void back(const double* r, Size m, double* g) { floats.indptr ? back(floats, r, m, g) : back(doubles, r, m, g); }

 private:
  template <class T>
  [[gnu::noinline]] void margins(Csr<T> x, const double* coef, Size m, double* z) {
    const Size wide = this->wide;  // copies: what is stored might else be one of them
    double* const score = this->score.data();
    const double* bias = coef + x.d * wide;
    const Size end = x.indptr[x.n];
    for (Size i = 0; i < count; ++i) {
      const Size from = x.indptr[first + i], last = x.indptr[first + i + 1];
      if (wide == 1) {
        double a = p > x.d ? *bias : 0.0, b = 0.0;
        Size at = from;
        for (; at + 1 < last; at += 2) {
          a += x.values[at] * coef[x.indices[at]];
          b += x.values[at + 1] * coef[x.indices[at + 1]];
        }
        if (at < last) a += x.values[at] * coef[x.indices[at]];
        z[i] = a + b;
        continue;
      }
      for (Size c = 0; c < wide; ++c) score[c] = p > x.d ? bias[c] : 0.0;
      for (Size at = from; at < last; ++at) {
        const Size next = at + 12 < end ? at + 12 : at;
        const double* later = coef + static_cast<Size>(x.indices[next]) * wide;
        for (Size c = 0; c < wide; c += 8) __builtin_prefetch(later + c);
        const vec v = all(x.values[at]);
        const double* b = coef + static_cast<Size>(x.indices[at]) * wide;
        for (Size c = 0; c < wide; c += lanes) store(&score[c], load(&score[c]) + v * load(b + c));
      }
      for (Size c = 0; c < m; ++c) z[c * block + i] = score[c];
    }
    for (Size i = count; i < block && i % lanes; ++i)
      for (Size c = 0; c < m; ++c) z[c * block + i] = 0.0;
  }

  template <class T>
  [[gnu::noinline]] void back(Csr<T> x, const double* r, Size m, double* g) {
    const Size wide = this->wide;  // copies: what is stored might else be one of them
    double* const score = this->score.data();
    const auto cell = [&, squared = squared](Size at) {
      const double v = x.values[at];
      return squared ? v * v : v;
    };
    double* bias = g + x.d * wide;
    const Size end = x.indptr[x.n];
    for (Size i = 0; i < count; ++i) {
      const Size from = x.indptr[first + i], last = x.indptr[first + i + 1];
      if (wide == 1) {
        const double share = r[i];
        for (Size at = from; at < last; ++at) g[x.indices[at]] += share * cell(at);
        if (p > x.d) *bias += share;
        continue;
      }
      for (Size c = 0; c < m; ++c) score[c] = r[c * block + i];
      for (Size c = m; c < wide; ++c) score[c] = 0.0;
      for (Size at = from; at < last; ++at) {
        const Size next = at + 12 < end ? at + 12 : at;
        const double* later = g + static_cast<Size>(x.indices[next]) * wide;
        for (Size c = 0; c < wide; c += 8) __builtin_prefetch(later + c, 1);
        const vec v = all(cell(at));
        double* to = g + static_cast<Size>(x.indices[at]) * wide;
        for (Size c = 0; c < wide; c += lanes) store(to + c, load(to + c) + v * load(&score[c]));
      }
      if (p > x.d)
        for (Size c = 0; c < m; ++c) bias[c] += score[c];
    }
  }
};

}  // namespace deciban
