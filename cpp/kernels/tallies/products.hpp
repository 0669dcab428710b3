// Per class Σ w x xᵀ without any rounding.
//
// As in `exact.hpp`, the cells of a column that lie in a window of exponents are cut into slices: x = a + b + c, and
// w x into six. Slices are whole numbers of at most 23 bits of units that follow from their column and number alone; the
// products of two of them are added in doubles for a batch of rows, then in 64-bit integers, and at last in limbs. What a
// window does not hold goes into the limbs product by product.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>
#include "kernels/tallies/exact.hpp"
#include "kernels/tallies/scatter.hpp"

namespace deciban {

constexpr int slice_bits = 23, slices_of_cells = 3, slices_of_weighted = 6;
constexpr int product_levels = slices_of_cells + slices_of_weighted - 1;
constexpr int half_window = slice_bits - 1;  // |x| ≤ 2^top are at most 2^22 units of the first slice

// Columns i ≤ j, row after row.
inline Size pairs_of(Size d) { return d * (d + 1) / 2; }
inline Size pair_at(Size i, Size j, Size d) { return i * d - i * (i - 1) / 2 + (j - i); }

typedef long long loose_units __attribute__((vector_size(8 * lanes), aligned(8), may_alias));  // at any address

// q[i, j] += Σ_p Σ_r left[p][r, i] right[p][r, j]  for the 4 rows of q from i and the `wide` vectors of columns from j
template <int wide>
inline void product_tile(const double* const* left, const double* const* right, int factors, Size count, Size ld, Size i, Size j, Limb* q) {
  vec acc[4][wide] = {};
  for (int p = 0; p < factors; ++p)
    for (Size r = 0; r < count; ++r) {
      const double *a = left[p] + r * ld, *b = right[p] + r * ld;
      vec cells[wide];
      for (int v = 0; v < wide; ++v) cells[v] = load(b + j + v * lanes);
      for (int u = 0; u < 4; ++u) {
        const vec own = all(a[i + u]);
        for (int v = 0; v < wide; ++v) acc[u][v] += own * cells[v];
      }
    }
  for (int u = 0; u < 4; ++u)
    for (int v = 0; v < wide; ++v) {
      loose_units* to = reinterpret_cast<loose_units*>(q + (i + u) * ld + j + v * lanes);
      *to += __builtin_convertvector(acc[u][v], ivec);
    }
}

// The upper triangle, tile by tile.
inline void product_add(const double* const* left, const double* const* right, int factors, Size count, Size ld, Limb* q) {
  for (Size i = 0; i < ld; i += 4) {
    constexpr int widest = registers / 8;
    Size j = i / lanes * lanes;
    for (; j + widest * lanes <= ld; j += widest * lanes) product_tile<widest>(left, right, factors, count, ld, i, j, q);
    for (; j < ld; j += lanes) product_tile<1>(left, right, factors, count, ld, i, j, q);
  }
}

struct ProductTotals {
  ChunkTable products;
  bool finite = true;

  ProductTotals(Size k, Size d) : products(k, pairs_of(d)) {}

  // One product w x y, in integers.
  void add(Size c, Size pair, const Parts& x, const Parts& y, const Parts& w) {
    const bool minus = ((x.m < 0) != (y.m < 0)) != (w.m < 0);
    const auto size = [](const Parts& v) { return static_cast<Word64>(v.m < 0 ? -v.m : v.m); };
    const Wide xy = static_cast<Wide>(size(x)) * size(y);
    const Wide lower = static_cast<Wide>(static_cast<Word64>(xy)) * size(w);
    const Wide upper = static_cast<Wide>(static_cast<Word64>(xy >> 64)) * size(w) + (lower >> 64);
    products.block(pair).add(products.cell(c, pair), {static_cast<Word64>(lower), static_cast<Word64>(upper), static_cast<Word64>(upper >> 64)},
                             minus, Limb{x.power} + y.power + w.power);
  }
};

// The rows of one class wait until there are many; q has the products in units, a matrix for each level.
struct WaitingProducts {
  Size count = 0, batches = 0;
  double *cells, *weights;
  Limb* q;
};

class ProductPass {
  const Size d_, ld_;
  const bool weighted_;
  const int levels_, top_weight_;  // weights are below 2^top_weight
  const Size rows_;                // that wait: of so many, no sum of products exceeds 2^53 units
  std::vector<int> top_;           // of the window of each column
  Scratch scale_, slices_;
  std::vector<Size> odd_;
  std::vector<char> is_odd_;
  std::vector<Parts> parts_;
  ProductTotals& totals_;

