#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_tallies(nb::module_& m);
void bind_cells(nb::module_& m);
void bind_scores(nb::module_& m);
void bind_labels(nb::module_& m);
void bind_logistic(nb::module_& m);
void bind_leaving(nb::module_& m);
void bind_digests(nb::module_& m);
void bind_text(nb::module_& m);

NB_MODULE(DECIBAN_MODULE, m) {
  bind_tallies(m);
  bind_cells(m);
  bind_scores(m);
  bind_labels(m);
  bind_logistic(m);
  bind_leaving(m);
  bind_digests(m);
  bind_text(m);
}
