// The exponential of a matrix: Higham, The scaling and squaring method for the matrix exponential revisited (2005), and
// Al-Mohy and Higham, A new scaling and squaring algorithm for the matrix exponential (2009). What small real matrices
// are computed with is a primitive (primitives/linalg/linalg.hpp); larger and complex ones are here, by products
// and solutions of whole batches.
#include <cmath>
#include <limits>
#include <vector>

#include "backend/recording/capture.hpp"
#include "primitives/linalg/operations/operation.hpp"

namespace tern {

using namespace detail;
using namespace detail::exponential;

namespace linalg {
namespace {

constexpr const char* kExpm = "expm";
/// Up to so many rows squares are cheaper than many products with one row.
constexpr std::int64_t kMostSquaredRows = 32;

/// 1-norms, [.., 1, 1].
Tensor norms_of(const Tensor& a) { return max(sum(abs(a), {-2}, true), {-1}, true); }
/// -1 where a matrix is not finite, else 0.
Tensor statuses_of(const Tensor& norms) { return (isfinite(norms).to(i32) - 1).squeeze(-1).squeeze(-1); }

/// The largest 1-norm of the batch, in the program.
double largest_norm(const Tensor& a) {
  if (a.numel() == 0) return 0;
  const Tensor norms = norms_of(a);
  const double norm = max(norms).to(cpu()).to(f64).item<double>();
  if (!std::isfinite(norm)) require_status(kExpm, a.to(cpu()), statuses_of(norms.to(cpu())), PrimitiveId::lu);
  return norm;
}

/// A matrix and the powers of it that its approximant is made of.
struct MatrixPowers {
  Tensor a, a2, a4, a6;
};
MatrixPowers powers_of(const Tensor& a) {
  const Tensor a2 = matmul(a, a), a4 = matmul(a2, a2);
  return {a, a2, a4, matmul(a2, a4)};
}
/// Those of 2^times · a, which are exact.
MatrixPowers doubled(const MatrixPowers& p, const Tensor& times) {
  static const Pointwise by(kExpm, [](auto a, auto a2, auto a4, auto a6, auto times) {
    auto two = exp2(times), four = two * two, sixteen = four * four;
    return std::array{a * two, a2 * four, a4 * sixteen, a6 * (sixteen * four)};
  });
  const auto [a, a2, a4, a6] = by(p.a, p.a2, p.a4, p.a6, times);
  return {a, a2, a4, a6};
}
/// Padé's approximant of order 13.
Tensor approximant(const MatrixPowers& p) {
  static const Pointwise sums(kExpm, [](auto a2, auto a4, auto a6, auto one) {
    const auto& b = kPade;
    return std::array{b[13] * a6 + b[11] * a4 + b[9] * a2, b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * one,
                      b[12] * a6 + b[10] * a4 + b[8] * a2, b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * one};
  });
  static const Pointwise sides(kExpm, [](auto even_product, auto even_low, auto odd) {
    auto even = even_product + even_low;
    return std::array{even - odd, even + odd};
  });
  const auto& [a, a2, a4, a6] = p;
  const auto [odd_high, odd_low, even_high, even_low] = sums(a2, a4, a6, identity_like(a, a.size(-1)));
  const Tensor odd = matmul(a, matmul(a6, odd_high) + odd_low);
  const auto [difference, sum] = sides(matmul(a6, even_high), even_low, odd);
  const LuTensors factors = lu_tensors(kExpm, difference, false, false);
  return lu_solve_tensor(kExpm, factors.lu, factors.pivots, sum, false, false);
}

/// How many of its halvings each matrix can do without, [.., 1, 1]. The truncation's error goes by the growth of the
/// powers, which is less than the norm where a matrix is not normal, and there every needless squaring costs a bit.
Tensor spare_doublings(const MatrixPowers& p, const Tensor& times) {
  static const Pointwise spare(kExpm, [](auto fourth, auto sixth, auto times, auto most) {
    auto growth = maximum(log2(fourth) / 4, log2(sixth) / 6);
    return minimum(minimum(maximum(floor(kTheta13Log2 - growth), 0), most), times);
  });
  return spare(norms_of(p.a4), norms_of(p.a6), times, most_spared(real_dtype(p.a.dtype()) == DType::f64));
}
/// So many, but no more than roundings allow.
Tensor allowed_doublings(const Tensor& spared, const Tensor& a) {
  static const Pointwise allowed(kExpm, [](auto spared, auto largest, auto norm) {
    auto ratio = where(norm > 0, log2(largest) - log2(norm), 0);
    return minimum(spared, maximum(floor((kRoundingOverC - ratio) / kCheckedPower), 0));
  });
  Tensor power = abs(a), columns = sum(power, {-2}, true);
  const Tensor norm = max(columns, {-1}, true);
  if (a.size(-1) > kMostSquaredRows) {
    for (int i = 0; i < kCheckedPower; ++i) columns = matmul(columns, power);
  } else {
    for (const int exponent : {2, 4, 8, 16}) {  // 26 = 2 + 8 + 16
      power = matmul(power, power);
      if (exponent != 4) columns = matmul(columns, power);
    }
  }
  return allowed(spared, max(columns, {-1}, true), norm);
}

/// A recording does not know the norms of its replays: it halves up to so often, norms of up to 5·10⁶. Of larger ones
/// the result is NaN.
constexpr int kRecordedHalvings = 20;

/// The largest of the batch's counts, in the program.
int largest_count(const Tensor& counts) { return static_cast<int>(max(counts).to(cpu()).to(f64).item<double>()); }

/// Whether the primitive takes them: it reads a batch once, whatever the norms. On the CPU it takes no few large ones,
/// which leave lanes of its vectors empty.
bool goes_small(const Tensor& a) {
  const std::int64_t n = a.size(-1), count = a.device() == cpu() ? a.numel() / (n * n) : kManyAtOnce;
  return many_at_once(a.dtype(), n, n, count) && a.impl()->storage->backend().offers<ExponentialRequest>();
}
Tensor small_expm(const Tensor& a) {
  const Tensor result = make_tensor(a.shape(), a.dtype(), a.impl()->storage->backend(), kExpm);
  ExponentialRequest r{};
  r.op = kExpm, r.space = a.shape(), r.checked = true;
  r.input = view_over(a, r.space), r.result = view_over(result, r.space);
  run(a.impl()->storage->backend(), r);
  return result;
}

/// Every matrix is halved as often as its own norm, and the growth of its powers, ask for.
Tensor expm_of(const Tensor& a) {
  if (a.numel() == 0) return a.clone();
  if (goes_small(a)) return small_expm(a);
  const bool recorded = current_capture() != nullptr;
  int most = recorded ? kRecordedHalvings : static_cast<int>(halvings(largest_norm(a)));
  if (most == 0) return approximant(powers_of(a));
  const Tensor norms = norms_of(a);
  if (recorded) require_status(kExpm, a, statuses_of(norms), PrimitiveId::lu);
  Tensor times = maximum(ceil(log2(norms / kTheta13)), 0);
  if (!recorded) times = minimum(times, most);  // a device's logarithm may be rounded up
  MatrixPowers powers = powers_of(a * exp2(-times));
  Tensor spared = spare_doublings(powers, times);
  if (recorded || largest_count(spared) > 0) {
    spared = allowed_doublings(spared, powers.a);
    powers = doubled(powers, spared), times = times - spared;
    if (!recorded) most = largest_count(times);
  }
  Tensor power = approximant(powers);
  for (int i = 0; i < most; ++i) power = where(times > i, matmul(power, power), power);
  return recorded ? where(times > most, std::numeric_limits<double>::quiet_NaN(), power) : power;
}
/// A power of two near the largest element of each matrix, [.., 1, 1]; 1 of 0, NaN where one is not finite.
Tensor sizes_of(const Tensor& g) {
  const Tensor most = max(abs(g), {-2, -1}, true);
  const double least = real_dtype(g.dtype()) == DType::f64 ? -1022 : -126;
  const Tensor power = where(most > 0, exp2(maximum(floor(log2(most)), least)), 1);
  return where(isfinite(most), power, std::numeric_limits<double>::quiet_NaN());
}
/// exp([[Aᴴ, G], [0, Aᴴ]]) has Fréchet's derivative at Aᴴ along G at its top right. G is scaled to a norm of at most 1.
/// One that is not finite gives NaN.
Var expm_of(const Var& a) {
  return record_one(kExpm, {&a, 1}, expm_of(a.value()), PoolVector<Save>{{as_var(a.value()), -1, 0}},
                    [](const RuleContext& c) {
                      const Var h = adjoint(c.saved[0]);
                      const std::int64_t n = h.size(-1);
                      if (n == 0) return PoolVector<Var>{c.grads[0]};
                      const Tensor size = sizes_of(c.grads[0].value());
                      const double columns = std::exp2(std::ceil(std::log2(2 * static_cast<double>(n))));
                      const Var along = where(isfinite(size), c.grads[0] / size / columns, 0);
                      const Var top = concatenate(std::vector<Var>{h, along}, -1);
                      const Var bottom = concatenate(std::vector<Var>{h * 0, h}, -1);
                      const Var whole = expm_of(concatenate(std::vector<Var>{top, bottom}, -2));
                      return PoolVector<Var>{whole.slice(-2, 0, n).slice(-1, n, 2 * n) * columns * size};
                    });
}

}  // namespace

template <TensorOrVar T> T expm(const T& a) {
  require_square(kExpm, "a", value_of(a));
  return narrowed(expm_of(widened(a)), a.dtype());
}
TERN_INSTANCES_1(ResultOf, expm)

}  // namespace linalg
}  // namespace tern