 public:
  ProductPass(ProductTotals& totals, AnyRows& x, Labels rows)
      : d_(x.d), ld_((x.d + 7) / 8 * 8), weighted_(rows.w != nullptr),
        levels_(weighted_ ? product_levels : 2 * slices_of_cells - 1), top_weight_(weighted_ ? top_weight(x, rows) : 0),
        rows_(weighted_ ? packed_rows / 2 : packed_rows), scale_(ld_),
        slices_((slices_of_cells + (weighted_ ? slices_of_weighted : 0)) * rows_ * ld_), is_odd_(static_cast<std::size_t>(d_)),
        totals_(totals) {
    // Windows are chosen from some of the rows.
    const Size looked = x.n == 0 ? 0 : std::min(x.n, std::clamp<Size>(x.n / 8, 16, Exponents::most));
    for (Size j = 0; j < d_; ++j) {
      Exponents seen;
      for (Size s = 0; s < looked; ++s) seen.see(x.cell(s * x.n / looked, j));
      top_.push_back(std::clamp(choose(seen), -900, 900));
      scale_.data()[j] = power_of_two(half_window - top_.back());
    }
  }

  Size cells_of_class() const { return rows_ * (ld_ + 1) + levels_ * ld_ * ld_; }
  Size rows() const { return rows_; }
  Size ld() const { return ld_; }
  Size size_of_levels() const { return levels_ * ld_ * ld_; }

  void add(WaitingProducts& to, Size c, const double* row, double w) {
    std::copy_n(row, d_, to.cells + to.count * ld_);
    to.weights[to.count] = w;
    if (++to.count == rows_) settle(to, c);
  }

  // After it nothing of the class is left but in the totals.
  void close(WaitingProducts& from, Size c) {
    settle(from, c);
    fold(from, c);
  }

 private:
  static int choose(const Exponents& seen) {
    constexpr int span = half_window + 2 * slice_bits;
    if (seen.count == 0) return 10;
    const int top = seen.high + std::max(2, (half_window - (seen.high - seen.least)) / 2);
    return seen.least >= top - span ? top : seen.best(span, 0);
  }

  static int top_weight(const AnyRows& x, Labels rows) {
    double most = 0;
    for (Size i = 0; i < x.n; ++i)
      if (rows.w[i] - rows.w[i] == 0) most = std::max(most, rows.w[i]);
    int e = 0;
    std::frexp(most, &e);
    return e;
  }

  // The integer next to x, which is then what is left, in units of the next slice.
  static vec cut(vec& x) {
    const vec magic = all(0x1.8p52), near = (x + magic) - magic;
    x = (x - near) * all(power_of_two(slice_bits));
    return near;
  }

  // What the rows that wait add to q: every product of two slices, and the odd cells' own to the totals.
  void settle(WaitingProducts& from, Size c) {
    if (from.count == 0) return;
    const Size size = rows_ * ld_;
    double* own = slices_.data();
    double* whole = weighted_ ? own + slices_of_cells * size : own;
    int used_cells = 1, used_whole = 1;
    for (Size r = 0; r < from.count; ++r) {
      const double w = from.weights[r], share = weighted_ ? std::ldexp(w, -top_weight_) : 1.0;
      const bool far = share < 0x1p-200;  // whose products would lose bits
      odd_.clear();
      for (Size j = 0; j < ld_; j += lanes) {
        const vec x = load(from.cells + r * ld_ + j), scaled = x * load(scale_.data() + j);
        vec left = scaled, part[slices_of_cells + slices_of_weighted];
        for (int s = 0; s < slices_of_cells; ++s) part[s] = cut(left);
        ivec fits = (left == all(0.0)) & (magnitude(scaled) <= all(power_of_two(half_window)));
        fits &= (magnitude(scaled) >= all(power_of_two(-2 * slice_bits))) | (x == all(0.0));  // scaling may have rounded
        if (weighted_) {
          vec p = rounded(scaled * all(share)), e = rest_of_product(scaled, all(share), p);
          for (int s = 0; s < slices_of_weighted; ++s) {
            const vec first = cut(p);
            part[slices_of_cells + s] = first + cut(e);
          }
          fits &= (p == all(0.0)) & (e == all(0.0));
          if (far) fits = x == all(0.0);
        }
        if (any(~fits))
          for (Size l = 0; l < lanes; ++l)
            if (!fits[l]) odd_.push_back(j + l);
        const int slices = weighted_ ? slices_of_cells + slices_of_weighted : slices_of_cells;
        for (int s = 0; s < slices; ++s) {
          part[s] = (vec)((ivec)part[s] & fits);
          store(own + s * size + r * ld_ + j, part[s]);
        }
        for (int last = slices_of_cells; last > used_cells; --last)
          if (any((ivec)part[last - 1])) used_cells = last;
        for (int last = slices_of_weighted; weighted_ && last > used_whole; --last)
          if (any((ivec)part[slices_of_cells + last - 1])) used_whole = last;
      }
      if (!odd_.empty()) add_odd(from.cells + r * ld_, w, c);
    }
    if (!weighted_) used_whole = used_cells;
    for (int level = 0; level < used_whole + used_cells - 1; ++level) {
      const double *left[slices_of_cells], *right[slices_of_cells];
      int factors = 0;
      for (int s = std::max(0, level - used_cells + 1); s <= std::min(level, used_whole - 1); ++s)
        left[factors] = whole + s * size, right[factors++] = own + (level - s) * size;
      product_add(left, right, factors, from.count, ld_, from.q + level * ld_ * ld_);
    }
    from.count = 0;
    if (++from.batches == 500) fold(from, c);  // of 2^53 units each at most
  }

