// Reverse mode keeps what saved_tensors() lists and nothing else: counted by a backend that adds up what it gives out.
#include <gtest/gtest.h>

#include <set>

#include "backend/tensor_impl.hpp"
#include "tern/optim.hpp"
#include "tern/tern.hpp"

namespace tern {
namespace {

/// The CPU, with its memory counted.
class Counting final : public detail::Backend {
 public:
  Device device() const override { return cpu(); }
  std::string name() const override { return "counting"; }
  void* allocate(std::size_t bytes) override {
    live_ += static_cast<std::int64_t>(bytes), most_ = std::max(most_, live_);
    return cpu_.allocate(bytes);
  }
  void deallocate(void* data, std::size_t bytes) noexcept override {
    live_ -= static_cast<std::int64_t>(bytes);
    cpu_.deallocate(data, bytes);
  }
  void upload(detail::Storage& to, std::size_t offset, const void* from, std::size_t bytes) override {
    cpu_.upload(to, offset, from, bytes);
  }
  void download(const detail::Storage& from, std::size_t offset, void* to, std::size_t bytes) override {
    cpu_.download(from, offset, to, bytes);
  }
  void synchronize() override {}
  std::vector<std::string_view> families() const override { return {"cpu"}; }

  std::int64_t live() const { return live_; }
  /// The most since the last call.
  std::int64_t most() { return std::exchange(most_, live_); }
  Tensor make(const Shape& shape, double value, DType dtype = f32) {
    Tensor t = detail::make_tensor(shape, dtype, *this);
    t.copy_from(full(shape, value, dtype));
    return t;
  }

 private:
  detail::Backend& cpu_ = detail::backend_of(cpu());
  std::int64_t live_ = 0, most_ = 0;
};

using Storages = std::set<const detail::Storage*>;
std::int64_t bytes_of_storages(const Storages& storages) {
  std::int64_t bytes = 0;
  for (const detail::Storage* s : storages) bytes += static_cast<std::int64_t>(s->bytes());
  return bytes;
}
/// The memory of all that the operations behind y saved.
Storages saved_behind(const Var& y) {
  Storages storages;
  std::set<GradFn*> seen;
  std::vector<std::shared_ptr<GradFn>> stack{y.grad_fn()};
  while (!stack.empty()) {
    const std::shared_ptr<GradFn> fn = stack.back();
    stack.pop_back();
    if (!fn || !seen.insert(fn.get()).second) continue;
    for (const Tensor& t : fn->saved_tensors()) storages.insert(t.impl()->storage.get());
    for (const auto& next : fn->input_grad_fns()) stack.push_back(next);
  }
  return storages;
}

/// Parameters, data and a loss of everything a network is made of.
struct Network {
  Counting& memory;
  std::vector<Var> parameters;
  Tensor x, labels = zeros({16}, i32);

