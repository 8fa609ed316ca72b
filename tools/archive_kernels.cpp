// Makes the archive (src/cuda/kernel_archive.hpp): runs everything that is registered on a driver that does nothing, as
// if there were no NVRTC, and has NVRTC compile the kernels that were asked for.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cuda/api.hpp"
#include "cuda/compiler.hpp"
#include "cuda/kernel_archive.hpp"
#include "archive_calls.hpp"
#include "pretended_driver.hpp"
#include "split_ptx.hpp"
#include "tern/tern.hpp"

namespace {

using namespace tern;
using detail_cuda::KernelArchive;

/// Notes the texts. Each kernel is asked for in vectors first, where its operands lie so, and then as it is where they
/// do not.
class Collector final : public detail_cuda::KernelSource {
 public:
  bool has(const std::string&, detail_gpu::Layouts layouts) override {
    return vectors || layouts != detail_gpu::Layouts::vectors;
  }
  std::string kernel(const std::string& text) override {
    texts.try_emplace(text);
    return "noted";
  }
  bool vectors = true;
  std::map<std::string, std::string> texts;  // and the PTX
};

// A unit of NVRTC: what kernels begin with is read once for so many of them. (One alone takes twice the time.)
constexpr std::size_t kUnit = 24;
// Text begins with a line of its own, and then what all kernels share up to here.
constexpr std::string_view kOwn = "struct Params {";
// That of CUDA 12.0, the oldest driver tern runs on; compute_80 needs no later one. Drivers refuse what is newer.
constexpr std::string_view kPtxVersion = ".version 8.0";

std::string entry_of(std::size_t i) { return "tern_kernel_" + std::to_string(i); }

std::string unit_of(const std::vector<std::string_view>& texts) {
  const std::size_t begin = texts[0].find('\n') + 1;
  std::string unit(texts[0].substr(begin, texts[0].find(kOwn) - begin));
  for (std::size_t i = 0; i < texts.size(); ++i)
    unit += "#define tern_kernel " + entry_of(i) + "\nnamespace n" + std::to_string(i) + " {\n" +
            std::string(texts[i].substr(texts[i].find(kOwn))) + "}\n#undef tern_kernel\n";
  return unit;
}

/// The module of one entry, with the name and the version it is loaded by.
std::string module_of(std::string ptx, const std::string& entry) {
  for (std::size_t at = 0; (at = ptx.find(entry, at)) != ptx.npos; at += 11)
    ptx.replace(at, entry.size(), "tern_kernel");
  const std::size_t version = ptx.find(".version");
  return ptx.replace(version, ptx.find('\n', version) - version, kPtxVersion);
}

void compile_unit(const std::vector<std::map<std::string, std::string>::iterator>& kernels) {
  std::vector<std::string_view> texts;
  for (const auto& kernel : kernels) texts.push_back(kernel->first);
  std::string log;
  std::map<std::string, std::string> modules = tools::split_ptx(detail_cuda::compiled_to_ptx(unit_of(texts), log));
  for (std::size_t i = 0; i < kernels.size(); ++i)
    kernels[i]->second = module_of(std::move(modules.at(entry_of(i))), entry_of(i));
}

// In place of PTX, in an archive that is a sample.
constexpr std::string_view kNotCompiled = "// not compiled: this archive is a sample";

/// Compiles the texts that have no PTX yet: all, or one of every `sample`.
void compile(std::map<std::string, std::string>& texts, std::size_t sample) {
  std::vector<std::vector<std::map<std::string, std::string>::iterator>> units;
  std::size_t number = 0;
  for (auto it = texts.begin(); it != texts.end(); ++it) {
    if (!it->second.empty()) continue;
    if (number++ % sample != 0) {
      it->second = kNotCompiled;
      continue;
    }
    if (units.empty() || units.back().size() == kUnit) units.emplace_back();
    units.back().push_back(it);
  }
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
    threads.emplace_back([&] {
      for (std::size_t u; (u = next++) < units.size() && !failed;) try {
          compile_unit(units[u]);
        } catch (const std::exception& error) {
          if (!failed.exchange(true)) std::fprintf(stderr, "archive_kernels: %s\n", error.what());
        }
    });
  for (std::thread& thread : threads) thread.join();
  if (failed) std::exit(1);
}

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Kernels that an archive made before has already.
void take_over(const std::string& path, std::map<std::string, std::string>& texts) {
  try {
    const KernelArchive before(contents(path));
    for (auto& [text, ptx] : texts)
      if (std::string known = before.ptx(text); known != kNotCompiled) ptx = std::move(known);
  } catch (const Error&) {  // none, or of another version
  }
}

constexpr const char* kUsage =
    "Usage: archive_kernels FILE [SAMPLE]\n\n"
    "Compiles the CUDA kernels of everything that is registered to PTX, with NVRTC, and writes them to FILE: the\n"
    "archive that tern runs from where there is NVIDIA's driver alone. Of a FILE that is there already, kernels whose\n"
    "text is the same are kept. SAMPLE: compile one kernel of so many, for tests; the others are there, but no driver\n"
    "takes them.\n";

}  // namespace

int main(int argc, char** argv) {
  const int sample = argc == 3 ? std::atoi(argv[2]) : 1;
  if (argc < 2 || argc > 3 || std::string_view(argv[1]).starts_with("-") || sample < 1) {
    const bool help = argc == 2 && std::string_view(argv[1]) == "--help";
    std::fputs(kUsage, help ? stdout : stderr);
    return help ? 0 : 2;
  }
  const std::string path = argv[1];
  Collector collector;
  detail_cuda::use_driver(tools::pretended_driver());
  detail_cuda::take_kernels_from(&collector);
  try {
    for (const int device : {0, 1}) {  // kernels that one GPU knows already it does not ask for again
      collector.vectors = device == 0;
      set_default_device(cuda(device));
      tools::call_for_archive(collector.vectors);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "archive_kernels: %s\n", error.what());
    return 1;
  }
  take_over(path, collector.texts);
  const auto start = std::chrono::steady_clock::now();
  compile(collector.texts, static_cast<std::size_t>(sample));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::string bytes = KernelArchive::written(collector.texts);
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) {
    std::fprintf(stderr, "archive_kernels: cannot write %s\n", path.c_str());
    return 1;
  }
  std::size_t all = 0;
  for (const auto& [text, ptx] : collector.texts) all += ptx.size();
  std::printf("%zu kernels, %.1f MB of PTX, %.1f MB compressed; compiled in %.0f s\n", collector.texts.size(),
              static_cast<double>(all) / 1e6, static_cast<double>(bytes.size()) / 1e6, seconds);
  std::fflush(stdout);
  std::quick_exit(0);  // the GPU is none: nothing to put away
}
