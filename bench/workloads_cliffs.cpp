// How fast are operations that once were far from what memory gives: random numbers, powers, remainders, searches,
// sorts, sums by index, short rows, small products, copies in another order?
//
// Each is a name, what it does to its inputs, and how many bytes that must move. Right values are those of tern's CPU,
// which the tests hold against references in f64.
#include <fmt/format.h>

#include <array>

#include "peers.hpp"

namespace bench {
namespace {

using tern::DType;
using tern::Tensor;
using tern::Var;

constexpr std::int64_t kMany = 1 << 24, kSide = 4096, kPoints = 1 << 22, kBatches = 100'000;
constexpr std::int64_t kRows = 16'384, kWidth = 768, kVocabulary = 50'304, kWide = 8192;

/// What one call gives, all of which is compared.
using Call = std::function<std::vector<Tensor>()>;

struct Cliff {
  const char* name;
  std::vector<DType> dtypes;
  double elements;  // read and written, as the bytes that must move are counted
  std::function<Call(DType, tern::Device)> make;
  bool compared = true;  // what is random, or may be another of several positions, is not
};

Tensor pattern(DType dtype, const tern::Shape& shape, tern::Device device, std::uint32_t seed = 1) {
  return Buffer::pattern(dtype, shape.numel(), seed).tensor(shape, device);
}
/// Positions i · 7919 modulo `bound`: in no order, and the same everywhere.
Tensor positions(std::int64_t count, std::int64_t bound, tern::Device device) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(i) * 7919 % bound);
  return tern::tensor(values, {count}, device);
}

/// Positions in [0, bound) that the pattern's bits give, as peers_torch.py makes them.
Tensor scattered_positions(const tern::Shape& shape, std::int64_t bound, tern::Device device) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(shape.numel()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double unit = (pattern_value(static_cast<std::int64_t>(i), 9, 1) + 1) / 2;
    values[i] = static_cast<std::int32_t>(unit * static_cast<double>(bound));
  }
  return tern::tensor(values, shape, device);
}

/// A call of f on a pattern.
template <class F> auto on_pattern(tern::Shape shape, const F& f) {
  return [shape, f](DType dtype, tern::Device device) -> Call {
    const Tensor x = pattern(dtype, shape, device);
    return [x, f] { return std::vector<Tensor>{f(x)}; };
  };
}
auto product(tern::Shape a, tern::Shape b) {
  return [a, b](DType dtype, tern::Device device) -> Call {
    const Tensor x = pattern(dtype, a, device), y = pattern(dtype, b, device, 2);
    return [x, y] { return std::vector<Tensor>{matmul(x, y)}; };
  };
}
/// f(x, w) of rows of `length`, as many elements as kPoints of three; with `backward` the gradients of both.
template <class F> auto on_rows(std::int64_t length, bool backward, const F& f) {
  return [length, backward, f](DType dtype, tern::Device device) -> Call {
    const tern::Shape shape{3 * kPoints / length, length};
    const Tensor x = pattern(dtype, shape, device), w = pattern(dtype, {length}, device, 2);
    if (!backward) return [=] { return std::vector<Tensor>{f(x, w)}; };
    const Tensor grad = pattern(dtype, shape, device, 3);
    const Var vx(x), vw(w);
    return [=] {
      const tern::Gradients g = tern::backward(f(vx, vw), grad);
      return std::vector<Tensor>{g[vx], g[vw]};
    };
  };
}
constexpr auto kScaled = [](const auto& x, const auto& w) { return x * w; };
constexpr auto kUnitLength = [](const auto& x, const auto& w) {
  return tern::row_formula([](auto p, auto scale) { return p / sqrt(sum(p * p) + 1e-6) * scale; }, x, w);
};

std::vector<Cliff> random_numbers() {
  const auto drawn = [](const auto& f) {
    return [f](DType dtype, tern::Device device) -> Call {
      const auto generator = std::make_shared<tern::Generator>(7);
      return [=] { return std::vector<Tensor>{f(*generator, tern::Options{.dtype = dtype, .device = device})}; };
    };
  };
  const std::vector<DType> floats{tern::f32, tern::bf16};
  return {{"rand", floats, kMany, drawn([](auto& g, auto o) { return tern::rand({kMany}, g, o); }), false},
          {"randn", floats, kMany, drawn([](auto& g, auto o) { return tern::randn({kMany}, g, o); }), false}};
}

