// Symmetric eigenvalues and singular values by Jacobi's rotations of blocks of columns.
//
//   Singular values: the columns of a are rotated until they are orthogonal: a·v = u·s. A step takes disjoint pairs of
//   blocks of 16 columns: of each the products of its columns with each other and a round of rotations of every pair
//   of those (blocks_jacobi_pairs.wgsl), and what they are to all rows (blocks_jacobi_apply.wgsl), among them those of
//   v, which lie below a's. b blocks are b - 1 steps to a sweep. u is q of the columns' QR, in the order of their
//   lengths, as columns that are nothing beside the largest need not be orthogonal.
//
//   Eigenvalues: of a symmetric matrix v is the columns of (a + c)·v, of length 1, where c is so large that all
//   eigenvalues are positive (blocks_jacobi_start.wgsl); those of a are Rayleigh's quotients, which c does not round.
//
// The device is asked after a sweep whether there is more to do. In a recording, which cannot ask, all sweeps that
// there may be are queued, and those of matrices that are done are empty.
#include <cmath>
#include <cstdio>

#include "backend/recording/native.hpp"
#include "primitives/linalg/blocks/gpu_blocks.hpp"
#include "primitives/linalg/sweeps.hpp"

namespace tern::detail_gpu {

namespace {

constexpr const char* kJacobiStart =
#include "primitives/linalg/blocks/blocks_jacobi_start.wgsl.inc"
    ;
constexpr const char* kJacobiPairs =
#include "primitives/linalg/blocks/blocks_jacobi_pairs.wgsl.inc"
    ;
constexpr const char* kJacobiApply =
#include "primitives/linalg/blocks/blocks_jacobi_apply.wgsl.inc"
    ;
constexpr const char* kJacobiOrder =
#include "primitives/linalg/blocks/blocks_jacobi_order.wgsl.inc"
    ;
constexpr const char* kJacobiVectors =
#include "primitives/linalg/blocks/blocks_jacobi_vectors.wgsl.inc"
    ;
constexpr const char* kHow = "rotations of blocks of 16 columns";
constexpr int kJacobiThreads = 256, kApplyThreads = 64;
constexpr int kColumnsOfBlock = kMatrixBlock / 2;
/// Before the device is asked, which takes as long as a short sweep. In f32 matrices of 33 to 300 rows, random, graded,
/// singular, Hilbert's and Kahan's, took up to 14.
constexpr int kFewestBlockSweeps = 2;

std::string digits_of(double value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.17e", value);
  return digits;
}
int slot_of(MatrixPlan& plan, std::int64_t value) { return plan.plan.add_param(static_cast<std::uint64_t>(value)); }

/// The columns that are rotated, of `height` rows; `below` them further rows, which are rotated along.
class Rotations {
 public:
  Rotations(GpuBackend& backend, const detail::MatrixRequest& r, DType dtype, std::int64_t height, std::int64_t below,
            std::int64_t columns)
      : backend_(backend),
        r_(r),
        dtype_(dtype),
        height_(height),
        rows_(height + below),
        columns_(columns),
        pairs_(ceil_div(columns, kMatrixBlock)),
        columns_of_(backend, r, rows_, columns, dtype),
        products_(backend, r, kMatrixBlock, kMatrixBlock * pairs_, dtype),
        state_(backend, r, pairs_, 4, DType::i32),
        lengths_(backend, r, columns, 2, dtype),
        order_(backend, r, columns, 1, DType::i32) {}
  const View& columns() const { return columns_of_.view; }
  /// What lies below them.
  View below() const { return from_element(columns_of_.view, height_, 0); }
  const View& lengths() const { return lengths_.view; }
  /// Of the columns by their lengths: which is the first, and so on.
  const View& order() const { return order_.view; }

