// Where to cut ordered values into intervals that tell the classes apart, as `cuts.supervised` defines it.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>
#include "kernels/core/views.hpp"

namespace deciban {

// x log x, looked up where x is a whole number that was tabulated. It goes through memory, so that no sum is fused with
// a product: the same counts give the same bits as NumPy.
class Entropies {
 public:
  explicit Entropies(double most) : known_(static_cast<std::size_t>(std::min(most, 65536.0)) + 1) {
    for (std::size_t i = 2; i < known_.size(); ++i) known_[i] = static_cast<double>(i) * std::log(static_cast<double>(i));
  }
  double operator()(double x) {
    if (!(x > 0)) return 0;
    if (x < static_cast<double>(known_.size())) {
      const auto i = static_cast<std::size_t>(x);
      if (static_cast<double>(i) == x) return known_[i];
    }
    volatile double other = x * std::log(x);
    return other;
  }

 private:
  std::vector<double> known_;
};

struct Cutting {
  const double* counts;  // (k, m)
  Size k, m;
  Entropies& xlogx;
  std::vector<double> below;  // (m + 1, k): counts under each border

  Cutting(const double* counts, Size k, Size m, Entropies& xlogx) : counts(counts), k(k), m(m), xlogx(xlogx), below((m + 1) * k) {
    for (Size i = 0; i < m; ++i)
      for (Size c = 0; c < k; ++c) below[(i + 1) * k + c] = below[i * k + c] + counts[c * m + i];
  }

  // The cut of one part that gains most if it pays, else −1.
  Size best(Size start, Size stop) {
    if (stop - start < 2) return -1;
    const double *first = below.data() + start * k, *last = below.data() + stop * k;
    double least = 0, bits1 = 0, bits2 = 0;
    Size at = -1;
    for (Size i = start + 1; i < stop; ++i) {
      const double* here = below.data() + i * k;
      double n1 = 0, n2 = 0, sum1 = 0, sum2 = 0;
      for (Size c = 0; c < k; ++c) {
        const double left = here[c] - first[c], right = (last[c] - first[c]) - left;
        n1 += left, n2 += right;
        sum1 += xlogx(left), sum2 += xlogx(right);
      }
      const double each1 = xlogx(n1) - sum1, each2 = xlogx(n2) - sum2;
      if (at < 0 || each1 + each2 < least) least = each1 + each2, at = i, bits1 = each1, bits2 = each2;
    }
    return pays(first, below.data() + at * k, last, bits1 / std::log(2.0), bits2 / std::log(2.0)) ? at : -1;
  }

  bool pays(const double* first, const double* here, const double* last, double bits1, double bits2) {
    double n = 0, n1 = 0, n2 = 0, sum = 0;
    int all = 0, all1 = 0, all2 = 0;
    for (Size c = 0; c < k; ++c) {
      const double whole = last[c] - first[c], left = here[c] - first[c], right = whole - left;
      n += whole, n1 += left, n2 += right;
      sum += xlogx(whole);
      all += whole > 0, all1 += left > 0, all2 += right > 0;
    }
    if (n <= 2 || n1 <= 0 || n2 <= 0) return false;
    const double bits = (xlogx(n) - sum) / std::log(2.0);
    const double power = all > 30 ? all * std::log2(3.0) : std::log2(std::pow(3.0, all) - 2.0);
    const double price = power - (all * bits / n - all1 * bits1 / n1 - all2 * bits2 / n2);
    return bits - bits1 - bits2 > std::log2(std::max(n - 1, 1.0)) + price;
  }

  // first[i] = 1 where a cut precedes value i.
  void run(std::uint8_t* first) {
    std::vector<std::pair<Size, Size>> open{{0, m}};
    while (!open.empty()) {
      const auto [start, stop] = open.back();
      open.pop_back();
      const Size cut = best(start, stop);
      if (cut < 0) continue;
      first[cut] = 1;
      open.push_back({start, cut});
      open.push_back({cut, stop});
    }
  }
};

// first[t, i] = 1 where a cut of table t precedes value i, from counts (t, k, m); the others are left as they are.
inline void supervised_cuts(const double* counts, Size tables, Size k, Size m, std::uint8_t* first) {
  double most = 0;
  for (Size t = 0; t < tables; ++t) {
    double sum = 0;
    for (Size i = 0; i < k * m; ++i) sum += counts[t * k * m + i];
    most = std::max(most, sum);
  }
  Entropies xlogx(most);
  for (Size t = 0; t < tables; ++t) Cutting(counts + t * k * m, k, m, xlogx).run(first + t * m);
}

}  // namespace deciban
