#include "cpu/products/gemm_run.hpp"

#include <array>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "tern/pool.hpp"
#include "cpu/products/gemm.hpp"
#include "cpu/products/gemm_kernels.hpp"
#include "cpu/products/gemm_small.hpp"
#include "cpu/products/tile_epilogue.hpp"
#include "cpu/scratch.hpp"

namespace tern::detail_cpu {

using detail::GemmRequest;
using detail::View;

namespace {

/// Memory of vectors that is kept by the thread: that of a large batch's offsets would come anew from the system each
/// time, page by page (10,000 products of 2 × 2 f32, one thread: half of the time).
template <class T> struct KeptAllocator {
  using value_type = T;
  KeptAllocator() = default;
  template <class U> KeptAllocator(const KeptAllocator<U>&) {}
  T* allocate(std::size_t n) {
    if (BlocksOfThread::ended) return std::allocator<T>().allocate(n);
    for (ScratchBlock& block : blocks())
      if (!block.used && block.memory.size() >= static_cast<std::int64_t>(n * sizeof(T))) return take(block, n);
    for (ScratchBlock& block : blocks())
      if (!block.used) return take(block, n);
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* data, std::size_t n) noexcept {
    for (std::size_t i = 0; i < kBlocks && !BlocksOfThread::ended; ++i)
      if (ScratchBlock& block = blocks()[i]; block.used && reinterpret_cast<std::byte*>(data) == block.memory.data()) {
        block.used = false;
        return;
      }
    std::allocator<T>().deallocate(data, n);
  }
  template <class U> void construct(U* at) noexcept { ::new (static_cast<void*>(at)) U; }  // not filled with zeros
  template <class U, class... A> void construct(U* at, A&&... from) {
    ::new (static_cast<void*>(at)) U(std::forward<A>(from)...);
  }
  friend bool operator==(const KeptAllocator&, const KeptAllocator&) { return true; }

 private:
  struct ScratchBlock {
    ScratchBuffer memory;
    bool used = false;
  };
  static constexpr std::size_t kBlocks = 8;
  struct BlocksOfThread {
    static inline thread_local bool ended = false;  // a destructor may multiply after this thread's memory is gone
    std::array<ScratchBlock, kBlocks> blocks;
    ~BlocksOfThread() { ended = true; }
  };
  static std::array<ScratchBlock, kBlocks>& blocks() {
    thread_local BlocksOfThread kept;
    return kept.blocks;
  }
  static T* take(ScratchBlock& block, std::size_t n) {
    std::byte* const data = block.memory.reserve(static_cast<std::int64_t>(n * sizeof(T)));
    block.used = true;
    return reinterpret_cast<T*>(data);
  }
};
using Offsets = std::vector<std::int64_t, KeptAllocator<std::int64_t>>;

/// Offsets of a view at every combination of the chosen batch axes, last axis fastest.
Offsets offsets_along(const Shape& batch, std::uint32_t axes, const Strides& strides) {
  Offsets offsets{0};
  for (int i = 0; i < batch.rank(); ++i) {
    if (!(axes >> i & 1)) continue;
    const auto axis = static_cast<std::size_t>(i);
    const std::int64_t size = batch[axis], step = strides[axis];
    Offsets next(offsets.size() * static_cast<std::size_t>(size));
    std::int64_t* to = next.data();
    for (const std::int64_t offset : offsets) {
      for (std::int64_t k = 0; k < size; ++k) to[k] = offset + k * step;
      to += size;
    }
    offsets = std::move(next);
  }
  return offsets;
}

/// Whether offsets are 0, step, 2·step, …
bool evenly_spaced(const Offsets& offsets, std::int64_t step) {
  for (std::size_t i = 0; i < offsets.size(); ++i)
    if (offsets[i] != static_cast<std::int64_t>(i) * step) return false;
  return true;
}

const std::byte* address(const View& view) {
  return static_cast<const std::byte*>(view.storage->data()) +
         view.offset * static_cast<std::int64_t>(dtype_size(view.dtype));
}

class GemmRun {
 public:
  GemmRun(const GemmRequest& request, const Tape& epilogue, const KernelTable& table)
      : request_(request), epilogue_(epilogue, table, request.inputs, request.outputs, space_of(request)) {}

  void run() {
    const std::uint32_t all = (1u << request_.batch.rank()) - 1, kept = all & ~request_.contracted;
    const int rank = request_.batch.rank();
    const auto row = static_cast<std::size_t>(rank), col = row + 1;
    GemmProblem p{};
    p.type = request_.a.dtype;
    p.m = request_.m, p.n = request_.n, p.k = request_.k;
    p.a = address(request_.a), p.b = address(request_.b);
    p.a_row = request_.a.strides[row], p.a_col = request_.a.strides[col];
    p.b_row = request_.b.strides[row], p.b_col = request_.b.strides[col];
    if (run_small(p)) return;
    Offsets a = offsets_along(request_.batch, kept, request_.a.strides),
            b = offsets_along(request_.batch, kept, request_.b.strides);
    Offsets sa = offsets_along(request_.batch, request_.contracted, request_.a.strides),
            sb = offsets_along(request_.batch, request_.contracted, request_.b.strides);
    if (a.empty() || p.m == 0 || p.n == 0) return;
    merge_segments(p, sa, sb);
    Offsets c = output_offsets(kept);
    if (c.empty() || evenly_spaced(c, p.m * request_.outputs[0].strides[row])) merge_batches(p, a, b);
    p.batches = static_cast<std::int64_t>(a.size()), p.segments = static_cast<std::int64_t>(sa.size());
    a = each_with(a, sa), b = each_with(b, sb);
    p.a_offsets = a.data(), p.b_offsets = b.data();
    rows_ = p.m;
    if (!c.empty()) place_result(p, request_.outputs[0], row, c.data());
    finish_here(p);
    gemm(p);
  }

