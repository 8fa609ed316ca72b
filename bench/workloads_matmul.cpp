// How fast is a matrix product: sizes, dtypes, transpositions, thin, odd and batched ones?
#include <fmt/format.h>

#include "peers.hpp"

namespace bench {
namespace {

/// Samples of the product, each summed in f64 from the inputs as they are stored.
std::vector<double> expected_product(const MatmulCase& c, const Buffer& a, const Buffer& b) {
  std::vector<double> expected;
  for (const std::int64_t at : sample_positions(c.batch * c.m * c.n)) {
    const std::int64_t batch = at / (c.m * c.n), row = at / c.n % c.m, column = at % c.n;
    double sum = 0;
    for (std::int64_t k = 0; k < c.k; ++k)
      sum += a.at(batch * c.m * c.k + (c.transposed_a ? k * c.m + row : row * c.k + k)) *
             b.at(batch * c.k * c.n + (c.transposed_b ? column * c.k + k : k * c.n + column));
    expected.push_back(sum);
  }
  return expected;
}

tern::Tensor operand(const Buffer& buffer, std::int64_t batch, std::int64_t rows, std::int64_t columns,
                     bool transposed, tern::Device device) {
  const tern::Tensor stored =
      buffer.tensor(transposed ? tern::Shape{batch, columns, rows} : tern::Shape{batch, rows, columns}, device);
  const tern::Tensor t = transposed ? stored.transpose(1, 2) : stored;
  return batch == 1 ? t.squeeze(0) : t;
}

Prepared prepare(const MatmulCase& c, const Target& target) {
  const Inputs in{Buffer::pattern(c.dtype, c.batch * c.m * c.k, 1), Buffer::pattern(c.dtype, c.batch * c.k * c.n, 2)};
  const tern::Tensor a = operand(in[0], c.batch, c.m, c.k, c.transposed_a, target.device);
  const tern::Tensor b = operand(in[1], c.batch, c.k, c.n, c.transposed_b, target.device);
  Contender tern = target.tern([=] { const tern::Tensor y = matmul(a, b); }, [=] { return sample(matmul(a, b)); });
  return {contenders(std::move(tern), target.peers, c, in, &Peer::matmul), expected_product(c, in[0], in[1])};
}

void add(Workloads& workloads, const Target& target, const MatmulCase& c, bool quick) {
  std::string name = fmt::format("matmul/{}/", name_of(c.dtype));
  if (c.batch > 1) name += fmt::format("{}x", c.batch);
  name += fmt::format("{}x{}x{}", c.m, c.k, c.n);
  if (c.transposed_a || c.transposed_b)
    name += fmt::format("/{}{}", c.transposed_a ? 't' : 'n', c.transposed_b ? 't' : 'n');
  const double work = 2.0 * static_cast<double>(c.batch * c.m * c.k) * static_cast<double>(c.n);
  workloads.push_back({.name = name,
                       .unit = Unit::flops,
                       .work = work,
                       .roof = target.gpu()           ? ""
                               : c.dtype == tern::f16 ? "f32"  // in which it is computed
                                                      : name_of(c.dtype),
                       .quick = quick,
                       .tolerance = tolerance(c.dtype),
                       .prepare = [c, target] { return prepare(c, target); }});
}

void add_for_gpu(Workloads& workloads, const Target& target) {
  for (const tern::DType dtype : {tern::f32, tern::f64, tern::bf16, tern::f16})
    add(workloads, target, {.dtype = dtype, .m = 4096, .k = 4096, .n = 4096}, true);
  for (const tern::DType dtype : {tern::f32, tern::bf16}) {
    const bool bf16 = dtype == tern::bf16;
    add(workloads, target, {.dtype = dtype, .m = 8192, .k = 4096, .n = 16384},
        bf16 && target.device.kind() == tern::DeviceKind::cuda);
    add(workloads, target, {.dtype = dtype, .m = 4096, .k = 4096, .n = 4096, .transposed_a = true}, false);
    add(workloads, target, {.dtype = dtype, .m = 4096, .k = 4096, .n = 4096, .transposed_b = true}, false);
    add(workloads, target, {.dtype = dtype, .m = 1, .k = 4096, .n = 16384}, false);
    add(workloads, target, {.dtype = dtype, .m = 1023, .k = 777, .n = 513}, false);
    add(workloads, target, {.dtype = dtype, .batch = 64, .m = 512, .k = 512, .n = 512}, false);
  }
}

}  // namespace

void add_matmul(Workloads& workloads, const Target& target) {
  if (target.gpu()) return add_for_gpu(workloads, target);
  for (const tern::DType dtype : {tern::f32, tern::f64, tern::bf16, tern::f16})
    for (const std::int64_t n : {256, 512, 1024, 2048}) {
      const bool quick = n == 1024 || (dtype == tern::f32 && n >= 512);
      add(workloads, target, {.dtype = dtype, .m = n, .k = n, .n = n}, quick);
    }
  for (const tern::DType dtype : {tern::f32, tern::bf16}) {
    const bool f32 = dtype == tern::f32;
    add(workloads, target, {.dtype = dtype, .m = 1024, .k = 1024, .n = 1024, .transposed_a = true}, false);
    add(workloads, target, {.dtype = dtype, .m = 1024, .k = 1024, .n = 1024, .transposed_b = true}, f32);
    add(workloads, target,
        {.dtype = dtype, .m = 1024, .k = 1024, .n = 1024, .transposed_a = true, .transposed_b = true}, false);
    add(workloads, target, {.dtype = dtype, .m = 1, .k = 1024, .n = 4096}, f32);
    add(workloads, target, {.dtype = dtype, .m = 8, .k = 1024, .n = 4096}, f32);
    add(workloads, target, {.dtype = dtype, .m = 64, .k = 784, .n = 256}, f32);
    add(workloads, target, {.dtype = dtype, .m = 1023, .k = 777, .n = 513}, f32);
    add(workloads, target, {.dtype = dtype, .batch = 64, .m = 64, .k = 64, .n = 64}, f32);
    add(workloads, target, {.dtype = dtype, .batch = 8, .m = 512, .k = 512, .n = 512}, false);
  }
}

}  // namespace bench
