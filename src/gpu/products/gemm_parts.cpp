// Products in parts, and split-K.
#include <algorithm>

#include "formula/compute_types.hpp"
#include "gpu/elementwise.hpp"
#include "gpu/products/epilogue.hpp"
#include "gpu/products/gemm_outer.hpp"
#include "gpu/products/gemm_pass.hpp"
#include "gpu/products/gemm_sums.hpp"
#include "gpu/reductions/reduce.hpp"
#include "gpu/text/text.hpp"
#include "primitives/fused/fused.hpp"

namespace tern::detail_gpu {

using detail::GemmRequest;
using detail::Program;
using detail::Step;
using detail::StepKind;

namespace {

// A product is deep where so few tiles of 32×32 have so many steps each; split-K is for those.
constexpr std::int64_t kTooFewTiles = 64, kDeep = 4096, kLeastSplit = 512, kEnoughTiles = 256, kMostSplits = 256;
// The same of tiles of 64 invocations: eight for each of 132 processors (an H100's and H200's). 128 of them took 228 us
// for 8 x 4096 x 4096 in f32, whose matrix is read in 19 (H200).
constexpr std::int64_t kEnoughThinTiles = 1024;

/// Cuts a product into parts whose operands fit a binding: batches, then rows and columns of the output; a factor that
/// reaches further than its elements need is copied.
class Parts {
 public:
  Parts(GpuBackend& backend, const GemmRequest& request, Multiply multiply)
      : backend_(backend),
        multiply_(multiply),
        r_(request),
        inputs_(request.inputs.begin(), request.inputs.end()),
        outputs_(request.outputs.begin(), request.outputs.end()),
        most_(static_cast<std::int64_t>(backend.limits().binding_bytes) - backend.limits().binding_alignment -
              kVectorBytes) {
    lengthen_depth();
    r_.inputs = inputs_, r_.outputs = outputs_;
  }

  void run() {
    const int rank = r_.batch.rank();
    std::vector<std::int64_t> tile = sizes(r_.m, r_.n), of_a = sizes(r_.m, r_.k), of_b = sizes(r_.k, r_.n);
    for (int i = 0; i < rank; ++i)
      if (r_.contracted >> i & 1) tile[static_cast<std::size_t>(i)] = 1;
    bool over_tile = false;
    for (const View& v : outputs_) over_tile |= too_wide(v, tile);
    for (const Operand& o : inputs_) over_tile |= o.view.storage && too_wide(o.view, tile);
    const bool a = too_wide(r_.a, of_a), b = too_wide(r_.b, of_b);
    if (!over_tile && !a && !b) return run_fitting();
    for (int i = 0; i < rank; ++i)
      if (!(r_.contracted >> i & 1) && r_.batch[static_cast<std::size_t>(i)] > 1) return halve(i);
    const bool many_a = bytes(r_.a, of_a) > most_, many_b = bytes(r_.b, of_b) > most_;
    if ((over_tile || many_a) && r_.m > 1) return halve(rank);
    if ((over_tile || many_b) && r_.n > 1) return halve(rank + 1);
    if (over_tile || many_a || many_b)
      throw Error(ErrorKind::unsupported,
                  cat(r_.op, ": one row of a or column of b is larger than the ", backend_.limits().binding_bytes >> 20,
                      " MiB that a kernel can see on ", backend_.device().to_string()));
    std::vector<std::shared_ptr<Storage>> keep;
    if (a) r_.a = copied(backend_, r_.op, r_.a, Shape(of_a), keep);
    if (b) r_.b = copied(backend_, r_.op, r_.b, Shape(of_b), keep);
    run_fitting();
  }

