#include "bindings/ndarray_views.hpp"

using namespace deciban;
using namespace nanobind::literals;

static Weighing weighing(const Doubles& rows) {  // (5 or more, k)
  const double* p = rows.data();
  const Size k = static_cast<Size>(rows.shape(1));
  return {p, p + k, p + 2 * k, p + 3 * k, p + 4 * k};
}

void bind_leaving(nb::module_& m) {
  m.def("left_normals", [](Matrix<double> x, Codes y, Doubles mean, Doubles scale, Doubles bias, Doubles far, double deep, Out own) {
          kernels().leave_one_out.left_normals(view<double>(x), y.data(), mean.data(), scale.data(), bias.data(), far.data(), deep, own.data());
        }, "x"_a, "y"_a, "mean"_a, "scale"_a, "bias"_a, "far"_a, "deep"_a, "own"_a, Free());
  m.def("left_pairs", [](Matrix<double> x, Doubles w, Doubles mean, double n, Doubles turn, Doubles part, Doubles apart, Doubles least, double safe, Out out) {
          const Pairs pairs{mean.data(), turn.data(), part.data(), apart.data(), least.data(), n, static_cast<Size>(part.shape(0)), static_cast<Size>(x.shape(1))};
          kernels().leave_one_out.left_pairs(view<double>(x), optional(w), pairs, safe, out.data());
        }, "x"_a, "w"_a.none(), "mean"_a, "n"_a, "turn"_a, "part"_a, "apart"_a, "least"_a, "safe"_a, "out"_a, Free());
  m.def("left_shrunk", [](Matrix<double> x, Doubles mean, Doubles white, Doubles rest, Doubles t, Doubles square, Doubles phi, Doubles tau, Doubles removed, Out norms, Out lever, Out volume) {
          const Shrunk shrunk{mean.data(), white.data(), rest.data(), t.data(), square.data(), static_cast<Size>(t.shape(0)), static_cast<Size>(t.shape(1)), static_cast<Size>(x.shape(1))};
          kernels().leave_one_out.left_shrunk(view<double>(x), shrunk, phi.data(), tau.data(), removed.data(), norms.data(), lever.data(), volume.data());
        }, "x"_a, "mean"_a, "white"_a, "rest"_a, "t"_a, "square"_a, "phi"_a, "tau"_a, "removed"_a, "norms"_a, "lever"_a, "volume"_a, Free());
  m.def("left_students", [](Matrix<double> x, Codes y, Doubles mean, Doubles half, Doubles inverse, Doubles whole, Doubles left, Doubles moves, Doubles prior, double sway, double part, double deep, Out out) {
          const Size k = static_cast<Size>(mean.shape(0)), d = static_cast<Size>(mean.shape(1));
          const double *step = moves.data(), *mid = prior.data();
          const Students students{mean.data(), half.data(), inverse.data(), weighing(whole), weighing(left), step, step + k, step + 2 * k, mid, mid + d, mid + 2 * d, sway, part, k, d};
          kernels().leave_one_out.left_students(view<double>(x), y.data(), students, deep, out.data());
        }, "x"_a, "y"_a, "mean"_a, "half"_a, "inverse"_a, "whole"_a, "left"_a, "moves"_a, "prior"_a, "sway"_a, "part"_a, "deep"_a, "out"_a, Free());
}
