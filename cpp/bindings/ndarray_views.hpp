// NumPy arrays → views. The only place that knows both.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>
#include <initializer_list>
#include "bindings/checks.hpp"
#include "dispatch/load.hpp"

namespace deciban {

namespace nb = nanobind;

template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using ColumnList = std::vector<Vector<T>>;
using Out = nb::ndarray<double, nb::c_contig, nb::device::cpu>;
template <int dims>
using OutTable = nb::ndarray<double, nb::ndim<dims>, nb::c_contig, nb::device::cpu>;
template <int dims>
using Table = nb::ndarray<const double, nb::ndim<dims>, nb::c_contig, nb::device::cpu>;
using Codes = Vector<std::int32_t>;
using Doubles = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Offsets = Vector<std::int64_t>;

// Refuse an array that has not as many numbers as this shape.
template <class Array>
void check_size(const Array& array, std::initializer_list<Size> shape, const char* name) {
  Size size = 1;
  bool fits = true;
  for (const Size n : shape) fits = fits && n >= 0 && !__builtin_mul_overflow(size, n, &size);
  if (!fits || static_cast<Size>(array.size()) != size) refuse_size(name, static_cast<Size>(array.size()), size);
}

template <class Array>
Size length(const Array& array, int axis) {
  return static_cast<Size>(array.shape(axis));
}

// Refuse offsets of `count` runs that do not ascend from 0 or more to at most `size`.
inline void check_offsets(const Offsets& offset, Size count, Size size, const char* name) {
  check_size(offset, {count + 1}, name);
  if (!ascend(offset.data(), count + 1, size)) refuse_offsets(name, size);
}

template <class T>
Dense<T> view(const Matrix<T>& x) {
  return {x.data(), static_cast<Size>(x.shape(0)), static_cast<Size>(x.shape(1)), x.stride(0), x.stride(1)};
}

// A view of columns, and the list of their addresses.
template <class T>
struct ColumnsView : Apart<T> {
  std::vector<const T*> addresses;

  explicit ColumnsView(const ColumnList<T>& x)
      : Apart<T>{nullptr, x.empty() ? 0 : static_cast<Size>(x[0].size()), static_cast<Size>(x.size())} {
    for (const Vector<T>& column : x) {
      if (static_cast<Size>(column.size()) != this->n) throw std::invalid_argument("columns of one length are needed");
      addresses.push_back(column.data());
    }
    this->columns = addresses.data();
  }
  ColumnsView(const ColumnsView&) = delete;
};

template <class T>
ColumnsView<T> view(const ColumnList<T>& x) {
  return ColumnsView<T>(x);
}

// The columns of stored cells, all of them in 0 … d − 1: found out once, for many passes over the same rows.
struct CheckedColumns {
  Codes columns;
  Size d;

  CheckedColumns(Codes columns_, Size d_) : columns(std::move(columns_)), d(d_) {
    if (!in_range(columns.data(), length(columns, 0), d)) refuse_codes("columns", d);
  }
};

// Lengths and borders are checked; with the columns they are what a kernel looks up by.
template <class T>
Csr<T> view(const Offsets& indptr, const CheckedColumns& indices, const Vector<T>& values, Size d) {
  const Size cells = length(indices.columns, 0), n = length(indptr, 0) - 1;
  check_size(values, {cells}, "values");
  check_offsets(indptr, n, cells, "indptr");
  if (indices.d > d) refuse_codes("indices", d);
  return {indptr.data(), indices.columns.data(), values.data(), n, d};
}

inline const double* optional(const Doubles& w, Size n) {
  if (!w.is_valid()) return nullptr;
  check_size(w, {n}, "w");
  return w.data();
}

// Classes and weights of n rows; of classes that a kernel does not look up by, any number may be there.
inline Labels view(const Codes& y, const Doubles& w, Size n) {
  check_size(y, {n}, "y");
  return {y.data(), optional(w, n)};
}

// The same, of classes 0 … k − 1.
inline Labels view(const Codes& y, const Doubles& w, Size n, Size k) {
  const Labels out = view(y, w, n);
  if (!in_range(out.y, n, k)) refuse_codes("y", k);
  return out;
}

// A vector as an array that owns it.
template <class T, class Memory>
auto array_of(std::vector<T, Memory>&& values) {
  auto* kept = new std::vector<T, Memory>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T, Memory>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

using Free = nb::call_guard<nb::gil_scoped_release>;

}  // namespace deciban
