// Runs of characters of one class in UTF-8: words, or what lies between spaces.
#pragma once
#if defined(__AVX2__) || defined(__AVX512BW__)
#include <immintrin.h>
#endif
#include "kernels/text/utf8.hpp"

namespace deciban::text {

// A set of characters: any of ASCII; beyond, all of Python's \w, all that is no \s, or none.
struct Class {
  enum Beyond { none = 0, words = 1, no_spaces = 2 };
  u8 row[64] = {};  // row[low four bits] has bit `high four bits` for each ASCII member; four times over
  Beyond beyond = none;

  void add(u8 c) {
    for (int copy = 0; copy < 64; copy += 16) row[copy | (c & 15)] |= static_cast<u8>(1u << (c >> 4));
  }
  bool has_ascii(u8 c) const { return row[c & 15] >> (c >> 4) & 1; }
  bool has(u32 c, const Unicode& unicode) const {
    if (c < 0x80) return has_ascii(static_cast<u8>(c));
    const u8 f = unicode.of(c);
    return beyond == words ? f & Unicode::word : beyond == no_spaces ? !(f & Unicode::space) : false;
  }
};

constexpr long long high_bits = static_cast<long long>(0x8040201008040201u);  // byte h: bit h, for h = 0 … 7

// Bit i: byte i of 64 is an ASCII member. *high, bit i: byte i is not ASCII.
inline u64 members(const char* p, const Class& set, u64* high) {
#if defined(__AVX512BW__)
  const __m512i v = _mm512_loadu_si512(p);
  *high = _mm512_movepi8_mask(v);
  const __m512i rows = _mm512_loadu_si512(set.row);
  const __m512i bits = _mm512_set4_epi64(0, high_bits, 0, high_bits);
  const __m512i low = _mm512_set1_epi8(15);
  const __m512i row = _mm512_shuffle_epi8(rows, _mm512_and_si512(v, low));
  const __m512i bit = _mm512_shuffle_epi8(bits, _mm512_and_si512(_mm512_srli_epi16(v, 4), low));
  return _mm512_test_epi8_mask(row, bit);
#elif defined(__AVX2__)
  const __m256i rows = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(set.row));
  const __m256i bits = _mm256_set_epi64x(0, high_bits, 0, high_bits);
  const __m256i low = _mm256_set1_epi8(15);
  u64 in = 0;
  *high = 0;
  for (int half = 0; half < 2; ++half) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32 * half));
    const __m256i row = _mm256_shuffle_epi8(rows, _mm256_and_si256(v, low));
    const __m256i bit = _mm256_shuffle_epi8(bits, _mm256_and_si256(_mm256_srli_epi16(v, 4), low));
    const __m256i out = _mm256_cmpeq_epi8(_mm256_and_si256(row, bit), _mm256_setzero_si256());
    in |= static_cast<u64>(static_cast<u32>(~_mm256_movemask_epi8(out))) << (32 * half);
    *high |= static_cast<u64>(static_cast<u32>(_mm256_movemask_epi8(v))) << (32 * half);
  }
  return in;
#else
  u64 in = 0, out = 0;
  for (int i = 0; i < 64; ++i) {
    const u8 c = static_cast<u8>(p[i]);
    out |= static_cast<u64>(c >> 7) << i;
    in |= static_cast<u64>(c < 0x80 && set.has_ascii(c)) << i;
  }
  *high = out;
  return in;
#endif
}

// run(start, end) for every longest run of members in text[0, size), in order. `text` may be read 64 bytes past its end.
template <class F>
void each_run(const char* text, std::size_t size, const Class& set, const Unicode& unicode, F&& run) {
  u64 spill = 0;   // members among the first bytes of the next 64: tails of a character that started before
  u64 inside = 0;  // 1 while a run goes on
  std::size_t start = 0;
  for (std::size_t at = 0; at < size; at += 64) {
    u64 high, in = members(text + at, set, &high) | spill;
    const u64 real = size - at < 64 ? (u64{1} << (size - at)) - 1 : ~u64{0};
    spill = 0;
    for (high &= real; high; high &= high - 1) {
      const int i = __builtin_ctzll(high);
      const char* p = text + at + i;
      if ((*p & 0xC0) == 0x80 || !set.has(get(p), unicode)) continue;
      const u64 bytes = (u64{1} << width(*p)) - 1;
      in |= bytes << i;
      if (i > 60) spill |= bytes >> (64 - i);
    }
    in &= real;
    u64 edges = in ^ (in << 1 | inside);  // a bit where a run starts, a bit behind its end, in turn
    inside = in >> 63;
    bool open = edges && !(in & (edges & -edges));  // the first edge ends what goes on
    for (; edges; edges &= edges - 1, open = !open) {
      const std::size_t here = at + __builtin_ctzll(edges);
      if (open) {
        run(start, here);
      } else {
        start = here;
      }
    }
  }
  if (inside) run(start, size);
}

}  // namespace deciban::text
