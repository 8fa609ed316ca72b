// Every kernel text that CUDA devices are given compiles without a warning: each elementary function, formula
// and golden kind, in some dtypes (TERN_TEST_FULL=1: in each), for the newest architecture, and kinds in one dtype for
// the oldest. NVRTC needs no GPU; script/setup fetches it.
#include <gtest/gtest.h>

#include <set>

#include "contract/registry.hpp"
#include "cuda/api.hpp"
#include "cuda/compiler.hpp"
#include "cuda/compiles.hpp"
#include "cuda/products/mma.hpp"
#include "cuda/products/wgmma.hpp"
#include "depthwise_units.hpp"
#include "every_device.hpp"
#include "golden/samples.hpp"

namespace tern::test {
namespace {

constexpr DType kDTypes[] = {DType::boolean, DType::u8,  DType::i8,   DType::i16, DType::i32, DType::u32,
                             DType::i64,     DType::f16, DType::bf16, DType::f32, DType::f64};
constexpr int kOldest = 80, kNewest = 90;

/// What a kernel from a file (src/cuda/products) says of its instance.
std::string instance_of(const std::string& text) {
  const std::size_t begin = text.find("enum : bool {"), middle = text.find("};", begin);
  const std::size_t end = text.find("};", middle + 2);
  return begin == text.npos ? std::string() : text.substr(begin, end - begin);
}

/// Compiles what a call prints, once for each text.
class Compiled {
 public:
  explicit Compiled(std::vector<int> architectures) : architectures_(std::move(architectures)) {}
  /// Whether the call was not refused for its dtypes.
  bool operator()(const std::string& what, const std::function<void(Printing&)>& call) {
    Printing device(DeviceKind::cuda, [&](const detail_gpu::Launch&, const std::string& text) {
      if (!seen_.insert(text).second) return;
      for (const int architecture : architectures_) expect_compiles(text, architecture, what);
    });
    try {
      call(device);
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::dtype || error.kind() == ErrorKind::unsupported) << what << error.what();
      return false;
    }
    return true;
  }
  std::size_t count() const { return seen_.size(); }
  /// How many instances of kernels from files there were.
  std::size_t instances() const {
    std::set<std::string> all;
    for (const std::string& text : seen_) all.insert(instance_of(text));
    return all.size() - all.count("");
  }

 private:
  std::vector<int> architectures_;
  std::set<std::string> seen_;
};

class CudaTexts : public testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    ASSERT_NE(detail_cuda::nvrtc(reason), nullptr) << reason << " (script/setup fetches it)";
  }
};

/// Of what is compiled in `usual`, the dtypes that it is compiled in: that and, in turn, a quarter of the others; by an
/// older compiler, whose text is the same, that one alone.
bool is_compiled_in(DType usual, DType d, int turn) {
  if (d == usual || full_test()) return true;
  return !std::getenv("TERN_TEST_NVRTC") && (static_cast<int>(d) + turn) % 4 == 0;
}

TEST_F(CudaTexts, EveryElementaryFunctionAndFormula) {
  Compiled compiled({kNewest});
  int turn = 0;
  for (const contract::Subject& e : contract::registry()) {
    ++turn;
    for (const DType dtype : kDTypes) {
      if (!is_compiled_in(f32, dtype, turn)) continue;
      compiled(std::string(e.name) + " " + std::string(to_string(dtype)), [&](Printing& device) {
        std::vector<Tensor> x;
        for (int i = 0; i < e.arity(); ++i) x.push_back(device.make({37}, e.condition(i) ? DType::boolean : dtype));
        contract::call(e, x);
      });
    }
  }
  EXPECT_GT(compiled.count(), contract::registry().size());
}

/// In parts, which script/test runs in several processes: five texts of one part take 31 to 58 s each beside another
/// build.
class CudaTextsInParts : public CudaTexts, public testing::WithParamInterface<int> {};
constexpr int kParts = 5;  // not 4, as in is_compiled_in
INSTANTIATE_TEST_SUITE_P(Parts, CudaTextsInParts, testing::Range(0, kParts));

