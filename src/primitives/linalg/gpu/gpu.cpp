// Linear algebra on GPUs: how failures are told, and what its kernels share.
#include "primitives/linalg/gpu/gpu.hpp"

#include <bit>

#include "gpu/plan/index_checks.hpp"

namespace tern::detail_gpu {

namespace {

constexpr int kInvocations = 256;
// A matrix's number and its status are noted in one word, of which the complement is taken: matrix · statuses + status
// + 1, with a power of two of statuses, the same for all small matrices. `size`: statuses, below 0 of one matrix alone.
constexpr std::uint32_t kLeastStatuses = 64;

Error noted_matrix(const char* op, std::int64_t size, std::uint32_t noted, detail::PrimitiveId by) {
  const std::uint32_t packed = ~noted;
  const auto statuses = static_cast<std::uint32_t>(size < 0 ? -size : size);
  return detail::matrix_error(op, size > 0, packed / statuses, static_cast<std::int64_t>(packed % statuses) - 1, by);
}

}  // namespace

Noted::Noted(GpuBackend& backend, Plan& plan, bool batched, detail::PrimitiveId by, std::int64_t most)
    : backend_(backend),
      plan_(plan),
      flags_{&backend.index_flags(), DType::u32, 0, {}},
      statuses_(std::max(kLeastStatuses, std::bit_ceil(static_cast<std::uint32_t>(most) + 2))) {
  access_ = plan.add_access(flags_, {}, true);
  plan.make_atomic(access_), plan.note(statuses_);
  plan.launch.check_slot = plan.add_param(0), plan.launch.checks = by;
  plan.launch.noted_error = noted_matrix;
  plan.launch.checked_size = batched ? statuses_ : -static_cast<std::int64_t>(statuses_);
}
std::string Noted::text(const std::string& matrix, const std::string& status) const {
  const std::uint32_t most = 0xffffffffu / statuses_ - 1;  // those behind are told as this one
  const Dialect& dialect = backend_.dialect();
  return dialect.report_least(plan_.access(access_).binding, dialect.param(plan_.launch.check_slot),
                              cat("min(", matrix, ", ", most, "u) * ", statuses_, "u + u32(", status, " + 1)"));
}

MatrixPlan::MatrixPlan(GpuBackend& backend, const detail::MatrixRequest& r, char kind)
    : backend(backend), plan(backend.limits(), r.op, kind, Layouts::own), space_(r.batch()), most_(r.least()) {
  count_slot_ = plan.add_param(static_cast<std::uint64_t>(r.count()));
  views_.reserve(8);
}
int MatrixPlan::add(const View& view, std::initializer_list<std::int64_t> sizes, bool written) {
  std::vector<std::int64_t> all(space_.begin(), space_.end());
  all.insert(all.end(), sizes);
  touched_.push_back(bytes_touched(view, all));
  views_.push_back({view, written});
  return static_cast<int>(views_.size()) - 1;
}
void MatrixPlan::note_failures(detail::PrimitiveId by) { by_ = by; }
void MatrixPlan::launch(std::uint64_t groups, std::uint32_t threads, const std::function<std::string()>& text) {
  std::vector<const View*> views;
  for (const auto& added : views_) views.push_back(&added.view);
  batch = merge_axes(space_, (1u << space_.rank()) - 1, views, 0);
  plan.add_axes(batch);
  const auto rank = static_cast<std::size_t>(space_.rank());
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const Strides& own = views_[i].view.strides;
    std::vector<std::int64_t> strides = batch.strides[i];
    for (std::size_t axis = rank; axis < rank + 2; ++axis) strides.push_back(axis < own.size() ? own[axis] : 0);
    plan.add_access(views_[i].view, strides, views_[i].written);
  }
  if (by_ != detail::PrimitiveId::count) {
    noted.emplace(backend, plan, space_.rank() > 0, by_, most_);
    touched_.push_back({0, static_cast<std::int64_t>(backend.index_flags().bytes())});
  }
  plan.launch.groups = groups, plan.launch.threads = threads;
  plan.bind(touched_), plan.note(threads);
  // Indices come from sizes and from places that were made here, or are clamped. With checks, small matrices on WebGPU
  // took up to 2.5 times as long (docs/tuning.md).
  plan.trust_exact_groups();
  plan.finish_key();
  backend.queue(plan.launch, text);
}

void status_on_gpu(GpuBackend& backend, const detail::StatusRequest& r) {
  if (r.count() == 0) return;
  backend.run_prepared(r, [&] {
    MatrixPlan m(backend, r, 'C');
    const int status = m.add(r.status, {}, false);
    m.note_failures(r.by);
    m.launch(static_cast<std::uint64_t>(ceil_div(r.count(), kInvocations)), kInvocations, [&] {
      Io io(m.plan, backend.dialect());
      std::vector<std::string> matrix, values;
      std::string check = io.coordinates(m.batch, "matrix", "c", matrix);
      check += io.load(status, m.at(matrix), values);
      check += cat("if (", values[0], " != 0) {\n", indented(m.noted->text("matrix", values[0])), "}\n");
      return m.module("status of matrices",
                      cat("let matrix = group * ", kInvocations, "u + thread;\nif (matrix < ", m.count(), ") {\n",
                          indented(check), "}\n"),
                      {});
    });
  });
}

void clear_of_each(GpuBackend& backend, const detail::MatrixRequest& r, const View& of_each) {
  MatrixPlan plan(backend, r, '7');
  const int to = plan.add(of_each, {}, true);
  plan.launch(static_cast<std::uint64_t>(ceil_div(r.count(), kInvocations)), kInvocations, [&] {
    Io io(plan.plan, backend.dialect());
    std::vector<std::string> matrix;
    std::string text = io.coordinates(plan.batch, "matrix", "c", matrix);
    text += cat("let none = 0;\n", io.store(to, plan.at(matrix), {"none"}, ""));
    return plan.module("status of matrices, cleared",
                       cat("let matrix = group * ", kInvocations, "u + thread;\nif (matrix < ", plan.count(), ") {\n",
                           indented(text), "}\n"),
                       {});
  });
}

}  // namespace tern::detail_gpu
