// Prints every kind of kernel once, in WGSL or (with the argument cuda) CUDA C++, for comparison with
// golden/kernels.wgsl and golden/kernels.cu: a change of a kernel or a printer shows as a change of text. So that a
// person reads the difference, nothing stands there twice: texts, functions of theirs, and the lines around all bodies
// that were printed before are not printed again; of steps that repeat but for their numbers the first and the last
// are, with a hash of those between; and of kernels that CUDA shares with WGSL a hash of CUDA's text is. No device is
// needed.
// After a wanted change:
//   build/tests/tern_golden_kernels > tests/golden/kernels.wgsl
//   build/tests/tern_golden_kernels cuda > tests/golden/kernels.cu
#include <cstdio>
#include <set>
#include <string>
#include <string_view>

#include "golden/kinds.hpp"

namespace tern::test {
namespace {

/// Lines that are alike but for numbers are the same.
std::string without_numbers(const std::string& line) {
  std::string result;
  for (const char c : line)
    if (c < '0' || c > '9') result += c;
    else if (result.empty() || result.back() != '#') result += '#';
  return result;
}

std::uint32_t hash_of(std::string_view text, std::uint32_t hash = 2166136261u) {  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

/// Prints lines, unrolled steps shortened.
class Shortened {
 public:
  void add(const std::string& line) {
    if (!line.empty()) lines_.push_back(line), forms_.push_back(without_numbers(line));
  }
  void print() {
    for (std::size_t at = 0; at < lines_.size();) {
      const auto [size, times] = repeated(at);
      if (times < 3) {
        std::printf("%s\n", lines_[at++].c_str());
        continue;
      }
      std::uint32_t hash = hash_of("");
      for (std::size_t i = at + size; i < at + size * (times - 1); ++i) hash = hash_of(lines_[i], hash);
      print_lines(at, size);
      std::printf("// … %zu more of these %zu lines (%08x), and\n", times - 2, size, hash);
      print_lines(at + size * (times - 1), size);
      at += size * times;
    }
    lines_.clear(), forms_.clear();
  }

 private:
  struct Repeated {
    std::size_t size = 1, times = 1;
  };
  /// The step that begins at a line and repeats so that the most lines are saved.
  Repeated repeated(std::size_t at) const {
    Repeated best;
    std::size_t saved = 3;  // no less
    for (std::size_t size = 1; size <= 24; ++size) {
      std::size_t end = at + size;
      while (end < lines_.size() && forms_[end] == forms_[end - size]) ++end;
      const std::size_t times = (end - at) / size;
      if (times >= 3 && size * (times - 2) > saved) best = {size, times}, saved = size * (times - 2);
    }
    return best;
  }
  void print_lines(std::size_t at, std::size_t count) const {
    for (std::size_t i = at; i < at + count; ++i) std::printf("%s\n", lines_[i].c_str());
  }
  std::vector<std::string> lines_, forms_;
};

class Golden {
 public:
  explicit Golden(bool in_cuda)
      : in_cuda_(in_cuda),
        device_(in_cuda ? DeviceKind::cuda : DeviceKind::webgpu,
                [this](const auto& launch, const std::string& text) { show(launch, text); }) {}
  /// `each_title`: of the texts with one title, their first line, the first alone. `hashed`: no more than a hash.
  void show(const char* name, bool each_title, bool hashed, const std::function<void(Printing&)>& call) {
    name_ = name, each_title_ = each_title, hashed_ = hashed, call(device_);
  }
  bool in_cuda() const { return in_cuda_; }

 private:
  void show(const detail_gpu::Launch& launch, std::string text) {
    const std::size_t begin = text.find('\n') + 1, end = text.find("struct Params");
    if (in_cuda_ && prelude_ == end - begin) text.erase(begin, prelude_);
    prelude_ = end - begin;
    if (!texts_.insert(each_title_ ? text.substr(0, begin) : text).second) return;
    std::printf("// ---- %s: %s, %llu workgroups of %u, %zu words", name_.c_str(), launch.op,
                static_cast<unsigned long long>(launch.groups), launch.threads, launch.params.size());
    if (hashed_) {
      std::printf(" (%08x)\n", hash_of(text));
      return;
    }
    std::printf("\n");
    print_new(text);
    std::printf("\n");
  }
  /// Whether a line is of those around every body, all the same.
  static bool is_frame(const std::string& line) {
    return line.starts_with("@group(0) @binding(0)") || line.starts_with("@compute") || line.starts_with("fn main(") ||
           line.starts_with("  let group = ") || line.starts_with("  const u32 thread = ");
  }
  /// Without what was printed before of the frame, and of functions: from a line that begins one to that of its brace.
  void print_new(const std::string& text) {
    std::string function;
    for (std::size_t at = 0, end; at < text.size(); at = end + 1) {
      end = text.find('\n', at);
      const std::string line = text.substr(at, end - at);
      const bool begins = line.starts_with("struct Params") || line.starts_with("fn tern_") ||
                          line.starts_with("TERN_DEVICE ") || line.starts_with("TERN_CALLED ") ||
                          line.starts_with("template <");
      if (function.empty() && !begins) {
        if (!is_frame(line) || functions_.insert(line).second) shortened_.add(line);
        continue;
      }
      const bool ends = function.empty() ? line.ends_with('}') || line.ends_with("};") : line == "}" || line == "};";
      function += line + '\n';
      if (!ends) continue;
      if (functions_.insert(function).second) add_lines(function);
      function.clear();
    }
    add_lines(function);
    shortened_.print();
  }
  void add_lines(const std::string& text) {
    for (std::size_t at = 0, end; at < text.size(); at = end + 1) {
      end = text.find('\n', at);
      shortened_.add(text.substr(at, end - at));
    }
  }

  bool in_cuda_;
  Printing device_;
  Shortened shortened_;
  std::string name_;
  bool each_title_ = false, hashed_ = false;
  std::size_t prelude_ = 0;  // CUDA's, the same for every kernel, is printed once
  std::set<std::string> texts_{"// elementwise\n", "// fft\n"}, functions_;
};

void show_all(Golden& golden) {
  const auto show = [&](const std::vector<Kind>& kinds, bool each_title) {
    for (const Kind& kind : kinds)
      if (kind.shown != Kind::nowhere && (kind.shown != Kind::in_cuda || golden.in_cuda()))
        golden.show(kind.name, each_title, kind.shown == Kind::in_wgsl && golden.in_cuda(),
                    [&](Printing& p) { kind.call(p, kind.dtype); });
  };
  for (const auto& kinds : {elementwise_kinds(), reducing_kinds(), product_kinds(), transform_kinds()})
    show(kinds, false);
  show(convolution_kinds(), true);
  show(attention_kinds(), true);
  show(line_kinds(), true);
  show(matrix_kinds(), true);
  show(unit_kinds(), true);
}

}  // namespace
}  // namespace tern::test

int main(int count, char** arguments) {
  tern::test::Golden golden(count > 1 && std::string_view(arguments[1]) == "cuda");
  tern::test::show_all(golden);
}
