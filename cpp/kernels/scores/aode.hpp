// Averaged one-dependence scores: every column in turn is the parent of all others.
#pragma once
#include <algorithm>
#include <cmath>
#include "kernels/core/simd.hpp"

namespace deciban {

constexpr Size parent_rows = 128;  // that pass while one parent's tables are in cache

// score[r, i] += Σ_j table[at[r, i], at[r, j]], `wide` classes at a time; left alone where `used` says no.
template <int wide>
inline void one_parent(const double* table, Size ld, Size row, const std::int64_t* at, const bool* used, Size d, Size i,
                       Size count, double* score) {
  typedef double some __attribute__((vector_size(8 * wide), aligned(8), may_alias));
  for (Size r = 0; r < count; ++r) {
    if (!used[r * d + i]) continue;
    const double* t = table + at[r * d + i] * row;
    some even = {}, odd = {};
    Size j = 0;
    for (; j + 2 <= d; j += 2) {
      even += *reinterpret_cast<const some*>(t + at[r * d + j] * ld);
      odd += *reinterpret_cast<const some*>(t + at[r * d + j + 1] * ld);
    }
    if (j < d) even += *reinterpret_cast<const some*>(t + at[r * d + j] * ld);
    *reinterpret_cast<some*>(score + (r * d + i) * ld) = even + odd;
  }
}

// out[i, c] = log of the mean over the parents p that are there, and whose level was seen, of
//   exp Σ_j table[(p, x_p), (j, x_j), c],
// where (j, x_j) = offset[j] + x[i, j], and `levels` (the last one, zeros) where the cell is missing or unseen; without
// any parent, Σ_j alone[(j, x_j), c]. `table` is (levels, levels + 1, ld), `alone` (levels + 1, ld).
inline void parents(AnyCodes x, const std::int64_t* offset, const double* table, const double* alone, const bool* seen, Size k,
                    Size ld, double* out) {
  const Size d = x.d, levels = offset[d], row = (levels + 1) * ld;
  std::vector<std::int64_t> at(static_cast<std::size_t>(parent_rows * d));
  std::vector<char> flags(static_cast<std::size_t>(parent_rows * d));
  bool* used = reinterpret_cast<bool*>(flags.data());
  Scratch score(parent_rows * d * ld), terms(d + lanes);
  for (Size from = 0; from < x.n; from += parent_rows) {
    const Size count = x.n - from < parent_rows ? x.n - from : parent_rows;
    x.typed([&](auto codes) {
      for (Size r = 0; r < count; ++r)
        for (Size j = 0; j < d; ++j) {
          const Size code = codes.at(from + r, j);
          const bool here = code >= 0 && code < offset[j + 1] - offset[j];
          at[r * d + j] = here ? offset[j] + code : levels;
          used[r * d + j] = here && seen[offset[j] + code];
        }
    });
    for (Size i = 0; i < d; ++i) {
      Size c = 0;
      for (; c + 8 <= ld; c += 8) one_parent<8>(table + c, ld, row, at.data(), used, d, i, count, &score[c]);
      for (; c + 4 <= ld; c += 4) one_parent<4>(table + c, ld, row, at.data(), used, d, i, count, &score[c]);
      for (; c + 2 <= ld; c += 2) one_parent<2>(table + c, ld, row, at.data(), used, d, i, count, &score[c]);
    }
    for (Size r = 0; r < count; ++r) {
      const bool* mine = used + r * d;
      const Size many = std::count(mine, mine + d, true);
      for (Size c = 0; c < k; ++c) {
        double sum = 0, top = -INFINITY;
        if (many == 0) {
          for (Size j = 0; j < d; ++j) sum += alone[at[r * d + j] * ld + c];
          out[(from + r) * k + c] = sum;
          continue;
        }
        Size m = 0;
        for (Size i = 0; i < d; ++i)
          if (mine[i]) {
            const double s = score[(r * d + i) * ld + c];
            terms[m++] = s;
            top = s > top ? s : top;
          }
        if (top == -INFINITY) {
          out[(from + r) * k + c] = top;
          continue;
        }
        for (Size i = m; i % lanes != 0; ++i) terms[i] = -INFINITY;
        vec total = all(0.0);
        for (Size i = 0; i < m; i += lanes) total += exp_negative(load(&terms[i]) - top);
        for (Size l = 0; l < lanes; ++l) sum += total[l];
        out[(from + r) * k + c] = top + std::log(sum / static_cast<double>(many));
      }
    }
  }
}

}  // namespace deciban
