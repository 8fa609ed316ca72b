// tern's attention on a GPU for bench/beside_torch_attention.py, which takes turns with PyTorch: reads "call count"
// lines, makes that many calls, and answers with the milliseconds of each, waiting for the GPU at the end of all.
#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <string>

#include "tern/tern.hpp"

namespace {

using namespace tern;

constexpr std::int64_t kBatch = 4, kHeads = 16, kRows = 4096, kDocument = 512;

/// One work: the result of attention over q, k and v.
using Work = std::function<Var(const Var& q, const Var& k, const Var& v)>;

std::map<std::string, Work> works(Device device) {
  const auto alibi = [](auto score, auto, auto, auto i, auto j, auto slope) { return score - slope * (i - j); };
  const auto soft_cap = [](auto score, auto, auto, auto, auto) { return 50 * tanh(score / 50); };
  // As there: the length stands in the formula, so that a compiler divides by a constant.
  const auto documents = [](auto, auto, auto i, auto j) {
    return (floor_divide(i, kDocument) == floor_divide(j, kDocument)) & (j <= i);
  };
  const auto documents_of = [](auto, auto, auto i, auto j, auto length) {
    return (floor_divide(i, length) == floor_divide(j, length)) & (j <= i);
  };
  const Tensor slopes =
      exp2(arange(1, kHeads + 1, 1, {.device = device}).to(f32) * (-8.0 / kHeads)).reshape({-1, 1, 1});
  const BlockMask mask = block_mask(documents, 1, 1, kRows, kRows),
                  mask_of = block_mask(documents_of, 1, 1, kRows, kRows, kDocument);
  return {
      {"full", [](const Var& q, const Var& k, const Var& v) { return attention(q, k, v); }},
      {"causal", [](const Var& q, const Var& k, const Var& v) { return attention(q, k, v, {.causal = true}); }},
      {"alibi",
       [=](const Var& q, const Var& k, const Var& v) { return attention(q, k, v, {.causal = true}, alibi, slopes); }},
      {"softcap", [=](const Var& q, const Var& k, const Var& v) { return attention(q, k, v, {}, soft_cap); }},
      {"documents", [=](const Var& q, const Var& k, const Var& v) { return attention(q, k, v, {.block_mask = mask}); }},
      {"documents_of",
       [=](const Var& q, const Var& k, const Var& v) { return attention(q, k, v, {.block_mask = mask_of}); }},
  };
}

/// q, k, v and the result's gradient, of so many elements.
struct Operands {
  Operands(Device device, std::int64_t depth) {
    Generator dice{1};
    const Shape shape{kBatch, kHeads, depth == 256 ? kRows / 2 : kRows, depth};
    for (Tensor* t : {&q, &k, &v, &gradient}) *t = randn(shape, dice, {.dtype = bf16, .device = device});
  }
  Tensor q, k, v, gradient;
};

void run(const Work& work, const Operands& of, bool both) {
  if (!both) {
    work(constant(of.q), constant(of.k), constant(of.v));
    return;
  }
  const Var q = parameter(of.q), k = parameter(of.k), v = parameter(of.v);
  backward(work(q, k, v), of.gradient);
}

}  // namespace

int main() {
  const Device device = cuda();
  set_default_device(device);
  const std::map<std::string, Work> all = works(device);
  std::map<std::int64_t, Operands> operands;
  std::string name, kind;
  std::int64_t depth = 0, count = 0;
  while (std::cin >> name >> depth >> kind >> count) {
    const Operands& of = operands.try_emplace(depth, device, depth).first->second;
    synchronize(device);
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < count; ++i) run(all.at(name), of, kind == "both");
    synchronize(device);
    const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - begin;
    std::cout << passed.count() / static_cast<double>(count) << std::endl;
  }
}