std::vector<Cliff> element_by_element() {
  return {{"square", {tern::f32}, 2 * kMany, on_pattern({kMany}, [](const Tensor& x) { return pow(x, 2.0); })},
          {"remainder", {tern::f32}, 2 * kMany, on_pattern({kMany}, [](const Tensor& x) { return x % 0.7; })},
          {"argmax", {tern::f32}, kMany, on_pattern({kMany}, [](const Tensor& x) { return argmax(x); }), false}};
}

std::vector<Cliff> orders() {
  const auto sorted = [](int axis) { return [axis](const Tensor& x) { return tern::sort(x, axis).values; }; };
  return {
      {"sort", {tern::f32, tern::bf16}, 2 * kMany, on_pattern({kMany}, sorted(0))},
      {"sort_rows", {tern::f32}, 2 * kMany, on_pattern({kSide, kSide}, sorted(1))},
      {"argsort", {tern::f32}, 2 * kMany, on_pattern({kMany}, [](const Tensor& x) { return tern::argsort(x, 0); })},
      {"topk", {tern::f32}, kMany, on_pattern({kMany}, [](const Tensor& x) { return tern::topk(x, 10).values; })},
      {"topk_rows", {tern::f32}, kMany,
       on_pattern({kSide, kSide}, [](const Tensor& x) { return tern::topk(x, 10, 1).values; })},
      {"quantile", {tern::f32}, kMany, on_pattern({kMany}, [](const Tensor& x) { return tern::quantile(x, 0.3); })},
      {"median", {tern::f32}, kMany, on_pattern({kMany}, [](const Tensor& x) { return tern::median(x); }), false},
  };
}

std::vector<Cliff> running_sums() {
  const auto summed = [](const Tensor& x) { return cumsum(x, 0); };
  return {{"cumsum_columns", {tern::f32}, 8 << 20, on_pattern({1 << 20, 4}, summed), false},
          {"cumsum_line", {tern::f32, tern::bf16}, 2 * kWide * kWide, on_pattern({kWide * kWide}, summed), false}};
}

/// Source elements added to zeros of the shape `to`, along `axis`, at positions in no order that `at` has the shape of.
auto added(tern::Shape to, tern::Shape at, tern::Shape from, int axis, bool spread) {
  return [=](DType dtype, tern::Device device) -> Call {
    const Tensor x = tern::zeros(to, {.dtype = dtype, .device = device}), source = pattern(dtype, from, device);
    const std::int64_t bound = to[static_cast<std::size_t>(axis)];
    const Tensor places = spread ? scattered_positions(at, bound, device) : positions(at.numel(), bound, device);
    return [=] { return std::vector<Tensor>{scatter_add(x, places, source, axis)}; };
  };
}

std::vector<Cliff> added_by_index() {
  const std::vector<DType> f32{tern::f32}, floats{tern::f32, tern::bf16};
  const tern::Shape square{kSide, kSide}, wide{kWide, kWide};
  const double rows = 2.0 * kVocabulary * kWidth + kRows * kWidth;
  return {{"scatter_rows", floats, rows, added({kVocabulary, kWidth}, {kRows}, {kRows, kWidth}, 0, false)},
          {"scatter_to_1000_rows", floats, kWide * (kWide + 2000), added({1000, kWide}, {kWide}, wide, 0, true)},
          {"scatter_few", f32, 2 << 21, added({100}, {1 << 21}, {1 << 21}, 0, false), false},
          {"scatter_many", f32, 4 << 21, added({1 << 21}, {1 << 21}, {1 << 21}, 0, true)},
          {"scatter_columns", f32, 4 * kMany, added(square, square, square, 0, true)},
          {"scatter_lines", f32, 4 * kMany, added(square, square, square, 1, true)}};
}

