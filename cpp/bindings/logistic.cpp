#include <nanobind/stl/vector.h>
#include "bindings/ndarray_views.hpp"

using namespace deciban;
using namespace nanobind::literals;

template <class Group>
static const Group& kernels_of() {
  return std::get<Group>(kernels().logistic);
}

// Parameters and results of dense rows are (m, p).
template <class T>
static void bind_dense(nb::module_& m) {
  using Kernel = DenseLogistic<T>;
  m.def("logistic_slope", [](Matrix<T> x, Codes y, Doubles w, Doubles coef, Out gradient) {
          return kernels_of<Kernel>().slope(view<T>(x), view(y, w), coef.data(), coef.shape(0), coef.shape(1), gradient.data());
        }, "x"_a, "y"_a, "w"_a.none(), "coef"_a, "gradient"_a, Free());
  m.def("logistic_product", [](Matrix<T> x, Doubles w, Doubles coef, Doubles v, Out out) {
          kernels_of<Kernel>().product(view<T>(x), {nullptr, optional(w)}, coef.data(), v.data(), coef.shape(0), coef.shape(1),
                                       out.data());
        }, "x"_a, "w"_a.none(), "coef"_a, "v"_a, "out"_a, Free());
  m.def("logistic_diagonal", [](Matrix<T> x, Codes y, Doubles w, Doubles coef, Out gradient, Out first, Out second) {
          return kernels_of<Kernel>().diagonal(view<T>(x), view(y, w), coef.data(), coef.shape(0), coef.shape(1),
                                               gradient.data(), first.data(), second.data());
        }, "x"_a, "y"_a, "w"_a.none(), "coef"_a, "gradient"_a, "first"_a, "second"_a, Free());
  m.def("logistic_online", [](Matrix<T> x, Codes y, Doubles w, double speed, Doubles decay, Out coef, Out mean, Out past) {
          kernels_of<Kernel>().online(view<T>(x), view(y, w), speed, decay.data(), coef.shape(0), coef.shape(1), coef.data(),
                                      mean.data(), past.data());
        }, "x"_a, "y"_a, "w"_a.none(), "speed"_a, "decay"_a, "coef"_a, "mean"_a, "past"_a, Free());
  m.def("logistic_curve", [](Matrix<T> x, Codes y, Doubles w, Doubles coef, Out gradient, Out hessian) {
          return kernels_of<Kernel>().curve(view<T>(x), view(y, w), coef.data(), coef.shape(0), coef.shape(1),
                                            gradient.data(), hessian.data());
        }, "x"_a, "y"_a, "w"_a.none(), "coef"_a, "gradient"_a, "hessian"_a, Free());
}

// Parameters and results of sparse rows are (p, wide): all classes of a column side by side, k of them in use.
template <class T>
static void bind_csr(nb::module_& m) {
  using Kernel = CsrLogistic<T>;
  m.def("csr_logistic_slope", [](Offsets indptr, Codes indices, Vector<T> values, Size d, Codes y, Doubles w, Doubles coef, Size k, Out gradient) {
          return kernels_of<Kernel>().slope(view<T>(indptr, indices, values, d), view(y, w), coef.data(), k, coef.shape(0),
                                            coef.shape(1), gradient.data());
        }, "indptr"_a, "indices"_a, "values"_a, "d"_a, "y"_a, "w"_a.none(), "coef"_a, "k"_a, "gradient"_a, Free());
  m.def("csr_logistic_product", [](Offsets indptr, Codes indices, Vector<T> values, Size d, Doubles w, Doubles coef, Doubles v, Size k, Out out) {
          kernels_of<Kernel>().product(view<T>(indptr, indices, values, d), {nullptr, optional(w)}, coef.data(), v.data(), k,
                                       coef.shape(0), coef.shape(1), out.data());
        }, "indptr"_a, "indices"_a, "values"_a, "d"_a, "w"_a.none(), "coef"_a, "v"_a, "k"_a, "out"_a, Free());
  m.def("csr_logistic_diagonal", [](Offsets indptr, Codes indices, Vector<T> values, Size d, Codes y, Doubles w, Doubles coef, Size k, Out gradient, Out first, Out second) {
          return kernels_of<Kernel>().diagonal(view<T>(indptr, indices, values, d), view(y, w), coef.data(), k, coef.shape(0),
                                               coef.shape(1), gradient.data(), first.data(), second.data());
        }, "indptr"_a, "indices"_a, "values"_a, "d"_a, "y"_a, "w"_a.none(), "coef"_a, "k"_a, "gradient"_a, "first"_a, "second"_a, Free());
}

static std::vector<const double*> starts(const std::vector<Vector<double>>& vectors) {
  std::vector<const double*> out;
  for (const auto& vector : vectors) out.push_back(vector.data());
  return out;
}

void bind_logistic(nb::module_& m) {
  m.def("long_dots", [](const std::vector<Vector<double>>& vectors, Vector<double> g, Out out) {
          const auto from = starts(vectors);
          kernels_of<LogisticSteps>().dots(from.data(), static_cast<Size>(from.size()), g.data(), g.shape(0), out.data());
        }, "vectors"_a, "g"_a, "out"_a, Free());
  m.def("long_plus", [](const std::vector<Vector<double>>& vectors, Doubles factors, Out out) {
          const auto from = starts(vectors);
          kernels_of<LogisticSteps>().plus(from.data(), static_cast<Size>(from.size()), factors.data(), out.shape(0), out.data());
        }, "vectors"_a, "factors"_a, "out"_a, Free());
  m.def("lasso_descent", [](Doubles h, Doubles g, Doubles w, Doubles lasso, double tol, Size most, Out d, Out turn) {
          return kernels_of<LogisticSteps>().lasso_descent(h.data(), g.size(), g.data(), w.data(), lasso.data(), tol, most, d.data(), turn.data());
        }, "h"_a, "g"_a, "w"_a, "lasso"_a, "tol"_a, "most"_a, "d"_a, "turn"_a, Free());
  m.def("lasso_columns", [](Offsets indptr, Codes rows, Vector<double> values, Doubles q, Doubles share, Doubles g, Doubles w, Doubles lasso, Doubles ridge, Offsets order, double least, Size most, Out u, Out mean, Out d) {
          const LassoColumns columns{view<double>(indptr, rows, values, mean.shape(0)), static_cast<Size>(q.shape(0)), q.data(), share.data(), u.data(), mean.data()};
          return kernels_of<LogisticSteps>().lasso_columns(columns, g.data(), w.data(), lasso.data(), ridge.data(), order.data(), order.shape(0), least, most, d.data());
        }, "indptr"_a, "rows"_a, "values"_a, "q"_a, "share"_a, "g"_a, "w"_a, "lasso"_a, "ridge"_a, "order"_a, "least"_a, "most"_a, "u"_a, "mean"_a, "d"_a, Free());
  bind_dense<double>(m);
  bind_dense<float>(m);
  bind_csr<double>(m);
  bind_csr<float>(m);
}
