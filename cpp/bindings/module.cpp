#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include "dispatch/load.hpp"

namespace nb = nanobind;
using namespace nanobind::literals;

void bind_tallies(nb::module_& m);
void bind_cells(nb::module_& m);
void bind_exact(nb::module_& m);
void bind_scores(nb::module_& m);
void bind_labels(nb::module_& m);
void bind_logistic(nb::module_& m);
void bind_leaving(nb::module_& m);
void bind_digests(nb::module_& m);
void bind_text(nb::module_& m);

NB_MODULE(_core, m) {
  const auto known = deciban::instruction_sets();
  if (known.empty()) throw std::runtime_error("deciban was built for a processor with more instructions than this one has");
  deciban::use(known.back());
  m.def("instruction_sets", &deciban::instruction_sets);
  m.def("instruction_set", &deciban::instruction_set);
  m.def("use", &deciban::use, "name"_a);
  bind_tallies(m);
  bind_cells(m);
  bind_exact(m);
  bind_scores(m);
  bind_labels(m);
  bind_logistic(m);
  bind_leaving(m);
  bind_digests(m);
  bind_text(m);
}
