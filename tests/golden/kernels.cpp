// Prints every kind of kernel once, in WGSL or (with the argument cuda) CUDA C++, for comparison with
// golden/kernels.wgsl and golden/kernels.cu: a change of a kernel or a printer shows as a change of text. Texts, and
// functions of theirs, that stood there before are not printed again. No device is needed.
// After a wanted change:
//   build/tests/tern_golden_kernels > tests/golden/kernels.wgsl
//   build/tests/tern_golden_kernels cuda > tests/golden/kernels.cu
#include <cstdio>
#include <set>
#include <string>
#include <string_view>

#include "cuda/products/mma.hpp"
#include "cuda/products/wgmma.hpp"
#include "golden/kinds.hpp"

namespace tern::test {
namespace {

class Golden {
 public:
  explicit Golden(bool in_cuda)
      : in_cuda_(in_cuda), device_(in_cuda ? DeviceKind::cuda : DeviceKind::webgpu,
                                   [this](const auto& launch, const std::string& text) { show(launch, text); }) {}
  /// `each_title`: of the texts with one title, their first line, the first alone.
  void show(const char* name, bool each_title, const std::function<void(Printing&)>& call) {
    name_ = name, each_title_ = each_title, call(device_);
  }
  /// A product that NVIDIA's units take.
  template <class Run> void show_product(const char* name, const Run& run, const detail_cuda::MatrixUnits& units) {
    device_.multiply = [&](auto& backend, const detail::GemmRequest& request) { return run(backend, request, units); };
    show(name, false, [](Printing& p) {
      matmul_bias_activation(p.make({200, 64}, bf16), p.make({64, 304}, bf16), p.make({304}, bf16), op::relu);
    });
  }
  bool in_cuda() const { return in_cuda_; }

 private:
  void show(const detail_gpu::Launch& launch, std::string text) {
    const std::size_t begin = text.find('\n') + 1, end = text.find("struct Params");
    if (in_cuda_ && prelude_ == end - begin) text.erase(begin, prelude_);
    prelude_ = end - begin;
    if (!texts_.insert(each_title_ ? text.substr(0, begin) : text).second) return;
    std::printf("// ---- %s: %s, %llu workgroups of %u\n", name_.c_str(), launch.op,
                static_cast<unsigned long long>(launch.groups), launch.threads);
    print_new(text);
    std::printf("\n");
  }
  /// Without the functions of the text that were printed before: from a line that begins one to that of its brace.
  void print_new(const std::string& text) {
    std::string function;
    for (std::size_t at = 0, end; at < text.size(); at = end + 1) {
      end = text.find('\n', at);
      const std::string line = text.substr(at, end - at);
      const bool begins = line.starts_with("fn tern_") || line.starts_with("TERN_DEVICE ") ||
                          line.starts_with("TERN_CALLED ") || line.starts_with("template <");
      if (function.empty() && !begins) {
        std::printf("%s\n", line.c_str());
        continue;
      }
      const bool ends = function.empty() ? line.ends_with('}') || line.ends_with("};") : line == "}" || line == "};";
      function += line + '\n';
      if (!ends) continue;
      if (functions_.insert(function).second) std::printf("%s", function.c_str());
      function.clear();
    }
    std::printf("%s", function.c_str());
  }

  bool in_cuda_;
  Printing device_;
  std::string name_;
  bool each_title_ = false;
  std::size_t prelude_ = 0;  // CUDA's, the same for every kernel, is printed once
  std::set<std::string> texts_{"// elementwise\n"}, functions_;
};

void show_all(Golden& golden) {
  const auto show = [&](const std::vector<Kind>& kinds, bool each_title) {
    for (const Kind& kind : kinds)
      if (kind.shown == Kind::in_both || (kind.shown == Kind::in_cuda && golden.in_cuda()))
        golden.show(kind.name, each_title, [&](Printing& p) { kind.call(p, kind.dtype); });
  };
  for (const auto& kinds : {elementwise_kinds(), reducing_kinds(), product_kinds()}) show(kinds, false);
  show(line_kinds(), true);
  if (!golden.in_cuda()) return;
  const auto wgmma = [](auto& backend, const auto& request, const auto& units) {
    return detail_cuda::run_wgmma(backend, request, units, true);
  };
  golden.show_product("product on Hopper's matrix units", wgmma, {90, 2});
  golden.show_product("product on tensor cores", detail_cuda::run_mma, {80, 1, 163 << 10});
}

}  // namespace
}  // namespace tern::test

int main(int count, char** arguments) {
  tern::test::Golden golden(count > 1 && std::string_view(arguments[1]) == "cuda");
  tern::test::show_all(golden);
}