std::vector<Cliff> taken_by_index() {
  const std::vector<DType> floats{tern::f32, tern::bf16};
  const auto rows = [](DType dtype, tern::Device device) -> Call {
    const Tensor x = pattern(dtype, {kWide, kWide}, device), at = scattered_positions({kWide}, kWide, device);
    return [=] { return std::vector<Tensor>{take(x, at)}; };
  };
  const auto elements = [](int axis) {
    return [axis](DType dtype, tern::Device device) -> Call {
      const Tensor x = pattern(dtype, {kSide, kSide}, device), at = scattered_positions({kSide, kSide}, kSide, device);
      return [=] { return std::vector<Tensor>{gather(x, at, axis)}; };
    };
  };
  const auto selected = [](DType dtype, tern::Device device) -> Call {
    const Tensor x = pattern(dtype, {kMany}, device), mask = pattern(dtype, {kMany}, device, 2) > 0;
    return [=] { return std::vector<Tensor>{masked_select(x, mask)}; };
  };
  const auto concatenated = [](DType dtype, tern::Device device) -> Call {
    std::vector<Tensor> parts;
    for (std::uint32_t i = 0; i < 256; ++i) parts.push_back(pattern(dtype, {1000}, device, i));
    return [=] { return std::vector<Tensor>{tern::concatenate(parts)}; };
  };
  return {{"take_rows", floats, 2 * kWide * kWide, rows},
          {"gather_columns", {tern::f32}, 3 * kMany, elements(0)},
          {"gather_lines", {tern::f32}, 3 * kMany, elements(1)},
          {"masked_select", {tern::f32}, 1.75 * kMany, selected},
          {"concatenate", {tern::f32}, 2 * 256'000, concatenated}};
}

std::vector<Cliff> small_products() {
  const std::vector<DType> f32{tern::f32}, all{tern::f32, tern::f64, tern::bf16};
  const auto square = [](std::int64_t n) { return product({kBatches, n, n}, {kBatches, n, n}); };
  const auto shared = product({kBatches, 4, 4}, {4, 4});
  const auto transposed = [](DType dtype, tern::Device device) -> Call {
    const Tensor x = pattern(dtype, {kBatches, 4, 4}, device), y = pattern(dtype, {kBatches, 4, 4}, device, 2);
    return [=] { return std::vector<Tensor>{matmul(x.transpose(1, 2), y)}; };
  };
  return {{"product_2x2", f32, 12 * kBatches, square(2)},
          {"product_4x4", all, 48 * kBatches, square(4)},
          {"product_4x4_transposed", f32, 48 * kBatches, transposed},
          {"product_4x4_shared", f32, 32 * kBatches, shared},
          {"product_8x8", f32, 192 * kBatches, square(8)},
          {"product_16x16", f32, 768 * kBatches, square(16)},
          {"product_3x3x1", all, 15 * kBatches, product({kBatches, 3, 3}, {kBatches, 3, 1})},
          {"product_3x3x1_more", all, 150 * kBatches, product({10 * kBatches, 3, 3}, {10 * kBatches, 3, 1})},
          {"product_3x3_vector", f32, 6 * kBatches, product({3, 3}, {kBatches, 3, 1})},
          {"matrix_vector", all, kSide * kSide, product({kSide, kSide}, {kSide, 1})},
          {"vector_matrix", all, kSide * kSide, product({1, kSide}, {kSide, kSide})}};
}

/// Few rows times a matrix, whose bytes are what must move.
std::vector<Cliff> few_rows() {
  const std::vector<DType> floats{tern::f32, tern::bf16};
  const auto rows = [](std::int64_t count) { return product({count, kSide}, {kSide, kSide}); };
  const auto turned = [](DType dtype, tern::Device device) -> Call {
    const Tensor x = pattern(dtype, {2, kSide}, device), w = pattern(dtype, {kSide, kSide}, device, 2);
    return [=] { return std::vector<Tensor>{matmul(x, w.transpose(0, 1))}; };
  };
  const auto layer = [](DType dtype, tern::Device device) -> Call {
    const Tensor x = pattern(dtype, {1, kSide}, device), w = pattern(dtype, {kSide, kSide}, device, 2),
                 b = pattern(dtype, {kSide}, device, 3);
    return [=] { return std::vector<Tensor>{matmul_bias_activation(x, w, b, tern::op::silu)}; };
  };
  return {{"rows_2_matrix", floats, kSide * kSide, rows(2)},
          {"rows_4_matrix", floats, kSide * kSide, rows(4)},
          {"rows_8_matrix", floats, kSide * kSide, rows(8)},
          {"rows_16_matrix", floats, kSide * kSide, rows(16)},
          {"rows_2_matrix_transposed", floats, kSide * kSide, turned},
          {"row_matrix_bias_silu", floats, kSide * kSide, layer},
          {"outer_product", floats, kSide * kSide, product({kSide, 1}, {1, kSide})}};
}

std::vector<Cliff> short_rows() {
  const std::vector<DType> floats{tern::f32, tern::bf16};
  const double all = 3 * kPoints;
  std::vector<Cliff> list;
  const auto add = [&](std::int64_t length, std::array<const char*, 4> names) {
    list.push_back({names[0], floats, 2 * all, on_rows(length, false, kScaled)});
    list.push_back({names[1], floats, 5 * all, on_rows(length, true, kScaled), false});
    list.push_back({names[2], floats, 2 * all, on_rows(length, false, kUnitLength)});
    list.push_back({names[3], floats, 5 * all, on_rows(length, true, kUnitLength), false});
  };
  add(768, {"rows_of_768_scaled", "rows_of_768_scaled_both", "rows_of_768_normalized", "rows_of_768_normalized_both"});
  add(3, {"rows_of_3_scaled", "rows_of_3_scaled_both", "rows_of_3_normalized", "rows_of_3_normalized_both"});
  return list;
}

std::vector<Cliff> other_orders() {
  const std::vector<DType> floats{tern::f32, tern::bf16};
  const auto permuted = [](const Tensor& x) { return x.permute({3, 1, 0, 2}); };
  const auto transposed = [](const Tensor& x) { return x.transpose(0, 1).contiguous(); };
  const auto heads = [](const Tensor& x) { return x.permute({0, 2, 1, 3}).contiguous(); };
  const tern::Shape uneven{64, 32, 128, 64};
  return {{"copy", {tern::f32}, 2 * kMany, on_pattern({kMany}, [](const Tensor& x) { return x.clone(); })},
          {"transposed_copy", floats, 2 * kMany, on_pattern({kSide, kSide}, transposed)},
          {"transposed_copy_8192", floats, 2 * kWide * kWide, on_pattern({kWide, kWide}, transposed)},
          {"permuted_copy_heads", {tern::f32}, 2 * kMany, on_pattern(uneven, heads)},
          {"permuted_copy_uneven", {tern::f32}, 2 * kMany,
           on_pattern(uneven, [=](const Tensor& x) { return permuted(x).contiguous(); })},
          {"permuted_copy", {tern::f32}, 2 * kMany,
           on_pattern({64, 64, 64, 64}, [=](const Tensor& x) { return permuted(x).contiguous(); })},
          {"permuted_sum", {tern::f32}, kMany,
           on_pattern({64, 64, 64, 64}, [=](const Tensor& x) { return sum(permuted(x)); }), false}};
}

std::vector<double> samples(const std::vector<Tensor>& all) {
  std::vector<double> values;
  for (const Tensor& x : all)
    for (const double v : sample(x)) values.push_back(v);
  return values;
}

Prepared prepare(const Cliff& cliff, DType dtype, const Target& target) {
  const Call call = cliff.make(dtype, target.device);
  Prepared prepared;
  prepared.contenders.push_back(target.tern([=] { call(); }, [=] { return samples(call()); }));
  if (cliff.compared) prepared.expected = samples(cliff.make(dtype, tern::cpu())());
  return prepared;
}

}  // namespace

void add_cliffs(Workloads& workloads, const Target& target) {
  using Make = std::vector<Cliff> (*)();
  for (const Make make :
       {&random_numbers, &element_by_element, &orders, &running_sums, &added_by_index, &taken_by_index,
        &small_products, &few_rows, &short_rows, &other_orders})
    for (const Cliff& cliff : make())
      for (const DType dtype : cliff.dtypes) {
        if (dtype == tern::f64 && target.device.kind() == tern::DeviceKind::webgpu) continue;
        workloads.push_back({.name = fmt::format("cliffs/{}/{}", cliff.name, name_of(dtype)),
                             .unit = Unit::bytes,
                             .work = cliff.elements * static_cast<double>(tern::dtype_size(dtype)),
                             .roof = target.memory_roof(),
                             .quick = false,
                             .tolerance = tolerance(dtype),
                             .prepare = [=] { return prepare(cliff, dtype, target); }});
      }
}

}  // namespace bench
