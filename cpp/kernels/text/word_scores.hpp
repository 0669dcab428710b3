// Words and their classes: sums of counts by class, unions of vocabularies, and scores of counted rows.
//
// A table of words has, for word j, cells [start[j], start[j + 1]): the classes that have the word, and a number for each.
#pragma once
#include <algorithm>
#include <cmath>
#include "kernels/text/tokenizer.hpp"

namespace deciban::text {

// What a word that a row has `count` times is worth.
enum class Value { presence, count, log_count };

inline double worth(Value value, u32 count) {
  if (value == Value::presence) return 1.0;
  return value == Value::count ? count : 1.0 + std::log(static_cast<double>(count));
}

// out[i, c] += Σ_j x_j (unit[c] + weight[j, c]). Where there is a `scale`, x_j is scale_j · worth, and |x| = 1.
struct Scorer {
  const std::int64_t* start;
  const std::int32_t* label;
  const double *weight, *unit, *scale;  // scale may be null
  u32 words;
  std::int64_t cells;
  std::size_t k;
  Value value;

  void row(const Counted* cell, const Counted* end, const u32* column, double* out) const {
    double size = 1.0, sum = 0.0;
    if (scale != nullptr) {
      double square = 0.0;
      for (const Counted* p = cell; p < end; ++p)
        if (const u32 j = column[p->id]; j < words) square += std::pow(scale[j] * worth(value, p->count), 2);
      if (square > 0) size = 1.0 / std::sqrt(square);
    }
    for (; cell < end; ++cell) {
      if (cell + 16 < end) __builtin_prefetch(column + cell[16].id);
      if (cell + 10 < end)
        if (const u32 soon = column[cell[10].id]; soon < words) __builtin_prefetch(start + soon);
      if (cell + 4 < end)
        if (const u32 next = column[cell[4].id]; next < words) {
          __builtin_prefetch(weight + start[next]);
          __builtin_prefetch(label + start[next]);
        }
      const u32 j = column[cell->id];
      if (j >= words) {
        if (j != nothing) refuse("column must hold numbers of words");
        continue;
      }
      const double x = worth(value, cell->count) * (scale == nullptr ? 1.0 : size * scale[j]);
      sum += x;
      const std::int64_t first = start[j], last = start[j + 1];
      if (first < 0 || last > cells) refuse("start must hold numbers of cells");
      if (last - first == static_cast<std::int64_t>(k)) {  // a word of all classes, as common words are: no need to look which
        add(x, weight + first, k, out);
      } else {
        for (std::int64_t p = first; p < last; ++p) {
          const auto c = static_cast<u32>(label[p]);
          if (c >= k) refuse("label must hold numbers of classes");
          out[c] += x * weight[p];
        }
      }
    }
    add(sum, unit, k, out);
  }

  // out += x · all, which do not overlap
  static void add(double x, const double* __restrict all, std::size_t k, double* __restrict out) {
    for (std::size_t c = 0; c < k; ++c) out[c] += x * all[c];
  }
};

inline void score(const CountedRows& piece, const u32* column, const Scorer& scorer, double* out) {
  const Counted* cell = piece.cells.data();
  for (const u32 length : piece.length) {
    scorer.row(cell, cell + length, column, out);
    cell += length;
    out += scorer.k;
  }
}

// The words of rows order[from] … order[to − 1]: Σ x and in how many rows, words in the order in which they came.
class ClassWords {
 public:
  explicit ClassWords(std::size_t d) : place(d, nothing) {}

  void read(const std::int64_t* indptr, const std::int32_t* indices, const double* values, const std::int64_t* order, std::size_t from, std::size_t to) {
    word.clear();
    count.clear();
    rows.clear();
    for (std::size_t r = from; r < to; ++r)
      for (std::int64_t p = indptr[order[r]]; p < indptr[order[r] + 1]; ++p) {
        if (static_cast<std::size_t>(indices[p]) >= place.size()) refuse("indices must hold numbers of columns");
        u32& at = place[static_cast<std::size_t>(indices[p])];
        if (at == nothing) {
          at = static_cast<u32>(word.size());
          word.push_back(indices[p]);
          count.push_back(0.0);
          rows.push_back(0.0);
        }
        count[at] += values[p];
        rows[at] += 1.0;
      }
    for (const std::int32_t j : word) place[static_cast<std::size_t>(j)] = nothing;
  }

  std::vector<std::int32_t> word;
  std::vector<double> count, rows;

 private:
  std::vector<u32> place;
};

struct Terms {
  const char* letters;
  const std::int64_t* offsets;
  std::size_t n;

  std::size_t size(std::size_t i) const { return static_cast<std::size_t>(offsets[i + 1] - offsets[i]); }
  int compare(std::size_t i, const Terms& other, std::size_t j) const {
    const std::size_t a = size(i), b = other.size(j);
    const int order = std::memcmp(letters + offsets[i], other.letters + other.offsets[j], std::min(a, b));
    return order != 0 ? order : (a > b) - (a < b);
  }
};

// Where each of two sorted lists' terms stands in their union, whose size is returned.
inline std::int64_t unite(const Terms& a, const Terms& b, std::int64_t* place_a, std::int64_t* place_b) {
  std::size_t i = 0, j = 0;
  std::int64_t at = 0;
  for (; i < a.n || j < b.n; ++at) {
    const int order = i == a.n ? 1 : j == b.n ? -1 : a.compare(i, b, j);
    if (order <= 0) place_a[i++] = at;
    if (order >= 0) place_b[j++] = at;
  }
  return at;
}

}  // namespace deciban::text
