// Text columns through Arrow's C stream: offsets and bytes are read where they lie.
#pragma once
#include <memory>
#include <stdexcept>
#include "kernels/text/utf8.hpp"

namespace deciban::text {

// The layout that Arrow's C data interface prescribes.
struct ArrowSchema {
  const char *format, *name, *metadata;
  std::int64_t flags, n_children;
  ArrowSchema **children, *dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  std::int64_t length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  ArrowArray **children, *dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

inline std::shared_ptr<ArrowArray> owned(ArrowArray array) {
  return {new ArrowArray(array), [](ArrowArray* a) {
            if (a->release) a->release(a);
            delete a;
          }};
}

inline void check_place(bool holds) {
  if (!holds) throw std::invalid_argument("a text of the Arrow column lies outside of its memory");
}

inline bool is_null(const ArrowArray& a, std::int64_t i) {
  const u8* valid = static_cast<const u8*>(a.buffers[0]);
  return valid != nullptr && !(valid[(a.offset + i) >> 3] >> ((a.offset + i) & 7) & 1);
}

template <class Offset>
Doc between_offsets(const ArrowArray& a, std::int64_t i) {
  const Offset* at = static_cast<const Offset*>(a.buffers[1]) + a.offset + i;
  check_place(at[0] >= 0 && at[0] <= at[1]);  // where the bytes end, the interface does not say
  return {static_cast<const char*>(a.buffers[2]) + at[0], static_cast<std::size_t>(at[1] - at[0]), Kind::utf8};
}

// A view: length, then the text itself if it has at most 12 bytes, else 4 of them, a buffer's number and a place in it.
inline Doc viewed(const ArrowArray& a, std::int64_t i) {
  const char* view = static_cast<const char*>(a.buffers[1]) + 16 * (a.offset + i);
  std::int32_t part[4];
  std::memcpy(part, view, 16);
  check_place(part[0] >= 0);
  if (part[0] > 12) {
    const std::int64_t buffers = a.n_buffers - 3;  // less the buffers of nulls, views and sizes
    check_place(part[2] >= 0 && part[2] < buffers && part[3] >= 0);
    check_place(std::int64_t{part[3]} + part[0] <= static_cast<const std::int64_t*>(a.buffers[a.n_buffers - 1])[part[2]]);
  }
  const char* text = part[0] <= 12 ? view + 4 : static_cast<const char*>(a.buffers[2 + part[2]]) + part[3];
  return {text, static_cast<std::size_t>(part[0]), Kind::utf8};
}

using TextAt = Doc (*)(const ArrowArray&, std::int64_t);

// How to read a column of this format; null if it holds no texts.
inline TextAt text_reader(const char* format) {
  if (std::strcmp(format, "u") == 0) return between_offsets<std::int32_t>;
  if (std::strcmp(format, "U") == 0) return between_offsets<std::int64_t>;
  if (std::strcmp(format, "vu") == 0) return viewed;
  return nullptr;
}

}  // namespace deciban::text
