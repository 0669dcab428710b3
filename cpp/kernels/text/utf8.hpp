// Texts as they lie in memory → one buffer of lower-cased UTF-8.
//
// UTF-8 sorts like code points do, so bytes are enough from here on. A surrogate is written like any other code point.
#pragma once
#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <vector>

namespace deciban::text {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

enum class Kind : u8 { ascii, latin, two, four, utf8 };  // how a text is stored: Python's four ways, or Arrow's

struct Doc {
  const void* data;
  std::size_t size;  // in units of its kind
  Kind kind;
};

// What the running Python says of each code point.
struct Unicode {
  static constexpr u32 classed = 0x40000, lowered = 0x20000;  // above: no letters, no capitals
  enum : u8 { word = 1, space = 2, whole = 4 };  // `whole`: its lower case depends on the text around or is longer
  std::vector<u8> flags = std::vector<u8>(classed);
  std::vector<u32> lower = std::vector<u32>(lowered);

  u8 of(u32 c) const { return c < classed ? flags[c] : 0; }
  u32 down(u32 c) const { return c < lowered ? lower[c] : c; }
};

inline char* put(char* out, u32 c) {
  if (c < 0x80) {
    *out++ = static_cast<char>(c);
  } else if (c < 0x800) {
    *out++ = static_cast<char>(0xC0 | c >> 6);
    *out++ = static_cast<char>(0x80 | (c & 63));
  } else if (c < 0x10000) {
    *out++ = static_cast<char>(0xE0 | c >> 12);
    *out++ = static_cast<char>(0x80 | (c >> 6 & 63));
    *out++ = static_cast<char>(0x80 | (c & 63));
  } else {
    *out++ = static_cast<char>(0xF0 | c >> 18);
    *out++ = static_cast<char>(0x80 | (c >> 12 & 63));
    *out++ = static_cast<char>(0x80 | (c >> 6 & 63));
    *out++ = static_cast<char>(0x80 | (c & 63));
  }
  return out;
}

// Bytes of the character that starts with b.
inline u32 width(char b) {
  const u8 c = static_cast<u8>(b);
  return c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
}

// The code point at p, of UTF-8 that `put` wrote.
inline u32 get(const char* p) {
  const u8* b = reinterpret_cast<const u8*>(p);
  switch (width(*p)) {
    case 1: return b[0];
    case 2: return (b[0] & 31u) << 6 | (b[1] & 63u);
    case 3: return (b[0] & 15u) << 12 | (b[1] & 63u) << 6 | (b[2] & 63u);
    default: return (b[0] & 7u) << 18 | (b[1] & 63u) << 12 | (b[2] & 63u) << 6 | (b[3] & 63u);
  }
}

struct NotUtf8 : std::exception {};

// The code point at p of somebody's UTF-8, which may be broken; moves p behind it.
inline u32 checked(const u8*& p, const u8* end) {
  const u32 b = *p;
  const u32 n = b < 0x80 ? 1 : b < 0xC2 ? 0 : b < 0xE0 ? 2 : b < 0xF0 ? 3 : b < 0xF5 ? 4 : 0;
  if (n == 0 || end - p < static_cast<std::ptrdiff_t>(n)) throw NotUtf8();
  u32 c = n == 1 ? b : b & (0xFFu >> (n + 1));
  for (u32 i = 1; i < n; ++i) {
    if ((p[i] & 0xC0) != 0x80) throw NotUtf8();
    c = c << 6 | (p[i] & 63u);
  }
  if ((n == 3 && (c < 0x800 || (c >= 0xD800 && c < 0xE000))) || (n == 4 && (c < 0x10000 || c > 0x10FFFF))) throw NotUtf8();
  p += n;
  return c;
}

inline bool plain(const u8* p) {  // eight bytes of ASCII
  u64 v;
  std::memcpy(&v, p, 8);
  return (v & 0x8080808080808080u) == 0;
}

// Room before and after the text, so that a byte before it may be written and 16 bytes read from any place in it.
constexpr std::size_t margin = 64;

struct Lowered {
  std::vector<char> memory;
  std::size_t size = 0;
  bool ascii = true, surrogates = false;