  explicit Network(Counting& counting) : memory(counting), x(counting.make({16, 24}, 0.25)) {
    for (const auto& [shape, value] : std::vector<std::pair<Shape, double>>{{{24, 32}, 0.01},
                                                                            {{32}, 0.1},
                                                                            {{32}, 1},
                                                                            {{32}, 0},
                                                                            {{32, 64}, 0.02},
                                                                            {{32, 32}, 0.01},
                                                                            {{32}, 1},
                                                                            {{32, 10}, 0.03}})
      parameters.emplace_back(memory.make(shape, value));
  }
  Var loss() const {
    const auto& p = parameters;
    const Var h = matmul_bias_activation(x, p[0], p[1], op::gelu);
    const Var n = layer_norm(h, p[2], p[3]);
    const Var gated = matmul_epilogue(n, p[4], [](auto g, auto u) { return silu(g) * u; }, {.parts = 2});
    const Var scores = softmax(matmul(gated, n.transpose(0, 1)));
    const Var mixed = matmul_bias_residual(matmul(scores, n), p[5], p[1], h);
    return cross_entropy(matmul(tanh(rms_norm(mixed, p[6])), p[7]), labels);
  }
  Storages leaves() const {
    Storages storages{x.impl()->storage.get()};
    for (const Var& v : parameters) storages.insert(v.value().impl()->storage.get());
    return storages;
  }
};

TEST(Memory, OfReverseModeIsThatOfSavedTensors) {
  Counting memory;
  const Network network(memory);
  const std::int64_t before = memory.live();
  ASSERT_EQ(before, bytes_of_storages(network.leaves()));
  const Var loss = network.loss();
  Storages kept = saved_behind(loss);
  for (const detail::Storage* leaf : network.leaves()) kept.erase(leaf);
  kept.erase(loss.value().impl()->storage.get());
  std::int64_t counted = 0;  // labels and what is made of constants is the CPU's own
  for (const detail::Storage* s : kept) counted += &s->backend() == &memory ? static_cast<std::int64_t>(s->bytes()) : 0;
  EXPECT_GT(counted, 16 * 32 * 4 * 5) << "the test has something to count";
  EXPECT_EQ(memory.live(), before + counted + 4) << "saved tensors, and the loss";
  {
    const Gradients g = backward(loss);
    EXPECT_EQ(memory.live(), 2 * before - 16 * 24 * 4 + 4) << "what was saved is gone; each parameter has a gradient";
  }
  EXPECT_EQ(memory.live(), before + 4);
}
/// What the forward pass needs beside is given back as it goes: unrecorded it keeps nothing.
TEST(Memory, WithoutRecordingNothingIsKept) {
  Counting memory;
  const Network network(memory);
  const std::int64_t before = memory.live();
  memory.most();
  std::int64_t plain = 0;
  {
    const NoGrad guard;
    const Var loss = network.loss();
    EXPECT_EQ(memory.live(), before + 4);
    plain = memory.most() - before;
  }
  const Var loss = network.loss();
  EXPECT_LT(plain, memory.most() - before);
}

/// Of the backward of a fused product, one temporary is as large as the result. 16-bit operands need their
/// pre-activation in f32, which is made strip by strip.
TEST(Memory, TheFusedBackwardMakesOneLargeTemporary) {
  constexpr std::int64_t m = 4096, n = 512, k = 8;
  for (const DType dtype : {f32, f16, bf16, f64}) {
    Counting memory;
    const auto size = static_cast<std::int64_t>(dtype_size(dtype));
    const Tensor a = memory.make({m, k}, 0.1, dtype), b = memory.make({k, n}, 0.2, dtype);
    const Tensor bias = memory.make({n}, 0.3, dtype), grad = memory.make({m, n}, 0.4, dtype);
    const std::int64_t before = memory.live();
    const auto most = [&](auto run) {
      memory.most();
      const MatmulBiasActivationGrads g = run();
      EXPECT_GE(memory.live() - before, (m * k + k * n) * size) << "the gradients; d_bias may be the CPU's own";
      return memory.most() - before;
    };
    const std::int64_t strip = size == 2 ? memory.strip_bytes() : 0, small = (m * k + k * n + 8 * n) * 8;
    const std::int64_t used = most([&] { return matmul_bias_activation_bwd(grad, a, b, bias, op::gelu); });
    EXPECT_GE(used, m * n * size) << to_string(dtype);
    EXPECT_LE(used, m * n * size + strip + small) << to_string(dtype);
    Tensor pre;
    matmul_bias_activation(a, b, bias, op::gelu, {.save_pre_activation = &pre});
    const std::int64_t with_pre = memory.live();
    memory.most();
    matmul_bias_activation_bwd(grad, a, b, bias, op::gelu, {.pre_activation = pre});
    EXPECT_LE(memory.most() - with_pre, m * n * size + small) << to_string(dtype);
  }
}

}  // namespace
}  // namespace tern
