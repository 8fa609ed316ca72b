// tern's attention for bench/beside_torch_attention.py, which takes turns with PyTorch: reads "work sizes kind count"
// lines, makes that many calls, and answers with the milliseconds of each, waiting for the device at the end of all: of
// the clock, and of this program's processors. The device is the argument, cuda where there is none; sizes are what
// that script says.
#include <ctime>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tern/tern.hpp"

namespace {

using namespace tern;

constexpr std::int64_t kDocument = 512;

/// One work: the result of attention over q, k and v.
using Work = std::function<Var(const Var& q, const Var& k, const Var& v)>;

Work work_of(const std::string& name, Device device, std::int64_t heads, std::int64_t rows, std::int64_t columns) {
  const auto alibi = [](auto score, auto, auto, auto i, auto j, auto slope) { return score - slope * (i - j); };
  const auto soft_cap = [](auto score, auto, auto, auto, auto) { return 50 * tanh(score / 50); };
  // As there: the length stands in the formula, so that a compiler divides by a constant.
  const auto documents = [](auto, auto, auto i, auto j) {
    return (floor_divide(i, kDocument) == floor_divide(j, kDocument)) & (j <= i);
  };
  const auto documents_of = [](auto, auto, auto i, auto j, auto length) {
    return (floor_divide(i, length) == floor_divide(j, length)) & (j <= i);
  };
  if (name == "causal")
    return [](const Var& q, const Var& k, const Var& v) { return attention(q, k, v, {.causal = true}); };
  if (name == "alibi") {
    const double step = -8.0 / static_cast<double>(heads);
    const Tensor slopes = exp2(arange(1, heads + 1, 1, {.device = device}).to(f32) * step).reshape({-1, 1, 1});
    const AttentionOptions causal{.causal = true};
    return [=](const Var& q, const Var& k, const Var& v) { return attention(q, k, v, causal, alibi, slopes); };
  }
  if (name == "softcap")
    return [=](const Var& q, const Var& k, const Var& v) { return attention(q, k, v, {}, soft_cap); };
  if (name == "documents" || name == "documents_of") {
    const BlockMask mask = name == "documents" ? block_mask(documents, 1, 1, rows, columns)
                                               : block_mask(documents_of, 1, 1, rows, columns, kDocument);
    return [=](const Var& q, const Var& k, const Var& v) { return attention(q, k, v, {.block_mask = mask}); };
  }
  return [](const Var& q, const Var& k, const Var& v) { return attention(q, k, v); };
}

/// q, k, v, the result's gradient and the work.
struct Operands {
  Operands(const std::string& name, const std::string& sizes, Device device) {
    std::istringstream text(sizes);
    std::string word;
    std::getline(text, word, ',');
    const DType dtype = word == "f32" ? f32 : bf16;
    std::vector<std::int64_t> all;
    while (std::getline(text, word, ',')) all.push_back(std::stoll(word));
    all.resize(6, 1);
    const std::int64_t batch = all[0], heads = all[1], keys = all[2], rows = all[3], columns = all[4], depth = all[5];
    Generator dice{1};
    for (Tensor* t : {&q, &gradient}) *t = randn({batch, heads, rows, depth}, dice, {.dtype = dtype, .device = device});
    for (Tensor* t : {&k, &v}) *t = randn({batch, keys, columns, depth}, dice, {.dtype = dtype, .device = device});
    work = work_of(name, device, heads, rows, columns);
  }
  Tensor q, k, v, gradient;
  Work work;
};

void run(const Operands& of, bool both) {
  if (!both) {
    of.work(constant(of.q), constant(of.k), constant(of.v));
    return;
  }
  const Var q = parameter(of.q), k = parameter(of.k), v = parameter(of.v);
  backward(of.work(q, k, v), of.gradient);
}

double milliseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

}  // namespace

int main(int count_of_arguments, char** arguments) {
  const std::string device_name = count_of_arguments > 1 ? arguments[1] : "cuda";
  const Device device = device_name == "cpu" ? cpu() : cuda();
  set_default_device(device);
  std::map<std::string, Operands> operands;
  std::string name, sizes, kind;
  std::int64_t count = 0;
  while (std::cin >> name >> sizes >> kind >> count) {
    const Operands& of = operands.try_emplace(name + ' ' + sizes, name, sizes, device).first->second;
    synchronize(device);
    const double wall = milliseconds(CLOCK_MONOTONIC), used = milliseconds(CLOCK_PROCESS_CPUTIME_ID);
    for (std::int64_t i = 0; i < count; ++i) run(of, kind == "both");
    synchronize(device);
    std::cout << (milliseconds(CLOCK_MONOTONIC) - wall) / static_cast<double>(count) << ' '
              << (milliseconds(CLOCK_PROCESS_CPUTIME_ID) - used) / static_cast<double>(count) << std::endl;
  }
}
