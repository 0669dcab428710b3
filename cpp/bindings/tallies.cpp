#include <algorithm>
#include <vector>
#include "bindings/ndarray_views.hpp"

using namespace deciban;
using namespace nanobind::literals;

template <class T>
static void bind_least(nb::module_& m) {
  m.def("least", [](Vector<T> values) { return kernels_of<CellTallies<T>>().least(values.data(), static_cast<Size>(values.size())); }, "values"_a, Free());
}

template <class T>
static void bind_columns(nb::module_& m) {
  bind_least<T>(m);
  m.def("in_rows", [](const ColumnList<T>& x, nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu> out) {
          const auto& cells = view<T>(x);
          check_size(out, {cells.n, cells.d}, "out");
          kernels_of<ColumnCopies<T>>().in_rows(cells, out.data());
        }, "x"_a, "out"_a, Free());
}

constexpr Size most_cells = Size{1} << 24;  // of a joint table
constexpr Size most_places = Size{1} << 30;  // of its cells and folds that have rows

// Refuse pairs of columns whose counts do not fit into rows of `width` cells.
static void check_pairs(const Offsets& levels, const Offsets& start, Size d, Size width) {
  check_size(levels, {d}, "levels");
  check_offsets(start, d * (d - 1) / 2, width, "start");
  for (Size i = 0; i < d; ++i) check(levels.data()[i] >= 0 && levels.data()[i] < Size{1} << 31, "levels must be numbers of levels");
  const std::int64_t* at = start.data();
  for (Size i = 0; i < d; ++i)
    for (Size j = i + 1; j < d; ++j, ++at) {
      Size cells;
      check(!__builtin_mul_overflow(levels.data()[i], levels.data()[j], &cells) && cells <= at[1] - at[0],
            "start must leave a cell for every two levels");
    }
}

// Codes with the smallest of them (0, if that is smaller) and the largest of each column (−1, if that is larger): found
// out once, so that a crosstab of levels need not test each of them again.
template <class C>
struct CodeRange {
  Matrix<C> x;
  std::int64_t least = 0;
  std::vector<std::int64_t> top;

  explicit CodeRange(Matrix<C> x_) : x(std::move(x_)), top(x.shape(1), -1) {
    kernels_of<CodeTallies<C>>().code_range(cells(), top.data(), &least);
  }

  Dense<C> cells() const { return view<C>(x); }

  bool within(const std::int64_t* offset) const {
    bool inside = least >= 0;
    for (std::size_t j = 0; j < top.size(); ++j) inside &= top[j] < offset[j + 1] - offset[j];
    return inside;
  }
};

