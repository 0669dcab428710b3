#include "bindings/ndarray_views.hpp"

using namespace deciban;
using namespace nanobind::literals;

// Refuse coefficients (d, ld) that hold fewer than k classes, or (`padded`) no whole cache lines, and results that are not (n, k).
static void check_linear(const Table<2>& coef, Size n, Size d, Size k, bool padded, const Out& out) {
  check_size(coef, {d, length(coef, 1)}, "coef");
  check(k <= length(coef, 1) && (!padded || length(coef, 1) % 8 == 0), "coefficients of all classes are needed, in whole cache lines");
  check_size(out, {n, k}, "out");
}

template <class T>
static void bind_dense(nb::module_& m) {
  using Kernel = DenseScores<T>;
  m.def("affine", [](Matrix<T> x, Table<2> coef, Vector<double> bias, Out out) {
          const auto cells = view<T>(x);
          check_linear(coef, cells.n, cells.d, length(bias, 0), false, out);
          kernels_of<Kernel>().affine(cells, coef.data(), length(coef, 1), bias.data(), length(bias, 0), out.data());
        }, "x"_a, "coef"_a, "bias"_a, "out"_a, Free());
  m.def("affine_above", [](Matrix<T> x, Table<2> coef, Vector<double> bias, double above, Out out) {
          const auto cells = view<T>(x);
          check_linear(coef, cells.n, cells.d, length(bias, 0), false, out);
          kernels_of<Kernel>().affine_above(cells, coef.data(), length(coef, 1), bias.data(), length(bias, 0), above, out.data());
        }, "x"_a, "coef"_a, "bias"_a, "above"_a, "out"_a, Free());
  m.def("quadratic_diagonal", [](Matrix<T> x, Doubles mean, Doubles scale, Vector<double> bias, Out out) {
          const auto cells = view<T>(x);
          const Size k = length(bias, 0);
          check_size(mean, {k, cells.d}, "mean");
          check_size(scale, {k, cells.d}, "scale");
          check_size(out, {cells.n, k}, "out");
          kernels_of<Kernel>().quadratic_diagonal(cells, mean.data(), scale.data(), bias.data(), k, out.data());
        }, "x"_a, "mean"_a, "scale"_a, "bias"_a, "out"_a, Free());
  m.def("quadratic_missing", [](Matrix<T> x, Doubles mean, Doubles scale, Doubles share, Vector<double> bias, Out out) {
          const auto cells = view<T>(x);
          const Size k = length(bias, 0);
          check_size(mean, {k, cells.d}, "mean");
          check_size(scale, {k, cells.d}, "scale");
          check_size(share, {k, cells.d}, "share");
          check_size(out, {cells.n, k}, "out");
          kernels_of<Kernel>().quadratic_missing(cells, mean.data(), scale.data(), share.data(), bias.data(), k, out.data());
        }, "x"_a, "mean"_a, "scale"_a, "share"_a, "bias"_a, "out"_a, Free());
  m.def("quadratic_full", [](Matrix<T> x, Doubles mean, Doubles white, Vector<double> bias, Out out) {
          const auto cells = view<T>(x);
          const Size k = length(bias, 0);
          check_size(mean, {k, cells.d}, "mean");
          check_size(white, {k, cells.d, cells.d}, "white");
          check_size(out, {cells.n, k}, "out");
          kernels_of<Kernel>().quadratic_full(cells, mean.data(), white.data(), bias.data(), k, out.data());
        }, "x"_a, "mean"_a, "white"_a, "bias"_a, "out"_a, Free());
}

