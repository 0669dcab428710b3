// Logistic (m = 1) and softmax (m ≥ 2 classes) loss over rows: value, gradient and curvature in one pass over x.
//
//   z[i, c] = Σ_j coef[c, j] x[i, j]          the column after the last of x is 1 where there is an intercept
//   m = 1:  loss = Σ w log(1 + e^−sz), s = ±1        r = −w s / (1 + e^sz)        curvature w e^|z| / (1 + e^|z|)²
//   m ≥ 2:  loss = Σ w (log Σ_c e^z_c − z_y)         r_c = w (p_c − [c = y])      curvature w (p_a [a = b] − p_a p_b)
//   gradient[c] = Σ r[i, c] x[i]        hessian[a, b] = Σ curvature[a, b] x xᵀ
//
// A block of rows is read once and stays in cache for all of it.
#pragma once
#include <algorithm>
#include <cmath>
#include "kernels/logistic/rows.hpp"

namespace deciban {

// The rows' labels and weights of one block, as doubles; rows past the last weigh nothing.
struct Sides {
  Scratch y, w;
  bool weighed;
  Sides(Size block, bool weighed_) : y(block), w(block), weighed(weighed_) {}
  void read(Labels rows, Size start, Size count, Size block) {
    for (Size i = 0; i < count; ++i) y[i] = rows.y ? rows.y[start + i] : 0.0, w[i] = rows.weight(start + i);
    for (Size i = count; i < block; ++i) y[i] = 0.0, w[i] = 0.0;
  }
};

// Σ w log(1 + q) of a block; without weights as one logarithm of a product, kept as its distance from 1
struct Logs {
  vec q = {};
  double sum = 0.0;
  void add(vec more, const double* w, bool weighed) {
    if (!weighed) {
      const vec counted = load(w) > 0.0 ? more : vec{};
      q = q + counted + q * counted;
      return;
    }
    for (Size l = 0; l < lanes; ++l) sum += w[l] == 0.0 ? 0.0 : w[l] * std::log1p(more[l]);
  }
  double total() const {
    double out = sum;
    for (Size l = 0; l < lanes; ++l) out += std::log1p(q[l]);
    return out;
  }
};

inline double sum_of(vec v) {
  double out = 0.0;
  for (Size l = 0; l < lanes; ++l) out += v[l];
  return out;
}

// z → r, and the probability of class 1 (m = 1) or of each class into p; returns the loss of the block
[[gnu::noinline]] inline double respond(double* z, Size m, Size block, Size count, Sides& sides, double* p) {
  Logs logs;
  vec linear = {};
  for (Size i = 0; i < count; i += lanes) {
    const vec w = load(&sides.w[i]), y = load(&sides.y[i]);
    if (m == 1) {
      const vec s = y > 0.5 ? all(1.0) : all(-1.0), t = s * load(z + i);
      const vec q = exp_negative(t > 0.0 ? -t : t);
      const vec over = 1.0 / (1.0 + q), right = t > 0.0 ? over : q * over, wrong = t > 0.0 ? q * over : over;
      logs.add(q, &sides.w[i], sides.weighed);
      linear += w > 0.0 ? (t > 0.0 ? vec{} : w * -t) : vec{};
      store(z + i, w > 0.0 ? -w * s * wrong : vec{});
      if (p) store(p + i, s > 0.0 ? right : wrong);
      continue;
    }
    vec top = load(z + i);
    for (Size c = 1; c < m; ++c) top = larger(top, load(z + c * block + i));
    vec sum = {}, rest = {}, own = {}, own_z = {};
    for (Size c = 0; c < m; ++c) {
      const vec score = load(z + c * block + i), e = exp_negative(score - top);
      const auto mine = y == static_cast<double>(c);
      store(z + c * block + i, e);
      sum += e;
      rest += mine ? vec{} : e;
      own = mine ? e : own;
      own_z = mine ? score : own_z;
    }
    logs.add(own == 1.0 ? rest : (rest - 1.0) + own, &sides.w[i], sides.weighed);
    linear += w > 0.0 ? w * (top - own_z) : vec{};
    const vec over = 1.0 / sum;
    for (Size c = 0; c < m; ++c) {
      const vec share = load(z + c * block + i) * over;
      const auto mine = y == static_cast<double>(c);
      // p − 1 of the own class as minus the sum of the others: no digits lost where p is nearly 1
      store(z + c * block + i, w > 0.0 ? w * (mine ? -rest * over : share) : vec{});
      if (p) store(p + c * block + i, share);
    }
  }
  return logs.total() + sum_of(linear);
}

// loss and gradient[c, j]
template <class Rows>
double slope(Rows& rows, Size n, Labels labels, const double* coef, Size m, double* z_memory, double* gradient) {
  Sides sides(rows.block, labels.w != nullptr);
  double loss = 0.0;
  for (Size start = 0; start < n; start += rows.block) {
    const Size count = std::min(rows.block, n - start);
    rows.read(start, count);
    sides.read(labels, start, count, rows.block);
    rows.margins(coef, m, z_memory);
    loss += respond(z_memory, m, rows.block, count, sides, nullptr);
    rows.back(z_memory, m, gradient);
  }
  return loss;
}

// Σ of the Hessian's blocks times v:  r_a = Σ_b curvature[a, b] u_b with u = x v
template <class Rows>
void product(Rows& rows, Size n, Labels labels, const double* coef, const double* v, Size m, double* out) {
  Sides sides(rows.block, labels.w != nullptr);
  Scratch z(m * rows.block), p(m * rows.block), u(m * rows.block);
  for (Size start = 0; start < n; start += rows.block) {
    const Size count = std::min(rows.block, n - start);
    rows.read(start, count);
    sides.read(labels, start, count, rows.block);
    rows.margins(coef, m, z.data());
    rows.margins(v, m, u.data());
    respond(z.data(), m, rows.block, count, sides, p.data());
    for (Size i = 0; i < count; i += lanes) {
      const vec w = load(&sides.w[i]);
      vec mean = {};
      for (Size c = 0; c < m; ++c) mean += load(&p[c * rows.block + i]) * load(&u[c * rows.block + i]);
      for (Size c = 0; c < m; ++c) {
        const vec share = load(&p[c * rows.block + i]), turn = load(&u[c * rows.block + i]);
        store(&u[c * rows.block + i], w * share * (m == 1 ? (1.0 - share) * turn : turn - mean));
      }
    }
    rows.back(u.data(), m, out);
  }
}

// loss, gradient[c, j], first[c, j] = Σ curvature[c, c] x[j] and second[c, j] = Σ curvature[c, c] x[j]²
template <class Rows>
double diagonal(Rows& rows, Size n, Labels labels, const double* coef, Size m, double* gradient, double* first, double* second) {
  Sides sides(rows.block, labels.w != nullptr);
  Scratch z(m * rows.block), p(m * rows.block);
  double loss = 0.0;
  for (Size start = 0; start < n; start += rows.block) {
    const Size count = std::min(rows.block, n - start);
    rows.read(start, count);
    sides.read(labels, start, count, rows.block);
    rows.margins(coef, m, z.data());
    loss += respond(z.data(), m, rows.block, count, sides, p.data());
    rows.back(z.data(), m, gradient);
    for (Size c = 0; c < m; ++c)
      for (Size i = 0; i < count; ++i) p[c * rows.block + i] *= sides.w[i] * (1.0 - p[c * rows.block + i]);
    rows.back(p.data(), m, first);
    rows.square();
    rows.back(p.data(), m, second);
  }
  return loss;
}

// loss, gradient and hessian[pair, j, l], the pairs a ≤ b of classes in order (0, 0), (0, 1) … (m − 1, m − 1)
inline double curve(DenseRows& rows, Size n, Labels labels, const double* coef, Size m, double* gradient, double* hessian) {
  const Size ld = rows.vectors.stride, pairs = m * (m + 1) / 2;
  Sides sides(rows.block, labels.w != nullptr);
  Scratch z(m * rows.block), prob(m * rows.block), left(rows.block * ld), upper(pairs * ld * ld);
  double loss = 0.0;
  for (Size start = 0; start < n; start += rows.block) {
    const Size count = std::min(rows.block, n - start);
    rows.read(start, count);
    sides.read(labels, start, count, rows.block);
    rows.margins(coef, m, z.data());
    loss += respond(z.data(), m, rows.block, count, sides, prob.data());
    rows.back(z.data(), m, gradient);
    double* s = upper.data();
    for (Size a = 0; a < m; ++a)
      for (Size b = a; b < m; ++b, s += ld * ld) {
        for (Size i = 0; i < count; ++i) {
          const double pa = prob[a * rows.block + i], pb = prob[b * rows.block + i];
          const double share = sides.w[i] * (a == b ? pa * (1.0 - pa) : -pa * pb);
          const double* x = rows.cells.data() + i * ld;
          double* to = left.data() + i * ld;
          for (Size j = 0; j < ld; j += lanes) store(to + j, share * load(x + j));
        }
        gram(left.data(), rows.cells.data(), count, ld, s);
      }
  }
  for (Size pair = 0; pair < pairs; ++pair)
    for (Size j = 0; j < rows.p; ++j)
      for (Size l = j; l < rows.p; ++l) {
        double* out = hessian + pair * rows.p * rows.p;
        out[j * rows.p + l] = out[l * rows.p + j] = upper[(pair * ld + j) * ld + l];
      }
  return loss;
}

}  // namespace deciban
