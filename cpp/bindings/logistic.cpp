#include <nanobind/stl/vector.h>
#include "bindings/ndarray_views.hpp"

using namespace deciban;
using namespace nanobind::literals;

// Refuse parameters (m, p) of rows of d cells, with an intercept or without, and results of another shape.
template <class Coef, class... Others>
static void check_dense(const Coef& coef, Size d, const Others&... others) {
  const Size m = length(coef, 0), p = length(coef, 1);
  check(m > 0 && (p == d || p == d + 1), "a parameter of each column is needed, and maybe an intercept");
  (check_size(others, {m, p}, "results"), ...);
}

// The same of parameters (p, wide), k of them in use.
template <class... Others>
static void check_csr(const Table<2>& coef, Size d, Size k, const Others&... others) {
  const Size p = length(coef, 0), wide = length(coef, 1);
  check(p == d || p == d + 1, "a parameter of each column is needed, and maybe an intercept");
  check(k > 0 && k <= wide && (wide == 1 || wide % 8 == 0), "parameters of all classes are needed, in whole cache lines");
  (check_size(others, {p, wide}, "results"), ...);
}

// Parameters and results of dense rows are (m, p). Classes are compared, not looked up by.
template <class T>
static void bind_dense(nb::module_& m) {
  using Kernel = DenseLogistic<T>;
  m.def("logistic_slope", [](Matrix<T> x, Codes y, Doubles w, Table<2> coef, Out gradient) {
          const auto cells = view<T>(x);
          check_dense(coef, cells.d, gradient);
          return kernels_of<Kernel>().slope(cells, view(y, w, cells.n), coef.data(), length(coef, 0), length(coef, 1), gradient.data());
        }, "x"_a, "y"_a, "w"_a.none(), "coef"_a, "gradient"_a, Free());
  m.def("logistic_product", [](Matrix<T> x, Doubles w, Table<2> coef, Doubles v, Out out) {
          const auto cells = view<T>(x);
          check_dense(coef, cells.d, v, out);
          kernels_of<Kernel>().product(cells, {nullptr, optional(w, cells.n)}, coef.data(), v.data(), length(coef, 0), length(coef, 1),
                                       out.data());
        }, "x"_a, "w"_a.none(), "coef"_a, "v"_a, "out"_a, Free());
  m.def("logistic_diagonal", [](Matrix<T> x, Codes y, Doubles w, Table<2> coef, Out gradient, Out first, Out second) {
          const auto cells = view<T>(x);
          check_dense(coef, cells.d, gradient, first, second);
          return kernels_of<Kernel>().diagonal(cells, view(y, w, cells.n), coef.data(), length(coef, 0), length(coef, 1),
                                               gradient.data(), first.data(), second.data());
        }, "x"_a, "y"_a, "w"_a.none(), "coef"_a, "gradient"_a, "first"_a, "second"_a, Free());
  m.def("logistic_online", [](Matrix<T> x, Codes y, Doubles w, double speed, Doubles decay, OutTable<2> coef, Out mean, Out past) {
          const auto cells = view<T>(x);
          const Size p = length(coef, 1);
          check_dense(coef, cells.d, mean);
          check_size(decay, {p}, "decay");
          check_size(past, {2}, "past");
          kernels_of<Kernel>().online(cells, view(y, w, cells.n), speed, decay.data(), length(coef, 0), p, coef.data(), mean.data(),
                                      past.data());
        }, "x"_a, "y"_a, "w"_a.none(), "speed"_a, "decay"_a, "coef"_a, "mean"_a, "past"_a, Free());
  m.def("logistic_curve", [](Matrix<T> x, Codes y, Doubles w, Table<2> coef, Out gradient, Out hessian) {
          const auto cells = view<T>(x);
          const Size classes = length(coef, 0), p = length(coef, 1);
          check_dense(coef, cells.d, gradient);
          check_size(hessian, {classes * (classes + 1) / 2, p, p}, "hessian");
          return kernels_of<Kernel>().curve(cells, view(y, w, cells.n), coef.data(), classes, p, gradient.data(), hessian.data());
        }, "x"_a, "y"_a, "w"_a.none(), "coef"_a, "gradient"_a, "hessian"_a, Free());
}

