// Fills the holes of gemm_tiny.wgsl, and runs it.
#include "gpu/products/gemm_tiny.hpp"

#include "backend/instruments/trace.hpp"
#include "gpu/products/gemm_plan.hpp"
#include "gpu/text/io.hpp"
#include "gpu/text/kernel_file.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {
namespace {

constexpr const char* kTinyProduct =
#include "gpu/products/gemm_tiny.wgsl.inc"
    ;
// What one invocation has in registers, and how many rows keep more than a few of them busy: fewer are one launch of
// any kernel.
constexpr std::int64_t kMostTinyColumns = 16, kMostDepth = 16, kLeastRows = 512;

class TinyProduct {
 public:
  TinyProduct(GpuBackend& backend, const detail::GemmRequest& request)
      : gemm_(backend, request, Layouts::own, 'y'), n_(static_cast<int>(request.n)), k_(static_cast<int>(request.k)) {
    lay_out(gemm_);
    gemm_.tile = {};
    choose_vectors();
    arrange();
  }
  void run() {
    Launch& launch = gemm_.plan.launch;
    if (detail::tracing())
      detail::note(cat("a row of ", n_, " along ", k_, " an invocation, ", launch.groups, " workgroups of ",
                       launch.threads));
    gemm_.backend.queue(launch, [&] { return text(); });
  }

 private:
  using Names = std::vector<std::string>;

  Access& access(int i) { return gemm_.plan.access(i); }
  /// Moves `count` neighbours along an axis as vectors, or natively as one number of 8 bytes, where they lie so.
  void widen(int i, std::size_t axis, int count) {
    const Access& x = access(i);
    const int bytes = count * x.size();
    const int unit = bytes % kVectorBytes == 0 ? kVectorBytes : gemm_.plan.native() && bytes == 8 ? 8 : 0;
    if (unit == 0 || x.size() >= unit || x.steps[axis] != '1') return;
    for (std::size_t other = 0; other < x.actual.size(); ++other)
      if (other != axis && x.actual[other] * x.size() % unit) return;
    if (x.view->offset * x.size() % unit == 0) gemm_.plan.make_wide(i);
  }
  /// Whether results narrower than a word fill whole words.
  bool fills_words(const Access& x) const {
    const int unit = 4 / x.size();
    if (n_ % unit || x.steps.back() != '1' || x.view->offset % unit) return false;
    for (std::size_t axis = 0; axis + 1 < x.actual.size(); ++axis)
      if (x.actual[axis] % unit) return false;
    return true;
  }
  void choose_vectors() {
    Plan& plan = gemm_.plan;
    const std::size_t column = access(gemm_.a.access).steps.size() - 1;
    widen(gemm_.a.access, column, k_);
    gemm_.b.along_k = access(gemm_.b.access).steps[column - 1] == '1' && access(gemm_.b.access).steps[column] != '1';
    if (gemm_.b.along_k) widen(gemm_.b.access, column - 1, k_);
    else widen(gemm_.b.access, column, n_);
    for (const auto* list : {&gemm_.epilogue.outputs(), &gemm_.epilogue.operands()})
      for (const int i : *list) {
        widen(i, access(i).steps.size() - 1, n_);
        if (access(i).written && access(i).size() < 4 && !fills_words(access(i))) plan.merge_parts(i);
      }
    for (std::size_t i = 0; i < plan.accesses.size(); ++i) {
      Binding& binding = plan.binding_of(static_cast<int>(i));
      if (binding.atomic) plan.accesses[i].wide = binding.vectors = false;
    }
  }
  void arrange() {
    Plan& plan = gemm_.plan;
    Launch& launch = plan.launch;
    const std::int64_t rows = gemm_.m * gemm_.kept.count();
    launch.threads = std::min<std::uint32_t>(128, gemm_.backend.limits().threads);
    launch.in_bounds = true;
    launch.steps = static_cast<std::uint64_t>(rows * n_ * k_);
    launch.groups = static_cast<std::uint64_t>(ceil_div(rows, launch.threads));
    plan.set(gemm_.slots.tiles_m, static_cast<std::uint64_t>(rows));
    plan.note(gemm_.request.epilogue->serial), plan.note(static_cast<char>(n_)), plan.note(static_cast<char>(k_));
    plan.note(gemm_.b.along_k), plan.note(gemm_.request.a.dtype), plan.note(launch.threads);
    for (const int axis : gemm_.kept.original) plan.note(static_cast<char>(axis));
    plan.finish_key();
  }

