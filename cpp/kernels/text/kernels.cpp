#include "dispatch/kernels.hpp"
#include "kernels/text/member_masks.hpp"

namespace deciban {

TextKernels text_kernels() { return {.member_masks = text::member_masks}; }

}  // namespace deciban
