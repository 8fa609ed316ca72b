// Formulas on the scores of attention, for tests of its kernels.
#pragma once
#include <functional>

#include "tern/tern.hpp"

namespace tern::test {

/// attention with a formula.
using Call = std::function<Var(const Var& q, const Var& k, const Var& v, const AttentionOptions&)>;
inline Var plain(const Var& q, const Var& k, const Var& v, const AttentionOptions& o) { return attention(q, k, v, o); }
inline Var soft_alibi(const Var& q, const Var& k, const Var& v, const AttentionOptions& o) {
  return attention(
      q, k, v, o,
      [](auto s, auto batch, auto head, auto i, auto j, auto slope) {
        return 3 * tanh(s / 3) - slope * cast((head + batch + 1) * abs(i - j), f32);
      },
      0.125);
}

/// The product times the scale, and a line along the columns, which kernels on tensor cores have scores begin with.
inline Var alibi(const Var& q, const Var& k, const Var& v, const AttentionOptions& o) {
  return attention(
      q, k, v, o,
      [](auto s, auto batch, auto head, auto i, auto j, auto slope) {
        return s - slope * cast(i - 2 * j, f32) - 0.25 * cast(head + batch, f32);
      },
      0.0625);
}
/// Lines among other sums, numbers on both sides of products, and what is not the same for all of them.
inline Var mixed(const Var& q, const Var& k, const Var& v, const AttentionOptions& o) {
  return attention(
      q, k, v, o,
      [](auto s, auto, auto head, auto i, auto j, auto a) {
        const auto near = maximum(8 - abs(j - i), -3) - minimum(i, j + 1), line = a * cast(3 * j - i, f32) / 64;
        return where(s > 0.125, -(s * 2), s * s / a) + cast(near, f32) / 32 - (line - cast(head & j, f32) * a);
      },
      0.5);
}
/// A multiple of a function whose greatest value decides the row's.
inline Var soft_cap(const Var& q, const Var& k, const Var& v, const AttentionOptions& o) {
  return attention(q, k, v, o, [](auto s, auto, auto, auto, auto) { return 50 * tanh(s / 50); });
}

}  // namespace tern::test
