// Per class n, Σ w x and Σ w x² without any rounding.
//
// Cells of a column that lie in a window of exponents are cut into slices on a grid of powers of two. Slices, and products
// of two of them, are whole numbers of a unit that add up in doubles or in 64-bit integers without rounding. After every
// batch of rows a check says whether all of its cells were in the window; if not, nothing was added, and what does not
// fit goes to another window or, cell by cell, into integers of any length. Each of these ways is exact, so which of them a
// cell takes is not seen in the sum.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>
#include "kernels/core/arithmetic.hpp"
#include "kernels/core/row_blocks.hpp"
#include "kernels/tallies/limbs.hpp"

namespace deciban {

constexpr Size batch_rows = 16;   // of one class that are added at once
constexpr Size carry_rows = 64;   // whose slices a double holds without rounding
constexpr Size ahead_doubles = 8192;  // doubles ahead that memory is asked for
constexpr Size rows_ahead = 4;         // sparse rows of one class ahead that memory is asked for

// f of a cell: itself, or what weight it has above a threshold; NaN and ±∞ stay what they are.
struct Itself {
  static constexpr bool weighs = true;  // that Σ w f is asked for
  vec operator()(vec x, vec) const { return x; }
  double operator()(double x, double) const { return x; }
};
struct WeightAbove {
  static constexpr bool weighs = false;  // f has the weight already
  double threshold;
  vec operator()(vec x, vec w) const { return x - x == all(0.0) ? (x > all(threshold) ? w : all(0.0)) : x; }
  double operator()(double x, double w) const { return x - x == 0.0 ? (x > threshold ? w : 0.0) : x; }
};

// What all windows add to; made at the end into tables of limbs.
struct ExactTotals {
  ChunkTable n, gap, s1, s2;  // gap: the weight of missing cells
  bool squares, finite = true;

  ExactTotals(Size k, Size d, bool squares_) : n(k, 1), gap(k, d), s1(k, d), s2(k, squares_ ? d : 0), squares(squares_) {}

  // Appends to tables of n (where `classes`), missing weight, Σ w x and Σ w x²; whether all was finite.
  bool into(LimbTable (&out)[4], bool classes) const {
    if (classes) n.append_to(out[0]);
    gap.append_to(out[1]);
    s1.append_to(out[2]);
    if (squares) s2.append_to(out[3]);
    return finite;
  }

  // One cell, in integers.
  [[gnu::noinline]] void cell(Size c, Size j, double x, double w) {
    const Parts a(x), b(w);
    const Size at = s1.cell(c, j);
    const bool minus = (a.m < 0) != (b.m < 0);
    const Word64 x1 = static_cast<Word64>(a.m < 0 ? -a.m : a.m), w1 = static_cast<Word64>(b.m < 0 ? -b.m : b.m);
    if (w == 1.0) {
      s1.block(j).add(at, a.m, a.power);
      const Wide xx = static_cast<Wide>(x1) * x1;
      if (squares) s2.block(j).add(at, {static_cast<Word64>(xx), static_cast<Word64>(xx >> 64), 0}, false, 2 * a.power);
      return;
    }
    const Wide wx = static_cast<Wide>(x1) * w1;
    s1.block(j).add(at, {static_cast<Word64>(wx), static_cast<Word64>(wx >> 64), 0}, minus, a.power + b.power);
    if (!squares) return;
    const Wide lower = static_cast<Wide>(static_cast<Word64>(wx)) * x1;
    const Wide upper = static_cast<Wide>(static_cast<Word64>(wx >> 64)) * x1 + (lower >> 64);
    s2.block(j).add(at, {static_cast<Word64>(lower), static_cast<Word64>(upper), static_cast<Word64>(upper >> 64)}, b.m < 0,
                    2 * a.power + b.power);
  }
};

// The exponents of the cells of a column that were looked at: |x| < 2^e, and x is a multiple of 2^last.
struct Exponents {
  static constexpr Size most = 128;
  int e[most], last[most];
  int count = 0, high = -2000, low = 2000, least = 2000;  // the largest and smallest e, the smallest last

  [[gnu::noinline]] void see(double x) {
    const Parts parts(x);
    if (parts.m == 0 || !(x - x == 0)) return;
    const Word64 size = static_cast<Word64>(parts.m < 0 ? -parts.m : parts.m);
    e[count] = parts.power + 64 - __builtin_clzll(size);
    last[count] = parts.power + __builtin_ctzll(size);
    high = std::max(high, e[count]), low = std::min(low, e[count]), least = std::min(least, last[count]);
    ++count;
  }

  // The top that leaves the fewest outside, where a cell fits `top` if e ≤ top and last ≥ top − span (or e > top − range).
  [[gnu::noinline]] int best(int span, int range) const {
    int out = high, found = -1;
    for (int i = 0; i < count; ++i) {
      int inside = 0;
      for (int l = 0; l < count; ++l) inside += e[l] <= e[i] && (last[l] >= e[i] - span || e[l] > e[i] - range);
      if (inside > found || (inside == found && e[i] > out)) found = inside, out = e[i];
    }
    return out;
  }
};

// Σx: two bins of 50 bits, each added as the bits of x + M, which are consecutive integers within a binade.
struct PlainSums {
  static constexpr int modes = 2, levels = 1, step = 0;
  static constexpr bool weighted = false, pairs = false, thresholds = true;

  struct alignas(64) Window {
    vec m0, m1, most;
    int top[lanes];
    void set(Size l, int t, int) {
      top[l] = t;
      m0[l] = 1.5 * power_of_two(t + 3), m1[l] = 1.5 * power_of_two(t - 47), most[l] = power_of_two(t);
    }
    static int lowest(int) { return -974; }  // m1 is a normal number, and its unit 2^-1073 …
    static int highest(int) { return 1000; }
    static int choose(const Exponents& seen) {
      if (seen.count == 0) return 10;
      const int few = seen.least + 45;  // then the first bin holds the column
      return few >= seen.high + 2 ? few : seen.high + 2 - 97 <= seen.least ? seen.high + 2 : seen.best(99, 0);
    }
    ivec fits(vec x) const {
      const vec r = x - ((x + m0) - m0);
      return (((r + m1) - m1) == r) & (magnitude(x) <= most);
    }
  };

  struct alignas(64) Slots {
    uvec bin[2];
    Size rows[2];
    bool used;
    bool full() const { return rows[0] > 2000; }
    void carry(const Window&) {}
  };

