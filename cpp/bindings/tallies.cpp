#include "bindings/ndarray_views.hpp"

using namespace deciban;
using namespace nanobind::literals;

template <class Group>
static const Group& kernels_of() {
  return std::get<Group>(kernels().tallies);
}

template <class T>
static void bind_least(nb::module_& m) {
  m.def("least", [](Vector<T> values) { return kernels_of<CellTallies<T>>().least(values.data(), static_cast<Size>(values.size())); }, "values"_a, Free());
}

// Cells as a matrix, whose view X is Dense<T>, or as columns that lie apart, whose view is Apart<T>.
template <class X, class Cells>
static void bind_rows(nb::module_& m) {
  using T = typename X::Cell;
  using Kernel = RowTallies<X>;
  m.def("sums", [](const Cells& x, Codes y, Doubles w, Out total) { kernels_of<Kernel>().sums(view<T>(x), view(y, w), total.data()); },
        "x"_a, "y"_a, "w"_a.none(), "total"_a, Free());
  m.def("sums_above", [](const Cells& x, Codes y, Doubles w, double above, Out total) {
          kernels_of<Kernel>().sums_above(view<T>(x), view(y, w), above, total.data());
        }, "x"_a, "y"_a, "w"_a.none(), "above"_a, "total"_a, Free());
  m.def("sums_missing", [](const Cells& x, Codes y, Doubles w, Out seen, Out total) {
          kernels_of<Kernel>().sums_missing(view<T>(x), view(y, w), seen.data(), total.data());
        }, "x"_a, "y"_a, "w"_a.none(), "seen"_a, "total"_a, Free());
  m.def("sums_above_missing", [](const Cells& x, Codes y, Doubles w, double above, Out seen, Out total) {
          kernels_of<Kernel>().sums_above_missing(view<T>(x), view(y, w), above, seen.data(), total.data());
        }, "x"_a, "y"_a, "w"_a.none(), "above"_a, "seen"_a, "total"_a, Free());
  m.def("moments", [](const Cells& x, Codes y, Doubles w, Out n, Out mean, Out m2) {
          kernels_of<Kernel>().moments(view<T>(x), view(y, w), static_cast<Size>(n.shape(0)), n.data(), mean.data(), m2.data());
        }, "x"_a, "y"_a, "w"_a.none(), "n"_a, "mean"_a, "m2"_a, Free());
  m.def("moments_missing", [](const Cells& x, Codes y, Doubles w, Out n, Out mean, Out m2) {
          kernels_of<Kernel>().moments_missing(view<T>(x), view(y, w), static_cast<Size>(n.shape(0)), n.data(), mean.data(), m2.data());
        }, "x"_a, "y"_a, "w"_a.none(), "n"_a, "mean"_a, "m2"_a, Free());
  m.def("scatter", [](const Cells& x, Codes y, Doubles w, Out n, Out mean, Out s) {
          kernels_of<Kernel>().scatter(view<T>(x), view(y, w), static_cast<Size>(n.shape(0)), static_cast<Size>(s.shape(0)),
                                       n.data(), mean.data(), s.data());
        }, "x"_a, "y"_a, "w"_a.none(), "n"_a, "mean"_a, "s"_a, Free());
}

template <class T>
static void bind_floats(nb::module_& m) {
  bind_least<T>(m);
  bind_rows<Dense<T>, Matrix<T>>(m);
  bind_rows<Apart<T>, ColumnList<T>>(m);
  m.def("in_rows", [](const ColumnList<T>& x, nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu> out) {
          kernels_of<ColumnCopies<T>>().in_rows(view<T>(x), out.data());
        }, "x"_a, "out"_a, Free());
}

template <class T>
static void bind_csr(nb::module_& m) {
  using Kernel = CsrTallies<T>;
  m.def("csr_sums", [](Offsets indptr, Codes indices, Vector<T> values, Codes y, Doubles w, Size first, Out total) {
          kernels_of<Kernel>().sums(view<T>(indptr, indices, values, total.shape(1)), view(y, w), first, total.shape(0), total.data());
        }, "indptr"_a, "indices"_a, "values"_a, "y"_a, "w"_a.none(), "first"_a, "total"_a, Free());
  m.def("csr_sums_above", [](Offsets indptr, Codes indices, Vector<T> values, Codes y, Doubles w, Size first, double above, Out total) {
          kernels_of<Kernel>().sums_above(view<T>(indptr, indices, values, total.shape(1)), view(y, w), first, total.shape(0), above, total.data());
        }, "indptr"_a, "indices"_a, "values"_a, "y"_a, "w"_a.none(), "first"_a, "above"_a, "total"_a, Free());
  m.def("csr_moments", [](Offsets indptr, Codes indices, Vector<T> values, Codes y, Doubles w, Size first, Out n, Out mean, Out m2) {
          kernels_of<Kernel>().moments(view<T>(indptr, indices, values, mean.shape(1)), view(y, w), first, mean.shape(0), n.data(), mean.data(), m2.data());
        }, "indptr"_a, "indices"_a, "values"_a, "y"_a, "w"_a.none(), "first"_a, "n"_a, "mean"_a, "m2"_a, Free());
}

template <class C>
static void bind_codes(nb::module_& m) {
  using Kernel = CodeTallies<C>;
  bind_least<C>(m);
  m.def("code_range", [](Matrix<C> x, nb::ndarray<std::int64_t, nb::c_contig> top) {
          std::int64_t least = 0;
          kernels_of<Kernel>().code_range(view<C>(x), top.data(), &least);
          return least;
        }, "x"_a, "top"_a, Free());
  m.def("crosstab", [](Matrix<C> x, Codes y, Doubles w, Offsets offset, Out table) {
          kernels_of<Kernel>().crosstab(view<C>(x), view(y, w), offset.data(), table.data());
        }, "x"_a, "y"_a, "w"_a.none(), "offset"_a, "table"_a, Free());
  m.def("pairs", [](Matrix<C> x, Codes y, Doubles w, Offsets levels, Offsets start, Out table) {
          kernels_of<Kernel>().pairs(view<C>(x), view(y, w), static_cast<Size>(table.shape(0)), levels.data(), start.data(),
                                     static_cast<Size>(table.shape(1)), table.data());
        }, "x"_a, "y"_a, "w"_a.none(), "levels"_a, "start"_a, "table"_a, Free());
}

void bind_tallies(nb::module_& m) {
  m.def("weights", [](Codes y, Doubles w, Out out) { kernels_of<WeightTallies>().weights(view(y, w), static_cast<Size>(y.size()), out.data()); },
        "y"_a, "w"_a.none(), "out"_a, Free());
  m.def("largest", [](Vector<double> values) { return kernels_of<WeightTallies>().largest(values.data(), static_cast<Size>(values.size())); },
        "values"_a, Free());
  bind_floats<double>(m);
  bind_floats<float>(m);
  bind_csr<double>(m);
  bind_csr<float>(m);
  bind_codes<std::int32_t>(m);
  bind_codes<std::int64_t>(m);
}
