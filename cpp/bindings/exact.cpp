#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include "bindings/ndarray_views.hpp"
#include "kernels/tallies/limbs.hpp"

using namespace deciban;
using namespace nanobind::literals;

// (k, d, low, count, limbs) as `deciban/tallies/exact.py` has them
using Given = std::tuple<Size, Size, Offsets, Offsets, Offsets>;

constexpr Limb far_limbs = Limb{1} << 20;  // no sum comes near

static LimbView view(const Given& x) {
  const auto& [k, d, low, count, limbs] = x;
  check(k >= 0 && d >= 0, "numbers of classes and columns are needed");
  check_size(low, {blocks_of(d)}, "low");
  check_size(count, {blocks_of(d)}, "count");
  Size size = 0;
  for (Size b = 0; b < blocks_of(d); ++b) {
    const Limb first = low.data()[b], own = count.data()[b];
    check(first >= -far_limbs && first <= far_limbs && own >= 0 && own <= far_limbs, "low and count must be of limbs");
    Size more;
    check(!__builtin_mul_overflow(own * width_of(b, d), k, &more) && !__builtin_add_overflow(size, more, &size), "count is too large");
  }
  check_size(limbs, {size}, "limbs");
  return {k, d, low.data(), count.data(), limbs.data()};
}

static nb::tuple arrays_of(LimbTable&& table) {
  return nb::make_tuple(array_of(std::move(table.low)), array_of(std::move(table.count)), array_of(std::move(table.limbs)));
}

// (n, missing weight, Σ w x, Σ w x² or None, finite)
template <class Kernel>
static nb::tuple exact_tables(bool squares, Kernel kernel) {
  LimbTable out[4];
  bool finite;
  {
    nb::gil_scoped_release free;
    finite = kernel(out);
  }
  nb::object second = nb::none();
  if (squares) second = arrays_of(std::move(out[3]));
  return nb::make_tuple(arrays_of(std::move(out[0])), arrays_of(std::move(out[1])), arrays_of(std::move(out[2])), second, finite);
}

// Cells as a matrix, whose view X is Dense<T>, or as columns that lie apart, whose view is Apart<T>.
template <class X, class Cells>
static void bind_rows(nb::module_& m) {
  m.def("exact_sums", [](const Cells& x, Codes y, Doubles w, Size k, std::optional<double> above, bool squares) {
          const auto& cells = view<typename X::Cell>(x);
          check(k >= 0, "a number of classes is needed");
          const Labels rows = view(y, w, cells.n, k);
          return exact_tables(squares, [&](auto& out) {
            return kernels_of<RowTallies<X>>().exact_sums(cells, rows, k, above ? &*above : nullptr, squares, out);
          });
        }, "x"_a, "y"_a, "w"_a.none(), "k"_a, "above"_a.none(), "squares"_a);
  m.def("scatter", [](const Cells& x, Codes y, Doubles w, Size k, OutTable<3> s) {
          const auto& cells = view<typename X::Cell>(x);
          const Size groups = length(s, 0);
          check(k >= 0, "a number of classes is needed");
          check(groups == 1 || groups == k, "one scatter matrix is needed, or one of each class");
          check_size(s, {groups, cells.d, cells.d}, "s");
          const Labels rows = view(y, w, cells.n, k);
          return exact_tables(false, [&](auto& out) { return kernels_of<RowTallies<X>>().scatter(cells, rows, k, groups, s.data(), out); });
        }, "x"_a, "y"_a, "w"_a.none(), "k"_a, "s"_a);
  m.def("exact_products", [](const Cells& x, Codes y, Doubles w, Size k) {
          const auto& cells = view<typename X::Cell>(x);
          check(k >= 0, "a number of classes is needed");
          const Labels rows = view(y, w, cells.n, k);
          LimbTable out;
          bool finite;
          {
            nb::gil_scoped_release free;
            finite = std::get<RowTallies<X>>(kernels().tallies).exact_products(cells, rows, k, out);
          }
          return nb::make_tuple(arrays_of(std::move(out)), finite);
        }, "x"_a, "y"_a, "w"_a.none(), "k"_a);
}

template <class T>
static void bind_csr_sums(nb::module_& m) {
  m.def("csr_exact_sums", [](Offsets indptr, const CheckedColumns& indices, Vector<T> values, Codes y, Doubles w, std::int32_t first, Size k,
                             Size d, std::optional<double> above, bool squares) {
          const auto cells = view<T>(indptr, indices, values, d);
          check(k >= 0, "a number of classes is needed");
          const Labels rows = view(y, w, cells.n);
          return exact_tables(squares, [&](auto& out) {
            return kernels_of<CsrTallies<T>>().exact_sums(cells, rows, first, k, above ? &*above : nullptr, squares, out);
          });
        }, "indptr"_a, "indices"_a, "values"_a, "y"_a, "w"_a.none(), "first"_a, "k"_a, "d"_a, "above"_a.none(), "squares"_a);
}

