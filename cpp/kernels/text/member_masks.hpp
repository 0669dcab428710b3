// Which of some bytes are in a set of ASCII characters, as bits.
#pragma once
#if defined(__AVX2__) || defined(__AVX512BW__)
#include <immintrin.h>
#endif
#include <cstddef>
#include <cstdint>

namespace deciban::text {

constexpr long long high_bits = static_cast<long long>(0x8040201008040201u);  // byte h: bit h, for h = 0 … 7

// Of `count` times 64 bytes. Bit i of in[b]: byte i of block b is a member; of high[b]: it is not ASCII. The set is 16 bytes,
// four times over: bit h of rows[l] says whether the character with the high four bits h and the low four bits l is a member.
inline void member_masks(const char* text, std::size_t count, const std::uint8_t* rows, std::uint64_t* in, std::uint64_t* high) {
#if defined(__AVX512BW__)
  const __m512i set = _mm512_loadu_si512(rows);
  const __m512i bits = _mm512_set4_epi64(0, high_bits, 0, high_bits);
  const __m512i low = _mm512_set1_epi8(15);
  for (std::size_t b = 0; b < count; ++b) {
    const __m512i v = _mm512_loadu_si512(text + 64 * b);
    const __m512i row = _mm512_shuffle_epi8(set, _mm512_and_si512(v, low));
    const __m512i bit = _mm512_shuffle_epi8(bits, _mm512_and_si512(_mm512_srli_epi16(v, 4), low));
    in[b] = _mm512_test_epi8_mask(row, bit);
    high[b] = _mm512_movepi8_mask(v);
  }
#elif defined(__AVX2__)
  const __m256i set = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows));
  const __m256i bits = _mm256_set_epi64x(0, high_bits, 0, high_bits);
  const __m256i low = _mm256_set1_epi8(15);
  for (std::size_t b = 0; b < count; ++b) {
    std::uint64_t inside = 0, above = 0;
    for (int half = 0; half < 2; ++half) {
      const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + 64 * b + 32 * half));
      const __m256i row = _mm256_shuffle_epi8(set, _mm256_and_si256(v, low));
      const __m256i bit = _mm256_shuffle_epi8(bits, _mm256_and_si256(_mm256_srli_epi16(v, 4), low));
      const __m256i out = _mm256_cmpeq_epi8(_mm256_and_si256(row, bit), _mm256_setzero_si256());
      inside |= std::uint64_t{static_cast<std::uint32_t>(~_mm256_movemask_epi8(out))} << (32 * half);
      above |= std::uint64_t{static_cast<std::uint32_t>(_mm256_movemask_epi8(v))} << (32 * half);
    }
    in[b] = inside;
    high[b] = above;
  }
#else
  for (std::size_t b = 0; b < count; ++b) {
    std::uint64_t inside = 0, above = 0;
    for (int i = 0; i < 64; ++i) {
      const std::uint8_t c = static_cast<std::uint8_t>(text[64 * b + i]);
      above |= std::uint64_t{c} >> 7 << i;
      inside |= std::uint64_t{c < 0x80 && (rows[c & 15] >> (c >> 4) & 1)} << i;
    }
    in[b] = inside;
    high[b] = above;
  }
#endif
}

}  // namespace deciban::text
