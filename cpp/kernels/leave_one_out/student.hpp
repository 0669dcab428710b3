// Students (normals whose mean and variance are averaged out), each row left out of its class and of the prior.
#pragma once
#include <algorithm>
#include "kernels/core/arguments.hpp"
#include "kernels/leave_one_out/rows.hpp"

namespace deciban {

// Over columns: Π (1 + u) − 1, where u are squared distances and one less keeps the digits of factors near 1; and the
// product of the changes of scale.
struct Grown {
  vec far = {}, wide = all(1.0);

  // scale = prior + half + bend (mean − m)²;  location = m + pull (mean − m)
  void add(vec x, vec m, vec prior, vec mean, vec half, vec inverse, double pull, double bend, double narrow) {
    const vec apart = mean - m, scale = prior + half + bend * apart * apart, z = x - m - apart * pull;
    const vec u = z * z * narrow / scale;
    far += u + far * u;
    wide *= scale * inverse;
  }
};

// t[j, r] = x[rows[r], from + j] for `cols` columns; lanes past the last of `count` rows repeat it
inline void pack_rows(Dense<double> x, const Size* rows, Size count, Size from, Size cols, double* t) {
  for (Size r = 0; r < together; ++r) {
    const double* row = x.data + rows[r < count ? r : count - 1] * x.row + from * x.col;
    if (x.col == 1)
      for (Size j = 0; j < cols; ++j) t[j * together + r] = row[j];
    else
      for (Size j = 0; j < cols; ++j) t[j * together + r] = row[j * x.col];
  }
}

// scores[r] −= power log(1 + far) + ½ log wide
inline void take(const Grown& grown, double power, double* scores) {
  for (Size r = 0; r < lanes; ++r) scores[r] -= power * std::log1p(grown.far[r]) + 0.5 * std::log(grown.wide[r]);
}

// Priors of a tile of rows of class a without them, and the row's own mean and half; bad[r] > 0 where so little is left
// (below `deep`) that rounding would show.
inline void leave(const Students& s, Size a, Size from, Size cols, double deep, const double* t, double* m, double* scale,
                  double* mean, double* half, double* bad) {
  for (Size j = 0; j < cols; ++j) {
    const Size at = a * s.d + from + j;
    const double own = s.mean[at], squares = s.half[at], prior = s.prior[from + j], every = s.every[from + j],
                 base = s.base[from + j];
    const Size cell = j * together;
#pragma omp simd
    for (Size r = 0; r < together; ++r) {
      const double x = t[cell + r], away = x - own, e = away * away, off = x - every;
      m[cell + r] = prior - s.sway * (x - prior);
      scale[cell + r] = base - s.share[a] * e - s.part * off * off;
      mean[cell + r] = own - s.step[a] * away;
      half[cell + r] = squares - s.drop[a] * e;
      const bool some = half[cell + r] > deep * squares || squares + s.drop[a] * e < 1e-13 * scale[cell + r];
      bad[r] += some && scale[cell + r] > deep * base ? 0.0 : 1.0;
    }
  }
}

// out[i, c] = log density of row i under class c, the row out of its own class y[i] and of the prior; NaN where it has to
// be taken out by other means
inline void left_students(Dense<double> x, const std::int32_t* y, const Students& s, double deep, double* out) {
  const Size k = s.k, d = s.d;
  const ByClass classes(y, x.n, k);
  Scratch t(tile * together), m(tile * together), scale(tile * together), mean(tile * together), half(tile * together);
  Scratch scores(k * together);
  double bad[together];
  for (Size a = 0; a < k; ++a)
    for (Size start = classes.start[a]; start < classes.start[a + 1]; start += together) {
      const Size* rows = classes.order.data() + start;
      const Size count = std::min(classes.start[a + 1] - start, together);
      std::fill(bad, bad + together, 0.0);
      for (Size c = 0; c < k; ++c)
        std::fill(&scores[c * together], &scores[c * together] + together, (c == a ? s.left : s.whole).bias[c]);
      for (Size from = 0; from < d; from += tile) {
        const Size cols = std::min(d - from, tile);
        pack_rows(x, rows, count, from, cols, t.data());
        leave(s, a, from, cols, deep, t.data(), m.data(), scale.data(), mean.data(), half.data(), bad);
        for (Size c = 0; c < k; ++c) {
          const Weighing& by = c == a ? s.left : s.whole;
          const double pull = by.pull[c], bend = by.bend[c], narrow = by.narrow[c];
          for (Size v = 0; v < together; v += lanes) {
            Grown grown;
            for (Size j = 0; j < cols; ++j) {
              const Size cell = j * together + v, at = c * d + from + j;
              const vec mine = c == a ? load(&mean[cell]) : all(s.mean[at]);
              const vec squares = c == a ? load(&half[cell]) : all(s.half[at]);
              grown.add(load(&t[cell]), load(&m[cell]), load(&scale[cell]), mine, squares, all(s.inverse[at]), pull, bend,
                        narrow);
            }
            take(grown, by.power[c], &scores[c * together + v]);
          }
        }
      }
      for (Size c = 0; c < k; ++c)
        for (Size r = 0; r < count; ++r) bad[r] += std::isfinite(scores[c * together + r]) ? 0.0 : 1.0;
      for (Size r = 0; r < count; ++r)
        for (Size c = 0; c < k; ++c) out[rows[r] * k + c] = bad[r] == 0.0 ? scores[c * together + r] : NAN;
    }
}

}  // namespace deciban
