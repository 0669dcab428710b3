// Sums as integers: limbs of 64 bits in two's complement on an absolute grid, in the canonical form that
// `deciban/tallies/exact.py` defines, and what is rounded once from them.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>
#include "kernels/core/huge_pages.hpp"
#include "kernels/core/views.hpp"

namespace deciban {

using Limb = std::int64_t;
using Word64 = std::uint64_t;
using Wide = unsigned __int128;

constexpr Size block_columns = 64;
inline Size blocks_of(Size d) { return (d + block_columns - 1) / block_columns; }
inline Size width_of(Size block, Size d) { return std::min(block_columns, d - block * block_columns); }

// Memory that is written before it is read. Tables of many columns lie on huge pages: finding ordinary ones takes longer than
// writing them.
template <class T>
struct Unset : OnHugePages<T> {
  template <class U>
  struct rebind {
    using other = Unset<U>;
  };
  template <class U, class... Given>
  void construct(U* at, Given&&... given) {
    if constexpr (sizeof...(Given) == 0)
      ::new (static_cast<void*>(at)) U;
    else
      ::new (static_cast<void*>(at)) U(std::forward<Given>(given)...);
  }
};
using Limbs = std::vector<Limb, Unset<Limb>>;

// Sums of k classes and d columns that own their limbs.
struct LimbTable {
  Size k = 0, d = 0;
  std::vector<Limb> low, count;
  Limbs limbs;

  // Which of the planes of a block have something to say: `size` of them after the first `skip`.
  static void trim(const Limb* planes, Size& size, Size& skip, Size cells) {
    const auto zero = [&](Size i) { return std::all_of(planes + i * cells, planes + (i + 1) * cells, [](Limb v) { return v == 0; }); };
    const auto sign = [&](Size i) {
      const Limb *own = planes + i * cells, *below = own - cells;
      for (Size c = 0; c < cells; ++c)
        if (own[c] != below[c] >> 63) return false;
      return true;
    };
    skip = 0;
    while (skip < size && zero(skip)) ++skip;
    while (size > skip + 1 && sign(size - 1)) --size;
    size -= skip;
  }

  // The next block: planes[i * cells + cell] for `size` limbs from `first` on; what says nothing is cut off.
  void append(const Limb* planes, Size size, Limb first, Size cells) {
    Size skip;
    trim(planes, size, skip, cells);
    low.push_back(size > 0 ? first + skip : 0);
    count.push_back(size);
    if (size > 0) limbs.insert(limbs.end(), planes + skip * cells, planes + (skip + size) * cells);
  }
};

// Sums that somebody else keeps; `start` says where a block begins.
struct LimbView {
  Size k, d;
  const Limb *low, *count, *limbs;
  std::vector<Size> start;

  LimbView(Size k_, Size d_, const Limb* low_, const Limb* count_, const Limb* limbs_)
      : k(k_), d(d_), low(low_), count(count_), limbs(limbs_) {
    Size at = 0;
    for (Size b = 0; b < blocks_of(d); ++b) start.push_back(at), at += count[b] * k * width_of(b, d);
  }
  // Limb 0 of a cell; the next ones lie `stride` apart.
  const Limb* cell(Size c, Size j) const {
    const Size b = j / block_columns;
    if (count[b] == 0) return limbs;
    return limbs + start[b] + c * width_of(b, d) + j % block_columns;
  }
  Size stride(Size j) const { return k * width_of(j / block_columns, d); }
};

// Sums of a block that are being made. Chunk i of a cell stands for 2^(32 (low + i)); carries wait in the upper halves.
struct Chunks {
  Size cells = 0;
  Limb low = 0;
  Size count = 0;
  std::vector<Limb> at;
  Size terms = 0;

  // Chunk `first` of a cell, after which those up to `last` are there.
  Limb* reach(Size cell, Limb first, Limb last) {
    if (first < low || last >= low + count) grow(first, last);
    if (++terms == Size{1} << 29) carry();
    return &at[cell * count + (first - low)];
  }