/// With every file's kernel among them: none/kernel_files.cpp.
TEST_P(CudaTextsInParts, EveryKind) {
  Compiled compiled({kNewest}), oldest({kOldest});
  std::size_t kinds = 0;
  int turn = 0;
  for (const Kind& kind : kinds_with_samples()) {
    if (++turn % kParts != GetParam()) continue;
    ++kinds;
    for (const DType d : kDTypes) {
      if (!is_compiled_in(kind.dtype, d, turn)) continue;
      const std::string what = std::string(kind.name) + " of " + std::string(to_string(d));
      compiled(what, [&](Printing& p) { kind.call(p, d); });
      if (d == kind.dtype && kind.architecture <= kOldest) oldest(what, [&](Printing& p) { kind.call(p, d); });
    }
  }
  EXPECT_GT(compiled.count(), kinds);
}

TEST_F(CudaTexts, EveryProductOnMatrixUnits) {
  Compiled compiled({90});
  const auto with_units = [&](const std::string& what, int processors, const std::function<void(Printing&)>& call) {
    compiled(what, [&](Printing& p) {
      bool taken = false;
      p.multiply = [&](detail_gpu::GpuBackend& device, const detail::GemmRequest& request) {
        return taken = detail_cuda::run_wgmma(device, request, {90, processors}, true);
      };
      call(p);
      EXPECT_TRUE(taken) << what;
    });
  };
  constexpr int kFew = 2, kMany = 132;  // processors: those of a pair of workgroups, and more than there are tiles
  const DType d = DType::bf16;
  // Tiles of 128 and 192 columns in ping-pong, of 128 and 256 in halves, each in every transposition.
  constexpr std::int64_t kSizes[][3] = {{200, 304, 64}, {2048, 384, 2304}, {200, 104, 64}, {200, 304, 1032}};
  for (const auto& [m, n, k] : kSizes)
    for (const bool a : {false, true})
      for (const bool b : {false, true})
        with_units("product", kFew, [&, m = m, n = n, k = k](Printing& p) {
          matmul(a ? p.make({k, m}, d).transpose(0, 1) : p.make({m, k}, d),
                 b ? p.make({n, k}, d).transpose(0, 1) : p.make({k, n}, d));
        });
  EXPECT_EQ(compiled.instances(), 16u);
  with_units("f16", kFew, [&](Printing& p) { matmul(p.make({200, 64}, f16), p.make({64, 304}, f16)); });
  with_units("narrow", kFew, [&](Printing& p) { matmul(p.make({200, 72}, d), p.make({72, 40}, d)); });
  with_units("in batches", kFew, [&](Printing& p) { matmul(p.make({3, 200, 72}, d), p.make({3, 72, 40}, d)); });
  with_units("of long rows", kFew, [&](Printing& p) { matmul(p.make({2048, 8192}, d), p.make({8192, 304}, d)); });
  with_units("in f32", kFew, [&](Printing& p) {  // leaves from registers
    matmul_epilogue(p.make({200, 64}, d), p.make({64, 304}, d), [](auto sum) { return cast(sum, f32); });
  });
  for (const int processors : {kFew, kMany}) {
    with_units("with two results", processors, [&](Printing& p) {
      Tensor pre;
      matmul_bias_activation(p.make({200, 64}, d), p.make({64, 304}, d), p.make({304}, d), op::silu,
                             {.save_pre_activation = &pre});
    });
    with_units("with three results", processors, [&](Printing& p) {
      matmul_epilogue(
          p.make({200, 64}, d), p.make({64, 304}, d),
          [](auto sum, auto x) {
            return std::tuple{sum * x, sum + x, sum - x};
          },
          p.make({304}, d));
    });
    with_units("with an operand by elements", processors, [&](Printing& p) {
      matmul_bias_residual(p.make({200, 64}, d), p.make({64, 304}, d), p.make({304}, d),
                           p.make({304, 200}, d).transpose(0, 1));
    });
  }
  EXPECT_GE(compiled.count(), 26u);
}

