// Texts → tokens and n-grams → how often each occurs in each row.
//
// A row's counts are kept as (number, count) pairs in the order the tokens first occurred; `fill` turns numbers into
// columns and sorts each row, so the numbers themselves, which depend on who counted what first, never show.
#pragma once
#include "kernels/text/lexicon.hpp"
#include "kernels/core/radix_sort.hpp"
#include "kernels/text/char_class.hpp"
#include <type_traits>

namespace deciban::text {

enum class Analyzer { words, chars, chars_in_words };

struct Settings {
  Analyzer analyzer = Analyzer::words;
  u32 min_n = 1, max_n = 1;
  u32 least = 2;  // characters of a token
  Class tokens, black;  // what a token is made of; what is no space
};

struct Counted {
  u32 id, count;
  Counted() {}  // a buffer of these grows without being zeroed
  Counted(u32 id, u32 count) : id(id), count(count) {}
};

// The counts of some rows, one after the other; row i has length[i] of them.
struct CountedRows {
  std::vector<Counted> cells;
  std::vector<u32> length;
};

// What one thread needs beside its lexicon. All counts are 0 between rows.
struct Workspace {
  struct Tally {
    u32 count = 0, rows = 0;  // in this row; rows so far that have it
  };
  Lowered lowered, squeezed;
  Scattered<Tally> tally;
  std::vector<Counted> cells;  // of the piece in hand: one buffer for all, so that growing it is paid once
  std::vector<u32> touched, ids, grams;  // the first `distinct` of `touched`: what this row has
  std::size_t distinct = 0;
  Token block[256];
  u64 hash[256];
  u32 filled = 0;

  // Whether a token is new to its row cannot be foretold, so there is no branch on it. Needs `expect`.
  void bump(u32 id) {
    touched[distinct] = id;
    distinct += tally[id].count++ == 0;
  }
  void expect(std::size_t tokens) {  // there is room for one more than can be different
    const std::size_t most = std::min(distinct + tokens, tally.size()) + 1;
    if (touched.size() < most) touched.resize(std::max(most, std::min(2 * most, tally.size() + 1)));
  }
  void reserve(u32 n) {
    if (tally.size() < n) tally.resize(std::max<std::size_t>(n, tally.size() * 3 / 2));
  }
  void finish(CountedRows& piece) {
    const std::size_t before = cells.size();
    cells.resize(before + distinct);
    Counted* out = cells.data() + before;
    for (std::size_t i = 0; i < distinct; ++i) {
      Tally& here = tally[touched[i]];
      *out++ = {touched[i], here.count};
      here.count = 0;
      ++here.rows;
    }
    piece.length.push_back(static_cast<u32>(distinct));
    distinct = 0;
  }
  void hand_over(CountedRows& piece) {
    piece.cells.assign(cells.begin(), cells.end());
    cells.clear();
    spare(cells);
    spare(touched);
    spare(ids);
    spare(grams);
    spare(lowered.memory);
    spare(squeezed.memory);
  }
  template <class T>
  static void spare(std::vector<T>& v) {  // what a giant text has needed is not kept for the small ones that follow
    if (v.capacity() * sizeof(T) > (std::size_t{1} << 22)) std::vector<T>().swap(v);
  }
  void abandon() {  // after a failure half-way through a row
    for (std::size_t i = 0; i < distinct; ++i) tally[touched[i]].count = 0;
    distinct = filled = 0;
  }
};

// f(text, size) for each token of a lowered text.
template <class F>
void each_token(const Lowered& x, const char* text, const Settings& s, const Unicode& unicode, F&& f) {
  each_run(text, x.size, s.tokens, unicode, [&](std::size_t start, std::size_t end) {
    const std::size_t size = end - start;
    if (size < s.least) return;
    if (!x.ascii && size < 4 * std::size_t{s.least}) {
      u32 characters = 0;
      for (std::size_t i = start; i < end; ++i) characters += (text[i] & 0xC0) != 0x80;
      if (characters < s.least) return;
    }
    f(text + start, static_cast<u32>(size));
  });
}

// f(text, size) for each window of min_n to max_n characters in [p, end).
template <class F>
void each_window(const char* p, const char* end, bool ascii, u32 min_n, u32 max_n, F&& f) {
  if (ascii) {
    for (std::ptrdiff_t n = min_n; n <= static_cast<std::ptrdiff_t>(max_n) && n <= end - p; ++n)
      for (const char* q = p; q + n <= end; ++q) f(q, static_cast<u32>(n));
    return;
  }
  for (; p < end; p += width(*p)) {
    const char* q = p;
    for (u32 n = 1; n <= max_n && q < end; ++n) {
      q += width(*q);
      if (n >= min_n) f(p, static_cast<u32>(q - p));
    }
  }
}

// f(text, size) for each n-gram of characters: of the text with runs of spaces made one, or of ` word ` for each word.
template <class F>
void each_char_gram(Lowered& x, Lowered& squeezed, const Settings& s, const Unicode& unicode, F&& f) {
  char* const text = x.text();
  if (s.analyzer == Analyzer::chars_in_words) {
    each_run(text, x.size, s.black, unicode, [&](std::size_t start, std::size_t end) {
      char *p = text + start - 1, *stop = text + end + 1;  // spaces lie, or memory to spare, on both sides
      *p = *(stop - 1) = ' ';
      u32 characters = static_cast<u32>(stop - p);
      if (!x.ascii) {
        characters = 0;
        for (const char* q = p; q < stop; ++q) characters += (*q & 0xC0) != 0x80;
      }
      each_window(p, stop, x.ascii, s.min_n, std::min(s.max_n, characters - 1), f);
      if (s.max_n >= characters) f(p, static_cast<u32>(stop - p));  // a word as short as that counts once
    });
    return;
  }
  squeezed.room(x.size);
  char *out = squeezed.text(), *const begin = out;
  std::size_t from = 0;
  const auto gap = [&](std::size_t to) {
    if (to == from) return;
    const bool single = from + width(text[from]) == to;
    if (single) {
      std::memcpy(out, text + from, to - from);
      out += to - from;
    } else {
      *out++ = ' ';
    }
  };
  each_run(text, x.size, s.black, unicode, [&](std::size_t start, std::size_t end) {
    gap(start);
    std::memcpy(out, text + start, end - start);
    out += end - start;
    from = end;
  });
  gap(x.size);
  each_window(begin, out, x.ascii, s.min_n, s.max_n, f);
}

// Counts rows. With `grow` unknown tokens get new numbers, else they are passed over and the lexicon is only read.
template <bool grow>
class Counter {
 public:
  Counter(std::conditional_t<grow, Lexicon, const Lexicon>& lexicon, Workspace& workspace, const Settings& s, const Unicode& unicode)
      : lexicon(lexicon), workspace(workspace), s(s), unicode(unicode) {
    workspace.reserve(lexicon.next);
  }

