// Runs of characters of one class in UTF-8: words, or what lies between spaces.
#pragma once
#include <algorithm>
#include "dispatch/load.hpp"
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

// run(start, end) for every longest run of members in text[0, size), in order. `text` may be read 64 bytes past its end.
template <class F>
void each_run(const char* text, std::size_t size, const Class& set, const Unicode& unicode, F&& run) {
  constexpr std::size_t blocks = 32;  // of 64 bytes, whose masks are made in one call
  u64 masks[blocks], highs[blocks];
  u64 spill = 0;   // members among the first bytes of the next 64: tails of a character that started before
  u64 inside = 0;  // 1 while a run goes on
  std::size_t start = 0;
  for (std::size_t at = 0; at < size; at += 64) {
    const std::size_t block = at / 64 % blocks;
    if (block == 0) kernels().text.member_masks(text + at, std::min(blocks, (size - at + 63) / 64), set.row, masks, highs);
    u64 high = highs[block], in = masks[block] | spill;
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
