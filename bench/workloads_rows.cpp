// How fast are reductions along each axis, and softmax along rows?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "peers.hpp"

namespace bench {
namespace {

double row_sum(const RowsCase& c, const Buffer& x, std::int64_t begin, std::int64_t count, std::int64_t step) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += x.at(begin + i * step);
  return c.op == RowOp::mean ? sum / static_cast<double>(count) : sum;
}

double softmax_at(const RowsCase& c, const Buffer& x, std::int64_t at) {
  const std::int64_t row = at / c.columns * c.columns;
  double largest = -INFINITY, sum = 0;
  for (std::int64_t j = 0; j < c.columns; ++j) largest = std::max(largest, x.at(row + j));
  for (std::int64_t j = 0; j < c.columns; ++j) sum += std::exp(x.at(row + j) - largest);
  return std::exp(x.at(at) - largest) / sum;
}

std::vector<double> expected_rows(const RowsCase& c, const Buffer& x) {
  const std::int64_t count = c.rows * c.columns;
  if (c.op != RowOp::softmax && c.axis == -1) return {row_sum(c, x, 0, count, 1)};
  std::vector<double> expected;
  for (const std::int64_t at : sample_positions(c.op == RowOp::softmax ? count : c.axis == 0 ? c.columns : c.rows)) {
    if (c.op == RowOp::softmax) expected.push_back(softmax_at(c, x, at));
    else if (c.axis == 0) expected.push_back(row_sum(c, x, at, c.rows, c.columns));
    else expected.push_back(row_sum(c, x, at * c.columns, c.columns, 1));
  }
  return expected;
}

Prepared prepare(const RowsCase& c, const Target& target) {
  const Inputs in{Buffer::pattern(c.dtype, c.rows * c.columns, 1, c.op == RowOp::softmax ? 4 : 1)};
  const tern::Tensor x = in[0].tensor({c.rows, c.columns}, target.device);
  const tern::Axes axes = c.axis == -1 ? tern::Axes{} : tern::Axes{c.axis};
  const auto call = [=]() -> tern::Tensor {
    switch (c.op) {
      case RowOp::sum: return sum(x, axes);
      case RowOp::mean: return mean(x, axes);
      default: return softmax(x, 1);
    }
  };
  Contender tern = target.tern([=] { call(); }, [=] { return sample(call()); });
  return {contenders(std::move(tern), target.peers, c, in, &Peer::rows), expected_rows(c, in[0])};
}

void add(Workloads& workloads, const Target& target, const std::string& name, const RowsCase& c, bool quick) {
  const bool large = c.rows >= 4096;
  const double bytes = static_cast<double>(c.rows * c.columns) * static_cast<double>(tern::dtype_size(c.dtype));
  workloads.push_back({.name = fmt::format("rows/{}/{}/{}x{}", name, name_of(c.dtype), c.rows, c.columns),
                       .unit = Unit::bytes,
                       .work = c.op == RowOp::softmax ? 2 * bytes : bytes,
                       .roof = large ? target.memory_roof() : "",
                       .quick = quick,
                       .tolerance = tolerance(c.dtype),
                       .prepare = [c, target] { return prepare(c, target); }});
}

}  // namespace

void add_rows(Workloads& workloads, const Target& target) {
  const std::int64_t n = target.gpu() ? 8192 : 4096;  // far more than caches hold
  for (const tern::DType dtype : {tern::f32, tern::bf16}) {
    const bool f32 = dtype == tern::f32;
    for (const RowOp op : {RowOp::sum, RowOp::mean})
      for (const int axis : {0, 1, -1}) {
        const std::string name = fmt::format("{}_{}", op == RowOp::sum ? "sum" : "mean",
                                             axis == -1  ? "all"
                                             : axis == 0 ? "axis0"
                                                         : "axis1");
        add(workloads, target, name, {dtype, n, n, op, axis}, f32 && op == RowOp::sum && (axis >= 0 || target.gpu()));
      }
    add(workloads, target, "softmax", {dtype, n, n, RowOp::softmax, 1}, f32 || target.gpu());
    add(workloads, target, "softmax", {dtype, 256, 1024, RowOp::softmax, 1}, false);
  }
}

}  // namespace bench
