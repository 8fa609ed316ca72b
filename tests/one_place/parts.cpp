// Compiled against a copy of tern with a primitive, `rotate`, and a backend, `counting`, in a folder and a line each:
// that must be all it takes.
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <tern/tern.hpp>

#include "counting/counting.hpp"
#include "primitives/rotate/operation.hpp"

using namespace tern;

static int failures = 0;
static void expect(bool ok, const std::string& what) {
  if (!ok) std::printf("missing: %s\n", what.c_str()), ++failures;
}
static bool fails(ErrorKind kind, const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.kind() == kind;
  }
  return false;
}
static Tensor numbers(const Shape& shape, DType dtype, Device device) {
  return arange(0, static_cast<double>(shape.numel()), 1, {.dtype = f32}).reshape(shape).to(dtype).to(device);
}

/// The definition, by other operations.
static Tensor rotated(const Tensor& x, std::int64_t by, int axis) {
  if (x.size(axis) == 0) return x;
  by = (by % x.size(axis) + x.size(axis)) % x.size(axis);
  return concatenate(std::vector{x.slice(axis, by), x.slice(axis, 0, by)}, axis);
}

static void check_rotate(Device device) {
  const std::string on = " on " + device.to_string();
  for (const DType dtype : {f32, f16, bf16, i32, u8, boolean})
    for (const Shape& shape : {Shape{5}, Shape{3, 7}, Shape{2, 0, 3}, Shape{4, 1, 9}, Shape{3, 5, 2}})
      for (int axis = 0; axis < shape.rank(); ++axis)
        for (const std::int64_t by : {0, 1, -2, 12}) {
          const Tensor x = numbers(shape, dtype, device);
          expect(all(rotate(x, by, axis) == rotated(x, by, axis)).item<bool>(), "values" + on);
          if (shape.rank() < 2) continue;
          const Tensor t = x.transpose(0, 1);
          expect(all(rotate(t, by, axis) == rotated(t.contiguous(), by, axis)).item<bool>(), "strided values" + on);
        }
  const Tensor x = numbers({2, 5}, f32, device);
  const auto cube = [](const Var& v) { return sum(rotate(v, 2) * v * v); };
  const auto by_parts = [](const Var& v) {
    return sum(concatenate(std::vector{v.slice(1, 2), v.slice(1, 0, 2)}, 1) * v * v);
  };
  const auto agree = [&](auto f, auto g) { return allclose(f(x), g(x), 1e-5, 1e-5); };
  const auto again = [](auto f) { return [f](const Var& v) { return sum(square(grad(f)(v))); }; };
  expect(agree(grad(cube), grad(by_parts)), "the gradient" + on);
  expect(agree(grad(again(cube)), grad(again(by_parts))), "the second gradient" + on);
  expect(agree(grad(again(again(cube))), grad(again(again(by_parts)))), "the third gradient" + on);
  const auto tangent = [&](auto f) { return jvp(f, x, x * x).result; };
  const auto moved = [](const Var& v) { return rotate(v * v, 1); };
  expect(allclose(tangent(moved), rotated(2 * x * x * x, 1, -1)), "forward mode" + on);
  Tensor y;
  const Graph graph = capture(device, [&] { y = rotate(x, 1); });
  graph.replay();
  expect(all(y == rotated(x, 1, -1)).item<bool>(), "capture and replay" + on);
  const std::string explained = explain([&] { rotate(x, 1); });
  expect(explained.find("rotate: rotate [2, 5] on " + device.to_string()) == 0, "explain" + on + ": " + explained);
  const std::int64_t before = trace_counts().bytes_read;
  rotate(x, 1);
  expect(trace_counts().bytes_read - before == 40, "its count of bytes" + on);
  expect(fails(ErrorKind::index, [&] { rotate(x, 1, 2); }), "the error for an axis out of range" + on);
  expect(fails(ErrorKind::shape, [&] { rotate(Tensor(), 1); }), "the error for an undefined tensor" + on);
}

static void check_counting() {
  expect(Device::parse("counting") == counting() && counting().to_string() == "counting", "the device's name");
  bool listed = false;
  for (const DeviceInfo& info : devices()) listed |= info.device == counting() && info.available;
  expect(listed, "the device in devices()");
  expect(fails(ErrorKind::device, [] { Device::parse("counting:1"); }), "the error for a second one");
  const std::int64_t before = requests_counted();
  const auto loss = [](const Var& x, const Var& w) { return sum(softmax(matmul(x, w)) * x); };
  const auto result = [&](Device device) {
    const Tensor x = numbers({4, 4}, f32, device) / 16, w = numbers({4, 4}, f32, device) / 7;
    return grad([&](const Var& v) { return loss(v, Var(w)); })(x).to(cpu());
  };
  expect(all(result(counting()) == result(cpu())).item<bool>(), "a gradient, to the bit");
  expect(requests_counted() > before + 3, "its own kernels");
  set_default_device(counting());
  const Sorted<Tensor> sorted = sort(tensor({3.0f, 1.0f, 2.0f}));
  expect(sorted.values.device() == counting() && sorted.indices.to_vector<std::int32_t>()[0] == 1, "sort");
  set_default_device(cpu());
  expect(fails(ErrorKind::device, [] { ones({2}) + ones({2}).to(counting()); }), "the error for mixed devices");
}

int main() {
  int ran = 0;
  for (const DeviceInfo& info : devices())
    if (info.available) check_rotate(info.device), ++ran;
  check_counting();
  if (!failures) std::printf("a folder and a line are all it takes, on %d devices\n", ran);
  return failures;
}
