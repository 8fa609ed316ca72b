// NVIDIA's driver alone, without NVRTC: kernels come from the archive that was made with the build. On the pretended
// driver, each in a process of its own, as what there is of CUDA is looked for once.
#ifdef TERN_CUDA_ARCHIVE_FILE
#include <fstream>
#include <iterator>

#include "child.hpp"
#include "contract/registry.hpp"
#include "cuda/fake.hpp"
#include "cuda/kernel_archive.hpp"

namespace tern::test {
namespace {

namespace fs = std::filesystem;
using detail_cuda::KernelArchive;

/// Without repetitions, which may be compressed in several ways.
std::string letters(std::uint64_t count) {
  std::string text;
  for (std::uint64_t i = 0; i < count; ++i) text += static_cast<char>('a' + contract::random_bits(i) % 26);
  return text;
}
const std::map<std::string, std::string> kFew = {{"text a", letters(100)}, {"text b", letters(3000)}};

void expect_io_error(const std::string& bytes, const std::string& part) {
  try {
    KernelArchive archive(bytes);
    for (const auto& [text, ptx] : kFew) archive.ptx(text);
    ADD_FAILURE() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(KernelArchives, GivesBackWhatWasWritten) {
  const std::string bytes = KernelArchive::written(kFew);
  const KernelArchive archive(bytes);
  EXPECT_EQ(archive.size(), 2u);
  for (const auto& [text, ptx] : kFew) {
    EXPECT_TRUE(archive.has(text));
    EXPECT_TRUE(archive.ptx(text) == ptx);
  }
  EXPECT_FALSE(archive.has("text c"));
  EXPECT_EQ(archive.ptx("text c"), "");
  EXPECT_EQ(KernelArchive(KernelArchive::written({})).size(), 0u);
}

TEST(KernelArchives, NoticesEveryChangedByteAndEveryMissingOne) {
  const std::string good = KernelArchive::written(kFew);
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] ^= 1;
    expect_io_error(bad, i < 8 ? "no kernel archive" : i < 16 ? "another version" : "damaged");
  }
  for (std::size_t size = 0; size < good.size(); size += 7)
    expect_io_error(good.substr(0, size), size < 48 ? "no kernel archive" : "damaged");
  expect_io_error(good + "x", "damaged");
}

/// Everything that is there for a child, and its test.
int with(const char* test, const std::string& archive = TERN_CUDA_ARCHIVE_FILE) {
  setenv("TERN_CUDA_NVRTC", "0", 1), setenv("TERN_CUDA_BLAS", "0", 1), setenv("TERN_CUDA_KERNELS", archive.c_str(), 1);
  const int status = child(test);
  for (const char* name : {"TERN_CUDA_NVRTC", "TERN_CUDA_BLAS", "TERN_CUDA_KERNELS"}) unsetenv(name);
  return status;
}
const DeviceInfo first_gpu() {
  for (const DeviceInfo& info : devices())
    if (info.device.kind() == DeviceKind::cuda) return info;
  return {};
}

/// What the tool printed is what is printed here, whatever was called before.
TEST_F(FakeCuda, TheArchiveHasEveryFormulaAndItsGradientInEveryLayout) {
  fs::remove_all(std::getenv("TERN_CACHE_DIR"));
  EXPECT_EQ(with("FakeCuda.ChildRunsEveryFormula"), 0);
}
TEST_F(FakeCuda, ChildRunsEveryFormula) {
  if (!is_program()) return;
  constexpr DType dtypes[] = {DType::boolean, DType::u8,  DType::i8,   DType::i16, DType::i32, DType::u32,
                              DType::i64,     DType::f16, DType::bf16, DType::f32, DType::f64};
  std::vector<contract::Subject> entries =
      contract::entries_where([](const auto& e) { return e.slope == 0 && !e.later; });
  std::reverse(entries.begin(), entries.end());  // nodes are interned in another order
  for (const contract::Subject& e : entries)
    for (const DType dtype : dtypes)
      for (const bool strided : {false, true}) {
        std::vector<Var> x;
        for (int i = 0; i < e.arity(); ++i) {
          const DType own = e.condition(i) ? DType::boolean : dtype;
          const Tensor t = strided ? zeros({5, 9, 3}, own).transpose(0, 2).slice(1, 0, 9, 2) : zeros({1000}, own);
          x.emplace_back(t, is_floating(own));
        }
        try {
          const Var y = contract::call(e, x);
          if (y.requires_grad()) backward(y, zeros(y.value().shape(), y.value().dtype()));
        } catch (const Error& error) {
          const bool by_types = error.kind() == ErrorKind::dtype ||
                                (error.kind() == ErrorKind::unsupported &&
                                 std::string(error.what()).find("has no kernel for dtype") != std::string::npos);
          EXPECT_TRUE(by_types) << e.name << " " << to_string(dtype) << (strided ? " strided: " : ": ") << error.what();
        }
      }
}

TEST_F(FakeCuda, OtherLayoutsFallBackToOneKernel) { EXPECT_EQ(with("FakeCuda.ChildUsesManyLayouts"), 0); }
TEST_F(FakeCuda, ChildUsesManyLayouts) {
  if (!is_program()) return;
  const Tensor x = zeros({4, 6, 8, 10});
  exp(x), exp(x.permute({3, 1, 0, 2}));
  const CacheStats before = cache_stats(cuda());
  exp(x.permute({2, 3, 0, 1})), exp(x.slice(2, 1, 8, 3)), exp(x.slice(0, 1, 2)), exp(zeros({1}).broadcast_to({7, 3}));
  exp(zeros({3, 3, 3, 3, 3, 3, 3, 3}).permute({7, 6, 5, 4, 3, 2, 1, 0}));
  exp(zeros({1001}).slice(0, 1, 1001));
  EXPECT_EQ(cache_stats(cuda()).kernels, before.kernels);
}

/// Vectors along the last axis, however the others step: rows and columns of matrices, parts of them, and batches.
TEST_F(FakeCuda, RowsAndColumnsHaveTheKernelsOfVectors) { EXPECT_EQ(with("FakeCuda.ChildAddsRowsAndColumns"), 0); }
TEST_F(FakeCuda, ChildAddsRowsAndColumns) {
  if (!is_program()) return;
  const Tensor x = zeros({6, 8}), many = zeros({5, 6, 8});
  const auto kernel_of = [](auto f) {
    const std::string text = explain(f);
    const std::size_t at = text.find("elementwise, ");
    return at == text.npos ? text : text.substr(at, 24);
  };
  const std::string vectors = kernel_of([&] { x + x; });
  EXPECT_NE(vectors.find("4 elements"), vectors.npos) << vectors;
  for (const Tensor& other : {zeros({8}), zeros({6, 1}), zeros({6, 16}).slice(1, 4, 12)}) {
    EXPECT_EQ(kernel_of([&] { x + other; }), vectors) << to_string(other.shape());
    EXPECT_EQ(kernel_of([&] { many + other; }), vectors) << to_string(other.shape());
  }
  EXPECT_EQ(kernel_of([&] { many + zeros({5, 1, 8}); }), vectors);
  EXPECT_EQ(kernel_of([&] { many.transpose(0, 1) + zeros({6, 5, 8}); }), vectors);
  const std::pair<Tensor, Tensor> one_by_one[] = {{x, zeros({8, 6}).transpose(0, 1)},
                                                  {x, zeros({6, 17}).slice(1, 4, 12)},  // rows of 68 bytes
                                                  {zeros({6, 7}), zeros({7})}};
  for (const auto& [a, b] : one_by_one)
    EXPECT_NE(kernel_of([&] { a + b; }).find("1 element a"), std::string::npos) << to_string(b.shape());
}

TEST_F(FakeCuda, WhatIsNotBuiltInNamesTheRemedy) { EXPECT_EQ(with("FakeCuda.ChildRunsAFormulaOfItsOwn"), 0); }
TEST_F(FakeCuda, ChildRunsAFormulaOfItsOwn) {
  if (!is_program()) return;
  EXPECT_TRUE(first_gpu().available);
  for (const char* part : {"kernels that are built in", "NVRTC"})
    EXPECT_NE(first_gpu().reason.find(part), std::string::npos) << first_gpu().reason;
  const Tensor x = zeros({1000});
  const Pointwise own{"wobble", [](auto v) { return sin(3 * v) * exp(-v * v); }};
  expect_error(ErrorKind::unsupported, std::vector<std::string>{"wobble", "none of those built in", "NVRTC"},
               [&] { own(x); });
  EXPECT_NO_THROW(relu(x));
}

TEST_F(FakeCuda, AnArchiveThatDoesNotServeIsNamed) {
  std::ifstream in(TERN_CUDA_ARCHIVE_FILE, std::ios::binary);
  const std::string good(std::istreambuf_iterator<char>(in), {});
  ASSERT_GT(good.size(), 1000u);
  const fs::path folder = std::getenv("TERN_CACHE_DIR"), file = folder / "a.archive";
  fs::create_directories(folder);
  const auto run = [&](std::string bytes, const char* part) {
    std::ofstream(file, std::ios::binary) << bytes;
    setenv("TERN_EXPECTED_REASON", part, 1);
    EXPECT_EQ(with("FakeCuda.ChildHasNoArchive", file), 0) << part;
  };
  std::string bad = good;
  bad[9] ^= 1;
  run(bad, "another version of tern");
  bad = good, bad[100] ^= 1;
  run(bad, "is damaged");
  run(good.substr(0, good.size() / 2), "is damaged");
  run("", "no kernel archive");
  setenv("TERN_EXPECTED_REASON", "TERN_CUDA_KERNELS=none", 1);
  EXPECT_EQ(with("FakeCuda.ChildHasNoArchive", "none"), 0);
  setenv("TERN_EXPECTED_REASON", "there is no kernel archive", 1);
  EXPECT_EQ(with("FakeCuda.ChildHasNoArchive", folder / "missing"), 0);
}
TEST_F(FakeCuda, ChildHasNoArchive) {
  if (!is_program()) return;
  const char* reason = std::getenv("TERN_EXPECTED_REASON");
  EXPECT_TRUE(first_gpu().available);
  for (const char* part : {"no kernel can run", reason, "NVRTC"})
    EXPECT_NE(first_gpu().reason.find(part), std::string::npos) << first_gpu().reason;
  expect_error(ErrorKind::unsupported, std::vector<std::string>{"none of those built in", reason, "NVRTC"},
               [] { ones({1000}); });
}

}  // namespace
}  // namespace tern::test

#endif
