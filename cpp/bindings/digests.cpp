#include "bindings/ndarray_views.hpp"

using namespace deciban;
using namespace nanobind::literals;

using Words = Vector<Word>;
using Sums = nb::ndarray<Word, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

static void check_sizes(Size n, Size d, const Words& factor, const Sums& out) {
  check_size(factor, {d}, "factor");
  check_size(out, {n}, "out");
}

template <class X, class Cells>
static void bind_row_digests(nb::module_& m, const char* name) {
  m.def(name, [](const Cells& x, Words factor, Sums out) {
          const auto& cells = view<typename X::Cell>(x);
          check_sizes(cells.n, cells.d, factor, out);
          kernels_of<RowDigests<X>>().cells(cells, factor.data(), out.data());
        }, "x"_a, "factor"_a, "out"_a, Free());
}

template <class T>
static void bind_csr_digests(nb::module_& m) {
  m.def("csr_digest_cells", [](Offsets indptr, const CheckedColumns& indices, Vector<T> values, Words factor, Sums out) {
          const Size d = static_cast<Size>(factor.size());
          const auto cells = view<T>(indptr, indices, values, d);
          check_size(out, {cells.n}, "out");
          kernels_of<RowDigests<Csr<T>>>().cells(cells, factor.data(), out.data());
        }, "indptr"_a, "indices"_a, "values"_a, "factor"_a, "out"_a, Free());
}

template <class C>
static void bind_code_digests(nb::module_& m) {
  bind_row_digests<Dense<C>, Matrix<C>>(m, "digest_codes");  // a name of its own: no rows of codes would be taken for no columns
  m.def("digest_levels", [](Matrix<C> x, Offsets offset, Words table, Sums out) {
          const auto cells = view<C>(x);
          check_offsets(offset, cells.d, static_cast<Size>(table.size()), "offset");
          check_size(out, {cells.n}, "out");
          for (Size j = 0; j < cells.d; ++j)
            check(offset.data()[j] < offset.data()[j + 1], "an entry of each column's table is needed, for missing cells");
          kernels_of<LevelDigests<C>>().levels(cells, offset.data(), table.data(), out.data());
        }, "x"_a, "offset"_a, "table"_a, "out"_a, Free());
}

void bind_digests(nb::module_& m) {
  bind_row_digests<Dense<double>, Matrix<double>>(m, "digest_cells");
  bind_row_digests<Dense<float>, Matrix<float>>(m, "digest_cells");
  bind_row_digests<Apart<double>, ColumnList<double>>(m, "digest_cells");
  bind_row_digests<Apart<float>, ColumnList<float>>(m, "digest_cells");
  bind_csr_digests<double>(m);
  bind_csr_digests<float>(m);
  bind_code_digests<std::int32_t>(m);
  bind_code_digests<std::int64_t>(m);
  m.def("stir", [](Words digest, Sums out) {
          check_size(out, {length(digest, 0)}, "out");
          kernels_of<DigestFinish>().stir(digest.data(), static_cast<Size>(digest.size()), out.data());
        }, "digest"_a, "out"_a, Free());
}
