// Gaussians with shrunk covariances, each row of a class left out.
#pragma once
#include <algorithm>
#include "kernels/core/arguments.hpp"
#include "kernels/leave_one_out/rows.hpp"

namespace deciban {

// norms[g, q, i] = nearᵀ (E − φ δδᵀ)⁻¹ near / τ;  lever[g, i] = 1 − φ δᵀE⁻¹δ;  volume[g, i] = det E
inline void left_shrunk(Dense<double> x, Shrunk s, const double* phi, const double* tau, const double* removed, double* norms,
                        double* lever, double* volume) {
  const Size d = s.d, m = x.n;
  Scratch raw(d * together), z(d * together), inverse(d * together), lin(s.p * together), sq(s.p * together);
  double uu[together], det[together], lost[together], ratio[together], shorter[together];
  for (Size start = 0; start < m; start += together) {
    const Size count = std::min(m - start, together);
    pack<together>(x, start, count, 0, d, raw.data());
    centre(s.mean, d, raw.data());
    for (Size g = 0; g < s.f; ++g) {
      turned(s.white + g * d * d, d, raw.data(), z.data());
      for (Size r = 0; r < together; ++r) {
        lost[r] = removed[g * m + start + std::min(r, count - 1)];
        uu[r] = 0.0, det[r] = 1.0;
      }
      for (Size j = 0; j < d; ++j) {
        const double rest = s.rest[g * d + j];
        double *zj = &z[j * together], *e = &inverse[j * together];
#pragma omp simd
        for (Size r = 0; r < together; ++r) {
          const double part = 1.0 + rest * lost[r];
          det[r] *= part;
          e[r] = 1.0 / part;
          const double u = zj[r];
          zj[r] = u * e[r];
          uu[r] += u * zj[r];
        }
      }
      products(s.t + g * s.p * d, s.p, d, z.data(), lin.data());
      products(s.square + g * s.p * d, s.p, d, inverse.data(), sq.data());
      for (Size r = 0; r < count; ++r) {
        const Size at = g * m + start + r;
        lever[at] = 1.0 - phi[at] * uu[r];
        volume[at] = det[r];
        ratio[r] = phi[at] / lever[at], shorter[r] = 1.0 / tau[at];
      }
      for (Size q = 0; q < s.p; ++q) {
        double* out = norms + (g * s.p + q) * m + start;
        const double *l = &lin[q * together], *t2 = &sq[q * together];
        for (Size r = 0; r < count; ++r) {
          const double near = l[r] + uu[r];
          out[r] = (t2[r] - uu[r] + near * (2.0 + near * ratio[r])) * shorter[r];
        }
      }
    }
  }
}

}  // namespace deciban