  template <int mode, class F>
  static __attribute__((noinline)) bool batch(const double* const* row, const double* weight, Size count, Size off, F f,
                                              const Window& w, Slots& out, const double* next) {
    uvec first = out.bin[0], second = out.bin[1];
    ivec lost{};
    const vec m0 = w.m0, m1 = w.m1;
    vec high = all(0.0);
    for (Size i = 0; i < count; ++i) {
      const vec x = f(load(row[i] + off), all(weight[i]));
      if (i * lanes % 8 == 0) __builtin_prefetch(next + lanes * i, 0, 2);
      const vec t = x + m0, r = x - (t - m0);
      first += (uvec)t;
      high = larger(magnitude(x), high);
      if constexpr (mode == 1) {
        lost |= (ivec)r;
      } else {
        const vec s = r + m1;
        second += (uvec)s;
        lost |= (ivec)((s - m1) - r);
      }
    }
    if (any((ivec)magnitude((vec)lost) | ~(ivec)(high <= w.most))) return false;  // a rest of −0 is none
    out.bin[0] = first;
    out.rows[0] += count;
    if (mode == 2) out.bin[1] = second, out.rows[1] += count;
    out.used = true;
    return true;
  }

  static void fold(const Slots& s, const Window& w, Size l, ExactTotals& totals, Size c, Size j) {
    Chunks& to = totals.s1.block(j);
    const Size at = totals.s1.cell(c, j);
    const ivec a = (ivec)(s.bin[0] - (uvec)w.m0 * static_cast<unsigned long long>(s.rows[0]));
    const ivec b = (ivec)(s.bin[1] - (uvec)w.m1 * static_cast<unsigned long long>(s.rows[1]));
    to.add(at, a[l], w.top[l] - 49);
    to.add(at, b[l], w.top[l] - 99);
  }
};

// Σx and Σx²: x = a + b + c of 24 bits each; sums of slices and of products of slices are exact in doubles.
struct Squares {
  static constexpr int modes = 4, levels = 4, step = 19, slice = 24;
  static constexpr bool weighted = false, pairs = true, thresholds = false;

  // |x| ≤ 2^top, x a multiple of 2^(top − 71)
  struct alignas(64) Window {
    vec m1, m2, m3;  // 1.5 · 2^52 · u_i
    vec least;       // 2^(top − 19): from there on every double is a multiple of u3
    vec limit;       // 2^52 u1²
    vec unit[7];     // of f[0] … f[6]
    vec most;        // 2^top
    int top[lanes];
    void set(Size l, int t, int) {
      top[l] = t;
      const int u = t - (slice - 1);
      m1[l] = 1.5 * power_of_two(52 + u), m2[l] = 1.5 * power_of_two(52 + u - slice), m3[l] = 1.5 * power_of_two(52 + u - 2 * slice);
      most[l] = power_of_two(t), least[l] = power_of_two(t - 19), limit[l] = power_of_two(52 + 2 * u);
      for (int i = 0; i < 7; ++i) unit[i][l] = power_of_two(exponent(i, t));
    }
    // of the unit of f[i]
    static int exponent(int i, int t) {
      constexpr int scale[] = {0, 1, 2, 2, 3, 4};
      const int u = t - (slice - 1);
      return i < 6 ? 2 * u - slice * scale[i] : u - 2 * slice;
    }
    static int lowest(int) { return -440; }
    static int highest(int) { return 480; }
    static int choose(const Exponents& seen) {
      if (seen.count == 0) return 10;
      const int bits = seen.high - seen.least, top = seen.high + std::max(2, (23 - bits) / 2);
      return seen.least >= top - 71 ? top : seen.best(71, 0);
    }
    ivec fits(vec x) const {
      const vec r = x - ((x + m1) - m1), s = r - ((r + m2) - m2);
      return (((s + m3) - m3) == s) & (magnitude(x) <= most);
    }
  };

  struct alignas(64) Slots {
    vec f[7];   // Σa², Σab, Σb², Σac, Σbc, Σc², Σ(b + c)
    uvec a;     // Σ of the bits of a + m1
    ivec q[8];  // what was carried, in units
    Size rows, carries;
    bool used;
    bool full() const { return carries >= 500; }  // 2^53 units each at most, and twice that where a carry came early

    void carry(const Window& w) {
      for (int i = 0; i < 7; ++i) {  // |f| ≤ 2^53 units, in two steps
        const vec m = w.unit[i] * 0x1.8p52, far = m * 256.0;
        const vec t = f[i] + far, rest = f[i] - (t - far);
        q[i] += (((ivec)t - (ivec)far) << 8) + ((ivec)(rest + m) - (ivec)m);
        f[i] = vec{};
      }
      q[7] += (ivec)(a - (uvec)w.m1 * static_cast<unsigned long long>(rows));
      a = uvec{}, rows = 0, ++carries;
    }
  };

  template <int mode, class F>
  static __attribute__((noinline)) bool batch(const double* const* row, const double*, Size count, Size off, F,
                                              const Window& w, Slots& out, const double* next) {
    if (out.rows + count > carry_rows) out.carry(w);
    constexpr int slices = mode < 3 ? mode : 3;
    vec aa = out.f[0], ab = out.f[1], bb = out.f[2], ac = out.f[3], bc = out.f[4], cc = out.f[5], rest = out.f[6];
    uvec sa = out.a;
    ivec lost{};
    const vec m1 = w.m1, m2 = w.m2, m3 = w.m3;
    [[maybe_unused]] vec least = all(__builtin_inf());
#pragma GCC unroll 2
    for (Size i = 0; i < count; ++i) {
      const vec x = load(row[i] + off);
      if (i * lanes % 8 == 0) __builtin_prefetch(next + lanes * i, 0, 2);
      const vec t1 = x + m1, a = t1 - m1, r = x - a;
      sa += (uvec)t1;
      aa += a * a;
      if constexpr (slices == 1) lost |= (ivec)r;
      if constexpr (slices == 2) {
        rest += r;
        lost |= (ivec)((((r + m2) - m2)) - r);
        ab += a * r, bb += r * r;
      }
      if constexpr (slices == 3) {
        const vec b = (r + m2) - m2, s = r - b;
        rest += r;
        ab += a * b, bb += b * b;
        ac += a * s, bc += b * s, cc += s * s;
        if constexpr (mode == 3) {
#if defined(__AVX512DQ__)
          least = (vec)_mm512_range_pd((__m512d)x, (__m512d)least, 2 | 8);  // the smaller magnitude, positive
#else
          const vec size = magnitude(x);
          least = size < least ? size : least;
#endif
        } else {
          lost |= (ivec)(((s + m3) - m3) - s);
        }
      }
    }
    lost = (ivec)magnitude((vec)lost);  // a rest of −0 is none
    if constexpr (mode == 3) lost |= ~(ivec)(least >= w.least);
    if (any(lost | ~(ivec)(aa <= w.limit))) return false;
    out.f[0] = aa, out.a = sa;
    if constexpr (slices >= 2) out.f[1] = ab, out.f[2] = bb, out.f[6] = rest;
    if constexpr (slices >= 3) out.f[3] = ac, out.f[4] = bc, out.f[5] = cc;
    out.rows += count, out.used = true;
    return true;
  }

