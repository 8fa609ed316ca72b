// LU by blocks, and what solves with its factors.
//
//   ┌───┬───┬───────┐   for each panel of 32 columns: its factors, from all rows below (blocks_lu.wgsl); what its
//   │   │ p │ u     │   exchanges of rows are to all other columns, and the rows u = l⁻¹·a (blocks_rows.wgsl); and the
//   │   │ a ├───────┤   product that takes l·u from the rest. Three launches.
//   │   │ n │ a - lu│
//   └───┴───┴───────┘
//
// Of a panel's rows the largest is looked for by one workgroup, as workgroups cannot wait for each other.
#include "primitives/linalg/blocks/gpu_blocks.hpp"

#include "backend/recording/native.hpp"

namespace tern::detail_gpu {

namespace {

constexpr const char* kLuPanel =
#include "primitives/linalg/blocks/blocks_lu.wgsl.inc"
    ;
constexpr const char* kLuRows =
#include "primitives/linalg/blocks/blocks_rows.wgsl.inc"
    ;
constexpr int kRowsThreads = 64;  // of a workgroup of blocks_rows: as many as it finds origins
constexpr int kRowsAtOnce = 4;    // rows of an invocation of blocks_lu whose loads do not wait for each other

/// Columns from which on LU of one matrix goes by blocks. On the CPU, with copies there and back, 256 took 0.69 ms, 512
/// 2.5 and 1024 9.4, by blocks 1.4, 3.3 and 7.7 (H200, WebGPU, 26 November 2026): a column's pivot takes 6 us.
constexpr std::int64_t kFewestLuColumns = 768;

struct BlockedLu : MatrixBlocks {
  const View lu, pivots;
  const View* status;
  BlockedLu(GpuBackend& backend, const detail::LuRequest& r, const View* status)
      : MatrixBlocks(backend, r, r.input.dtype), lu(r.lu), pivots(r.pivots), status(status) {}

  void run() const {
    const std::int64_t m = r.rows(), n = r.columns(), least = r.least();
    for (std::int64_t first = 0; first < least; first += kMatrixBlock) {
      const std::int64_t size = std::min<std::int64_t>(kMatrixBlock, least - first), behind = first + size;
      panel(first, size);
      if (n > size) others(first, size);
      subtract(from_element(lu, behind, behind), from_element(lu, behind, first), from_element(lu, first, behind),
               {m - behind, n - behind, size});
    }
  }