  // Products of odd cells with all cells of their row.
  void add_odd(const double* row, double w, Size c) {
    for (const Size i : odd_)
      if (!(row[i] - row[i] == 0)) totals_.finite = false;
    if (!totals_.finite) return;
    parts_.clear();
    for (Size j = 0; j < d_; ++j) parts_.emplace_back(row[j]);
    for (const Size i : odd_) is_odd_[i] = 1;
    const Parts weight(w);
    for (const Size i : odd_)
      for (Size j = 0; j < d_; ++j)
        if (row[j] != 0 && !(is_odd_[j] && j < i)) totals_.add(c, pair_at(std::min(i, j), std::max(i, j), d_), parts_[i], parts_[j], weight);
    for (const Size i : odd_) is_odd_[i] = 0;
  }

  void fold(WaitingProducts& from, Size c) {
    if (from.batches == 0) return;
    Size pair = 0;
    for (Size i = 0; i < d_; ++i)
      for (Size j = i; j < d_; ++j, ++pair)
        for (int level = 0; level < levels_; ++level)
          totals_.products.block(pair).add(totals_.products.cell(c, pair), from.q[(level * ld_ + i) * ld_ + j],
                                           Limb{top_[i]} + top_[j] + top_weight_ - 2 * half_window - slice_bits * level);
    std::fill_n(from.q, size_of_levels(), 0);
    from.batches = 0;
  }
};

constexpr Size all_waiting = Size{1} << 22;  // numbers that rows of all classes may take while they wait

// Rows are taken in their order where those of all classes can wait, else class after class.
inline bool exact_products(AnyRows& x, Labels rows, Size k, ProductTotals& totals) {
  ProductPass pass(totals, x, rows);
  const bool together = k * pass.cells_of_class() <= all_waiting;
  const Size held = together ? k : 1;
  Scratch cells(held * pass.rows() * pass.ld()), weights(held * pass.rows());
  std::vector<Limb> levels(static_cast<std::size_t>(held * pass.size_of_levels()), 0);
  std::vector<WaitingProducts> waiting;
  for (Size c = 0; c < held; ++c)
    waiting.push_back({0, 0, cells.data() + c * pass.rows() * pass.ld(), weights.data() + c * pass.rows(), levels.data() + c * pass.size_of_levels()});
  const auto take = [&](WaitingProducts& to, Size i, const double* row) {
    const double w = rows.weight(i);
    if (!(w - w == 0)) totals.finite = false;
    else if (w != 0) pass.add(to, rows.y[i], row, w);
  };
  Size stride;
  if (together) {
    for (Size start = 0; start < x.n; start += x.rows) {
      const Size count = std::min(x.n - start, x.rows);
      const double* block = x.at(start, count, stride);
      for (Size i = 0; i < count; ++i) take(waiting[rows.y[start + i]], start + i, block + i * stride);
    }
    for (Size c = 0; c < k; ++c) pass.close(waiting[c], c);
  } else {
    const ByClass classes(rows.y, x.n, k);
    for (Size c = 0; c < k; ++c) {
      for (Size o = classes.start[c]; o < classes.start[c + 1]; ++o) take(waiting[0], classes.order[o], x.at(classes.order[o], 1, stride));
      pass.close(waiting[0], c);
    }
  }
  return totals.finite;
}

template <class X>
__attribute__((noinline)) bool exact_products(const X& x, Labels rows, Size k, LimbTable& out) {
  const NearestRounding nearest_rounding;
  RowsOf<X> blocks(x);
  ProductTotals totals(k, x.d);
  const bool finite = exact_products(blocks, rows, k, totals);
  out.k = k, out.d = pairs_of(x.d);
  totals.products.append_to(out);
  return finite;
}

}  // namespace deciban