  // `batch<1>` of two vectors of columns at once; false: nothing was added to either.
  static __attribute__((noinline)) bool both(const double* const* row, Size count, Size first, Size second, const Window& w, const Window& v,
                                             Slots& out, Slots& more, const double* next) {
    if (out.rows + count > carry_rows) out.carry(w);
    if (more.rows + count > carry_rows) more.carry(v);
    vec aa = out.f[0], bb = more.f[0];
    uvec sa = out.a, sb = more.a;
    ivec lost{}, missed{};
    const vec m = w.m1, k = v.m1;
#pragma GCC unroll 2
    for (Size i = 0; i < count; ++i) {
      const vec x = load(row[i] + first), y = load(row[i] + second);
      for (Size line = 0; line < 2 * lanes; line += 8) __builtin_prefetch(next + 2 * lanes * i + line, 0, 2);
      const vec t = x + m, a = t - m, u = y + k, b = u - k;
      sa += (uvec)t, sb += (uvec)u;
      aa += a * a, bb += b * b;
      lost |= (ivec)(x - a), missed |= (ivec)(y - b);
    }
    lost = (ivec)magnitude((vec)(lost | missed));
    if (any(lost | ~(ivec)(aa <= w.limit) | ~(ivec)(bb <= v.limit))) return false;
    out.f[0] = aa, out.a = sa, out.rows += count, out.used = true;
    more.f[0] = bb, more.a = sb, more.rows += count, more.used = true;
    return true;
  }

  // After a carry.
  static void fold(const Slots& s, const Window& w, Size l, ExactTotals& totals, Size c, Size j) {
    const Size at = totals.s1.cell(c, j);
    const int t = w.top[l];
    totals.s1.block(j).add(at, s.q[7][l], t - (slice - 1));
    totals.s1.block(j).add(at, s.q[6][l], Window::exponent(6, t));
    constexpr int twice[] = {0, 1, 0, 1, 1, 0};
    for (int i = 0; i < 6; ++i) totals.s2.block(j).add(at, s.q[i][l], Window::exponent(i, t) + twice[i]);
  }
};

// Σwx, and Σwx² where asked for. Weights are of 2^(scale − 9) … 2^scale, cells of 2^(top − 17) … 2^top or 0.
// w x = p + e, (p + e) x = p1 + e1 + p2 + e2, all exact; each goes into bins of 50 bits, added as the bits of x + M.
// With z = 2^(scale + top): p is a multiple of 2^-78 z and |e| ≤ 2^-53 z one of 2^-130 z. With y = 2^top z: p1 is a multiple of
// 2^-95 y, |e1| ≤ 2^-53 y one of 2^-147 y, |p2| ≤ 2^-53 y and |e2| ≤ 2^-106 y are of 2^-199 y. A rest of one bin is hardly more
// than half a unit of it, so no bin is asked to hold more than 2^51 units.
template <bool with_squares>
struct WeightedSums {
  static constexpr int modes = 1, levels = 4, step = 17;
  static constexpr bool weighted = true, pairs = false, thresholds = false;

  struct alignas(64) Window {
    vec z0, z1, z2, y0, y1, y2, y3, most;
    vec z01, y01;  // z0 + z1 and y0 + y1, which doubles hold
    uvec least;  // of `keys`
    int top[lanes], z[lanes], y[lanes];
    static uvec keys(vec x) { return (uvec)magnitude(x) - 1; }  // the largest is that of 0
    // Upper halves decide, so that one instruction of AVX2 finds the largest and the smallest.
    ivec holds(uvec low, uvec high) const { return (low >> 32 >= least >> 32) & (high >> 32 <= (uvec)most >> 32); }
    ivec fits(vec x) const { return holds(keys(x), (uvec)magnitude(x)); }
    void set(Size l, int t, int scale) {
      top[l] = t, z[l] = scale + t, y[l] = scale + 2 * t;
      const auto magic = [](int unit) { return 1.5 * power_of_two(52 + unit); };
      z0[l] = magic(z[l] - 49), z1[l] = magic(z[l] - 99), z2[l] = magic(z[l] - 130);
      if (with_squares) y0[l] = magic(y[l] - 49), y1[l] = magic(y[l] - 99), y2[l] = magic(y[l] - 149), y3[l] = magic(y[l] - 199);
      z01[l] = z0[l] + z1[l];
      if (with_squares) y01[l] = y0[l] + y1[l];
      most[l] = power_of_two(t);
      least[l] = static_cast<Word64>(t - 17 + 1023) << 52;
    }
    // so that no bit of a rest is lost below 2^-1074, and nothing overflows
    static int lowest(int scale) {
      return with_squares ? std::max({-(860 + scale) / 2 + 1, -900 - scale, -980}) : std::max(-900 - scale, -980);
    }
    static int highest(int scale) {
      if (scale > 960) return -5000;  // products by parts would overflow
      return with_squares ? std::min({(960 - scale) / 2 - 1, 940 - scale, 940}) : std::min(940 - scale, 940);
    }
    static int choose(const Exponents& seen) {
      if (seen.count == 0) return 10;
      return seen.low > seen.high + 2 - 17 ? seen.high + 2 : seen.best(-5000, 17);
    }
  };

  struct alignas(64) Slots {
    uvec bin[with_squares ? 7 : 3];
    Size rows;
    bool used;
    bool full() const { return rows > 2000; }
    void carry(const Window&) {}
  };

  template <int, class F>
  static __attribute__((noinline)) bool batch(const double* const* row, const double* weight, Size count, Size off, F,
                                              const Window& w, Slots& out, const double* next) {
    uvec a0 = out.bin[0], a1 = out.bin[1], a2 = out.bin[2];
    [[maybe_unused]] uvec b0{}, b1{}, b2{}, b3{};
    if constexpr (with_squares) b0 = out.bin[3], b1 = out.bin[4], b2 = out.bin[5], b3 = out.bin[6];
    hvec high{}, low = hvec{} - 1;  // of bits: those of NaN are the largest
#pragma GCC unroll 2
    for (Size i = 0; i < count; ++i) {
      const vec x = load(row[i] + off), v = weight[i] - vec{};  // repeated; no subtraction is left
      if (i * lanes % 8 == 0) __builtin_prefetch(next + lanes * i, 0, 2);
      high = larger((hvec)magnitude(x), high), low = smaller((hvec)Window::keys(x), low);
      const vec p = rounded(v * x), e = rest_of_product(v, x, p);
      {
        const vec t = v * x + w.z0, u = p - (t - w.z01);  // z1 + p − (t − z0)
        a0 += (uvec)t;
        const vec s = u + e, rest = e - (s - u);
        a1 += (uvec)s;
        a2 += (uvec)(rest + w.z2);
      }
      if constexpr (with_squares) {
        const vec p1 = rounded(p * x), e1 = rest_of_product(p, x, p1);
        const vec p2 = rounded(e * x), e2 = rest_of_product(e, x, p2);
        const vec t = p * x + w.y0, u = p1 - (t - w.y01);
        b0 += (uvec)t;
        const vec s = u + e1, rest1 = e1 - (s - u);
        const vec s2 = s + p2, rest2 = p2 - (s2 - s);
        b1 += (uvec)s2;
        const vec c = rest1 + w.y2, d = c + rest2, rest3 = rest2 - (d - c);
        const vec d2 = d + e2, rest4 = e2 - (d2 - d);
        b2 += (uvec)d2;
        b3 += (uvec)((rest3 + w.y3) + rest4);
      }
    }
    if (any(~w.holds((uvec)low, (uvec)high))) return false;
    out.bin[0] = a0, out.bin[1] = a1, out.bin[2] = a2;
    if constexpr (with_squares) out.bin[3] = b0, out.bin[4] = b1, out.bin[5] = b2, out.bin[6] = b3;
    out.rows += count;
    out.used = true;
    return true;
  }

