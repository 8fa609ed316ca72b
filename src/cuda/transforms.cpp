#include "cuda/transforms.hpp"

#include <algorithm>
#include <string>

#include "tern/error.hpp"

namespace tern::detail_cuda {

using detail::FftKind;
using detail_gpu::LineTransforms;

namespace {

int transform_type(const LineTransforms& lines) {
  switch (lines.kind) {
    case FftKind::from_real: return lines.wide ? kFromReal64 : kFromReal32;
    case FftKind::to_real: return lines.wide ? kToReal64 : kToReal32;
    default: return lines.wide ? kComplexLines64 : kComplexLines32;
  }
}

void check_transform(CuResult result, const char* what) { require_success("cuFFT", result, what); }

}  // namespace

std::size_t FftLibrary::Hash::operator()(const LineTransforms& lines) const {
  std::size_t hash = static_cast<std::size_t>(transform_type(lines)) * 2 + lines.backward;
  for (const std::int64_t value : {lines.n, lines.count, lines.in_step, lines.in_distance, lines.out_step,
                                   lines.out_distance, lines.rows, lines.in_row, lines.out_row})
    hash = hash * 0x9e3779b97f4a7c15ull + static_cast<std::size_t>(value);
  return hash ^ hash >> 32;
}

/// Where it cannot, cuFFT's memory for a plan, too, is free again.
bool FftLibrary::make(const LineTransforms& lines, CachedPlan& plan) const {
  if (api_.cufftCreate(&plan.handle) != 0) return false;
  const bool both = lines.rows > 0;
  // Sizes of what the axes lie in; those of the outer one do not matter, but must be there.
  long long n[] = {both ? lines.rows : lines.n, lines.n}, in_sizes[] = {n[0], lines.in_row},
            out_sizes[] = {n[0], lines.out_row};
  if (api_.cufftSetAutoAllocation(plan.handle, 0) == 0 &&
      api_.cufftMakePlanMany64(plan.handle, both ? 2 : 1, n, in_sizes, lines.in_step, lines.in_distance, out_sizes,
                               lines.out_step, lines.out_distance, transform_type(lines), lines.count,
                               &plan.bytes) == 0)
    return true;
  api_.cufftDestroy(plan.handle);
  return false;
}

/// What a graph uses stays: cuFFT's tables are in its kernels' arguments.
void FftLibrary::forget_oldest() {
  auto oldest = plans_.end();
  for (auto it = plans_.begin(); it != plans_.end(); ++it)
    if (!it->second.captured && (oldest == plans_.end() || it->second.used < oldest->second.used)) oldest = it;
  if (oldest == plans_.end()) return;
  if (oldest->second.made) api_.cufftDestroy(oldest->second.handle);  // waits for what uses it
  plans_.erase(oldest);
}

FftLibrary::CachedPlan& FftLibrary::plan(const LineTransforms& lines) {
  auto found = plans_.find(lines);
  if (found == plans_.end()) {
    if (plans_.size() >= kMostPlans) forget_oldest();
    found = plans_.try_emplace(lines).first;
    found->second.made = make(lines, found->second);
  }
  found->second.used = ++calls_;
  return found->second;
}

bool FftLibrary::takes(const LineTransforms& lines) {
  bool made = false;
  on_stream_([&] { return made = plan(lines).made, std::size_t{0}; }, [](const Place&) {});
  return made;
}

void FftLibrary::transform(const LineTransforms& lines, void* in, void* out) {
  CachedPlan* used = nullptr;
  on_stream_(
      [&] {
        used = &plan(lines);
        if (!used->made) throw Error(ErrorKind::backend, "cuFFT: lines that it took before are refused");
        return used->bytes;
      },
      [&](const Place& place) {
        used->captured = used->captured || place.captured;
        check_transform(api_.cufftSetStream(used->handle, place.stream), "a stream");
        check_transform(api_.cufftSetWorkArea(used->handle, place.space), "memory");
        check_transform(api_.cufftXtExec(used->handle, in, out,
                                         lines.backward || lines.kind == FftKind::to_real ? kInverse : kForward),
                        "a transform");
      });
}

}  // namespace tern::detail_cuda
