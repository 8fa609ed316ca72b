// Fourier transforms by cuFFT.
#pragma once
#include <functional>
#include <unordered_map>

#include "cuda/api.hpp"
#include "gpu/transform_library.hpp"

namespace tern::detail_cuda {

/// cuFFT on one GPU. What it needs of the GPU is given, so that a pretended one serves tests.
class FftLibrary final : public detail_gpu::TransformLibrary {
 public:
  struct Place {
    Stream stream;
    void* space;
    bool captured;  // what is issued becomes a graph, which will use the plan again
  };
  /// With the GPU's lock and context: asks how many bytes are needed, and calls with a place to issue work and as much
  /// memory until that is done.
  using OnStream =
      std::function<void(const std::function<std::size_t()>& bytes, const std::function<void(const Place&)>&)>;
  FftLibrary(const TransformApi& api, OnStream on_stream) : api_(api), on_stream_(std::move(on_stream)) {}
  const char* name() const override { return "cuFFT"; }
  bool takes(const detail_gpu::LineTransforms& lines) override;
  void transform(const detail_gpu::LineTransforms& lines, void* in, void* out) override;
  /// Plans that are kept: a plan has tables of its own on the GPU, of up to its line's size and more, and takes cuFFT
  /// up to milliseconds to make.
  static constexpr std::size_t kMostPlans = 128;

 private:
  struct CachedPlan {
    TransformPlanHandle handle = 0;
    bool made = false, captured = false;
    std::size_t bytes = 0;
    std::uint64_t used = 0;
  };
  struct Hash {
    std::size_t operator()(const detail_gpu::LineTransforms& lines) const;
  };
  /// These with the GPU's lock.
  CachedPlan& plan(const detail_gpu::LineTransforms& lines);
  bool make(const detail_gpu::LineTransforms& lines, CachedPlan& plan) const;
  void forget_oldest();

  const TransformApi& api_;
  OnStream on_stream_;
  std::unordered_map<detail_gpu::LineTransforms, CachedPlan, Hash> plans_;
  std::uint64_t calls_ = 0;
};

}  // namespace tern::detail_cuda