  /// Until nothing is rotated, as the device tells once in a sweep; or, in a recording, as often as ever.
  void run() {
    const bool asks = !detail::recording_natively();
    for (bool going = true; going && sweeps_ < kMostSweeps; ++sweeps_) {
      for (std::int64_t step = 0; step < 2 * pairs_ - 1; ++step) find(sweeps_, step), apply(step);
      going = !asks || sweeps_ < kFewestBlockSweeps || goes_on();
    }
  }
  /// Finds lengths, order and values: eigenvalues, ascending, by what a matrix makes of the columns; or singular
  /// values, where `made` is v, or not there. The status says whether the sweeps were enough.
  void sort(const View& values, bool symmetric, const View* made, const View* status) const {
    MatrixPlan plan(backend_, r_, 'j');
    const bool vectors = made && !symmetric;
    plan.plan.note('s'), plan.plan.note(static_cast<char>(symmetric + 2 * vectors));
    const int of_a = plan.add(columns(), {height_, columns_}, false);
    const int of_state = plan.add(state_.view, {pairs_, 4}, false);
    const int of_length = plan.add(lengths_.view, {columns_, 2}, true);
    const int of_order = plan.add(order_.view, {columns_, 1}, true), of_value = plan.add(values, {columns_, 1}, true);
    const int of_made = made ? plan.add(*made, {vectors ? columns_ : height_, columns_}, vectors) : -1;
    const int of_status = status ? plan.add(*status, {}, true) : -1;
    const int slots[] = {slot_of(plan, height_), slot_of(plan, columns_), slot_of(plan, pairs_),
                         slot_of(plan, 2 - sweeps_ % 2), slot_of(plan, 0)};
    plan.launch(static_cast<std::uint64_t>(r_.count()), kJacobiThreads, [&] {
      BlockText text(plan, dtype_, kJacobiThreads);
      text.add("a", of_a, false), text.add("state", of_state, false), text.add("length", of_length, true);
      text.add("order", of_order, true), text.add("value", of_value, true);
      if (made) text.add("made", of_made, vectors);
      text.holes["symmetric"] = symmetric ? "0" : "", text.holes["with_vectors"] = vectors ? "0" : "";
      text.holes["value"] = symmetric ? "$quotient(dot, sum * scale)" : vectors ? "$quotient(length, own)" : "length";
      text.holes["before"] = symmetric ? "<" : ">";
      text.param("height", slots[0]), text.param("columns", slots[1]), text.param("pairs", slots[2]);
      text.param("now", slots[3]), text.add_status(of_status, slots[4], "thread == 0u");
      text.share_numbers("failed", kJacobiThreads);
      return text.text("jacobi, order", kJacobiOrder);
    });
  }
  /// to = the columns of `from` in their order, of so many rows; `made`: of x, and of $other(row, column), where there
  /// is another matrix, of so many columns; it was column j, and becomes k.
  void move_columns(const View& from, std::int64_t rows, const View& to, const char* made, const View* other,
                    std::int64_t of_others) const {
    MatrixPlan plan(backend_, r_, 'j');
    plan.plan.note('v');
    for (const char* c = made; *c; ++c) plan.plan.note(*c);
    const int of_a = plan.add(from, {rows, columns_}, false), of_order = plan.add(order_.view, {columns_, 1}, false);
    const int of_to = plan.add(to, {rows, columns_}, true);
    const int of_other = other ? plan.add(*other, {columns_, of_others}, false) : -1;
    const int slots[] = {slot_of(plan, rows), slot_of(plan, columns_)};
    const std::int64_t elements = r_.count() * rows * columns_;
    plan.launch(static_cast<std::uint64_t>(ceil_div(elements, kJacobiThreads)), kJacobiThreads, [&] {
      BlockText text(plan, dtype_, kJacobiThreads);
      text.add("a", of_a, false), text.add("order", of_order, false), text.add("to", of_to, true);
      if (other) text.add("other", of_other, false);
      text.holes["made"] = made, text.holes["matrices"] = plan.count();
      text.param("rows", slots[0]), text.param("columns", slots[1]);
      return text.text("jacobi, columns in order", kJacobiVectors);
    });
  }

