// Pieces of counted rows → the rows of a CSR matrix: numbers become columns, columns are sorted within each row.
#pragma once
#include <cmath>
#include "kernels/text/tokenizer.hpp"

namespace deciban::text {

// How many cells each row keeps, and, where asked for, each column's total (a row counts once if `binary`).
inline void survey(const CountedRows& piece, const u32* column, bool binary, std::int64_t* length, std::int64_t* total, std::size_t columns) {
  const Counted* cell = piece.cells.data();
  for (std::size_t i = 0; i < piece.length.size(); ++i) {
    std::int64_t kept = 0;
    for (const Counted* end = cell + piece.length[i]; cell < end; ++cell) {
      const u32 at = column[cell->id];
      if (at == nothing) continue;
      ++kept;
      if (total == nullptr) continue;
      if (at >= columns) refuse("a total of every column is needed");
      total[at] += binary ? 1 : cell->count;
    }
    length[i] = kept;
  }
}

// Row i goes to [indptr[i], indptr[i + 1]).
template <class V>
void fill(const CountedRows& piece, const u32* column, u32 columns, bool binary, const std::int64_t* indptr, std::int32_t* indices, V* data) {
  std::vector<u64> room;
  const Counted* cell = piece.cells.data();
  for (std::size_t i = 0; i < piece.length.size(); ++i) {
    const std::size_t most = piece.length[i];
    if (room.size() < 2 * most) room.resize(2 * most);
    std::size_t n = 0;
    for (const Counted* end = cell + most; cell < end; ++cell) {
      const u32 at = column[cell->id];
      if (at != nothing) room[n++] = static_cast<u64>(at) << 32 | cell->count;
    }
    const u64* row = radix(room.data(), room.data() + most, n, 32, bits_of(columns), [](u64 v) { return v; });
    if (static_cast<std::int64_t>(n) != indptr[i + 1] - indptr[i]) refuse("room for the cells of each row is needed");
    std::int32_t* index = indices + indptr[i];
    V* value = data + indptr[i];
    for (std::size_t j = 0; j < n; ++j) {
      index[j] = static_cast<std::int32_t>(row[j] >> 32);
      value[j] = binary ? V(1) : static_cast<V>(static_cast<u32>(row[j]));
    }
  }
}

enum class Norm { none, l1, l2 };

// Hashed rows are sorted already; each is divided by its norm, unless that is 0.
template <class V>
void fill_hashed(const CountedRows& piece, bool binary, Norm norm, std::int32_t* indices, V* data) {
  const Counted* cell = piece.cells.data();
  const auto value = [&](const Counted& c) { return binary ? 1.0 : static_cast<double>(static_cast<std::int32_t>(c.count)); };
  for (const u32 length : piece.length) {
    double size = 0;
    for (u32 j = 0; j < length; ++j) size += norm == Norm::l1 ? std::fabs(value(cell[j])) : value(cell[j]) * value(cell[j]);
    if (norm == Norm::l2) size = std::sqrt(size);
    if (norm == Norm::none || size == 0) size = 1;
    for (u32 j = 0; j < length; ++j, ++cell) {
      *indices++ = static_cast<std::int32_t>(cell->id);
      *data++ = static_cast<V>(value(*cell) / size);
    }
  }
}

}  // namespace deciban::text
