#include "primitives/linalg/library/gpu_infos.hpp"

#include <algorithm>
#include <vector>

#include "primitives/linalg/blocks/gpu_blocks.hpp"

namespace tern::detail_gpu {

namespace {
constexpr int kInfoThreads = 256;

/// Nothing is bad until a move or the library tells otherwise.
void clear(GpuBackend& backend, const detail::MatrixRequest& r, View of_each) {
  of_each.strides.resize(of_each.strides.size() - 2);
  clear_of_each(backend, r, of_each);
}

std::vector<std::int32_t> read(GpuBackend& backend, const detail::MatrixRequest& r, const Matrices& of_each) {
  std::vector<std::int32_t> list(static_cast<std::size_t>(r.count()));
  backend.download(*of_each.view.storage, 0, list.data(), list.size() * sizeof list[0]);
  return list;
}

}  // namespace

Infos::Infos(GpuBackend& backend, const detail::MatrixRequest& r)
    : backend_(backend), r_(r), infos_(backend, r, 1, 1, DType::i32), bad_(backend, r, 1, 1, DType::i32) {
  clear(backend, r, bad_.view), clear(backend, r, infos_.view);
}

void Infos::finish(PrimitiveId by) {
  const bool with_status = r_.status.storage != nullptr;
  if (!with_status && !r_.checked) return;
  MatrixPlan plan(backend_, r_, '4');
  const int bad = plan.add(bad_.view, {1, 1}, false), info = plan.add(infos_.view, {1, 1}, false);
  const Matrices told(backend_, r_, 1, 1, DType::i32);
  const int to = plan.add(told.view, {1, 1}, true), status = with_status ? plan.add(r_.status, {}, true) : -1;
  plan.launch(static_cast<std::uint64_t>(ceil_div(r_.count(), kInfoThreads)), kInfoThreads, [&] {
    Io io(plan.plan, backend_.dialect());
    std::vector<std::string> matrix, first, second;
    std::string text = io.coordinates(plan.batch, "matrix", "c", matrix);
    text += io.load(bad, plan.at(matrix), first), text += io.load(info, plan.at(matrix), second);
    text += cat("let status = select(", second[0], ", ", first[0], ", ", first[0], " != 0);\n");
    text += io.store(to, plan.at(matrix), {"status"}, "");
    if (status >= 0) text += io.store(status, plan.at(matrix), {"status"}, "");
    return plan.module("matrices, status",
                       cat("let matrix = group * ", kInfoThreads, "u + thread;\nif (matrix < ", plan.count(), ") {\n",
                           indented(text), "}\n"),
                       {});
  });
  if (!r_.checked) return;
  const std::vector<std::int32_t> list = read(backend_, r_, told);
  for (std::size_t l = 0; l < list.size(); ++l)
    if (list[l] != 0)
      throw detail::matrix_error(r_.op, r_.batch().rank() > 0, static_cast<std::int64_t>(l), list[l], by);
}

bool orthonormal(GpuBackend& backend, const detail::MatrixRequest& r, const View& v, std::int64_t n) {
  const DType dtype = real_dtype(v.dtype);
  const MatrixBlocks blocks(backend, r, dtype);
  const Matrices apart(backend, r, n, n, dtype), noted(backend, r, 1, 1, DType::i32);
  const View x = real_view(v, 0), xt = transposed(x), y = real_view(v, 1), yt = transposed(y);
  clear(backend, r, noted.view);
  move(backend, r, x, apart.view, n, n, {.part = PartOfMatrix::diagonal, .ones = true});
  blocks.subtract(apart.view, xt, x, {n, n, n});
  if (is_complex(v.dtype)) blocks.subtract(apart.view, yt, y, {n, n, n});
  note_unless_small(backend, r, apart.view, n, noted.view);
  if (is_complex(v.dtype)) {
    blocks.multiply(apart.view, xt, y, {n, n, n}), blocks.subtract(apart.view, yt, x, {n, n, n});
    note_unless_small(backend, r, apart.view, n, noted.view);
  }
  return std::ranges::none_of(read(backend, r, noted), [](std::int32_t is) { return is != 0; });
}

}  // namespace tern::detail_gpu
