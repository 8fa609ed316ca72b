// Sorting and selecting: lines of every length about the tiles of the kernels, every dtype, any layout, and what stands
// in the order: NaN, zeros of both signs, and equal values.
#include <bit>
#include <limits>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class Sorting : public EveryDevice {};
TERN_EVERY_DEVICE(Sorting);

const std::vector<DType> kSortedDTypes{f32, f16, bf16, f64, i8, u8, i16, i32, u32, i64, boolean};
/// Of these, on WebGPU one of each way to store and to compare, but for full tests: a driver in software takes a second
/// for each kernel.
std::vector<DType> few_of(Device device, std::vector<DType> dtypes) {
  if (in_software(device))
    std::erase_if(dtypes, [](DType d) { return d != f32 && d != bf16 && d != u8 && d != i32; });
  return dtypes_of(device, dtypes);
}

/// Numbers with many alike; of floats some NaN, infinities, and zeros of both signs.
Tensor mixed_numbers(const Shape& shape, DType dtype, int alike = 50) {
  std::mt19937 engine(static_cast<unsigned>(shape.numel()) * 7 + static_cast<unsigned>(dtype));
  std::vector<float> x(static_cast<std::size_t>(shape.numel()));
  const bool floats = is_floating(dtype), sign = floats || dtype == i8 || dtype == i16 || dtype == i32 || dtype == i64;
  const float special[] = {0.0f, -0.0f, NAN, INFINITY, -INFINITY, 1e-8f};
  for (float& v : x) {
    v = static_cast<float>(engine() % static_cast<unsigned>(alike)) - (sign ? static_cast<float>(alike / 2) : 0);
    if (dtype == boolean) v = static_cast<float>(engine() % 2);
    if (floats) v = engine() % 8 == 0 ? special[engine() % 6] : v * 0.37f;
  }
  return tensor(x, shape, cpu()).to(dtype);
}
/// The places of a line's elements, in order.
std::vector<std::int32_t> ordered(const std::vector<double>& x, bool descending) {
  std::vector<std::int32_t> order(x.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
  const auto less = [](double a, double b) { return a < b || (b != b && a == a); };
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    const double first = x[static_cast<std::size_t>(a)], second = x[static_cast<std::size_t>(b)];
    return descending ? less(second, first) : less(first, second);
  });
  return order;
}
bool alike(double a, double b) { return (a != a && b != b) || (a == b && std::signbit(a) == std::signbit(b)); }

/// The lines along the axis, of what a device gave for the first k (all where k < 0), against the reference.
void expect_sorted(const std::string& name, const Tensor& x, int axis, bool descending, const Sorted<Tensor>& got,
                   std::int64_t k = -1) {
  const Tensor lines = x.to(cpu()).to(f64).transpose(axis, -1).contiguous();
  const std::vector<double> all = lines.to_vector<double>(),
                            values = got.values.to(cpu()).to(f64).transpose(axis, -1).contiguous().to_vector<double>();
  const auto places = got.indices.to(cpu()).transpose(axis, -1).contiguous().to_vector<std::int32_t>();
  const auto n = static_cast<std::size_t>(lines.size(-1)), wanted = k < 0 ? n : static_cast<std::size_t>(k);
  ASSERT_EQ(places.size(), all.size() / n * wanted) << name;
  for (std::size_t line = 0; line < all.size() / n; ++line) {
    const std::vector<double> one(all.begin() + static_cast<std::ptrdiff_t>(line * n),
                                  all.begin() + static_cast<std::ptrdiff_t>((line + 1) * n));
    const std::vector<std::int32_t> order = ordered(one, descending);
    for (std::size_t i = 0; i < wanted; ++i) {
      ASSERT_EQ(places[line * wanted + i], order[i]) << name << ", line " << line << ", result " << i;
      ASSERT_TRUE(alike(values[line * wanted + i], one[static_cast<std::size_t>(order[i])]))
          << name << ", result " << i;
    }
  }
}

TEST_P(Sorting, LinesOfEveryLength) {
  const std::vector<std::int64_t> every{1, 2, 255, 513, 1024, 1025, 2049, 4096, 4097, 5120, 5121, 10241},
      few{1, 513, 1025, 4097};
  int turn = 0;
  for (const DType d : few_of(device(), kSortedDTypes))
    for (const std::int64_t n : in_software(device()) ? few : every) {
      if (n > 2100 && n != 4097 && d != f32 && d != f64 && !full_test()) continue;
      for (const bool descending : {false, true}) {
        if (left_out(device(), 4)) continue;
        const Tensor x = mixed_numbers({3, n}, d).to(device());
        expect_sorted(std::string(to_string(d)) + " " + std::to_string(n), x, 1, descending, sort(x, 1, descending));
        if (HasFatalFailure()) return;
      }
      ++turn;
    }
}

