// Texts held by somebody else, kept alive while they are read.
#pragma once
#include <nanobind/nanobind.h>
#include "kernels/text/arrow.hpp"

namespace deciban::text {

namespace nb = nanobind;

struct Documents {
  std::vector<Doc> docs;
  nb::object list;                    // the strings' owner, or
  std::shared_ptr<ArrowArray> array;  // the column's
  std::int64_t bad = -1;              // the first row that is no text

  explicit Documents(nb::list texts) : list(texts) {
    const std::size_t n = texts.size();
    docs.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
      PyObject* text = PyList_GET_ITEM(texts.ptr(), static_cast<Py_ssize_t>(i));
      if (!PyUnicode_Check(text)) {
        bad = static_cast<std::int64_t>(i);
        return;
      }
      docs.push_back(doc(text));
    }
  }

  Documents(std::shared_ptr<ArrowArray> column, TextAt at) : array(std::move(column)) {
    docs.reserve(static_cast<std::size_t>(array->length));
    for (std::int64_t i = 0; i < array->length; ++i) {
      if (is_null(*array, i)) {
        bad = i;
        return;
      }
      docs.push_back(at(*array, i));
    }
  }

  // Borders of stretches of about `bytes`, and at most `rows` rows.
  std::vector<std::size_t> borders(std::size_t rows, std::size_t bytes) const {
    std::vector<std::size_t> at = {0};
    std::size_t sum = 0;
    for (std::size_t i = 0; i < docs.size(); ++i) {
      sum += docs[i].size;
      if (sum < bytes && i + 1 - at.back() < rows && i + 1 < docs.size()) continue;
      at.push_back(i + 1);
      sum = 0;
    }
    return at;
  }

  static Doc doc(PyObject* text) {
#if PY_VERSION_HEX < 0x030C0000
    if (PyUnicode_READY(text) < 0) throw nb::python_error();
#endif
    const std::size_t size = static_cast<std::size_t>(PyUnicode_GET_LENGTH(text));
    const int kind = PyUnicode_KIND(text);
    const Kind stored = PyUnicode_IS_ASCII(text) ? Kind::ascii : kind == 1 ? Kind::latin : kind == 2 ? Kind::two : Kind::four;
    return {PyUnicode_DATA(text), size, stored};
  }
};

inline nb::object as_string(const Doc& doc) {
  const char* bytes = static_cast<const char*>(doc.data);
  const Py_ssize_t size = static_cast<Py_ssize_t>(doc.size);
  const int kind = doc.kind == Kind::two ? PyUnicode_2BYTE_KIND : doc.kind == Kind::four ? PyUnicode_4BYTE_KIND : PyUnicode_1BYTE_KIND;
  PyObject* text = doc.kind == Kind::utf8 ? PyUnicode_DecodeUTF8(bytes, size, "strict") : PyUnicode_FromKindAndData(kind, bytes, size);
  if (text == nullptr) throw nb::python_error();
  return nb::steal(text);
}

inline std::vector<char> python_lower(const Doc& doc) {
  nb::gil_scoped_acquire gil;
  const nb::object lowered = as_string(doc).attr("lower")();
  const nb::object encoded = lowered.attr("encode")("utf-8", "surrogatepass");
  char* bytes;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(encoded.ptr(), &bytes, &size) < 0) throw nb::python_error();
  return std::vector<char>(bytes, bytes + size);
}

// What the running Python says of every code point.
inline const Unicode& unicode() {
  static const Unicode* made = nullptr;  // under the interpreter lock
  if (made != nullptr) return *made;
  Unicode* u = new Unicode;
  for (u32 c = 0; c < Unicode::classed; ++c)
    u->flags[c] = static_cast<u8>((Py_UNICODE_ISALNUM(c) || c == '_' ? Unicode::word : 0) | (Py_UNICODE_ISSPACE(c) ? Unicode::space : 0));
  for (u32 c = 0; c < Unicode::lowered; ++c) {
    u->lower[c] = Py_UNICODE_TOLOWER(c);
    if (u->lower[c] == c) continue;
    const Doc one = {&c, 1, Kind::four};
    if (nb::len(as_string(one).attr("lower")()) != 1) u->flags[c] |= Unicode::whole;
  }
  u->flags[0x3A3] |= Unicode::whole;  // Σ is ς at the end of a word
  made = u;
  return *made;
}

}  // namespace deciban::text
