#include "dispatch/kernels.hpp"
#include "kernels/histogram/column_pass.hpp"

namespace deciban {

HistogramKernels histogram_kernels() {
  return {ColumnPass<Dense<double>>{share<Dense<double>>}, ColumnPass<Dense<float>>{share<Dense<float>>},
          ColumnPass<Apart<double>>{share<Apart<double>>}, ColumnPass<Apart<float>>{share<Apart<float>>}};
}

}  // namespace deciban