template <class T>
static void bind_csr(nb::module_& m) {
  using Kernel = CsrScores<T>;
  m.def("csr_affine", [](Offsets indptr, const CheckedColumns& indices, Vector<T> values, Table<2> coef, Vector<double> bias, Out out) {
          const auto cells = view<T>(indptr, indices, values, length(coef, 0));
          check_linear(coef, cells.n, cells.d, length(bias, 0), true, out);
          kernels_of<Kernel>().affine(cells, coef.data(), length(coef, 1), bias.data(), length(bias, 0), out.data());
        }, "indptr"_a, "indices"_a, "values"_a, "coef"_a, "bias"_a, "out"_a, Free());
  m.def("csr_affine_above", [](Offsets indptr, const CheckedColumns& indices, Vector<T> values, Table<2> coef, Vector<double> bias, double above, Out out) {
          const auto cells = view<T>(indptr, indices, values, length(coef, 0));
          check_linear(coef, cells.n, cells.d, length(bias, 0), true, out);
          kernels_of<Kernel>().affine_above(cells, coef.data(), length(coef, 1), bias.data(), length(bias, 0), above, out.data());
        }, "indptr"_a, "indices"_a, "values"_a, "coef"_a, "bias"_a, "above"_a, "out"_a, Free());
  m.def("csr_quadratic", [](Offsets indptr, const CheckedColumns& indices, Vector<T> values, Table<2> a, Table<2> b, Vector<double> bias, Out out) {
          const auto cells = view<T>(indptr, indices, values, length(a, 0));
          check_linear(a, cells.n, cells.d, length(bias, 0), false, out);
          check_size(b, {cells.d, length(a, 1)}, "b");
          kernels_of<Kernel>().quadratic(cells, a.data(), b.data(), length(a, 1), bias.data(), length(bias, 0), out.data());
        }, "indptr"_a, "indices"_a, "values"_a, "a"_a, "b"_a, "bias"_a, "out"_a, Free());
}

template <class C>
static void bind_codes(nb::module_& m) {
  using Kernel = CodeScores<C>;
  m.def("lookup", [](Matrix<C> x, Offsets offset, Table<2> table, Vector<double> bias, Out out) {
          const auto cells = view<C>(x);
          check_offsets(offset, cells.d, length(table, 0), "offset");
          check_linear(table, cells.n, length(table, 0), length(bias, 0), true, out);
          kernels_of<Kernel>().lookup(cells, offset.data(), table.data(), bias.data(), length(bias, 0), length(table, 1), out.data());
        }, "x"_a, "offset"_a, "table"_a, "bias"_a, "out"_a, Free());
  m.def("parents", [](Matrix<C> x, Offsets offset, Doubles table, Table<2> alone, Vector<bool> seen, OutTable<2> out) {
          const auto cells = view<C>(x);
          const Size levels = length(seen, 0), ld = length(alone, 1);
          check_offsets(offset, cells.d, levels, "offset");
          check(offset.data()[cells.d] == levels, "offsets of all levels are needed");
          check_size(alone, {levels + 1, ld}, "alone");
          check_size(table, {levels, levels + 1, ld}, "table");
          check(length(out, 1) <= ld && ld % 2 == 0, "an even number of classes is needed, no fewer than there are results");
          check_size(out, {cells.n, length(out, 1)}, "out");
          kernels_of<Kernel>().parents(cells, offset.data(), table.data(), alone.data(), seen.data(), length(out, 1), ld, out.data());
        }, "x"_a, "offset"_a, "table"_a, "alone"_a, "seen"_a, "out"_a, Free());
}

void bind_scores(nb::module_& m) {
  bind_dense<double>(m);
  bind_dense<float>(m);
  bind_csr<double>(m);
  bind_csr<float>(m);
  bind_codes<std::int32_t>(m);
  bind_codes<std::int64_t>(m);
  m.def("posterior", [](Table<2> scores, Vector<double> prior, bool logs, Out out) {
          const Size n = length(scores, 0), k = length(scores, 1);
          check_size(prior, {k}, "prior");
          check_size(out, {n, k}, "out");
          if (k) kernels_of<OtherScores>().posterior(scores.data(), prior.data(), n, k, logs, out.data());
        }, "scores"_a, "prior"_a, "logs"_a, "out"_a, Free());
  m.def("series", [](Matrix<double> x, Doubles w, Table<3> coef, Out out) {
          const auto cells = view<double>(x);
          const Size terms = length(coef, 0), k = length(coef, 1);
          check_size(coef, {terms, k, cells.d}, "coef");
          check_size(out, {cells.n, k}, "out");
          kernels_of<OtherScores>().series(cells, optional(w, cells.n), coef.data(), terms, k, out.data());
        }, "x"_a, "w"_a.none(), "coef"_a, "out"_a, Free());
}
