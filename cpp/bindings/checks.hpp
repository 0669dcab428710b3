// What every function of the module refuses before a kernel runs: sizes that do not match, and numbers that lead out of an
// array. One pass over each array that is looked up by; a kernel's own pass takes many times as long.
#pragma once
#include "kernels/core/views.hpp"

namespace deciban {

// Whether all numbers are in 0 … limit − 1.
bool in_range(const std::int32_t* values, Size n, Size limit);

// Whether all numbers are in low … low + size − 1.
template <class I>
bool in_span(const I* values, Size n, std::int64_t low, Size size);

// Whether offsets never descend, and lie in 0 … limit. There must be one at least.
bool ascend(const std::int64_t* offset, Size n, Size limit);

[[noreturn]] void refuse_size(const char* name, Size given, Size needed);
[[noreturn]] void refuse_codes(const char* name, Size limit);
[[noreturn]] void refuse_offsets(const char* name, Size limit);

// Refuse what does not hold.
void check(bool holds, const char* what);

}  // namespace deciban
