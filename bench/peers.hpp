// The cases workloads are made of, and what a peer offers for each.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "data.hpp"
#include "harness.hpp"

namespace bench {

enum class Activation { gelu, silu, identity };  // gelu: the tanh form
enum class RowOp { sum, mean, softmax };

/// [batch] a[m, k] · b[k, n], operands stored transposed where said. Inputs: a, b.
struct MatmulCase {
  tern::DType dtype;
  std::int64_t batch = 1, m, k, n;
  bool transposed_a = false, transposed_b = false;
};
/// activation(a[m, k] · b[k, n] + bias[n]); with `backward` also the gradients of a, b and bias. Inputs: a, b, bias,
/// grad.
struct LinearCase {
  tern::DType dtype;
  std::int64_t m, k, n;
  Activation activation;
  bool backward;
};
/// activation(a) · b; with `backward` also the gradients of a and b. Inputs: a, b, grad.
struct GatedCase {
  tern::DType dtype;
  std::int64_t rows, columns;
  Activation activation;
  bool backward;
};
/// A reduction of x[rows, columns] along an axis (-1: both), or softmax along its rows. Inputs: x.
struct RowsCase {
  tern::DType dtype;
  std::int64_t rows, columns;
  RowOp op;
  int axis;
};
enum class MatrixOp { inverse, solve, cholesky, det, qr, eigh, svd };  // eigh: of the lower triangle
/// Of `count` matrices n × n: the pattern x over 2n, and 1 on the diagonal. Inputs: x, b [count, n].
struct MatricesCase {
  tern::DType dtype;
  std::int64_t count, n;
  MatrixOp op;
};
/// `count` curves p0·e^(-p1·t) + p2 through points at t = i·apart, until no gradient of ½Σr² exceeds `gradient`.
/// Inputs: x [count, 3], by which the right p are beyond (1, 1, 0), where all begin. The result is p.
struct FitsCase {
  std::int64_t count;
  static constexpr std::int64_t points = 16;
  static constexpr float apart = 0.2f, gradient = 1e-5f;
};
/// `count` arms of six links (examples/inverse_kinematics/arm.hpp) whose hands reach for points, by Levenberg's method
/// until they are as near as arm::kNear. Inputs: angles [count, 6] whose hands are the points, angles [count, 6] where
/// they begin. The result is where the hands are.
struct ArmsCase {
  std::int64_t count;
  static constexpr int most = 200;  // steps
};
/// The gradients of (silu(x·wg) · (x·wu))·wd for x[m, d], wg and wu [d, h], wd[h, d]. Inputs: x, wg, wu, wd, grad.
struct SwigluCase {
  tern::DType dtype;
  std::int64_t m, d, h;
};
inline constexpr int kCheckedSteps = 3;  // the result of training is the loss of so many first steps
/// A training step of the digits example in f32: x[64, 64] -> silu(x·wg + bg) · (x·wu + bu), 128 wide -> 10 logits,
/// cross-entropy, AdamW with tern's defaults. Inputs: x, wg, bg, wu, bu, wo, bo, labels.
struct StepCase {
  static constexpr std::int64_t batch = 64, pixels = 64, hidden = 128, classes = 10;
};

/// The elements of the gradients that are compared, in this order; each function reads one of an array.
template <class A, class B, class Bias>
std::vector<double> linear_samples(const LinearCase& c, const A& d_a, const B& d_b, const Bias& d_bias) {
  const std::int64_t row = (c.k - 1) * c.n;
  return {d_a(c.k - 1), d_a(c.m * c.k - 1), d_b(row), d_bias(0), d_b(row + c.n - 1), d_bias(c.n - 1)};
}

using Inputs = std::vector<Buffer>;  // copies share memory

/// A library to be compared with. A case it does not know gives none; one it should know but fails at throws.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual std::string name() const = 0;
  virtual std::string version() const = 0;
  virtual std::optional<Contender> matmul(const MatmulCase&, const Inputs&) { return {}; }
  virtual std::optional<Contender> linear(const LinearCase&, const Inputs&) { return {}; }
  virtual std::optional<Contender> gated(const GatedCase&, const Inputs&) { return {}; }
  virtual std::optional<Contender> rows(const RowsCase&, const Inputs&) { return {}; }
  virtual std::optional<Contender> matrices(const MatricesCase&, const Inputs&) { return {}; }
  virtual std::optional<Contender> fits(const FitsCase&, const Inputs&) { return {}; }
  virtual std::optional<Contender> arms(const ArmsCase&, const Inputs&) { return {}; }
  virtual std::optional<Contender> step(const StepCase&, const Inputs&) { return {}; }