  // sum[cell] += value · 2^power
  [[gnu::noinline]] void add(Size cell, Limb value, Limb power) {
    if (value == 0) return;
    const Limb first = power >> 5;
    const __int128 v = static_cast<__int128>(value) * (Limb{1} << (power & 31));
    Limb* p = reach(cell, first, first + 2);
    p[0] += static_cast<std::uint32_t>(v);
    p[1] += static_cast<std::uint32_t>(v >> 32);
    p[2] += static_cast<Limb>(v >> 64);
  }

  // The same of ±(m[0] + 2^64 m[1] + 2^128 m[2])
  [[gnu::noinline]] void add(Size cell, const Word64 (&m)[3], bool negative, Limb power) {
    const Limb first = power >> 5;
    const int shift = static_cast<int>(power & 31);
    Limb* p = reach(cell, first, first + 6);
    const Limb sign = -static_cast<Limb>(negative);
    Wide carried = 0;
    for (int i = 0; i < 3; ++i) {
      carried += static_cast<Wide>(m[i]) << shift;
      p[2 * i] += (static_cast<Limb>(static_cast<std::uint32_t>(carried)) ^ sign) - sign;
      p[2 * i + 1] += (static_cast<Limb>(static_cast<std::uint32_t>(carried >> 32)) ^ sign) - sign;
      carried >>= 64;
    }
    p[6] += (static_cast<Limb>(carried) ^ sign) - sign;
  }

  [[gnu::noinline]] void grow(Limb first, Limb last) {
    Limb bottom = first & ~Limb{1}, top = last | 1;
    if (count > 0) bottom = std::min(bottom, low), top = std::max(top, low + count - 1);
    const Size size = top - bottom + 1;
    std::vector<Limb> next(static_cast<std::size_t>(cells * size), 0);
    for (Size c = 0; c < cells && count > 0; ++c)
      std::copy_n(&at[c * count], count, &next[c * size + (low - bottom)]);
    at.swap(next);
    low = bottom, count = size;
  }

  void carry() {
    terms = 0;
    for (Size c = 0; c < cells; ++c) {
      Limb* p = &at[c * count];
      for (Size i = 0; i + 1 < count; ++i) p[i + 1] += p[i] >> 32, p[i] &= 0xFFFFFFFF;
    }
  }

  void append_to(LimbTable& out, std::vector<Limb>& scratch) const {
    if (count == 0) return out.append(nullptr, 0, 0, cells);
    const Size size = count / 2 + 1;
    scratch.resize(static_cast<std::size_t>(size * cells));
    for (Size c = 0; c < cells; ++c) {
      const Limb* p = at.data() + c * count;
      Limb rest = 0;
      for (Size i = 0; i < count / 2; ++i) {
        const Limb a = p[2 * i] + rest, b = p[2 * i + 1] + (a >> 32);
        rest = b >> 32;
        scratch[i * cells + c] = static_cast<Limb>(static_cast<Word64>(b) << 32 | (static_cast<Word64>(a) & 0xFFFFFFFF));
      }
      scratch[count / 2 * cells + c] = rest;
    }
    out.append(scratch.data(), size, low >> 1, cells);  // `low` is even
  }
};

// A table of such blocks.
struct ChunkTable {
  Size k, d;
  std::vector<Chunks> blocks;

