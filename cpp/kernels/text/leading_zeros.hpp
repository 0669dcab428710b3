// Whether a delimited text has a cell that begins with 0 and another digit, as `ops.spec.has_leading_zeros` defines it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include "kernels/core/views.hpp"

namespace deciban::text {

using Bytes16 = std::uint8_t __attribute__((vector_size(16)));

// Which of 16 neighbouring bytes, from text[2] on, are such a 0 (all bits set). A cell begins after a delimiter, a line
// end, a quote or a blank; a sign may precede the 0.
inline auto leading_zeros(const std::uint8_t* text, std::uint8_t delimiter) {
  const auto from = [&](Size i) {
    Bytes16 out;
    std::memcpy(&out, text + i, sizeof out);
    return out;
  };
  const auto begins = [&](Bytes16 x) { return (x == delimiter) | (x == '\n') | (x == '\r') | (x == '"') | (x == ' ') | (x == '\t'); };
  const Bytes16 second = from(0), first = from(1), zero = from(2), next = from(3), digit = next - '0';
  const auto more = (digit < 10) | ((next | 0x20) == 'x');
  return (zero == '0') & more & (begins(first) | (((first == '-') | (first == '+')) & begins(second)));
}

inline bool has_leading_zeros(const std::uint8_t* text, Size size, std::uint8_t delimiter) {
  constexpr Size room = 16 + 3, step = 256 * 16;
  const auto any = [](Bytes16 found) {
    std::uint64_t half[2];
    std::memcpy(half, &found, sizeof half);
    return (half[0] | half[1]) != 0;
  };
  Size at = 0;  // zeros before text[at + 2] were looked at
  while (at + room <= size) {
    Bytes16 found{};
    for (const Size stop = std::min(at + step, size - room + 1); at < stop; at += 16) found |= Bytes16(leading_zeros(text + at, delimiter));
    if (any(found)) return true;
  }
  // The first two bytes, and the rest, with line ends around them.
  for (const Size begin : {Size{0}, std::min(at, size)}) {
    std::uint8_t ends[2 + 2 * room];
    std::memset(ends, '\n', sizeof ends);
    const Size before = std::min<Size>(begin, 2), many = std::min(size - begin, room);
    std::memcpy(ends + 2 - before, text + begin - before, static_cast<std::size_t>(before + many));
    for (Size i = 0; i < room; i += 16)
      if (any(Bytes16(leading_zeros(ends + i, delimiter)))) return true;
  }
  return false;
}

}  // namespace deciban::text
