// What columns say together about the class of held-out rows, and how much a weight for it would gain.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>
#include "kernels/core/arguments.hpp"

namespace deciban {

// Counts of the cells of one set of columns, and the evidence of a cell for the rows of a fold, made where it is needed.
class HeldOutTable {
 public:
  HeldOutTable(const FoldRows& rows, Size n) : rows_(rows), at_(n) {}

  // Cells of the columns `own` (of `x`, whose levels stand at `offset`), and their counts by fold.
  void count(AnyCodes x, const std::int64_t* offset, const std::int64_t* own, Size size) {
    const Size k = rows_.k, folds = rows_.folds;
    Size cells = 1;
    for (Size i = 0; i < size; ++i) cells *= offset[own[i] + 1] - offset[own[i]];
    number_.assign(cells, -1);
    cell_of_.clear();
    x.typed([&](auto codes) {
      for (Size r = 0; r < x.n; ++r) {
        Size cell = 0;
        for (Size i = 0; i < size && cell >= 0; ++i) {
          const Size code = codes.at(r, own[i]), levels = offset[own[i] + 1] - offset[own[i]];
          cell = code >= 0 && code < levels ? cell * levels + code : -1;
        }
        if (cell >= 0 && number_[cell] < 0) {
          number_[cell] = static_cast<std::int32_t>(cell_of_.size());
          cell_of_.push_back(cell);
        }
        at_[r] = cell < 0 ? -1 : number_[cell];
      }
    });
    counts_.assign(cell_of_.size() * (folds + 1) * k, 0.0);
    total_.assign((folds + 1) * k, 0.0);
    for (Size r = 0; r < x.n; ++r) {
      if (at_[r] < 0) continue;
      const Size c = rows_.y[r], f = rows_.fold[r];
      const double w = rows_.w[r];
      double* here = counts_.data() + at_[r] * (folds + 1) * k;
      here[f * k + c] += w, here[folds * k + c] += w;
      total_[f * k + c] += w, total_[folds * k + c] += w;
    }
    known_.assign(cell_of_.size() * folds, false);
    evidence_.resize(cell_of_.size() * folds * k);
  }

  // Evidence (k,) for row r, by the rows of the other folds; null: a cell has no code.
  const double* evidence(Size r, const std::int64_t* offset, const double* theta, const std::int64_t* own, Size size) {
    if (at_[r] < 0) return nullptr;
    const Size k = rows_.k, f = rows_.fold[r], place = at_[r] * rows_.folds + f;
    double* out = evidence_.data() + place * k;
    if (known_[place]) return out;
    known_[place] = true;
    const double *here = counts_.data() + at_[r] * (rows_.folds + 1) * k, m = 2.0 * static_cast<double>(size - 1);
    const Size width = offset[rows_.d];
    double mean = 0;
    for (Size c = 0; c < k; ++c) {
      double alone = 1;
      Size rest = cell_of_[at_[r]];
      for (Size i = size; i-- > 0;) {
        const Size levels = offset[own[i] + 1] - offset[own[i]];
        alone *= theta[(f * width + offset[own[i]] + rest % levels) * k + c];
        rest /= levels;
      }
      const double n = std::max(here[rows_.folds * k + c] - here[f * k + c], 0.0);
      const double whole = std::max(total_[rows_.folds * k + c] - total_[f * k + c], 0.0);
      const double e = size == 1 ? std::log(alone) : std::log((n / alone + m) / (whole + m));
      out[c] = std::min(std::max(e, -rows_.most), rows_.most);
      mean += out[c];
    }
    for (Size c = 0; c < k; ++c) out[c] -= mean / static_cast<double>(k);
    return out;
  }

 private:
  const FoldRows& rows_;
  std::vector<std::int32_t> at_, number_;
  std::vector<Size> cell_of_;
  std::vector<double> counts_, total_, evidence_;
  std::vector<char> known_;
};

// out[s] = (Σ_i mass_i (g_i,y − Σ_c p_ic g_ic), Σ_i mass_i Var_p(g_i)): slope and curvature of the log likelihood at weight 0 of
// the evidence g of each set of columns s, members[start[s]] … members[start[s + 1] − 1].
inline void table_gains(AnyCodes x, const FoldRows& rows, const std::int64_t* offset, const double* theta, const std::int64_t* members,
                        const std::int64_t* start, Size sets, double* out) {
  HeldOutTable table(rows, x.n);
  for (Size s = 0; s < sets; ++s) {
    const std::int64_t* own = members + start[s];
    const Size size = start[s + 1] - start[s];
    table.count(x, offset, own, size);
    double slope = 0, bend = 0;
    for (Size r = 0; r < x.n; ++r) {
      const double* g = table.evidence(r, offset, theta, own, size);
      if (!g) continue;
      const double* p = rows.p + r * rows.k;
      double mean = 0, square = 0;
      for (Size c = 0; c < rows.k; ++c) mean += p[c] * g[c], square += p[c] * g[c] * g[c];
      slope += rows.mass[r] * (g[rows.y[r]] - mean);
      bend += rows.mass[r] * (square - mean * mean);
    }
    out[2 * s] = slope, out[2 * s + 1] = bend;
  }
}

}  // namespace deciban
