#include <nanobind/stl/vector.h>
#include "bindings/ndarray_views.hpp"
#include "kernels/text/documents.hpp"
#include "kernels/text/csr.hpp"
#include "kernels/text/hashing.hpp"
#include "kernels/text/leading_zeros.hpp"
#include "kernels/text/merge.hpp"
#include "kernels/text/word_scores.hpp"

using namespace deciban;
using namespace deciban::text;
using namespace nanobind::literals;

using Longs = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<u32, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Letters = nb::ndarray<u8, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Columns = Vector<u32>;
using Bytes = Vector<u8>;

namespace {

struct Analysis {
  Settings settings;
  bool lower;
  const Unicode& code_points;

  Analysis(int analyzer, u32 min_n, u32 max_n, u32 least, nb::bytes ascii, int beyond, bool lower) : lower(lower), code_points(unicode()) {
    check(analyzer >= 0 && analyzer <= 2 && beyond >= 0 && beyond <= 2, "analyzer and beyond must be 0, 1 or 2");
    check(min_n >= 1 && min_n <= max_n, "1 ≤ min_n ≤ max_n is needed");
    settings.analyzer = static_cast<Analyzer>(analyzer);
    settings.min_n = min_n;
    settings.max_n = max_n;
    settings.least = least;
    for (std::size_t i = 0; i < ascii.size(); ++i) {
      const auto c = static_cast<u8>(ascii.c_str()[i]);
      check(c < 0x80, "ascii must hold ASCII characters");
      settings.tokens.add(c);
    }
    settings.tokens.beyond = static_cast<Class::Beyond>(beyond);
    for (u8 c = 0; c < 0x80; ++c)
      if (!(code_points.flags[c] & Unicode::space)) settings.black.add(c);
    settings.black.beyond = Class::no_spaces;
  }
};

// A piece, how many numbers its cells may have, and the row that could not be read (−1: none) with the reason.
struct Read {
  CountedRows piece;
  Size numbers = 0;
  std::int64_t bad = -1;
  const char* why = "";
};

template <class Rows>
Read read(Rows rows, Workspace& workspace, const Analysis& analysis, const Documents& docs, std::size_t from, std::size_t to) {
  check(from <= to && to <= docs.docs.size(), "rows of the texts are needed");
  const Transcoder transcoder(analysis.code_points, analysis.lower, python_lower);
  Read out;
  out.piece.length.reserve(to - from);
  std::size_t i = from;
  try {
    for (; i < to; ++i) rows.row(docs.docs[i], transcoder, out.piece);  // cells gather on the workspace
  } catch (const NotUtf8&) {
    out.why = "utf8";
  } catch (const Surrogate&) {
    out.why = "surrogate";
  } catch (...) {
    workspace.abandon();
    throw;
  }
  if (i < to) {
    workspace.abandon();
    out.bad = static_cast<std::int64_t>(i);
  }
  workspace.hand_over(out.piece);
  out.numbers = out.piece.cells.empty() ? 0 : Size{rows.numbers()};
  return out;
}

// Refuse columns that are not there for all numbers of a piece.
void check_columns(const Read& read, const Columns& column) {
  check(length(column, 0) >= read.numbers, "a column of every number is needed");
}

// Terms (bytes one after the other, with offsets) get numbers; returns the column of each number, as uint32.
// `order` says which comes first: terms that are read together should lie together.
nb::bytes learn(Lexicon& lexicon, Bytes bytes, Offsets offsets, Columns columns, Columns order, bool split, u32 min_n, u32 max_n) {
  check_offsets(offsets, length(columns, 0), length(bytes, 0), "offsets");
  for (std::size_t j = 0; j < order.size(); ++j) check(order.data()[j] < columns.size(), "order must hold numbers of terms");
  std::vector<char> text(reinterpret_cast<const char*>(bytes.data()), reinterpret_cast<const char*>(bytes.data()) + bytes.size());
  text.resize(text.size() + 16);
  std::vector<u32> out(lexicon.next, nothing);
  for (std::size_t j = 0; j < order.size(); ++j) {
    const u32 i = order.data()[j];
    const char *p = text.data() + offsets.data()[i], *const end = text.data() + offsets.data()[i + 1];
    u32 id = nothing, n = 0;
    do {
      const char* stop = split ? std::find(p, end, ' ') : end;
      const u32 word = lexicon.add(p, static_cast<u32>(stop - p));
      id = n == 0 ? word : lexicon.pairs.add(id, word, lexicon.next);
      ++n;
      p = stop + 1;
    } while (p <= end && split);
    out.resize(lexicon.next, nothing);
    if (!split || (n >= min_n && n <= max_n)) out[id] = columns.data()[i];
  }
  return nb::bytes(out.data(), 4 * out.size());
}

nb::list strings(Bytes bytes, Offsets offsets) {
  check_offsets(offsets, length(offsets, 0) - 1, length(bytes, 0), "offsets");
  nb::list out;
  const char* text = reinterpret_cast<const char*>(bytes.data());
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    const std::int64_t from = offsets.data()[i], to = offsets.data()[i + 1];
    PyObject* one = PyUnicode_DecodeUTF8(text + from, to - from, "surrogatepass");
    if (one == nullptr) throw nb::python_error();
    out.append(nb::steal(one));
  }
  return out;
}