TEST_P(Sorting, AnyLayout) {
  for (const DType d : few_of(device(), {f32, bf16, i8, i64}))
    for (const std::int64_t n : {70, 900, 4300}) {
      if (in_software(device()) && (d == f32 ? n == 70 : n != 900)) continue;
      const std::string name = std::string(to_string(d)) + " " + std::to_string(n);
      const Tensor columns = mixed_numbers({n, 3}, d).to(device()), line = mixed_numbers({3 * n + 1}, d).to(device()),
                   batches = mixed_numbers({2, 3, n}, d).to(device());
      if (left_out(device(), 3)) continue;
      expect_sorted(name + " columns", columns, 0, false, sort(columns, 0));
      const Tensor across = columns.transpose(0, 1), odd = line.slice(0, 1, 3 * n + 1).reshape({3, n}),
                   cut = batches.slice(1, 1, 3), repeated = odd.slice(0, 0, 1).broadcast_to({2, n});
      expect_sorted(name + " transposed", across, 1, true, sort(across, 1, true));
      expect_sorted(name + " not aligned", odd, 1, false, sort(odd, 1));
      expect_sorted(name + " cut", cut, 2, true, sort(cut, 2, true));
      expect_sorted(name + " repeated", repeated, 1, false, sort(repeated, 1));
      expect_sorted(name + " batches along the middle", batches, 1, false, sort(batches, 1));
    }
}

/// WebGPU sorts elements of 8 and 16 bits from where they lie, parts of words.
TEST_P(Sorting, NarrowElementsFromAnyPlace) {
  constexpr std::int64_t kLength = 5123;
  for (const DType d : few_of(device(), {bf16, u8, i16, i8, f16}))
    for (const std::int64_t begin : {0, 1, 3}) {
      if (left_out(device(), 2)) continue;
      const Tensor all = mixed_numbers({2 * kLength + begin}, d, 200).to(device()),
                   lines = all.slice(0, begin, 2 * kLength + begin).reshape({2, kLength});
      const std::string name = std::string(to_string(d)) + " from " + std::to_string(begin);
      expect_sorted(name, lines, 1, begin == 1, sort(lines, 1, begin == 1));
      expect_sorted(name + ", the first", lines, 1, true, topk(lines, 9, 1), 9);
      EXPECT_EQ(argsort(lines, 1).to_vector<std::int32_t>(), sort(lines, 1).indices.to_vector<std::int32_t>()) << name;
    }
}

TEST_P(Sorting, AllAlikeAndInOrder) {
  const std::vector<std::int64_t> every{1000, 5000, 70000}, few{5000};
  for (const std::int64_t n : in_software(device()) ? few : every) {
    const Tensor same = full({n}, 2.5), up = arange(0, n, 1, {.dtype = i32});
    expect_sorted("alike", same, 0, true, sort(same, 0, true));
    expect_sorted("rising", up, 0, true, sort(up, 0, true));
    expect_sorted("top of alike", same, 0, true, topk(same, 7, 0), 7);
    expect_sorted("top of rising", up, 0, false, topk(up, 1000, 0, false), 1000);
  }
  EXPECT_EQ(sort(zeros({0, 5}), 1).values.shape(), (Shape{0, 5}));
  EXPECT_EQ(sort(zeros({5, 0}), 1).indices.shape(), (Shape{5, 0}));
}

TEST_P(Sorting, TheFirstOfEveryLength) {
  for (const DType d : few_of(device(), kSortedDTypes))
    for (const std::int64_t n : {40, 1025, 4500, 20000})
      for (const std::int64_t k : {1, 10, 130, 1025, 4100}) {
        if (k > n || (n > 5000 && d != f32 && d != f64 && d != i16 && !full_test())) continue;
        if (left_out(device(), 3)) continue;
        const bool largest = (k + n) % 2 == 1;
        const Tensor x = mixed_numbers({2, n}, d, 5000).to(device());
        expect_sorted(std::string(to_string(d)) + " " + std::to_string(k) + " of " + std::to_string(n), x, 1, largest,
                      topk(x, k, 1, largest), k);
        if (HasFatalFailure()) return;
      }
}

TEST_P(Sorting, TheFirstInAnyLayout) {
  for (const DType d : few_of(device(), {f32, f16, u8, f64})) {
    const Tensor columns = mixed_numbers({9000, 3}, d, 200).to(device()),
                 line = mixed_numbers({9001 * 2}, d).to(device());
    expect_sorted("columns", columns, 0, true, topk(columns, 20, 0), 20);
    const Tensor odd = line.slice(0, 1, 9001), across = columns.transpose(0, 1);
    expect_sorted("not aligned", odd, 0, false, topk(odd, 1, 0, false), 1);
    expect_sorted("transposed", across, 1, true, topk(across, 300, 1), 300);
    EXPECT_EQ(topk(columns, 0, 0).values.shape(), (Shape{0, 3}));
  }
}

/// Parts of parts: more candidates than a workgroup selects from.
TEST_P(Sorting, TheFirstOfALongLine) {
  const Tensor x = mixed_numbers({1 << 19}, f32, 1 << 20).to(device());
  expect_sorted("10", x, 0, true, topk(x, 10, 0), 10);
  expect_sorted("3000", x, 0, false, topk(x, 3000, 0, false), 3000);
}

TEST_P(Sorting, GradientsOfTheFirst) {
  const Var x(mixed_numbers({3, 5000}, i32, 4000).to(f32).to(device()));
  const Sorted<Var> best = topk(x, 4, 1);
  const std::vector<double> gradient = doubles(backward(sum(best.values))[x]);
  const std::vector<std::int32_t> places = best.indices.to_vector<std::int32_t>();
  std::vector<double> expected(gradient.size());
  for (std::size_t i = 0; i < places.size(); ++i) expected[i / 4 * 5000 + static_cast<std::size_t>(places[i])] = 1;
  EXPECT_EQ(gradient, expected);
}

}  // namespace
}  // namespace tern::test
