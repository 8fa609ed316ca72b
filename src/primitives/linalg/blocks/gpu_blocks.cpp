// Cholesky and triangles by blocks.
//
//   Cholesky: a panel of w columns, down to the last row, is its left half, a product that takes what that half is
//   known to be from the right one, and the right half; 32 columns are one kernel (blocks_cholesky.wgsl).
//
//   ┌────┬────┐
//   │ ╲  │    │   n / 32 kernels and as many products: what is bound by latency is launched least often, and the
//   │  ╲ ├────┤   products are as large as they can be.
//   │ L  │ A -│
//   │    │ LLᵀ│   A triangle's inverse times columns is made likewise: half of the rows, a product, the other half.
//   └────┴────┘
#include "primitives/linalg/blocks/gpu_blocks.hpp"

#include "formula/graph.hpp"
#include "gpu/products/gemm_pass.hpp"
#include "primitives/gemm/gemm.hpp"
#include "primitives/linalg/linalg.hpp"

namespace tern::detail_gpu {

namespace {

constexpr const char* kBlockPieces =
#include "primitives/linalg/blocks/blocks_pieces.wgsl.inc"
    ;
constexpr const char* kCholesky =
#include "primitives/linalg/blocks/blocks_cholesky.wgsl.inc"
    ;
constexpr const char* kTriangle =
#include "primitives/linalg/blocks/blocks_triangle.wgsl.inc"
    ;
constexpr int kBlockThreads =
    64;  // of a workgroup of blocks_cholesky and blocks_triangle: many small ones hide latency

const detail::FormulaGraph* difference_graph() {
  static const detail::FormulaGraph* const graph = [] {
    const Expr x = detail::make_input(1) - detail::make_input(0);
    return detail::make_graph({&x, 1}, 2);
  }();
  return graph;
}

/// What is the same for all kernels of blocks: the numbers 0 to 31 of an invocation and their places in vectors.
Holes numbers_of_blocks() {
  Holes holes = pieces(kBlockPieces);
  holes["steps"] = numbers(0, kMatrixBlock), holes["chunks"] = numbers(0, kMatrixBlock / 4);
  holes["after"] = numbers(0, kMatrixBlock / 4 - 1), holes["later"] = numbers(1, kMatrixBlock / 4);
  holes["parts_of_vector"] = numbers(0, 4);
  for (int k = 0; k < kMatrixBlock; ++k) {
    const std::string part = cat(".", "xyzw"[k % 4]);
    holes[cat("value_", k)] = cat("x", k / 4, part), holes[cat("part_", k)] = part;
    holes[cat("rest_", k)] = numbers(k + 1, 4), holes[cat("next_", k)] = cat(k + 1);
  }
  return holes;
}

}  // namespace

// ---- texts ----

BlockText::BlockText(MatrixPlan& plan, DType dtype, int threads)
    : plan(plan), io(plan.plan, plan.backend.dialect()), type(compute_type_name(compute_type(dtype))) {
  static const auto& all = *new Holes(numbers_of_blocks());  // outlives what is in static storage
  holes = all;
  const Dialect& d = plan.backend.dialect();
  const ComputeType computed = compute_type(dtype);
  holes["coordinates"] = io.coordinates(plan.batch, "matrix", "c", matrix);
  holes["type"] = type, holes["vector"] = cat("vec4<", type, ">"), holes["threads"] = cat(threads);
  holes["barrier"] = d.barrier(), holes["barrier_of_memory"] = d.barrier_of_memory();
  const std::string first = cat("(", kFirst, ")"), second = cat("(", kSecond, ")");  // sums, too
  holes["abs"] = d.elementary(Elementary::abs, computed, {first});
  holes["sqrt"] = d.elementary(Elementary::sqrt, computed, {first});
  holes["quotient"] = cat("(", d.elementary(Elementary::div, computed, {first, second}), ")");
}
void BlockText::add(const char* name, int access, bool written) {
  const Access& a = plan.plan.access(access);
  std::string element = io.element(a, plan.at(matrix, cat("(", kFirst, ")"), cat("(", kSecond, ")")), 0);
  if (element.find(kFirst) == element.npos)
    element += cat(" + 0u * (", kFirst, ")");  // all rows are one: still an argument
  holes[name] = io.loaded(a, element);
  if (!written) return;
  const std::string store = io.stored(a, element, "${2}");
  holes[cat("set_", name)] = store.substr(0, store.rfind(';'));
}
void BlockText::add_triangle(Diagonal diagonal) {
  // What is read behind it is not looked at.
  share_vectors("triangle", kMatrixBlock * kMatrixBlock / 4 + kMatrixBlock / 4);
  const bool unit = diagonal == Diagonal::ones;
  if (!unit) share("diagonal", kMatrixBlock);
  holes["load_diagonal"] = unit ? "" : "$load_diagonal_of_numbers";
  holes["pivot_of"] = diagonal == Diagonal::halves
                          ? cat("select(", kFirst, " * $type(0.5), $type(1.0), ", kFirst, " == $type(0.0))")
                          : kFirst;
  holes["divided"] = unit ? "" : "0";
}
void BlockText::add_status(int access, int first_slot, const std::string& condition) {
  std::string& tell = holes["tell"];
  if (access < 0) return;
  std::vector<std::string> known;
  const std::string load = io.load(access, plan.at(matrix), known);
  const std::string store = cat("let found = status + i32(", plan.backend.dialect().param(first_slot), ");\n",
                                io.store(access, plan.at(matrix), {"found"}, ""));
  tell = cat("if (", condition, " && status != 0) {\n",
             indented(cat(load, "if (", known[0], " == 0) {\n", indented(store), "}\n")), "}\n");
}

// ---- status ----

RequestStatus::RequestStatus(GpuBackend& backend, const detail::MatrixRequest& r)
    : backend_(backend), r_(r), wanted_(r.status.storage || r.checked), view_(r.status) {
  if (!wanted_) return;
  if (!view_.storage) {
    own_.emplace(backend, r, 1, 1, DType::i32);
    view_ = own_->view;
    view_.strides.resize(view_.strides.size() - 2);
  }
  clear_of_each(backend, r, view_);
}
void RequestStatus::finish(PrimitiveId by) const {
  if (!r_.checked) return;
  detail::StatusRequest r{};
  static_cast<detail::MatrixRequest&>(r) = r_;
  r.by = by, r.status = view_;
  status_on_gpu(backend_, r);
}

// ---- products and triangles ----

MatrixBlocks::MatrixBlocks(GpuBackend& backend, const detail::MatrixRequest& r, DType dtype)
    : backend(backend), r(r), dtype(dtype) {
  const detail::InputType types[] = {{dtype, false}, {dtype, false}};
  without_ = &detail::type_program(r.op, difference_graph(), types), alone_ = plain_epilogue(r.op, dtype);
}

void MatrixBlocks::product(const View& c, const View& a, const View& b, const ProductSizes& s,
                           const detail::Program* epilogue, std::span<const detail::Operand> inputs) const {
  if (s.m == 0 || s.n == 0) return;
  detail::GemmRequest product;
  product.op = r.op, product.m = s.m, product.n = s.n, product.k = s.k, product.batch = r.batch();
  product.a = a, product.b = b, product.epilogue = epilogue;
  product.inputs = inputs, product.outputs = {&c, 1};
  backend.execute(product);
}
void MatrixBlocks::multiply(const View& c, const View& a, const View& b, const ProductSizes& s) const {
  product(c, a, b, s, alone_, {});
}
void MatrixBlocks::subtract(const View& c, const View& a, const View& b, const ProductSizes& s) const {
  if (s.k == 0) return;
  const std::size_t row = c.strides.size() - 2;
  // Results are written in vectors along rows.
  if (c.strides[row] == 1 && c.strides[row + 1] != 1)
    return subtract(transposed(c), transposed(b), transposed(a), {s.n, s.m, s.k});
  const detail::Operand before[] = {{c, {}, nullptr}};
  product(c, a, b, s, without_, before);
}

void MatrixBlocks::solve(const View& a, const View& x, std::int64_t n, std::int64_t right, bool upper,
                         bool unit) const {
  if (n > kMatrixBlock) {
    const std::int64_t first = first_half(n), rest = n - first;
    const View low_a = from_element(a, first, first), low_x = from_element(x, first, 0);
    if (upper) solve(low_a, low_x, rest, right, upper, unit);
    else solve(a, x, first, right, upper, unit);
    if (upper) subtract(x, from_element(a, 0, first), low_x, {first, right, rest});
    else subtract(low_x, from_element(a, first, 0), x, {rest, right, first});
    return upper ? solve(a, x, first, right, upper, unit) : solve(low_a, low_x, rest, right, upper, unit);
  }
  View rows = x;  // the order of columns does not matter
  if (upper) rows = from_element(x, n - 1, 0), rows.strides[rows.strides.size() - 2] *= -1;
  solve_block(upper ? reversed_both_ways(a, n, n) : a, rows, rows, n, right, unit ? Diagonal::ones : Diagonal::numbers);
}

void MatrixBlocks::solve_block(const View& l, const View& b, const View& x, std::int64_t n, std::int64_t right,
                               Diagonal diagonal) const {
  MatrixPlan plan(backend, r, 't');
  const std::int64_t parts = ceil_div(right, kBlockThreads);
  const int of_l = plan.add(l, {n, n}, false), of_b = plan.add(b, {n, right}, false);
  const int of_x = plan.add(x, {n, right}, true);
  const auto slot = [&](std::int64_t value) { return plan.plan.add_param(static_cast<std::uint64_t>(value)); };
  const int slots[] = {slot(n), slot(right), slot(parts)};
  plan.plan.note(diagonal);
  plan.launch(static_cast<std::uint64_t>(r.count() * parts), kBlockThreads, [&] {
    BlockText text(plan, dtype, kBlockThreads);
    text.add("l", of_l, false), text.add("b", of_b, false), text.add("x", of_x, true), text.add_triangle(diagonal);
    text.param("size", slots[0]), text.param("right", slots[1]), text.param("parts", slots[2]);
    text.holes["number"] = cat("$b(", kFirst, ", j)"),
    text.holes["solved"] = cat("$set_x(", kFirst, ", j, ", kSecond, ")");
    return text.text("triangle of a block", kTriangle);
  });
}

bool by_blocks(GpuBackend& backend, const detail::TriangularRequest& r) {
  if (!go_by_blocks(backend, r, r.a.dtype)) return false;
  run_blocks(backend, r, [&] {
    const bool transposes = r.how != 'N';
    move(backend, r, r.b, r.x, r.rows(), r.right);
    MatrixBlocks(backend, r, r.a.dtype)
        .solve(transposes ? transposed(r.a) : r.a, r.x, r.rows(), r.right, r.upper != transposes, r.unit);
  });
  return true;
}

// ---- Cholesky ----

namespace {

/// In the factor's memory, but for the blocks on the diagonal, which come last: their rows are those of `diagonal`.
struct Cholesky : MatrixBlocks {
  const Matrices diagonal;
  const View* status;
  View factor;
  Cholesky(GpuBackend& backend, const detail::CholeskyRequest& r, const View* status)
      : MatrixBlocks(backend, r, r.input.dtype),
        diagonal(backend, r, kMatrixBlock, r.rows(), r.input.dtype),
        status(status),
        factor(r.factor) {}