  void row(const Doc& doc, const Transcoder& transcoder, CountedRows& piece) {
    transcoder.read(doc, workspace.lowered);
    if (workspace.lowered.size >= nothing) throw std::length_error("a text of more than 4 GB");
    if (s.analyzer == Analyzer::words && s.max_n == 1) {
      const auto count = [&](u32 id) {
        if (id >= lexicon.stops) bump(id);
      };
      each_token(workspace.lowered, workspace.lowered.text(), s, unicode, [&](const char* p, u32 n) { put(p, n, count); });
      flush(count);
    } else if (s.analyzer == Analyzer::words) {
      workspace.ids.clear();
      const auto keep = [&](u32 id) {
        if (id >= lexicon.stops) workspace.ids.push_back(id);
      };
      each_token(workspace.lowered, workspace.lowered.text(), s, unicode, [&](const char* p, u32 n) { put(p, n, keep); });
      flush(keep);
      word_grams();
    } else {
      const auto count = [&](u32 id) { bump(id); };
      each_char_gram(workspace.lowered, workspace.squeezed, s, unicode, [&](const char* p, u32 n) { put(p, n, count); });
      flush(count);
    }
    workspace.finish(piece);
  }

  // All numbers of cells are less.
  u32 numbers() const { return lexicon.next; }

 private:
  std::conditional_t<grow, Lexicon, const Lexicon>& lexicon;
  Workspace& workspace;
  const Settings& s;
  const Unicode& unicode;

  void bump(u32 id) {
    if (!grow && id == nothing) return;
    workspace.bump(id);
  }

  // Look-ups go in blocks: all hashes first, so that memory is on its way when it is needed.
  template <class F>
  void put(const char* p, u32 n, F&& take) {
    const Token t = token(p, n);
    const u64 h = t.hash();
    lexicon.words.prefetch(h);
    workspace.block[workspace.filled] = {t.first, t.second, t.text, t.size};  // by parts: a copy of the whole waits for their stores
    workspace.hash[workspace.filled] = h;
    if (++workspace.filled == 256) flush(take);
  }

  template <class F>
  void flush(F&& take) {
    if (grow) workspace.reserve(lexicon.next + workspace.filled);
    workspace.expect(workspace.filled);
    for (u32 i = 0; i < workspace.filled; ++i) lexicon.words.prefetch_entry(workspace.hash[i]);
    for (u32 i = 0; i < workspace.filled; ++i) {
      if constexpr (grow) {
        take(lexicon.words.add(workspace.block[i], workspace.hash[i], lexicon.next));
      } else {
        take(lexicon.words.find(workspace.block[i], workspace.hash[i]));
      }
    }
    workspace.filled = 0;
  }

  void word_grams() {
    const std::vector<u32>& ids = workspace.ids;
    if (s.min_n == 1) {
      workspace.expect(ids.size());
      for (const u32 id : ids) bump(id);
    }
    if (s.max_n > 1) workspace.grams = ids;  // grams[i]: the n-gram that starts at word i, for n = 1, 2, …
    for (std::size_t n = 2; n <= s.max_n && n <= ids.size(); ++n) {
      const std::size_t most = ids.size() - n + 1;
      if (grow) workspace.reserve(lexicon.next + static_cast<u32>(most));
      workspace.expect(most);
      for (std::size_t i = 0; i < most; ++i) {
        if (i + 12 < most) lexicon.pairs.prefetch(Pairs::hash(workspace.grams[i + 12], ids[i + 12 + n - 1]));
        u32& gram = workspace.grams[i];
        if constexpr (grow) {
          gram = lexicon.pairs.add(gram, ids[i + n - 1], lexicon.next);
        } else {
          gram = gram == nothing || ids[i + n - 1] == nothing ? nothing : lexicon.pairs.find(gram, ids[i + n - 1]);
        }
        if (n >= s.min_n) bump(gram);
      }
    }
  }
};

}  // namespace deciban::text
