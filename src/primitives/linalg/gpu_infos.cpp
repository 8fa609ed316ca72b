#include "primitives/linalg/gpu_infos.hpp"

#include <vector>

namespace tern::detail_gpu {

namespace {
constexpr int kInfoThreads = 256;
}  // namespace

Infos::Infos(GpuBackend& backend, const detail::MatrixRequest& r)
    : backend_(backend), r_(r), infos_(backend, r, 1, 1, DType::i32), bad_(backend, r, 1, 1, DType::i32) {
  clear(bad_.view), clear(infos_.view);
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
  std::vector<std::int32_t> list(static_cast<std::size_t>(r_.count()));
  backend_.download(*told.view.storage, 0, list.data(), list.size() * sizeof list[0]);
  for (std::size_t l = 0; l < list.size(); ++l)
    if (list[l] != 0)
      throw detail::matrix_error(r_.op, r_.batch().rank() > 0, static_cast<std::int64_t>(l), list[l], by);
}

void Infos::clear(const View& of_each) {
  MatrixPlan plan(backend_, r_, '6');
  const int to = plan.add(of_each, {1, 1}, true);
  plan.launch(static_cast<std::uint64_t>(ceil_div(r_.count(), kInfoThreads)), kInfoThreads, [&] {
    Io io(plan.plan, backend_.dialect());
    std::vector<std::string> matrix;
    std::string text = io.coordinates(plan.batch, "matrix", "c", matrix);
    text += cat("let status = 0;\n", io.store(to, plan.at(matrix), {"status"}, ""));
    return plan.module("matrices, cleared",
                       cat("let matrix = group * ", kInfoThreads, "u + thread;\nif (matrix < ", plan.count(), ") {\n",
                           indented(text), "}\n"),
                       {});
  });
}

}  // namespace tern::detail_gpu
