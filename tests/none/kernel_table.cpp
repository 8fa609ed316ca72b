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

/// The CPU's memory, and of its kernels that for `fused`.
class Formulas final : public Backend {
 public:
  Device device() const override { return cpu(); }
  std::string name() const override { return "formulas only"; }
  void* allocate(std::size_t bytes) override { return ++allocations, host_.allocate(bytes); }
  void deallocate(void* data, std::size_t bytes) noexcept override { host_.deallocate(data, bytes); }
  void upload(Storage& to, std::size_t offset, const void* from, std::size_t bytes) override {
    host_.upload(to, offset, from, bytes);
  }
  void download(const Storage& from, std::size_t offset, void* to, std::size_t bytes) override {
    host_.download(from, offset, to, bytes);
  }
  void synchronize() override {}
  Tensor make(const std::vector<float>& values) {
    Tensor t = make_tensor({static_cast<std::int64_t>(values.size())}, f32, *this);
    t.copy_from(tensor(values));
    return t;
  }

  int allocations = 0;
  std::vector<PrimitiveId> asked;

 protected:
  std::vector<std::string_view> families() const override { return {"formulas", "cpu"}; }
  Kernel find_kernel(const Primitive& primitive) const override {
    const_cast<Formulas*>(this)->asked.push_back(primitive.id);
    return primitive.id == PrimitiveId::fused ? Backend::find_kernel(primitive) : primitive.composition;
  }

 private:
  Backend& host_ = backend_of(cpu());
};

TEST(KernelTable, WhatIsMissingIsRefusedBeforeAnythingIsAllocated) {
  Formulas backend;
  const Tensor x = backend.make({3, 1, 2}), at = backend.make({0, 1, 2}).to(i32);
  const int before = backend.allocations;
  const auto refused = [&](const char* op, const std::function<void()>& call) {
    try {
      call();
      ADD_FAILURE() << op << " ran";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::unsupported) << op;
      EXPECT_TRUE(std::string(e.what()).find(op) == 0) << e.what();
    }
  };
  refused("cumsum", [&] { cumsum(x, 0); });
  refused("sort", [&] { sort(x); });
  refused("topk", [&] { topk(x, 2); });
  refused("scatter_add", [&] { scatter_add(x, at, x); });
  EXPECT_EQ(backend.allocations, before);
  EXPECT_EQ((x + x).to_vector<float>(), (std::vector<float>{6, 2, 4}));
}

TEST(KernelTable, ACompositionStandsForAKernel) {
  Formulas backend;
  const Tensor joined = concatenate(std::vector{backend.make({3, 1}), backend.make({2})});
  EXPECT_EQ(joined.to_vector<float>(), (std::vector<float>{3, 1, 2}));
  EXPECT_EQ(std::ranges::count(backend.asked, PrimitiveId::fused_group), 1) << "a group is one after the other";
}

TEST(KernelTable, AKernelIsLookedUpOnce) {
  Formulas backend;
  const Tensor x = backend.make({3, 1});
  for (int i = 0; i < 3; ++i) static_cast<void>(x + x);
  EXPECT_EQ(std::ranges::count(backend.asked, PrimitiveId::fused), 1);
}

}  // namespace
}  // namespace tern