 private:
  void finish_here(GemmProblem& p) const {
    p.context = const_cast<GemmRun*>(this);
    p.epilogue = [](void* self, const Tile& tile) { static_cast<const GemmRun*>(self)->finish(tile); };
  }

  /// Batches that lie at even steps have no lists of offsets, if they are small products: 24 bytes for each take longer
  /// than a product of 2 × 2.
  bool run_small(GemmProblem p) {
    const auto row = static_cast<std::size_t>(request_.batch.rank());
    GemmSteps steps{};
    if (request_.contracted != 0 || p.m == 0 || p.n == 0 || p.k > kSmallMost || p.n > kSmallMost) return false;
    const bool straight = goes_straight();
    Strides c;
    if (straight) c = request_.outputs[0].strides;
    else c.resize(row + 2, 0);
    p.batches = even_steps(request_.batch, request_.a.strides, request_.b.strides, c, steps);
    if (p.batches == 0) return false;
    p.segments = 1, p.steps = &steps, rows_ = p.m;
    if (straight) place_result(p, request_.outputs[0], row, nullptr);
    finish_here(p);
    return gemm_small(p);
  }

  /// How many batches there are, each so many elements after the one before in each of three; 0: they lie otherwise.
  static std::int64_t even_steps(const Shape& batch, const Strides& a, const Strides& b, const Strides& c,
                                 GemmSteps& steps) {
    std::int64_t count = 1;
    for (int i = batch.rank() - 1; i >= 0; --i) {
      const auto axis = static_cast<std::size_t>(i);
      if (batch[axis] == 1) continue;
      if (count == 1) steps = {a[axis], b[axis], c[axis]};
      else if (a[axis] != count * steps.a || b[axis] != count * steps.b || c[axis] != count * steps.c) return 0;
      count *= batch[axis];
    }
    return count;
  }

  static Shape space_of(const GemmRequest& request) {
    Shape space = request.space(request.m, request.n);
    for (int i = 0; i < request.batch.rank(); ++i)
      if (request.contracted >> i & 1) space[static_cast<std::size_t>(i)] = 1;
    return space;
  }

  /// Every batch's offset with each segment's.
  static Offsets each_with(Offsets& batches, const Offsets& segments) {
    if (segments.size() == 1 && segments[0] == 0) return std::move(batches);
    Offsets all;
    all.reserve(batches.size() * segments.size());
    for (const std::int64_t batch : batches)
      for (const std::int64_t segment : segments) all.push_back(batch + segment);
    return all;
  }
  /// Contracted batches whose operands follow each other are a longer k: d_b of a shared b is one product.
  static void merge_segments(GemmProblem& p, Offsets& a, Offsets& b) {
    if (a.size() < 2 || !evenly_spaced(a, p.k * p.a_col) || !evenly_spaced(b, p.k * p.b_row)) return;
    p.k *= static_cast<std::int64_t>(a.size());
    a.assign(1, 0), b.assign(1, 0);
  }
  /// Batches that share b and follow each other in a are more rows of one product.
  static void merge_batches(GemmProblem& p, Offsets& a, Offsets& b) {
    if (a.size() < 2 || !evenly_spaced(b, 0) || !evenly_spaced(a, p.m * p.a_row)) return;
    p.m *= static_cast<std::int64_t>(a.size());
    a.assign(1, 0), b.assign(1, 0);
  }

  /// The product goes straight to the output: accumulated in it, or rounded once.
  static void place_result(GemmProblem& p, const View& out, std::size_t row, const std::int64_t* offsets) {
    auto* const data = const_cast<std::byte*>(address(out));
    if (stored_as_computed(out.dtype)) {
      p.c = data, p.c_row = out.strides[row], p.c_offsets = offsets;
    } else {
      p.rounded = data, p.rounded_row = out.strides[row], p.rounded_offsets = offsets;
    }
  }
  /// Whether the product can go straight to the output: no epilogue, contiguous rows of the operands' type.
  bool goes_straight() const {
    const auto col = static_cast<std::size_t>(request_.batch.rank()) + 1;
    if (!epilogue_.stores_accumulators()) return false;
    const View& out = request_.outputs[0];
    return out.dtype == request_.a.dtype && (out.strides[col] == 1 || request_.n == 1);
  }
  /// Offsets of the output's batches then; else nothing.
  Offsets output_offsets(std::uint32_t kept) const {
    return goes_straight() ? offsets_along(request_.batch, kept, request_.outputs[0].strides) : Offsets{};
  }

  void finish(const Tile& t) const {
    epilogue_.finish({t.acc, t.stride, (t.batch * rows_ + t.row) * request_.n + t.col, t.rows, t.cols, request_.n});
  }

  const GemmRequest& request_;
  TileEpilogue epilogue_;
  std::int64_t rows_ = 0;
};

}  // namespace

void multiply_on_cpu(const GemmRequest& request, const Tape& epilogue, const KernelTable& table) {
  GemmRun(request, epilogue, table).run();
}

}  // namespace tern::detail_cpu