  static void fold(const Slots& s, const Window& w, Size l, ExactTotals& totals, Size c, Size j) {
    const Size at = totals.s1.cell(c, j);
    const auto rows = static_cast<unsigned long long>(s.rows);
    const auto put = [&](Chunks& to, int bin, vec magic, int power) {
      to.add(at, ((ivec)(s.bin[bin] - (uvec)magic * rows))[l], power);
    };
    Chunks& first = totals.s1.block(j);
    put(first, 0, w.z0, w.z[l] - 49), put(first, 1, w.z1, w.z[l] - 99), put(first, 2, w.z2, w.z[l] - 130);
    if constexpr (with_squares) {
      Chunks& second = totals.s2.block(j);
      put(second, 3, w.y0, w.y[l] - 49), put(second, 4, w.y1, w.y[l] - 99);
      put(second, 5, w.y2, w.y[l] - 149), put(second, 6, w.y3, w.y[l] - 199);
    }
  }
};

constexpr int weight_range = 9;  // powers of two that the weights of one pass cover

// Rows of one class that wait.
struct WaitingRows {
  const double* row[batch_rows];
  double weight[batch_rows];
  Limb units[batch_rows];  // the weight in units of 2^(scale − 61), or rows
  Size count = 0;
};

// Rows of weights between 2^(scale − 9) and 2^scale, or of weight 1 (scale 61: a unit is 1).
template <class Op>
class ExactPass {
  using Window = typename Op::Window;
  using Slots = typename Op::Slots;
  struct State {
    Size mode = 1, tries = 0, fails = 0, slow = 0;
    bool missing = false, levels = false;
  };
  struct Gaps {
    uvec low{}, high{};
  };

  ExactTotals& totals_;
  const double* const above_;  // null: of the cells themselves
  const Size k_, d_, vectors_;
  const int scale_;
  std::vector<Window> windows_;  // levels × vectors
  std::vector<State> states_;
  std::vector<Slots> slots_[Op::levels];
  std::vector<Gaps> gaps_;
  std::vector<WaitingRows> waiting_;
  std::vector<Word64> low_, high_;  // n of each class, in halves
  const double* ahead_ = nullptr;

 public:
  ExactPass(ExactTotals& totals, const double* above, Size k, Size d, int scale, const std::vector<int>& top)
      : totals_(totals), above_(above), k_(k), d_(d), vectors_((d + lanes - 1) / lanes), scale_(scale), windows_(vectors_), states_(vectors_),
        waiting_(k), low_(k, 0), high_(k, 0) {
    slots_[0].resize(static_cast<std::size_t>(k * vectors_));
    for (Size v = 0; v < vectors_; ++v) {
      for (Size l = 0; l < lanes; ++l) {
        const Size j = offset(v) + l;
        windows_[v].set(l, within(j < d ? top[j] : 10), scale_);
      }
      if (Window::lowest(scale_) > Window::highest(scale_)) states_[v].mode = Op::modes + 1;
    }
  }

  void add(Size c, const double* row, double w, Limb units) {
    low_[c] += static_cast<Word64>(units) & 0xFFFFFFFF, high_[c] += static_cast<Word64>(units >> 32);
    WaitingRows& queue = waiting_[c];
    queue.row[queue.count] = row, queue.weight[queue.count] = w, queue.units[queue.count] = units;
    if (++queue.count == batch_rows) serve(c, row);
  }

  // All rows that wait; after it their memory is not looked at.
  void serve() {
    for (Size c = 0; c < k_; ++c)
      if (waiting_[c].count > 0) serve(c, waiting_[c].row[0]);
  }

  [[gnu::noinline]] void finish() {
    serve();
    for (Size level = 0; level < Op::levels; ++level)
      for (Size c = 0; c < k_ && !slots_[level].empty(); ++c)
        for (Size v = 0; v < vectors_; ++v) fold(level, c, v);
    for (Size c = 0; c < k_; ++c) {
      totals_.n.block(0).add(c, static_cast<Limb>(low_[c]), scale_ - 61);
      totals_.n.block(0).add(c, static_cast<Limb>(high_[c]), scale_ - 61 + 32);
    }
    for (Size at = 0; at < static_cast<Size>(gaps_.size()); ++at)
      for (Size l = fresh(at % vectors_); l < lanes && offset(at % vectors_) + l < d_; ++l) {
        const Size c = at / vectors_, j = offset(at % vectors_) + l;
        totals_.gap.block(j).add(totals_.gap.cell(c, j), static_cast<Limb>(gaps_[at].low[l]), scale_ - 61);
        totals_.gap.block(j).add(totals_.gap.cell(c, j), static_cast<Limb>(gaps_[at].high[l]), scale_ - 61 + 32);
      }
  }

 private:
  // The last vector may overlap the one before it.
  Size offset(Size v) const { return d_ >= lanes ? std::min(v * lanes, d_ - lanes) : 0; }
  Size fresh(Size v) const { return v * lanes - offset(v); }
  int within(int top) const { return std::max(std::min(top, Window::highest(scale_)), Window::lowest(scale_)); }

  [[gnu::noinline]] void serve(Size c, const double* now) {
    WaitingRows& queue = waiting_[c];
    if (ahead_ < now + ahead_doubles / 2 || ahead_ > now + 2 * ahead_doubles) ahead_ = now + ahead_doubles;
    for (Size v = 0; v < vectors_; ++v) {
      if constexpr (Op::pairs && lanes == 4)  // of a cache line
        if (v + 1 < vectors_ && pair(c, v, queue)) {
          ahead_ += 2 * lanes * queue.count, ++v;
          continue;
        }
      dispatch(c, v, queue.row, queue.weight, queue.units, queue.count, offset(v));
      ahead_ += lanes * queue.count;
    }
    queue.count = 0;
  }

  // Vectors v and v + 1, where few bits are known to hold them; false: nothing was added.
  bool pair(Size c, Size v, const WaitingRows& queue) {
    State &state = states_[v], &other = states_[v + 1];
    if (state.mode != 1 || other.mode != 1 || state.missing || other.missing) return false;
    Slots* const slots = &slots_[0][static_cast<std::size_t>(c * vectors_ + v)];
    if (slots[0].full()) fold(0, c, v);
    if (slots[1].full()) fold(0, c, v + 1);
    return Op::both(queue.row, queue.count, offset(v), offset(v + 1), windows_[v], windows_[v + 1], slots[0], slots[1], ahead_);
  }

