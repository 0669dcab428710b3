// Arithmetic as IEEE 754 defines it, where bits depend on it.
#pragma once
#include <cmath>
#include "kernels/core/simd.hpp"
#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#elif !defined(__aarch64__)
#include <cfenv>
#endif

#if defined(__FAST_MATH__)
#error "exact sums need the order of operations as it is written: compile without -ffast-math"
#endif
#if defined(__FLT_EVAL_METHOD__) && (__FLT_EVAL_METHOD__ == 1 || __FLT_EVAL_METHOD__ == 2)
#error "exact sums need doubles that are rounded as doubles: compile without -mfpmath=387"
#endif

namespace deciban {

// As long as it lives: rounding to nearest, and subnormal numbers as they are, whatever another library has set. At the end
// what was set before.
class NearestRounding {
#if defined(__x86_64__) || defined(_M_X64)
  unsigned kept_ = _mm_getcsr();

 public:
  NearestRounding() { _mm_setcsr(0x1F80); }
  ~NearestRounding() { _mm_setcsr(kept_); }
#elif defined(__aarch64__)
  std::uint64_t kept_;

 public:
  NearestRounding() {
    asm volatile("mrs %0, fpcr" : "=r"(kept_));
    asm volatile("msr fpcr, %0" ::"r"(std::uint64_t{0}) : "memory");
  }
  ~NearestRounding() { asm volatile("msr fpcr, %0" ::"r"(kept_) : "memory"); }
#else
  std::fenv_t kept_;

 public:
  NearestRounding() {
    std::fegetenv(&kept_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~NearestRounding() { std::fesetenv(&kept_); }
#endif
  NearestRounding(const NearestRounding&) = delete;
};

// A product that stays one: the compiler may not make it and a sum that follows into one rounding.
template <class V>
inline V rounded(V v) {
#if defined(__AVX512F__)
  asm("" : "+v"(v));
#elif defined(__x86_64__) || defined(_M_X64)
  asm("" : "+x"(v));
#elif defined(__aarch64__)
  asm("" : "+w"(v));
#else
  asm("" : "+m"(v));
#endif
  return v;
}

// a · b − p without rounding, where p is a · b rounded and nothing underflows.
inline double rest_of_product(double a, double b, double p) {
#if defined(__FMA__) || defined(__FP_FAST_FMA) || defined(__aarch64__)
  return __builtin_fma(a, b, -p);
#else  // Dekker (1971), with Veltkamp's split
  const double split = 134217729.0;
  const double ta = rounded(a * split), ha = rounded(ta - rounded(ta - a)), la = a - ha;
  const double tb = rounded(b * split), hb = rounded(tb - rounded(tb - b)), lb = b - hb;
  return rounded(rounded(rounded(rounded(rounded(ha * hb) - p) + rounded(ha * lb)) + rounded(la * hb)) + rounded(la * lb));
#endif
}

inline vec rest_of_product(vec a, vec b, vec p) {
#if defined(__AVX512F__)
  return (vec)_mm512_fmsub_pd((__m512d)a, (__m512d)b, (__m512d)p);
#elif defined(__AVX__) && defined(__FMA__)
  return (vec)_mm256_fmsub_pd((__m256d)a, (__m256d)b, (__m256d)p);
#elif defined(__FP_FAST_FMA) || defined(__aarch64__)
  vec out;
  for (Size l = 0; l < lanes; ++l) out[l] = __builtin_fma(a[l], b[l], -p[l]);
  return out;
#else
  const vec split = all(134217729.0);
  const vec ta = rounded(a * split), ha = rounded(ta - rounded(ta - a)), la = a - ha;
  const vec tb = rounded(b * split), hb = rounded(tb - rounded(tb - b)), lb = b - hb;
  return ((((rounded(ha * hb) - p) + rounded(ha * lb)) + rounded(la * hb)) + rounded(la * lb));
#endif
}

inline vec magnitude(vec x) { return (vec)((ivec)x & 0x7FFFFFFFFFFFFFFFLL); }

// halves of lanes as unsigned numbers
typedef unsigned hvec __attribute__((vector_size(8 * lanes)));
inline hvec larger(hvec a, hvec b) {
#if defined(__AVX512F__)
  return (hvec)_mm512_max_epu32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (hvec)_mm256_max_epu32((__m256i)a, (__m256i)b);
#else
  return a > b ? a : b;
#endif
}
inline hvec smaller(hvec a, hvec b) {
#if defined(__AVX512F__)
  return (hvec)_mm512_min_epu32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (hvec)_mm256_min_epu32((__m256i)a, (__m256i)b);
#else
  return a < b ? a : b;
#endif
}

inline bool any(ivec v) {
#if defined(__AVX512F__)
  return _mm512_test_epi64_mask((__m512i)v, (__m512i)v) != 0;
#else
  long long out = 0;
  for (Size l = 0; l < lanes; ++l) out |= v[l];
  return out != 0;
#endif
}

// 2^e, for a normal one
inline double power_of_two(int e) {
  const std::uint64_t bits = static_cast<std::uint64_t>(e + 1023) << 52;
  double out;
  __builtin_memcpy(&out, &bits, sizeof out);
  return out;
}

}  // namespace deciban
