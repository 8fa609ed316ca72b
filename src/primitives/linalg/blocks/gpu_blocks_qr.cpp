// QR by blocks of reflections.
//
//   For each panel of 32 columns: its reflections v (blocks_qr.wgsl); z = v·t, where 1 - v·t·vᵀ is all of them at once;
//   and what lies to its right, c -= v·(zᵀ·c). Then q, from the last panel to the first: q -= z·(vᵀ·q).
//
// t⁻¹ is the part of vᵀ·v above its diagonal, with half of the diagonal: so q is as orthogonal as products are exact,
// whatever the reflections are (Puglisi 1992; Joffrain et al. 2006).
#include "primitives/linalg/blocks/gpu_blocks.hpp"

namespace tern::detail_gpu {

namespace {

constexpr const char* kQrPanel =
#include "primitives/linalg/blocks/blocks_qr.wgsl.inc"
    ;

/// Matrices by rows, each of which begins where vectors do.
View by_rows(const Matrices& m) { return transposed(m.view); }

struct BlockedQr : MatrixBlocks {
  const std::int64_t m, n, least;
  const Matrices work_, v_, z_, panel_, gram_, between_;
  const View work, v, z;
  BlockedQr(GpuBackend& backend, const detail::QrRequest& r)
      : MatrixBlocks(backend, r, r.input.dtype),
        m(r.rows()),
        n(r.columns()),
        least(r.least()),
        work_(backend, r, round_up(n, 4), m, dtype),
        v_(backend, r, round_up(least, kMatrixBlock), m, dtype),
        z_(backend, r, round_up(least, kMatrixBlock), m, dtype),
        panel_(backend, r, kMatrixBlock, 2 * m, dtype),
        gram_(backend, r, kMatrixBlock, kMatrixBlock, dtype),
        between_(backend, r, round_up(std::max(n, r.inner()), 4), kMatrixBlock, dtype),
        work(by_rows(work_)),
        v(by_rows(v_)),
        z(by_rows(z_)) {}

  void factor() const {
    for (std::int64_t first = 0; first < least; first += kMatrixBlock) {
      const std::int64_t size = std::min<std::int64_t>(kMatrixBlock, least - first), rows = m - first;
      const View v_here = from_element(v, first, first), z_here = from_element(z, first, first), gram = by_rows(gram_);
      panel(first, size);
      multiply(gram, transposed(v_here), v_here, {size, size, rows});
      solve_block(gram, transposed(v_here), transposed(z_here), size, rows, Diagonal::halves);
      const std::int64_t behind = first + size, rest = n - behind;
      if (rest > 0) reflect(from_element(work, first, behind), v_here, z_here, {rows, rest, size});
    }
  }
  /// q, which is the identity.
  void basis(const View& q, std::int64_t inner) const {
    for (std::int64_t first = (least - 1) / kMatrixBlock * kMatrixBlock; first >= 0; first -= kMatrixBlock) {
      const std::int64_t size = std::min<std::int64_t>(kMatrixBlock, least - first);
      reflect(from_element(q, first, first), from_element(z, first, first), from_element(v, first, first),
              {m - first, inner - first, size});
    }
  }

 private:
  /// c -= x·(yᵀ·c), c of m × n, x and y of k columns.
  void reflect(const View& c, const View& x, const View& y, const ProductSizes& s) const {
    const View between = by_rows(between_);
    multiply(between, transposed(y), c, {s.k, s.n, s.m});
    subtract(c, x, between, s);
  }
  void panel(std::int64_t first, std::int64_t size) const {
    MatrixPlan plan(backend, r, 'q');
    const std::int64_t rows = m - first;
    // As many for all panels, so that they are one kernel; 8 rows to a slice keep it busy.
    const int threads = static_cast<int>(
        std::clamp<std::int64_t>(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(m))) * 4, 64,
                                 std::min<std::int64_t>(backend.limits().threads, 1024)));
    const int of_a = plan.add(from_element(work, first, first), {rows, size}, true);
    const int of_v = plan.add(from_element(v, first, first), {rows, size}, true);
    const int of_p = plan.add(by_rows(panel_), {2 * rows, kMatrixBlock}, true);
    const auto slot = [&](std::int64_t value) { return plan.plan.add_param(static_cast<std::uint64_t>(value)); };
    const int slots[] = {slot(rows), slot(size)};
    plan.launch(static_cast<std::uint64_t>(r.count()), static_cast<std::uint32_t>(threads), [&] {
      BlockText text(plan, dtype, threads);
      text.add("a", of_a, true), text.add("v", of_v, true), text.add("p", of_p, true);
      text.param("rows", slots[0]), text.param("size", slots[1]), text.holes["slices"] = cat(threads / kMatrixBlock);
      text.share("partial", threads);
      for (const char* list : {"dots", "heads", "ws"}) text.share(list, kMatrixBlock);
      return text.text("qr of a panel", kQrPanel);
    });
  }
};

}  // namespace

bool by_blocks(GpuBackend& backend, const detail::QrRequest& r) {
  if (!go_by_blocks(backend, r, r.input.dtype)) return false;
  run_blocks(backend, r, [&] {
    const Powers powers(backend, r, r.input, r.rows(), r.columns(), r.input.dtype, false, true);  // a·d is q·(r·d)
    const BlockedQr qr(backend, r);
    const std::int64_t m = r.rows(), n = r.columns(), inner = r.inner();
    move(backend, r, r.input, qr.work, m, n, {.powers = &powers.view});
    qr.factor();
    move(backend, r, qr.work, r.r, inner, n, {.part = PartOfMatrix::upper, .powers = &powers.view, .divided = true});
    move(backend, r, r.q, r.q, m, inner, {.part = PartOfMatrix::diagonal, .ones = true});
    qr.basis(r.q, inner);
  });
  return true;
}

}  // namespace tern::detail_gpu
