#include "bindings/ndarray_views.hpp"
#include "kernels/scores/aode.hpp"
#include "kernels/scores/scores.hpp"

using namespace deciban;
using namespace nanobind::literals;

template <class T>
static void bind_dense(nb::module_& m) {
  m.def("affine", [](Matrix<T> x, Doubles coef, Doubles bias, Out out) {
          affine(view<T>(x), coef.data(), coef.shape(1), bias.data(), bias.size(), Raw{}, out.data());
        }, "x"_a, "coef"_a, "bias"_a, "out"_a, Free());
  m.def("affine_above", [](Matrix<T> x, Doubles coef, Doubles bias, double above, Out out) {
          affine(view<T>(x), coef.data(), coef.shape(1), bias.data(), bias.size(), Above{above}, out.data());
        }, "x"_a, "coef"_a, "bias"_a, "above"_a, "out"_a, Free());
  m.def("quadratic_diagonal", [](Matrix<T> x, Doubles mean, Doubles scale, Doubles bias, Out out) {
          quadratic_diagonal<false>(view<T>(x), mean.data(), scale.data(), nullptr, bias.data(), bias.size(), out.data());
        }, "x"_a, "mean"_a, "scale"_a, "bias"_a, "out"_a, Free());
  m.def("quadratic_missing", [](Matrix<T> x, Doubles mean, Doubles scale, Doubles share, Doubles bias, Out out) {
          quadratic_diagonal<true>(view<T>(x), mean.data(), scale.data(), share.data(), bias.data(), bias.size(), out.data());
        }, "x"_a, "mean"_a, "scale"_a, "share"_a, "bias"_a, "out"_a, Free());
  m.def("quadratic_full", [](Matrix<T> x, Doubles mean, Doubles white, Doubles bias, Out out) {
          quadratic_full(view<T>(x), mean.data(), white.data(), bias.data(), bias.size(), out.data());
        }, "x"_a, "mean"_a, "white"_a, "bias"_a, "out"_a, Free());
}

template <class T, class I>
static void bind_csr(nb::module_& m) {
  m.def("csr_affine", [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Doubles coef, Doubles bias, Out out) {
          affine(view<T, I>(indptr, indices, values, coef.shape(0)), coef.data(), coef.shape(1), bias.data(), bias.size(), Raw{}, out.data());
        }, "indptr"_a, "indices"_a, "values"_a, "coef"_a, "bias"_a, "out"_a, Free());
  m.def("csr_affine_above", [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Doubles coef, Doubles bias, double above, Out out) {
          affine(view<T, I>(indptr, indices, values, coef.shape(0)), coef.data(), coef.shape(1), bias.data(), bias.size(), Above{above}, out.data());
        }, "indptr"_a, "indices"_a, "values"_a, "coef"_a, "bias"_a, "above"_a, "out"_a, Free());
  m.def("csr_quadratic", [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Doubles a, Doubles b, Doubles bias, Out out) {
          quadratic_diagonal(view<T, I>(indptr, indices, values, a.shape(0)), a.data(), b.data(), a.shape(1), bias.data(), bias.size(), out.data());
        }, "indptr"_a, "indices"_a, "values"_a, "a"_a, "b"_a, "bias"_a, "out"_a, Free());
}

template <class C>
static void bind_codes(nb::module_& m) {
  m.def("lookup", [](Matrix<C> x, Offsets offset, Doubles table, Doubles bias, Out out) {
          lookup(view<C>(x), offset.data(), table.data(), bias.data(), bias.size(), table.shape(1), out.data());
        }, "x"_a, "offset"_a, "table"_a, "bias"_a, "out"_a, Free());
  m.def("parents", [](Matrix<C> x, Offsets offset, Doubles table, Doubles alone, Vector<bool> seen, Out out) {
          parents(view<C>(x), offset.data(), table.data(), alone.data(), seen.data(), static_cast<Size>(out.shape(1)),
                  static_cast<Size>(alone.shape(1)), out.data());
        }, "x"_a, "offset"_a, "table"_a, "alone"_a, "seen"_a, "out"_a, Free());
}

void bind_scores(nb::module_& m) {
  bind_dense<double>(m);
  bind_dense<float>(m);
  bind_csr<double, std::int32_t>(m);
  bind_csr<double, std::int64_t>(m);
  bind_csr<float, std::int32_t>(m);
  bind_csr<float, std::int64_t>(m);
  bind_codes<std::int32_t>(m);
  bind_codes<std::int64_t>(m);
  m.def("posterior", [](Doubles scores, Doubles prior, bool logs, Out out) {
          posterior(scores.data(), prior.data(), scores.shape(0), scores.shape(1), logs, out.data());
        }, "scores"_a, "prior"_a, "logs"_a, "out"_a, Free());
}