 private:
  /// A contracted batch that goes on where k ends is a longer k (the gradient of a weight that a batch shares).
  void lengthen_depth() {
    if (r_.batch.rank() != 1 || r_.contracted != 1) return;
    if (!continues_depth(r_, r_.k, r_.a.strides[0], r_.b.strides[0])) return;
    for (const Step& step : r_.epilogue->steps)
      if (step.kind == StepKind::position) return;  // its axis counts batches
    const auto without_front = [](View& view) {
      if (view.storage) view.strides = {view.strides[1], view.strides[2]};
    };
    r_.k *= r_.batch[0];
    r_.batch = {}, r_.contracted = 0;
    without_front(r_.a), without_front(r_.b);
    for (Operand& o : inputs_) without_front(o.view);
    for (View& v : outputs_) without_front(v);
  }
  std::int64_t kept_batches() const {
    std::int64_t count = 1;
    for (int i = 0; i < r_.batch.rank(); ++i)
      if (!(r_.contracted >> i & 1)) count *= r_.batch[static_cast<std::size_t>(i)];
    return count;
  }

  void run_fitting() {
    const std::int64_t steps = r_.batch.numel() * r_.m * r_.n * std::max<std::int64_t>(r_.k, 1);
    if (steps > static_cast<std::int64_t>(backend_.limits().steps)) {
      for (int i = 0; i < r_.batch.rank(); ++i)
        if (!(r_.contracted >> i & 1) && r_.batch[static_cast<std::size_t>(i)] > 1) return halve(i);
      if (std::max(r_.m, r_.n) > 128) return halve(r_.batch.rank() + (r_.n > r_.m));
    }
    if (is_few_sums(r_) && !backend_.limits().archived) return multiply_as_sums(backend_, r_);
    if (is_outer_product(r_) && !backend_.limits().archived) return multiply_as_formula(backend_, r_);
    const std::int64_t tiles = ceil_div(r_.m, 32) * ceil_div(r_.n, 32) * kept_batches();
    const std::int64_t few = is_thin() ? kEnoughThinTiles / 2 : kTooFewTiles;
    if (r_.contracted == 0 && r_.k >= kDeep && tiles < few) return run_split_k();
    multiply_(backend_, r_);
  }

  /// Whether tiles are 32 wide, so that they are soon read and many are needed to keep memory busy. On CUDA such
  /// products have other kernels.
  bool is_thin() const { return std::min(r_.m, r_.n) <= 32 && !backend_.limits().native; }

  /// Split-K: splits of k as batches of a product, their sum, and the epilogue: in this order whatever the device.
  void run_split_k() {
    const int rank = r_.batch.rank();
    const std::int64_t side = is_thin() ? 32 : 64, enough = is_thin() ? kEnoughThinTiles : kEnoughTiles;
    const std::int64_t tiles = ceil_div(r_.m, side) * ceil_div(r_.n, side) * kept_batches();
    const std::int64_t wanted = std::min({ceil_div(enough, tiles), r_.k / kLeastSplit, kMostSplits});
    const std::int64_t length = round_up(ceil_div(r_.k, wanted), 64), whole = r_.k / length, rest = r_.k % length;
    const std::int64_t count = whole + (rest > 0), results = r_.batch.numel() * r_.m * r_.n;
    const DType dtype = dtype_computed_in(detail::compute_type_of(r_.a.dtype));
    const std::vector<std::int64_t> space = sizes(r_.m, r_.n);
    const auto partial = backend_.temporary(count * results, dtype);
    View to{partial.get(), dtype, 0, {}};
    to.strides.resize(rank + 2, 0);
    for (std::int64_t i = rank + 1, step = 1; i >= 0; step *= space[static_cast<std::size_t>(i--)])
      to.strides[static_cast<std::size_t>(i)] = step;
    const auto with_front = [&](const View& view, std::int64_t stride) {
      View result = view;
      result.strides.resize(rank + 3, 0);
      result.strides[0] = stride;
      for (int i = 0; i < rank + 2; ++i)
        result.strides[static_cast<std::size_t>(i) + 1] = view.strides[static_cast<std::size_t>(i)];
      return result;
    };
    const std::int64_t step_a = r_.a.strides[static_cast<std::size_t>(rank) + 1],
                       step_b = r_.b.strides[static_cast<std::size_t>(rank)];
    GemmRequest part = r_;
    part.epilogue = plain_epilogue(r_.op, dtype), part.inputs = {};
    if (rest > 0) {
      GemmRequest last = part;
      last.k = rest;
      last.a.offset += whole * length * step_a, last.b.offset += whole * length * step_b;
      View behind = to;
      behind.offset = whole * results;
      last.outputs = {&behind, 1};
      Parts(backend_, last, multiply_).run();
    }
    const View splits = with_front(to, results);
    part.k = length, part.outputs = {&splits, 1};
    part.batch = Shape{whole};
    for (const std::int64_t size : r_.batch) part.batch.push_back(size);
    part.a = with_front(r_.a, length * step_a), part.b = with_front(r_.b, length * step_b);
    Parts(backend_, part, multiply_).run();
    join(splits, count, space, to);
  }

