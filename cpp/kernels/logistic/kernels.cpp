#include "dispatch/kernels.hpp"
#include "kernels/logistic/lasso.hpp"
#include "kernels/logistic/sgd.hpp"
#include "kernels/logistic/vectors.hpp"

namespace deciban {

// Parameters and results of dense rows are (m, p); inside they are padded.
static double dense_slope(AnyReals x, Labels labels, const double* coef, Size m, Size p, double* gradient) {
  DenseRows rows(x, p, m > 3);  // read often enough to be worth a copy
  Scratch packed(rows.size(m)), total(rows.size(m)), z(m * rows.block);
  rows.pack(coef, m, packed.data());
  const double loss = slope(rows, x.n, labels, packed.data(), m, z.data(), total.data());
  rows.unpack(total.data(), m, gradient);
  return loss;
}

static void dense_product(AnyReals x, Labels labels, const double* coef, const double* v, Size m, Size p, double* out) {
  DenseRows rows(x, p);
  Scratch packed(rows.size(m)), turn(rows.size(m)), total(rows.size(m));
  rows.pack(coef, m, packed.data());
  rows.pack(v, m, turn.data());
  product(rows, x.n, labels, packed.data(), turn.data(), m, total.data());
  rows.unpack(total.data(), m, out);
}

static double dense_diagonal(AnyReals x, Labels labels, const double* coef, Size m, Size p, double* gradient, double* first,
                             double* second) {
  DenseRows rows(x, p, m > 3);
  Scratch packed(rows.size(m)), total(rows.size(m)), one(rows.size(m)), two(rows.size(m));
  rows.pack(coef, m, packed.data());
  const double loss = diagonal(rows, x.n, labels, packed.data(), m, total.data(), one.data(), two.data());
  rows.unpack(total.data(), m, gradient);
  rows.unpack(one.data(), m, first);
  rows.unpack(two.data(), m, second);
  return loss;
}

static double dense_curve(AnyReals x, Labels labels, const double* coef, Size m, Size p, double* gradient, double* hessian) {
  DenseRows rows(x, p, true);
  Scratch packed(rows.size(m)), total(rows.size(m));
  rows.pack(coef, m, packed.data());
  const double loss = curve(rows, x.n, labels, packed.data(), m, total.data(), hessian);
  rows.unpack(total.data(), m, gradient);
  return loss;
}

static void dense_online(AnyReals x, Labels labels, double speed, const double* decay, Size m, Size p, double* coef,
                         double* mean, double* past) {
  DenseRows rows(x, p, true);
  Scratch now(rows.size(m)), average(rows.size(m)), shrink(rows.ld);
  rows.pack(coef, m, now.data());
  rows.pack(mean, m, average.data());
  rows.pack(decay, 1, shrink.data());
  online(rows, x.n, labels, m, speed, shrink.data(), now.data(), average.data(), past);
  std::fill(coef, coef + m * p, 0.0);
  std::fill(mean, mean + m * p, 0.0);
  rows.unpack(now.data(), m, coef);
  rows.unpack(average.data(), m, mean);
}

template <class T>
static DenseLogistic<T> of_dense() {
  return {
      .slope = [](Dense<T> x, auto... more) { return dense_slope(x, more...); },
      .product = [](Dense<T> x, auto... more) { dense_product(x, more...); },
      .diagonal = [](Dense<T> x, auto... more) { return dense_diagonal(x, more...); },
      .curve = [](Dense<T> x, auto... more) { return dense_curve(x, more...); },
      .online = [](Dense<T> x, auto... more) { dense_online(x, more...); },
  };
}

template <class T>
static CsrLogistic<T> of_csr() {
  return {
      .slope = [](Csr<T> x, Labels labels, const double* coef, Size m, Size p, Size wide, double* gradient) {
        CsrRows rows(x, p, wide);
        Scratch z(m * rows.block);
        return slope(rows, x.n, labels, coef, m, z.data(), gradient);
      },
      .product = [](Csr<T> x, Labels labels, const double* coef, const double* v, Size m, Size p, Size wide, double* out) {
        CsrRows rows(x, p, wide);
        product(rows, x.n, labels, coef, v, m, out);
      },
      .diagonal = [](Csr<T> x, Labels labels, const double* coef, Size m, Size p, Size wide, double* gradient,
                     double* first, double* second) {
        CsrRows rows(x, p, wide);
        return diagonal(rows, x.n, labels, coef, m, gradient, first, second);
      },
  };
}

LogisticKernels logistic_kernels() {
  return {
      of_dense<double>(),
      of_dense<float>(),
      of_csr<double>(),
      of_csr<float>(),
      LogisticSteps{.dots = dots, .plus = plus, .lasso_descent = lasso_descent, .lasso_columns = lasso_columns},
  };
}

}  // namespace deciban
