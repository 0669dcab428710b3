#include "bindings/ndarray_views.hpp"
#include "kernels/histogram/cuts.hpp"
#include "kernels/histogram/grid_counts.hpp"

using namespace deciban;
using namespace nanobind::literals;

using Keys = nb::ndarray<std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Starts = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Tables = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;  // (10, k, d), as `Shared` has them
using ReadKeys = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Bounds = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class X, class Cells>
static void bind_share(nb::module_& m) {
  m.def("share", [](const Cells& x, ::Codes y, Doubles w, Tables tables, Keys keys, Starts start) {
          const Size k = static_cast<Size>(tables.shape(1)), size = k * static_cast<Size>(tables.shape(2));
          double* t = tables.data();
          const auto table = [&](Size i) { return t + i * size; };
          const Shared out{table(0), table(1), table(2), table(3), table(4), table(5),
                           table(6), table(7), table(8), table(9), keys.data()};
          return std::get<ColumnPass<X>>(kernels().histogram).share(view<typename X::Cell>(x), view(y, w), k, out, start.data());
        }, "x"_a, "y"_a, "w"_a.none(), "tables"_a, "keys"_a, "start"_a, Free());
}

// A vector as an array that owns it.
template <class T>
static auto array_of(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

using Lists = std::vector<ReadKeys>;
using ListsOfBounds = std::vector<Bounds>;
using ListsOfWeights = std::vector<Doubles>;  // empty: 1 each

static std::vector<Keyed> rows_of(const Lists& keys, const ListsOfBounds& bounds, const ListsOfWeights& weights) {
  std::vector<Keyed> out;
  for (std::size_t i = 0; i < keys.size(); ++i)
    out.push_back({keys[i].data(), bounds[i].data(), weights[i].size() ? weights[i].data() : nullptr,
                   static_cast<Size>(keys[i].shape(1))});
  return out;
}

static Known known_of(const Offsets& keys, const Offsets& offset, const Doubles& table) {
  return {keys.data(), offset.data(), table.data(), static_cast<Size>(offset.size()) - 1};
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
  m.def(name, [](Offsets keys, Offsets offset, Doubles table, const Lists& rows, const ListsOfBounds& bounds,
                 const ListsOfWeights& weights) {
          return arrays_of([&] {
            return count<T>(static_cast<Size>(table.shape(0)), known_of(keys, offset, table), rows_of(rows, bounds, weights));
          });
        }, "keys"_a, "offset"_a, "table"_a, "rows"_a, "bounds"_a, "weights"_a);
}

void bind_cells(nb::module_& m) {
  bind_share<Dense<double>, Matrix<double>>(m);
  bind_share<Dense<float>, Matrix<float>>(m);
  bind_share<Apart<double>, ColumnList<double>>(m);
  bind_share<Apart<float>, ColumnList<float>>(m);
  bind_count<std::uint32_t>(m, "count");
  bind_count<double>(m, "count_weighed");
  m.def("supervised_cuts", [](Matrix<double> counts) {
          if (counts.size() && (counts.stride(1) != 1 || counts.stride(0) != static_cast<Size>(counts.shape(1))))
            throw std::invalid_argument("counts in C order are needed");
          return supervised_cuts(counts.data(), static_cast<Size>(counts.shape(0)), static_cast<Size>(counts.shape(1)));
        }, "counts"_a);
  nb::class_<Grids>(m, "Grids")
      .def(nb::init<Size, Size>(), "k"_a, "d"_a)
      .def("add", [](Grids& grids, const Lists& keys, const ListsOfBounds& bounds, const ListsOfWeights& weights) {
             grids.add(rows_of(keys, bounds, weights));
           }, "keys"_a, "bounds"_a, "weights"_a, Free())
      .def("read", [](Grids& grids, Offsets keys, Offsets offset, Doubles table) {
             return arrays_of([&] { return grids.read(known_of(keys, offset, table)); });
           }, "keys"_a, "offset"_a, "table"_a);
}