  ChunkTable(Size k_, Size d_) : k(k_), d(d_), blocks(static_cast<std::size_t>(blocks_of(d_))) {
    for (Size b = 0; b < blocks_of(d); ++b) blocks[b].cells = k * width_of(b, d);
  }
  Chunks& block(Size j) { return blocks[j / block_columns]; }
  Size cell(Size c, Size j) const { return c * width_of(j / block_columns, d) + j % block_columns; }
  bool empty() const {
    for (const Chunks& one : blocks)
      if (one.count > 0) return false;
    return true;
  }
  [[gnu::noinline]] void append_to(LimbTable& out) const {
    std::vector<Limb> scratch;
    for (const Chunks& one : blocks) one.append_to(out, scratch);
  }
};

// x = m · 2^power, for a finite x
struct Parts {
  Limb m;
  int power;
  explicit Parts(double x) {
    Word64 bits;
    std::memcpy(&bits, &x, sizeof bits);
    const int e = static_cast<int>(bits >> 52 & 0x7FF);
    const Limb size = static_cast<Limb>((bits & 0xFFFFFFFFFFFFF) | (e ? Word64{1} << 52 : 0));
    m = bits >> 63 ? -size : size;
    power = (e ? e : 1) - 1075;
  }
};

// (top + some of less than 1, if `more`) · 2^power as the nearest double, ties to even; bit 63 of `top` is set.
inline double nearest(Word64 top, bool more, Limb power, bool negative) {
  const Limb e = power + 63;
  const Limb bits = e >= -1022 ? 53 : e + 1075;  // that the double has
  Word64 out = 0;
  if (e > 1023) {
    out = Word64{0x7FF} << 52;
  } else if (bits >= 0) {
    const int lost = static_cast<int>(64 - bits);
    const Word64 kept = lost == 64 ? 0 : top >> lost, rest = lost == 64 ? top : top << (64 - lost);
    const Word64 half = Word64{1} << 63;
    out = kept + (rest > half || (rest == half && (more || (kept & 1))));
    if (e >= -1022) out += static_cast<Word64>(e + 1022) << 52;
  }
  out |= static_cast<Word64>(negative) << 63;
  double x;
  std::memcpy(&x, &out, sizeof x);
  return x;
}

// A number ±Σ at[i] 2^(64 (low + i)) without zeros at either end.
struct Magnitude {
  std::vector<Word64> at;
  Limb low = 0;
  bool negative = false;

  bool zero() const { return at.empty(); }
  Limb bits() const { return zero() ? 0 : 64 * static_cast<Limb>(at.size()) - __builtin_clzll(at.back()); }
  Limb top() const { return low + static_cast<Limb>(at.size()); }

  void trim() {
    while (!at.empty() && at.back() == 0) at.pop_back();
    std::size_t zeros = 0;
    while (zeros < at.size() && at[zeros] == 0) ++zeros;
    if (zeros > 0) at.erase(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(zeros)), low += static_cast<Limb>(zeros);
    if (at.empty()) low = 0, negative = false;
  }

  void read(const LimbView& x, Size c, Size j) {
    const Size b = j / block_columns, count = x.count[b], stride = x.stride(j);
    const Limb* p = x.cell(c, j);
    low = x.low[b];
    at.resize(static_cast<std::size_t>(count));
    negative = count > 0 && p[(count - 1) * stride] < 0;
    Word64 carry = negative;
    for (Size i = 0; i < count; ++i) {
      const Word64 v = static_cast<Word64>(p[i * stride]);
      at[i] = negative ? ~v + carry : v;
      carry = carry && at[i] == 0;
    }
    trim();
  }

  // a · b
  void multiply(const Magnitude& a, const Magnitude& b) {
    at.assign(a.at.size() + b.at.size(), 0);
    for (std::size_t i = 0; i < a.at.size(); ++i) {
      Word64 carry = 0;
      for (std::size_t j = 0; j < b.at.size(); ++j) {
        const Wide t = static_cast<Wide>(a.at[i]) * b.at[j] + at[i + j] + carry;
        at[i + j] = static_cast<Word64>(t);
        carry = static_cast<Word64>(t >> 64);
      }
      at[i + b.at.size()] = carry;
    }
    low = a.low + b.low;
    negative = a.negative != b.negative;
    trim();
  }