 private:
  /// The places of this panel's exchanges.
  View pivots_from(std::int64_t first) const {
    View v = pivots;
    v.offset += first * v.strides.back();
    return v;
  }
  void panel(std::int64_t first, std::int64_t size) const {
    MatrixPlan plan(backend, r, 'l');
    const std::int64_t rows = r.rows() - first;
    // As many for all panels, so that they are one kernel; and as many rows of the first to each as it takes at once.
    // On an H200 through WebGPU, 26 November 2026, 256, 512 and 1024 took 1024 rows 6.0, 6.8 and 7.7 ms,
    // 2048 15.2, 14.7 and 17.4, 4096 54, 44 and 42.
    const auto all = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(r.rows())));
    const std::int64_t most = std::min<std::int64_t>(backend.limits().threads, 1024);
    const int threads = static_cast<int>(std::clamp<std::int64_t>(all / kRowsAtOnce, 64, most));
    const int of_a = plan.add(from_element(lu, first, first), {rows, size}, true);
    const int of_pivots = plan.add(pivots_from(first), {size}, true);
    const int of_status = status ? plan.add(*status, {}, true) : -1;
    const auto slot = [&](std::int64_t value) { return plan.plan.add_param(static_cast<std::uint64_t>(value)); };
    const int slots[] = {slot(rows), slot(size), slot(first)};
    plan.launch(static_cast<std::uint64_t>(r.count()), static_cast<std::uint32_t>(threads), [&] {
      BlockText text(plan, dtype, threads);
      text.add("a", of_a, true), text.add("pivot", of_pivots, true);
      text.param("rows", slots[0]), text.param("size", slots[1]), text.param("first", slots[2]);
      text.holes["quarters"] = numbers(0, kRowsAtOnce), text.holes["at_once"] = cat(kRowsAtOnce * threads);
      text.holes["half"] = cat(threads / 2);
      text.share("upper", kMatrixBlock * kMatrixBlock), text.share("chosen", kMatrixBlock),
          text.share("sizes", threads);
      text.share_numbers("places", threads);
      text.add_status(of_status, slots[2], "thread == 0u");
      // WGSL's division (2.5 ulp) need not give 1 or -1 where it should.
      const std::string factor = fill_holes(
          "let one = select($type(-1.0), $type(1.0), x == pivot);\n"
          "return select(x / pivot, one, x == pivot || x == -pivot);\n",
          text.holes);
      return text.text(
          "lu of a panel", kLuPanel,
          cat(backend.dialect().pure_function_head("factor_of", {{text.type, "x"}, {text.type, "pivot"}}, text.type),
              indented(factor), "}\n"));
    });
  }
  void others(std::int64_t first, std::int64_t size) const {
    MatrixPlan plan(backend, r, 'r');
    const std::int64_t rows = r.rows() - first, columns = r.columns() - size, parts = ceil_div(columns, kRowsThreads);
    const int of_a = plan.add(from_element(lu, first, 0), {rows, r.columns()}, true);
    const int of_l = plan.add(from_element(lu, first, first), {size, size}, false);
    const int of_pivots = plan.add(pivots_from(first), {size}, false);
    const auto slot = [&](std::int64_t value) { return plan.plan.add_param(static_cast<std::uint64_t>(value)); };
    const int slots[] = {slot(size), slot(first), slot(columns), slot(parts)};
    plan.launch(static_cast<std::uint64_t>(r.count() * parts), kRowsThreads, [&] {
      BlockText text(plan, dtype, kRowsThreads);
      text.add("a", of_a, true), text.add("l", of_l, false), text.add("pivot", of_pivots, false);
      text.param("size", slots[0]), text.param("first", slots[1]), text.param("columns", slots[2]);
      text.param("parts", slots[3]), text.add_triangle(Diagonal::ones);
      text.share_numbers("places", kMatrixBlock), text.share_numbers("origins", 2 * kMatrixBlock);
      text.holes["number"] = cat("$a(origins[", kFirst, "], j)");
      text.holes["solved"] = cat("$set_a(", kFirst, ", j, ", kSecond, ")");
      return text.text("lu, rows beside a panel", kLuRows);
    });
  }
};

}  // namespace

bool by_blocks(GpuBackend& backend, const detail::LuRequest& r) {
  if (r.count() == 1 && r.least() < kFewestLuColumns && !detail::recording_natively()) return false;
  if (!go_by_blocks(backend, r, r.input.dtype)) return false;
  run_blocks(backend, r, [&] {
    const RequestStatus status(backend, r);
    move(backend, r, r.input, r.lu, r.rows(), r.columns(), {.finite = status.view(), .kept = true});
    BlockedLu(backend, r, status.view()).run();
    status.finish(PrimitiveId::lu);
  });
  return true;
}

bool by_blocks(GpuBackend& backend, const detail::LuSolveRequest& r) {
  if (!go_by_blocks(backend, r, r.b.dtype)) return false;
  run_blocks(backend, r, [&] {
    const std::int64_t n = r.rows();
    const Matrices places(backend, r, n, 1, DType::i32);
    find_places(backend, r, r.pivots, places.view, n, r.adjoint);
    if (r.permutes) return move(backend, r, r.b, r.x, n, r.right, {.places = &places.view});
    const MatrixBlocks blocks(backend, r, r.lu.dtype);
    if (!r.adjoint) {
      move(backend, r, r.b, r.x, n, r.right, {.places = &places.view});
      blocks.solve(r.lu, r.x, n, r.right, false, true), blocks.solve(r.lu, r.x, n, r.right, true, false);
      return;
    }
    const Matrices y(backend, r, n, r.right, r.b.dtype);
    move(backend, r, r.b, y.view, n, r.right);
    blocks.solve(transposed(r.lu), y.view, n, r.right, false, false);
    blocks.solve(transposed(r.lu), y.view, n, r.right, true, true);
    move(backend, r, y.view, r.x, n, r.right, {.places = &places.view});
  });
  return true;
}

}  // namespace tern::detail_gpu
