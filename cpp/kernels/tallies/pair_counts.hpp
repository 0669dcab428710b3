// Class × level × level counts of every two coded columns. Pair p of columns i < j has its counts of levels a, b at
// start[p] + a · levels[j] + b; a negative code is missing.
#pragma once
#include <algorithm>
#include "kernels/core/views.hpp"

namespace deciban {

constexpr Size pair_rows = 1 << 14;  // a block: its columns, as narrow codes, stay in the second cache
constexpr Size streams = 4;          // rows that are counted at a time, each in a table of its own: none waits for another

// Codes of a block of rows, column by column, as numbers of type N; a missing cell has the code after the last level, and so
// has a code that is none.
template <class N>
struct Narrow {
  std::vector<N> cells;
  bool known = true;  // whether every code so far is a level
  explicit Narrow(Size d) : cells(static_cast<std::size_t>(d * pair_rows)) {}
  N* column(Size j) { return cells.data() + j * pair_rows; }

  template <class C>
  void fill(Dense<C> x, const std::int64_t* levels, Size start, Size count) {
    constexpr Size strip = 64;  // rows whose cells lie in few cache lines, whatever the order in memory
    for (Size from = 0; from < count; from += strip) {
      const Size to = from + strip < count ? from + strip : count;
      for (Size j = 0; j < x.d; ++j) {
        N* out = column(j);
        const C* in = x.data + start * x.row + j * x.col;
        const C most = static_cast<C>(levels[j]);
        bool above = false;
        for (Size i = from; i < to; ++i) {
          const C code = in[i * x.row];
          above |= code >= most;
          out[i] = static_cast<N>(code < 0 || code >= most ? most : code);
        }
        known = known && !above;
      }
    }
  }
};

// counts[s, at[i]] += 1, the rows dealt out over the streams
inline void count_streams(const std::uint32_t* at, Size count, std::uint32_t* counts, Size cells) {
  std::uint32_t *a = counts, *b = a + cells, *c = b + cells, *d = c + cells;
  Size i = 0;
  for (; i + streams <= count; i += streams) {
    ++a[at[i]];
    ++b[at[i + 1]];
    ++c[at[i + 2]];
    ++d[at[i + 3]];
  }
  for (; i < count; ++i) ++a[at[i]];
}

// table[c, start[p] + a · levels[j] + b] += w[i]  for every row i of class c and every pair p = (i, j);  whether every code
// is a level
template <class N>
bool count_pairs(AnyCodes x, Labels rows, Size k, const std::int64_t* levels, const std::int64_t* start, Size width,
                 double* table) {
  Narrow<N> codes(x.d);
  std::vector<std::uint32_t> base(pair_rows), at(pair_rows), counts;
  for (Size from = 0; from < x.n; from += pair_rows) {
    const Size count = x.n - from < pair_rows ? x.n - from : pair_rows;
    x.typed([&](auto cells) { codes.fill(cells, levels, from, count); });
    const std::int32_t* y = rows.y + from;
    Size p = 0;
    for (Size i = 0; i + 1 < x.d; ++i) {
      const Size high = levels[i];
      const N* left = codes.column(i);
      for (Size r = 0; r < count; ++r) base[r] = static_cast<std::uint32_t>(y[r] * (high + 1) + left[r]);
      for (Size j = i + 1; j < x.d; ++j, ++p) {
        const Size wide = levels[j], cells = k * (high + 1) * (wide + 1);
        const N* right = codes.column(j);
        double* out = table + start[p];
        if (rows.w == nullptr && streams * cells <= count) {  // few cells: whole numbers, missing levels among them
          counts.assign(static_cast<std::size_t>(streams * cells), 0);
          const auto step = static_cast<std::uint32_t>(wide + 1);
          for (Size r = 0; r < count; ++r) at[r] = base[r] * step + right[r];
          count_streams(at.data(), count, counts.data(), cells);
          for (Size c = 0; c < k; ++c)
            for (Size a = 0; a < high; ++a)
              for (Size b = 0; b < wide; ++b) {
                const std::uint32_t* n = counts.data() + (c * (high + 1) + a) * (wide + 1) + b;
                out[c * width + a * wide + b] += n[0] + n[cells] + n[2 * cells] + n[3 * cells];
              }
        } else {
          for (Size r = 0; r < count; ++r) {
            const Size a = left[r], b = right[r];
            if (a < high && b < wide) out[y[r] * width + a * wide + b] += rows.weight(from + r);
          }
        }
      }
    }
  }
  return codes.known;
}

// The same, by the narrowest codes that hold all levels.
inline bool pairs(AnyCodes x, Labels rows, Size k, const std::int64_t* levels, const std::int64_t* start, Size width,
                  double* table) {
  Size most = 0;
  for (Size j = 0; j < x.d; ++j) most = std::max<Size>(most, levels[j]);
  return most < 256 ? count_pairs<std::uint8_t>(x, rows, k, levels, start, width, table)
                    : count_pairs<std::uint32_t>(x, rows, k, levels, start, width, table);
}

}  // namespace deciban
