// Rows of any layout as rows of doubles, some at a time.
#pragma once
#include "simd.hpp"

namespace deciban {

// A block of rows as doubles in C order: the caller's own memory where it is that already, else a copy in `buffer`.
template <class T>
struct RowBlocks {
  Dense<T> x;
  Size rows;  // rows a block: many, as fewer cells of a column in a row measured slower
  std::vector<double> buffer;

  explicit RowBlocks(Dense<T> x_) : x(x_), rows(256) {
    while (rows > 8 && rows * x.d > 32768) rows /= 2;
    if (!direct()) buffer.resize(static_cast<std::size_t>(rows * x.d));
  }
  bool direct() const { return sizeof(T) == sizeof(double) && x.col == 1; }

  // Points at row `start`; `stride` receives the distance between rows.
  const double* at(Size start, Size count, Size& stride) {
    if constexpr (sizeof(T) == sizeof(double)) {
      if (x.col == 1) {
        stride = x.row;
        return x.data + start * x.row;
      }
    }
    stride = x.d;
    double* out = buffer.data();
    if (x.col == 1) {
      for (Size i = 0; i < count; ++i)
        for (Size j = 0; j < x.d; ++j) out[i * x.d + j] = x.data[(start + i) * x.row + j];
    } else {
      turn(start, count, out);
    }
    return out;
  }

 private:
  // Columns in Fortran order are turned as many at a time as a register has lanes; others cell by cell.
  void turn(Size start, Size count, double* out) const {
    const bool tiled = sizeof(T) == sizeof(double) && x.row == 1;
    const Size columns = tiled ? x.d / lanes * lanes : 0, whole = tiled ? count / lanes * lanes : 0;
    if constexpr (sizeof(T) == sizeof(double))
      for (Size j = 0; j < columns; j += lanes)
        for (Size i = 0; i < whole; i += lanes) {
          vec tile[lanes];
          for (Size l = 0; l < lanes; ++l) tile[l] = load(x.data + start + i + (j + l) * x.col);
          transpose(tile);
          for (Size l = 0; l < lanes; ++l) store(out + (i + l) * x.d + j, tile[l]);
        }
    for (Size j = 0; j < x.d; ++j)
      for (Size i = j < columns ? whole : 0; i < count; ++i) out[i * x.d + j] = x.at(start + i, j);
  }
};

}  // namespace deciban
