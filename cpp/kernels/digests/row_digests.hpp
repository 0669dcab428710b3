// Digests of rows by content: out[i] += Σ_j key(x[i, j]) · factor[j]  (mod 2^64), the same in any order of addition.
#pragma once
#include <algorithm>
#include <cstring>
#include "kernels/core/arguments.hpp"

namespace deciban {

// 64 bits of a number: 0 for 0 and −0, one value for every NaN. Each step is invertible, so no two numbers share a key.
inline Word digest_key(double v) {
  Word bits;
  std::memcpy(&bits, &v, sizeof bits);
  bits = bits == 0x8000000000000000u ? 0 : bits;
  bits = v == v ? bits : 0x7FF8000000000000u;
  bits ^= bits >> 32;  // whole numbers have their bits at the top only, and a product carries upwards
  bits *= 0x9E3779B97F4A7C15u;
  return bits ^ bits >> 32;
}

// Numbers, or codes: a negative code is a missing cell.
inline Word digest_term(double v, Word factor) { return digest_key(v) * factor; }
inline Word digest_term(float v, Word factor) { return digest_key(v) * factor; }
template <class C>
Word digest_term(C code, Word factor) {
  return digest_key(code < 0 ? __builtin_nan("") : static_cast<double>(code)) * factor;
}

constexpr Size digest_rows = 4096;  // whose sums stay in cache while the columns pass

// Contiguous columns, four at a time so that sums are loaded and stored less often.
template <class X>
void digest_columns(const X& x, const Word* factor, Word* out) {
  for (Size start = 0; start < x.n; start += digest_rows) {
    const Size end = std::min(x.n, start + digest_rows);
    Size j = 0;
    for (; j + 4 <= x.d; j += 4) {
      const auto *a = x.column(j), *b = x.column(j + 1), *c = x.column(j + 2), *d = x.column(j + 3);
      const Word fa = factor[j], fb = factor[j + 1], fc = factor[j + 2], fd = factor[j + 3];
#pragma omp simd
      for (Size i = start; i < end; ++i)
        out[i] += digest_term(a[i], fa) + digest_term(b[i], fb) + digest_term(c[i], fc) + digest_term(d[i], fd);
    }
    for (; j < x.d; ++j) {
      const auto* a = x.column(j);
      const Word fa = factor[j];
#pragma omp simd
      for (Size i = start; i < end; ++i) out[i] += digest_term(a[i], fa);
    }
  }
}

// Rows of few cells: a register holds cells of several rows.
template <class X>
void digest_narrow(const X& x, const Word* factor, Word* out) {
  constexpr Size block = 512;
  for (Size start = 0; start < x.n; start += block) {
    const Size end = std::min(x.n, start + block);
    for (Size j = 0; j < x.d; ++j) {
      const Word own = factor[j];
#pragma omp simd
      for (Size i = start; i < end; ++i) out[i] += digest_term(x.at(i, j), own);
    }
  }
}

// Along rows or columns, whichever are contiguous.
template <class X>
void digest_cells(const X& x, const Word* factor, Word* out) {
  if (x.row == 1) return digest_columns(x, factor, out);
  if (x.d < 8) return digest_narrow(x, factor, out);
  for (Size i = 0; i < x.n; ++i) {
    Word sum = 0;
    if (const typename X::Cell* row = x.rows_from(i)) {
#pragma omp simd reduction(+ : sum)
      for (Size j = 0; j < x.d; ++j) sum += digest_term(row[j], factor[j]);
    } else {
      for (Size j = 0; j < x.d; ++j) sum += digest_term(x.at(i, j), factor[j]);
    }
    out[i] += sum;
  }
}

// A stored 0 adds nothing, like a cell that is not stored.
template <class T>
void digest_cells(Csr<T> x, const Word* factor, Word* out) {
  for (Size i = 0; i < x.n; ++i) {
    Word sum = 0;
    for (Size p = x.indptr[i]; p < x.indptr[i + 1]; ++p) sum += digest_key(x.values[p]) * factor[x.indices[p]];
    out[i] += sum;
  }
}

// out[i] += Σ_j table[offset[j] + x[i, j]]. The last entry of each column, at offset[j + 1] − 1, is for missing cells and
// codes that the table lacks.
template <class C>
void digest_levels(Dense<C> x, const std::int64_t* offset, const Word* table, Word* out) {
  for (Size start = 0; start < x.n; start += digest_rows) {
    const Size end = std::min(x.n, start + digest_rows);
    for (Size j = 0; j < x.d; ++j) {
      const Word* own = table + offset[j];
      const Word last = static_cast<Word>(offset[j + 1] - offset[j] - 1);
      for (Size i = start; i < end; ++i) out[i] += own[std::min(static_cast<Word>(std::int64_t{x.at(i, j)}), last)];
    }
  }
}

// Every bit of the result depends on every bit of the digest, and no two digests become one (the finaliser of splitmix64).
inline void stir(const Word* digest, Size n, Word* out) {
#pragma omp simd
  for (Size i = 0; i < n; ++i) {
    Word bits = digest[i];
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
    out[i] = bits ^ bits >> 31;
  }
}

}  // namespace deciban
