#include <nanobind/stl/vector.h>
#include "bindings/ndarray_views.hpp"
#include "kernels/logistic/lasso.hpp"
#include "kernels/logistic/vectors.hpp"
#include "kernels/logistic/sgd.hpp"

using namespace deciban;
using namespace nanobind::literals;

// Parameters and results of dense rows are (m, p); inside they are padded.
template <class T>
static void bind_dense(nb::module_& m) {
  m.def("logistic_slope", [](Matrix<T> x, Codes y, Doubles w, Doubles coef, Out gradient) {
          DenseRows<T> rows(view<T>(x), coef.shape(1), coef.shape(0) > 3);  // read often enough to be worth a copy
          const Size k = coef.shape(0);
          Scratch packed(rows.size(k)), total(rows.size(k)), z(k * rows.block);
          rows.pack(coef.data(), k, packed.data());
          const double loss = slope(rows, x.shape(0), view(y, w), packed.data(), k, z.data(), total.data());
          rows.unpack(total.data(), k, gradient.data());
          return loss;
        }, "x"_a, "y"_a, "w"_a.none(), "coef"_a, "gradient"_a, Free());
  m.def("logistic_product", [](Matrix<T> x, Doubles w, Doubles coef, Doubles v, Out out) {
          DenseRows<T> rows(view<T>(x), coef.shape(1));
          const Size k = coef.shape(0);
          Scratch packed(rows.size(k)), turn(rows.size(k)), total(rows.size(k));
          rows.pack(coef.data(), k, packed.data());
          rows.pack(v.data(), k, turn.data());
          product(rows, x.shape(0), {nullptr, w.is_valid() ? w.data() : nullptr}, packed.data(), turn.data(), k, total.data());
          rows.unpack(total.data(), k, out.data());
        }, "x"_a, "w"_a.none(), "coef"_a, "v"_a, "out"_a, Free());
  m.def("logistic_diagonal", [](Matrix<T> x, Codes y, Doubles w, Doubles coef, Out gradient, Out first, Out second) {
          DenseRows<T> rows(view<T>(x), coef.shape(1), coef.shape(0) > 3);
          const Size k = coef.shape(0);
          Scratch packed(rows.size(k)), total(rows.size(k)), one(rows.size(k)), two(rows.size(k));
          rows.pack(coef.data(), k, packed.data());
          const double loss = diagonal(rows, x.shape(0), view(y, w), packed.data(), k, total.data(), one.data(), two.data());
          rows.unpack(total.data(), k, gradient.data());
          rows.unpack(one.data(), k, first.data());
          rows.unpack(two.data(), k, second.data());
          return loss;
        }, "x"_a, "y"_a, "w"_a.none(), "coef"_a, "gradient"_a, "first"_a, "second"_a, Free());
  m.def("logistic_online", [](Matrix<T> x, Codes y, Doubles w, double speed, Doubles decay, Out coef, Out mean, Out past) {
          DenseRows<T> rows(view<T>(x), coef.shape(1), true);
          const Size k = coef.shape(0), p = coef.shape(1);
          Scratch now(rows.size(k)), average(rows.size(k)), shrink(rows.ld);
          rows.pack(coef.data(), k, now.data());
          rows.pack(mean.data(), k, average.data());
          rows.pack(decay.data(), 1, shrink.data());
          online(rows, x.shape(0), view(y, w), k, speed, shrink.data(), now.data(), average.data(), past.data());
          std::fill(coef.data(), coef.data() + k * p, 0.0);
          std::fill(mean.data(), mean.data() + k * p, 0.0);
          rows.unpack(now.data(), k, coef.data());
          rows.unpack(average.data(), k, mean.data());
        }, "x"_a, "y"_a, "w"_a.none(), "speed"_a, "decay"_a, "coef"_a, "mean"_a, "past"_a, Free());
  m.def("logistic_curve", [](Matrix<T> x, Codes y, Doubles w, Doubles coef, Out gradient, Out hessian) {
          DenseRows<T> rows(view<T>(x), coef.shape(1), true);
          const Size k = coef.shape(0);
          Scratch packed(rows.size(k)), total(rows.size(k));
          rows.pack(coef.data(), k, packed.data());
          const double loss = curve(rows, x.shape(0), view(y, w), packed.data(), k, total.data(), hessian.data());
          rows.unpack(total.data(), k, gradient.data());
          return loss;
        }, "x"_a, "y"_a, "w"_a.none(), "coef"_a, "gradient"_a, "hessian"_a, Free());
}