// The batches of an Arrow stream of texts; None if it is of something else.
nb::object arrow_documents(nb::capsule capsule) {
  auto* stream = static_cast<ArrowArrayStream*>(capsule.data("arrow_array_stream"));
  const auto expect = [&](int failed) {
    if (failed) throw std::runtime_error(stream->get_last_error(stream) ? stream->get_last_error(stream) : "Arrow stream failed");
  };
  check(stream->release != nullptr, "this Arrow stream was read already");
  ArrowSchema schema{};
  expect(stream->get_schema(stream, &schema));
  const TextAt at = schema.dictionary == nullptr ? text_reader(schema.format) : nullptr;
  schema.release(&schema);
  if (at == nullptr) return nb::none();
  nb::list out;
  for (;;) {
    ArrowArray array{};
    expect(stream->get_next(stream, &array));
    if (array.release == nullptr) break;
    out.append(nb::cast(new Documents(owned(array), at), nb::rv_policy::take_ownership));
  }
  return out;
}

// The same of one array.
nb::object arrow_document(nb::capsule type, nb::capsule capsule) {
  const auto* schema = static_cast<ArrowSchema*>(type.data("arrow_schema"));
  const TextAt at = schema->dictionary == nullptr ? text_reader(schema->format) : nullptr;
  if (at == nullptr) return nb::none();
  auto* array = static_cast<ArrowArray*>(capsule.data("arrow_array"));
  check(array->release != nullptr, "this Arrow array was read already");
  const auto kept = owned(*array);
  array->release = nullptr;  // it is ours now
  nb::list out;
  out.append(nb::cast(new Documents(kept, at), nb::rv_policy::take_ownership));
  return out;
}

// Refuse terms from … to whose columns are not 0 … columns − 1, or nothing.
void check_terms(const Merged& merged, std::size_t from, std::size_t to, const Columns& column, Size columns) {
  check_size(column, {static_cast<Size>(merged.size())}, "column");
  check(from <= to && to <= merged.size(), "numbers of terms are needed");
  for (std::size_t i = from; i < to; ++i)
    check(column.data()[i] == nothing || column.data()[i] < columns, "column must hold numbers of columns");
}

template <class V>
void bind_fill(nb::module_& m) {
  using Values = nb::ndarray<V, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  using Indices = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  m.def("text_fill", [](const Read& read, Columns column, u32 columns, bool binary, Offsets indptr, Indices indices, Values data) {
          check_columns(read, column);
          check_size(data, {length(indices, 0)}, "data");
          check_offsets(indptr, static_cast<Size>(read.piece.length.size()), length(indices, 0), "indptr");
          fill(read.piece, column.data(), columns, binary, indptr.data(), indices.data(), data.data());
        }, "piece"_a, "column"_a, "columns"_a, "binary"_a, "indptr"_a, "indices"_a, "data"_a, Free());
  m.def("text_fill_hashed", [](const Read& read, bool binary, int norm, std::int64_t start, Indices indices, Values data) {
          check(norm >= 0 && norm <= 2, "norm must be 0, 1 or 2");
          check_size(data, {length(indices, 0)}, "data");
          check(start >= 0 && start <= length(indices, 0) && static_cast<Size>(read.piece.cells.size()) <= length(indices, 0) - start,
                "room for all cells of the piece is needed");
          fill_hashed(read.piece, binary, static_cast<Norm>(norm), indices.data() + start, data.data() + start);
        }, "piece"_a, "binary"_a, "norm"_a, "start"_a, "indices"_a, "data"_a, Free());
}

Terms terms(const Bytes& letters, const Offsets& offsets, const Longs& place) {
  check_offsets(offsets, length(place, 0), length(letters, 0), "offsets");
  return {reinterpret_cast<const char*>(letters.data()), offsets.data(), offsets.size() - 1};
}

