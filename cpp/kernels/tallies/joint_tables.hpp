// What columns say together about the class of held-out rows, and how much a weight for it would gain.
#pragma once
#include <algorithm>
#include <vector>
#include "kernels/core/arguments.hpp"
#include "kernels/tallies/logarithms.hpp"

namespace deciban {

// Counts of the cells of one set of columns by fold and class, and the evidence of a cell for the rows of a fold. A place is
// a cell that rows have, and a fold.
class HeldOutTable {
 public:
  HeldOutTable(const FoldRows& rows, Size n) : rows_(rows), cell_(n), place_(n) {}

  // The place of each row, and the number of places. `offset`: where the levels of each column stand.
  void find_places(AnyCodes x, const std::int64_t* offset, const std::int64_t* own, Size size) {
    const Size n = x.n;
    std::int32_t cells = 1;
    std::int32_t* cell = cell_.data();
    std::fill(cell, cell + n, 0);
    x.typed([&](auto codes) {
      for (Size i = 0; i < size; ++i) {
        const auto levels = static_cast<std::int32_t>(offset[own[i] + 1] - offset[own[i]]);
        cells *= levels;
        const auto add = [&](auto code_of) {
          for (Size r = 0; r < n; ++r) {
            const auto code = code_of(r);
            cell[r] = (code >= 0) & (code < levels) & (cell[r] >= 0) ? cell[r] * levels + static_cast<std::int32_t>(code) : -1;
          }
        };
        if (const auto* column = codes.column(own[i]))
          add([=](Size r) { return column[r]; });
        else
          add([=](Size r) { return codes.at(r, own[i]); });
      }
    });
    number_.assign(cells, -1);
    cell_of_.clear();
    const auto folds = static_cast<std::int32_t>(rows_.folds);
    for (Size r = 0; r < n; ++r) {
      if (cell[r] < 0) {
        place_[r] = -1;
        continue;
      }
      std::int32_t& number = number_[cell[r]];
      if (number < 0) {
        number = static_cast<std::int32_t>(cell_of_.size());
        cell_of_.push_back(cell[r]);
      }
      place_[r] = number * folds + rows_.fold[r];
    }
    places_ = static_cast<Size>(cell_of_.size()) * folds;
  }

  Size places() const { return places_; }
  const std::vector<std::int32_t>& place() const { return place_; }

  // Counts of the other folds (places, k) and their sums (folds, k), from those by fold, `stride` numbers for each place.
  void leave_folds_out(const double* counts, Size stride) {
    const Size k = rows_.k, folds = rows_.folds;
    others_.assign(places_ * stride, 0.0);
    total_.assign((folds + 1) * stride, 0.0);
    for (Size cell = 0; cell < places_ / folds; ++cell)
      for (Size c = 0; c < k; ++c) {
        const double* own = counts + cell * folds * stride + c;
        double sum = 0;
        for (Size f = 0; f < folds; ++f) sum += own[f * stride], total_[f * stride + c] += own[f * stride];
        for (Size f = 0; f < folds; ++f) others_[(cell * folds + f) * stride + c] = std::max(sum - own[f * stride], 0.0);
        total_[folds * stride + c] += sum;
      }
    for (Size f = 0; f < folds; ++f)
      for (Size c = 0; c < k; ++c) {
        double& own = total_[f * stride + c];
        own = std::max(total_[folds * stride + c] - own, 0.0);
      }
  }

  // Where P(level | class) by the other folds stands of each level of a place; theta has `stride` numbers for each level.
  void find_shares(Size place, const std::int64_t* offset, const double* theta, const std::int64_t* own, Size size, Size stride,
                   const double** shares) const {
    const double* of_fold = theta + place % rows_.folds * offset[rows_.d] * stride;
    Size rest = cell_of_[place / rows_.folds];
    for (Size i = size; i-- > 0;) {
      const Size levels = offset[own[i] + 1] - offset[own[i]];
      shares[i] = of_fold + (offset[own[i]] + rest % levels) * stride;
      rest /= levels;
    }
  }

