#include "bindings/ndarray_views.hpp"

using namespace deciban;
using namespace nanobind::literals;

template <class Group>
static const Group& kernels_of() {
  return std::get<Group>(kernels().scores);
}

template <class T>
static void bind_dense(nb::module_& m) {
  using Kernel = DenseScores<T>;
  m.def("affine", [](Matrix<T> x, Doubles coef, Doubles bias, Out out) {
          kernels_of<Kernel>().affine(view<T>(x), coef.data(), coef.shape(1), bias.data(), bias.size(), out.data());
        }, "x"_a, "coef"_a, "bias"_a, "out"_a, Free());
  m.def("affine_above", [](Matrix<T> x, Doubles coef, Doubles bias, double above, Out out) {
          kernels_of<Kernel>().affine_above(view<T>(x), coef.data(), coef.shape(1), bias.data(), bias.size(), above, out.data());
        }, "x"_a, "coef"_a, "bias"_a, "above"_a, "out"_a, Free());
  m.def("quadratic_diagonal", [](Matrix<T> x, Doubles mean, Doubles scale, Doubles bias, Out out) {
          kernels_of<Kernel>().quadratic_diagonal(view<T>(x), mean.data(), scale.data(), bias.data(), bias.size(), out.data());
        }, "x"_a, "mean"_a, "scale"_a, "bias"_a, "out"_a, Free());
  m.def("quadratic_missing", [](Matrix<T> x, Doubles mean, Doubles scale, Doubles share, Doubles bias, Out out) {
          kernels_of<Kernel>().quadratic_missing(view<T>(x), mean.data(), scale.data(), share.data(), bias.data(), bias.size(), out.data());
        }, "x"_a, "mean"_a, "scale"_a, "share"_a, "bias"_a, "out"_a, Free());
  m.def("quadratic_full", [](Matrix<T> x, Doubles mean, Doubles white, Doubles bias, Out out) {
          kernels_of<Kernel>().quadratic_full(view<T>(x), mean.data(), white.data(), bias.data(), bias.size(), out.data());
        }, "x"_a, "mean"_a, "white"_a, "bias"_a, "out"_a, Free());
}

template <class T>
static void bind_csr(nb::module_& m) {
  using Kernel = CsrScores<T>;
  m.def("csr_affine", [](Offsets indptr, Codes indices, Vector<T> values, Doubles coef, Doubles bias, Out out) {
          kernels_of<Kernel>().affine(view<T>(indptr, indices, values, coef.shape(0)), coef.data(), coef.shape(1), bias.data(), bias.size(), out.data());
        }, "indptr"_a, "indices"_a, "values"_a, "coef"_a, "bias"_a, "out"_a, Free());
  m.def("csr_affine_above", [](Offsets indptr, Codes indices, Vector<T> values, Doubles coef, Doubles bias, double above, Out out) {
          kernels_of<Kernel>().affine_above(view<T>(indptr, indices, values, coef.shape(0)), coef.data(), coef.shape(1), bias.data(), bias.size(), above, out.data());
        }, "indptr"_a, "indices"_a, "values"_a, "coef"_a, "bias"_a, "above"_a, "out"_a, Free());
  m.def("csr_quadratic", [](Offsets indptr, Codes indices, Vector<T> values, Doubles a, Doubles b, Doubles bias, Out out) {
          kernels_of<Kernel>().quadratic(view<T>(indptr, indices, values, a.shape(0)), a.data(), b.data(), a.shape(1), bias.data(), bias.size(), out.data());
        }, "indptr"_a, "indices"_a, "values"_a, "a"_a, "b"_a, "bias"_a, "out"_a, Free());
}

template <class C>
static void bind_codes(nb::module_& m) {
  using Kernel = CodeScores<C>;
  m.def("lookup", [](Matrix<C> x, Offsets offset, Doubles table, Doubles bias, Out out) {
          kernels_of<Kernel>().lookup(view<C>(x), offset.data(), table.data(), bias.data(), bias.size(), table.shape(1), out.data());
        }, "x"_a, "offset"_a, "table"_a, "bias"_a, "out"_a, Free());
  m.def("parents", [](Matrix<C> x, Offsets offset, Doubles table, Doubles alone, Vector<bool> seen, Out out) {
          kernels_of<Kernel>().parents(view<C>(x), offset.data(), table.data(), alone.data(), seen.data(),
                                       static_cast<Size>(out.shape(1)), static_cast<Size>(alone.shape(1)), out.data());
        }, "x"_a, "offset"_a, "table"_a, "alone"_a, "seen"_a, "out"_a, Free());
}

void bind_scores(nb::module_& m) {
  bind_dense<double>(m);
  bind_dense<float>(m);
  bind_csr<double>(m);
  bind_csr<float>(m);
  bind_codes<std::int32_t>(m);
  bind_codes<std::int64_t>(m);
  m.def("posterior", [](Doubles scores, Doubles prior, bool logs, Out out) {
          kernels_of<OtherScores>().posterior(scores.data(), prior.data(), scores.shape(0), scores.shape(1), logs, out.data());
        }, "scores"_a, "prior"_a, "logs"_a, "out"_a, Free());
  m.def("series", [](Matrix<double> x, Doubles w, Doubles coef, Out out) {
          kernels_of<OtherScores>().series(view<double>(x), optional(w), coef.data(), coef.shape(0), coef.shape(1), out.data());
        }, "x"_a, "w"_a.none(), "coef"_a, "out"_a, Free());
}
