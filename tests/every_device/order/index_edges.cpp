// Indices at their edges: into nothing, beyond 32 bits, of 64 bits; positions beyond 2^31.
#include <limits>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class IndexEdges : public EveryDevice {};
TERN_EVERY_DEVICE(IndexEdges);

constexpr std::int64_t kBeyond = std::int64_t{1} << 32;  // + 1 is 1 in 32 bits

Tensor of_i64(std::vector<std::int64_t> values) { return tensor(values); }

// ---- an axis without elements ----
TEST_P(IndexEdges, IntoAnEmptyAxisAreErrors) {
  const Tensor none = zeros({0, 2}), zero = zeros({1}, i32), zeros2 = zeros({1, 2}, i32), source = ones({1, 2});
  const auto each = [&](const auto& refuses) {
    refuses({"take", "size 0", "f32[0, 2]"}, [&] { take(none, zero); });
    refuses({"take", "size 0"}, [&] { take(zeros({2, 0}), zero, 1); });
    refuses({"take", "size 0"}, [&] { take(zeros({0, 0}), zero); });
    refuses({"take", "size 0"}, [&] { take(Var(none), zero); });
    refuses({"gather", "size 0", "axis 0"}, [&] { gather(none, zeros2, 0); });
    refuses({"gather", "size 0"}, [&] { gather(Var(none), zeros2, 0); });
    refuses({"scatter_add", "size 0"}, [&] { scatter_add(none, zero, source); });
    refuses({"scatter_add", "size 0"}, [&] { scatter_add(none, zeros2, source, 0); });
    refuses({"scatter_add", "size 0"}, [&] { scatter_add(Var(none), zero, Var(source)); });
    refuses({"one_hot", "0 classes"}, [&] { one_hot(zero, 0); });
    for (const DType d : {f32, f16, c64})
      refuses({"size 0"}, [&] { index_put(none.to(d), {zero}, source.to(d)); });
    refuses({"size 0"}, [&] { index_put(zeros({2, 0}), {zero, zero}, ones({1})); });
    refuses({"size 0"}, [&] { take_along_axis(none, zeros2, 0); });
    refuses({"size 0"}, [&] { put_along_axis(none, zeros2, source, 0); });
  };
  each([](const std::vector<std::string>& parts, const auto& f) { expect_error(ErrorKind::index, parts, f); });
  // Before the launch: a capture, which launches nothing, throws as well.
  each([&](const std::vector<std::string>& parts, const auto& f) {
    expect_error(ErrorKind::index, parts, [&] { capture(device(), [&] { f(); }); });
  });
  expect_error(ErrorKind::shape, {"cross_entropy", "no classes"}, [&] { cross_entropy(zeros({1, 0}), zero); });
  EXPECT_EQ(take(none, zeros({0}, i32)).shape(), Shape({0, 2}));
  EXPECT_EQ(gather(none, zeros({0, 2}, i32), 0).shape(), Shape({0, 2}));
  EXPECT_EQ(scatter_add(none, zeros({0}, i32), none).shape(), Shape({0, 2}));
  EXPECT_EQ(one_hot(zeros({0}, i32), 0).shape(), Shape({0, 0}));
  expect_values(take(ones({2}), zero), {1}, {1});  // the device lives
}

// ---- labels out of range ----
TEST_P(IndexEdges, OneHotRefusesLabelsOutOfRange) {
  expect_values(one_hot(tensor({2, 0}), 3), {2, 3}, {0, 0, 1, 1, 0, 0});
  expect_error(ErrorKind::index, {"one_hot", "3"}, [&] { one_hot(tensor({0, 3}), 3); });
  expect_error(ErrorKind::index, {"one_hot", "-1"}, [&] { one_hot(tensor({-1}), 3); });
  expect_error(ErrorKind::dtype, {"one_hot", "labels", "f32"}, [&] { one_hot(ones({2}), 3); });
  const Tensor labels = tensor({0, 1});
  Tensor rows;
  const Graph g = capture(device(), [&] { rows = one_hot(labels, 3); });
  g.replay();
  expect_values(rows, {2, 3}, {1, 0, 0, 0, 1, 0});
  Tensor(labels).copy_from(tensor({0, 5}));
  expect_error(ErrorKind::index, {"one_hot", "5"}, [&] { g.replay(); });
}

