// Exponentials of batches of small real matrices on GPUs: small_expm.wgsl says how.
#include <cstdio>

#include "primitives/linalg/library/gpu_library.hpp"
#include "primitives/linalg/small/gpu_small.hpp"

namespace tern::detail_gpu {

namespace {

constexpr const char* kSmallExpm =
#include "primitives/linalg/small/small_expm.wgsl.inc"
    ;
constexpr const char* kExpmPieces =
#include "primitives/linalg/small/small_expm_pieces.wgsl.inc"
    ;
/// Columns of a product that are computed at a time.
constexpr int kProductColumns = 8;

std::string digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17e", value);
  return text;
}
void add_numbers(Holes& holes, bool f64) {
  namespace exponential = detail::exponential;
  for (std::size_t k = 0; k < std::size(exponential::kPade); ++k) holes[cat("b", k)] = digits(exponential::kPade[k]);
  holes["theta"] = digits(exponential::kTheta13), holes["theta_log2"] = digits(exponential::kTheta13Log2);
  holes["most_spared"] = digits(exponential::most_spared(f64));
  holes["rounding_over_c"] = digits(exponential::kRoundingOverC);
  holes["checked_power"] = cat(exponential::kCheckedPower);
  holes["tiny"] = digits(f64 ? 0x1p-1022 : 0x1p-126);
}

std::string exponential_text(Small& s, int input, int result, int status) {
  const int n = s.rows;
  const Dialect& d = s.plan.backend.dialect();
  const std::string type = compute_type_name(s.type);
  s.add("p", n, n), s.add("q", n, n), s.shared.push_back({type, "partial", kWidth});
  s.shared.push_back({"u32", "bad", kWidth}), s.shared.push_back({"u32", "busy", kWidth});
  Holes holes = holes_of_small(s, n, "group");
  for (auto& [name, piece] : pieces(kExpmPieces)) holes[name] = piece;
  add_numbers(holes, s.type == ComputeType::f64);
  holes["width"] = cat(kWidth), holes["wide"] = cat(std::min(n, kProductColumns));
  holes["columns"] = numbers(0, std::min(n, kProductColumns));
  holes["load"] = s.load(input, "p", n, n, u(n), "0u", s.check_finite());
  for (const char* list : {"a2", "a4", "a6", "x"}) holes["own_lists"] += d.own_list({type, list}, n);
  holes["abs"] = s.elementary(Elementary::abs, kFirst), holes["log2"] = s.elementary(Elementary::log2, kFirst);
  holes["ceil"] = s.elementary(Elementary::ceil, kFirst), holes["floor"] = s.elementary(Elementary::floor, kFirst);
  holes["exp2"] = s.elementary(Elementary::exp2, kFirst), holes["finite"] = s.elementary(Elementary::isfinite, kFirst);
  // NVRTC unrolls loops of constant lengths: of 32 rows that took it 7 s, rolled 1.4, and the kernel is as fast (827
  // and 802 us for 10,000 in f32, H200, 29 November 2026).
  const bool unroll = !d.native() || n <= kProductColumns;
  holes["rolled"] = unroll ? "" : "#pragma unroll 1\n", holes["by_four"] = unroll ? "" : "#pragma unroll 4\n";
  holes["load_most_rounds"] = d.load_for_all("most_rounds", "busy");
  holes["load_any_spared"] = d.load_for_all("any_spared", "busy");
  holes["store"] = s.store(result, "q", n, n, u(n), "0u"), holes["finish"] = s.finish(status);
  return s.plan.module("exponentials of small matrices", fill_holes(kSmallExpm, holes), s.shared);
}

}  // namespace

void exponential_on_gpu(GpuBackend& backend, const detail::ExponentialRequest& r) {
  if (!goes_small(backend, r, r.input.dtype)) return detail::kernel_on_host(backend, r);
  if (r.count() == 0) return;
  backend.run_prepared(r, [&] {
    MatrixPlan m(backend, r, 'X');
    const int n = static_cast<int>(r.rows());
    const int input = m.add(r.input, {n, n}, false), result = m.add(r.result, {n, n}, true);
    const int status = r.status.storage ? m.add(r.status, {}, true) : -1;
    if (r.checked) m.note_failures(detail::PrimitiveId::matrix_exponential);
    const int threads = threads_for(n);
    tell(kWidth / threads);
    m.plan.note(r.rows());
    m.launch(static_cast<std::uint64_t>(ceil_div(r.count(), kWidth / threads)), kWidth, [&] {
      Small s(m, r.input.dtype, n, threads);
      return exponential_text(s, input, result, status);
    });
  });
}

}  // namespace tern::detail_gpu