  // this − b, for b ≥ 0
  void subtract(const Magnitude& b) {
    if (b.zero()) return;
    if (zero()) {
      *this = b;
      negative = true;
      return;
    }
    const Limb bottom = std::min(low, b.low), size = std::max(top(), b.top()) - bottom + 1;
    if (low > bottom) at.insert(at.begin(), static_cast<std::size_t>(low - bottom), 0), low = bottom;
    at.resize(static_cast<std::size_t>(size), 0);
    Word64 carry = 0;
    const auto each = [&](auto step) {
      for (std::size_t i = static_cast<std::size_t>(b.low - bottom); i < at.size(); ++i) {
        const std::size_t own = i - static_cast<std::size_t>(b.low - bottom);
        step(at[i], own < b.at.size() ? b.at[own] : 0);
      }
    };
    if (negative) {
      each([&](Word64& a, Word64 v) {
        const Wide t = static_cast<Wide>(a) + v + carry;
        a = static_cast<Word64>(t), carry = static_cast<Word64>(t >> 64);
      });
    } else {
      each([&](Word64& a, Word64 v) {
        const Wide t = static_cast<Wide>(a) - v - carry;
        a = static_cast<Word64>(t), carry = static_cast<Word64>(t >> 64) & 1;
      });
      if (carry) {
        negative = true;
        for (std::size_t i = 0; i < at.size(); ++i) at[i] = ~at[i] + carry, carry = carry && at[i] == 0;
      }
    }
    trim();
  }

  double rounded() const {
    if (zero()) return 0.0;
    const int free = __builtin_clzll(at.back());
    const std::size_t n = at.size();
    const Word64 next = n > 1 ? at[n - 2] : 0;
    const Word64 first = free ? at[n - 1] << free | next >> (64 - free) : at[n - 1];
    const bool more = (free ? next << free != 0 : next != 0) || n > 2;  // the lowest word is not 0
    return nearest(first, more, 64 * (top() - 1) - free, negative);
  }
};

// a / b rounded once, 0 where b is 0. The quotient is made of 65 or 66 bits by long division in words.
class Division {
  std::vector<Word64> u_, v_;

 public:
  double operator()(const Magnitude& a, const Magnitude& b) {
    if (a.zero() || b.zero()) return 0.0;
    const bool negative = a.negative != b.negative;
    const Limb shift = b.bits() + 65 - a.bits();  // of a, to the left
    const std::size_t n = b.at.size();
    bool more = false;
    u_.assign(n + 3, 0);  // a · 2^shift has b.bits() + 65 bits
    for (std::size_t i = 0; i < a.at.size(); ++i) {
      const Limb at = 64 * static_cast<Limb>(i) + shift, word = at >> 6;
      const int bit = static_cast<int>(at & 63);
      const Word64 lower = a.at[i] << bit, upper = bit ? a.at[i] >> (64 - bit) : 0;
      if (word >= 0) u_[static_cast<std::size_t>(word)] |= lower; else more |= lower != 0;
      if (word + 1 >= 0) { if (upper) u_[static_cast<std::size_t>(word + 1)] |= upper; } else more |= upper != 0;
    }
    Word64 q[3] = {};
    if (n == 1) {
      Word64 rest = 0;
      for (int i = 3; i >= 0; --i) {
        const Wide t = static_cast<Wide>(rest) << 64 | u_[static_cast<std::size_t>(i)];
        const Word64 digit = static_cast<Word64>(t / b.at[0]);
        rest = static_cast<Word64>(t % b.at[0]);
        if (i < 3) q[i] = digit;
      }
      more |= rest != 0;
    } else {
      more |= divide(b, q);
    }
    // q has 65 or 66 bits
    const int extra = q[1] >= 2 ? 2 : 1;
    const Word64 first = q[1] << (64 - extra) | q[0] >> extra;
    more |= q[0] << (64 - extra) != 0;
    return nearest(first, more, extra - shift + 64 * (a.low - b.low), negative);
  }

