// Several lexicons → one sorted list of terms, the same whoever counted what.
//
// Every lexicon is sorted by itself, then all are merged. Words sort by their bytes. An n-gram sorts by (its first n − 1
// words, its last word): a space sorts below every letter, so the rank of the shorter n-gram and the rank of the word,
// as one 64-bit number, say where "a b" lies between "a", "a c" and "aa". Merging uses the lexicons and desks up: what
// has been read for the last time is given back at once, for this is where the most memory is needed.
#pragma once
#include <stdexcept>
#include "kernels/text/tokenizer.hpp"

namespace deciban::text {

inline u64 big_endian(u64 v) { return __builtin_bswap64(v); }

class Merged {
 public:
  explicit Merged(std::vector<Lexicon*> lexicons, std::vector<Workspace*> desks) : desks(std::move(desks)) {
    for (Lexicon* lexicon : lexicons) {
      Part part;
      part.lexicon = lexicon;
      parts.push_back(std::move(part));
    }
  }

  // First for every part, in any order, then `join`; first for level 1 (words), then for 2-grams, and so on.
  void sort(std::size_t p, u32 level) {
    if (p >= parts.size() || level != levels.size() + 1 || parts[p].done >= level) throw std::invalid_argument("each part is sorted once for each level, in their order");
    parts[p].done = level;
    if (level == 1) {
      sort_words(parts[p]);
    } else {
      sort_grams(parts[p], level);
    }
  }

  void join(u32 level) {
    for (const Part& part : parts)
      if (part.done != level) throw std::invalid_argument("parts are sorted before they are joined");
    if (level != levels.size() + 1) throw std::invalid_argument("levels are joined in their order");
    std::vector<std::size_t> head(parts.size(), 0);
    std::vector<Item> all;
    std::size_t most = 0;
    for (const Part& part : parts) most = std::max(most, part.sorted.size());
    all.reserve(most);
    for (;;) {
      std::size_t least = parts.size();
      for (std::size_t p = 0; p < parts.size(); ++p)
        if (head[p] < parts[p].sorted.size() && (least == parts.size() || before(p, head[p], least, head[least], level))) least = p;
      if (least == parts.size()) break;
      const Item item = parts[least].sorted[head[least]];
      const u32 rank = static_cast<u32>(all.size());
      all.push_back(level == 1 ? Item{least, item.id} : item);  // of a word: which part has it, as which entry
      for (std::size_t p = least; p < parts.size(); ++p)
        if (head[p] < parts[p].sorted.size() && same(p, head[p], least, item, level))
          parts[p].rank[number(parts[p], parts[p].sorted[head[p]++].id, level)] = rank;
    }
    for (Part& part : parts) {
      std::vector<Item>().swap(part.sorted);
      if (level == 1) part.word_rank = part.rank;
    }
    levels.push_back(std::move(all));
  }

  std::size_t size() const { return levels.empty() ? 0 : levels.back().size(); }

  // Once, when all levels are joined: in how many rows each term occurs; 0 for words that only n-grams are made of.
  void rows(std::int64_t* out) {
    for (Part& part : parts) part.done = nothing;  // no more levels
    std::fill(out, out + size(), 0);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      Part& part = parts[p];
      Scattered<Workspace::Tally>& tally = desks[p]->tally;
      for (std::size_t id = 0; id < part.rank.size(); ++id)
        if (part.rank[id] != nothing && id < tally.size()) out[part.rank[id]] += tally[id].rows;
      release(tally);
      release(part.word_rank);
      release(part.gram);
      release(part.word);
      release(part.level);
    }
  }

  // The column of each number of part p, given that of each term.
  void columns(std::size_t p, const u32* column, u32* out) const {
    for (std::size_t id = 0; id < parts[p].rank.size(); ++id) out[id] = parts[p].rank[id] == nothing ? nothing : column[parts[p].rank[id]];
  }
  std::size_t numbers(std::size_t p) const {
    if (p >= parts.size()) throw std::invalid_argument("there are fewer parts");
    return parts[p].rank.size();
  }

  // length[j]: bytes of the term in column j, of those among [from, to).
  void lengths(std::size_t from, std::size_t to, const u32* column, std::int64_t* length) const {
    for (std::size_t i = from; i < to; ++i) {
      if (column[i] == nothing) continue;
      std::int64_t bytes = -1;
      each_word(levels.size(), i, [&](const Words&, const Words::Entry& word) { bytes += 1 + word.size; });
      length[column[i]] = bytes;
    }
  }

  // The bytes of the same terms, each from letters[offset of its column] on.
  void spell(std::size_t from, std::size_t to, const u32* column, const std::int64_t* offsets, char* letters) const {
    for (std::size_t i = from; i < to; ++i) {
      if (column[i] == nothing) continue;
      char *const start = letters + offsets[column[i]], *const end = letters + offsets[column[i] + 1], *out = start;
      each_word(levels.size(), i, [&](const Words& words, const Words::Entry& word) {
        if (end - out < static_cast<std::ptrdiff_t>(word.size) + (out != start)) throw std::invalid_argument("room for each term is needed");
        if (out != start) *out++ = ' ';
        char room[16];
        std::memcpy(out, words.text(word, room), word.size);
        out += word.size;
      });
    }
  }

