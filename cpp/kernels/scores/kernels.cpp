#include "dispatch/kernels.hpp"
#include "kernels/scores/aode.hpp"
#include "kernels/scores/polynomial.hpp"
#include "kernels/scores/scores.hpp"

namespace deciban {

template <class T>
static DenseScores<T> of_dense() {
  return {
      .affine = [](Dense<T> x, const double* coef, Size ld, const double* bias, Size k,
                   double* out) { affine(x, coef, ld, bias, k, Raw{}, out); },
      .affine_above = [](Dense<T> x, const double* coef, Size ld, const double* bias, Size k, double above,
                         double* out) { affine(x, coef, ld, bias, k, Above{above}, out); },
      .quadratic_diagonal = [](Dense<T> x, const double* mean, const double* scale, const double* bias, Size k,
                               double* out) { quadratic_diagonal<false>(x, mean, scale, nullptr, bias, k, out); },
      .quadratic_missing = quadratic_diagonal<true, T>,
      .quadratic_full = quadratic_full<T>,
  };
}

template <class T, class I>
static CsrScores<T, I> of_csr() {
  return {
      .affine = [](Csr<T, I> x, const double* coef, Size ld, const double* bias, Size k,
                   double* out) { affine(x, coef, ld, bias, k, Raw{}, out); },
      .affine_above = [](Csr<T, I> x, const double* coef, Size ld, const double* bias, Size k, double above,
                         double* out) { affine(x, coef, ld, bias, k, Above{above}, out); },
      .quadratic = quadratic_diagonal<T, I>,
  };
}

template <class C>
static CodeScores<C> of_codes() {
  return {.lookup = lookup<C>, .parents = parents<C>};
}

ScoreKernels score_kernels() {
  return {
      of_dense<double>(),
      of_dense<float>(),
      of_csr<double, std::int32_t>(),
      of_csr<double, std::int64_t>(),
      of_csr<float, std::int32_t>(),
      of_csr<float, std::int64_t>(),
      of_codes<std::int32_t>(),
      of_codes<std::int64_t>(),
      OtherScores{.series = series, .posterior = posterior},
  };
}

}  // namespace deciban