void bind_exact(nb::module_& m) {
  bind_rows<Dense<double>, Matrix<double>>(m);
  bind_rows<Dense<float>, Matrix<float>>(m);
  bind_rows<Apart<double>, ColumnList<double>>(m);
  bind_rows<Apart<float>, ColumnList<float>>(m);
  bind_csr_sums<double>(m);
  bind_csr_sums<float>(m);
  m.def("limbs_of", [](Table<2> values) {
          LimbTable out;
          const bool finite = from_doubles(values.data(), length(values, 0), length(values, 1), out);
          return nb::make_tuple(array_of(std::move(out.low)), array_of(std::move(out.count)), array_of(std::move(out.limbs)), finite);
        }, "values"_a);
  m.def("limbs_to_doubles", [](const Given& x, OutTable<2> out) {
          const LimbView table = view(x);
          check_size(out, {table.k, table.d}, "out");
          to_doubles(table, out.data());
        }, "x"_a, "out"_a, Free());
  m.def("limb_signs", [](const Given& x, nb::ndarray<std::int8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> out) {
          const LimbView table = view(x);
          check_size(out, {table.k, table.d}, "out");
          signs(table, out.data());
        }, "x"_a, "out"_a, Free());
  m.def("limbs_ratio", [](const Given& x, const Given& n, OutTable<2> out) {
          const LimbView table = view(x), below = view(n);
          check(below.k == table.k && (below.d == 1 || below.d == table.d), "n of every class is needed");
          check_size(out, {table.k, table.d}, "out");
          ratio(table, below, out.data());
        }, "x"_a, "n"_a, "out"_a, Free());
  m.def("limbs_moments", [](const Given& n, const Given& s1, const Given& s2, OutTable<2> mean, OutTable<2> m2) {
          const LimbView below = view(n), first = view(s1), second = view(s2);
          check(below.k == first.k && (below.d == 1 || below.d == first.d), "n of every class is needed");
          check(first.k == second.k && first.d == second.d, "sums and sums of squares must have one shape");
          check_size(mean, {first.k, first.d}, "mean");
          check_size(m2, {first.k, first.d}, "m2");
          mean_and_squares(below, first, second, mean.data(), m2.data());
        }, "n"_a, "s1"_a, "s2"_a, "mean"_a, "m2"_a, Free());
  m.def("limbs_centred_products", [](const Given& n, const Given& sums, const Given& products, OutTable<3> out) {
          const LimbView below = view(n), first = view(sums), second = view(products);
          check(below.k == first.k && below.d == 1, "n of every class is needed");
          check(second.k == first.k && second.d == first.d * (first.d + 1) / 2, "products of every two columns are needed");
          check_size(out, {first.k, first.d, first.d}, "out");
          centred_products(below, first, second, out.data());
        }, "n"_a, "sums"_a, "products"_a, "out"_a, Free());
  m.def("limbs_combined", [](Size k, Size d, const std::vector<std::tuple<Given, Offsets, bool>>& parts) {
          check(k >= 0 && d >= 0, "numbers of classes and columns are needed");
          std::vector<Placed> placed;
          for (const auto& [given, index, minus] : parts) {
            placed.push_back({view(given), index.data(), minus});
            check(placed.back().table.d == d, "tables must have as many columns");
            check_size(index, {placed.back().table.k}, "index");
            check(in_span(index.data(), placed.back().table.k, 0, k), "index must be of classes");
          }
          LimbTable out;
          combine(k, d, placed, out);
          return arrays_of(std::move(out));
        }, "k"_a, "d"_a, "parts"_a);
  m.def("limbs_gathered", [](Size k, const std::vector<Given>& parts, Offsets source, Offsets columns) {
          std::vector<LimbView> tables;
          for (const Given& part : parts) {
            tables.push_back(view(part));
            check(tables.back().k == k, "tables must have as many classes");
          }
          const Size d = length(source, 0);
          check_size(columns, {d}, "columns");
          check(in_span(source.data(), d, 0, static_cast<Size>(tables.size())), "source must be of tables");
          for (Size j = 0; j < d; ++j)
            check(columns.data()[j] >= 0 && columns.data()[j] < tables[static_cast<std::size_t>(source.data()[j])].d, "columns must be of their table");
          LimbTable out;
          gather(k, d, tables, source.data(), columns.data(), out);
          return arrays_of(std::move(out));
        }, "k"_a, "parts"_a, "source"_a, "columns"_a);
}