 private:
  struct [[gnu::packed]] Item {
    u64 key;
    u32 id;
  };
  struct Part {
    Lexicon* lexicon = nullptr;
    u32 done = 0;                         // the last level that it was sorted for
    std::vector<u32> rank, word_rank;     // of each number; among the words alone
    std::vector<u32> gram, word;          // what each number that is an n-gram is made of
    std::vector<u8> level;                // of each number
    std::vector<Item> sorted;
  };
  std::vector<Part> parts;
  std::vector<Workspace*> desks;
  std::vector<std::vector<Item>> levels;  // of level 1: (part, entry); above: (rank of the shorter << 32 | word + 1, –)

  template <class Vector>
  static void release(Vector& v) {
    Vector().swap(v);
  }

  static u32 number(const Part& part, u32 id, u32 level) { return level == 1 ? part.lexicon->words[id].id : id; }

  static bool less(const Words& a, const Words::Entry& x, const Words& b, const Words::Entry& y) {
    if (x.size <= 16 && y.size <= 16) {
      if (x.first != y.first) return big_endian(x.first) < big_endian(y.first);
      if (x.second != y.second) return big_endian(x.second) < big_endian(y.second);
      return x.size < y.size;  // one may end in zeros
    }
    char one[16], two[16];
    const int order = std::memcmp(a.text(x, one), b.text(y, two), std::min(x.size, y.size));
    return order ? order < 0 : x.size < y.size;
  }

  static bool equal(const Words& a, const Words::Entry& x, const Words& b, const Words::Entry& y) {
    if (x.size != y.size || x.first != y.first) return false;
    if (x.size <= 16) return x.second == y.second;
    char one[16], two[16];
    return std::memcmp(a.text(x, one), b.text(y, two), x.size) == 0;
  }

  bool before(std::size_t p, std::size_t i, std::size_t q, std::size_t j, u32 level) const {
    const Item &x = parts[p].sorted[i], &y = parts[q].sorted[j];
    if (x.key != y.key || level > 1) return x.key < y.key;
    const Words &a = parts[p].lexicon->words, &b = parts[q].lexicon->words;
    return less(a, a[x.id], b, b[y.id]);
  }

  bool same(std::size_t p, std::size_t i, std::size_t q, const Item& y, u32 level) const {
    const Item& x = parts[p].sorted[i];
    if (x.key != y.key || level > 1) return x.key == y.key;
    const Words &a = parts[p].lexicon->words, &b = parts[q].lexicon->words;
    return p == q || equal(a, a[x.id], b, b[y.id]);
  }

  // key: the first eight bytes, so that most comparisons look nowhere else.
  static void sort_words(Part& part) {
    const Lexicon& lexicon = *part.lexicon;
    const Words& words = lexicon.words;
    part.rank.assign(lexicon.next, nothing);
    for (u32 i = 0; i < words.size(); ++i) {
      if (words[i].id < lexicon.stops) continue;
      char room[16];
      const u64 first = words[i].size > 16 ? load64(words.text(words[i], room)) : words[i].first;
      part.sorted.push_back({big_endian(first), i});
    }
    std::sort(part.sorted.begin(), part.sorted.end(), [&](const Item& x, const Item& y) {
      return x.key != y.key ? x.key < y.key : less(words, words[x.id], words, words[y.id]);
    });
  }

  void sort_grams(Part& part, u32 level) {
    Lexicon& lexicon = *part.lexicon;
    if (part.rank.size() != lexicon.next) throw std::invalid_argument("lexicons have grown since they were sorted");
    if (level == 2) {
      part.gram.assign(lexicon.next, nothing);
      part.word.assign(lexicon.next, nothing);
      lexicon.pairs.each([&](const Pairs::Place& p) {
        part.gram[p.id] = p.gram;
        part.word[p.id] = p.word;
      });
      lexicon.pairs = Pairs();
      part.level.assign(lexicon.next, 1);
      for (u32 id = 0; id < lexicon.next; ++id)  // an n-gram is younger than what it is made of
        if (part.gram[id] != nothing) part.level[id] = static_cast<u8>(part.level[part.gram[id]] + 1);
    }
    std::vector<Item>& sorted = part.sorted;
    sorted.reserve(lexicon.next);
    for (u32 id = lexicon.stops; id < lexicon.next; ++id) {
      if (part.level[id] > level) continue;
      const u64 key = part.level[id] < level ? static_cast<u64>(part.rank[id]) << 32
                                             : static_cast<u64>(part.rank[part.gram[id]]) << 32 | (part.word_rank[part.word[id]] + 1);
      sorted.push_back({key, id});
    }
    std::vector<Item> room(sorted.size());
    const int low = bits_of(levels.front().size() + 1), high = bits_of(levels.back().size());
    const auto key = [](const Item& item) { return item.key; };
    Item* by_word = radix(sorted.data(), room.data(), sorted.size(), 0, low, key);
    if (by_word != sorted.data()) sorted.swap(room);
    Item* by_gram = radix(sorted.data(), room.data(), sorted.size(), 32, high, key);
    if (by_gram != sorted.data()) sorted.swap(room);
  }

  // f of each word of term i, in order.
  template <class F>
  void each_word(std::size_t level, std::size_t i, F&& f) const {
    const Item& item = levels[level - 1][i];
    if (level == 1) {
      const Words& words = parts[item.key].lexicon->words;
      f(words, words[item.id]);
      return;
    }
    each_word(level - 1, item.key >> 32, f);
    if (const u32 word = static_cast<u32>(item.key)) each_word(1, word - 1, f);
  }
};

}  // namespace deciban::text
