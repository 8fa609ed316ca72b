// What do programs of many small operations cost: steps of a solver for 64 arms, a cloth through time, steps of AdamW
// on parameters of 16 bits? The solver's and the cloth's are those of tests/serial/programs.cpp.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "peers.hpp"

namespace bench {
namespace {

using tern::Expr;
using tern::Tensor;

void add(Workloads& workloads, const Target& target, const std::string& name, double tolerance,
         std::function<Prepared()> prepare) {
  workloads.push_back({.name = "programs/" + name,
                       .unit = Unit::calls,
                       .roof = "",
                       .quick = true,
                       .tolerance = tolerance,
                       .prepare = std::move(prepare)});
  (void)target;
}

/// The hand of an arm that turns by a and bends by b and c: where it is, and its nine derivatives, row by row.
template <class T> std::array<T, 12> hand(T a, T b, T c) {
  using std::cos, std::sin;
  const T reach = cos(b) + cos(b + c), height = sin(b) + sin(b + c), last = sin(b + c);
  return {cos(a) * reach,   sin(a) * reach, height, -sin(a) * reach, -cos(a) * height, -cos(a) * last, cos(a) * reach,
          -sin(a) * height, -sin(a) * last, 0 * a,  reach,           cos(b + c)};
}
/// A symmetric system of three by Cramer's rule.
template <class T> std::array<T, 3> solved(T a, T b, T c, T d, T e, T f, T x, T y, T z) {
  const T da = d * f - e * e, db = c * e - b * f, dc = b * e - c * d, one = 1 / (a * da + b * db + c * dc);
  return {one * (da * x + db * y + dc * z), one * (db * x + (a * f - c * c) * y + (b * c - a * e) * z),
          one * (dc * x + (b * c - a * e) * y + (a * d - b * b) * z)};
}

constexpr std::int64_t kArms = 64;
constexpr int kSteps = 30;
constexpr double kDamping = 1e-6;

Tensor solved_by_tern(const Tensor& first, const Tensor& target) {
  static const tern::Pointwise positions("hand", [](Expr a, Expr b, Expr c) { return hand(a, b, c); });
  static const tern::Pointwise system("solved", [](Expr a, Expr b, Expr c, Expr d, Expr e, Expr f, Expr x, Expr y,
                                                   Expr z) { return solved(a, b, c, d, e, f, x, y, z); });
  const Tensor damping = tern::eye(3, {.dtype = tern::f64, .device = first.device()}) * kDamping;
  Tensor angles = first.clone();
  for (int step = 0; step < kSteps; ++step) {
    const Tensor columns = angles.transpose(0, 1);
    const auto p = positions(columns[0], columns[1], columns[2]);
    const Tensor error = target - tern::stack(std::vector{p[0], p[1], p[2]}, -1);
    const Tensor jacobian = tern::stack(std::vector<Tensor>(p.begin() + 3, p.end()), -1).reshape({kArms, 3, 3});
    const Tensor turned = jacobian.transpose(1, 2), n = matmul(turned, jacobian) + damping;
    const Tensor right = matmul(turned, error.unsqueeze(-1));
    const auto at = [&](const Tensor& m, int i, int j) { return m.permute({1, 2, 0})[i][j]; };
    const auto by = system(at(n, 0, 0), at(n, 0, 1), at(n, 0, 2), at(n, 1, 1), at(n, 1, 2), at(n, 2, 2),
                           at(right, 0, 0), at(right, 1, 0), at(right, 2, 0));
    angles += tern::stack(std::vector<Tensor>(by.begin(), by.end()), -1);
  }
  return angles;
}

/// An arm after the other, without a library.
void solve_by_hand(const double* first, const double* target, double* angles) {
  std::copy(first, first + 3 * kArms, angles);
  for (std::int64_t arm = 0; arm < kArms; ++arm) {
    double* const q = angles + 3 * arm;
    for (int step = 0; step < kSteps; ++step) {
      const std::array<double, 12> p = hand(q[0], q[1], q[2]);
      double n[3][3], right[3];
      for (int i = 0; i < 3; ++i) {
        right[i] = 0;
        for (int k = 0; k < 3; ++k) right[i] += p[3 + 3 * k + i] * (target[3 * arm + k] - p[k]);
        for (int j = 0; j < 3; ++j) {
          n[i][j] = i == j ? kDamping : 0;
          for (int k = 0; k < 3; ++k) n[i][j] += p[3 + 3 * k + i] * p[3 + 3 * k + j];
        }
      }
      const std::array<double, 3> by =
          solved(n[0][0], n[0][1], n[0][2], n[1][1], n[1][2], n[2][2], right[0], right[1], right[2]);
      for (int i = 0; i < 3; ++i) q[i] += by[i];
    }
  }
}

void add_solver(Workloads& workloads, const Target& target) {
  add(workloads, target, "solver/f64", 1e-6, [target] {
    const Buffer first = Buffer::pattern(tern::f64, 3 * kArms, 1, 0.3), goal = Buffer::pattern(tern::f64, 3 * kArms, 2),
                 angles(tern::f64, 3 * kArms);
    for (std::int64_t arm = 0; arm < kArms; ++arm) {  // within reach, and away from where the arm is straight
      double* const q = first.data<double>() + 3 * arm;
      for (int i = 0; i < 3; ++i) q[i] += 0.8;
      const std::array<double, 12> p = hand(q[0] + 0.2, q[1] - 0.1, q[2] + 0.15);
      std::copy(p.begin(), p.begin() + 3, goal.data<double>() + 3 * arm);
    }
    const Tensor from = first.tensor({kArms, 3}).clone(), to = goal.tensor({kArms, 3}).clone();
    const auto by_hand = [=] { solve_by_hand(first.data<double>(), goal.data<double>(), angles.data<double>()); };
    by_hand();
    Prepared p;
    p.expected = sample(angles);
    p.contenders.push_back(
        target.tern([=] { solved_by_tern(from, to); }, [=] { return sample(solved_by_tern(from, to)); }));
    p.contenders.push_back({.library = "loop", .run = by_hand, .result = [=] { return by_hand(), sample(angles); }});
    return p;
  });
}

// ---- a cloth of 64² points through 300 steps ----
constexpr std::int64_t kSide = 64;
constexpr int kFrames = 300;
constexpr float kLength = 1.0f / (kSide - 1), kStiffness = 100, kStep = 1e-3f, kDrag = 0.5f, kGravity = -9.81f;

Tensor fallen(tern::Device device) {
  const tern::Options options{.device = device};
  const Tensor line = tern::linspace(0, 1, kSide, options),
               gravity = tern::tensor(std::vector<float>{0, kGravity, 0}, {3}, device);
  Tensor free = tern::ones({kSide, kSide, 1}, options);
  free[0] *= 0;
  Tensor p =
      tern::stack(std::vector{line.unsqueeze(0).broadcast_to({kSide, kSide}), tern::zeros({kSide, kSide}, options),
                              line.unsqueeze(1).broadcast_to({kSide, kSide})},
                  -1);
  Tensor v = tern::zeros({kSide, kSide, 3}, options);
  for (int step = 0; step < kFrames; ++step) {
    Tensor force = gravity - kDrag * v;
    for (const int axis : {0, 1}) {
      const Tensor between = p.slice(axis, 1) - p.slice(axis, 0, kSide - 1);
      const Tensor pull = between * (kStiffness * (1 - kLength / sqrt(square(between).sum(-1, true))));
      force.slice(axis, 0, kSide - 1) += pull;
      force.slice(axis, 1) -= pull;
    }
    v += kStep * free * force;
    p += kStep * v;
  }
  return p;
}

struct Cloth {
  std::vector<float> p, v, force;
  static std::size_t at(std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(3 * (i * kSide + j)); }
  void pull(std::size_t a, std::size_t b) {
    float d[3], square = 0;
    for (std::size_t k = 0; k < 3; ++k) d[k] = p[b + k] - p[a + k], square += d[k] * d[k];
    const float scale = kStiffness * (1 - kLength / std::sqrt(square));
    for (std::size_t k = 0; k < 3; ++k) force[a + k] += scale * d[k], force[b + k] -= scale * d[k];
  }
  void step() {
    for (std::size_t i = 0; i < force.size(); ++i) force[i] = (i % 3 == 1 ? kGravity : 0) - kDrag * v[i];
    for (std::int64_t i = 0; i < kSide; ++i)
      for (std::int64_t j = 0; j < kSide; ++j) {
        if (i + 1 < kSide) pull(at(i, j), at(i + 1, j));
        if (j + 1 < kSide) pull(at(i, j), at(i, j + 1));
      }
    for (std::size_t i = at(1, 0); i < v.size(); ++i) v[i] += kStep * force[i];
    for (std::size_t i = 0; i < v.size(); ++i) p[i] += kStep * v[i];
  }
  void fall() {
    p.assign(3 * kSide * kSide, 0), v = force = p;
    for (std::int64_t i = 0; i < kSide; ++i)
      for (std::int64_t j = 0; j < kSide; ++j)
        p[at(i, j)] = static_cast<float>(j) * kLength, p[at(i, j) + 2] = static_cast<float>(i) * kLength;
    for (int i = 0; i < kFrames; ++i) step();
  }
};

void add_cloth(Workloads& workloads, const Target& target) {
  add(workloads, target, "cloth/f32", 1e-3, [target] {
    const auto cloth = std::make_shared<Cloth>();
    const auto values = [=] {
      cloth->fall();
      return sample(tern::tensor(cloth->p, {kSide, kSide, 3}, tern::cpu()));
    };
    Prepared p;
    p.expected = values();
    p.contenders.push_back(target.tern([=] { fallen(target.device); }, [=] { return sample(fallen(target.device)); }));
    p.contenders.push_back({.library = "loop", .run = [=] { cloth->fall(); }, .result = values});
    return p;
  });
}

/// A step of AdamW for 2^20 numbers of 16 bits, whose moments have 32; beside the same of f32.
void add_adamw(Workloads& workloads, const Target& target, tern::DType dtype) {
  add(workloads, target, "adamw/" + name_of(dtype), 1, [=] {
    const auto made = [device = target.device](tern::DType type) {
      const tern::Var parameter(Buffer::pattern(type, 1 << 20, 1).tensor({1 << 20}, device).clone());
      const std::vector<Tensor> gradients{Buffer::pattern(type, 1 << 20, 2).tensor({1 << 20}, device).clone()};
      const auto optimiser = std::make_shared<tern::optim::AdamW>(std::vector<tern::Var>{parameter});
      return [=] { optimiser->step(gradients); };
    };
    const auto nothing = [] { return std::vector<double>(); };
    Prepared p;
    p.contenders.push_back(target.tern(made(dtype), nothing));
    if (dtype != tern::f32) {
      p.contenders.push_back(target.tern(made(tern::f32), nothing));
      p.contenders.back().library = "tern, f32";
    }
    return p;
  });
}

}  // namespace

void add_programs(Workloads& workloads, const Target& target) {
  if (target.device.kind() != tern::DeviceKind::webgpu) add_solver(workloads, target);
  add_cloth(workloads, target);
  for (const tern::DType dtype : {tern::f16, tern::bf16}) add_adamw(workloads, target, dtype);
}

}  // namespace bench