void bind_words(nb::module_& m) {
  using Labels = Vector<std::int32_t>;
  using Weights = Vector<double>;
  m.def("text_score", [](const Read& read, Columns column, Offsets start, Labels label, Weights weight, Weights unit, nb::object scale, int value, Out out) {
          const Size words = length(start, 0) - 1, k = length(unit, 0);
          const Weights given = scale.is_none() ? Weights() : nb::cast<Weights>(scale);
          if (given.is_valid()) check_size(given, {words}, "scale");
          check_columns(read, column);
          check(words >= 0 && value >= 0 && value <= 2, "starts of words are needed, and a value of 0, 1 or 2");
          check_size(label, {length(weight, 0)}, "label");
          check_size(out, {static_cast<Size>(read.piece.length.size()), k}, "out");
          nb::gil_scoped_release free;
          const Scorer scorer{start.data(), label.data(), weight.data(), unit.data(), given.is_valid() ? given.data() : nullptr,
                              static_cast<u32>(words), length(weight, 0), unit.size(), static_cast<Value>(value)};
          score(read.piece, column.data(), scorer, out.data());
        }, "piece"_a, "column"_a, "start"_a, "label"_a, "weight"_a, "unit"_a, "scale"_a.none(), "value"_a, "out"_a);
  m.def("unite", [](Bytes a, Offsets a_offsets, Bytes b, Offsets b_offsets, Longs place_a, Longs place_b) {
          return unite(terms(a, a_offsets, place_a), terms(b, b_offsets, place_b), place_a.data(), place_b.data());
        }, "a"_a, "a_offsets"_a, "b"_a, "b_offsets"_a, "place_a"_a, "place_b"_a, Free());
  m.def("class_words", [](Offsets indptr, Vector<std::int32_t> indices, Vector<double> values, Offsets order, Offsets starts, std::size_t from, std::size_t to, std::size_t d) {
          std::vector<std::int32_t> words;
          std::vector<double> counts, rows;
          std::vector<std::int64_t> lengths;
          {
            nb::gil_scoped_release free;
            const Size n = length(indptr, 0) - 1;
            check_size(values, {length(indices, 0)}, "values");
            check_offsets(indptr, n, length(indices, 0), "indptr");
            check_offsets(starts, length(starts, 0) - 1, length(order, 0), "starts");
            check(from <= to && to < starts.size(), "classes from … to are needed");
            if (!in_span(order.data() + starts.data()[from], starts.data()[to] - starts.data()[from], 0, n)) refuse_codes("order", n);
            ClassWords one(d);
            for (std::size_t c = from; c < to; ++c) {
              one.read(indptr.data(), indices.data(), values.data(), order.data(), starts.data()[c], starts.data()[c + 1]);
              words.insert(words.end(), one.word.begin(), one.word.end());
              counts.insert(counts.end(), one.count.begin(), one.count.end());
              rows.insert(rows.end(), one.rows.begin(), one.rows.end());
              lengths.push_back(static_cast<std::int64_t>(one.word.size()));
            }
          }
          const auto bytes = [](const auto& v) { return nb::bytes(v.data(), sizeof(v[0]) * v.size()); };
          return nb::make_tuple(bytes(lengths), bytes(words), bytes(counts), bytes(rows));
        }, "indptr"_a, "indices"_a, "values"_a, "order"_a, "starts"_a, "from_class"_a, "to_class"_a, "d"_a);
}

}  // namespace

