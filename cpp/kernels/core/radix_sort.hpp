// Sorting whole numbers by some of their bits, digit by digit from the lowest; equal ones keep their order.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstddef>

namespace deciban::text {

// a[0, n) by bits [low, low + bits); b is room for as many. Returns the one of both that holds the result.
template <class T, class Key>
T* radix(T* a, T* b, std::size_t n, int low, int bits, Key&& key) {
  const auto part = [&](const T& v) { return key(v) >> low; };
  if (n <= 32) {
    for (std::size_t i = 1; i < n; ++i) {
      const T v = a[i];
      std::size_t j = i;
      for (; j > 0 && part(a[j - 1]) > part(v); --j) a[j] = a[j - 1];
      a[j] = v;
    }
    return a;
  }
  std::uint32_t start[2048];
  const int most = n < 1024 ? 8 : 11;
  const int passes = (bits + most - 1) / most;
  const int digit = passes ? (bits + passes - 1) / passes : 0;
  for (int pass = 0; pass < passes; ++pass) {
    const int shift = pass * digit;
    const std::uint64_t mask = (std::uint64_t{1} << digit) - 1;
    std::fill(start, start + mask + 1, 0);
    for (std::size_t i = 0; i < n; ++i) ++start[part(a[i]) >> shift & mask];
    if (start[part(a[0]) >> shift & mask] == n) continue;  // all alike in this digit
    std::uint32_t sum = 0;
    for (std::size_t v = 0; v <= mask; ++v) {
      const std::uint32_t here = start[v];
      start[v] = sum;
      sum += here;
    }
    for (std::size_t i = 0; i < n; ++i) b[start[part(a[i]) >> shift & mask]++] = a[i];
    std::swap(a, b);
  }
  return a;
}

inline int bits_of(std::uint64_t v) { return v ? 64 - __builtin_clzll(v) : 0; }

}  // namespace deciban::text