  const double* others(Size place, Size stride) const { return others_.data() + place * stride; }
  const double* total(Size place, Size stride) const { return total_.data() + place % rows_.folds * stride; }

 private:
  const FoldRows& rows_;
  std::vector<std::int32_t> cell_, place_, number_;
  std::vector<Size> cell_of_;
  std::vector<double> others_, total_;
  Size places_ = 0;
};

// Sets of columns with what is found of them: P(level | class) `theta` of levels that stand at `offset`.
struct TableSet {
  const std::int64_t *offset, *own;
  Size size;
  double few() const { return 2.0 * static_cast<double>(size - 1); }  // pseudo-rows
};

// (Σ_i mass_i (g_i,y − Σ_c p_ic g_ic), Σ_i mass_i Var_p(g_i)): slope and curvature of the log likelihood at weight 0 of the
// evidence g of a set of columns.
struct Gain {
  double slope = 0, bend = 0;
};

// Evidence of two classes is (g, −g): mass_i g ([y = 0] − [y = 1] − (p_i0 − p_i1)) and mass_i g² ((p_i0 + p_i1) − (p_i0 − p_i1)²)
// are added by place before g is known.
class TwoClassGains {
 public:
  TwoClassGains(const FoldRows& rows, Size n, const double* theta) : n_(n), theta_(theta), most_(all(rows.most)), own_(4 * n) {
    for (Size r = 0; r < n; ++r) {
      const double *p = rows.p + 2 * r, w = rows.w[r], mass = rows.mass[r], apart = p[0] - p[1];
      const bool first = rows.y[r] == 0;
      four_at(own_, r) = Four{first ? w : 0.0, first ? 0.0 : w, mass * ((first ? 1.0 : -1.0) - apart), mass * (p[0] + p[1] - apart * apart)};
    }
  }

  Gain operator()(HeldOutTable& table, const TableSet& set) {
    sums_.assign(4 * table.places(), 0.0);
    const auto& place = table.place();
    for (Size r = 0; r < n_; ++r)
      if (place[r] >= 0) four_at(sums_, place[r]) += four_at(own_, r);
    table.leave_folds_out(sums_.data(), 4);
    Gain out;
    vec ratio[2]{}, first{}, second{};
    Size lane = 0;
    const auto add = [&] {
      vec g = (within(log_of(ratio[0])) - within(log_of(ratio[1]))) * 0.5;
      for (Size i = 0; i < lane; ++i) out.slope += first[i] * g[i], out.bend += second[i] * g[i] * g[i];
      lane = 0;
    };
    shares_.resize(set.size);
    for (Size at = 0; at < table.places(); ++at) {
      const double* sums = sums_.data() + 4 * at;
      if (sums[2] == 0 && sums[3] == 0) continue;  // such as of no rows
      table.find_shares(at, set.offset, theta_, set.own, set.size, 2, shares_.data());
      for (Size c = 0; c < 2; ++c) {
        double alone = 1;
        for (const double* share : shares_) alone *= share[c];
        ratio[c][lane] = set.size == 1 ? alone : (table.others(at, 4)[c] / alone + set.few()) / (table.total(at, 4)[c] + set.few());
      }
      first[lane] = sums[2], second[lane] = sums[3];
      if (++lane == lanes) add();
    }
    add();
    return out;
  }

 private:
  typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));
  static Four& four_at(std::vector<double>& numbers, Size i) { return *reinterpret_cast<Four*>(numbers.data() + 4 * i); }
  vec within(vec e) const { return e > most_ ? most_ : larger(e, -most_); }

  Size n_;
  const double* theta_;
  vec most_;
  std::vector<double> own_, sums_;
  std::vector<const double*> shares_;
};

// Of several classes, in whole vectors of them: those that are none have p = 0, theta = 1 and no rows, and so evidence 0.
class GainsOfClasses {
 public:
  GainsOfClasses(const FoldRows& rows, Size n, const double* theta, Size levels)
      : rows_(rows), n_(n), stride_((rows.k + lanes - 1) / lanes * lanes), p_(padded(rows.p, n, 0.0)), theta_(padded(theta, levels, 1.0)) {}