// Parameters and results of sparse rows are (p, wide): all classes of a column side by side, `m` of them in use.
template <class T, class I>
static void bind_csr(nb::module_& m) {
  m.def("csr_logistic_slope", [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Size d, Codes y, Doubles w, Doubles coef, Size k, Out gradient) {
          CsrRows<T, I> rows(view<T, I>(indptr, indices, values, d), coef.shape(0), coef.shape(1));
          Scratch z(k * rows.block);
          return slope(rows, rows.x.n, view(y, w), coef.data(), k, z.data(), gradient.data());
        }, "indptr"_a, "indices"_a, "values"_a, "d"_a, "y"_a, "w"_a.none(), "coef"_a, "k"_a, "gradient"_a, Free());
  m.def("csr_logistic_product", [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Size d, Doubles w, Doubles coef, Doubles v, Size k, Out out) {
          CsrRows<T, I> rows(view<T, I>(indptr, indices, values, d), coef.shape(0), coef.shape(1));
          product(rows, rows.x.n, {nullptr, w.is_valid() ? w.data() : nullptr}, coef.data(), v.data(), k, out.data());
        }, "indptr"_a, "indices"_a, "values"_a, "d"_a, "w"_a.none(), "coef"_a, "v"_a, "k"_a, "out"_a, Free());
  m.def("csr_logistic_diagonal", [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Size d, Codes y, Doubles w, Doubles coef, Size k, Out gradient, Out first, Out second) {
          CsrRows<T, I> rows(view<T, I>(indptr, indices, values, d), coef.shape(0), coef.shape(1));
          return diagonal(rows, rows.x.n, view(y, w), coef.data(), k, gradient.data(), first.data(), second.data());
        }, "indptr"_a, "indices"_a, "values"_a, "d"_a, "y"_a, "w"_a.none(), "coef"_a, "k"_a, "gradient"_a, "first"_a, "second"_a, Free());
}

static std::vector<const double*> starts(const std::vector<Vector<double>>& vectors) {
  std::vector<const double*> out;
  for (const auto& vector : vectors) out.push_back(vector.data());
  return out;
}

void bind_logistic(nb::module_& m) {
  m.def("long_dots", [](const std::vector<Vector<double>>& vectors, Vector<double> g, Out out) {
          dots(starts(vectors), g.data(), g.shape(0), out.data());
        }, "vectors"_a, "g"_a, "out"_a, Free());
  m.def("long_plus", [](const std::vector<Vector<double>>& vectors, Doubles factors, Out out) {
          plus(starts(vectors), factors.data(), out.shape(0), out.data());
        }, "vectors"_a, "factors"_a, "out"_a, Free());
  m.def("lasso_descent", [](Doubles h, Doubles g, Doubles w, Doubles lasso, double tol, Size most, Out d, Out turn) {
          return lasso_descent(h.data(), g.size(), g.data(), w.data(), lasso.data(), tol, most, d.data(), turn.data());
        }, "h"_a, "g"_a, "w"_a, "lasso"_a, "tol"_a, "most"_a, "d"_a, "turn"_a, Free());
  m.def("lasso_columns", [](Vector<std::int32_t> indptr, Vector<std::int32_t> rows, Vector<double> values, Doubles q, Doubles share, Doubles g, Doubles w, Doubles lasso, Doubles ridge, Offsets order, double least, Size most, Out u, Out mean, Out d) {
          const Columns columns{view<double, std::int32_t>(indptr, rows, values, mean.shape(0)), static_cast<Size>(q.shape(0)), q.data(), share.data(), u.data(), mean.data()};
          return lasso_columns(columns, g.data(), w.data(), lasso.data(), ridge.data(), order.data(), order.shape(0), least, most, d.data());
        }, "indptr"_a, "rows"_a, "values"_a, "q"_a, "share"_a, "g"_a, "w"_a, "lasso"_a, "ridge"_a, "order"_a, "least"_a, "most"_a, "u"_a, "mean"_a, "d"_a, Free());
  bind_dense<double>(m);
  bind_dense<float>(m);
  bind_csr<double, std::int32_t>(m);
  bind_csr<double, std::int64_t>(m);
  bind_csr<float, std::int32_t>(m);
  bind_csr<float, std::int64_t>(m);
}