  /// Sums the splits and applies the epilogue.
  void join(const View& splits, std::int64_t count, const std::vector<std::int64_t>& space, const View& contiguous) {
    const bool plain = is_plain_product(r_);
    std::shared_ptr<Storage> summed;
    View accumulator = contiguous;
    if (!plain) {
      summed = backend_.temporary(Shape(space).numel(), splits.dtype);
      accumulator.storage = summed.get();
    }
    add_up(backend_, r_.op, splits, count, plain ? outputs_[0] : accumulator, Shape(space));
    if (!plain) apply_epilogue(backend_, r_, accumulator, Shape(space));
  }

  std::vector<std::int64_t> sizes(std::int64_t rows, std::int64_t columns) const {
    std::vector<std::int64_t> list(r_.batch.begin(), r_.batch.end());
    list.push_back(rows), list.push_back(columns);
    return list;
  }
  bool too_wide(const View& v, const std::vector<std::int64_t>& over) const {
    const ByteRange touched = bytes_touched(v, over);
    return static_cast<std::int64_t>(v.storage->bytes()) > most_ && touched.end - touched.begin > most_;
  }
  static std::int64_t bytes(const View& v, const std::vector<std::int64_t>& over) {
    std::int64_t n = static_cast<std::int64_t>(dtype_size(v.dtype));
    for (std::size_t i = 0; i < over.size(); ++i)
      if (v.strides[i] != 0) n *= over[i];
    return n;
  }

  /// Runs the halves along an axis of batch + [m, n].
  void halve(int axis) const {
    const auto at = static_cast<std::size_t>(axis);
    const int rank = r_.batch.rank();
    const std::int64_t size = axis == rank ? r_.m : axis > rank ? r_.n : r_.batch[at];
    const std::int64_t half = size > 32 ? round_up(size / 2, 16) : (size + 1) / 2;
    for (const bool second : {false, true}) {
      const std::int64_t shift = second ? half : 0, count = second ? size - half : half;
      std::vector<Operand> inputs = inputs_;
      std::vector<View> outputs = outputs_;
      for (Operand& o : inputs)
        if (o.view.storage) o.view.offset += shift * o.view.strides[at];
      for (View& v : outputs) v.offset += shift * v.strides[at];
      GemmRequest part = r_;
      part.inputs = inputs, part.outputs = outputs;
      if (axis <= rank) part.a.offset += shift * r_.a.strides[at];
      if (axis != rank) part.b.offset += shift * r_.b.strides[at];
      (axis == rank ? part.m : axis > rank ? part.n : part.batch[at]) = count;
      Parts(backend_, part, multiply_).run();
    }
  }

  GpuBackend& backend_;
  Multiply multiply_;
  GemmRequest r_;
  std::vector<Operand> inputs_;
  std::vector<View> outputs_;
  std::int64_t most_;
};

}  // namespace

void multiply_in_parts(GpuBackend& backend, const GemmRequest& r, Multiply multiply) {
  std::int64_t kept = r.m * r.n;
  for (int i = 0; i < r.batch.rank(); ++i)
    if (!(r.contracted >> i & 1)) kept *= r.batch[static_cast<std::size_t>(i)];
  if (kept > 0) Parts(backend, r, multiply).run();
}

bool is_plain_product(const GemmRequest& r) {
  const Step& result = r.epilogue->steps[static_cast<std::size_t>(r.epilogue->outputs[0].step)];
  return r.outputs.size() == 1 && result.kind == StepKind::input && result.index == 0;
}

}  // namespace tern::detail_gpu
