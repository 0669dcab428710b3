// Whether numbers that kernels look up by stay inside of an array: without branches, so that the loops are vectorised.
#pragma once
#include "kernels/core/views.hpp"

namespace deciban {

// Whether all of values are in low … low + size − 1.
template <class I>
bool inside(const I* values, Size n, std::int64_t low, Size size) {
  bool outside = false;
  for (Size i = 0; i < n; ++i)
    outside |= static_cast<std::uint64_t>(values[i]) - static_cast<std::uint64_t>(low) >= static_cast<std::uint64_t>(size);
  return !outside;
}

// Whether all of values are in 0 … most.
inline bool up_to(const std::int32_t* values, Size n, std::int32_t most) {
  std::int32_t wrong = 0;  // its sign
  for (Size i = 0; i < n; ++i) wrong |= values[i] | -static_cast<std::int32_t>(values[i] > most);
  return wrong >= 0;
}

// Whether offsets never descend.
inline bool ascends(const std::int64_t* offset, Size n) {
  bool wrong = false;
  for (Size i = 1; i < n; ++i) wrong |= offset[i] < offset[i - 1];
  return !wrong;
}

}  // namespace deciban
