// The table of kernels that a kernel library exports: groups of function pointers, a group for each type of cells.
// Views go in, results go to the caller's memory. `_core` and the libraries share this header and nothing else.
#pragma once
#include <tuple>
#include "kernels/core/arguments.hpp"
#include "kernels/tallies/limbs.hpp"

namespace deciban {

// tallies: rows of X, which is Dense<T> or Apart<T>
template <class X>
struct RowTallies {
  // `out` as of `exact_sums` without squares
  bool (*scatter)(const X& x, Labels rows, Size k, Size groups, double* s, LimbTable (&out)[4]);
  // n (k, 1), the weight of missing cells, Σ w x and Σ w x² of [x > above] or, where that is null, of x; false: some cell
  // or weight is infinite, or a weight is NaN
  bool (*exact_sums)(const X& x, Labels rows, Size k, const double* above, bool squares, LimbTable (&out)[4]);
  // Σ w x_i x_j of columns i ≤ j, row after row; false: some cell or weight is not finite
  bool (*exact_products)(const X& x, Labels rows, Size k, LimbTable& out);
};

template <class T>
struct CsrTallies {
  bool (*exact_sums)(Csr<T> x, Labels rows, Size first, Size k, const double* above, bool squares, LimbTable (&out)[4]);
};

template <class C>
struct CodeTallies {
  void (*code_range)(Dense<C> x, std::int64_t* top, std::int64_t* least);
  bool (*crosstab)(Dense<C> x, Labels rows, const std::int64_t* offset, double* table);
  void (*crosstab_of_levels)(Dense<C> x, Labels rows, const std::int64_t* offset, double* table);
  bool (*pairs)(Dense<C> x, Labels rows, Size k, const std::int64_t* levels, const std::int64_t* start, Size width,
                double* table);
  void (*table_gains)(Dense<C> x, const FoldRows& rows, const std::int64_t* offset, const double* theta,
                      const std::int64_t* members, const std::int64_t* start, Size sets, double* out);
};

template <class T>
struct CellTallies {
  double (*least)(const T* values, Size size);
};

template <class T>
struct ColumnCopies {
  void (*in_rows)(const Apart<T>& x, T* out);
};

struct WeightTallies {
  void (*weights)(Labels rows, Size n, double* out);
  double (*largest)(const double* values, Size size);
  bool (*all_finite)(const double* values, Size size);
  void (*logarithms)(const double* values, Size size, double* out);
};

using TallyKernels =
    std::tuple<RowTallies<Dense<double>>, RowTallies<Dense<float>>, RowTallies<Apart<double>>, RowTallies<Apart<float>>,
               CsrTallies<double>, CsrTallies<float>, CodeTallies<std::int32_t>, CodeTallies<std::int64_t>,
               CellTallies<double>, CellTallies<float>, CellTallies<std::int32_t>, CellTallies<std::int64_t>, ColumnCopies<double>,
               ColumnCopies<float>, WeightTallies>;

// histogram
template <class X>
struct ColumnPass {
  bool (*grid_keys)(const X& x, Labels rows, Size k, const GridKeys& out, std::int64_t* start);
};

using HistogramKernels = std::tuple<ColumnPass<Dense<double>>, ColumnPass<Dense<float>>, ColumnPass<Apart<double>>,
                                    ColumnPass<Apart<float>>>;

// scores
template <class T>
struct DenseScores {
  void (*affine)(Dense<T> x, const double* coef, Size ld, const double* bias, Size k, double* out);
  void (*affine_above)(Dense<T> x, const double* coef, Size ld, const double* bias, Size k, double above, double* out);
  void (*quadratic_diagonal)(Dense<T> x, const double* mean, const double* scale, const double* bias, Size k, double* out);
  void (*quadratic_missing)(Dense<T> x, const double* mean, const double* scale, const double* share, const double* bias,
                            Size k, double* out);
  void (*quadratic_full)(Dense<T> x, const double* mean, const double* white, const double* bias, Size k, double* out);
};

template <class T>
struct CsrScores {
  void (*affine)(Csr<T> x, const double* coef, Size ld, const double* bias, Size k, double* out);
  void (*affine_above)(Csr<T> x, const double* coef, Size ld, const double* bias, Size k, double above, double* out);
  void (*quadratic)(Csr<T> x, const double* a, const double* b, Size ld, const double* bias, Size k, double* out);
};

template <class C>
struct CodeScores {
  void (*lookup)(Dense<C> x, const std::int64_t* offset, const double* table, const double* bias, Size k, Size ld,
                 double* out);
  void (*parents)(Dense<C> x, const std::int64_t* offset, const double* table, const double* alone, const bool* seen, Size k,
                  Size ld, double* out);
};

struct OtherScores {
  void (*series)(Dense<double> x, const double* w, const double* coef, Size terms, Size k, double* out);
  void (*posterior)(const double* scores, const double* prior, Size n, Size k, bool logs, double* out);
};

using ScoreKernels = std::tuple<DenseScores<double>, DenseScores<float>, CsrScores<double>, CsrScores<float>,
                                CodeScores<std::int32_t>, CodeScores<std::int64_t>, OtherScores>;

// logistic: parameters (m, p) of m margins
template <class T>
struct DenseLogistic {
  double (*slope)(Dense<T> x, Labels rows, const double* coef, Size m, Size p, double* gradient);
  void (*product)(Dense<T> x, Labels rows, const double* coef, const double* v, Size m, Size p, double* out);
  double (*diagonal)(Dense<T> x, Labels rows, const double* coef, Size m, Size p, double* gradient, double* first,
                     double* second);
  double (*curve)(Dense<T> x, Labels rows, const double* coef, Size m, Size p, double* gradient, double* hessian);
  void (*online)(Dense<T> x, Labels rows, double speed, const double* decay, Size m, Size p, double* coef, double* mean,
                 double* past);
};

// parameters (p, wide): all classes of a column side by side, m of them in use
template <class T>
struct CsrLogistic {
  double (*slope)(Csr<T> x, Labels rows, const double* coef, Size m, Size p, Size wide, double* gradient);
  void (*product)(Csr<T> x, Labels rows, const double* coef, const double* v, Size m, Size p, Size wide, double* out);
  double (*diagonal)(Csr<T> x, Labels rows, const double* coef, Size m, Size p, Size wide, double* gradient,
                     double* first, double* second);
};

struct LogisticSteps {
  void (*dots)(const double* const* vectors, Size count, const double* g, Size n, double* out);
  void (*plus)(const double* const* vectors, Size count, const double* factors, Size n, double* out);
  Size (*lasso_descent)(const double* h, Size size, const double* g, const double* w, const double* lasso, double tol,
                        Size most, double* d, double* turn);
  double (*lasso_columns)(const LassoColumns& columns, const double* g, const double* w, const double* lasso,
                          const double* ridge, const std::int64_t* order, Size size, double share, Size most, double* d);
};

using LogisticKernels =
    std::tuple<DenseLogistic<double>, DenseLogistic<float>, CsrLogistic<double>, CsrLogistic<float>, LogisticSteps>;

struct LeaveOneOutKernels {
  void (*left_normals)(Dense<double> x, const std::int32_t* y, const double* mean, const double* scale, const double* bias,
                       const double* far, double deep, double* own);
  void (*left_pairs)(Dense<double> x, const double* w, Pairs pairs, double safe, double* out);
  void (*left_shared)(Dense<double> x, const std::int32_t* y, Size k, const double* mean, const double* white,
                      const double* phi, const double* tau, double* norms, double* lever);
  void (*left_shrunk)(Dense<double> x, Shrunk shrunk, const double* phi, const double* tau, const double* removed,
                      double* norms, double* lever, double* volume);
  void (*left_students)(Dense<double> x, const std::int32_t* y, const Students& students, double deep, double* out);
};

// digests
template <class X>
struct RowDigests {
  void (*cells)(const X& x, const Word* factor, Word* out);
};

template <class C>
struct LevelDigests {
  void (*levels)(Dense<C> x, const std::int64_t* offset, const Word* table, Word* out);
};

struct DigestFinish {
  void (*stir)(const Word* digest, Size n, Word* out);
};

using DigestKernels =
    std::tuple<RowDigests<Dense<double>>, RowDigests<Dense<float>>, RowDigests<Apart<double>>, RowDigests<Apart<float>>,
               RowDigests<Dense<std::int32_t>>, RowDigests<Dense<std::int64_t>>, RowDigests<Csr<double>>,
               RowDigests<Csr<float>>, LevelDigests<std::int32_t>, LevelDigests<std::int64_t>, DigestFinish>;

// labels
template <class I>
struct IntegerLabels {
  void (*scan)(const I* y, Size n, std::uint8_t* seen, Size size, std::int32_t* code, std::int64_t* low, std::int64_t* high);
  void (*marks)(const I* y, Size n, std::int64_t low, std::uint8_t* seen);
  void (*codes)(const I* y, Size n, std::int64_t low, const std::int32_t* table, std::int32_t* code);
  bool (*inside)(const I* values, Size n, std::int64_t low, Size size);
};

struct RangeChecks {
  bool (*up_to)(const std::int32_t* values, Size n, std::int32_t most);
  bool (*ascends)(const std::int64_t* offset, Size n);
};

using LabelKernels = std::tuple<IntegerLabels<std::int32_t>, IntegerLabels<std::int64_t>, RangeChecks>;

struct TextKernels {
  // Of `count` times 64 bytes. Bit i of in[b]: byte i of block b is in the ASCII set `rows`; of high[b]: it is not ASCII.
  void (*member_masks)(const char* text, std::size_t count, const std::uint8_t* rows, std::uint64_t* in, std::uint64_t* high);
};

struct Kernels {
  TallyKernels tallies;
  HistogramKernels histogram;
  ScoreKernels scores;
  LogisticKernels logistic;
  LeaveOneOutKernels leave_one_out;
  DigestKernels digests;
  LabelKernels labels;
  TextKernels text;
};

// What a folder of `kernels/` adds to the table.
TallyKernels tally_kernels();
HistogramKernels histogram_kernels();
ScoreKernels score_kernels();
LogisticKernels logistic_kernels();
LeaveOneOutKernels leave_one_out_kernels();
DigestKernels digest_kernels();
LabelKernels label_kernels();
TextKernels text_kernels();

}  // namespace deciban
