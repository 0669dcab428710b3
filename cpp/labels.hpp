// Integer labels → class codes, without sorting them.
#pragma once
#include "views.hpp"

namespace deciban {

template <class I>
void label_range(const I* y, Size n, std::int64_t* low, std::int64_t* high) {
  I least = y[0], most = y[0];
  for (Size i = 1; i < n; ++i) {
    least = y[i] < least ? y[i] : least;
    most = y[i] > most ? y[i] : most;
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
