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

template <class T>
static CsrScores<T> of_csr() {
  return {
      .affine = [](Csr<T> x, const double* coef, Size ld, const double* bias, Size k,
                   double* out) { affine(x, coef, ld, bias, k, Raw{}, out); },
      .affine_above = [](Csr<T> x, const double* coef, Size ld, const double* bias, Size k, double above,
                         double* out) { affine(x, coef, ld, bias, k, Above{above}, out); },
      .quadratic = quadratic_diagonal<T>,
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
      of_csr<double>(),
      of_csr<float>(),
      of_codes<std::int32_t>(),
      of_codes<std::int64_t>(),
      OtherScores{.series = series, .posterior = posterior},
  };
}

}  // namespace deciban
