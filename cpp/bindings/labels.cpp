#include <nanobind/stl/pair.h>
#include "bindings/ndarray_views.hpp"
#include "kernels/labels/labels.hpp"

using namespace deciban;
using namespace nanobind::literals;

template <class I>
static void bind_integers(nb::module_& m) {
  using Kernel = IntegerLabels<I>;
  m.def("label_scan", [](Vector<I> y, nb::ndarray<std::uint8_t, nb::c_contig> seen, nb::ndarray<std::int32_t, nb::c_contig> code) {
          const std::size_t size = seen.size();
          check(y.size() > 0 && size > 0 && (size & (size - 1)) == 0, "labels are needed, and a power of two of marks");
          check_size(code, {length(y, 0)}, "code");
          std::int64_t low = 0, high = 0;
          kernels_of<Kernel>().scan(y.data(), static_cast<Size>(y.size()), seen.data(), static_cast<Size>(seen.size()), code.data(), &low, &high);
          return std::make_pair(low, high);
        }, "y"_a, "seen"_a, "code"_a, Free());
  m.def("label_marks", [](Vector<I> y, std::int64_t low, nb::ndarray<std::uint8_t, nb::c_contig> seen) {
          check(in_span(y.data(), length(y, 0), low, static_cast<Size>(seen.size())), "a mark of every label is needed");
          kernels_of<Kernel>().marks(y.data(), static_cast<Size>(y.size()), low, seen.data());
        }, "y"_a, "low"_a, "seen"_a, Free());
  m.def("label_codes", [](Vector<I> y, std::int64_t low, Codes table, nb::ndarray<std::int32_t, nb::c_contig> code) {
          check(in_span(y.data(), length(y, 0), low, length(table, 0)), "a code of every label is needed");
          check_size(code, {length(y, 0)}, "code");
          kernels_of<Kernel>().codes(y.data(), static_cast<Size>(y.size()), low, table.data(), code.data());
        }, "y"_a, "low"_a, "table"_a, "code"_a, Free());
}

void bind_labels(nb::module_& m) {
  bind_integers<std::int64_t>(m);
  bind_integers<std::int32_t>(m);
  m.def("distinct_texts", [](nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> texts, nb::ndarray<std::int64_t, nb::c_contig> first, nb::ndarray<std::int32_t, nb::c_contig> code) {
          check_size(code, {length(texts, 0)}, "code");
          return distinct_texts(texts.data(), static_cast<Size>(texts.shape(0)), static_cast<Size>(texts.shape(1)),
                                static_cast<Size>(first.size()), first.data(), code.data());
        }, "texts"_a, "first"_a, "code"_a, Free());
}
