// Rows of any layout as rows of doubles, some at a time.
#pragma once
#include <algorithm>
#include "kernels/core/simd.hpp"

namespace deciban {

// out[i * ld + j] = x[start + i, j]   for `count` rows. Contiguous columns are turned as many at a time as a register has
// lanes, the last of them maybe twice; meanwhile memory is asked for the cells that lie `count` rows further on.
template <class X, class Out>
void turn(const X& x, Size start, Size count, Out* out, Size ld) {
  constexpr Size line = 64 / sizeof(typename X::Cell);
  const bool tiled = x.row == 1 && x.d >= lanes;
  const Size whole = tiled ? count / lanes * lanes : 0;
  for (Size next = 0; tiled && next < x.d; next += lanes) {
    const Size j = std::min(next, x.d - lanes);
    const typename X::Cell* from[lanes];
    for (Size l = 0; l < lanes; ++l) from[l] = x.column(j + l) + start;
    for (Size i = 0; i < whole; i += lanes) {
      vec tile[lanes];
      for (Size l = 0; l < lanes; ++l) {
        tile[l] = load(from[l] + i);
        if (i % line == 0) __builtin_prefetch(from[l] + count + i, 0, 2);
      }
      transpose(tile);
      for (Size l = 0; l < lanes; ++l) store(out + (i + l) * ld + j, tile[l]);
    }
  }
  for (Size j = 0; j < x.d; ++j)
    for (Size i = whole; i < count; ++i) out[i * ld + j] = x.at(start + i, j);
}

constexpr Size block_rows = 256;  // many, as fewer cells of a column in a row measured slower

// out[i, j] = x[i, j]
template <class X, class Out>
void in_rows(const X& x, Out* out) {
  for (Size start = 0; start < x.n; start += block_rows)
    turn(x, start, std::min(block_rows, x.n - start), out + start * x.d, x.d);
}

// A block of rows as doubles in C order: the caller's own memory where it is that already, else a copy in `buffer`.
template <class X>
struct RowBlocks {
  using T = typename X::Cell;
  const X& x;
  Size rows, ld;
  Scratch buffer;

  explicit RowBlocks(const X& x_) : x(x_), rows(rows_of(x_.d)), ld((x.d + 7) / 8 * 8), buffer(direct() ? 0 : rows * ld) {}
  bool direct() const { return sizeof(T) == sizeof(double) && x.rows_from(0); }

  // Points at row `start`; `stride` receives the distance between rows.
  const double* at(Size start, Size count, Size& stride) {
    const T* own = x.rows_from(start);
    if constexpr (sizeof(T) == sizeof(double)) {
      if (own) {
        stride = x.row;
        return own;
      }
    }
    stride = ld;
    double* out = buffer.data();
    if (own) {
      for (Size i = 0; i < count; ++i)
        for (Size j = 0; j < x.d; ++j) out[i * ld + j] = own[i * x.row + j];
    } else {
      turn(x, start, count, out, ld);
    }
    return out;
  }

 private:
  static Size rows_of(Size d) {
    Size rows = block_rows;
    while (rows > 8 && rows * d > 32768) rows /= 2;
    return rows;
  }
};

// The same for code that is compiled once for all layouts.
struct AnyRows {
  const Size n, d, rows, ld;  // `rows` at a time
  const bool direct;
  virtual double cell(Size i, Size j) const = 0;
  virtual const double* at(Size start, Size count, Size& stride) = 0;

 protected:
  template <class X>
  explicit AnyRows(const RowBlocks<X>& blocks)
      : n(blocks.x.n), d(blocks.x.d), rows(blocks.rows), ld(blocks.ld), direct(blocks.direct()) {}
  ~AnyRows() = default;
};

template <class X>
struct RowsOf final : private RowBlocks<X>, AnyRows {
  explicit RowsOf(const X& x) : RowBlocks<X>(x), AnyRows(static_cast<const RowBlocks<X>&>(*this)) {}
  double cell(Size i, Size j) const override { return static_cast<double>(RowBlocks<X>::x.at(i, j)); }
  const double* at(Size start, Size count, Size& stride) override { return RowBlocks<X>::at(start, count, stride); }
};

}  // namespace deciban
