#include "dispatch/kernels.hpp"
#include "kernels/labels/labels.hpp"
#include "kernels/labels/ranges.hpp"

namespace deciban {

template <class I>
static IntegerLabels<I> of_integers() {
  return {.scan = label_scan<I>, .marks = label_marks<I>, .codes = label_codes<I>, .inside = inside<I>};
}

LabelKernels label_kernels() { return {of_integers<std::int32_t>(), of_integers<std::int64_t>(), RangeChecks{.up_to = up_to, .ascends = ascends}}; }

}  // namespace deciban
