#include "bindings/ndarray_views.hpp"
#include "kernels/histogram/cuts.hpp"
#include "kernels/histogram/grid_counts.hpp"

using namespace deciban;
using namespace nanobind::literals;

using Keys = nb::ndarray<std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Starts = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Tables = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;  // (2, k, d), as `GridKeys` has them
using ReadKeys = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Bounds = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class X, class Cells>
static void bind_keys(nb::module_& m) {
  m.def("grid_keys", [](const Cells& x, ::Codes y, Tables outside, Keys keys, Starts start) {
          const auto& cells = view<typename X::Cell>(x);
          const Size k = length(outside, 1);
          check_size(outside, {2, k, cells.d}, "outside");
          check_size(keys, {cells.d, cells.n}, "keys");
          check_size(start, {k + 1}, "start");
          const GridKeys out{outside.data(), outside.data() + k * cells.d, keys.data()};
          return kernels_of<ColumnPass<X>>().grid_keys(cells, view(y, Doubles(), cells.n, k), k, out, start.data());
        }, "x"_a, "y"_a, "outside"_a, "keys"_a, "start"_a, Free());
}

using Lists = std::vector<ReadKeys>;
using ListsOfBounds = std::vector<Bounds>;
using ListsOfWeights = std::vector<Doubles>;  // empty: 1 each

// Rows for counters T; whole ones count rows, which have no weights then.
template <class T>
static std::vector<Keyed> rows_of(const Lists& keys, const ListsOfBounds& bounds, const ListsOfWeights& weights, Size k, Size d) {
  check(keys.size() == bounds.size() && keys.size() == weights.size(), "bounds and weights of all rows are needed");
  std::vector<Keyed> out;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Size n = length(keys[i], 1);
    check_size(keys[i], {d, n}, "rows");
    check_size(bounds[i], {k, 2}, "bounds");
    if (weights[i].size()) {
      check(!std::is_integral_v<T>, "weights are for `count_weighed`");
      check_size(weights[i], {n}, "weights");
    }
    for (Size c = 0; c < 2 * k; ++c)
      check(bounds[i].data()[c] >= 0 && bounds[i].data()[c] <= n, "bounds must be numbers of rows");
    check(in_span(keys[i].data(), d * n, -grid_zero, 2 * grid_zero), "rows has a key outside of the grid");
    out.push_back({keys[i].data(), bounds[i].data(), weights[i].size() ? weights[i].data() : nullptr, n});
  }
  return out;
}

static Known known_of(const Offsets& keys, const Offsets& offset, const Table<2>& table, Size k) {
  const Size d = length(offset, 0) - 1;
  check_offsets(offset, d, length(keys, 0), "offset");
  check_size(table, {k, offset.data()[d]}, "table");
  check(in_span(keys.data(), offset.data()[d], -grid_zero, 2 * grid_zero), "keys has a key outside of the grid");
  return {keys.data(), offset.data(), table.data(), d};
}

// (keys, offset, table) of what `make` counts without Python.
template <class Make>
static nb::tuple arrays_of(Make make) {
  std::vector<double> whole;
  Counts counts = [&] {
    nb::gil_scoped_release free;
    Counts made = make();
    whole.reserve(made.keys.size() * made.table.size());
    for (std::vector<double>& row : made.table) {
      whole.insert(whole.end(), row.begin(), row.end());
      std::vector<double>().swap(row);
    }
    return made;
  }();
  return nb::make_tuple(array_of(std::move(counts.keys)), array_of(std::move(counts.offset)), array_of(std::move(whole)));
}

template <class T>
static void bind_count(nb::module_& m, const char* name) {
  m.def(name, [](Offsets keys, Offsets offset, Table<2> table, const Lists& rows, const ListsOfBounds& bounds,
                 const ListsOfWeights& weights) {
          return arrays_of([&] {
            const Size k = length(table, 0);
            const Known known = known_of(keys, offset, table, k);
            return count<T>(k, known, rows_of<T>(rows, bounds, weights, k, known.d));
          });
        }, "keys"_a, "offset"_a, "table"_a, "rows"_a, "bounds"_a, "weights"_a);
}

void bind_cells(nb::module_& m) {
  bind_keys<Dense<double>, Matrix<double>>(m);
  bind_keys<Dense<float>, Matrix<float>>(m);
  bind_keys<Apart<double>, ColumnList<double>>(m);
  bind_keys<Apart<float>, ColumnList<float>>(m);
  bind_count<std::uint32_t>(m, "count");
  bind_count<double>(m, "count_weighed");
  m.def("supervised_cuts", [](Table<3> counts, nb::ndarray<std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> first) {
          for (std::size_t i = 0; i < counts.size(); ++i) check(counts.data()[i] >= 0, "counts ≥ 0 are needed");
          const Size tables = length(counts, 0), k = length(counts, 1), m = length(counts, 2);
          check_size(first, {tables, m}, "first");
          supervised_cuts(counts.data(), tables, k, m, first.data());
        }, "counts"_a, "first"_a);
  nb::class_<Grids>(m, "Grids")
      .def("__init__", [](Grids* self, Size k, Size d) {
             check(k >= 0 && d >= 0, "numbers of classes and columns are needed");
             new (self) Grids(k, d);
           }, "k"_a, "d"_a)
      .def("add", [](Grids& grids, const Lists& keys, const ListsOfBounds& bounds, const ListsOfWeights& weights) {
             grids.add(rows_of<std::uint32_t>(keys, bounds, weights, grids.k(), grids.d()));
           }, "keys"_a, "bounds"_a, "weights"_a, Free())
      .def("read", [](Grids& grids, Offsets keys, Offsets offset, Table<2> table) {
             const Known known = known_of(keys, offset, table, grids.k());
             check(known.d == grids.d(), "keys of all columns are needed");
             return arrays_of([&] { return grids.read(known); });
           }, "keys"_a, "offset"_a, "table"_a);
}