 protected:
  /// Runs `run`; elements of what that leaves in the outputs are compared.
  template <class Run, class... Outputs> Contender contender(const Run& run, const Outputs&... outputs) const {
    return {.library = name(), .run = run, .result = [=] { return run(), sample(outputs...); }};
  }
};
using Peers = std::vector<std::unique_ptr<Peer>>;

/// What workloads are made for.
struct Target {
  tern::Device device;
  const Peers& peers;  // of the CPU

  bool gpu() const { return device.kind() != tern::DeviceKind::cpu; }
  /// tern's way; on a GPU, calls are waited for after the last.
  Contender tern(std::function<void()> run, std::function<std::vector<double>()> result) const {
    Contender c{.library = "tern", .run = std::move(run), .result = std::move(result)};
    if (gpu()) c.wait = [device = device] { tern::synchronize(device); };
    return c;
  }
  /// The limit that work bound by memory is held against.
  std::string memory_roof() const { return gpu() ? "copy" : "triad"; }
};

// Each is compiled only where its package was found (bench/CMakeLists.txt).
std::unique_ptr<Peer> make_onednn(int threads);
std::unique_ptr<Peer> make_openblas(int threads);
std::unique_ptr<Peer> make_eigen(int threads);
std::unique_ptr<Peer> make_byhand(int threads);

// One file per question. A peer's contenders are asked for when a workload is prepared.
void add_matmul(Workloads& workloads, const Target& target);
void add_linear(Workloads& workloads, const Target& target);
void add_gated(Workloads& workloads, const Target& target);
void add_rows(Workloads& workloads, const Target& target);
void add_matrices(Workloads& workloads, const Target& target);
void add_transforms(Workloads& workloads, const Target& target);
void add_fits(Workloads& workloads, const Target& target);
void add_swiglu(Workloads& workloads, const Target& target);
void add_step(Workloads& workloads, const Target& target);
void add_mlp(Workloads& workloads, const Target& target);
void add_overhead(Workloads& workloads, const Target& target);
void add_cliffs(Workloads& workloads, const Target& target);
void add_programs(Workloads& workloads, const Target& target);
void add_cliffs_cpu(Workloads& workloads, const Target& target);      // compiled with BENCH_CPU
void add_small_products(Workloads& workloads, const Target& target);  // likewise

/// tern's contender and those of the peers that know the case; one that fails to prepare says so when it is checked.
template <class Case>
std::vector<Contender> contenders(Contender tern, const Peers& peers, const Case& c, const Inputs& inputs,
                                  std::optional<Contender> (Peer::*way)(const Case&, const Inputs&)) {
  std::vector<Contender> all;
  all.push_back(std::move(tern));
  for (const auto& peer : peers) {
    try {
      if (auto contender = ((*peer).*way)(c, inputs)) all.push_back(std::move(*contender));
    } catch (const std::exception& e) {
      Contender failed{.library = peer->name(), .run = {}, .result = {}};
      failed.result = [why = std::string(e.what())]() -> std::vector<double> { throw std::runtime_error(why); };
      all.push_back(std::move(failed));
    }
  }
  return all;
}

std::string name_of(Activation activation);

}  // namespace bench
