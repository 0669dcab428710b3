// Tokens ↔ numbers. One number per token, and per pair (n-gram, next word): an n-gram is its first n − 1 words and the last.
#pragma once
#include <algorithm>
#include <stdexcept>
#include "kernels/core/huge_pages.hpp"
#include "kernels/text/utf8.hpp"

namespace deciban::text {

constexpr u32 nothing = 0xFFFFFFFFu;

// Refuse an argument; no part of the loops that call it, which stay in few registers.
[[noreturn, gnu::cold, gnu::noinline]] inline void refuse(const char* why) { throw std::invalid_argument(why); }

inline u64 load64(const char* p) {
  u64 v;
  std::memcpy(&v, p, 8);
  return v;
}

inline u64 mixed(u64 a, u64 b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<u64>(product) ^ static_cast<u64>(product >> 64);
}

// Some bytes, ready to be looked up: up to 16 lie in first and second themselves; of more, `first` is a hash.
struct Token {
  u64 first, second;
  const char* text;
  u32 size;

  u64 hash() const { return mixed(first ^ 0x9E3779B97F4A7C15u, second ^ 0xD1B54A32D192ED03u ^ size); }
};

inline u64 long_hash(const char* p, std::size_t n) {  // n > 16
  u64 h = n;
  for (; n > 16; p += 16, n -= 16) h = mixed(h ^ load64(p), load64(p + 8) ^ 0xA0761D6478BD642Fu);
  char tail[16] = {};
  std::memcpy(tail, p, n);
  return mixed(h ^ load64(tail), load64(tail + 8) ^ 0xE7037ED1A0B428DBu);
}

// May read 16 bytes from `text` on.
inline Token token(const char* text, u32 size) {
  static constexpr u64 mask[9] = {0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF, ~u64{0}};
  if (__builtin_expect(size > 16, 0)) return {long_hash(text, size), 0, text, size};
  return {load64(text) & mask[size < 8 ? size : 8], load64(text + 8) & mask[size > 8 ? size - 8 : 0], text, size};
}

// Open addressing: a place holds the number of an entry + 1 and half of its hash.
class Words {
 public:
  struct Entry {
    u64 first, second;  // as in Token, but second of a long one is where it lies in `letters`
    u32 size;
    u32 id;
  };

  Words() : places(1 << 12), bits(12) {}

  std::size_t size() const { return entries.size(); }
  const Entry& operator[](std::size_t i) const { return entries[i]; }
  void prefetch(u64 hash) const { __builtin_prefetch(&places[hash >> (64 - bits)]); }
  void prefetch_entry(u64 hash) const {
    const u32 one_more = static_cast<u32>(places[hash >> (64 - bits)]);
    __builtin_prefetch(entries.data() + one_more - (one_more != 0));
  }

  u32 find(const Token& t, u64 hash) const {
    const std::size_t at = seek(t, hash);
    return places[at] ? entries[static_cast<u32>(places[at]) - 1].id : nothing;
  }

  u32 add(const Token& t, u64 hash, u32& next) {
    const std::size_t at = seek(t, hash);
    if (__builtin_expect(places[at] != 0, 1)) return entries[static_cast<u32>(places[at]) - 1].id;
    if (next >= nothing - 1) throw std::length_error("more than four thousand million different tokens");
    u64 second = t.second;
    if (t.size > 16) {
      second = letters.size();
      letters.insert(letters.end(), t.text, t.text + t.size);
    }
    entries.push_back({t.first, second, t.size, next});
    places[at] = (hash & tag) << 32 | entries.size();
    if (entries.size() * 5 > places.size() * 3) grow();
    return next++;
  }

  // The bytes of an entry; short ones are unpacked into `room`.
  const char* text(const Entry& e, char (&room)[16]) const {
    if (e.size > 16) return letters.data() + e.second;
    std::memcpy(room, &e.first, 8);
    std::memcpy(room + 8, &e.second, 8);
    return room;
  }

 private:
  static constexpr u64 tag = 0xFFFFFFFFu;
  Scattered<u64> places;
  Scattered<Entry> entries;
  std::vector<char> letters;
  int bits;

  bool same(const Entry& e, const Token& t) const {
    if (e.first != t.first || e.size != t.size) return false;
    return t.size > 16 ? std::memcmp(letters.data() + e.second, t.text, t.size) == 0 : e.second == t.second;
  }

  std::size_t seek(const Token& t, u64 hash) const {
    std::size_t at = hash >> (64 - bits);
    for (u64 here; (here = places[at]) != 0; at = (at + 1) & (places.size() - 1))
      if ((here >> 32) == (hash & tag) && same(entries[static_cast<u32>(here) - 1], t)) break;
    return at;
  }

  void grow() {
    const std::size_t size = 2 * places.size();
    Scattered<u64>().swap(places);  // the entries know all: old and new need not be there at once
    places.resize(size);
    ++bits;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const Entry& e = entries[i];
      const u64 hash = Token{e.first, e.size > 16 ? 0 : e.second, nullptr, e.size}.hash();
      std::size_t at = hash >> (64 - bits);
      while (places[at]) at = (at + 1) & (places.size() - 1);
      places[at] = (hash & tag) << 32 | (i + 1);
    }
  }
};

// The pairs (n-gram, next word), each with a number of its own.
class Pairs {
 public:
  struct Place {
    u32 gram, word, id;
  };

  Pairs() : places(1 << 12, Place{nothing, nothing, nothing}), bits(12) {}

  static u64 hash(u32 gram, u32 word) {
    return mixed((static_cast<u64>(gram) << 32 | word) ^ 0x9E3779B97F4A7C15u, 0xD6E8FEB86659FD93u);
  }
  void prefetch(u64 hash) const { __builtin_prefetch(&places[hash >> (64 - bits)]); }

  u32 find(u32 gram, u32 word) const { return places[seek(gram, word)].id; }

  u32 add(u32 gram, u32 word, u32& next) {
    Place& here = places[seek(gram, word)];
    if (here.id != nothing) return here.id;
    if (next >= nothing - 1) throw std::length_error("more than four thousand million different n-grams");
    here = {gram, word, next};
    if (++used * 3 > places.size() * 2) grow();
    return next++;
  }

  template <class F>
  void each(F&& f) const {
    for (const Place& p : places)
      if (p.id != nothing) f(p);
  }
  std::size_t size() const { return used; }

 private:
  Scattered<Place> places;
  std::size_t used = 0;
  int bits;

  std::size_t seek(u32 gram, u32 word) const {
    std::size_t at = hash(gram, word) >> (64 - bits);
    while (places[at].id != nothing && (places[at].gram != gram || places[at].word != word)) at = (at + 1) & (places.size() - 1);
    return at;
  }

  void grow() {
    Scattered<Place> smaller(places.size() * 2, Place{nothing, nothing, nothing});
    places.swap(smaller);
    ++bits;
    for (const Place& p : smaller)
      if (p.id != nothing) places[seek(p.gram, p.word)] = p;
  }
};

// All tokens and n-grams seen so far. Numbers below `stops` are stop words, which count for nothing.
struct Lexicon {
  Words words;
  Pairs pairs;
  u32 next = 0, stops = 0;

  u32 add(const char* text, u32 size) {
    const Token t = token(text, size);
    return words.add(t, t.hash(), next);
  }
};

}  // namespace deciban::text