// Parameters and results of sparse rows are (p, wide): all classes of a column side by side, k of them in use.
template <class T>
static void bind_csr(nb::module_& m) {
  using Kernel = CsrLogistic<T>;
  m.def("csr_logistic_slope", [](Offsets indptr, const CheckedColumns& indices, Vector<T> values, Size d, Codes y, Doubles w, Table<2> coef, Size k, Out gradient) {
          check_csr(coef, d, k, gradient);
          const auto cells = view<T>(indptr, indices, values, d);
          return kernels_of<Kernel>().slope(cells, view(y, w, cells.n), coef.data(), k, length(coef, 0), length(coef, 1),
                                            gradient.data());
        }, "indptr"_a, "indices"_a, "values"_a, "d"_a, "y"_a, "w"_a.none(), "coef"_a, "k"_a, "gradient"_a, Free());
  m.def("csr_logistic_product", [](Offsets indptr, const CheckedColumns& indices, Vector<T> values, Size d, Doubles w, Table<2> coef, Doubles v, Size k, Out out) {
          check_csr(coef, d, k, v, out);
          const auto cells = view<T>(indptr, indices, values, d);
          kernels_of<Kernel>().product(cells, {nullptr, optional(w, cells.n)}, coef.data(), v.data(), k, length(coef, 0),
                                       length(coef, 1), out.data());
        }, "indptr"_a, "indices"_a, "values"_a, "d"_a, "w"_a.none(), "coef"_a, "v"_a, "k"_a, "out"_a, Free());
  m.def("csr_logistic_diagonal", [](Offsets indptr, const CheckedColumns& indices, Vector<T> values, Size d, Codes y, Doubles w, Table<2> coef, Size k, Out gradient, Out first, Out second) {
          check_csr(coef, d, k, gradient, first, second);
          const auto cells = view<T>(indptr, indices, values, d);
          return kernels_of<Kernel>().diagonal(cells, view(y, w, cells.n), coef.data(), k, length(coef, 0), length(coef, 1),
                                               gradient.data(), first.data(), second.data());
        }, "indptr"_a, "indices"_a, "values"_a, "d"_a, "y"_a, "w"_a.none(), "coef"_a, "k"_a, "gradient"_a, "first"_a, "second"_a, Free());
}

static std::vector<const double*> starts(const std::vector<Vector<double>>& vectors, Size n) {
  std::vector<const double*> out;
  for (const auto& vector : vectors) {
    check_size(vector, {n}, "vectors");
    out.push_back(vector.data());
  }
  return out;
}

void bind_logistic(nb::module_& m) {
  m.def("long_dots", [](const std::vector<Vector<double>>& vectors, Vector<double> g, Out out) {
          const auto from = starts(vectors, length(g, 0));
          check_size(out, {static_cast<Size>(from.size())}, "out");
          kernels_of<LogisticSteps>().dots(from.data(), static_cast<Size>(from.size()), g.data(), length(g, 0), out.data());
        }, "vectors"_a, "g"_a, "out"_a, Free());
  m.def("long_plus", [](const std::vector<Vector<double>>& vectors, Doubles factors, OutTable<1> out) {
          const auto from = starts(vectors, length(out, 0));
          check_size(factors, {static_cast<Size>(from.size())}, "factors");
          kernels_of<LogisticSteps>().plus(from.data(), static_cast<Size>(from.size()), factors.data(), length(out, 0), out.data());
        }, "vectors"_a, "factors"_a, "out"_a, Free());
  m.def("lasso_descent", [](Doubles h, Doubles g, Doubles w, Doubles lasso, double tol, Size most, Out d, Out turn) {
          const Size size = static_cast<Size>(g.size());
          check_size(h, {size, size}, "h");
          check_size(w, {size}, "w");
          check_size(lasso, {size}, "lasso");
          check_size(d, {size}, "d");
          check_size(turn, {size}, "turn");
          return kernels_of<LogisticSteps>().lasso_descent(h.data(), size, g.data(), w.data(), lasso.data(), tol, most, d.data(), turn.data());
        }, "h"_a, "g"_a, "w"_a, "lasso"_a, "tol"_a, "most"_a, "d"_a, "turn"_a, Free());
  m.def("lasso_columns", [](Offsets indptr, const CheckedColumns& rows, Vector<double> values, Table<2> q, Doubles share, Doubles g, Doubles w, Doubles lasso, Doubles ridge, Offsets order, double least, Size most, Out u, OutTable<1> mean, Out d) {
          const Size margins = length(q, 0), n = length(mean, 0);
          const LassoColumns columns{view<double>(indptr, rows, values, n), margins, q.data(), share.data(), u.data(), mean.data()};
          const Size p = columns.x.n;
          check_size(q, {margins, n}, "q");
          check_size(share, {margins, n}, "share");
          check_size(u, {margins, n}, "u");
          check_size(g, {margins, p}, "g");
          check_size(w, {margins, p}, "w");
          check_size(d, {margins, p}, "d");
          check_size(lasso, {p}, "lasso");
          check_size(ridge, {p}, "ridge");
          if (!in_span(order.data(), length(order, 0), 0, margins * p)) refuse_codes("order", margins * p);
          return kernels_of<LogisticSteps>().lasso_columns(columns, g.data(), w.data(), lasso.data(), ridge.data(), order.data(), length(order, 0), least, most, d.data());
        }, "indptr"_a, "rows"_a, "values"_a, "q"_a, "share"_a, "g"_a, "w"_a, "lasso"_a, "ridge"_a, "order"_a, "least"_a, "most"_a, "u"_a, "mean"_a, "d"_a, Free());
  bind_dense<double>(m);
  bind_dense<float>(m);
  bind_csr<double>(m);
  bind_csr<float>(m);
}
