// The one symbol that a kernel library exports. Its name ends in a digest of the table's layout, so that a library of
// another build is not mistaken for one of this build.
#include "dispatch/table.hpp"

extern "C" DECIBAN_EXPORT const deciban::Kernels* DECIBAN_TABLE() {
  using namespace deciban;
  static const Kernels table{tally_kernels(),         histogram_kernels(), score_kernels(), logistic_kernels(),
                             leave_one_out_kernels(), digest_kernels(),    label_kernels(), text_kernels()};
  return &table;
}
