// Integer labels → class codes, without sorting them.
#pragma once
#include "views.hpp"

namespace deciban {

// The least and the largest label; on the way seen[v mod size] = 1 for each label v, which names the labels themselves
// if all of them turn out to lie in [0, size), a power of two; and code[i] = y[i], right if they are 0, 1, … already.
template <class I>
void label_scan(const I* y, Size n, std::uint8_t* seen, Size size, std::int32_t* code, std::int64_t* low, std::int64_t* high) {
  I least = y[0], most = y[0];
  for (Size i = 0; i < n; ++i) {
    least = y[i] < least ? y[i] : least;
    most = y[i] > most ? y[i] : most;
    seen[static_cast<std::uint64_t>(y[i]) & static_cast<std::uint64_t>(size - 1)] = 1;
    code[i] = static_cast<std::int32_t>(y[i]);
  }
  *low = least;
  *high = most;
}

// seen[y[i] − low] = 1
template <class I>
void label_marks(const I* y, Size n, std::int64_t low, std::uint8_t* seen) {
  for (Size i = 0; i < n; ++i) seen[static_cast<std::int64_t>(y[i]) - low] = 1;
}

// code[i] = table[y[i] − low]
template <class I>
void label_codes(const I* y, Size n, std::int64_t low, const std::int32_t* table, std::int32_t* code) {
  for (Size i = 0; i < n; ++i) code[i] = table[static_cast<std::int64_t>(y[i]) - low];
}

}  // namespace deciban