 private:
  /// Whether a matrix was rotated in this sweep.
  bool goes_on() const {
    std::vector<std::int32_t> all(static_cast<std::size_t>(r_.count() * pairs_ * 4));
    backend_.download(*state_.view.storage, 0, all.data(), all.size() * sizeof all[0]);
    for (std::int64_t k = 0; k < r_.count() * pairs_; ++k)
      if (all[static_cast<std::size_t>((k / pairs_ * 4 + 1 + sweeps_ % 2) * pairs_ + k % pairs_)] != 0) return true;
    return false;
  }
  void find(int sweep, std::int64_t step) const {
    MatrixPlan plan(backend_, r_, 'j');
    plan.plan.note('p');
    const int of_a = plan.add(columns(), {height_, columns_}, false);
    const int of_state = plan.add(state_.view, {pairs_, 4}, true);
    const int of_q = plan.add(products_.view, {kMatrixBlock, kMatrixBlock * pairs_}, true);
    const int slots[] = {slot_of(plan, pairs_),        slot_of(plan, step),     slot_of(plan, 2 * pairs_ - 1),
                         slot_of(plan, height_),       slot_of(plan, columns_), slot_of(plan, sweep == 0),
                         slot_of(plan, 1 + sweep % 2), slot_of(plan, 2 - sweep % 2)};
    plan.launch(static_cast<std::uint64_t>(r_.count() * pairs_), kJacobiThreads, [&] {
      BlockText text(plan, dtype_, kJacobiThreads);
      text.add("a", of_a, false), text.add("state", of_state, true), text.add("q", of_q, true);
      const char* const names[] = {"pairs", "step", "rounds", "height", "columns", "first_sweep", "now", "before"};
      for (int i = 0; i < 8; ++i) text.param(names[i], slots[i]);
      text.holes["epsilon"] = digits_of(0x1p-23);
      // The largest element is between 1 and 2, and columns shorter than a 32nd of its rounding are as good as 0.
      text.holes["floor"] = digits_of(0x1p-56), text.holes["steepest"] = "1e18";
      // Angles may be off by a few in the last place: sine and 1 - cosine are of one angle, to a rounding of each.
      text.holes["root"] = backend_.dialect().native() ? text.holes["sqrt"] : cat("sqrt(", kFirst, ")");
      text.holes["load_going"] = backend_.dialect().load_for_all("going", "busy");
      for (const char* matrix : {"gram", "tile"}) text.share(matrix, kMatrixBlock * (kMatrixBlock + 1));
      for (const char* list : {"sines", "rests"}) text.share(list, kColumnsOfBlock);
      text.share("scales", kMatrixBlock), text.share_numbers("busy", kMatrixBlock);
      return text.text("jacobi, rotations of pairs of blocks", kJacobiPairs);
    });
  }
  void apply(std::int64_t step) const {
    MatrixPlan plan(backend_, r_, 'j');
    plan.plan.note('a');
    const std::int64_t parts = ceil_div(rows_, kApplyThreads);
    const int of_a = plan.add(columns(), {rows_, columns_}, true), of_state = plan.add(state_.view, {pairs_, 4}, false);
    const int of_q = plan.add(products_.view, {kMatrixBlock, kMatrixBlock * pairs_}, false);
    const int slots[] = {slot_of(plan, pairs_),         slot_of(plan, parts), slot_of(plan, step),
                         slot_of(plan, 2 * pairs_ - 1), slot_of(plan, rows_), slot_of(plan, columns_)};
    plan.launch(static_cast<std::uint64_t>(r_.count() * pairs_ * parts), kApplyThreads, [&] {
      BlockText text(plan, dtype_, kApplyThreads);
      text.add("a", of_a, true), text.add("state", of_state, false), text.add("q", of_q, false);
      const char* const names[] = {"pairs", "parts", "step", "rounds", "rows", "columns"};
      for (int i = 0; i < 6; ++i) text.param(names[i], slots[i]);
      text.share_vectors("q", kMatrixBlock * kMatrixBlock / 4);
      return text.text("jacobi, blocks rotated", kJacobiApply);
    });
  }

