#include "gpu/products/gemm_sums.hpp"

#include <algorithm>

#include "backend/instruments/trace.hpp"
#include "formula/compute_types.hpp"
#include "gpu/products/epilogue.hpp"
#include "gpu/products/gemm_pass.hpp"
#include "gpu/reductions/reduce.hpp"
#include "gpu/text/text.hpp"
#include "primitives/fused/fused.hpp"

namespace tern::detail_gpu {

using detail::GemmRequest;
using detail::StepKind;

namespace {

// From this k on a matrix times a vector is so many sums: tiles would be thirty-one thirty-seconds empty. On CUDA a
// library takes what is shorter.
constexpr std::int64_t kLongSum = 256, kLeastDepth = 128;
// Sums an invocation has for each column that it reads: of 16 bits it reads eight. Beside a library: in f32, of which
// cuBLASLt took 43 us for two to eight rows times 4096², and 19 for one (H200, 27 November 2026).
constexpr std::int64_t kMostVectors = 8, kMostBesideLibrary = 4;

/// Few vectors times many: rows times a matrix's columns, or a matrix's rows times columns. Axes are of batch + [m, n];
/// k lies, in each factor, where the other factor has its vectors.
struct FewVectors {
  explicit FewVectors(const GemmRequest& r) : rank(static_cast<std::size_t>(r.batch.rank())) {
    const bool rows = r.m <= r.n;
    few = rows ? r.a : r.b, many = rows ? r.b : r.a;
    few_axis = rank + (rows ? 0 : 1), many_axis = rank + (rows ? 1 : 0);
    few_count = rows ? r.m : r.n, many_count = rows ? r.n : r.m;
    vectors = few_count;
    for (std::size_t i = 0; i < rank; ++i)
      if (many.strides[i] == 0) vectors *= r.batch[i];
  }
  std::int64_t step_along_k() const { return many.strides[few_axis]; }
  bool is_read_in_order() const { return step_along_k() == 1 || many.strides[many_axis] == 1; }

  std::size_t rank, few_axis, many_axis;
  View few, many;
  std::int64_t few_count, many_count;
  std::int64_t vectors;  // that meet the same matrix: those of batches that share it, too
};

bool can_be_sums(const GemmRequest& r) {
  return r.contracted == 0 && r.batch.rank() + 3 <= static_cast<int>(kMostAxes) && is_floating(r.a.dtype);
}

/// Such a product as a program over batch + [vectors of the matrix, k], which has the sums of all vectors side by side
/// and the epilogue behind each.
class ProductAsSums {
 public:
  ProductAsSums(GpuBackend& backend, const GemmRequest& r) : backend_(backend), r_(r), f_(r) {
    sums_.op = r.op, sums_.space = r.batch;
    if (f_.vectors <= kMostVectors)
      for (std::size_t i = 0; i < f_.rank; ++i)
        if (f_.many.strides[i] == 0) together_.push_back({i, r.batch[i]}), sums_.space[i] = 1;
    together_.push_back({f_.few_axis, f_.few_count});
    for (const Axis& axis : together_) count_ *= axis.size;
    sums_.space.push_back(f_.many_count), sums_.space.push_back(r.k);
    sums_.reduced = 1u << (f_.rank + 1);
  }

  void run() {
    if (!takes_epilogue()) return run_before_pass();
    if (detail::tracing())
      detail::note(cat(count_, count_ == 1 ? " vector" : " vectors", " times a matrix, as sums along k"));
    lay_out();
    const detail::FormulaGraph* const graph = detail::make_graph(results_, static_cast<int>(inputs_.size()));
    sums_.program = &detail::type_program(r_.op, graph, types_);
    sums_.inputs = inputs_, sums_.outputs = outputs_;
    run_reducing(backend_, sums_);
  }

 private:
  struct Axis {
    std::size_t axis;
    std::int64_t size;
  };

  /// Whether the formula can stand behind the sums: it asks for no position, whose axes have other numbers there, and a
  /// kernel can bind all of it, with the sums.
  bool takes_epilogue() const {
    for (const detail::Step& step : r_.epilogue->steps)
      if (step.kind == StepKind::position) return false;
    std::vector<const Storage*> all{r_.a.storage, r_.b.storage};
    for (const Operand& operand : r_.inputs)
      if (operand.view.storage) all.push_back(operand.view.storage);
    for (const View& output : r_.outputs) all.push_back(output.storage);
    std::sort(all.begin(), all.end());
    const auto distinct = static_cast<std::size_t>(std::unique(all.begin(), all.end()) - all.begin());
    return distinct + 2 <= backend_.limits().bindings;
  }
  void run_before_pass() {
    const ProductInMemory product(backend_, r_, dtype_computed_in(detail::compute_type_of(r_.a.dtype)));
    GemmRequest alone = r_;
    alone.epilogue = plain_epilogue(r_.op, product.view.dtype);
    alone.inputs = {}, alone.outputs = {&product.view, 1};
    ProductAsSums(backend_, alone).run();
    apply_epilogue(backend_, r_, product.view, product.space);
  }