// ---- lines long enough for kernels that fetch places before they look at them ----
TEST_P(IndexEdges, PlacesOutsideOfLongLines) {
  const Tensor x = zeros({300, 300}), source = ones({300, 300});
  for (const int axis : {0, 1}) {
    const auto with = [&](std::int32_t place) {
      std::vector<std::int32_t> at(300 * 300, 7);
      at[12345] = place;
      return scatter_add(x, tensor(at, {300, 300}), source, axis);
    };
    for (const std::int32_t bad : {300, -301, INT32_MIN, INT32_MAX})
      expect_error(ErrorKind::index, {"scatter_add", std::to_string(bad).c_str()}, [&] {
        with(bad);
        synchronize(device());
      });
    for (const std::int32_t place : {299, -300, -1, 0})
      EXPECT_EQ(sum(with(place)).item<float>(), 300 * 300) << place;
  }
}
TEST_P(IndexEdges, ErrorsNameTheDTypeThatWasGiven) {
  for (const DType dtype : {f16, bf16, u8, f32}) {
    const Tensor x = zeros({4, 3}, dtype), at = full({4, 2}, 3, i32), source = ones({4, 2}, dtype);
    const std::string named = std::string(to_string(dtype)) + "[4, 3]";
    expect_error(ErrorKind::index, {"scatter_add", "index 3", named.c_str()}, [&] {
      scatter_add(x, at, source, 1);
      synchronize(device());
    });
  }
}

// ---- i64 ----
TEST_P(IndexEdges, SixtyFourBitsServeAsThirtyTwo) {
  if (!supports(device(), i64)) {
    expect_error(ErrorKind::dtype, {"take", "i32 or i64", "f32"}, [&] { take(ones({2}), ones({1})); });
    return;
  }
  const Tensor x = arange(0, 12, 1, f32).reshape({4, 3}), at = tensor({3, -4, 1}), wide = at.to(i64);
  expect_values(take(x, wide), {3, 3}, doubles(take(x, at)));
  const Tensor places = tensor({0, 2, 1, -1, 0, 1, 2, 2}, {4, 2});
  expect_values(gather(x, places.to(i64), 1), {4, 2}, doubles(gather(x, places, 1)));
  expect_values(scatter_add(x, wide, x.slice(0, 0, 3)), {4, 3}, doubles(scatter_add(x, at, x.slice(0, 0, 3))));
  expect_values(one_hot(of_i64({2, 0}), 3), {2, 3}, {0, 0, 1, 1, 0, 0});
  expect_values(take(x, wide.slice(0, 0, 3, 2)), {2, 3}, doubles(take(x, at.slice(0, 0, 3, 2))));
  const Var v(x);
  expect_values(backward(sum(take(v, wide) * take(v, wide)))[v], {4, 3},
                doubles(backward(sum(take(v, at) * take(v, at)))[v]));
  expect_values(backward(sum(square(gather(v, places.to(i64), 1))))[v], {4, 3},
                doubles(backward(sum(square(gather(v, places, 1))))[v]));
  const Var source(x.slice(0, 0, 3).clone());
  expect_values(backward(sum(square(scatter_add(v, wide, source))))[source], {3, 3},
                doubles(backward(sum(square(scatter_add(v, at, source))))[source]));
  const Tensor labels = tensor({2, 0, -1, 1});
  for (const CrossEntropyOptions& options :
       {CrossEntropyOptions{.ignored = -1}, CrossEntropyOptions{.ignored = -1, .smoothing = 0.1}}) {
    EXPECT_EQ(doubles(cross_entropy(x, labels.to(i64), options)), doubles(cross_entropy(x, labels, options)));
    expect_values(backward(cross_entropy(v, labels.to(i64), options))[v], {4, 3},
                  doubles(backward(cross_entropy(v, labels, options))[v]));
  }
}
TEST_P(IndexEdges, SixtyFourBitsDoNotWrap) {
  if (!supports(device(), i64)) return;
  const Tensor x = arange(0, 4, 1, f32), rows = ones({1, 4});
  for (const std::int64_t bad : {kBeyond + 1, kBeyond, -kBeyond, 1 - kBeyond, kBeyond / 2, -kBeyond / 2 - 1, INT64_MAX,
                                 INT64_MIN, std::int64_t{4}}) {
    const Tensor at = of_i64({bad});
    expect_error(ErrorKind::index, {"take", "beyond i32"}, [&] { take(x, at); });
    expect_error(ErrorKind::index, {"gather"}, [&] { gather(x, at, 0); });
    expect_error(ErrorKind::index, {"scatter_add"}, [&] { scatter_add(x, at, ones({1})); });
    expect_error(ErrorKind::index, {"one_hot"}, [&] { one_hot(at, 4); });
    for (const std::optional<std::int32_t> ignored :
         {std::optional<std::int32_t>(), std::optional(-1), std::optional(INT32_MIN), std::optional(INT32_MAX)})
      expect_error(ErrorKind::index, {"cross_entropy"}, [&] { cross_entropy(rows, at, {.ignored = ignored}); });
  }
  EXPECT_EQ(doubles(cross_entropy(rows, of_i64({INT32_MIN}), {.ignored = INT32_MIN}))[0], 0);
  const Tensor at = of_i64({1});
  Tensor picked;
  const Graph g = capture(device(), [&] { picked = take(x, at); });
  Tensor(at).copy_from(of_i64({3}));
  g.replay();
  expect_values(picked, {1}, {3});
  Tensor(at).copy_from(of_i64({kBeyond + 1}));
  expect_error(ErrorKind::index, {"take"}, [&] { g.replay(); });
}