  Gain operator()(HeldOutTable& table, const TableSet& set) {
    const auto& place = table.place();
    counts_.assign(table.places() * stride_, 0.0);
    for (Size r = 0; r < n_; ++r)
      if (place[r] >= 0) counts_[place[r] * stride_ + rows_.y[r]] += rows_.w[r];
    table.leave_folds_out(counts_.data(), stride_);
    known_.assign(table.places(), false);
    evidence_.resize(table.places() * stride_);
    shares_.resize(set.size);
    Gain out;
    for (Size r = 0; r < n_; ++r) {
      if (place[r] < 0) continue;
      double* g = evidence_.data() + place[r] * stride_;
      if (!known_[place[r]]) find_evidence(table, set, place[r], g);
      const double* p = p_.data() + r * stride_;
      vec means{}, squares{};
      for (Size c = 0; c < stride_; c += lanes) {
        const vec some = load(g + c), each = load(p + c) * some;
        means += each, squares += each * some;
      }
      const double mean = sum(means), square = sum(squares);
      out.slope += rows_.mass[r] * (g[rows_.y[r]] - mean);
      out.bend += rows_.mass[r] * (square - mean * mean);
    }
    return out;
  }

 private:
  void find_evidence(const HeldOutTable& table, const TableSet& set, Size place, double* g) {
    known_[place] = true;
    table.find_shares(place, set.offset, theta_.data(), set.own, set.size, stride_, shares_.data());
    const double *n = table.others(place, stride_), *whole = table.total(place, stride_);
    const vec few = all(set.few()), most = all(rows_.most);
    vec sums{};
    for (Size c = 0; c < stride_; c += lanes) {
      vec alone = load(shares_[0] + c);
      for (Size i = 1; i < set.size; ++i) alone *= load(shares_[i] + c);
      const vec e = log_of(set.size == 1 ? alone : (load(n + c) / alone + few) / (load(whole + c) + few));
      const vec within = e > most ? most : larger(e, -most);
      sums += within;
      store(g + c, within);
    }
    const vec mean = all(sum(sums) / static_cast<double>(rows_.k));
    for (Size c = 0; c < stride_; c += lanes) store(g + c, load(g + c) - mean);
  }

  std::vector<double> padded(const double* rows, Size n, double rest) const {
    std::vector<double> out(n * stride_, rest);
    for (Size r = 0; r < n; ++r) std::copy(rows + r * rows_.k, rows + (r + 1) * rows_.k, out.data() + r * stride_);
    return out;
  }

  static double sum(vec v) {
    double out = 0;
    for (Size i = 0; i < lanes; ++i) out += v[i];
    return out;
  }

  const FoldRows& rows_;
  Size n_, stride_;
  std::vector<double> p_, theta_, counts_, evidence_;
  std::vector<const double*> shares_;
  std::vector<char> known_;
};

// out[s] = the gain of each set of columns s, members[start[s]] … members[start[s + 1] − 1].
inline void table_gains(AnyCodes x, const FoldRows& rows, const std::int64_t* offset, const double* theta, const std::int64_t* members,
                        const std::int64_t* start, Size sets, double* out) {
  const NearestRounding mode;
  HeldOutTable table(rows, x.n);
  const auto find = [&](auto gains) {
    for (Size s = 0; s < sets; ++s) {
      const TableSet set{offset, members + start[s], start[s + 1] - start[s]};
      table.find_places(x, set.offset, set.own, set.size);
      const Gain found = gains(table, set);
      out[2 * s] = found.slope, out[2 * s + 1] = found.bend;
    }
  };
  if (rows.k == 2)
    find(TwoClassGains(rows, x.n, theta));
  else
    find(GainsOfClasses(rows, x.n, theta, rows.folds * offset[rows.d]));
}

}  // namespace deciban
