// A backend's table of kernels: what is missing is composed of other primitives, or refused before anything is
// allocated.
#include <gtest/gtest.h>

#include <algorithm>

#include "backend/tensor_impl.hpp"
#include "primitives/fused/fused.hpp"
#include "primitives/scan/scan.hpp"
#include "tern/tern.hpp"

namespace tern {
namespace {

using namespace detail;

/// The CPU's memory, and of its kernels those for these primitives.
class Some : public Backend {
 public:
  explicit Some(std::vector<PrimitiveId> kernels) : kernels_(std::move(kernels)) {}
  Device device() const override { return cpu(); }
  std::string name() const override { return "some kernels only"; }
  void* allocate(std::size_t bytes) override { return ++allocations, host_.allocate(bytes); }
  void deallocate(void* data, std::size_t bytes) noexcept override { host_.deallocate(data, bytes); }
  void upload(Storage& to, std::size_t offset, const void* from, std::size_t bytes) override {
    host_.upload(to, offset, from, bytes);
  }
  void download(const Storage& from, std::size_t offset, void* to, std::size_t bytes) override {
    host_.download(from, offset, to, bytes);
  }
  void synchronize() override {}
  Tensor make(const std::vector<float>& values, DType dtype = f32) {
    const Tensor from = tensor(values).to(dtype);
    Tensor t = make_tensor(from.shape(), dtype, *this);
    upload(*t.impl()->storage, 0, from.impl()->storage->data(), values.size() * dtype_size(dtype));
    return t;
  }

  int allocations = 0;
  std::vector<PrimitiveId> asked;

 protected:
  std::vector<std::string_view> families() const override { return {"some", "cpu"}; }
  Kernel find_kernel(const Primitive& primitive) const override {
    const_cast<Some*>(this)->asked.push_back(primitive.id);
    const bool has = std::ranges::find(kernels_, primitive.id) != kernels_.end();
    return has ? Backend::find_kernel(primitive) : primitive.composition;
  }

 private:
  Backend& host_ = backend_of(cpu());
  std::vector<PrimitiveId> kernels_;
};
struct Formulas : Some {
  Formulas() : Some({PrimitiveId::fused}) {}
};

/// Each call is refused, by its name, and has allocated nothing.
void expect_refused(Some& backend, const std::vector<std::pair<const char*, std::function<void()>>>& calls) {
  for (const auto& [op, call] : calls) {
    const int before = backend.allocations;
    try {
      call();
      ADD_FAILURE() << op << " ran";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::unsupported) << op;
      EXPECT_TRUE(std::string(e.what()).find(op) == 0) << e.what();
    }
    EXPECT_EQ(backend.allocations, before) << op;
  }
}

TEST(KernelTable, WhatIsMissingIsRefusedBeforeAnythingIsAllocated) {
  Formulas backend;
  const Tensor x = backend.make({3, 1, 2}), at = backend.make({0, 1, 2}, i32), m = x.reshape({1, 3});
  const Tensor into = backend.make({3, 1, 2});
  expect_refused(backend, {{"cumsum", [&] { cumsum(x, 0); }},
                           {"sort", [&] { sort(x); }},
                           {"topk", [&] { topk(x, 2); }},
                           {"scatter_add", [&] { scatter_add(x, at, x); }},
                           {"matmul", [&] { matmul(m, m.mT()); }},
                           {"matmul_bias", [&] { matmul_bias(m.mT(), m, x); }}});
  EXPECT_EQ((x + x).to_vector<float>(), (std::vector<float>{6, 2, 4}));
}
TEST(KernelTable, ABackendWithoutAnyKernelRefusesAll) {
  Some backend({});
  const Tensor x = backend.make({3, 1, 2}), at = backend.make({0, 1, 2}, i32), m = x.reshape({1, 3});
  Tensor into = backend.make({3, 1, 2});
  expect_refused(backend, {{"add", [&] { static_cast<void>(x + x); }},
                           {"add", [&] { into += into.slice(0, 0, 1); }},  // of itself: it would be copied first
                           {"softmax", [&] { softmax(x); }},
                           {"sum", [&] { sum(x); }},
                           {"to", [&] { x.to(i32); }},
                           {"clone", [&] { x.clone(); }},
                           {"take", [&] { take(x, at); }},
                           {"matmul", [&] { matmul(m, m.mT()); }}});
}

TEST(KernelTable, ACompositionStandsForAKernel) {
  Formulas backend;
  const Tensor joined = concatenate(std::vector{backend.make({3, 1}), backend.make({2})});
  EXPECT_EQ(joined.to_vector<float>(), (std::vector<float>{3, 1, 2}));
  EXPECT_EQ(std::ranges::count(backend.asked, PrimitiveId::fused_group), 1) << "a group is one after the other";
}

/// A convolution's kernel alone: the weight's gradient, which the CPU takes by one of its own, is products.
TEST(KernelTable, AGradientWithoutItsKernelIsComposed) {
  Some backend({PrimitiveId::fused, PrimitiveId::gemm, PrimitiveId::convolution});
  const Tensor image = backend.make({1, 2, 3, 4, 5, 6, 7, 8}).reshape({1, 2, 2, 2});
  const Var w(backend.make({1, 1, 1, 1, 1, 1, 1, 1}).reshape({2, 1, 2, 2}), true);
  const Var y = conv2d(image, w, {}, {.groups = 2});
  EXPECT_EQ(y.value().to_vector<float>(), (std::vector<float>{10, 26}));
  EXPECT_EQ(backward(sum(y))[w].to_vector<float>(), image.to_vector<float>());
  EXPECT_EQ(std::ranges::count(backend.asked, PrimitiveId::convolution_weight), 1);
}

TEST(KernelTable, AKernelIsLookedUpOnce) {
  Formulas backend;
  const Tensor x = backend.make({3, 1});
  for (int i = 0; i < 3; ++i) static_cast<void>(x + x);
  EXPECT_EQ(std::ranges::count(backend.asked, PrimitiveId::fused), 1);
}

}  // namespace
}  // namespace tern
