#include "dispatch/kernels.hpp"
#include "kernels/digests/row_digests.hpp"

namespace deciban {

template <class X>
static RowDigests<X> of_rows() {
  return {[](const X& x, const Word* factor, Word* out) { digest_cells(x, factor, out); }};
}

DigestKernels digest_kernels() {
  return {
      of_rows<Dense<double>>(),
      of_rows<Dense<float>>(),
      of_rows<Apart<double>>(),
      of_rows<Apart<float>>(),
      of_rows<Dense<std::int32_t>>(),
      of_rows<Dense<std::int64_t>>(),
      of_rows<Csr<double>>(),
      of_rows<Csr<float>>(),
      LevelDigests<std::int32_t>{digest_levels<std::int32_t>},
      LevelDigests<std::int64_t>{digest_levels<std::int64_t>},
      DigestFinish{stir},
  };
}

}  // namespace deciban
