// Prints every kind of kernel once, in WGSL or (with the argument cuda) CUDA C++, for comparison with
// golden/kernels.wgsl and golden/kernels.cu: a change of a kernel or a printer shows as a change of text. So that a
// person reads the difference, nothing stands there twice: texts, functions of theirs, and the lines around all bodies
// that were printed before are not printed again; of steps that repeat but for their numbers the first and the last
// are, with a hash of those between; and of kernels that CUDA shares with WGSL a hash of CUDA's text is. No device is
// needed.
// After a wanted change:
//   build/tests/tern_golden_kernels > tests/golden/kernels.wgsl
//   build/tests/tern_golden_kernels cuda > tests/golden/kernels.cu
// Given the name of a file that shows the kernels of an operation's samples (samples.hpp), it prints that:
//   build/tests/tern_golden_kernels rotate.golden.wgsl > src/primitives/rotate/rotate.golden.wgsl
#include <cstdio>
#include <set>
#include <string>
#include <string_view>

#include "golden/shown.hpp"

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
  void show(const Kind& kind, Extent extent, const detail_gpu::Launch& launch, const std::string& text) {
    std::printf("// ---- %s: %s, %llu workgroups of %u, %zu words", kind.name, launch.op,
                static_cast<unsigned long long>(launch.groups), launch.threads, launch.params.size());
    if (extent == Extent::hash) {
      std::printf(" (%08x)\n", hash_of(text));
      return;
    }
    std::printf("\n");
    print_new(text);
    std::printf("\n");
  }

 private:
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

  Shortened shortened_;
  std::set<std::string> functions_;
};

}  // namespace
}  // namespace tern::test

int main(int count, char** arguments) {
  using namespace tern::test;
  Golden golden;
  const std::string_view asked = count > 1 ? arguments[1] : "";
  const bool in_cuda = asked == "cuda" || asked.ends_with(golden_suffix(true));
  ShownTexts texts(in_cuda, [&](const auto&... text) { golden.show(text...); });
  if (asked.empty() || asked == "cuda") return texts.each(), 0;
  for (const tern::operations::Entry& entry : tern::operations::entries())
    if (asked == std::string(entry.name) + golden_suffix(in_cuda)) return texts.each_of(entry), 0;
  std::fprintf(stderr, "no operation has a file %s\n", arguments[1]);
  return 2;
}
