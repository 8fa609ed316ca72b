// The exponential of a matrix: Higham, The scaling and squaring method for the matrix exponential revisited (2005).
#include <cmath>
#include <limits>
#include <vector>

#include "backend/recording/capture.hpp"
#include "primitives/linalg/operation.hpp"

namespace tern {

using namespace detail;

namespace linalg {
namespace {

constexpr const char* kExpm = "expm";
/// Up to this norm the approximant of order 13 is exact to f64's roundings.
constexpr double kMost = 5.371920351148152;
constexpr double kPade[] = {64764752532480000.,
                            32382376266240000.,
                            7771770303897600.,
                            1187353796428800.,
                            129060195264000.,
                            10559470521600.,
                            670442572800.,
                            33522128640.,
                            1323241920.,
                            40840800.,
                            960960.,
                            16380.,
                            182.,
                            1.};

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
int halvings(double norm) { return norm > kMost ? static_cast<int>(std::ceil(std::log2(norm / kMost))) : 0; }

/// Padé's approximant of order 13.
Tensor approximant(const Tensor& a) {
  const auto& b = kPade;
  const Tensor one = identity_like(a, a.size(-1)), a2 = matmul(a, a), a4 = matmul(a2, a2), a6 = matmul(a2, a4);
  const Tensor odd =
      matmul(a, matmul(a6, b[13] * a6 + b[11] * a4 + b[9] * a2) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * one);
  const Tensor even = matmul(a6, b[12] * a6 + b[10] * a4 + b[8] * a2) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * one;
  const LuTensors factors = lu_tensors(kExpm, even - odd, false, false);
  return lu_solve_tensor(kExpm, factors.lu, factors.pivots, even + odd, false, false);
}

/// A recording does not know the norms of its replays: it halves up to so often, norms of up to 5·10⁶. Of larger ones
/// the result is NaN.
constexpr int kRecordedHalvings = 20;

/// Every matrix is halved as often as its own norm asks for.
Tensor expm_of(const Tensor& a) {
  if (a.numel() == 0) return a.clone();
  const bool recorded = current_capture() != nullptr;
  const int most = recorded ? kRecordedHalvings : halvings(largest_norm(a));
  if (most == 0) return approximant(a);
  const Tensor norms = norms_of(a);
  if (recorded) require_status(kExpm, a, statuses_of(norms), PrimitiveId::lu);
  Tensor times = maximum(ceil(log2(norms / kMost)), 0);
  if (!recorded) times = minimum(times, most);  // a device's logarithm may be rounded up
  Tensor power = approximant(a * exp2(-times));
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
