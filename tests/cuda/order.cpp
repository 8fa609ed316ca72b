// The order of work on a GPU, on the pretended driver, where nothing runs that nobody waits for: copies beside kernels,
// memory used again, the program's own streams and memory, copies between GPUs, threads and captures.
#include <numeric>
#include <thread>

#include "backend/tensor_impl.hpp"
#include "cuda/fake.hpp"

namespace tern::test {
namespace {

using detail_cuda::DevicePointer;
using detail_cuda::Stream;

constexpr std::int64_t kLarge = (9 << 20) / 4 + 3;  // floats: three chunks of staging, the last one odd

std::vector<float> counting(std::int64_t count, float first = 0) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}
DevicePointer address(const Tensor& t) { return reinterpret_cast<DevicePointer>(t.impl()->storage->data()); }

class CudaOrder : public FakeCuda {
 protected:
  void TearDown() override {
    driver_->cuCtxSetCurrent(nullptr);
    FakeCuda::TearDown();
  }
  void make_current(int device) {
    detail_cuda::Context context = nullptr;
    driver_->cuDevicePrimaryCtxRetain(&context, device);
    driver_->cuCtxSetCurrent(context);
  }
  /// A stream of the program's, as it would make one.
  CUstream_st* make_stream(int device = 0) {
    make_current(device);
    Stream stream = nullptr;
    driver_->cuStreamCreate(&stream, 0);
    driver_->cuCtxSetCurrent(nullptr);
    return reinterpret_cast<CUstream_st*>(stream);
  }
  DevicePointer make_memory(std::size_t bytes, int device = 0) {
    make_current(device);
    DevicePointer pointer = 0;
    driver_->cuMemAlloc_v2(&pointer, bytes);
    driver_->cuCtxSetCurrent(nullptr);
    return pointer;
  }
  void fill(DevicePointer to, unsigned char value, std::size_t bytes, CUstream_st* stream) {
    make_current(0);
    driver_->cuMemsetD8Async(to, value, bytes, reinterpret_cast<Stream>(stream));
  }
  void wait_for(CUstream_st* stream) { driver_->cuStreamSynchronize(reinterpret_cast<Stream>(stream)); }
};

TEST_F(CudaOrder, CopiesOfEverySizeArriveAndTheSourceIsFreeAtOnce) {
  for (const std::int64_t count : {std::int64_t{1}, std::int64_t{25}, std::int64_t{16384}, std::int64_t{16385},
                                   std::int64_t{1} << 20, (std::int64_t{1} << 20) + 1, 5 * kLarge}) {
    const std::vector<float> values = counting(count);
    std::vector<float> source = values;
    const Tensor x = tensor(source);
    std::fill(source.begin(), source.end(), -1.0f);
    EXPECT_TRUE(x.to_vector<float>() == values) << count;
    const Tensor here = x.to(cpu()), there = here.slice(0, count / 2, count).to(cuda());
    EXPECT_TRUE(here.to_vector<float>() == values) << count;
    EXPECT_TRUE(there.to_vector<float>() == std::vector<float>(values.begin() + count / 2, values.end())) << count;
    const Tensor part = x.slice(0, count / 2, count);
    EXPECT_TRUE(part.to_vector<float>() == std::vector<float>(values.begin() + count / 2, values.end())) << count;
  }
}

TEST_F(CudaOrder, KernelsSeeWhatWasCopiedOnAnotherStream) {
  kernels_copy(kLarge * 4);
  const Tensor x = tensor(counting(kLarge)), y = -x;
  EXPECT_TRUE(y.to_vector<float>() == counting(kLarge));
}

TEST_F(CudaOrder, ACopyWaitsForTheKernelsThatReadTheBlockBefore) {
  kernels_copy(kLarge * 4);
  for (std::size_t ahead = 0; ahead < kStreams; ++ahead) {
    const auto first = static_cast<float>(ahead);
    std::optional<Tensor> x = tensor(counting(kLarge, first));
    const DevicePointer block = address(*x);
    const Tensor y = -*x;
    x.reset();
    const Tensor next = tensor(counting(kLarge, -first - 1));
    ASSERT_EQ(address(next), block) << "the test is about a block used again";
    run_from(ahead);
    EXPECT_TRUE(y.to_vector<float>() == counting(kLarge, first)) << ahead;
    EXPECT_TRUE(next.to_vector<float>() == counting(kLarge, -first - 1)) << ahead;
  }
}

TEST_F(CudaOrder, ACopyToUnusedMemoryWaitsForNothing) {
  kernels_copy(kLarge * 4);
  const Tensor x = tensor(counting(kLarge)), y = -x;  // under way
  const long before = calls("cuStreamWaitEvent");
  const Tensor fresh = tensor(counting(kLarge + 5'000'000));
  EXPECT_EQ(calls("cuStreamWaitEvent"), before + 1) << "only later kernels wait, for the copy";
}

TEST_F(CudaOrder, ALentStreamIsUsedInOrder) {
  kernels_copy(kLarge * 4);
  CUstream_st* const stream = make_stream();
  const DevicePointer memory = make_memory(kLarge * 4);
  std::vector<Tensor> results;
  const Tensor x = tensor(counting(kLarge));
  {
    cuda_stream_scope scope(stream);
    fill(memory, 0x40, kLarge * 4, stream);
    const Tensor seen = -Tensor::view(reinterpret_cast<float*>(memory), {kLarge}, {}, {}, cuda());
    results = {-x, seen};
    fill(memory, 0x41, kLarge * 4, stream);  // after what read it
  }
  results.push_back(-results[0]);  // on tern's stream, after the scope's
  EXPECT_TRUE(results[2].to_vector<float>() == counting(kLarge));
  EXPECT_TRUE(results[0].to_vector<float>() == counting(kLarge));
  EXPECT_EQ(results[1].slice(0, 0, 1).item<float>(), 3.00392151f) << "0x40404040";
  // The program waits for its own stream alone, and sees what tern did there.
  std::optional<cuda_stream_scope> again(std::in_place, stream);
  const Tensor y = -x;
  again.reset();
  wait_for(stream);
  float last = 0;
  std::memcpy(&last, reinterpret_cast<float*>(address(y)) + kLarge - 1, 4);
  EXPECT_EQ(last, static_cast<float>(kLarge - 1));
}

TEST_F(CudaOrder, MemoryFreedInAScopeIsUsedAgainAfterIt) {
  kernels_copy(kLarge * 4);
  CUstream_st* const stream = make_stream();
  for (std::size_t ahead = 0; ahead < kStreams; ++ahead) {
    const auto first = static_cast<float>(200 + ahead);
    std::optional<Tensor> x = tensor(counting(kLarge, first)), y;
    const DevicePointer block = address(*x);
    {
      cuda_stream_scope scope(stream);
      y = -*x;
      x.reset();
    }
    const Tensor next = tensor(counting(kLarge, -first));
    ASSERT_EQ(address(next), block);
    run_from(ahead);
    EXPECT_TRUE(y->to_vector<float>() == counting(kLarge, first)) << ahead;
  }
}

TEST_F(CudaOrder, AnotherThreadSeesWhatAScopeDid) {
  kernels_copy(kLarge * 4);
  cuda_stream_scope scope(make_stream());
  const Tensor y = -tensor(counting(kLarge, 300));
  std::vector<float> seen;
  std::thread([&] {
    const Tensor z = -y.to(cuda());
    seen = z.to_vector<float>();
  }).join();
  EXPECT_TRUE(seen == counting(kLarge, 300));
  const Tensor z = -y;
  EXPECT_TRUE(z.to_vector<float>() == counting(kLarge, 300)) << "and the scope goes on";
}

TEST_F(CudaOrder, StreamsThatCannotServeAreRefused) {
  expect_error_at_once(ErrorKind::device, {"cuda_stream_scope", "cpu"},
                       [] { cuda_stream_scope scope(nullptr, cpu()); });
  expect_error_at_once(ErrorKind::device, {"cuda_stream_scope", "cuda:0"},
                       [&] { cuda_stream_scope scope(make_stream(1), cuda(0)); });
  {
    cuda_stream_scope outer(make_stream(0)), inner(make_stream(1), cuda(1)), legacy(nullptr);
    const Tensor x = ones({1}), there = ones({1}, cuda(1));
    EXPECT_NO_THROW(x.to_vector<float>());
    EXPECT_NO_THROW(there.to_vector<float>());
  }
  EXPECT_NO_THROW(ones({1}).to_vector<float>());
}

TEST_F(CudaOrder, ViewsOfDeviceMemory) {
  const DevicePointer memory = make_memory(4096);
  auto* const at = reinterpret_cast<float*>(memory);
  for (int i = 0; i < 1024; ++i) at[i] = static_cast<float>(i);  // the pretended GPU's memory is the host's
  auto keep = std::make_shared<int>(1);
  const std::weak_ptr<int> kept = keep;
  std::optional<Tensor> x = Tensor::view(at + 5, {3, 4}, {8, 1}, std::move(keep), cuda());
  EXPECT_EQ(address(*x) % 16, 0u) << "vectors of 16 bytes are loaded from there";
  EXPECT_EQ(x->impl()->offset, 1);
  const std::vector<float> expected{5, 6, 7, 8, 13, 14, 15, 16, 21, 22, 23, 24};
  kernels(2, [](const unsigned long long* p) {  // contiguous(): what a kernel would do, knowing the strides
    for (int i = 0; i < 12; ++i)
      reinterpret_cast<float*>(p[0])[i] = reinterpret_cast<float*>(p[1])[1 + i / 4 * 8 + i % 4];
  });
  EXPECT_EQ(x->to_vector<float>(), expected);
  EXPECT_EQ(x->slice(0, 1, 2).reshape({4}).to_vector<float>(), (std::vector<float>{13, 14, 15, 16}));
  EXPECT_FALSE(kept.expired());
  x.reset();
  EXPECT_TRUE(kept.expired());
  const Tensor back = Tensor::view(at + 3, {4}, {-1}, {}, cuda());
  EXPECT_EQ(back.impl()->offset, 3);
  const Tensor whole = Tensor::view(at, {1024}, {}, {}, cuda()), other = Tensor::view(at + 1000, {24}, {}, {}, cuda());
  EXPECT_TRUE(detail::may_share_memory(whole, other));
  EXPECT_FALSE(detail::may_share_memory(whole.slice(0, 0, 1000), other));
  EXPECT_NO_THROW(Tensor::view(static_cast<float*>(nullptr), {0, 3}, {}, {}, cuda()));
}

TEST_F(CudaOrder, MemoryThatCannotServeIsRefused) {
  const DevicePointer memory = make_memory(4096), elsewhere = make_memory(4096, 1);
  std::vector<float> host(16);
  const auto view = [](DevicePointer p, const Shape& shape) {
    return Tensor::view(reinterpret_cast<float*>(p), shape, {}, {}, cuda());
  };
  expect_error_at_once(ErrorKind::device, {"view", "f32[4]", "multiple of 4", "2 bytes past"},
                       [&] { view(memory + 2, {4}); });
  expect_error_at_once(ErrorKind::device, {"view", "cuda:1", "expected cuda:0"}, [&] { view(elsewhere, {4}); });
  expect_error_at_once(ErrorKind::device, {"view", "no memory that CUDA knows"},
                       [&] { view(reinterpret_cast<DevicePointer>(host.data()), {4}); });
  expect_error_at_once(ErrorKind::shape, {"view", "4100", "4096"}, [&] { view(memory, {1025}); });
  expect_error_at_once(ErrorKind::shape, {"view", "stride 9223372036854775807", "beyond all memory"},
                       [&] { Tensor::view(reinterpret_cast<float*>(memory), {3}, {INT64_MAX}, {}, cuda()); });
  EXPECT_EQ(view(memory + 4092, {1}).numel(), 1);
}

TEST_F(CudaOrder, CopiesBetweenGpusAreDirectAndInOrder) {
  kernels_copy(kLarge * 4);
  for (std::size_t ahead = 0; ahead < kStreams; ++ahead) {
    const auto first = static_cast<float>(100 + ahead);
    const Tensor x = tensor(counting(kLarge, first));
    std::optional<Tensor> y = -x;  // under way on the first GPU
    const long before = calls("cuMemcpyPeerAsync");
    const Tensor there = y->to(cuda(1));
    EXPECT_EQ(calls("cuMemcpyPeerAsync"), before + 1);
    EXPECT_EQ(there.device(), cuda(1));
    const DevicePointer block = address(*y);
    y.reset();
    const Tensor next = tensor(counting(kLarge, -first));  // where the copy reads
    ASSERT_EQ(address(next), block);
    run_from(ahead);
    const Tensor result = -there;
    EXPECT_TRUE(result.to_vector<float>() == counting(kLarge, first)) << ahead;
    EXPECT_TRUE(result.to(cuda(0)).to_vector<float>() == counting(kLarge, first)) << ahead;
  }
  const Tensor x = tensor(counting(1000));
  EXPECT_EQ(x.slice(0, 100, 102).to(cuda(1)).to_vector<float>(), (std::vector<float>{100, 101}));
}

/// In a process of its own: whether GPUs reach each other is asked once.
TEST_F(CudaOrder, CopiesBetweenGpusGoThroughTheHostWhereTheyMust) {
  setenv("TERN_FAKE_CUDA_PEERS", "0", 1);
  EXPECT_EQ(child("CudaOrder.ChildWithoutPeers"), 0);
  unsetenv("TERN_FAKE_CUDA_PEERS");
}
TEST_F(CudaOrder, ChildWithoutPeers) {
  if (!std::getenv("TERN_CHILD")) return;
  const Tensor x = tensor(counting(kLarge), {kLarge}, cuda(1));
  EXPECT_TRUE(x.to(cuda(0)).to_vector<float>() == counting(kLarge));
  EXPECT_EQ(calls("cuMemcpyPeerAsync"), 0);
}

TEST_F(CudaOrder, ThreadsKeepTheirOwnContexts) {
  detail_cuda::Context before = nullptr, after = nullptr;
  make_current(1);
  driver_->cuCtxGetCurrent(&before);
  const Tensor x = tensor(counting(kLarge), {kLarge}, cuda(0));
  EXPECT_TRUE(x.to_vector<float>() == counting(kLarge));
  driver_->cuCtxGetCurrent(&after);
  EXPECT_EQ(before, after);
  kernels_copy(4000);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const Device device = cuda((t + i) % 2);
        const std::vector<float> values = counting(1000, static_cast<float>(t));
        const Tensor a = tensor(values, {1000}, device), b = -a, c = b.to(cuda((t + i + 1) % 2));
        wrong += b.to_vector<float>() != values || c.to_vector<float>() != values;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(CudaOrder, WhatOtherThreadsDoIsNoPartOfACapture) {
  kernels_copy(4000);
  detail::Backend& backend = detail::backend_of(cuda());
  const Tensor x = tensor(counting(1000));
  std::optional<Tensor> inside;
  DevicePointer freed = 0;
  backend.begin_capture();
  inside = -x;
  {
    const Tensor dropped = -x;
    freed = address(dropped);
  }
  std::thread([&] {
    const Tensor y = -x, z = -y;
    EXPECT_EQ(z.to_vector<float>(), counting(1000)) << "runs at once";
    EXPECT_NE(address(y), freed) << "the capture's memory is its own";
  }).join();
  std::unique_ptr<detail::Recording> recording = backend.end_capture();
  const auto* values = reinterpret_cast<const float*>(address(*inside));
  std::fill_n(const_cast<float*>(values), 1000, -1.0f);
  synchronize(cuda());
  EXPECT_EQ(values[999], -1) << "nothing of the capture has run";
  recording->replay();
  EXPECT_EQ(inside->to_vector<float>(), counting(1000));
  EXPECT_NE(address(tensor(counting(1000))), freed);
  recording.reset();
  EXPECT_EQ(address(tensor(counting(1000))), freed) << "memory of a graph that is gone is used again";
}

}  // namespace
}  // namespace tern::test
