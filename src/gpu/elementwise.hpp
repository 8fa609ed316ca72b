// Kernels without reductions: every invocation computes a few neighbouring elements.
#pragma once
#include <memory>
#include <vector>

#include "gpu/gpu_backend.hpp"
#include "gpu/plan/plan.hpp"
#include "gpu/plan/horizontal.hpp"

namespace tern::detail_gpu {

/// What to compute: some steps of a program over an iteration space. Steps listed in `known` are read from memory.
struct Elementwise {
  struct Stored {
    int step = -1;
    View view;
  };
  const char* op = "";
  const detail::Program* program = nullptr;
  Shape space, origin;  // origin: coordinates of the first element, for positions
  Shape whole;          // sizes before the job was split
  std::uint32_t reduced = 0;
  std::int64_t extent = 1;  // elements along the reduced axes of the whole request
  std::vector<Operand> inputs;
  std::vector<Gather> gathers;  // of a split job: what its inputs' gathers point at
  std::vector<Stored> known, outputs;
  Horizontal* horizontal = nullptr;  // where its launch goes, if it is one with nothing to do before or after
};

/// Runs it in as many launches as the limits ask for.
void run_elementwise(GpuBackend& backend, const Elementwise& job);

/// Copies a view's elements over `space` to another view of the same dtype.
void copy_view(GpuBackend& backend, const char* op, const View& from, const View& to, const Shape& space);
/// Copies a view into new memory, contiguous along the axes it is not broadcast over; returns the view of the copy.
View copied(GpuBackend& backend, const char* op, const View& view, const Shape& space,
            std::vector<std::shared_ptr<Storage>>& keep);

}  // namespace tern::detail_gpu
