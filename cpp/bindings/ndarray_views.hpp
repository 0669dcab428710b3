// NumPy arrays → views. The only place that knows both.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>
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
using Codes = Vector<std::int32_t>;
using Doubles = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Offsets = Vector<std::int64_t>;

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

template <class T>
Csr<T> view(const Offsets& indptr, const Codes& indices, const Vector<T>& values, Size d) {
  return {indptr.data(), indices.data(), values.data(), static_cast<Size>(indptr.shape(0)) - 1, d};
}

inline const double* optional(const Doubles& w) { return w.is_valid() ? w.data() : nullptr; }

inline Labels view(const Codes& y, const Doubles& w) { return {y.data(), optional(w)}; }

using Free = nb::call_guard<nb::gil_scoped_release>;

}  // namespace deciban
