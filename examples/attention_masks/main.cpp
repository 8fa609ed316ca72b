// Six masks and score formulas of attention, each a lambda, and the weights that they give: with the identity matrix as
// values, attention's result is its weights.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "heat_map.hpp"

namespace {

using tern::Pointwise;
using tern::Tensor;

constexpr std::int64_t kLength = 40, kDepth = 16;

struct Settings {
  std::string device, output = "attention_masks.svg";
  std::uint64_t seed = 1;
};
struct Weights {
  std::string title;
  Tensor of_heads;  // [1, 1, L, L]
};

Weights causal(const Tensor& q, const Tensor& k, const Tensor& v) {
  return {"causal", attention(q, k, v, {.causal = true})};
}

/// The last eight places, and the first two, which every row sees ("sinks").
Weights window_and_sinks(const Tensor& q, const Tensor& k, const Tensor& v) {
  const auto near = Pointwise<>([](auto, auto, auto i, auto j) { return (j <= i) & ((i - j < 8) | (j < 2)); });
  return {"window of 8 and 2 sinks", attention(q, k, v, {.mask = near})};
}

/// The first twelve places see each other (a question), the others what stands before them (its answer).
Weights prefix(const Tensor& q, const Tensor& k, const Tensor& v) {
  const auto seen = Pointwise<>([](auto, auto, auto i, auto j) { return (j <= i) | (j < 12); });
  return {"prefix of 12", attention(q, k, v, {.mask = seen})};
}

/// Three documents in one sequence: each place has the number of its own.
Weights documents(const Tensor& q, const Tensor& k, const Tensor& v) {
  const auto same =
      Pointwise<>([](auto, auto, auto, auto, auto of_row, auto of_column) { return of_row == of_column; });
  const Tensor at = tern::arange(0, kLength), number = where(at < 14, 0, where(at < 24, 1, 2));
  return {
      "three documents",
      attention(q, k, v, {.causal = true, .mask = same, .mask_operands = {number.unsqueeze(1), number.unsqueeze(0)}})};
}

/// A score falls with the distance (Press, Smith and Lewis, 2022); its slope, a tensor, would get a gradient as a Var.
Weights alibi(const Tensor& q, const Tensor& k, const Tensor& v) {
  const auto falling = [](auto score, auto, auto, auto i, auto j, auto slope) { return score - slope * (i - j); };
  return {"ALiBi", attention(q, k, v, {.causal = true}, falling, tern::full({1, 1, 1}, 0.25))};
}

/// No score beyond ±2, however large the product is.
Weights soft_cap(const Tensor& q, const Tensor& k, const Tensor& v) {
  const auto capped = [](auto score, auto, auto, auto, auto, auto cap) { return cap * tanh(score / cap); };
  return {"soft cap at 2, of scores four times as large", attention(4 * q, k, v, {.causal = true}, capped, 2.0)};
}

bool run(const Settings& s) {
  tern::Generator random{s.seed};
  const Tensor q = tern::randn({1, 1, kLength, kDepth}, random), k = tern::randn({1, 1, kLength, kDepth}, random);
  const Tensor v = tern::eye(kLength).reshape({1, 1, kLength, kLength});
  std::vector<pictures::HeatMap> maps;
  double worst = 0;
  for (const auto& formula : {causal, window_and_sinks, prefix, documents, alibi, soft_cap}) {
    const auto [title, weights] = formula(q, k, v);
    worst = std::max<double>(worst, max(abs(sum(weights, -1) - 1)).item<float>());
    maps.push_back({title, weights(0, 0), 0, 0.5});
  }
  pictures::write(s.output, pictures::heat_maps(maps, 3));
  std::printf("%zu kinds of attention; the weights of a row sum to 1 but for %.1e\nwrote %s\n", maps.size(), worst,
              s.output.c_str());
  return worst < 1e-5;
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  CLI::App app{"Draws the weights of attention with six masks and formulas of scores."};
  app.add_option("--device", s.device, "cpu, webgpu, ... (default: TERN_DEVICE, else cpu)")->type_name("NAME");
  app.add_option("--seed", s.seed, "Seed of queries and keys")->capture_default_str();
  app.add_option("--output", s.output, "File of the picture")->type_name("FILE")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    if (!s.device.empty()) tern::set_default_device(tern::Device::parse(s.device));
    return run(s) ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "attention_masks: %s\n", e.what());
    return 2;
  }
}