void bind_text(nb::module_& m) {
  m.def("has_leading_zeros", [](Bytes text, u8 delimiter) {
          return has_leading_zeros(text.data(), length(text, 0), delimiter);
        }, "text"_a, "delimiter"_a, Free());
  bind_words(m);
  nb::class_<Documents>(m, "Documents")
      .def(nb::init<nb::list>())
      .def("__len__", [](const Documents& d) { return d.docs.size(); })
      .def_ro("bad", &Documents::bad)
      .def("borders", &Documents::borders, "rows"_a, "bytes"_a);
  m.def("arrow_documents", &arrow_documents, "stream"_a);
  m.def("arrow_document", &arrow_document, "schema"_a, "array"_a);
  m.def("strings", &strings, "bytes"_a, "offsets"_a);
  nb::class_<Analysis>(m, "Analysis")
      .def(nb::init<int, u32, u32, u32, nb::bytes, int, bool>(), "analyzer"_a, "min_n"_a, "max_n"_a, "least"_a, "ascii"_a, "beyond"_a, "lower"_a);
  nb::class_<Workspace>(m, "Workspace").def(nb::init<>());
  nb::class_<Lexicon>(m, "Lexicon")
      .def(nb::init<>())
      .def("__len__", [](const Lexicon& x) { return x.next; })
      .def("learn", &learn, "bytes"_a, "offsets"_a, "columns"_a, "order"_a, "split"_a, "min_n"_a, "max_n"_a)
      .def("stop", [](Lexicon& x) { x.stops = x.next; });
  nb::class_<Read>(m, "Read")
      .def_ro("bad", &Read::bad)
      .def_ro("why", &Read::why)
      .def("__len__", [](const Read& r) { return r.piece.length.size(); })
      .def("lengths", [](const Read& r, Longs out) {
        check_size(out, {static_cast<Size>(r.piece.length.size())}, "out");
        std::copy(r.piece.length.begin(), r.piece.length.end(), out.data());
      });
  m.def("text_count", [](Lexicon& lexicon, bool grow, Workspace& workspace, const Analysis& a, const Documents& docs, std::size_t from, std::size_t to) {
          if (grow) return read(Counter<true>(lexicon, workspace, a.settings, a.code_points), workspace, a, docs, from, to);
          return read(Counter<false>(lexicon, workspace, a.settings, a.code_points), workspace, a, docs, from, to);
        }, "lexicon"_a, "grow"_a, "workspace"_a, "analysis"_a, "docs"_a, "from_row"_a, "to_row"_a, Free());
  m.def("text_hash", [](const Lexicon& stops, Workspace& workspace, const Analysis& a, const Documents& docs, std::size_t from, std::size_t to, u32 columns, bool signs) {
          check(columns >= 1 && columns < 1u << 31, "1 … 2^31 − 1 columns are needed");
          return read(Hasher(stops, workspace, a.settings, a.code_points, columns, signs), workspace, a, docs, from, to);
        }, "stops"_a, "workspace"_a, "analysis"_a, "docs"_a, "from_row"_a, "to_row"_a, "columns"_a, "signs"_a, Free());
  m.def("text_survey", [](const Read& read, Columns column, bool binary, Longs length, nb::object total) {
          const Longs sums = total.is_none() ? Longs() : nb::cast<Longs>(total);
          check_columns(read, column);
          check_size(length, {static_cast<Size>(read.piece.length.size())}, "length");
          nb::gil_scoped_release free;
          survey(read.piece, column.data(), binary, length.data(), sums.is_valid() ? sums.data() : nullptr, sums.is_valid() ? sums.size() : 0);
        }, "piece"_a, "column"_a, "binary"_a, "length"_a, "total"_a.none());
  bind_fill<std::int64_t>(m);
  bind_fill<float>(m);
  bind_fill<double>(m);
  nb::class_<Merged>(m, "Merged")
      .def("__init__", [](Merged* self, nb::list lexicons, nb::list desks) {
             std::vector<Lexicon*> lex;
             std::vector<Workspace*> workspace;
             for (nb::handle h : lexicons) lex.push_back(&nb::cast<Lexicon&>(h));
             for (nb::handle h : desks) workspace.push_back(&nb::cast<Workspace&>(h));
             check(lex.size() == workspace.size(), "a workspace of each lexicon is needed");
             new (self) Merged(std::move(lex), std::move(workspace));
           }, "lexicons"_a, "desks"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def("sort", &Merged::sort, "part"_a, "level"_a, Free())
      .def("join", &Merged::join, "level"_a, Free())
      .def("__len__", &Merged::size)
      .def("rows", [](Merged& x, Longs out) {
             check_size(out, {static_cast<Size>(x.size())}, "out");
             x.rows(out.data());
           }, Free())
      .def("numbers", &Merged::numbers, "part"_a)
      .def("columns", [](const Merged& x, std::size_t p, Columns column, Numbers out) {
             check_size(column, {static_cast<Size>(x.size())}, "column");
             check_size(out, {static_cast<Size>(x.numbers(p))}, "out");
             x.columns(p, column.data(), out.data());
           },
           "part"_a, "column"_a, "out"_a, Free())
      .def("lengths", [](const Merged& x, std::size_t from, std::size_t to, Columns column, Longs out) {
             check_terms(x, from, to, column, length(out, 0));
             x.lengths(from, to, column.data(), out.data());
           },
           "from_term"_a, "to_term"_a, "column"_a, "out"_a, Free())
      .def("spell", [](const Merged& x, std::size_t from, std::size_t to, Columns column, Offsets offsets, Letters out) {
             check_offsets(offsets, length(offsets, 0) - 1, length(out, 0), "offsets");
             check_terms(x, from, to, column, length(offsets, 0) - 1);
             x.spell(from, to, column.data(), offsets.data(), reinterpret_cast<char*>(out.data()));
           }, "from_term"_a, "to_term"_a, "column"_a, "offsets"_a, "out"_a, Free());
}