 private:
  // Knuth's algorithm D: u_ / b into q; whether something remains.
  bool divide(const Magnitude& b, Word64 (&q)[3]) {
    const std::size_t n = b.at.size();
    const int free = __builtin_clzll(b.at.back());
    v_.resize(n);
    for (std::size_t i = n; i-- > 0;) v_[i] = b.at[i] << free | (free && i > 0 ? b.at[i - 1] >> (64 - free) : 0);
    for (std::size_t i = n + 3; i-- > 0;) u_[i] = u_[i] << free | (free && i > 0 ? u_[i - 1] >> (64 - free) : 0);
    for (int j = 2; j >= 0; --j) {
      Word64* u = u_.data() + j;
      const Wide two = static_cast<Wide>(u[n]) << 64 | u[n - 1];
      Wide digit, rest;
      if (u[n] >= v_[n - 1]) {
        digit = ~Word64{0};
        rest = two - digit * v_[n - 1];
      } else {
        digit = two / v_[n - 1];
        rest = two % v_[n - 1];
      }
      while (!(rest >> 64) && digit * v_[n - 2] > (rest << 64 | u[n - 2])) --digit, rest += v_[n - 1];
      Word64 borrow = 0, carry = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const Wide p = digit * v_[i] + carry;
        carry = static_cast<Word64>(p >> 64);
        const Wide t = static_cast<Wide>(u[i]) - static_cast<Word64>(p) - borrow;
        u[i] = static_cast<Word64>(t), borrow = static_cast<Word64>(t >> 64) & 1;
      }
      const Wide t = static_cast<Wide>(u[n]) - carry - borrow;
      u[n] = static_cast<Word64>(t);
      if (t >> 64) {
        --digit;
        Word64 over = 0;
        for (std::size_t i = 0; i < n; ++i) {
          const Wide s = static_cast<Wide>(u[i]) + v_[i] + over;
          u[i] = static_cast<Word64>(s), over = static_cast<Word64>(s >> 64);
        }
        u[n] += over;
      }
      q[j] = static_cast<Word64>(digit);
    }
    Word64 rest = 0;
    for (const Word64 one : u_) rest |= one;
    return rest != 0;
  }
};

// (upper 2^64 + lower) · 2^power as the nearest double.
inline double nearest(Limb upper, Word64 lower, Limb power) {
  const bool negative = upper < 0;
  const Wide bits = static_cast<Wide>(static_cast<Word64>(upper)) << 64 | lower, size = negative ? ~bits + 1 : bits;
  if (size == 0) return 0.0;
  const Word64 high = static_cast<Word64>(size >> 64);
  const int above = high ? 64 - __builtin_clzll(high) : 0;
  if (!high) {
    const int free = __builtin_clzll(static_cast<Word64>(size));
    return nearest(static_cast<Word64>(size) << free, false, power - free, negative);
  }
  const bool more = (size & ((Wide{1} << above) - 1)) != 0;
  return nearest(static_cast<Word64>(size >> above), more, power + above, negative);
}

inline void to_doubles(const LimbView& x, double* out) {
  constexpr Limb whole = Limb{1} << 53;  // numbers up to it are doubles
  Magnitude value;
  for (Size c = 0; c < x.k; ++c)
    for (Size j = 0; j < x.d; j += block_columns) {
      const Size b = j / block_columns, count = x.count[b], stride = x.stride(j), width = width_of(b, x.d);
      const Limb *first = x.cell(c, j), low = x.low[b];
      double* to = out + c * x.d + j;
      if (count == 0) {
        std::fill_n(to, width, 0.0);
      } else if (count > 2) {
        for (Size l = 0; l < width; ++l) {
          Limb any = 0;
          for (Size i = 0; i < count; ++i) any |= first[i * stride + l];
          to[l] = 0.0;
          if (any == 0) continue;  // most sums of sparse rows
          value.read(x, c, j + l);
          to[l] = value.rounded();
        }
      } else {
        const double unit = low >= -15 && low <= 14 ? std::ldexp(1.0, static_cast<int>(64 * low)) : 0.0;
        for (Size l = 0; l < width; ++l) {
          const Limb lower = first[l], upper = count == 2 ? first[stride + l] : lower >> 63;
          const bool small = upper == lower >> 63 && lower < whole && lower > -whole && unit != 0;
          to[l] = small ? static_cast<double>(lower) * unit : nearest(upper, static_cast<Word64>(lower), 64 * low);
        }
      }
    }
}

