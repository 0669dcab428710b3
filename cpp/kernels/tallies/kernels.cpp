#include "dispatch/kernels.hpp"
#include "kernels/tallies/crosstab.hpp"
#include "kernels/tallies/exact.hpp"
#include "kernels/tallies/joint_tables.hpp"
#include "kernels/tallies/logarithms.hpp"
#include "kernels/tallies/pair_counts.hpp"
#include "kernels/tallies/products.hpp"
#include "kernels/tallies/scatter.hpp"
#include "kernels/tallies/sums.hpp"

namespace deciban {

template <class X>
static RowTallies<X> of_rows() {
  return {
      .scatter = scatter_of<X>,
      .exact_sums = exact_sums<X>,
      .exact_products = exact_products<X>,
  };
}

template <class T>
static CsrTallies<T> of_csr() {
  return {
      .exact_sums = exact_sums<T>,
  };
}

template <class C>
static CodeTallies<C> of_codes() {
  return {
      .code_range = code_range<C>,
      .crosstab = crosstab<C>,
      .crosstab_of_levels = crosstab_of_levels<C>,
      .pairs = [](Dense<C> x, auto... more) { return pairs(x, more...); },
      .table_gains = [](Dense<C> x, const FoldRows& rows, auto... more) { table_gains(x, rows, more...); },
  };
}

TallyKernels tally_kernels() {
  return {
      of_rows<Dense<double>>(),
      of_rows<Dense<float>>(),
      of_rows<Apart<double>>(),
      of_rows<Apart<float>>(),
      of_csr<double>(),
      of_csr<float>(),
      of_codes<std::int32_t>(),
      of_codes<std::int64_t>(),
      CellTallies<double>{least<double>},
      CellTallies<float>{least<float>},
      CellTallies<std::int32_t>{least<std::int32_t>},
      CellTallies<std::int64_t>{least<std::int64_t>},
      ColumnCopies<double>{in_rows<Apart<double>, double>},
      ColumnCopies<float>{in_rows<Apart<float>, float>},
      WeightTallies{.weights = weights, .largest = largest, .all_finite = all_finite, .logarithms = logarithms},
  };
}

}  // namespace deciban
