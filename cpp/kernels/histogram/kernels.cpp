#include "dispatch/kernels.hpp"
#include "kernels/histogram/column_pass.hpp"

namespace deciban {

HistogramKernels histogram_kernels() {
  return {ColumnPass<Dense<double>>{grid_keys<Dense<double>>}, ColumnPass<Dense<float>>{grid_keys<Dense<float>>},
          ColumnPass<Apart<double>>{grid_keys<Apart<double>>}, ColumnPass<Apart<float>>{grid_keys<Apart<float>>}};
}

}  // namespace deciban
