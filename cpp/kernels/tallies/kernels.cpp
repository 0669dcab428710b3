#include "dispatch/kernels.hpp"
#include "kernels/tallies/crosstab.hpp"
#include "kernels/tallies/exact.hpp"
#include "kernels/tallies/joint_tables.hpp"
#include "kernels/tallies/moments.hpp"
#include "kernels/tallies/pair_counts.hpp"
#include "kernels/tallies/scatter.hpp"
#include "kernels/tallies/sums.hpp"

namespace deciban {

template <class X>
static RowTallies<X> of_rows() {
  return {
      .sums = [](const X& x, Labels rows, double* total) { sums(x, rows, Raw{}, total); },
      .sums_above = [](const X& x, Labels rows, double above, double* total) { sums(x, rows, Above{above}, total); },
      .sums_missing = [](const X& x, Labels rows, double* seen, double* total) { sums_missing(x, rows, Raw{}, seen, total); },
      .sums_above_missing = [](const X& x, Labels rows, double above, double* seen,
                               double* total) { sums_missing(x, rows, Above{above}, seen, total); },
      .moments = moments<X>,
      .moments_missing = moments_missing<X>,
      .scatter = scatter<X>,
      .exact_sums = exact_sums<X>,
  };
}

template <class T>
static CsrTallies<T> of_csr() {
  return {
      .sums = [](Csr<T> x, Labels rows, Size first, Size k, double* total) { sums(x, rows, first, k, Raw{}, total); },
      .sums_above = [](Csr<T> x, Labels rows, Size first, Size k, double above,
                       double* total) { sums(x, rows, first, k, Above{above}, total); },
      .moments = moments<T>,
      .exact_sums = exact_sums<T>,
  };
}

template <class C>
static CodeTallies<C> of_codes() {
  return {.code_range = code_range<C>, .crosstab = crosstab<C>, .crosstab_of_levels = crosstab_of_levels<C>, .pairs = pairs<C>, .table_gains = table_gains<C>};
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
      WeightTallies{.weights = weights, .largest = largest, .all_finite = all_finite},
  };
}

}  // namespace deciban
