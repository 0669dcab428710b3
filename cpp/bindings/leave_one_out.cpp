#include "bindings/ndarray_views.hpp"

using namespace deciban;
using namespace nanobind::literals;

static Weighing weighing(const Table<2>& rows, Size k) {  // (5 or more, k)
  check(length(rows, 0) >= 5, "five rows of numbers of each class are needed");
  check_size(rows, {length(rows, 0), k}, "whole, left");
  const double* p = rows.data();
  return {p, p + k, p + 2 * k, p + 3 * k, p + 4 * k};
}

void bind_leaving(nb::module_& m) {
  m.def("left_normals", [](Matrix<double> x, Codes y, Doubles mean, Doubles scale, Vector<double> bias, Doubles far, double deep, Out own) {
          const auto cells = view<double>(x);
          const Size k = length(bias, 0);
          check(cells.col == 1 || cells.d <= 1, "rows of adjacent cells are needed");
          check_size(mean, {k, cells.d}, "mean");
          check_size(scale, {k, cells.d}, "scale");
          check_size(far, {k}, "far");
          check_size(own, {cells.n}, "own");
          const Labels rows = view(y, Doubles(), cells.n, k);
          kernels().leave_one_out.left_normals(cells, rows.y, mean.data(), scale.data(), bias.data(), far.data(), deep, own.data());
        }, "x"_a, "y"_a, "mean"_a, "scale"_a, "bias"_a, "far"_a, "deep"_a, "own"_a, Free());
  m.def("left_pairs", [](Matrix<double> x, Doubles w, Doubles mean, double n, Doubles turn, Table<2> part, Doubles apart, Doubles least, double safe, Out out) {
          const auto cells = view<double>(x);
          const Size q = length(part, 0), d = cells.d;
          check_size(mean, {d}, "mean");
          check_size(turn, {q, d, d}, "turn");
          check_size(part, {q, d}, "part");
          check_size(apart, {q, d}, "apart");
          check_size(least, {q}, "least");
          check_size(out, {q, cells.n}, "out");
          const Pairs pairs{mean.data(), turn.data(), part.data(), apart.data(), least.data(), n, q, d};
          kernels().leave_one_out.left_pairs(cells, optional(w, cells.n), pairs, safe, out.data());
        }, "x"_a, "w"_a.none(), "mean"_a, "n"_a, "turn"_a, "part"_a, "apart"_a, "least"_a, "safe"_a, "out"_a, Free());
  m.def("left_shared", [](Matrix<double> x, Codes y, Table<2> mean, Doubles white, Doubles phi, Doubles tau, Out norms, Out lever) {
          const auto cells = view<double>(x);
          const Size k = length(mean, 0), d = cells.d;
          check_size(mean, {k, d}, "mean");
          check_size(white, {d, d}, "white");
          check_size(phi, {cells.n}, "phi");
          check_size(tau, {cells.n}, "tau");
          check_size(norms, {cells.n, k}, "norms");
          check_size(lever, {cells.n}, "lever");
          const Labels rows = view(y, Doubles(), cells.n, k);
          kernels().leave_one_out.left_shared(cells, rows.y, k, mean.data(), white.data(), phi.data(), tau.data(), norms.data(), lever.data());
        }, "x"_a, "y"_a, "mean"_a, "white"_a, "phi"_a, "tau"_a, "norms"_a, "lever"_a, Free());
  m.def("left_shrunk", [](Matrix<double> x, Doubles mean, Doubles white, Doubles rest, Table<3> t, Doubles square, Doubles phi, Doubles tau, Doubles removed, Out norms, Out lever, Out volume) {
          const auto cells = view<double>(x);
          const Size f = length(t, 0), p = length(t, 1), d = cells.d;
          check_size(mean, {d}, "mean");
          check_size(white, {f, d, d}, "white");
          check_size(rest, {f, d}, "rest");
          check_size(t, {f, p, d}, "t");
          check_size(square, {f, p, d}, "square");
          check_size(norms, {f, p, cells.n}, "norms");
          check_size(phi, {f, cells.n}, "phi");
          check_size(tau, {f, cells.n}, "tau");
          check_size(removed, {f, cells.n}, "removed");
          check_size(lever, {f, cells.n}, "lever");
          check_size(volume, {f, cells.n}, "volume");
          const Shrunk shrunk{mean.data(), white.data(), rest.data(), t.data(), square.data(), f, p, d};
          kernels().leave_one_out.left_shrunk(cells, shrunk, phi.data(), tau.data(), removed.data(), norms.data(), lever.data(), volume.data());
        }, "x"_a, "mean"_a, "white"_a, "rest"_a, "t"_a, "square"_a, "phi"_a, "tau"_a, "removed"_a, "norms"_a, "lever"_a, "volume"_a, Free());
  m.def("left_students", [](Matrix<double> x, Codes y, Table<2> mean, Doubles half, Doubles inverse, Table<2> whole, Table<2> left, Doubles moves, Doubles prior, double sway, double part, double deep, Out out) {
          const auto cells = view<double>(x);
          const Size k = length(mean, 0), d = cells.d;
          check_size(mean, {k, d}, "mean");
          check_size(half, {k, d}, "half");
          check_size(inverse, {k, d}, "inverse");
          check_size(moves, {3, k}, "moves");
          check_size(prior, {3, d}, "prior");
          check_size(out, {cells.n, k}, "out");
          const Labels rows = view(y, Doubles(), cells.n, k);
          const double *step = moves.data(), *mid = prior.data();
          const Students students{mean.data(), half.data(), inverse.data(), weighing(whole, k), weighing(left, k), step, step + k, step + 2 * k, mid, mid + d, mid + 2 * d, sway, part, k, d};
          kernels().leave_one_out.left_students(cells, rows.y, students, deep, out.data());
        }, "x"_a, "y"_a, "mean"_a, "half"_a, "inverse"_a, "whole"_a, "left"_a, "moves"_a, "prior"_a, "sway"_a, "part"_a, "deep"_a, "out"_a, Free());
}
