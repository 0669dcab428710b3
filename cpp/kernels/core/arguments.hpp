// Arguments of kernels that are more than a view: pointers by name, without code.
#pragma once
#include "kernels/core/views.hpp"

namespace deciban {

// histogram: keys of cells on a grid that does not depend on the data
constexpr long long key_shift = 40, infinite_key = 0x7FF000, missing_key = 0x7FFFFF;

// Tables (k, d) of numbers of cells; keys (d, n), rows by class.
struct GridKeys {
  double *not_positive, *not_whole;
  std::int32_t* keys;
};

// logistic: columns, and what coordinate descent on them keeps
struct LassoColumns {
  Csr<double> x;  // of the columns: "rows" of x are columns, `d` is the number of rows
  Size m;
  const double *q, *share;  // (m, rows): share = p, or 0 for one margin
  double *u, *mean;
};

// leave_one_out: a class a of weight n against q others. turn[b] (d, d) makes Σ_a + Σ_b the identity and Σ_a diagonal,
// part[b] (d,); apart[b] (d,) is mean_a − mean_b turned.
struct Pairs {
  const double *mean, *turn, *part, *apart, *least;
  double n;
  Size q, d;
};

// f covariances, p means each. In coordinates white[g] where covariance g is the identity it becomes τ (E − φ δδᵀ) with
// E = 1 + rest · removed diagonal; δ = white (x − mean), near = t + δ with t[g, q] = white (mean − means[q]).
struct Shrunk {
  const double *mean, *white, *rest, *t, *square;  // (d,), (f, d, d), (f, d), (f, p, d) and its squares
  Size f, p, d;
};

// What the weight n of each class makes: pull = n / κ, bend = κ₀ n / 2κ, narrow = κ / (2 (κ + 1)), power = a + ½ and bias,
// the log density at the location under the scales of `Students`.
struct Weighing {
  const double *pull, *bend, *narrow, *power, *bias;
};

// Classes by their sums of all rows, mean and half = ½ m2, (k, d); inverse = 1 / scale as all rows have it.
struct Students {
  const double *mean, *half, *inverse;
  Weighing whole, left;
  const double *step, *drop, *share;  // (k,): w / (n − w); ½ n w / (n − w); what of a row's square the prior loses
  const double *prior, *every, *base;  // (d,): the mean of the prior; that of all rows; the prior's scale without a row
  double sway, part;                   // the same as step and share, for all rows as one class
  Size k, d;
};

// tallies: rows in folds, with their classes, weights (w in counts, mass in a loss) and P(class) (n, k); of d columns.
// Evidence is at most `most` nats.
struct FoldRows {
  const std::int32_t *y, *fold;
  const double *w, *mass, *p;
  Size d, k, folds;
  double most;
};

// digests
using Word = std::uint64_t;

}  // namespace deciban