template <class C>
static void bind_codes(nb::module_& m) {
  using Kernel = CodeTallies<C>;
  bind_least<C>(m);
  using Range = CodeRange<C>;
  nb::class_<Range>(m, sizeof(C) == 4 ? "CodeRange32" : "CodeRange64")
      .def_ro("least", &Range::least)
      .def("largest", [](const Range& r, nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> out) {
             check_size(out, {r.cells().d}, "out");
             std::copy(r.top.begin(), r.top.end(), out.data());
           }, "out"_a);
  m.def("code_range", [](Matrix<C> x) { return Range(std::move(x)); }, "x"_a, Free());
  m.def("crosstab", [](const Range& x, Codes y, Doubles w, Offsets offset, OutTable<2> table) {
          const auto cells = x.cells();
          const Size width = length(table, 1);
          check_offsets(offset, cells.d, width, "offset");
          check(offset.data()[cells.d] == width, "a table of all levels is needed");
          const Labels rows = view(y, w, cells.n, length(table, 0));
          if (x.within(offset.data()))
            kernels_of<Kernel>().crosstab_of_levels(cells, rows, offset.data(), table.data());
          else
            check(kernels_of<Kernel>().crosstab(cells, rows, offset.data(), table.data()), "x has a code that is no level");
        }, "x"_a, "y"_a, "w"_a.none(), "offset"_a, "table"_a, Free());
  m.def("pairs", [](Matrix<C> x, Codes y, Doubles w, Offsets levels, Offsets start, OutTable<2> table) {
          const auto cells = view<C>(x);
          const Size k = length(table, 0), width = length(table, 1);
          check_pairs(levels, start, cells.d, width);
          check(kernels_of<Kernel>().pairs(cells, view(y, w, cells.n, k), k, levels.data(), start.data(), width, table.data()),
                "x has a code that is no level");
        }, "x"_a, "y"_a, "w"_a.none(), "levels"_a, "start"_a, "table"_a, Free());
  m.def("table_gains", [](Matrix<C> x, Codes y, Codes fold, Vector<double> w, Vector<double> mass, Table<2> p, Offsets offset, Table<3> theta,
                          Offsets members, Offsets start, double most, OutTable<2> out) {
          const auto cells = view<C>(x);
          const Size k = length(p, 1), folds = length(theta, 0), width = length(theta, 1), sets = length(out, 0);
          check_size(p, {cells.n, k}, "p");
          check_size(w, {cells.n}, "w");
          check_size(mass, {cells.n}, "mass");
          check_size(fold, {cells.n}, "fold");
          if (!in_range(fold.data(), cells.n, folds)) refuse_codes("fold", folds);
          check_offsets(offset, cells.d, width, "offset");
          check(offset.data()[cells.d] == width, "theta of all levels is needed");
          check_size(theta, {folds, width, k}, "theta");
          check_offsets(start, sets, length(members, 0), "start");
          check_size(out, {sets, 2}, "out");
          check(cells.n <= most_places / std::max<Size>(folds, 1), "there are too many rows in folds");
          for (Size s = 0; s < sets; ++s) {
            Size size = 1;
            check(start.data()[s] < start.data()[s + 1], "every set needs a column");
            for (Size i = start.data()[s]; i < start.data()[s + 1]; ++i) {
              const std::int64_t j = members.data()[i];
              check(j >= 0 && j < cells.d, "members must be columns");
              check(!__builtin_mul_overflow(size, offset.data()[j + 1] - offset.data()[j], &size) && size <= most_cells,
                    "a table has too many cells");
            }
          }
          const FoldRows rows{view(y, Doubles(), cells.n, k).y, fold.data(), w.data(), mass.data(), p.data(), cells.d, k, folds, most};
          kernels_of<Kernel>().table_gains(cells, rows, offset.data(), theta.data(), members.data(), start.data(), sets, out.data());
        }, "x"_a, "y"_a, "fold"_a, "w"_a, "mass"_a, "p"_a, "offset"_a, "theta"_a, "members"_a, "start"_a, "most"_a, "out"_a, Free());
}

void bind_tallies(nb::module_& m) {
  nb::class_<CheckedColumns>(m, "CheckedColumns").def(nb::init<Codes, Size>(), "columns"_a, "d"_a);
  m.def("weights", [](Codes y, Doubles w, Out out) {
          const Size n = length(y, 0);
          kernels_of<WeightTallies>().weights(view(y, w, n, static_cast<Size>(out.size())), n, out.data());
        }, "y"_a, "w"_a.none(), "out"_a, Free());
  m.def("largest", [](Vector<double> values) { return kernels_of<WeightTallies>().largest(values.data(), static_cast<Size>(values.size())); },
        "values"_a, Free());
  m.def("all_finite", [](Doubles values) { return kernels_of<WeightTallies>().all_finite(values.data(), static_cast<Size>(values.size())); },
        "values"_a.noconvert(), Free());
  m.def("logarithms", [](Doubles values, Out out) {
          check_size(out, {static_cast<Size>(values.size())}, "out");
          kernels_of<WeightTallies>().logarithms(values.data(), static_cast<Size>(values.size()), out.data());
        }, "values"_a, "out"_a, Free());
  bind_columns<double>(m);  // after both: a matrix without rows would be taken for no columns
  bind_columns<float>(m);
  bind_codes<std::int32_t>(m);
  bind_codes<std::int64_t>(m);
}
