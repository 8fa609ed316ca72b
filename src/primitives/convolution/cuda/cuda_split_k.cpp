#include "gpu/text/io.hpp"
#include "gpu/text/text.hpp"
#include "primitives/convolution/cuda/cuda_windows.hpp"

namespace tern::detail_gpu::conv {
namespace {

using detail_cuda::wgmma::kBandPairs;
using detail_cuda::wgmma::Tiling;

constexpr const char* kSplitK =
#include "primitives/convolution/cuda/cuda_split_k.cu.inc"
    ;
constexpr int kResultsOfThread = 4;  // results of a thread

class SplitSums {
 public:
  SplitSums(GpuBackend& backend, const detail::ConvWeightRequest& r, const View& sums, const FetchedWindows& windows,
            const Tiling& t)
      : backend_(backend), s_(r.sizes), tile_n_(t.tile_n), plan_(backend.limits(), r.op, 'W') {
    const std::int64_t steps = ceil_div(windows.places(), kTileK), shares = t.shares(windows.places());
    for (const auto& [name, value] : {std::pair<const char*, std::int64_t>{"results", s_.o},
                                      {"channels", s_.c},
                                      {"taps", s_.taps()},
                                      {"pairs", t.pairs},
                                      {"tiles", t.tiles},
                                      {"works", t.works},
                                      {"steps", steps},
                                      {"last_n", t.last_n},
                                      {"shares", shares}})
      slots_.emplace_back(name, plan_.add_param(static_cast<std::uint64_t>(value)));
    // Taps, then channels and results.
    View of_taps{r.w.storage, r.w.dtype, r.w.offset, {}};
    Shape kernel;
    for (std::size_t i = 0; i < static_cast<std::size_t>(s_.axes); ++i)
      kernel.push_back(s_.kernel[i]), of_taps.strides.push_back(r.w.strides[3 + i]);
    const View* const views[] = {&of_taps};
    taps_ = merge_axes(kernel, (1u << s_.axes) - 1, views, 0);
    plan_.add_axes(taps_);
    sums_ = plan_.add_access(sums, {sums.strides[0], sums.strides[1], sums.strides[2]}, false);
    std::vector<std::int64_t> strides = taps_.strides[0];
    strides.push_back(r.w.strides[2]), strides.push_back(r.w.strides[1]);
    w_ = plan_.add_access(r.w, strides, true);
    const Shape of_w = s_.of_w();
    const std::int64_t of_sums[] = {t.works + shares - 1, 2 * kTileM, t.tile_n};
    plan_.bind({bytes_touched(sums, of_sums), bytes_touched(r.w, {of_w.begin(), of_w.size()})});
    for (const int access : {sums_, w_})
      if (rows_lie_in_vectors(plan_.access(access))) plan_.make_wide(access);
  }
  void run() {
    plan_.note(tile_n_);
    plan_.launch.threads = 256;
    plan_.launch.groups = static_cast<std::uint64_t>(ceil_div(s_.taps() * s_.c * (s_.o / kResultsOfThread), 256));
    plan_.finish_key();
    backend_.queue(plan_.launch, [&] { return text(); });
  }

 private:
  std::string text() const {
    Io io(plan_, backend_.dialect());
    Module module;
    module.title = "sums of the splits of a product";
    module.bindings = plan_.launch.bindings, module.params = plan_.launch.params.size();
    module.file = kSplitK;
    Holes& holes = module.holes;
    for (const auto& [name, slot] : slots_) holes[name] = backend_.dialect().param(slot);
    holes["tile_n"] = cat(tile_n_, "u"), holes["bands"] = cat(kBandPairs, "u"), holes["rows"] = cat(2 * kTileM, "u");
    std::vector<std::string> loaded, sums, at;
    std::string add = io.load(sums_, {{"split", "row", "col"}, 2, kResultsOfThread}, loaded);
    for (int i = 0; i < kResultsOfThread; ++i) {
      sums.push_back(cat("sums[", i, "]"));
      add += cat(sums.back(), " += ", loaded[static_cast<std::size_t>(i)], ";\n");
    }
    holes["add"] = add;
    std::string store = io.coordinates(taps_, "tap", "k", at);
    at.push_back("channel"), at.push_back("result");
    const int inner = static_cast<int>(at.size()) - 1;
    holes["store"] = store + io.store(w_, {at, inner, kResultsOfThread}, sums, "");
    return backend_.dialect().module(module);
  }

  GpuBackend& backend_;
  const ConvSizes& s_;
  int tile_n_;
  Plan plan_;
  std::vector<std::pair<const char*, int>> slots_;
  MergedAxes taps_;
  int sums_ = -1, w_ = -1;
};

}  // namespace

void add_splits(GpuBackend& backend, const detail::ConvWeightRequest& request, const View& sums,
                   const FetchedWindows& windows, const Tiling& tiling) {
  SplitSums(backend, request, sums, windows, tiling).run();
}

}  // namespace tern::detail_gpu::conv
