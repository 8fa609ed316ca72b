// A GPU that is not there: CUDA texts are compiled by the C++ compiler and run on the host, each invocation of a
// workgroup as a fiber that gives way at barriers and shuffles. Slow and exact: what the special function unit gives is
// computed.
#pragma once
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/tensor_impl.hpp"
#include "cuda/dialect.hpp"
#include "gpu/gpu_backend.hpp"
#include "gpu/matrix_library.hpp"
#include "gpu/transform_library.hpp"
#include "gpu/plan/horizontal.hpp"
#include "host_fibers.hpp"
#include "host_matrices.hpp"
#include "primitives/attention/kernels.hpp"
#include "tern/tern.hpp"

namespace tern::test {

using Tensors = std::vector<Tensor>;

/// What stands before each text, in place of what NVRTC knows by itself.
inline constexpr const char* kHostPrelude = R"host(
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
struct Host { unsigned thread, group, threads, groups; void (*give_way)(); unsigned long long* words; };
static Host* host;
struct ThreadIndex { struct { operator unsigned() const { return host->thread; } } x; } threadIdx;
struct GroupIndex { struct { operator unsigned() const { return host->group; } } x; } blockIdx;
struct GroupCount { struct { operator unsigned() const { return host->groups; } } x; } gridDim;
using std::fma; using std::max; using std::min;
#define __device__
#define __forceinline__ inline
#define __noinline__
#define __global__
#define __grid_constant__
#define __launch_bounds__(...)
#define __shared__ static
#define __restrict__
static void __syncthreads() { host->give_way(); }
static bool __syncthreads_or(bool vote) {
  bool any = false;
  host->words[host->thread] = vote;
  host->give_way();
  for (unsigned thread = 0; thread < host->threads; ++thread) any |= host->words[thread] != 0;
  host->give_way();
  return any;
}
template <class T> static T from_lane(T mine, unsigned lane) {
  const unsigned thread = host->thread, other = (thread & ~31u) + (lane & 31u);
  std::memcpy(&host->words[thread], &mine, sizeof mine);
  host->give_way();
  T value;
  unsigned long long word = other < host->threads ? host->words[other] : ~0ull;
  std::memcpy(&value, &word, sizeof value);
  host->give_way();
  return value;
}
template <class T> static T __shfl_xor_sync(unsigned, T mine, unsigned distance) {
  return from_lane(mine, host->thread ^ distance);
}
template <class T> static T __shfl_sync(unsigned, T mine, unsigned lane) { return from_lane(mine, lane); }
template <class T> static T __shfl_up_sync(unsigned, T mine, unsigned distance) {
  const unsigned lane = host->thread & 31u;
  return from_lane(mine, lane >= distance ? host->thread - distance : host->thread);
}
static void __syncwarp() { host->give_way(); }
static unsigned __ballot_sync(unsigned, bool vote) {
  unsigned votes = 0;
  host->words[host->thread] = vote;
  host->give_way();
  for (unsigned lane = 0; lane < 32; ++lane) votes |= unsigned(host->words[(host->thread & ~31u) + lane] & 1) << lane;
  host->give_way();
  return votes;
}
static unsigned __any_sync(unsigned mask, bool vote) { return __ballot_sync(mask, vote) != 0; }
static bool __all_sync(unsigned mask, bool vote) { return __ballot_sync(mask, vote) == 0xffffffffu; }
static unsigned __match_any_sync(unsigned, unsigned mine) {
  unsigned same = 0;
  host->words[host->thread] = mine;
  host->give_way();
  for (unsigned lane = 0; lane < 32; ++lane)
    same |= unsigned(host->words[(host->thread & ~31u) + lane] == mine) << lane;
  host->give_way();
  return same;
}
static unsigned __byte_perm(unsigned low, unsigned high, unsigned which) {
  const unsigned long long all = low | (unsigned long long)high << 32;
  unsigned bytes = 0;
  for (unsigned i = 0; i < 4; ++i) bytes |= unsigned(all >> 8 * (which >> 4 * i & 7) & 0xff) << 8 * i;
  return bytes;
}
static int __popc(unsigned x) { return __builtin_popcount(x); }
static int __ffs(int x) { return __builtin_ffs(x); }
static unsigned atomicAdd(unsigned* p, unsigned value) { const unsigned old = *p; *p = old + value; return old; }
static unsigned atomicOr(unsigned* p, unsigned value) { const unsigned old = *p; *p = old | value; return old; }
static unsigned atomicMax(unsigned* p, unsigned value) {
  const unsigned old = *p;
  *p = std::max(old, value);
  return old;
}
static unsigned __umulhi(unsigned a, unsigned b) { return unsigned((unsigned long long)a * b >> 32); }
static int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
static long long __double2ll_rz(double x) {
  return x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : static_cast<long long>(x);
}
static float rsqrtf(float x) { return 1 / std::sqrt(x); }
static unsigned atomicCAS(unsigned* p, unsigned expected, unsigned value) {
  const unsigned old = *p;
  if (old == expected) *p = value;
  return old;
}
static float half_to_float(std::uint16_t bits) { _Float16 h; std::memcpy(&h, &bits, 2); return float(h); }
static std::uint16_t float_to_half(float x) {
  const _Float16 h = _Float16(x);
  std::uint16_t bits;
  std::memcpy(&bits, &h, 2);
  return bits;
}
static std::uint16_t float_to_bfloat(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return x != x ? 0x7fff : std::uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
)host";
/// What stands behind it: a call with arguments by address.
inline constexpr const char* kHostEntry = R"host(
template <class T> T argument(void* p) {
  if constexpr (std::is_pointer_v<T>) return static_cast<T>(p);
  else return *static_cast<T*>(p);
}
template <class... A, std::size_t... I> void call(void (*f)(A...), void** a, std::index_sequence<I...>) {
  f(argument<std::remove_const_t<A>>(a[I])...);
}
template <class... A> void call(void (*f)(A...), void** a) { call(f, a, std::make_index_sequence<sizeof...(A)>()); }
extern "C" void entry(Host* h, void** a) { host = h; call(tern_kernel, a); }
)host";
/// Instructions of the texts, and what they are on the host.
inline constexpr std::array<const char*, 2> kHostInstructions[] = {
    {R"(asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(sum));)", "inverse = 1.0f / sum;"},
    {R"(asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));)", "inverse = 1.0f / std::sqrt(x);"},
    {R"(asm("ex2.approx.f32 %0, %1;" : "=f"(power) : "f"(x * 1.4426950408889634f));)",
     "power = std::exp2(x * 1.4426950408889634f);"},
    {R"(asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(exponent));)", "root = std::exp2(exponent);"},
    {R"(asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(u16(h)));)", "x = half_to_float(u16(h));"},
    {R"(asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));)", "h = float_to_half(x);"},
    {R"(asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(x));)", "h = float_to_bfloat(x);"},
    {R"(asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));)",
     "word = float_to_half(low) | u32(float_to_half(high)) << 16;"},
    {R"(asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));)",
     "word = float_to_bfloat(low) | u32(float_to_bfloat(high)) << 16;"},
};

