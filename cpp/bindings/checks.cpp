#include "bindings/checks.hpp"
#include <limits>
#include <stdexcept>
#include <string>

namespace deciban {

bool in_range(const std::int32_t* values, Size n, Size limit) {
  if (limit > std::numeric_limits<std::int32_t>::max()) limit = std::numeric_limits<std::int32_t>::max();
  const auto most = static_cast<std::int32_t>(limit - 1);
  std::int32_t wrong = 0;  // its sign; without a branch, so that the loop is vectorised
  for (Size i = 0; i < n; ++i) wrong |= values[i] | -static_cast<std::int32_t>(values[i] > most);
  return wrong >= 0 && (n <= 0 || limit > 0);
}

template <class I>
bool in_span(const I* values, Size n, std::int64_t low, Size size) {
  bool wrong = false;
  for (Size i = 0; i < n; ++i)
    wrong |= static_cast<std::uint64_t>(values[i]) - static_cast<std::uint64_t>(low) >= static_cast<std::uint64_t>(size);
  return !wrong;
}

template bool in_span(const std::int32_t*, Size, std::int64_t, Size);
template bool in_span(const std::int64_t*, Size, std::int64_t, Size);

bool ascend(const std::int64_t* offset, Size n, Size limit) {
  if (n < 1 || offset[0] < 0 || offset[n - 1] > limit) return false;
  bool wrong = false;
  for (Size i = 1; i < n; ++i) wrong |= offset[i] < offset[i - 1];
  return !wrong;
}

void refuse_size(const char* name, Size given, Size needed) {
  throw std::invalid_argument(std::string(name) + " has " + std::to_string(given) + " numbers, but " +
                              std::to_string(needed) + " are needed by the other arrays");
}

void refuse_codes(const char* name, Size limit) {
  throw std::invalid_argument(std::string(name) + " has a number outside of 0 … " + std::to_string(limit - 1));
}

void refuse_offsets(const char* name, Size limit) {
  throw std::invalid_argument(std::string(name) + " must ascend from 0 or more to at most " + std::to_string(limit));
}

void check(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

}  // namespace deciban
