// Some rows side by side, one to a lane: into that shape, out of it, and the next ones fetched meanwhile.
#pragma once
#include "kernels/core/simd.hpp"

namespace deciban {

// t[j, r] = x[start + r, from + j]; lanes past the last row repeat it
template <Size together, class T>
void pack(Dense<T> x, Size start, Size count, Size from, Size cols, double* t) {
  if (x.row == 1 && count == together) {
    for (Size j = 0; j < cols; ++j)
      for (Size r = 0; r < together; ++r) t[j * together + r] = x.data[start + r + (from + j) * x.col];
    return;
  }
  if constexpr (sizeof(T) == sizeof(double) && together <= 16) {  // of more rows the plain loop below measured faster
    if (x.col == 1 && count == together) {
      const Size whole = cols / lanes * lanes;
      for (Size r = 0; r < together; r += lanes) {
        const T* rows = x.data + (start + r) * x.row + from;
        for (Size j = 0; j < whole; j += lanes) {
          vec square[lanes];
#pragma GCC unroll 8
          for (Size l = 0; l < lanes; ++l) square[l] = load(rows + l * x.row + j);
          transpose(square);
#pragma GCC unroll 8
          for (Size l = 0; l < lanes; ++l) store(t + (j + l) * together + r, square[l]);
        }
        for (Size j = whole; j < cols; ++j)
          for (Size l = 0; l < lanes; ++l) t[j * together + r + l] = rows[l * x.row + j];
      }
      return;
    }
  }
  for (Size r = 0; r < together; ++r) {
    const T* row = x.data + (start + (r < count ? r : count - 1)) * x.row + from * x.col;
    if (x.col == 1)
      for (Size j = 0; j < cols; ++j) t[j * together + r] = row[j];
    else
      for (Size j = 0; j < cols; ++j) t[j * together + r] = row[j * x.col];
  }
}

template <Size together>
[[gnu::noinline]] void pack(const AnyReals& x, Size start, Size count, Size from, Size cols, double* t) {
  x.typed([&](auto cells) { pack<together>(cells, start, count, from, cols, t); });
}

// Asks for the rows after these while these are scored: some cache lines at each of `steps` steps, as more at once would
// wait for each other. Rows for eight lanes fill the first cache, so the next ones wait in the second.
struct Ahead {
  const char *at, *end;
  Size lines;  // a step

  Ahead(const AnyReals& x, Size start, Size together, Size steps) : at(nullptr), end(nullptr), lines(0) {
    if (x.col != 1 || steps == 0 || start + 2 * together > x.n) return;
    const Size bytes = together * x.row * x.width();
    at = static_cast<const char*>(x.data) + (start + together) * x.row * x.width();
    end = at + bytes;
    lines = (bytes / 64 + steps) / steps;
  }
  // GCC takes a function that only prefetches for one that does nothing, unless it is part of its caller.
  [[gnu::always_inline]] void step() {
    for (Size l = 0; l < lines; ++l, at += 64) __builtin_prefetch(at < end ? at : end, 0, lanes == 8 ? 2 : 3);
  }
};

struct NothingAhead {
  void step() {}
};

// out[start + r, c] = scores[c, r]
template <Size together>
[[gnu::noinline]] void unpack(const double* scores, Size start, Size count, Size k, double* out) {
  const Size whole = count == together ? k / lanes * lanes : 0;
  for (Size r = 0; r < count && whole; r += lanes)
    for (Size c = 0; c < whole; c += lanes) {
      vec square[lanes];
#pragma GCC unroll 8
      for (Size l = 0; l < lanes; ++l) square[l] = load(scores + (c + l) * together + r);
      transpose(square);
#pragma GCC unroll 8
      for (Size l = 0; l < lanes; ++l) store(out + (start + r + l) * k + c, square[l]);
    }
  for (Size r = 0; r < count; ++r)
    for (Size c = whole; c < k; ++c) out[(start + r) * k + c] = scores[c * together + r];
}

}  // namespace deciban
