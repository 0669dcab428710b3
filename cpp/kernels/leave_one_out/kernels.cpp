#include "dispatch/kernels.hpp"
#include "kernels/leave_one_out/fisher.hpp"
#include "kernels/leave_one_out/gaussian.hpp"
#include "kernels/leave_one_out/shared.hpp"
#include "kernels/leave_one_out/shrunk.hpp"
#include "kernels/leave_one_out/student.hpp"

namespace deciban {

LeaveOneOutKernels leave_one_out_kernels() {
  return {.left_normals = left_normals, .left_pairs = left_pairs, .left_shared = left_shared, .left_shrunk = left_shrunk, .left_students = left_students};
}

}  // namespace deciban
