// From a request to the arguments of gemm.wgsl: the product as its kernel sees it, the tile, how operands are fetched.
#pragma once
#include "gpu/products/epilogue.hpp"
#include "gpu/products/gemm.hpp"
#include "gpu/products/gemm_tiles.hpp"

namespace tern::detail_gpu {

/// A factor and how its elements are fetched.
struct GemmFactor {
  int access = -1;
  bool along_k = true;  // neighbours in memory lie along k; else along m or n
  bool wide = false;    // 16 bytes of them at once
};

struct GemmPlan;

/// A factor a that is no matrix in memory, such as the windows of an image: what of the kernel's text knows where its
/// elements lie.
class GatheredFactor {
 public:
  struct FactorText {
    std::string title;     // what the kernel is
    std::string base;      // of base_a
    std::string begin;     // lines before the steps along k
    std::string place;     // of element (o, kk) of the tile, as TileFetch::place
    std::string inside;    // whether there is one
    std::string advance;   // lines at the end of a step
    std::string depth;     // how far k goes
  };
  virtual ~GatheredFactor() = default;
  /// Its access, with its parameters and what the text depends on.
  virtual int add(Plan& plan) = 0;
  /// What it reads, and what that is laid over.
  virtual const View& view() const = 0;
  virtual Shape sizes() const = 0;
  /// Chooses the tile anew, where that must be another, and how a is fetched.
  virtual void choose(GemmPlan& gemm) const = 0;
  virtual FactorText text(const GemmPlan& gemm, const std::vector<std::string>& batch) const = 0;
};

/// Parameters of the kernel.
struct GemmSlots {
  int m = -1, n = -1, k = -1, tiles_m = -1, tiles_n = -1, segments = -1;
};

/// All that decides the kernel's text, and its launch.
struct GemmPlan {
  /// `kind`: the first letter of the kernel's key.
  GemmPlan(GpuBackend& backend, const detail::GemmRequest& request, Layouts layouts, char kind = 'g',
           GatheredFactor* gathered = nullptr)
      : backend(backend),
        request(request),
        gathered(gathered),
        plan(backend.limits(), request.op, kind, layouts),
        epilogue(request) {}
  detail::ComputeType type() const { return detail::compute_type_of(request.a.dtype); }
  GpuBackend& backend;
  const detail::GemmRequest& request;
  GatheredFactor* gathered;  // in place of a, or none
  Plan plan;
  Epilogue epilogue;
  std::int64_t m = 0, n = 0, k = 0;
  MergedAxes kept, contracted;  // batch axes: of the results, and those added up
  GemmTile tile;
  GemmFactor a, b;
  bool whole = false, whole_columns = false;  // no tile is cut by an edge; no vector of four columns
  GemmSlots slots;
};

/// Axes, parameters and bindings.
void lay_out(GemmPlan& gemm);
void choose_tile(GemmPlan& gemm);
/// How each operand is loaded or stored.
void choose_access(GemmPlan& gemm);
/// The launch's numbers and key.
void arrange(GemmPlan& gemm);
/// Of kernels made beforehand: factors are fetched in vectors, and floats.
bool in_vectors(const GemmPlan& gemm);

}  // namespace tern::detail_gpu