TEST_F(CudaTexts, EveryConvolutionOnMatrixUnits) {
  Compiled compiled({90});
  // One axis, two and three; one to three tiles of 64, 128 and 256 columns; kernels read backwards.
  const detail::ConvSizes sizes[] = {
      {1, 2, 1, 64, 64, {50}, {48}, {3}, {1}, {1}, {0}},
      {2, 2, 1, 72, 96, {9, 10}, {5, 10}, {3, 3}, {2, 1}, {1, 2}, {1, 2}},
      {2, 2, 1, 64, 520, {9, 10}, {9, 10}, {3, 3}, {1, 1}, {-1, -1}, {1, 1}},
      {2, 60, 1, 64, 64, {9, 10}, {9, 10}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
      {2, 60, 1, 96, 96, {9, 10}, {9, 10}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},  // tiles of 96, the second step earlier
      {2, 2, 1, 176, 88, {9, 10}, {9, 10}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
      {3, 2, 1, 64, 200, {4, 5, 6}, {4, 5, 6}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
  };
  for (const detail::ConvSizes& s : sizes)
    for (const DType d : {DType::bf16, f16})
      compiled(to_string(s.of_x()), [&](Printing& p) { convolution_by({90, 4}, s, p, d); });
  EXPECT_GE(compiled.instances(), 10u);
}

TEST_F(CudaTexts, EveryConvolutionOfChannelsByThemselvesOnTensorCores) {
  Compiled compiled({kOldest, kNewest});
  const detail::ConvSizes sizes[] = {
      {2, 64, 64, 1, 1, {56, 56}, {56, 56}, {7, 7}, {1, 1}, {1, 1}, {3, 3}},
      {2, 64, 64, 1, 1, {14, 14}, {14, 14}, {7, 7}, {1, 1}, {1, 1}, {3, 3}},  // one buffer, four samples
      {2, 3, 40, 1, 1, {30, 61}, {30, 61}, {7, 9}, {1, 1}, {-1, -1}, {-3, -4}},
      {2, 8, 64, 1, 1, {57, 57}, {29, 57}, {7, 7}, {2, 1}, {2, 1}, {3, 3}},
  };
  for (const detail::ConvSizes& s : sizes)
    for (const DType d : {DType::bf16, f16})
      compiled(to_string(s.of_x()) + to_string(s.of_w()), [&](Printing& p) {
        take_tensor_cores(p, s);
        convolution_by({90, 132, 227 << 10}, s, p, d);
      });
  EXPECT_GE(compiled.count(), 8u);
}

TEST_F(CudaTexts, EveryProductOnTensorCores) {
  Compiled compiled({kOldest, kNewest});
  constexpr int kFew = 1, kMany = 1 << 20;  // processors: for those a product has large tiles, for these small ones
  for (const DType d : {DType::f16, DType::bf16})
    for (const int processors : {kFew, kMany}) {
      const auto with_cores = [&](const std::string& what, const std::function<void(Printing&)>& call) {
        compiled(std::string(to_string(d)) + what, [&](Printing& p) {
          bool taken = false;
          p.multiply = [&](detail_gpu::GpuBackend& device, const detail::GemmRequest& request) {
            return taken = detail_cuda::run_mma(device, request, {kOldest, processors, 163 << 10});
          };
          call(p);
          EXPECT_TRUE(taken) << what;
        });
      };
      for (const bool a : {false, processors == kFew})
        for (const bool b : {false, processors == kFew})
          with_cores(" product", [&](Printing& p) {
            matmul(a ? p.make({64, 200}, d).transpose(0, 1) : p.make({200, 64}, d),
                   b ? p.make({304, 64}, d).transpose(0, 1) : p.make({64, 304}, d));
          });
      with_cores(" at edges", [&](Printing& p) { matmul(p.make({37, 75}, d), p.make({75, 21}, d)); });
      with_cores(" over a batch", [&](Printing& p) {
        matmul_bias_activation(p.make({3, 200, 64}, d), p.make({3, 64, 304}, d), p.make({304}, d), op::gelu);
      });
      with_cores(" added up over a batch", [&](Printing& p) {
        const Var w(p.make({64, 304}, d));
        backward(matmul(Var(p.make({200, 3, 64}, d).transpose(0, 1)), w), p.make({3, 200, 304}, d));
      });
    }
  EXPECT_EQ(compiled.instances(), 10u);  // tiles of either size, along and across k, by elements, in segments
  EXPECT_GE(compiled.count(), 20u);
}

TEST_F(CudaTexts, TheCompilersLogIsPartOfTheError) {
  std::string log;
  try {
    detail_cuda::compiled_anew("extern \"C\" __global__ void k() { nonsense; }", kNewest, "silu: compiling", log);
    FAIL() << "compiled";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::backend);
    for (const char* part : {"silu", "nonsense", "undefined"})
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tern::test