  /// Columns from `first` on, `width` of them.
  void panel(std::int64_t first, std::int64_t width) const {
    if (width <= kMatrixBlock) return block(first, width);
    const std::int64_t left = first_half(width), middle = first + left, rest = r.rows() - middle;
    panel(first, left);
    const View below = from_element(factor, middle, first);
    subtract(from_element(factor, middle, middle), below, transposed(below), {rest, width - left, left});
    panel(middle, width - left);
  }
  void block(std::int64_t first, std::int64_t width) const {
    MatrixPlan plan(backend, r, 'y');
    const std::int64_t rows = r.rows() - first;
    constexpr int own_rows = kBlockThreads - kMatrixBlock;
    const std::int64_t parts = std::max<std::int64_t>(ceil_div(rows - kMatrixBlock, own_rows), 1);
    const int of_a = plan.add(from_element(factor, first, first), {rows, width}, true);
    const int of_factor = plan.add(from_element(transposed(diagonal.view), first, 0), {width, width}, true);
    const int of_status = status ? plan.add(*status, {}, true) : -1;
    const auto slot = [&](std::int64_t value) { return plan.plan.add_param(static_cast<std::uint64_t>(value)); };
    const int slots[] = {slot(rows), slot(parts), slot(first), slot(width)};
    plan.launch(static_cast<std::uint64_t>(r.count() * parts), kBlockThreads, [&] {
      BlockText text(plan, dtype, kBlockThreads);
      text.add("a", of_a, true), text.add("factor", of_factor, true),
          text.share_vectors("column", 3 * kMatrixBlock / 4);
      text.param("rows", slots[0]), text.param("parts", slots[1]), text.param("size", slots[3]);
      text.holes["own_rows"] = cat(own_rows);
      // Rows outside are those of others; of a row on the diagonal what is right of that is not looked at.
      text.holes["number"] = cat("$a(min(row, ", "$rows - 1u), ", kFirst, ")");
      text.add_status(of_status, slots[2], "thread == 0u && part == 0u");
      return text.text("cholesky of a block", kCholesky);
    });
  }
  /// What products left above the diagonal goes, and blocks on the diagonal come into their places, all whole ones
  /// together.
  void finish() const {
    const std::int64_t n = r.rows(), whole = n / kMatrixBlock, rest = n % kMatrixBlock;
    move(backend, r, factor, factor, n, n, {.part = PartOfMatrix::lower});
    const View from = transposed(diagonal.view);
    if (whole > 0) {
      detail::MatrixRequest blocks = r;
      blocks.space = detail::with_sizes(r.batch(), {whole, kMatrixBlock, kMatrixBlock});
      move(backend, blocks, of_blocks(from, false), of_blocks(factor, true), kMatrixBlock, kMatrixBlock);
    }
    if (rest > 0) {
      const std::int64_t at = whole * kMatrixBlock;
      move(backend, r, from_element(from, at, 0), from_element(factor, at, at), rest, rest);
    }
  }
  /// Blocks of rows as further axis of the batch: from the first column on, or along the diagonal.
  static View of_blocks(View v, bool along_diagonal) {
    const std::int64_t row = v.strides[v.strides.size() - 2], column = v.strides.back();
    v.strides.resize(v.strides.size() - 2);
    for (const std::int64_t stride : {kMatrixBlock * (row + (along_diagonal ? column : 0)), row, column})
      v.strides.push_back(stride);
    return v;
  }
};

}  // namespace

bool by_blocks(GpuBackend& backend, const detail::CholeskyRequest& r) {
  if (!go_by_blocks(backend, r, r.input.dtype)) return false;
  run_blocks(backend, r, [&] {
    const RequestStatus status(backend, r);
    const Cholesky cholesky(backend, r, status.view());
    move(backend, r, r.input, r.factor, r.rows(), r.rows(),
         {.part = PartOfMatrix::lower, .finite = status.view(), .kept = true});
    cholesky.panel(0, r.rows()), cholesky.finish(), status.finish(PrimitiveId::cholesky);
  });
  return true;
}

}  // namespace tern::detail_gpu
