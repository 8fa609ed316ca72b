// The texts that golden/kernels.wgsl and golden/kernels.cu show, in their order: of kinds that are shown nowhere none,
// and none twice.
#pragma once
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "golden/samples.hpp"

namespace tern::test {

/// What is shown of a text: all of it, or a hash, where CUDA has the same file as WebGPU.
enum class Extent { text, hash };

class ShownTexts {
 public:
  using Show = std::function<void(const Kind&, Extent, const detail_gpu::Launch&, const std::string& text)>;
  ShownTexts(bool in_cuda, Show show)
      : in_cuda_(in_cuda),
        show_(std::move(show)),
        device_(in_cuda ? DeviceKind::cuda : DeviceKind::webgpu,
                [this](const auto& launch, const std::string& text) { take(launch, text); }) {}
  /// Those of kinds.hpp.
  void each() {
    for (const auto& kinds : {elementwise_kinds(), reducing_kinds(), product_kinds(), transform_kinds()})
      each_of(kinds, false);
    for (const auto& kinds :
         {convolution_kinds(), attention_kinds(), line_kinds(), matrix_kinds(), large_matrix_kinds(), unit_kinds()})
      each_of(kinds, true);
  }

  /// Those that an operation's samples bring: in a file of their own, without what CUDA's kernels all begin with.
  void each_of(const operations::Entry& entry) {
    keeps_prelude_ = false;
    each_of(kinds_of(entry), true);
  }

 private:
  /// `each_title`: of the texts with one title, their first line, the first alone.
  void each_of(const std::vector<Kind>& kinds, bool each_title) {
    each_title_ = each_title;
    for (const Kind& kind : kinds)
      if (kind.shown != Kind::nowhere && (kind.shown != Kind::in_cuda || in_cuda_))
        kind_ = &kind, kind.call(device_, kind.dtype);
  }
  void take(const detail_gpu::Launch& launch, std::string text) {
    const std::size_t begin = text.find('\n') + 1, end = text.find("struct Params");
    if (in_cuda_ && (!keeps_prelude_ || prelude_ == end - begin)) text.erase(begin, end - begin);
    prelude_ = end - begin;
    if (!texts_.insert(each_title_ ? text.substr(0, begin) : text).second) return;
    show_(*kind_, kind_->shown == Kind::in_wgsl && in_cuda_ ? Extent::hash : Extent::text, launch, text);
  }

  bool in_cuda_, each_title_ = false, keeps_prelude_ = true;
  Show show_;
  Printing device_;
  const Kind* kind_ = nullptr;
  std::size_t prelude_ = 0;  // CUDA's, the same for every kernel, is shown once
  std::set<std::string> texts_{"// elementwise\n", "// fft\n"};
};

}  // namespace tern::test
