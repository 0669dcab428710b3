// Labels → class codes, without sorting them.
#pragma once
#include "kernels/core/views.hpp"
#include <cstring>
#include <vector>

namespace deciban {

// The least and the largest label; on the way seen[v mod size] = 1 for each label v, which names the labels themselves
// if all of them turn out to lie in [0, size), a power of two; and code[i] = y[i], right if they are 0, 1, … already.
template <class I>
void label_scan(const I* y, Size n, std::uint8_t* seen, Size size, std::int32_t* code, std::int64_t* low, std::int64_t* high) {
  constexpr Size block = 2048;  // labels that stay in cache between the two loops, each of which is vectorised
  I least = y[0], most = y[0];
  std::uint32_t low_bits = 0;  // bit v: label v was seen
  for (Size start = 0; start < n; start += block) {
    const Size end = n - start < block ? n : start + block;
    I down = y[start], up = y[start];
    for (Size i = start; i < end; ++i) {
      down = y[i] < down ? y[i] : down;
      up = y[i] > up ? y[i] : up;
      code[i] = static_cast<std::int32_t>(y[i]);
    }
    if (down >= 0 && up < 32) {
      std::uint32_t bits = 0;
      for (Size i = start; i < end; ++i) bits |= 1u << code[i];
      low_bits |= bits;
    } else {
      for (Size i = start; i < end; ++i) seen[static_cast<std::uint64_t>(y[i]) & static_cast<std::uint64_t>(size - 1)] = 1;
    }
    least = down < least ? down : least;
    most = up > most ? up : most;
  }
  for (Size v = 0; v < 32; ++v)
    if (low_bits >> v & 1) seen[v & (size - 1)] = 1;
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

// Texts of `wide` characters each: first[c] is the first row that has the distinct text c, code[i] the number of text i.
// Returns how many distinct texts there are, or −1 if they are more than `most`.
inline Size distinct_texts(const std::uint32_t* text, Size n, Size wide, Size most, std::int64_t* first, std::int32_t* code) {
  std::size_t slots = 4;
  while (slots < 4 * static_cast<std::size_t>(most)) slots *= 2;
  std::vector<std::int32_t> table(slots, -1);
  const std::size_t bytes = static_cast<std::size_t>(wide) * sizeof(std::uint32_t);
  Size count = 0;
  for (Size i = 0; i < n; ++i) {
    const std::uint32_t* own = text + i * wide;
    std::uint64_t hash = 0;
    for (Size c = 0; c < wide; ++c) hash = (hash ^ own[c]) * 0x9E3779B97F4A7C15u;
    std::size_t at = static_cast<std::size_t>(hash ^ hash >> 32) & (slots - 1);
    while (table[at] >= 0 && std::memcmp(text + first[table[at]] * wide, own, bytes) != 0) at = (at + 1) & (slots - 1);
    if (table[at] < 0) {
      if (count == most) return -1;
      table[at] = static_cast<std::int32_t>(count);
      first[count++] = i;
    }
    code[i] = table[at];
  }
  return count;
}

}  // namespace deciban
