#include "bindings/checks.hpp"
#include <limits>
#include <stdexcept>
#include <string>
#include "dispatch/load.hpp"

namespace deciban {

bool in_range(const std::int32_t* values, Size n, Size limit) {
  constexpr Size most = std::numeric_limits<std::int32_t>::max();
  if (n <= 0 || limit <= 0) return n <= 0;
  return std::get<RangeChecks>(kernels().labels).up_to(values, n, static_cast<std::int32_t>(limit > most ? most : limit - 1));
}

template <class I>
bool in_span(const I* values, Size n, std::int64_t low, Size size) {
  return std::get<IntegerLabels<I>>(kernels().labels).inside(values, n, low, size);
}

template bool in_span(const std::int32_t*, Size, std::int64_t, Size);
template bool in_span(const std::int64_t*, Size, std::int64_t, Size);

bool ascend(const std::int64_t* offset, Size n, Size limit) {
  return n >= 1 && offset[0] >= 0 && offset[n - 1] <= limit && std::get<RangeChecks>(kernels().labels).ascends(offset, n);
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
