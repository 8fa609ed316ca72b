// What do shapes cost that are unkind to long vectors: rows of a few elements? Beside loops whose sizes the compiler
// knows, which have all that this processor has, and beside as many elements in long rows.
#include <fmt/format.h>

#include "peers.hpp"

namespace bench {
namespace {

constexpr std::int64_t kElements = 307'200, kLongRow = 768;

/// `loop` writes into `out` what `run` gives; `long_rows` does the same work on as many elements in rows of 768.
void add(Workloads& workloads, const Target& target, const std::string& name, double tolerance, const Buffer& out,
         std::function<tern::Tensor()> run, std::function<void()> loop, std::function<void()> long_rows) {
  const auto prepare = [=] {
    loop();
    Prepared p;
    p.expected = sample(out);
    p.contenders.push_back(target.tern([=] { run(); }, [=] { return sample(run()); }));
    p.contenders.push_back({.library = "loop", .run = loop, .result = [=] { return loop(), sample(out); }});
    p.contenders.push_back(
        {.library = "long rows", .run = long_rows, .result = {}, .part = true});
    return p;
  };
  workloads.push_back({.name = "cliffs/rows/" + name,
                       .unit = Unit::calls,
                       .roof = "",
                       .quick = true,
                       .tolerance = tolerance,
                       .prepare = prepare});
}

/// The gradient of a row that all rows are multiplied by.
tern::Tensor row_gradient(const tern::Tensor& x, const tern::Tensor& row) {
  return tern::grad([&](const tern::Var& v) { return sum(x * v); })(row);
}

template <std::int64_t kColumns> void add_short_rows(Workloads& workloads, const Target& target) {
  constexpr std::int64_t c = kColumns, n = kElements / c;
  const Buffer a = Buffer::pattern(tern::f32, kElements, 1), b = Buffer::pattern(tern::f32, kElements, 2),
               out = Buffer::pattern(tern::f32, kElements, 3), few = Buffer::pattern(tern::f32, n, 4),
               gradient = Buffer::pattern(tern::f32, c, 5);
  const tern::Tensor x = a.tensor({n, c}), row = b.tensor({kElements}).slice(0, 0, c),
                     column = b.tensor({kElements}).slice(0, 0, n).reshape({n, 1});
  const tern::Tensor wide = a.tensor({kElements / kLongRow, kLongRow}),
                     wide_row = b.tensor({kElements}).slice(0, 0, kLongRow),
                     wide_column = b.tensor({kElements}).slice(0, 0, kElements / kLongRow).reshape({-1, 1});
  const auto name = [=](const char* what) { return fmt::format("{}/{}", what, c); };
  const auto each = [=](auto f) {
    return [=] {
      const float* __restrict p = a.data<float>(), * __restrict q = b.data<float>();
      float* __restrict to = out.data<float>();
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < c; ++j) to[i * c + j] = f(p[i * c + j], q, i, j);
    };
  };
  add(
      workloads, target, name("times_row"), 1e-6, out, [=] { return x * row; },
      each([](float v, const float* q, std::int64_t, std::int64_t j) { return v * q[j]; }), [=] { wide* wide_row; });
  add(
      workloads, target, name("times_column"), 1e-6, out, [=] { return x * column; },
      each([](float v, const float* q, std::int64_t i, std::int64_t) { return v * q[i]; }), [=] { wide* wide_column; });
  add(
      workloads, target, name("times_row_backward"), 1e-4, gradient, [=] { return row_gradient(x, row); },
      [=] {
        float sums[kColumns] = {};
        const float* __restrict p = a.data<float>();
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < c; ++j) sums[j] += p[i * c + j];
        std::copy(sums, sums + c, gradient.data<float>());
      },
      [=] { row_gradient(wide, wide_row); });
  add(
      workloads, target, name("sum"), 1e-5, few, [=] { return tern::sum(x, {1}); },
      [=] {
        const float* __restrict p = a.data<float>();
        for (std::int64_t i = 0; i < n; ++i) {
          float sum = 0;
          for (std::int64_t j = 0; j < c; ++j) sum += p[i * c + j];
          few.data<float>()[i] = sum;
        }
      },
      [=] { tern::sum(wide, {1}); });
}

/// Sums over pairs of rows of four.
void add_pairs(Workloads& workloads, const Target& target) {
  constexpr std::int64_t n = 250'000, c = 4;
  const Buffer a = Buffer::pattern(tern::f32, 2 * n * c, 1), out = Buffer::pattern(tern::f32, n * c, 2);
  const tern::Tensor x = a.tensor({n, 2, c}), wide = a.tensor({n * c / 1000, 2, 1000});
  add(
      workloads, target, "sum_of_pairs/4", 1e-6, out, [=] { return tern::sum(x, {1}); },
      [=] {
        const float* __restrict p = a.data<float>();
        float* __restrict to = out.data<float>();
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < c; ++j) to[i * c + j] = p[2 * i * c + j] + p[(2 * i + 1) * c + j];
      },
      [=] { tern::sum(wide, {1}); });
}

}  // namespace

void add_cliffs_cpu(Workloads& workloads, const Target& target) {
  if (target.gpu()) return;
  add_short_rows<3>(workloads, target);
  add_short_rows<4>(workloads, target);
  add_short_rows<8>(workloads, target);
  add_short_rows<16>(workloads, target);
  add_pairs(workloads, target);
}

}  // namespace bench