  void dispatch(Size c, Size v, const double* const* row, const double* weight, const Limb* units, Size count, Size off) {
    State& state = states_[v];
    const Window& w = windows_[v];
    Slots& s = slots_[0][static_cast<std::size_t>(c * vectors_ + v)];
    if (s.full()) fold(0, c, v);
    ++state.tries;
    if (state.missing || state.mode > Op::modes) return careful(c, v, row, weight, units, count, off);
    const Size mode = state.mode;
    if (run(mode, row, weight, count, off, above_, w, s)) return;
    s.carry(w);  // what failed may have been sums that were nearly full
    ++state.fails;
    for (Size next = mode; next <= Op::modes; ++next)
      if (run(next, row, weight, count, off, above_, w, s)) {
        if (next < 4 || 8 * state.fails > state.tries) state.mode = next;
        return;
      }
    careful(c, v, row, weight, units, count, off);
  }

  bool run(Size mode, const double* const* row, const double* weight, Size count, Size off, const double* above, const Window& w, Slots& s) {
    if constexpr (Op::thresholds)
      if (above) return run(mode, row, weight, count, off, WeightAbove{*above}, w, s);
    return run(mode, row, weight, count, off, Itself{}, w, s);
  }
  template <class F>
  bool run(Size mode, const double* const* row, const double* weight, Size count, Size off, F f, const Window& w, Slots& s) {
    switch (mode) {
      case 1: return Op::template batch<1>(row, weight, count, off, f, w, s, ahead_);
      case 2: if constexpr (Op::modes >= 2) return Op::template batch<2>(row, weight, count, off, f, w, s, ahead_); break;
      case 3: if constexpr (Op::modes >= 3) return Op::template batch<3>(row, weight, count, off, f, w, s, ahead_); break;
      case 4: if constexpr (Op::modes >= 4) return Op::template batch<4>(row, weight, count, off, f, w, s, ahead_); break;
    }
    return false;
  }

  // Some cell does not fit, or is missing: what fits goes into this window, the rest into the next, and at last cell by cell.
  __attribute__((noinline)) void careful(Size c, Size v, const double* const* row, const double* weight, const Limb* units, Size count,
                                         Size off) {
    const auto cell = [&](Size i) {
      const vec x = load(row[i] + off);
      return above_ ? WeightAbove{*above_}(x, all(weight[i])) : x;
    };
    alignas(64) double kept[batch_rows][lanes], rest[batch_rows][lanes];
    const double* kept_rows[batch_rows];
    State& state = states_[v];
    ivec missing{}, infinite{};
    for (Size i = 0; i < count; ++i) {
      kept_rows[i] = kept[i];
      const vec x = cell(i);
      const ivec none = x != x, far = magnitude(x) > all(1.7976931348623157e308);
      missing |= none, infinite |= far;
      store(rest[i], (vec)((ivec)x & ~(none | far)));
    }
    if (any(missing)) {
      state.missing = true;
      if (gaps_.empty()) gaps_.resize(static_cast<std::size_t>(k_ * vectors_));
      Gaps& gap = gaps_[static_cast<std::size_t>(c * vectors_ + v)];
      for (Size i = 0; i < count; ++i) {
        const vec x = cell(i);
        const uvec none = (uvec)(ivec)(x != x);
        gap.low += none & (static_cast<Word64>(units[i]) & 0xFFFFFFFF), gap.high += none & static_cast<Word64>(units[i] >> 32);
      }
    }
    if (any(infinite)) totals_.finite = false;
    for (Size level = 0; level < Op::levels && state.mode <= Op::modes; ++level) {
      if (level == 1 && !state.levels) open_levels(v);
      if (level > 0 && slots_[level].empty()) slots_[level].resize(static_cast<std::size_t>(k_ * vectors_));
      const Window& w = windows_[static_cast<std::size_t>(level * vectors_ + v)];
      Slots& s = slots_[level][static_cast<std::size_t>(c * vectors_ + v)];
      if (s.full()) fold(level, c, v);
      ivec some{};
      for (Size i = 0; i < count; ++i) {
        const vec x = load(rest[i]);
        const ivec in = w.fits(x);
        store(kept[i], (vec)((ivec)x & in)), store(rest[i], (vec)((ivec)x & ~in));
        some |= (ivec)x & ~in;
      }
      s.carry(w);  // what fits the window fits into empty sums
      if (!run(Op::modes, kept_rows, weight, count, 0, Itself{}, w, s)) __builtin_trap();
      if (!any(some)) return;
    }
    for (Size l = fresh(v); l < lanes && offset(v) + l < d_; ++l)  // column after column: the limbs of one cell stay in the first cache
      for (Size i = 0; i < count; ++i)
        if (const double x = rest[i][l]; x != 0)
          totals_.cell(c, offset(v) + l, x, Op::weighted ? weight[i] : 1.0), ++state.slow;
    if (state.tries > 16 && state.slow > 4 * lanes * state.tries) state.mode = Op::modes + 1;
  }

  [[gnu::noinline]] void open_levels(Size v) {
    if (static_cast<Size>(windows_.size()) == vectors_) windows_.resize(static_cast<std::size_t>(Op::levels * vectors_));
    for (Size level = 1; level < Op::levels; ++level)
      for (Size l = 0; l < lanes; ++l) {
        constexpr int steps[] = {0, -1, 1, -2};
        windows_[static_cast<std::size_t>(level * vectors_ + v)].set(l, within(windows_[v].top[l] + steps[level] * Op::step), scale_);
      }
    states_[v].levels = true;
  }

  [[gnu::noinline]] void fold(Size level, Size c, Size v) {
    Slots& s = slots_[level][static_cast<std::size_t>(c * vectors_ + v)];
    if (!s.used) return;
    const Window& w = windows_[static_cast<std::size_t>(level * vectors_ + v)];
    s.carry(w);
    for (Size l = fresh(v); l < lanes && offset(v) + l < d_; ++l) Op::fold(s, w, l, totals_, c, offset(v) + l);
    s = Slots{};
  }
};

// Rows of any weights: those of each range of weights in a pass of their own.
template <class Op>
struct ExactPasses {
  ExactTotals& totals;
  const double* above;
  const Size k, d;
  const std::vector<int>& top;  // of the window of each column
  const int heaviest;           // a range of weights ends at 2^heaviest
  std::vector<std::pair<int, std::unique_ptr<ExactPass<Op>>>> passes;
  ExactPass<Op>* last = nullptr;
  int last_scale = 0;

  void add(Size c, const double* row, double w, bool weighed) {
    if (!weighed) {
      if (last == nullptr) find(61);
      return last->add(c, row, w, 1);
    }
    const Parts parts(w);
    const int e = parts.power + 64 - __builtin_clzll(static_cast<Word64>(parts.m < 0 ? -parts.m : parts.m));  // |w| < 2^e
    if (last == nullptr || e > last_scale || e <= last_scale - weight_range) {
      const int over = e - heaviest, group = (over >= 0 ? over + weight_range - 1 : over) / weight_range;
      find(heaviest + group * weight_range);
    }
    last->add(c, row, w, parts.m * (Limb{1} << (parts.power - (last_scale - 61))));  // of at most 61 bits
  }

