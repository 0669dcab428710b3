// Levels of x86-64 that the processor and its operating system support, by the names of the psABI: v1, v3, v4.
#pragma once
#if defined(__x86_64__) && defined(__clang__) && __clang_major__ < 16
#include <cpuid.h>
#endif

namespace deciban {

// The highest level supported; 1 where the processor is another one.
inline int processor_level() {
#if defined(__x86_64__) && defined(__clang__) && __clang_major__ < 16  // it does not know the names of levels
  __builtin_cpu_init();
  unsigned a = 0, b = 0, c = 0, d = 0, more = 0;
  __get_cpuid(1, &a, &b, &c, &d);
  __get_cpuid(0x80000001u, &a, &b, &more, &d);
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                  __builtin_cpu_supports("fma") && __builtin_cpu_supports("popcnt") && (c & bit_F16C) && (c & bit_MOVBE) &&
                  (more & bit_LZCNT);
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return v4 ? 4 : v3 ? 3 : 1;
#elif defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("x86-64-v4") ? 4 : __builtin_cpu_supports("x86-64-v3") ? 3 : 1;
#else
  return 1;
#endif
}

}  // namespace deciban
