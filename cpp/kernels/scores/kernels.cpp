#include "dispatch/kernels.hpp"
#include "kernels/scores/aode.hpp"
#include "kernels/scores/polynomial.hpp"
#include "kernels/scores/scores.hpp"

namespace deciban {

template <class T>
static DenseScores<T> of_dense() {
  return {
      .affine = [](Dense<T> x, const double* coef, Size ld, const double* bias, Size k,
                   double* out) { affine(x, coef, ld, bias, k, nullptr, out); },
      .affine_above = [](Dense<T> x, const double* coef, Size ld, const double* bias, Size k, double above,
                         double* out) { affine(x, coef, ld, bias, k, &above, out); },
      .quadratic_diagonal = [](Dense<T> x, const double* mean, const double* scale, const double* bias, Size k,
                               double* out) { quadratic_diagonal<false>(x, mean, scale, nullptr, bias, k, out); },
      .quadratic_missing = [](Dense<T> x, auto... more) { quadratic_diagonal<true>(x, more...); },
      .quadratic_full = [](Dense<T> x, auto... more) { quadratic_full(x, more...); },
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
  return {.lookup = lookup<C>, .parents = [](Dense<C> x, auto... more) { parents(x, more...); }};
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