  [[gnu::noinline]] void find(int scale) {
    last_scale = scale;
    for (auto& [own, pass] : passes)
      if (own == scale) {
        last = pass.get();
        return;
      }
    passes.emplace_back(scale, std::make_unique<ExactPass<Op>>(totals, above, k, d, scale, top));
    last = passes.back().second.get();
  }
};

// Rows are added a block at a time, each block as `AnyRows` gives it.
template <class Op>
class ExactRows {
  const Labels rows_;
  ExactTotals& totals_;
  const Size d_, ld_;
  const bool lasting_, copied_;  // whether rows stay where they are, and whether they are too narrow to be read there
  std::vector<int> top_;
  ExactPasses<Op> passes_;
  Scratch narrow_;

 public:
  ExactRows(const AnyRows& x, Labels rows, const double* above, ExactTotals& totals, Size k)
      : rows_(rows), totals_(totals), d_(x.d), ld_(x.ld), lasting_(x.direct && x.d >= lanes), copied_(x.direct && !lasting_),
        top_(tops(x, rows, above)), passes_{totals, above, k, x.d, top_, heaviest(x, rows), {}}, narrow_(copied_ ? x.rows * x.ld : 0) {}

  void add(Size start, Size count, const double* block, Size stride) {
    if (copied_) {
      for (Size i = 0; i < count; ++i) std::copy_n(block + i * stride, d_, narrow_.data() + i * ld_);
      block = narrow_.data(), stride = ld_;
    }
    for (Size i = 0; i < count; ++i) {
      const double w = rows_.weight(start + i);
      if (w == 0) continue;
      if (!(w - w == 0)) {
        totals_.finite = false;
        continue;
      }
      passes_.add(rows_.y[start + i], block + i * stride, w, rows_.w != nullptr);
    }
    if (!lasting_)
      for (auto& [scale, pass] : passes_.passes) pass->serve();
  }

  void finish() {
    for (auto& [scale, pass] : passes_.passes) pass->finish();
  }

 private:
  // Windows and ranges of weights are chosen from some of the rows.
  static Size looked_at(const AnyRows& x) { return x.n == 0 ? 0 : std::min(x.n, std::clamp<Size>(x.n / 8, 16, Exponents::most)); }

  [[gnu::noinline]] static std::vector<int> tops(const AnyRows& x, Labels rows, const double* above) {
    const Size looked = looked_at(x);
    std::vector<int> out(static_cast<std::size_t>(x.d));
    for (Size j = 0; j < x.d; ++j) {
      Exponents seen;
      for (Size s = 0; s < looked; ++s) {
        const Size i = s * x.n / looked;
        const double w = rows.weight(i);
        if (w != 0 && w - w == 0) seen.see(above ? WeightAbove{*above}(x.cell(i, j), w) : x.cell(i, j));
      }
      out[static_cast<std::size_t>(j)] = Op::Window::choose(seen);
    }
    return out;
  }

  static int heaviest(const AnyRows& x, Labels rows) {
    const Size looked = looked_at(x);
    Exponents weights;
    for (Size s = 0; s < looked && rows.w != nullptr; ++s) weights.see(rows.w[s * x.n / looked]);
    return weights.count > 0 ? weights.high : 0;
  }
};

template <class Op>
[[gnu::noinline]] void exact_rows(AnyRows& x, Labels rows, const double* above, ExactTotals& totals, Size k) {
  ExactRows<Op> sums(x, rows, above, totals, k);
  for (Size start = 0; start < x.n; start += x.rows) {
    const Size count = std::min(x.n - start, x.rows);
    Size stride;
    const double* block = x.at(start, count, stride);
    sums.add(start, count, block, stride);
  }
  sums.finish();
}

// out[l * size + b] = parts[b][l]
template <int size>
inline void store_side_by_side(const ivec (&parts)[size], Limb* out) {
  if constexpr (size == 1) {
    store(reinterpret_cast<double*>(out), (vec)parts[0]);
  } else if constexpr (size == 2) {
    const auto half = [&]<std::size_t... l>(Size first, std::index_sequence<l...>) {
      const vec a = (vec)parts[0], b = (vec)parts[1];
      return first ? __builtin_shufflevector(a, b, (lanes / 2 + l / 2 + l % 2 * lanes)...) : __builtin_shufflevector(a, b, (l / 2 + l % 2 * lanes)...);
    };
    constexpr std::make_index_sequence<lanes> all_lanes{};
    store(reinterpret_cast<double*>(out), half(0, all_lanes)), store(reinterpret_cast<double*>(out + lanes), half(1, all_lanes));
  } else {
    for (int b = 0; b < size; ++b)
      for (Size l = 0; l < lanes; ++l) out[l * size + b] = parts[b][l];
  }
}

// Stored cells as sums of whole numbers: bin b counts units of 2^(low + step b).
struct CellBins {
  static constexpr int most = 4;
  int low, step, bins = 1;
  double magic[most], limit;  // |x| < limit
  Word64 bits[most];

  // For cells that are multiples of 2^last below 2^high, up to `terms` of them in a sum. Where the bins have room to spare,
  // `low` lies on the grid of limbs, or leaves it to smaller cells.
  CellBins(int last, int high, Size terms) : low(std::clamp(last, -900, 800)) {
    step = std::min(61 - (64 - __builtin_clzll(static_cast<Word64>(terms) | 1)), 50);
    while (bins < most && low + step * bins < high) ++bins;
    const int spare = std::max(low + step * bins - high, 0);
    low -= (low & 63) <= spare ? low & 63 : spare;
    limit = power_of_two(low + step * bins);
    for (int b = 0; b < most; ++b) {
      magic[b] = 1.5 * power_of_two(low + step * std::min(b, bins - 1) + 52);
      __builtin_memcpy(&bits[b], &magic[b], sizeof bits[b]);
    }
  }

  // Adds x to sums of the bins; false: it does not fit, and what the sums are now means nothing.
  bool add(double x, Limb* sums) const {
    const double size = std::fabs(x);
    for (int b = bins - 1; b >= 0; --b) {
      const double t = x + magic[b];
      Word64 own;
      __builtin_memcpy(&own, &t, sizeof own);
      sums[b] = static_cast<Limb>(static_cast<Word64>(sums[b]) + own - bits[b]);
      x -= t - magic[b];
    }
    return (x == 0) & (size < limit);
  }