  char* text() { return memory.data() + margin; }
  void room(std::size_t bytes) {
    if (memory.size() < bytes + 2 * margin) memory.resize(bytes + 2 * margin);
  }
};

inline char ascii_lower(u8 c) { return static_cast<char>(c | (static_cast<u8>(c - 'A') < 26 ? 32 : 0)); }

// Python's own `str.lower` of a text, as UTF-8.
using WholeLower = std::function<std::vector<char>(const Doc&)>;

class Transcoder {
 public:
  Transcoder(const Unicode& unicode, bool lower, WholeLower whole) : unicode(unicode), lower(lower), whole(std::move(whole)) {}

  void read(const Doc& doc, Lowered& out) const {
    out.surrogates = false;
    out.ascii = doc.kind == Kind::ascii;
    const std::size_t most[] = {1, 2, 3, 4, 2};  // bytes a unit can become
    out.room(doc.size * most[static_cast<int>(doc.kind)]);
    char* const start = out.text();
    const u8* bytes = static_cast<const u8*>(doc.data);
    char* end = nullptr;
    switch (doc.kind) {
      case Kind::ascii: end = ascii(bytes, doc.size, start); break;
      case Kind::latin: end = bytewise<false>(bytes, doc.size, start, out); break;
      case Kind::utf8: end = bytewise<true>(bytes, doc.size, start, out); break;
      case Kind::two: end = units(static_cast<const u16*>(doc.data), doc.size, start, out); break;
      case Kind::four: end = units(static_cast<const u32*>(doc.data), doc.size, start, out); break;
    }
    if (end != nullptr) {
      out.size = static_cast<std::size_t>(end - start);
      return;
    }
    const std::vector<char> lowered = whole(doc);
    out.room(lowered.size());
    std::memcpy(out.text(), lowered.data(), lowered.size());
    out.size = lowered.size();
    out.ascii = false;
    for (std::size_t i = 0; i + 1 < out.size; ++i)  // ED A0 and up: a surrogate
      out.surrogates |= static_cast<u8>(lowered[i]) == 0xED && static_cast<u8>(lowered[i + 1]) >= 0xA0;
  }

 private:
  const Unicode& unicode;
  bool lower;
  WholeLower whole;

  char* ascii(const u8* in, std::size_t n, char* out) const {
    if (lower) {
      for (std::size_t i = 0; i < n; ++i) out[i] = ascii_lower(in[i]);
    } else {
      std::memcpy(out, in, n);
    }
    return out + n;
  }

  // One code point more; null if only the whole text tells its lower case.
  char* one(u32 c, char* out, Lowered& said) const {
    said.surrogates |= c >= 0xD800 && c < 0xE000;
    said.ascii &= c < 0x80;
    if (lower) {
      if (unicode.of(c) & Unicode::whole) return nullptr;
      c = unicode.down(c);
    }
    return put(out, c);
  }

  template <bool utf8>
  char* bytewise(const u8* in, std::size_t n, char* out, Lowered& said) const {
    said.ascii = true;
    const u8* const end = in + n;
    while (in < end) {
      if (end - in >= 8 && plain(in)) {
        out = ascii(in, 8, out);
        in += 8;
        continue;
      }
      const u32 c = utf8 ? checked(in, end) : *in++;
      out = one(c, out, said);
      if (out == nullptr) return nullptr;
    }
    return out;
  }

  template <class Unit>
  char* units(const Unit* in, std::size_t n, char* out, Lowered& said) const {
    said.ascii = true;
    for (std::size_t i = 0; i < n; ++i) {
      out = one(in[i], out, said);
      if (out == nullptr) return nullptr;
    }
    return out;
  }
};

}  // namespace deciban::text
