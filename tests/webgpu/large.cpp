// Work that is cut or chosen by its size: deep products, tiles, large tables.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "../every_device/reference.hpp"
#include "backend/instruments/tuning.hpp"
#include "gpu/gpu_backend.hpp"
#include "webgpu/webgpu_backend.hpp"

namespace tern::test {
namespace {

class Large : public testing::Test {
 protected:
  void SetUp() override { set_default_device(webgpu()); }
  void TearDown() override { set_default_device(cpu()); }
  /// a·b of the GPU against f64 on the CPU: k roundings of the sum of magnitudes lie between, at most.
  static void compare(const Tensor& got, const Tensor& a, const Tensor& b, double roundings) {
    const Tensor x = a.to(cpu()).to(f64), y = b.to(cpu()).to(f64);
    const std::vector<double> want = doubles(matmul(x, y)), scale = doubles(matmul(abs(x), abs(y))),
                              have = doubles(got);
    ASSERT_EQ(have.size(), want.size());
    for (std::size_t i = 0; i < have.size(); ++i)
      ASSERT_LE(std::abs(have[i] - want[i]),
                roundings * epsilon(f32) * scale[i] + 0.5 * epsilon(got.dtype()) * std::abs(want[i]))
          << "element " << i;
  }
  static bool same_bits(const Tensor& a, const Tensor& b) {
    const auto x = a.to_vector<float>(), y = b.to_vector<float>();
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * 4) == 0;
  }
  Generator generator_{11};
};

TEST_F(Large, DeepProductsAreCutAlongK) {
  const Tensor a = randn({64, 65536}, generator_), b = randn({65536, 64}, generator_);
  const std::string said = explain([&] { matmul(a, b); });
  EXPECT_NE(said.find("128 workgroups"), std::string::npos) << said;  // of 64×64 results and 512 steps each
  EXPECT_NE(said.find("columns"), std::string::npos) << said;
  compare(matmul(a, b), a, b, 64);
  EXPECT_TRUE(same_bits(matmul(a, b), matmul(a, b)));
}
TEST_F(Large, DeepProductsWithRestsBatchesAndEpilogues) {
  for (const std::int64_t k : {4096, 5000, 20001}) {
    const Tensor a = randn({3, 20, k}, generator_) * 0.02, b = randn({k, 36}, generator_),
                 bias = randn({36}, generator_);
    compare(matmul(a, b), a, b, 64);
    const std::vector<double> want = doubles(gelu(matmul(a.to(cpu()), b.to(cpu())) + bias.to(cpu())));
    const std::vector<double> got = doubles(matmul_bias_activation(a, b, bias, op::gelu));
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-6 * static_cast<double>(k)) << k;
  }
  const Tensor x = randint(-9, 9, {33, 9000}, generator_), y = randint(-9, 9, {9000, 5}, generator_);
  EXPECT_EQ(matmul(x, y).to_vector<std::int32_t>(), matmul(x.to(cpu()), y.to(cpu())).to_vector<std::int32_t>());
  for (const DType dtype : {f16, bf16}) {
    const Tensor a = (randn({16, 8192}, generator_) * 0.1).to(dtype), b = randn({8192, 24}, generator_).to(dtype);
    const Tensor product = matmul(a, b);
    EXPECT_EQ(product.dtype(), dtype);
    compare(product, a, b, 64);
  }
}
/// The gradient of a weight that a batch shares is one product over batches and rows.
TEST_F(Large, DeepGradientsOfSharedWeights) {
  const Tensor x = randn({40, 300, 24}, generator_), grad = randn({40, 300, 20}, generator_) * 0.05;
  const Tensor w = randn({24, 20}, generator_), bias = zeros({20});
  const auto of = [&](Device d) {
    return matmul_bias_activation_bwd(grad.to(d), x.to(d), w.to(d), bias.to(d), op::identity).d_b.to(cpu());
  };
  const std::string said = explain([&] { of(webgpu()); });
  EXPECT_NE(said.find("20 workgroups of"), std::string::npos) << said;
  compare(of(webgpu()), x.reshape({12000, 24}).transpose(0, 1), grad.reshape({12000, 20}), 64);
}
/// What the tuner may choose gives the same products, for every size and every kind of edge.
TEST_F(Large, EveryTileMultiplies) {
  matmul(ones({8, 8}), ones({8, 8}));  // the choices are made by the first product
  const std::string device_class = dynamic_cast<detail_gpu::GpuBackend&>(detail::backend_of(webgpu())).device_class();
  int tried = 0;
  for (detail::Choice* choice : detail::choices()) {
    if (choice->device_class != device_class || !choice->key.starts_with("gemm.tile")) continue;
    const bool narrow = choice->key.find("16 bits") != std::string::npos;
    if (choice->key.find("64 bits") != std::string::npos) continue;  // no such lanes here
    const bool many = choice->key.find("many") != std::string::npos,
               some = choice->key.find("some") != std::string::npos;
    const bool thin = choice->key.find("thin") != std::string::npos;
    const std::int64_t m = many ? 1279 : some ? 385 : thin ? 17 : 70, n = many ? 1280 : some ? 384 : 96;
    const Tensor a = randn({m, 40}, generator_).to(narrow ? bf16 : f32),
                 b = randn({40, n}, generator_).to(narrow ? bf16 : f32);
    const std::int64_t before = choice->value();
    for (const std::int64_t candidate : choice->candidates) {
      choice->set(candidate, "test");
      const std::string tile = std::to_string(candidate / 10000000) + "x" + std::to_string(candidate / 1000 % 10000) +
                               "x" + std::to_string(candidate % 1000);
      const std::string said = explain([&] { matmul(a, b); });
      EXPECT_NE(said.find("tiles of " + tile), std::string::npos) << choice->key << " " << tile << ": " << said;
      compare(matmul(a, b), a, b, 40);
      ++tried;
    }
    choice->set(before, "default");
  }
  EXPECT_GE(tried, 30);
}
/// Large products whose tiles would mostly lie beside the results take others, whatever tile is chosen for large ones.
TEST_F(Large, TilesReachLittleBeyondTheResults) {
  const struct {
    std::int64_t m, n;
    const char* tile;
  } products[] = {{25601, 64, "128x64x16"}, {64, 25600, "64x128x16"}, {12800, 192, "128x64x16"},
                  {12800, 130, "128x64x16"}, {1280, 1280, "128x128x16"}};
  for (const auto& p : products) {
    const Tensor a = randn({p.m, 24}, generator_), b = randn({24, p.n}, generator_);
    const std::string said = explain([&] { matmul(a, b); });
    EXPECT_NE(said.find(std::string("tiles of ") + p.tile), std::string::npos) << p.m << " " << p.n << ": " << said;
    compare(matmul(a, b), a, b, 24);
  }
}
/// The tuner measures tiles as it does the CPU's choices, and keeps what is faster.
TEST_F(Large, TilesAreTuned) {
  const std::string file = testing::TempDir() + "tern_webgpu_tuning.txt";
  setenv("TERN_TUNE_FILE", file.c_str(), 1);
  const Tensor a = ones({96, 64}), b = ones({64, 96});
  const std::string said = tune([&] { matmul(a, b); });
  unsetenv("TERN_TUNE_FILE");
  EXPECT_NE(said.find("gemm.tile, few, 32 bits: "), std::string::npos) << said;
  EXPECT_NE(said.find("of the default's time"), std::string::npos) << said;
  std::ifstream in(file);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_NE(text.find("webgpu, "), std::string::npos) << text;
  std::remove(file.c_str());
  EXPECT_EQ(matmul(a, b).to_vector<float>(), std::vector<float>(96 * 96, 64.0f));
}
/// Sorted tables give the sums of the CPU, which adds in the order of the table as well: the same bits.
TEST_F(Large, ScatterOfLargeTables) {
  for (const std::int64_t entries : {2049, 5000, 20000}) {
    const Tensor start = randn({300, 7}, generator_), rows = randint(-300, 300, {entries}, generator_);
    const Tensor values = randn({entries, 7}, generator_);
    const std::string said = explain([&] { scatter_add(start, rows, values, 0); });
    EXPECT_TRUE(same_bits(scatter_add(start, rows, values, 0),
                          scatter_add(start.to(cpu()), rows.to(cpu()), values.to(cpu()), 0)))
        << entries;
    const Tensor columns = start.transpose(0, 1).contiguous(), across = values.transpose(0, 1);
    EXPECT_TRUE(same_bits(scatter_add(columns, rows, across, 1),
                          scatter_add(columns.to(cpu()), rows.to(cpu()), across.to(cpu()), 1)));
  }
}
TEST_F(Large, GradientsOfLargeTables) {
  const Tensor table = randn({50, 4}, generator_), rows = randint(0, 50, {6000}, generator_);
  const Tensor seed = randn({6000, 4}, generator_);
  const auto of = [](const Tensor& t, const Tensor& r, const Tensor& g) {
    const Var x{t};
    return backward(take(x, r, 0), g)[x];
  };
  EXPECT_TRUE(same_bits(of(table, rows, seed), of(table.to(cpu()), rows.to(cpu()), seed.to(cpu()))));
  // A table of its own for every column.
  const Tensor wide = randn({40, 3}, generator_), places = randint(0, 40, {4000, 3}, generator_);
  const Tensor cotangent = randn({4000, 3}, generator_);
  const auto gathered = [](const Tensor& t, const Tensor& p, const Tensor& g) {
    const Var x{t};
    return backward(gather(x, p, 0), g)[x];
  };
  EXPECT_TRUE(
      same_bits(gathered(wide, places, cotangent), gathered(wide.to(cpu()), places.to(cpu()), cotangent.to(cpu()))));
}
TEST_F(Large, IndicesOutOfRangeInLargeTables) {
  std::vector<std::int32_t> list(4000, 2);
  list[3000] = 9;
  const Tensor rows = tensor(list), values = ones({4000, 2});
  expect_error(ErrorKind::index, {"scatter_add", "9", "5"}, [&] {
    scatter_add(zeros({5, 2}), rows, values, 0).to_vector<float>();
  });
  list[3000] = -5;
  const Tensor sums = scatter_add(zeros({5, 2}), tensor(list), values, 0);
  EXPECT_EQ(sums.to_vector<float>(), (std::vector<float>{1, 1, 0, 0, 3999, 3999, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace tern::test