// ---- beyond 2^31 ----
TEST_P(IndexEdges, PositionsBeyond32BitsAreErrors) {
  const std::int64_t many = (std::int64_t{1} << 31) + 10;
  const Tensor x = ones({1}, u8).broadcast_to({many}), rows = ones({1, 1}, u8).broadcast_to({1 << 16, 1 << 16});
  using Arg = Tensor (*)(const Tensor&, const Axes&, KeepDim);
  for (const Arg f : {Arg(argmax), Arg(argmin)}) {
    expect_error(ErrorKind::shape, {"2147483658", "2^31-1"}, [&] { f(x, {}, false); });
    expect_error(ErrorKind::shape, {"4294967296"}, [&] { f(rows, {}, false); });
  }
  const Tensor f = ones({1}).broadcast_to({many});
  expect_error(ErrorKind::shape, {"axis 0", "2^31-1"},
               [&] { Pointwise([](auto v) { return cast(index(v, 0) > 5, u8); })(x); });
  expect_error(ErrorKind::shape, {"axis 0"}, [&] { Pointwise([](auto v) { return v + cast(index(v, -1), f32); })(f); });
  expect_error(ErrorKind::shape, {"reduced axes"},
               [&] { row_formula([](auto v) { return max(where(v > 0, ordinal(v), 0)); }, f); });
  expect_error(ErrorKind::shape, {"reduced axes"},
               [&] { row_formula([](auto v) { return sum(cast(v, i32)) + extent(); }, x); });
  expect_error(ErrorKind::shape, {"take", "2^31-1"}, [&] { take(x, tensor({0, 1})); });
  expect_error(ErrorKind::shape, {"gather", "2^31-1"}, [&] { gather(x, tensor({0, 1}), 0); });
  expect_error(ErrorKind::shape, {"linspace"}, [&] { linspace(0, 1, many); });
  expect_error(ErrorKind::shape, {"arange"}, [&] { arange(0, many); });
  expect_error(ErrorKind::shape, {"sort", "2^31-1"}, [&] { sort(x, 0); });
  expect_error(ErrorKind::shape, {"topk", "2^31-1"}, [&] { topk(x, 3, 0); });
  expect_error(ErrorKind::shape, {"topk", "2^31-1"}, [&] { topk(Var(f), 3); });
  expect_error(ErrorKind::shape, {"index_put", "2^31-1"}, [&] { index_put(f, {0}, ones({1})); });
  // Long spaces of short axes are none of it.
  EXPECT_EQ(argmax(rows.slice(0, 0, 2), 1).shape(), Shape({2}));
}
TEST_P(IndexEdges, GradientsOfMaximaBeyond32BitsAreErrors) {
  if (device().kind() == DeviceKind::webgpu && !full_test()) return;  // the maximum itself takes seconds
  const Var x(ones({1}));
  const Var y = max(x.broadcast_to({(std::int64_t{1} << 31) + 10}));
  EXPECT_EQ(doubles(y)[0], 1);
  expect_error(ErrorKind::shape, {"max", "2^31-1"}, [&] { backward(y); });
}
/// The same calls of tensors with as many axes as there may be, and of the matrix of their lines.
TEST_P(IndexEdges, EveryRank) {
  for (const int rank : {2, 5, kMaxRank}) {
    Shape shape, of_places, factors;
    for (int i = 0; i < rank; ++i)
      shape.push_back(i + 1 < rank ? 2 : 3), of_places.push_back(i + 1 < rank ? 2 : 5), factors.push_back(2 - i % 2);
    const std::int64_t lines = shape.numel() / 3;
    const Tensor x = randn(shape, Generator{3}, {.device = device()}), flat = x.reshape({lines, 3});
    const Tensor at = randint(0, 3, of_places, Generator{4}, {.dtype = i32, .device = device()});
    const Tensor flat_at = at.reshape({lines, 5}), source = randn(of_places, Generator{5}, {.device = device()});
    const auto equal = [&](const Tensor& some, const Tensor& want) { EXPECT_EQ(doubles(some), doubles(want)) << rank; };
    equal(scatter_add(x, at, source, -1), scatter_add(flat, flat_at, source.reshape({lines, 5}), -1));
    equal(put_along_axis(x, at, source, -1), put_along_axis(flat, flat_at, source.reshape({lines, 5}), -1));
    const auto gradient = [](auto f, const Tensor& of) {
      return grad([&](const Var& v) { return sum(square(f(v))); })(of);
    };
    equal(gradient([&](const Var& v) { return gather(v, at, -1); }, x),
          gradient([&](const Var& v) { return gather(v, flat_at, -1); }, flat));
    const auto sorted = [](const Var& v) { return sort(v, -1).values * sort(v, -1).values.slice(-1, 0, 1); };
    equal(gradient(sorted, x), gradient(sorted, flat));
    const Tensor tiled = tile(x, factors);
    Tensor one_by_one = x;
    for (int i = 0; i < rank; ++i)
      if (factors[static_cast<std::size_t>(i)] > 1) one_by_one = concatenate({one_by_one, one_by_one}, i);
    equal(tiled, one_by_one);
  }
}
/// Counts what a broadcast view shows: kernels of GPUs count in 32 bits.
TEST_P(IndexEdges, ReductionsOfMoreThan32BitsCount) {
  if (device().kind() == DeviceKind::webgpu || (device() == cpu() && !full_test())) return;  // seconds to minutes
  const std::int64_t many = (std::int64_t{1} << 32) + (1 << 20) + 3;
  const Tensor bytes = full({1}, 2, u8);
  EXPECT_EQ(sum(bytes.broadcast_to({many})).item<std::int64_t>(), 2 * many);
  EXPECT_EQ(sum(ones({1}, f64).broadcast_to({many})).item<double>(), static_cast<double>(many));
  const auto average = [&] { return mean(ones({1}, f64).broadcast_to({many})).item<double>(); };
  if (device() == cpu()) EXPECT_EQ(average(), 1);
  else expect_error(ErrorKind::unsupported, {"mean", "2^32-1"}, average);
  EXPECT_EQ(sum(bytes.broadcast_to({many}).unsqueeze(0), 1).to_vector<std::int64_t>(),
            std::vector<std::int64_t>{2 * many});
  EXPECT_EQ(
      sum(ones({1, 1, 1}, boolean).broadcast_to({1 << 16, 3, 1 << 16}), {0, 2}, false, i64).to_vector<std::int64_t>(),
      std::vector<std::int64_t>(3, std::int64_t{1} << 32));
}

}  // namespace
}  // namespace tern::test