/// The texts compiled so far, of this process.
class HostCompiler {
 public:
  HostCompiler() {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "host.hpp") << kHostPrelude << kHostMatrices;
    compile("-x c++-header " + (folder_ / "host.hpp").string());  // read once: of a text's time it was two thirds
  }
  ~HostCompiler() {
    if (getpid() == process_) std::filesystem::remove_all(folder_);  // not a child of fork(), which ends by exit()
  }
  HostCompiler(const HostCompiler&) = delete;
  HostCompiler& operator=(const HostCompiler&) = delete;
  static HostCompiler& instance() {
    static HostCompiler one;
    return one;
  }
  /// Null where it does not compile.
  HostKernel kernel(const std::string& text) {
    const auto [known, first] = kernels_.try_emplace(text, nullptr);
    if (!first) return known->second;
    std::string source = text;
    replace(source, kHostInstructions), replace(source, kHostMatrixInstructions);
    spoil_shared(source);
    const std::string file = (folder_ / std::to_string(kernels_.size())).string();  // dlopen knows libraries by name
    std::ofstream(file + ".cpp") << source << kHostEntry;
    if (!compile("-shared -include " + (folder_ / "host.hpp").string() + " " + file + ".cpp -o " + file + ".so"))
      return nullptr;
    void* const library = dlopen((file + ".so").c_str(), RTLD_NOW);
    if (library) known->second = reinterpret_cast<HostKernel>(dlsym(library, "entry"));
    return known->second;
  }

 private:
  static void replace(std::string& source, std::span<const std::array<const char*, 2>> instructions) {
    for (const auto& [from, to] : instructions)
      for (std::size_t at = source.find(from); at != source.npos; at = source.find(from, at))
        source.replace(at, std::strlen(from), to);
  }
  /// A workgroup's memory begins with what others left there: here NaN, or -1.
  static void spoil_shared(std::string& source) {
    static const std::regex memory("\n  __shared__ \\w+ (\\w+)\\[\\d+\\];");
    std::string spoiled;
    std::size_t end = 0;
    for (std::sregex_iterator m(source.begin(), source.end(), memory), none; m != none; ++m) {
      spoiled += "    std::memset((void*)" + m->str(1) + ", 0xff, sizeof " + m->str(1) + ");\n";
      end = static_cast<std::size_t>(m->position() + m->length());
    }
    if (end != 0) source.insert(end, "\n  if (thread == 0u) {  // which runs first\n" + spoiled + "  }");
  }
  static bool compile(const std::string& arguments) {
    return std::system(
               (TERN_HOST_COMPILER " -std=c++17 -O0 -ffp-contract=off -fno-strict-aliasing -w -fPIC " + arguments)
                   .c_str()) == 0;
  }
  pid_t process_ = getpid();
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("tern_host_gpu_" + std::to_string(process_));
  std::map<std::string, HostKernel> kernels_;
};