  GpuBackend& backend_;
  const detail::MatrixRequest& r_;
  const DType dtype_;
  const std::int64_t height_, rows_, columns_, pairs_;
  const Matrices columns_of_, products_, state_, lengths_, order_;
  int sweeps_ = 0;
};

/// Whether so many rows and columns of what is rotated can be seen whole. Not of f64: 30 sweeps of it were too few for
/// one of Kahan's matrices.
bool rotates(const GpuBackend& backend, const detail::MatrixRequest& r, std::int64_t rows, std::int64_t columns,
             DType dtype) {
  if (dtype != DType::f32 || r.most() <= kMatrixBlock) return false;
  const auto size = static_cast<std::int64_t>(dtype_size(dtype));
  return r.count() * rows * round_up(columns, kMatrixBlock) <= most_bytes(backend) / size;
}
/// Whether it pays, where the CPU would take copies (f32, H200, WebGPU, 27 November 2026; ms, here and there). eigh:
/// one of 512 29 and 21, of 1024 85 and 86; 16 of 64 2.5 and 3.2, 1000 of 64 18 and 195, 64 of 128 6.8 and 23, 16 of
/// 256 16 and 13. svdvals: 16 of 64 2.2 and 0.5, 1000 of 64 8.7 and 17, 64 of 128 7.5 and 5.0.
bool rotations_pay(const detail::MatrixRequest& r, bool vectors) {
  if (detail::recording_natively()) return true;
  return vectors ? r.count() * 8 >= r.least() || r.least() >= 768 : r.count() >= r.least();
}

/// What asks the device on its way is not remembered: planning its launches takes less than they do.
template <class R, class Plan> void run_jacobi(GpuBackend& backend, const R& r, const Plan& plan) {
  if (detail::recording_natively()) return run_blocks(backend, r, plan);
  backend.require_process();
  const detail::Unnoted alone;
  plan();
}

/// The lower triangle of `a` becomes all of it; `to` is that with a multiple of 1 added.
void start(GpuBackend& backend, const detail::MatrixRequest& r, DType dtype, const View& a, const View& to) {
  MatrixPlan plan(backend, r, 'j');
  plan.plan.note('b');
  const std::int64_t n = r.rows();
  const int of_a = plan.add(a, {n, n}, true), of_to = plan.add(to, {n, n}, true), rows = slot_of(plan, n);
  plan.launch(static_cast<std::uint64_t>(r.count()), kJacobiThreads, [&] {
    BlockText text(plan, dtype, kJacobiThreads);
    text.add("a", of_a, true), text.add("to", of_to, true), text.param("rows", rows);
    text.share("partial", kJacobiThreads);
    return text.text("jacobi, of symmetric matrices", kJacobiStart);
  });
}

/// The long side's vectors are q of the columns, in their order, whose signs go to those of the short side.
void store_vectors(GpuBackend& backend, const detail::SvdRequest& r, const Rotations& rotations, const View& left,
                   const View& right) {
  const std::int64_t m = r.most(), n = r.least(), inner = r.full ? m : n;
  const DType dtype = r.input.dtype;
  const Matrices sorted(backend, r, m, n, dtype), triangle(backend, r, inner, n, dtype);
  rotations.move_columns(rotations.columns(), m, sorted.view, "x", nullptr, 0);
  detail::QrRequest qr;
  qr.op = r.op, qr.space = r.results({m, n}), qr.full = r.full;
  qr.input = sorted.view, qr.q = left, qr.r = triangle.view;
  by_blocks(backend, qr);
  rotations.move_columns(rotations.below(), n, right, "select(x, -x, $other(k, k) < $type(0.0))", &triangle.view, n);
}

}  // namespace

bool by_blocks(GpuBackend& backend, const detail::EighRequest& r) {
  const std::int64_t n = r.rows();
  const DType dtype = r.input.dtype;
  if (!rotates(backend, r, n, n, dtype) || !rotations_pay(r, r.vectors.storage != nullptr)) return false;
  if (!go_by_blocks(backend, r, dtype, kHow)) return false;
  run_jacobi(backend, r, [&] {
    const RequestStatus status(backend, r);
    const Powers powers(backend, r, r.input, n, n, DType::f64, true, false);  // the largest element becomes 1 to 2
    Rotations rotations(backend, r, dtype, n, 0, n);
    const Matrices a(backend, r, n, n, dtype), made(backend, r, n, n, dtype), values(backend, r, n, 1, dtype);
    move(backend, r, r.input, a.view, n, n,
         {.part = PartOfMatrix::lower, .finite = status.view(), .powers = &powers.view});
    start(backend, r, dtype, a.view, rotations.columns()), rotations.run();
    MatrixBlocks(backend, r, dtype).multiply(made.view, a.view, rotations.columns(), {n, n, n});
    rotations.sort(values.view, true, &made.view, status.view());
    move(backend, r, values.view, r.values, n, 1, {.powers = &powers.view, .divided = true});
    if (r.vectors.storage)
      rotations.move_columns(rotations.columns(), n, r.vectors, "$quotient(x, $other(j, 0u))", &rotations.lengths(), 1);
    status.finish(detail::PrimitiveId::eigh);
  });
  return true;
}

bool by_rotations(GpuBackend& backend, const detail::SvdRequest& r) {
  const std::int64_t m = r.most(), n = r.least();
  const DType dtype = r.input.dtype;
  const std::int64_t below = r.vectors() ? n : 0;
  if (!rotates(backend, r, m + below, n, dtype)) return false;
  if (!go_by_blocks(backend, r, dtype, kHow)) return false;
  const bool wide = r.columns() > r.rows();  // the columns are those of its transpose
  run_jacobi(backend, r, [&] {
    const RequestStatus status(backend, r);
    const Powers powers(backend, r, r.input, r.rows(), r.columns(), DType::f64, false, false);
    Rotations rotations(backend, r, dtype, m, below, n);
    move(backend, r, wide ? transposed(r.input) : r.input, rotations.columns(), m, n,
         {.finite = status.view(), .powers = &powers.view});
    if (r.vectors())
      move(backend, r, rotations.below(), rotations.below(), n, n, {.part = PartOfMatrix::diagonal, .ones = true});
    const Matrices values(backend, r, n, 1, dtype);
    const View v = rotations.below();
    rotations.run(), rotations.sort(values.view, false, r.vectors() ? &v : nullptr, status.view());
    move(backend, r, values.view, r.s, n, 1, {.powers = &powers.view, .divided = true});
    if (r.vectors()) store_vectors(backend, r, rotations, wide ? transposed(r.vh) : r.u, wide ? r.u : transposed(r.vh));
    status.finish(detail::PrimitiveId::svd);
  });
  return true;
}

bool by_blocks(GpuBackend& backend, const detail::SvdRequest& r) {
  return rotations_pay(r, r.vectors()) && by_rotations(backend, r);
}

}  // namespace tern::detail_gpu