  static std::string sum(int column) { return cat("acc", column); }
  std::string added(int column, const std::string& a, const std::string& b) const {
    const std::string acc = sum(column);
    return detail::is_float(gemm_.type()) ? cat(acc, " = fma(", a, ", ", b, ", ", acc, ");\n")
                                               : cat(acc, " += ", a, " * ", b, ";\n");
  }
  /// Lines that add up the products: a row of b after the other, or a column where neighbours lie along k.
  std::string multiply(Io& io, const Names& batch, const Names& row_of_a) const {
    const int lines_of_b = gemm_.b.along_k ? n_ : k_, length = gemm_.b.along_k ? k_ : n_;
    std::string lines;
    for (int line = 0; line < lines_of_b; ++line) {
      Position at{batch, 0, length};
      at.coordinates.push_back(gemm_.b.along_k ? "0u" : cat(line, "u"));
      at.coordinates.push_back(gemm_.b.along_k ? cat(line, "u") : "0u");
      at.inner = static_cast<int>(at.coordinates.size()) - (gemm_.b.along_k ? 2 : 1);
      Names b;
      lines += io.load(gemm_.b.access, at, b);
      for (int e = 0; e < length; ++e) {
        const int column = gemm_.b.along_k ? line : e, depth = gemm_.b.along_k ? e : line;
        lines += added(column, row_of_a[static_cast<std::size_t>(depth)], b[static_cast<std::size_t>(e)]);
      }
    }
    return lines;
  }
  std::string text() {
    const Dialect& d = gemm_.backend.dialect();
    const Function f = gemm_.epilogue.function(d);
    Io io(gemm_.plan, d);
    MergedAxes rows = gemm_.kept;
    rows.sizes.push_back(gemm_.m), rows.slots.push_back(gemm_.slots.m);
    Names batch, row_of_a;
    Holes holes;
    holes["threads"] = cat(gemm_.plan.launch.threads, "u"), holes["count"] = d.param(gemm_.slots.tiles_m);
    holes["coordinates"] = io.coordinates(rows, "i", "n", batch), holes["row"] = batch.back();
    batch.pop_back();
    Position at{batch, 0, k_};
    at.coordinates.push_back("row"), at.coordinates.push_back("0u");
    at.inner = static_cast<int>(at.coordinates.size()) - 1;
    holes["load_row"] = io.load(gemm_.a.access, at, row_of_a);
    std::string& sums = holes["sums"];
    for (int column = 0; column < n_; ++column)
      sums += cat("var ", sum(column), " = ", compute_type_name(gemm_.type()), "();\n");
    holes["multiply"] = multiply(io, batch, row_of_a);
    at.coordinates.back() = "col", at.group = n_;
    holes["finish"] = gemm_.epilogue.finish(io, d, f, at, gemm_.kept, &TinyProduct::sum, "");
    return d.module({cat("product, rows of ", n_, " along ", k_),
                     gemm_.plan.launch.bindings,
                     gemm_.plan.launch.params.size(),
                     gemm_.plan.launch.threads,
                     {},
                     f.text,
                     fill_holes(kTinyProduct, holes)});
  }

  GemmPlan gemm_;
  int n_, k_;
};

}  // namespace

bool is_tiny(const detail::GemmRequest& r) {
  if (r.n > kMostTinyColumns || r.k > kMostDepth || r.k < 1) return false;
  std::int64_t rows = r.m;
  for (int i = 0; i < r.batch.rank(); ++i) {
    const std::int64_t size = r.batch[static_cast<std::size_t>(i)];
    if (!(r.contracted >> i & 1)) rows *= size;
    else if (size != 1) return false;
  }
  return rows >= kLeastRows;
}

bool run_gemm_tiny(GpuBackend& backend, const detail::GemmRequest& request) {
  if (backend.limits().archived) return false;
  TinyProduct(backend, request).run();
  return true;
}

}  // namespace tern::detail_gpu
