// Logarithms in steps that IEEE 754 rounds alike on every machine and in every instruction set.
#pragma once
#include <limits>
#include "kernels/core/arithmetic.hpp"

namespace deciban {

// log x, NaN where there is none. With x = 2^e (1 + f), 1 + f within √½ and √2, and s = f / (2 + f):
// log(1 + f) = 2 (s + s³ / 3 + s⁵ / 5 + …).
inline vec log_of(vec x) {
  const vec endless = all(std::numeric_limits<double>::infinity());
  const ivec there = (x > all(0.0)) & (x < endless), subnormal = there & (x < all(0x1p-1022));
  const vec positive = there ? x : all(1.0);
  const ivec bits = (ivec)(subnormal ? positive * 0x1p54 : positive);
  const vec fraction = (vec)((bits & 0x000FFFFFFFFFFFFFLL) | 0x3FE0000000000000LL);  // from ½ to 1
  const ivec low = fraction < all(0.70710678118654757);
  const ivec power = (bits >> 52) - 1022 + low - (subnormal & 54);
  const vec e = (vec)(power + 0x4338000000000000LL) - 0x1.8p52;
  const vec f = (low ? fraction + fraction : fraction) - 1.0, s = f / (2.0 + f), z = s * s;
  vec rest = all(0.0);
  constexpr double series[] = {2.0 / 23, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3};
  for (double term : series) rest = rounded((rest + term) * z);
  const vec half = rounded(0.5 * f * f);
  const vec small = rounded(s * (half + rest)) + rounded(e * 1.9082149292705877e-10);
  const vec log = e * 0.6931471803691238 - ((half - small) - f);  // this product is exact
  const vec none = x == endless ? endless : all(std::numeric_limits<double>::quiet_NaN());
  return there ? log : none;
}

// out[i] = log x[i]
inline void logarithms(const double* x, Size n, double* out) {
  const NearestRounding mode;
  const Size whole = n / lanes * lanes;
  for (Size i = 0; i < whole; i += lanes) store(out + i, log_of(load(x + i)));
  if (whole == n) return;
  double last[lanes] = {};
  for (Size i = whole; i < n; ++i) last[i - whole] = x[i];
  store(last, log_of(load(last)));
  for (Size i = whole; i < n; ++i) out[i] = last[i - whole];
}

}  // namespace deciban
