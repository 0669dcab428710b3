// Tokens → columns by MurmurHash3 (32 bits, seed 0), as scikit-learn does: |h| mod columns, the sign of h as the sign.
#pragma once
#include "kernels/text/tokenizer.hpp"

namespace deciban::text {

inline u32 turned(u32 v, int by) { return v << by | v >> (32 - by); }

inline u32 murmur(const char* p, u32 n) {
  const auto scrambled = [](u32 k) { return turned(k * 0xCC9E2D51u, 15) * 0x1B873593u; };
  u32 h = 0, left = n;
  for (; left >= 4; p += 4, left -= 4) {
    u32 k;
    std::memcpy(&k, p, 4);
    h = turned(h ^ scrambled(k), 13) * 5 + 0xE6546B64u;
  }
  u32 tail = 0;
  for (u32 i = 0; i < left; ++i) tail |= static_cast<u32>(static_cast<u8>(p[i])) << (8 * i);
  h ^= scrambled(tail);  // of 0 it is 0
  h ^= n;
  h = (h ^ h >> 16) * 0x85EBCA6Bu;
  h = (h ^ h >> 13) * 0xC2B2AE35u;
  return h ^ h >> 16;
}

struct Surrogate : std::exception {};

// Counts rows by hash. A cell is (column, signed sum); a sum may come out as 0.
class Hasher {
 public:
  Hasher(const Lexicon& stops, Workspace& workspace, const Settings& s, const Unicode& unicode, u32 columns, bool signs)
      : stops(stops), workspace(workspace), s(s), unicode(unicode), columns(columns), mask(columns & (columns - 1) ? 0 : columns - 1), signs(signs) {}

  void row(const Doc& doc, const Transcoder& transcoder, CountedRows& piece) {
    transcoder.read(doc, workspace.lowered);
    if (workspace.lowered.size >= nothing / 2) throw std::length_error("a text of more than 2 GB");
    if (workspace.lowered.surrogates && (s.analyzer != Analyzer::words || s.tokens.beyond == Class::no_spaces)) throw Surrogate();
    std::vector<u32>& keys = workspace.ids;
    keys.clear();
    if (s.analyzer != Analyzer::words) {
      each_char_gram(workspace.lowered, workspace.squeezed, s, unicode, [&](const char* p, u32 n) { keys.push_back(key(p, n)); });
    } else if (s.max_n == 1 && stops.next == 0) {
      each_token(workspace.lowered, workspace.lowered.text(), s, unicode, [&](const char* p, u32 n) { keys.push_back(key(p, n)); });
    } else {
      word_grams();
    }
    finish(piece);
  }

  // All numbers of cells are less.
  u32 numbers() const { return columns; }

 private:
  const Lexicon& stops;
  Workspace& workspace;
  const Settings& s;
  const Unicode& unicode;
  u32 columns, mask;
  bool signs;

  // Twice the column, + 1 where the hash is negative.
  u32 key(const char* p, u32 n) const {
    const u32 h = murmur(p, n);
    const bool negative = h >> 31;
    const u32 size = negative ? 0u - h : h;  // 2³¹ for the least of all
    const u32 column = mask || columns == 1 ? size & mask : h == 0x80000000u ? (0x7FFFFFFFu - (columns - 1)) % columns : size % columns;
    return column << 1 | (negative && signs);
  }

  // The tokens that are no stop words, joined by spaces: every n-gram is one stretch of that.
  void word_grams() {
    Lowered& joined = workspace.squeezed;
    joined.room(workspace.lowered.size + 1);
    std::vector<u32>& at = workspace.grams;  // where each token starts, and behind the last
    at.assign(1, 0);
    each_token(workspace.lowered, workspace.lowered.text(), s, unicode, [&](const char* p, u32 n) {
      const Token t = token(p, n);
      if (stops.words.find(t, t.hash()) != nothing) return;
      char* out = joined.text() + at.back();
      std::memcpy(out, p, n);
      out[n] = ' ';
      at.push_back(at.back() + n + 1);
    });
    for (std::size_t n = s.min_n; n <= s.max_n && n < at.size(); ++n)
      for (std::size_t i = 0; i + n < at.size(); ++i) workspace.ids.push_back(key(joined.text() + at[i], at[i + n] - at[i] - 1));
  }

  void finish(CountedRows& piece) {
    std::vector<u32>& keys = workspace.ids;
    workspace.grams.resize(keys.size());
    const u32* sorted = radix(keys.data(), workspace.grams.data(), keys.size(), 0, 1 + bits_of(columns - 1), [](u32 v) { return v; });
    const std::size_t before = workspace.cells.size();
    for (std::size_t i = 0; i < keys.size();) {
      const u32 column = sorted[i] >> 1;
      u32 sum = 0;  // modulo 2³²: a signed number
      for (; i < keys.size() && sorted[i] >> 1 == column; ++i) sum += sorted[i] & 1 ? nothing : 1;
      workspace.cells.push_back({column, sum});
    }
    piece.length.push_back(static_cast<u32>(workspace.cells.size() - before));
  }
};

}  // namespace deciban::text
