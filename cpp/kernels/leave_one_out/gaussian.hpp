// Scores of rows under their own class without them.
#pragma once
#include <cmath>
#include "kernels/core/views.hpp"

namespace deciban {

// own[i] = bias[c] − ½ (Σ_j log r_j + far[c] Σ_j e_j / r_j),   e = (scale (x − mean))²,   r = 1 − e,   c = y[i].
// NaN where Π r is below `deep`: so little is left there that rounding would show.
inline void left_normals(Dense<double> x, const std::int32_t* y, const double* mean, const double* scale,
                         const double* bias, const double* far, double deep, double* own) {
  for (Size i = 0; i < x.n; ++i) {
    const Size c = y[i];
    const double* __restrict m = mean + c * x.d;
    const double* __restrict s = scale + c * x.d;
    const double* __restrict row = x.data + i * x.row;
    double product = 1.0, distance = 0.0;
#pragma omp simd reduction(* : product) reduction(+ : distance)
    for (Size j = 0; j < x.d; ++j) {
      const double z = (row[j] - m[j]) * s[j];
      const double e = z * z;
      product *= 1.0 - e;
      distance += e / (1.0 - e);
    }
    own[i] = product > deep ? bias[c] - 0.5 * (std::log(product) + far[c] * distance) : NAN;
  }
}

}  // namespace deciban
