// The key of every cell on a grid that does not depend on the data, and how many cells of each class are no positive
// numbers, and no whole numbers ≥ 0. Missing cells are counted nowhere.
#pragma once
#include <algorithm>
#include <cstring>
#include "kernels/core/arguments.hpp"
#include "kernels/core/simd.hpp"

namespace deciban {

// The sign, exponent and leading 12 bits of the mantissa, in the order of numbers.
inline ivec keys_of(vec x) {
  const ivec bits = (ivec)x, sign = bits >> 63, size = (bits & 0x7FFFFFFFFFFFFFFFLL) >> key_shift;
  return (size ^ sign) - sign;
}

inline void store_keys(std::int32_t* p, ivec keys) {
  typedef std::int32_t narrow __attribute__((vector_size(4 * lanes)));
  const narrow out = __builtin_convertvector(keys, narrow);
  std::memcpy(p, &out, sizeof out);
}

// Cells that are whole numbers ≥ 0; from 2^52 on all numbers are whole.
inline ivec whole_numbers(vec x) {
  const vec even = all(4503599627370496.0);
  return (x >= all(0.0)) & ((x >= even) | ((x + even) - even == x));
}

inline Size total(ivec v) {
  Size out = 0;
  for (Size l = 0; l < lanes; ++l) out += v[l];
  return out;
}

// Column by column, rows by class: start[c] … start[c + 1] receive where those of class c are. Whether a cell is infinite.
template <class X>
bool grid_keys(const X& x, Labels rows, Size k, const GridKeys& out, std::int64_t* start) {
  constexpr Size block = 512;
  const ByClass classes(rows.y, x.n, k);
  std::copy(classes.start.begin(), classes.start.end(), start);
  ivec endless{};
  alignas(64) double cells[block];
  for (Size j = 0; j < x.d; ++j) {
    const typename X::Cell* column = x.column(j);  // null: its cells lie apart
    for (Size c = 0; c < k; ++c) {
      ivec positive{}, whole{}, here{};
      for (Size from = start[c]; from < start[c + 1]; from += block) {
        const Size count = std::min<Size>(start[c + 1] - from, block), full = (count + lanes - 1) / lanes * lanes;
        const Size* own = classes.order.data() + from;
        if (column)
          for (Size i = 0; i < count; ++i) cells[i] = column[own[i]];
        else
          for (Size i = 0; i < count; ++i) cells[i] = x.at(own[i], j);
        std::fill(cells + count, cells + full, 1.0);  // which is both
        std::int32_t* keys = out.keys + j * x.n + from;
        for (Size i = 0; i < full; i += lanes) {
          const vec v = load(cells + i);
          const ivec there = v == v, key = there ? keys_of(v) : ivec{} + missing_key;
          positive -= v > all(0.0), whole -= whole_numbers(v), here -= there;
          endless |= (key == infinite_key) | (key == -infinite_key);
          if (i + lanes <= count) {
            store_keys(keys + i, key);
          } else {
            std::int32_t last[lanes];
            store_keys(last, key);
            std::copy_n(last, count - i, keys + i);
          }
        }
      }
      out.not_positive[c * x.d + j] = static_cast<double>(total(here) - total(positive));
      out.not_whole[c * x.d + j] = static_cast<double>(total(here) - total(whole));
    }
  }
  return total(endless) != 0;
}

}  // namespace deciban