inline void signs(const LimbView& x, std::int8_t* out) {
  for (Size j = 0; j < x.d; ++j) {
    const Size count = x.count[j / block_columns], stride = x.stride(j);
    for (Size c = 0; c < x.k; ++c) {
      const Limb* p = x.cell(c, j);
      Limb any = 0;
      for (Size i = 0; i < count; ++i) any |= p[i * stride];
      out[c * x.d + j] = any == 0 ? 0 : p[(count - 1) * stride] < 0 ? -1 : 1;
    }
  }
}

// out[c, j] = a[c, j] / n[c, j or 0]
inline void ratio(const LimbView& a, const LimbView& n, double* out) {
  Magnitude top, below;
  Division divide;
  for (Size c = 0; c < a.k; ++c)
    for (Size j = 0; j < a.d; ++j) {
      if (j == 0 || n.d > 1) below.read(n, c, n.d > 1 ? j : 0);
      top.read(a, c, j);
      out[c * a.d + j] = divide(top, below);
    }
}

// mean = s1 / n,   m2 = (n s2 − s1²) / n
inline void mean_and_squares(const LimbView& n, const LimbView& s1, const LimbView& s2, double* mean, double* m2) {
  Magnitude weight, first, second, left, square;
  Division divide;
  for (Size c = 0; c < s1.k; ++c)
    for (Size j = 0; j < s1.d; ++j) {
      if (j == 0 || n.d > 1) weight.read(n, c, n.d > 1 ? j : 0);
      first.read(s1, c, j);
      second.read(s2, c, j);
      left.multiply(weight, second);
      square.multiply(first, first);
      left.subtract(square);
      mean[c * s1.d + j] = divide(first, weight);
      m2[c * s1.d + j] = divide(left, weight);
    }
}

// out[c, i, j] = Σ w (x_i − mean_i)(x_j − mean_j) = (n p − s_i s_j) / n, from the products p of columns i ≤ j, row after row
inline void centred_products(const LimbView& n, const LimbView& sums, const LimbView& products, double* out) {
  const Size d = sums.d;
  std::vector<Magnitude> first(static_cast<std::size_t>(d));
  Magnitude weight, own, left, square;
  Division divide;
  for (Size c = 0; c < sums.k; ++c, out += d * d) {
    weight.read(n, c, 0);
    for (Size j = 0; j < d; ++j) first[j].read(sums, c, j);
    Size pair = 0;
    for (Size i = 0; i < d; ++i)
      for (Size j = i; j < d; ++j, ++pair) {
        own.read(products, c, pair);
        left.multiply(weight, own);
        square.multiply(first[i], first[j]);
        const bool flipped = square.negative;  // a + b = −(−a − b)
        if (flipped) left.negative = !left.negative, square.negative = false;
        left.subtract(square);
        if (flipped) left.negative = !left.negative;
        out[i * d + j] = out[j * d + i] = divide(left, weight);
      }
  }
}

// The doubles of a table; false: some are not finite, and count 0.
inline bool from_doubles(const double* values, Size k, Size d, LimbTable& out) {
  ChunkTable chunks(k, d);
  bool finite = true;
  for (Size c = 0; c < k; ++c)
    for (Size j = 0; j < d; ++j) {
      const double x = values[c * d + j];
      if (x - x == 0) {
        const Parts parts(x);
        chunks.block(j).add(chunks.cell(c, j), parts.m, parts.power);
      } else {
        finite = false;
      }
    }
  out.k = k, out.d = d;
  chunks.append_to(out);
  return finite;
}