  // f of some cells, at least as many as a register holds, each in `size` bins side by side; false: some do not fit.
  template <int size, class T, class F>
  bool split(const T* values, Size count, F f, double w, Limb* parts) const {
    ivec lost{};
    vec high = all(0.0);
    for (Size p = 0; p < count; p += lanes) {
      const Size at = std::min(p, count - lanes);
      vec x = f(load(values + at), all(w));
      high = larger(magnitude(x), high);
      ivec part[size];
      for (int b = size - 1; b >= 0; --b) {
        const vec t = x + all(magic[b]);
        part[b] = (ivec)((uvec)t - (uvec)all(magic[b]));
        x -= t - all(magic[b]);
      }
      lost |= (ivec)magnitude(x);  // a rest of −0 is none
      store_side_by_side<size>(part, parts + at * size);
    }
    return !any(lost | ~(ivec)(high < all(limit)));
  }

  int floor() const { return low & ~63; }
  Size planes() const { return (low - floor() + step * (bins - 1) + 63 + 63) / 64; }

  // Limb planes, `stride` apart, of at most 64 cells.
  void write(const Limb* sums, Size count, Limb* out, Size stride) const {
    const int shift = low - floor();
    if (bins == 1 && shift == 0) {
      std::copy_n(sums, count, out);
    } else if (bins <= 2) {
      Word64 lower[block_columns], upper[block_columns];  // of 128 bits
      constexpr Word64 top = Word64{1} << 63;
      for (Size j = 0; j < count; ++j) {
        const Word64 first = static_cast<Word64>(sums[j * bins]), second = bins == 1 ? 0 : static_cast<Word64>(sums[j * bins + 1]);
        const Word64 moved = second << step;
        lower[j] = first + moved;
        upper[j] = ((second ^ top) >> (64 - step)) - (top >> (64 - step)) - (first >> 63) + (lower[j] < moved);
      }
      for (Size j = 0; j < count; ++j) out[j] = static_cast<Limb>(lower[j] << shift);
      if (planes() > 1)
        for (Size j = 0; j < count; ++j) out[stride + j] = static_cast<Limb>(upper[j] << shift | (lower[j] >> 1) >> (63 - shift));
      if (planes() > 2)
        for (Size j = 0; j < count; ++j) out[2 * stride + j] = static_cast<Limb>(upper[j]) >> (64 - shift);
    } else {
      for (Size i = 0; i < planes(); ++i) std::fill_n(out + i * stride, count, 0);
      for (Size j = 0; j < count; ++j)
        for (int b = 0; b < bins; ++b) {
          const int at = shift + step * b;
          __int128 rest = static_cast<__int128>(sums[j * bins + b]) << (at & 63);
          for (Size i = at >> 6; i < planes(); ++i) {
            Limb& limb = out[i * stride + j];
            const Wide t = static_cast<Wide>(static_cast<Word64>(limb)) + static_cast<Word64>(rest);
            limb = static_cast<Limb>(t);
            rest = (rest >> 64) + static_cast<Limb>(t >> 64);
          }
        }
    }
  }
};

// The sums of one class after the other, each in a row of bins, then as planes of limbs.
struct CellSums {
  const Size k, d;
  const CellBins bins;
  std::vector<Limb> row;
  Limbs limbs;

  CellSums(Size k_, Size d_, CellBins bins_)
      : k(k_), d(d_), bins(bins_), row(static_cast<std::size_t>(d_ * bins_.bins), 0),
        limbs(static_cast<std::size_t>(k_ * d_ * bins_.planes())) {}

  void close(Size c) {
    const Size planes = bins.planes();
    Limb* out = limbs.data();
    for (Size b = 0; b < blocks_of(d); ++b) {
      const Size width = width_of(b, d), cells = k * width;
      Limb* from = row.data() + b * block_columns * bins.bins;
      bins.write(from, width, out + c * width, cells);
      std::fill_n(from, width * bins.bins, 0);
      out += planes * cells;
    }
  }

