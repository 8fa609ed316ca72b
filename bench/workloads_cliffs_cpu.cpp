// What do shapes cost that are unkind to long vectors: batches of small products, rows of three? Beside loops whose
// sizes the compiler knows, which have all that this processor has.
#include <fmt/format.h>

#include "peers.hpp"

namespace bench {
namespace {

/// `loop` writes into `out` what `run` gives.
void add(Workloads& workloads, const Target& target, const std::string& name, double tolerance, const Buffer& out,
         std::function<tern::Tensor()> run, std::function<void()> loop) {
  const auto prepare = [=] {
    loop();
    Prepared p;
    p.expected = sample(out);
    p.contenders.push_back(target.tern([=] { run(); }, [=] { return sample(run()); }));
    p.contenders.push_back({.library = "loop", .run = loop, .result = [=] { return loop(), sample(out); }});
    return p;
  };
  workloads.push_back({.name = "cliffs/" + name,
                       .unit = Unit::calls,
                       .roof = "",
                       .quick = true,
                       .tolerance = tolerance,
                       .prepare = prepare});
}

template <class T, int kSize>
void add_products(Workloads& workloads, const Target& target, tern::DType dtype, const char* type) {
  constexpr std::int64_t of_one = kSize * kSize, count = 40'000 / of_one;
  const Buffer a = Buffer::pattern(dtype, count * of_one, 1), b = Buffer::pattern(dtype, count * of_one, 2),
               c = Buffer::pattern(dtype, count * of_one, 3);
  const tern::Tensor x = a.tensor({count, kSize, kSize}), y = b.tensor({count, kSize, kSize});
  const auto loop = [=] {
    const T* __restrict p = a.data<T>(), * __restrict q = b.data<T>();
    T* __restrict to = c.data<T>();
    for (std::int64_t i = 0; i < count; ++i)
      for (int r = 0; r < kSize; ++r)
        for (int s = 0; s < kSize; ++s) {
          T sum = 0;
          for (int k = 0; k < kSize; ++k) sum += p[i * of_one + r * kSize + k] * q[i * of_one + k * kSize + s];
          to[i * of_one + r * kSize + s] = sum;
        }
  };
  add(
      workloads, target, fmt::format("products/{}/{}x{}", type, kSize, kSize), sizeof(T) == 8 ? 1e-13 : 1e-5, c,
      [=] { return tern::matmul(x, y); }, loop);
}

void add_short_rows(Workloads& workloads, const Target& target) {
  constexpr std::int64_t n = 100'000, c = 3;
  const Buffer a = Buffer::pattern(tern::f32, n * c, 1), b = Buffer::pattern(tern::f32, n, 2),
               out = Buffer::pattern(tern::f32, n * c, 3), sums = Buffer::pattern(tern::f32, n, 4);
  const tern::Tensor x = a.tensor({n, c}), row = b.tensor({n}).slice(0, 0, c), column = b.tensor({n, 1});
  add(
      workloads, target, "rows/times_row", 1e-6, out, [=] { return x * row; },
      [=] {
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < c; ++j)
            out.data<float>()[i * c + j] = a.data<float>()[i * c + j] * b.data<float>()[j];
      });
  add(
      workloads, target, "rows/times_column", 1e-6, out, [=] { return x * column; },
      [=] {
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < c; ++j)
            out.data<float>()[i * c + j] = a.data<float>()[i * c + j] * b.data<float>()[i];
      });
  add(
      workloads, target, "rows/sum", 1e-5, sums, [=] { return tern::sum(x, {1}); },
      [=] {
        for (std::int64_t i = 0; i < n; ++i) {
          float sum = 0;
          for (std::int64_t j = 0; j < c; ++j) sum += a.data<float>()[i * c + j];
          sums.data<float>()[i] = sum;
        }
      });
}

}  // namespace

void add_cliffs_cpu(Workloads& workloads, const Target& target) {
  if (target.gpu()) return;
  add_products<float, 2>(workloads, target, tern::f32, "f32");
  add_products<float, 3>(workloads, target, tern::f32, "f32");
  add_products<float, 4>(workloads, target, tern::f32, "f32");
  add_products<float, 8>(workloads, target, tern::f32, "f32");
  add_products<float, 16>(workloads, target, tern::f32, "f32");
  add_products<double, 3>(workloads, target, tern::f64, "f64");
  add_products<double, 4>(workloads, target, tern::f64, "f64");
  add_products<double, 8>(workloads, target, tern::f64, "f64");
  add_short_rows(workloads, target);
}

}  // namespace bench
