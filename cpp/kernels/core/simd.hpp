// As many doubles at a time as one register holds, as a GCC / Clang vector.
#pragma once
#include <utility>
#include "kernels/core/views.hpp"

namespace deciban {

#if defined(__AVX512F__)
constexpr Size lanes = 8, registers = 32;
#elif defined(__AVX__)
constexpr Size lanes = 4, registers = 16;
#else
constexpr Size lanes = 2, registers = 16;
#endif
typedef double vec __attribute__((vector_size(8 * lanes)));
typedef long long ivec __attribute__((vector_size(8 * lanes)));
typedef unsigned long long uvec __attribute__((vector_size(8 * lanes)));  // sums of these may wrap around
typedef double loose __attribute__((vector_size(8 * lanes), aligned(8), may_alias));  // the same at any address

// Scratch memory that starts at a cache line, so that no vector straddles two.
struct Scratch {
  std::vector<double> memory;
  double* start;
  explicit Scratch(Size size) : memory(static_cast<std::size_t>(size + 8), 0.0) {
    start = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64 / 8;
  }
  Scratch(const Scratch&) = delete;
  double* data() { return start; }
  double& operator[](Size i) { return start[i]; }
};

inline vec load(const double* p) { return *reinterpret_cast<const loose*>(p); }
inline void store(double* p, vec v) { *reinterpret_cast<loose*>(p) = v; }
typedef float narrow __attribute__((vector_size(4 * lanes), aligned(4), may_alias));
inline vec load(const float* p) { return __builtin_convertvector(*reinterpret_cast<const narrow*>(p), vec); }
inline void store(float* p, vec v) { *reinterpret_cast<narrow*>(p) = __builtin_convertvector(v, narrow); }
inline vec all(double v) { return vec{} + v; }
inline vec larger(vec a, vec b) { return a > b ? a : b; }

// Lanes whose number has bit s, of a, against lanes that lack it, of b: they change places.
template <Size s, std::size_t... l>
inline void exchange(vec& a, vec& b, std::index_sequence<l...>) {
  const vec c = __builtin_shufflevector(a, b, (l & s ? lanes + l - s : l)...);
  b = __builtin_shufflevector(a, b, (l & s ? lanes + l : l + s)...);
  a = c;
}

// rows become columns
inline void transpose(vec (&m)[lanes]) {
  constexpr std::make_index_sequence<lanes> all_lanes{};
#pragma GCC unroll 8
  for (Size i = 0; i < lanes; i += 2) exchange<1>(m[i], m[i + 1], all_lanes);
  if constexpr (lanes >= 4)
#pragma GCC unroll 8
    for (Size i = 0; i < lanes; ++i)
      if (!(i & 2)) exchange<2>(m[i], m[i + 2], all_lanes);
  if constexpr (lanes >= 8)
#pragma GCC unroll 8
    for (Size i = 0; i < lanes; ++i)
      if (!(i & 4)) exchange<4>(m[i], m[i + 4], all_lanes);
}

// e^x for x ≤ 0 within one unit in the last place; 0 below −708, NaN stays NaN.
// x = m ln 2 + r with |r| ≤ ln 2 / 2; e^r by its series to r^13 (remainder below 5e-18); 2^m through the exponent bits.
inline vec exp_negative(vec x) {
  const vec magic = all(6755399441055744.0);  // 1.5 · 2^52: adding it rounds to an integer in the low bits
  const vec low = all(-708.0);
  const vec y = x < low ? low : x;
  const vec shifted = y * 1.4426950408889634 + magic;
  const vec m = shifted - magic;
  const vec r = (y - m * 0.693147180369123816490) - m * 1.90821492927058770002e-10;
  vec p = all(1.0 / 6227020800.0);
  constexpr double series[] = {1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0, 1.0 / 40320.0,
                               1.0 / 5040.0,      1.0 / 720.0,      1.0 / 120.0,     1.0 / 24.0,     1.0 / 6.0,
                               0.5,               1.0,              1.0};
  for (double term : series) p = p * r + term;
  const vec scale = (vec)(((uvec)shifted << 52) + (1023ULL << 52));
  return x < low ? all(0.0) : p * scale;
}

}  // namespace deciban