struct Placed {
  LimbView table;
  const Limb* index;  // class c stands at index[c]
  bool minus;
};

// Σ ± of tables with d columns, as k classes
[[gnu::noinline]] inline void combine(Size k, Size d, const std::vector<Placed>& parts, LimbTable& out) {
  out.k = k, out.d = d;
  std::vector<Limb> planes;
  for (Size b = 0; b < blocks_of(d); ++b) {
    const Size width = width_of(b, d), cells = k * width;
    Limb low = 0, top = 0;
    bool some = false;
    for (const Placed& part : parts) {
      if (part.table.count[b] == 0 || part.table.k == 0) continue;
      const Limb own = part.table.low[b];
      low = some ? std::min(low, own) : own;
      top = some ? std::max(top, own + part.table.count[b]) : own + part.table.count[b];
      some = true;
    }
    const Size size = some ? top - low + 1 : 0;  // the highest limb holds what is carried
    planes.assign(static_cast<std::size_t>(size * cells), 0);
    for (const Placed& part : parts) {
      const Size count = part.table.count[b];
      if (count == 0) continue;
      const Limb flip = part.minus ? -1 : 0;
      for (Size c = 0; c < part.table.k; ++c) {
        const Limb* from = part.table.limbs + part.table.start[b] + c * width;
        unsigned char carry[block_columns];
        std::fill_n(carry, block_columns, static_cast<unsigned char>(part.minus));
        for (Size i = part.table.low[b] - low; i < size; ++i) {
          const Size own = i - (part.table.low[b] - low);
          const Limb* limb = from + std::min(own, count - 1) * part.table.k * width;
          Limb* to = &planes[(i * k + part.index[c]) * width];
          const bool beyond = own >= count;
          for (Size j = 0; j < width; ++j) {
            const Word64 v = static_cast<Word64>((beyond ? limb[j] >> 63 : limb[j]) ^ flip);
            const Word64 a = static_cast<Word64>(to[j]), s = a + v, t = s + carry[j];
            carry[j] = static_cast<unsigned char>((s < a) | (t < s));
            to[j] = static_cast<Limb>(t);
          }
        }
      }
    }
    out.append(planes.data(), size, low, cells);
  }
}

// Column j of the result is columns[j] of parts[source[j]].
inline void gather(Size k, Size d, const std::vector<LimbView>& parts, const Limb* source, const Limb* columns, LimbTable& out) {
  out.k = k, out.d = d;
  std::vector<Limb> planes;
  for (Size b = 0; b < blocks_of(d); ++b) {
    const Size width = width_of(b, d), cells = k * width;
    Limb low = 0, top = 0;
    bool some = false;
    for (Size j = b * block_columns; j < b * block_columns + width; ++j) {
      const LimbView& part = parts[source[j]];
      const Size own = columns[j] / block_columns;
      if (part.count[own] == 0) continue;
      low = some ? std::min(low, part.low[own]) : part.low[own];
      top = some ? std::max(top, part.low[own] + part.count[own]) : part.low[own] + part.count[own];
      some = true;
    }
    const Size size = top - low;
    planes.assign(static_cast<std::size_t>(size * cells), 0);
    for (Size j = 0; j < width; ++j) {
      const LimbView& part = parts[source[b * block_columns + j]];
      const Size column = columns[b * block_columns + j], own = column / block_columns;
      const Size count = part.count[own], stride = part.stride(column);
      if (count == 0) continue;
      for (Size c = 0; c < k; ++c) {
        const Limb* from = part.cell(c, column);
        for (Size i = part.low[own] - low; i < size; ++i) {
          const Size at = i - (part.low[own] - low);
          planes[i * cells + c * width + j] = at < count ? from[at * stride] : from[(count - 1) * stride] >> 63;
        }
      }
    }
    out.append(planes.data(), size, low, cells);
  }
}

}  // namespace deciban