  // As a table, in the same memory: what says nothing is cut off.
  void move_to(LimbTable& out) {
    const Size planes = bins.planes();
    const Limb* from = limbs.data();
    Limb* to = limbs.data();
    for (Size b = 0; b < blocks_of(d); ++b) {
      const Size cells = k * width_of(b, d);
      Size skip, size = planes;
      LimbTable::trim(from, size, skip, cells);
      if (to != from + skip * cells) std::copy_n(from + skip * cells, size * cells, to);  // never to the right
      out.low.push_back(size > 0 ? bins.floor() / 64 + skip : 0);
      out.count.push_back(size);
      to += size * cells, from += planes * cells;
    }
    limbs.resize(static_cast<std::size_t>(to - limbs.data()));
    out.limbs.swap(limbs);
  }
};

template <class T, class F>
void see_cells(Csr<T> x, Labels rows, F f, Exponents& seen, Exponents& weights) {
  const Size looked = std::min<Size>(x.n, Exponents::most);
  for (Size s = 0; s < looked; ++s) {
    const Size i = s * x.n / looked;
    const double w = rows.weight(i);
    if (w == 0 || !(w - w == 0) || x.indptr[i] == x.indptr[i + 1]) continue;
    const Size p = x.indptr[i] + (s * 7919) % (x.indptr[i + 1] - x.indptr[i]);
    seen.see(f(static_cast<double>(x.values[p]), w));
    weights.see(w);
  }
}

// Of classes first … first + k − 1 of sparse rows: cells that are not stored are 0, and f(0) must be 0.
template <class T, class F>
void exact_cells(Csr<T> x, Labels rows, Size first, Size k, F f, ExactTotals& totals, LimbTable (&out)[2]) {
  const bool weighs = F::weighs && rows.w != nullptr, squares = totals.squares;
  Exponents seen, weights;
  see_cells(x, rows, f, seen, weights);
  const auto bins = [&](int power) {
    if (seen.count == 0) return CellBins(0, 32, x.n);
    const int last = power * seen.least + (weighs ? weights.least : 0), high = power * seen.high + (weighs ? weights.high : 0);
    return CellBins(last, std::max(high + 4, std::min(last + 32, 32)), 4 * x.n);
  };
  CellSums s1(k, x.d, bins(1)), s2(squares ? k : 0, squares ? x.d : 0, bins(2));
  const ByClass classes(rows.y, x.n, k, first);
  for (Size c = 0; c < k; ++c) {
    Size count = 0;
    const auto put = [](Limb* to, const Limb* add, int size) {
      for (int b = 0; b < size; ++b) to[b] += add[b];
    };
    // a cell that the bins do not hold
    const auto other = [&](Size j, double v, double w) __attribute__((noinline)) {
      if (v != v) {
        const Parts parts(F::weighs ? w : rows.w ? w : 1.0);
        totals.gap.block(j).add(totals.gap.cell(c, j), parts.m, parts.power);
      } else if (!(v - v == 0)) {
        totals.finite = false;
      } else {
        totals.cell(c, j, v, weighs ? w : 1.0);
      }
    };
    // several cells whose sum is Σ w x, and Σ w x²
    const auto terms = [&](Size j, double v, double w) {
      const auto usual = [](double a) { return std::fabs(a) < 0x1p200 && (std::fabs(a) > 0x1p-200 || a == 0); };
      if (!usual(v) || !usual(w)) return other(j, v, w);
      Limb once[CellBins::most] = {}, twice[CellBins::most] = {};
      const double p = rounded(w * v), e = w == 1.0 ? 0.0 : rest_of_product(w, v, p);
      bool fits = s1.bins.add(p, once) && (e == 0 || s1.bins.add(e, once));
      const auto square = [&](double a) {
        const double own = rounded(a * v), rest = rest_of_product(a, v, own);
        return s2.bins.add(own, twice) && (rest == 0 || s2.bins.add(rest, twice));
      };
      if (squares) fits = fits && square(p) && (e == 0 || square(e));
      if (!fits) return other(j, v, w);
      put(&s1.row[j * s1.bins.bins], once, s1.bins.bins);
      if (squares) put(&s2.row[j * s2.bins.bins], twice, s2.bins.bins);
    };
    const auto one = [&](Size j, double v, double w) {
      Limb sums[CellBins::most];
      Limb* const to = s1.row.data() + j * s1.bins.bins;
      std::copy_n(to, s1.bins.bins, sums);
      if (s1.bins.add(v, sums))
        std::copy_n(sums, s1.bins.bins, to);
      else
        other(j, v, w);
    };
    const auto pass = [&]<int size>() {
      constexpr Size block = 64;
      Limb* const row = s1.row.data();
      const CellBins own = s1.bins;
      for (Size o = classes.start[c]; o < classes.start[c + 1]; ++o) {
        const Size i = classes.order[o];
        const double w = rows.weight(i);
        if (o + rows_ahead < classes.start[c + 1]) prefetch(x, classes.order[o + rows_ahead]);
        if (w == 0) continue;
        if (!(w - w == 0)) {
          totals.finite = false;
          continue;
        }
        ++count;
        if (rows.w) {
          const Parts parts(w);
          totals.n.block(0).add(c, parts.m, parts.power);
        }
        if constexpr (size == 0) {
          for (Size p = x.indptr[i]; p < x.indptr[i + 1]; ++p) terms(x.indices[p], f(static_cast<double>(x.values[p]), w), weighs ? w : 1.0);
        } else {
          alignas(64) Limb parts[block * size];
          for (Size p = x.indptr[i], end = x.indptr[i + 1]; p < end; p += block) {
            const Size cells = std::min(end - p, block);
            if (cells < lanes || !own.template split<size>(x.values + p, cells, f, w, parts)) {
              for (Size at = p; at < p + cells; ++at) one(x.indices[at], f(static_cast<double>(x.values[at]), w), w);
              continue;
            }
            for (Size at = 0; at < cells; ++at) {
              typedef Limb cell __attribute__((vector_size(size == 2 ? 16 : 8), aligned(8), may_alias));
              cell* const to = reinterpret_cast<cell*>(row + x.indices[p + at] * size);
              const cell* const part = reinterpret_cast<const cell*>(parts + at * size);
              for (int b = 0; b < (size == 2 ? 1 : size); ++b) to[b] += part[b];
            }
          }
        }
      }
    };
    if (weighs || squares) pass.template operator()<0>();
    else if (s1.bins.bins == 1) pass.template operator()<1>();
    else if (s1.bins.bins == 2) pass.template operator()<2>();
    else if (s1.bins.bins == 3) pass.template operator()<3>();
    else pass.template operator()<4>();
    if (!rows.w) totals.n.block(0).add(c, count, 0);
    s1.close(c);
    if (squares) s2.close(c);
  }
  s1.move_to(out[0]);
  if (squares) s2.move_to(out[1]);
}

// Columns first … first + d − 1 of a table.
template <class T>
Dense<T> columns_of(const Dense<T>& x, Size first, Size d) {
  return {x.data + first * x.col, x.n, d, x.row, x.col};
}
template <class T>
Apart<T> columns_of(const Apart<T>& x, Size first, Size d) {
  return {x.columns + first, x.n, d};
}

inline LimbView view(const LimbTable& x) { return {x.k, x.d, x.low.data(), x.count.data(), x.limbs.data()}; }

template <class T>
__attribute__((noinline)) bool exact_sums(Csr<T> x, Labels rows, Size first, Size k, const double* above, bool squares, LimbTable (&out)[4]) {
  const NearestRounding nearest_rounding;
  for (LimbTable& table : out) table.k = k, table.d = x.d;
  out[0].d = 1;
  ExactTotals totals(k, x.d, squares);
  LimbTable fast[2] = {{k, x.d, {}, {}, {}}, {k, x.d, {}, {}, {}}};
  if (above != nullptr)
    exact_cells(x, rows, first, k, WeightAbove{*above}, totals, fast);
  else
    exact_cells(x, rows, first, k, Itself{}, totals, fast);
  totals.n.append_to(out[0]);
  totals.gap.append_to(out[1]);
  std::vector<Limb> same(static_cast<std::size_t>(k));
  for (Size c = 0; c < k; ++c) same[c] = c;
  for (int power = 0; power < (squares ? 2 : 1); ++power) {
    const ChunkTable& slow = power ? totals.s2 : totals.s1;
    if (slow.empty()) {
      out[2 + power] = std::move(fast[power]);
    } else {
      LimbTable rest{k, x.d, {}, {}, {}};
      slow.append_to(rest);
      combine(k, x.d, {{view(fast[power]), same.data(), false}, {view(rest), same.data(), false}}, out[2 + power]);
    }
  }
  return totals.finite;
}

inline bool exact_panel(AnyRows& x, Labels rows, Size k, const double* above, bool squares, bool classes, LimbTable (&out)[4]) {
  ExactTotals totals(k, x.d, squares);
  if (above != nullptr)
    exact_rows<PlainSums>(x, rows, above, totals, k);
  else if (rows.w == nullptr && squares)
    exact_rows<Squares>(x, rows, nullptr, totals, k);
  else if (rows.w == nullptr)
    exact_rows<PlainSums>(x, rows, nullptr, totals, k);
  else if (squares)
    exact_rows<WeightedSums<true>>(x, rows, nullptr, totals, k);
  else
    exact_rows<WeightedSums<false>>(x, rows, nullptr, totals, k);
  return totals.into(out, classes);
}

// Some columns at a time, so that the sums of all classes stay in a cache; `above` null: of the cells themselves.
template <class X>
__attribute__((noinline)) bool exact_sums(const X& x, Labels rows, Size k, const double* above, bool squares, LimbTable (&out)[4]) {
  const NearestRounding nearest_rounding;
  for (LimbTable& table : out) table.k = k, table.d = x.d;
  out[0].d = 1;
  Size panel = block_columns;
  while (panel < x.d && k * 2 * panel * Size{sizeof(Squares::Slots)} / lanes <= Size{1} << 20) panel *= 2;
  bool finite = true;
  for (Size first = 0; first < x.d || first == 0; first += panel) {
    const X some = columns_of(x, first, std::min(panel, x.d - first));
    RowsOf<X> blocks(some);
    finite &= exact_panel(blocks, rows, k, above, squares, first == 0, out);
  }
  return finite;
}

}  // namespace deciban