class HostGpu final : public detail_gpu::GpuBackend {
 public:
  explicit HostGpu(bool archived) {
    limits_.native = true, limits_.archived = archived, limits_.binding_bytes = 0xffffff00ull, limits_.bindings = 60;
    limits_.threads = 1024, limits_.shared_bytes = 48 << 10;
  }
  Device device() const override { return cuda(0); }
  std::string name() const override { return "host"; }
  const detail_gpu::Limits& limits() const override { return limits_; }
  const detail_gpu::Dialect& dialect() const override { return detail_gpu::cuda_dialect(); }
  detail::Storage& index_flags() override { return *flags_; }
  void* find_library(const std::type_info& interface, std::string& reason) override {
    reason = why_not;
    return interface == typeid(detail_gpu::MatrixLibrary) ? static_cast<void*>(library) : lines;
  }
  detail_gpu::MatrixLibrary* library = nullptr;  // pretended ones
  detail_gpu::TransformLibrary* lines = nullptr;
  std::string why_not;
  /// Full of NaN; behind the 256 bytes in which it ends nothing may be touched.
  void* allocate(std::size_t bytes) override {
    char* const begin = static_cast<char*>(mmap(nullptr, pages(bytes) + kBehind, PROT_READ | PROT_WRITE,
                                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    mprotect(begin + pages(bytes), kBehind, PROT_NONE);
    return std::memset(begin + pages(bytes) - rounded(bytes), 0xff, rounded(bytes));
  }
  void deallocate(void* p, std::size_t bytes) noexcept override {
    munmap(static_cast<char*>(p) + rounded(bytes) - pages(bytes), pages(bytes) + kBehind);
  }
  void upload(detail::Storage& to, std::size_t offset, const void* from, std::size_t bytes) override {
    std::memcpy(static_cast<char*>(to.data()) + offset, from, bytes);
  }
  void download(const detail::Storage& from, std::size_t offset, void* to, std::size_t bytes) override {
    std::memcpy(to, static_cast<const char*>(from.data()) + offset, bytes);
  }
  void synchronize() override {}
  static constexpr std::size_t kBehind = 4 << 20;
  static std::size_t rounded(std::size_t bytes) { return std::max<std::size_t>((bytes + 255) / 256, 1) * 256; }
  static std::size_t pages(std::size_t bytes) { return (rounded(bytes) + 4095) / 4096 * 4096; }

  void launch(detail_gpu::Launch& launch, const std::function<std::string()>& text) override {
    ++launches;
    std::string printed = text();
    const auto [known, first] = texts_.try_emplace(launch.key, printed);
    if (printed.empty()) printed = known->second;  // of a request that was prepared
    EXPECT_EQ(printed, known->second) << launch.op << ": two texts have one key";
    last_text = printed;
    const HostKernel kernel = HostCompiler::instance().kernel(printed);
    ASSERT_NE(kernel, nullptr) << launch.op << " does not compile: " << printed;
    std::vector<std::uint32_t> params = launch.params;
    params[0] = static_cast<std::uint32_t>(launch.groups);
    std::vector<void*> arguments;
    for (const detail_gpu::Binding& b : launch.bindings)
      arguments.push_back(static_cast<char*>(b.storage->data()) + b.begin);
    arguments.push_back(params.data());
    std::array<std::byte, detail_gpu::kPartsBytes> parts;
    if (!launch.parts.empty()) parts = detail_gpu::packed_parts(launch), arguments = {parts.data()};
    EXPECT_TRUE(Fibers::run(kernel, arguments.data(), static_cast<unsigned>(launch.groups), launch.threads))
        << launch.op << ": not all invocations reach a barrier";
  }

  /// A copy of a tensor of the CPU, and of one of its own.
  Tensor from(const Tensor& t) {
    const Tensor whole = t.contiguous(), copy = detail::make_tensor(whole.shape(), whole.dtype(), *this);
    if (t.numel() != 0) std::memcpy(first_byte(copy), first_byte(whole), bytes_of(whole));
    return copy;
  }
  static Tensor to_cpu(const Tensor& t) {
    const Tensor whole = t.contiguous(), copy = zeros(whole.shape(), {.dtype = whole.dtype(), .device = cpu()});
    if (t.numel() != 0) std::memcpy(first_byte(copy), first_byte(whole), bytes_of(whole));
    return copy;
  }

  /// Whether a kernel with this title was among those that ran.
  bool ran(const std::string& title) const {
    return std::ranges::any_of(texts_, [&](const auto& t) { return t.second.starts_with("// " + title + "\n"); });
  }

  std::string last_text;
  int launches = 0;

 protected:
  /// Those of CUDA alone that run here.
  detail::Kernel find_kernel(const detail::Primitive& primitive) const override {
    switch (primitive.id) {
      case detail::PrimitiveId::attention: return detail::kernel_of<detail_gpu::attention_on_cuda>();
      case detail::PrimitiveId::attention_backward: return detail::kernel_of<detail_gpu::attention_backward_on_cuda>();
      default: return GpuBackend::find_kernel(primitive);
    }
  }

 private:
  static char* first_byte(const Tensor& t) {
    return static_cast<char*>(t.impl()->storage->data()) +
           static_cast<std::size_t>(t.impl()->offset) * dtype_size(t.dtype());
  }
  static std::size_t bytes_of(const Tensor& t) { return static_cast<std::size_t>(t.numel()) * dtype_size(t.dtype()); }
  detail_gpu::Limits limits_;
  std::map<std::string, std::string> texts_;  // by key
  std::shared_ptr<detail::Storage> flags_ = std::make_shared<detail::Storage>(*this, 256);
};

}  // namespace tern::test
