// What a kernel sees: pointers and strides. Memory belongs to the caller; kernels know no Python and no threads.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace deciban {

using Size = std::ptrdiff_t;

// x[i, j] = data[i * row + j * col]: C order has col = 1, Fortran order has row = 1.
template <class T>
struct Dense {
  using Cell = T;
  const T* data;
  Size n, d, row, col;
  T at(Size i, Size j) const { return data[i * row + j * col]; }
  const T* rows_from(Size i) const { return col == 1 ? data + i * row : nullptr; }  // null: cells of a row lie apart
  const T* column(Size j) const { return row == 1 ? data + j * col : nullptr; }     // null: cells of a column do
};

// The same of cells of one of two types, for code that is compiled once for both.
template <class A, class B>
struct AnyDense {
  const void* data;
  Size n, d, row, col;
  bool first;  // of type A

  AnyDense(Dense<A> x) : data(x.data), n(x.n), d(x.d), row(x.row), col(x.col), first(true) {}
  AnyDense(Dense<B> x) : data(x.data), n(x.n), d(x.d), row(x.row), col(x.col), first(false) {}
  template <class T>
  Dense<T> as() const { return {static_cast<const T*>(data), n, d, row, col}; }
  Size width() const { return first ? sizeof(A) : sizeof(B); }  // bytes of a cell
  // f of the table with its type
  template <class F>
  auto typed(F f) const { return first ? f(as<A>()) : f(as<B>()); }
};
using AnyReals = AnyDense<double, float>;
using AnyCodes = AnyDense<std::int32_t, std::int64_t>;

// Columns that lie apart, each of them contiguous: x[i, j] = columns[j][i].
template <class T>
struct Apart {
  using Cell = T;
  const T* const* columns;
  Size n, d;
  static constexpr Size row = 1;
  T at(Size i, Size j) const { return columns[j][i]; }
  const T* rows_from(Size) const { return nullptr; }
  const T* column(Size j) const { return columns[j]; }
};

// Row i holds values[p] in column indices[p] for p in [indptr[i], indptr[i + 1]); the borders are absolute,
// so a run of rows is a shorter indptr over the same arrays.
template <class T>
struct Csr {
  const std::int64_t* indptr;
  const std::int32_t* indices;
  const T* values;
  Size n, d;
};

// Class codes 0 … k − 1 and the rows' weights (null: every row weighs 1).
struct Labels {
  const std::int32_t* y;
  const double* w;
  double weight(Size i) const { return w ? w[i] : 1.0; }
};

// Row numbers sorted by class, so that one class's accumulators stay in cache while its rows pass.
struct ByClass {
  std::vector<Size> order, start;  // rows of class first + c: order[start[c]] … order[start[c + 1] − 1]

  // Of the classes first … first + k − 1; rows of others are left out.
  ByClass(const std::int32_t* y, Size n, Size k, Size first = 0) : start(k + 1, 0) {
    constexpr Size block = 1024;
    Size found[block];
    std::vector<Size> rows;
    for (Size from = 0; from < n; from += block) {
      const Size to = n - from < block ? n : from + block;
      Size count = 0;
      for (Size i = from; i < to; ++i) {  // no branch: where most rows are others', it would be a toss-up
        found[count] = i;
        count += static_cast<std::size_t>(y[i] - first) < static_cast<std::size_t>(k);
      }
      rows.insert(rows.end(), found, found + count);
    }
    for (Size i : rows) ++start[y[i] - first + 1];
    for (Size c = 0; c < k; ++c) start[c + 1] += start[c];
    order.resize(rows.size());
    std::vector<Size> next(start.begin(), start.end() - 1);
    for (Size i : rows) order[next[y[i] - first]++] = i;
  }
};

// Ask for the cells of row i before they are used: rows are not visited in the order in which they lie.
template <class T>
inline void prefetch(Csr<T> x, Size i) {
  for (Size p = x.indptr[i]; p < x.indptr[i + 1]; p += 64 / sizeof(T)) __builtin_prefetch(x.values + p);
  for (Size p = x.indptr[i]; p < x.indptr[i + 1]; p += 64 / sizeof(std::int32_t)) __builtin_prefetch(x.indices + p);
  asm volatile("");  // an effect: without one, GCC leaves out calls that it does not inline
}

}  // namespace deciban
