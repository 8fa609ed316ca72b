// Backends that record by themselves bake numbers into what they record. The numbers that belong to the program reach
// them through memory: shown on one made of the CPU's, which keeps requests as they were when it recorded.
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <vector>

#include "autodiff/draws.hpp"
#include "backend/recording/capture.hpp"
#include "backend/tensor_impl.hpp"
#include "primitives/fused/operation.hpp"
#include "tern/tern.hpp"

namespace tern {
namespace {

using namespace detail;

class Native final : public Backend {
 public:
  Device device() const override { return cpu(); }
  std::string name() const override { return "native"; }
  void* allocate(std::size_t bytes) override { return host_.allocate(bytes); }
  void deallocate(void* data, std::size_t bytes) noexcept override { host_.deallocate(data, bytes); }
  void upload(Storage& to, std::size_t offset, const void* from, std::size_t bytes) override {
    ++uploads;
    std::memcpy(static_cast<std::byte*>(to.data()) + offset, from, bytes);
  }
  void download(const Storage& from, std::size_t offset, void* to, std::size_t bytes) override {
    std::memcpy(to, static_cast<const std::byte*>(from.data()) + offset, bytes);
  }
  void synchronize() override {}
  std::vector<std::string_view> families() const override { return {"cpu"}; }
  Kernel find_kernel(const Primitive& primitive) const override {
    return primitive.id == PrimitiveId::fused ? kernel_of<fused>() : Backend::find_kernel(primitive);
  }
  static void fused(Native& self, const FusedRequest& request) {
    if (!self.recording_) return self.host_.execute(request);
    self.recording_->kept.push_back({request, {request.inputs.begin(), request.inputs.end()}});
  }
  bool records() const override { return true; }
  void begin_capture() override { recording_ = std::make_unique<Kept>(host_); }
  std::unique_ptr<Recording> end_capture() override { return std::move(recording_); }

  int uploads = 0;

 private:
  struct Kept final : Recording {
    explicit Kept(Backend& host) : backend(host) {}
    void replay() override {
      for (auto& [request, inputs] : kept) {
        request.inputs = inputs;
        backend.execute(request);
      }
    }
    Backend& backend;
    std::deque<std::pair<FusedRequest, std::vector<Operand>>> kept;
  };
  Backend& host_ = backend_of(cpu());
  std::unique_ptr<Kept> recording_;
};

Native& native() {
  static Native backend;
  return backend;
}
Tensor on_native(const Tensor& from) {
  const Tensor result = make_tensor(from.shape(), from.dtype(), native());
  std::memcpy(result.impl()->storage->data(), from.impl()->storage->data(), from.impl()->storage->bytes());
  return result;
}
template <class F> tern::Graph record(F f) {
  return tern::Graph(with_call_ref([](CallRef call) { return capture_calls(native(), call); }, f));
}

template <class Optimizer, class Options> void compare_steps(DType dtype, const Options& options) {
  const std::vector<Tensor> gradients{tensor({0.5f, -1.f, 2.f}).to(dtype), tensor({1.f, 3.f}).to(dtype)};
  const Var p(ones({3}, dtype)), q(ones({2}, dtype)), a(on_native(p.value())), b(on_native(q.value()));
  Optimizer run({p, q}, options), recorded({a, b}, options);
  const std::vector<Tensor> there{on_native(gradients[0]), on_native(gradients[1])};
  const tern::Graph step = record([&] { recorded.step(there); });
  const tern::Graph late = record([&] { recorded.step(std::vector{Tensor(), there[1]}); });
  const tern::Graph twice = record([&] { step.replay(), late.replay(), step.replay(); });
  const auto compare = [&](int at) {
    EXPECT_EQ(p.value().to(f64).to_vector<double>(), a.value().to(f64).to_vector<double>()) << at;
    EXPECT_EQ(q.value().to(f64).to_vector<double>(), b.value().to(f64).to_vector<double>()) << at;
  };
  for (int i = 0; i < 4; ++i) {
    run.set_learning_rate(0.5 / (i + 1)), recorded.set_learning_rate(0.5 / (i + 1));
    run.step(gradients), step.replay(), compare(i);
    run.step(std::vector{Tensor(), gradients[1]}), late.replay(), compare(i);
    run.step(gradients), run.step(std::vector{Tensor(), gradients[1]}), run.step(gradients), twice.replay(), compare(i);
  }
}
TEST(NativeRecordings, OptimisersReadTheirNumbersFromMemory) {
  for (const DType d : {f16, bf16, f32, f64}) {
    compare_steps<optim::SGD>(d, optim::SGDOptions{.learning_rate = 0.5, .momentum = 0.9, .weight_decay = 0.1});
    compare_steps<optim::AdamW>(d, optim::AdamWOptions{.learning_rate = 0.5});
  }
}
TEST(NativeRecordings, WhatDoesNotChangeIsNotSentAgain) {
  const Var p(on_native(ones({3})));
  const Tensor gradient = on_native(ones({3}));
  optim::SGD sgd({p}, {.learning_rate = 0.5});
  const tern::Graph step = record([&] { sgd.step(gradient); });
  step.replay();
  const int before = native().uploads;
  step.replay(), step.replay();
  EXPECT_EQ(native().uploads, before);
  sgd.set_learning_rate(0.25), step.replay();
  EXPECT_EQ(native().uploads, before + 1);
}
/// More draws than one block of memory holds, each with its own words.
TEST(NativeRecordings, DrawsReadTheirWordsFromMemory) {
  constexpr int kDraws = 600;
  Generator dice{7, 1ull << 33};
  const Tensor words = on_native(zeros({kDraws, 4}, u32));
  const tern::Graph step = record([&] {
    for (int i = 0; i < kDraws; ++i) {
      const DrawState state = next_draw(dice, 3);
      for (std::size_t w = 0; w < DrawState::kWords; ++w) {
        const auto column = static_cast<std::int64_t>(w);
        const Tensor into = words.slice(0, i, i + 1).slice(1, column, column + 1).reshape({});
        const Argument argument = state.word(w);
        ASSERT_NE(argument.tensor, nullptr);
        run_fused({"word", graph_of([](auto v) { return v | 0; }), 0, {}}, {&argument, 1}, {&into, 1});
      }
    }
  });
  EXPECT_EQ(dice.position, 1ull << 33);
  for (std::uint64_t replay = 0; replay < 3; ++replay) {
    step.replay();
    const std::vector<std::uint32_t> got = words.to_vector<std::uint32_t>();
    for (std::uint64_t i = 0; i < kDraws; ++i) {
      const std::uint32_t want[] = {static_cast<std::uint32_t>(3 * (replay * kDraws + i)), 2, 7, 0};
      for (std::size_t w = 0; w < 4; ++w) ASSERT_EQ(got[4 * i + w], want[w]) << replay << ", draw " << i;
    }
  }
  EXPECT_EQ(dice.position, (1ull << 33) + 3 * 3 * kDraws);
}
/// Recording a read of another recording's tensor is no read yet.
TEST(NativeRecordings, ReadWhatOtherRecordingsMake) {
  const Tensor x = on_native(tensor({2.f, 3.f}));
  Tensor squares, doubled;
  const tern::Graph first = record([&] { squares = x * x; });
  const tern::Graph second = record([&] { doubled = squares + squares; });
  EXPECT_THROW(second.replay(), Error);
  EXPECT_THROW((void)squares.to_vector<float>(), Error);
  first.replay(), second.replay();
  EXPECT_EQ(doubled.to_vector<float>(), (std::vector<float>{8, 18}));
}

}  // namespace
}  // namespace tern