  /// A view of vector v's elements, which step so along the program's last two axes.
  View laid(const View& view, std::int64_t v, std::int64_t across, std::int64_t along_k) const {
    View result = view;
    for (std::size_t i = together_.size(); i-- > 0; v /= together_[i].size)
      result.offset += v % together_[i].size * view.strides[together_[i].axis];
    result.strides.resize(static_cast<int>(f_.rank) + 2, 0);
    result.strides[f_.rank] = across, result.strides[f_.rank + 1] = along_k;
    return result;
  }
  View laid_across(const View& view, std::int64_t v) const { return laid(view, v, view.strides[f_.many_axis], 0); }
  bool differs_between_vectors(const View& view) const {
    return std::any_of(together_.begin(), together_.end(),
                       [&](const Axis& axis) { return axis.size > 1 && view.strides[axis.axis] != 0; });
  }
  Expr add_input(const Operand& operand, const detail::InputType& type, bool full) {
    inputs_.push_back(operand), types_.push_back(type);
    return detail::make_input(static_cast<int>(inputs_.size()) - 1, full);
  }
  /// The matrix in place of the epilogue's sum, then its operands, so that plain numbers have the places that they have
  /// in the request; then each vector, and operands that not all vectors share.
  void lay_out() {
    const std::vector<detail::InputType>& of_epilogue = r_.epilogue->inputs;
    const detail::InputType factor{r_.a.dtype, false};
    const auto in_sums = [&](Expr x) { return of_epilogue[0].dtype == r_.a.dtype ? x : cast(x, of_epilogue[0].dtype); };
    const Operand matrix{laid(f_.many, 0, f_.many.strides[f_.many_axis], f_.many.strides[f_.few_axis]), {}, nullptr};
    const Expr many = in_sums(add_input(matrix, factor, true));
    std::vector<Expr> arguments(1);
    for (std::size_t i = 0; i < r_.inputs.size(); ++i) {
      Operand operand = r_.inputs[i];
      if (operand.view.storage) operand.view = laid_across(operand.view, 0);
      arguments.push_back(add_input(operand, of_epilogue[i + 1], false));
    }
    for (std::int64_t v = 0; v < count_; ++v) {
      const Operand vector{laid(f_.few, v, 0, f_.few.strides[f_.many_axis]), {}, nullptr};
      arguments[0] = sum(in_sums(add_input(vector, factor, true)) * many);
      for (std::size_t i = 0; i < r_.inputs.size() && v > 0; ++i) {
        const View& view = r_.inputs[i].view;
        if (!view.storage || !differs_between_vectors(view)) continue;
        arguments[i + 1] = add_input({laid_across(view, v), {}, nullptr}, of_epilogue[i + 1], false);
      }
      for (const Expr& result : detail::substitute(r_.epilogue->graph, arguments)) results_.push_back(result);
      for (const View& output : r_.outputs) outputs_.push_back(laid_across(output, v));
    }
  }

  GpuBackend& backend_;
  const GemmRequest& r_;
  FewVectors f_;
  std::vector<Axis> together_;  // whose vectors have their sums side by side
  std::int64_t count_ = 1;      // of those
  detail::FusedRequest sums_;
  std::vector<Operand> inputs_;
  std::vector<detail::InputType> types_;
  std::vector<Expr> results_;
  std::vector<View> outputs_;
};

}  // namespace

bool is_long_sums(const GemmRequest& r) {
  const FewVectors f(r);
  if (!can_be_sums(r) || r.k < kLongSum) return false;
  const bool several = r.a.dtype == DType::f32 && f.vectors > 1 && f.vectors <= kMostBesideLibrary;
  return (f.few_count == 1 && f.step_along_k() == 1) || (several && f.is_read_in_order());
}

bool is_few_sums(const GemmRequest& r) {
  if (is_long_sums(r)) return true;
  const FewVectors f(r);
  return can_be_sums(r) && f.vectors <= kMostVectors && r.k >= kLeastDepth && f.is_read_in_order();
}

void multiply_as_sums(GpuBackend& backend, const GemmRequest& r) { ProductAsSums(backend, r).run(); }

}  // namespace tern::detail_gpu
