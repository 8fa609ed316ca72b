// What tern shares with the program on real CUDA GPUs: its memory, its streams, its threads, and several GPUs. Without
// a GPU there is nothing to run here; tests/cuda/order.cpp looks at the order of work on a pretended driver.
#include <cstring>
#include <numeric>
#include <thread>

#include "cuda/api.hpp"
#include "every_device/runtime/cuda_devices.hpp"

namespace tern::test {
namespace {

using detail_cuda::DevicePointer;

class SharedCuda : public EveryDevice {
 protected:
  void SetUp() override {
    EveryDevice::SetUp();
    std::string reason;
    driver_ = detail_cuda::driver(reason);
    ASSERT_TRUE(driver_) << reason;
    driver_->cuDevicePrimaryCtxRetain(&context_, device().index());
    driver_->cuCtxSetCurrent(context_);
  }
  void TearDown() override {
    synchronize(device());
    for (const DevicePointer p : memory_) driver_->cuMemFree_v2(p);
    driver_->cuCtxSetCurrent(nullptr);
    EveryDevice::TearDown();
  }
  DevicePointer allocate(std::size_t bytes) {
    DevicePointer pointer = 0;
    EXPECT_EQ(driver_->cuMemAlloc_v2(&pointer, bytes), 0);
    memory_.push_back(pointer);
    return pointer;
  }
  detail_cuda::Stream new_stream() {
    detail_cuda::Stream stream = nullptr;
    EXPECT_EQ(driver_->cuStreamCreate(&stream, detail_cuda::kStreamNonBlocking), 0);
    return stream;
  }
  static CUstream_st* lent(detail_cuda::Stream stream) { return reinterpret_cast<CUstream_st*>(stream); }
  void write(DevicePointer to, const void* from, std::size_t bytes) {
    EXPECT_EQ(driver_->cuMemcpyHtoDAsync_v2(to, from, bytes, nullptr), 0);
    EXPECT_EQ(driver_->cuStreamSynchronize(nullptr), 0);
  }
  void read(void* to, DevicePointer from, std::size_t bytes) {
    EXPECT_EQ(driver_->cuMemcpyDtoHAsync_v2(to, from, bytes, nullptr), 0);
    EXPECT_EQ(driver_->cuStreamSynchronize(nullptr), 0);
  }

  const detail_cuda::Driver* driver_ = nullptr;
  detail_cuda::Context context_ = nullptr;
  std::vector<DevicePointer> memory_;
};

std::vector<float> counted_up(std::int64_t count, float first = 0) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<float>(i % 8191);
  return values;
}

/// Views at every distance from a vector's beginning, of odd and even sizes; around them nothing changes.
template <class T>
void check_views(DevicePointer memory, const std::function<void(std::vector<T>&)>& store,
                 const std::function<std::vector<T>()>& load, Device device) {
  for (const std::int64_t offset : {0, 1, 3, 8, 13})
    for (const std::int64_t size : {1, 7, 64, 1000, 1003}) {
      std::vector<T> values(2048);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(static_cast<float>(i % 61));
      store(values);
      Tensor x = Tensor::view(reinterpret_cast<T*>(memory) + offset, {size}, {}, {}, device);
      const Tensor y = x + x;
      x += 1;
      const std::vector<T> sums = y.template to_vector<T>(), after = load();
      for (std::int64_t i = 0; i < 2048; ++i) {
        const float before = static_cast<float>(i % 61);
        const bool inside = i >= offset && i < offset + size;
        if (inside) {
          ASSERT_EQ(static_cast<float>(sums[static_cast<std::size_t>(i - offset)]), 2 * before)
              << offset << " " << size;
        }
        ASSERT_EQ(static_cast<float>(after[static_cast<std::size_t>(i)]), inside ? before + 1 : before)
            << "element " << i << " of a view of " << size << " at " << offset;
      }
    }
}

TEST_P(SharedCuda, ViewsOfTheProgramsMemory) {
  const DevicePointer memory = allocate(1 << 16);
  const auto check = [&]<class T>(T*) {
    check_views<T>(
        memory, [&](std::vector<T>& v) { write(memory, v.data(), v.size() * sizeof(T)); },
        [&] {
          synchronize(device());
          std::vector<T> v(2048);
          read(v.data(), memory, v.size() * sizeof(T));
          return v;
        },
        device());
  };
  check(static_cast<float*>(nullptr));
  check(static_cast<double*>(nullptr));
  check(static_cast<float16*>(nullptr));
  check(static_cast<bfloat16*>(nullptr));
  check(static_cast<std::int64_t*>(nullptr));
  check(static_cast<std::int8_t*>(nullptr));
}

TEST_P(SharedCuda, ProductsReadTheProgramsMemory) {
  constexpr std::int64_t n = 130;
  const std::vector<float> values = counted_up(n * n);
  const DevicePointer memory = allocate((n * n + 3) * 4);
  write(memory + 12, values.data(), values.size() * 4);
  const Tensor x = Tensor::view(reinterpret_cast<float*>(memory) + 3, {n, n}, {}, {}, device()),
               same = tensor(values, {n, n});
  EXPECT_EQ(matmul(x, eye(n)).to_vector<float>(), values);
  EXPECT_EQ(sum(x.transpose(0, 1), {0}).to_vector<float>(), sum(same.transpose(0, 1), {0}).to_vector<float>());
}

TEST_P(SharedCuda, MemoryThatCannotServeIsRefused) {
  const DevicePointer memory = allocate(4096);
  std::vector<float> host(64);
  expect_error(ErrorKind::device, {"view", "multiple of 4"},
               [&] { Tensor::view(reinterpret_cast<float*>(memory + 2), {4}, {}, {}, device()); });
  expect_error(ErrorKind::device, {"view", "no memory that CUDA knows"},
               [&] { Tensor::view(host.data(), {4}, {}, {}, device()); });
  expect_error(ErrorKind::shape, {"view"},
               [&] { Tensor::view(reinterpret_cast<float*>(memory), {1 << 30}, {}, {}, device()); });
}

TEST_P(SharedCuda, TheProgramsStreamIsInOrderWithTerns) {
  constexpr std::int64_t count = 8 << 20;
  const DevicePointer memory = allocate(count * 4);
  const detail_cuda::Stream stream = new_stream();
  const Tensor view = Tensor::view(reinterpret_cast<std::int32_t*>(memory), {count}, {}, {}, device());
  std::vector<Tensor> sums;
  for (unsigned char round = 0; round < 40; ++round) {
    Tensor seen;
    {
      cuda_stream_scope scope(lent(stream), device());
      ASSERT_EQ(driver_->cuMemsetD8Async(memory, round, count * 4, stream), 0);
      seen = view + 1;
      ASSERT_EQ(driver_->cuMemsetD8Async(memory, 0xff, count * 4, stream), 0);
    }
    sums.push_back(max(seen) - min(seen) + seen.slice(0, count - 1, count));  // on tern's stream
  }
  for (std::size_t round = 0; round < sums.size(); ++round)
    EXPECT_EQ(sums[round].reshape({1}).item<std::int32_t>(), static_cast<std::int32_t>(round) * 0x01010101 + 1);
}

TEST_P(SharedCuda, CopiesOfEverySizeArrive) {
  for (const std::int64_t count :
       {std::int64_t{1}, std::int64_t{16385}, std::int64_t{(1 << 20) + 1}, std::int64_t{30'000'001}}) {
    const std::vector<float> values = counted_up(count);
    const Tensor x = tensor(values), y = x + 0;
    EXPECT_TRUE(y.to_vector<float>() == values) << count;
    EXPECT_TRUE(x.slice(0, count / 2, count).to_vector<float>() ==
                std::vector<float>(values.begin() + count / 2, values.end()));
  }
}

/// New data goes to memory that slow kernels still read.
TEST_P(SharedCuda, UploadsWaitForTheKernelsBefore) {
  constexpr std::int64_t n = 2048;
  const Tensor identity = eye(n);
  for (int round = 0; round < 20; ++round) {
    const std::vector<float> values = counted_up(n * n, static_cast<float>(round)), next = counted_up(n * n, -1);
    std::optional<Tensor> x = tensor(values, {n, n});
    Tensor y = *x;
    for (int i = 0; i < 6; ++i) y = matmul(y, identity);
    y = y + *x;
    x.reset();
    const Tensor other = tensor(next, {n, n});
    const std::vector<float> got = y.to_vector<float>();
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], 2 * values[i]) << round;
    ASSERT_TRUE(other.to_vector<float>() == next);
  }
}

TEST_P(SharedCuda, ThreadsWithStreamsOfTheirOwn) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t, stream = new_stream()] {
      for (int i = 0; i < 30; ++i) {
        std::optional<cuda_stream_scope> scope;
        if ((t + i) % 2) scope.emplace(lent(stream), device());
        const std::vector<float> values = counted_up(100'000, static_cast<float>(t));
        const Tensor x = tensor(values, {100'000}, device()), y = (x + 1) * 2;
        const std::vector<float> got = y.to_vector<float>();
        for (std::size_t k = 0; k < got.size(); ++k) wrong += got[k] != (values[k] + 1) * 2;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(SharedCuda, CapturesBesideOtherThreads) {
  std::atomic<bool> stop = false;
  std::atomic<int> wrong = 0;
  std::thread other([&] {
    const Tensor x = ones({1000}, device());
    while (!stop) {
      const std::vector<float> got = ((x + 1) * 3).to_vector<float>();
      for (const float value : got) wrong += value != 6;
    }
  });
  for (int i = 0; i < 20; ++i) {
    const Tensor x = full({5000}, i, {.device = device()});
    Tensor y;
    const Graph graph = capture(device(), [&] { y = sum(x * 2 + 1, {0}); });
    for (int k = 0; k < 3; ++k) graph.replay();
    EXPECT_EQ(y.item<float>(), 5000.0f * static_cast<float>(2 * i + 1));
  }
  stop = true;
  other.join();
  EXPECT_EQ(wrong, 0);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SharedCuda);
INSTANTIATE_TEST_SUITE_P(Devices, SharedCuda, testing::ValuesIn(cuda_devices()), device_name);

// ---- two GPUs ----

using Pair = std::pair<Device, Device>;
std::vector<Pair> pairs() {
  std::vector<Pair> list;
  const std::vector<Device> all = cuda_devices();
  for (std::size_t i = 1; i < all.size(); ++i) list.push_back({all[0], all[i]});
  return list;
}
class TwoGpus : public testing::TestWithParam<Pair> {};

std::vector<Tensor> much(Device device) {
  std::vector<Tensor> results;
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64}) {
    Generator generator{7};
    const Tensor x = randn({333, 512}, generator, {.device = device}).to(dtype);
    const Var a(x), w(randn({512, 257}, generator, {.device = device}).to(dtype)),
        bias(randn({257}, generator, {.device = device}).to(dtype));
    const Var y = matmul_bias_activation(a, w, bias, op::gelu);
    const Gradients grads = backward(sum(y * y));
    for (const Tensor& t : {y.value(), grads[a], grads[w], grads[bias], softmax(x), sum(x, {0}), sum(x, {1}), sum(x),
                            cumsum(x, 1), sort(x, 1).values, silu_mul(x, x)})
      results.push_back(t);
  }
  return results;
}

TEST_P(TwoGpus, GiveTheSameBits) {
  const std::vector<Tensor> first = much(GetParam().first), second = much(GetParam().second);
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(second[i].device(), GetParam().second);
    const std::vector<double> a = doubles(first[i]), b = doubles(second[i]);
    ASSERT_EQ(a.size(), b.size());
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * 8), 0) << "result " << i;
  }
}

TEST_P(TwoGpus, CopiesAreRightAndInOrder) {
  const auto [here, there] = GetParam();
  constexpr std::int64_t n = 2048;
  const Tensor identity = eye(n, here), same = eye(n, there);
  for (int round = 0; round < 10; ++round) {
    const std::vector<float> values = counted_up(n * n, static_cast<float>(round));
    std::optional<Tensor> y = tensor(values, {n, n}, here);
    for (int i = 0; i < 4; ++i) y = matmul(*y, identity);
    const Tensor arrived = y->to(there);
    y.reset();
    const Tensor next = tensor(counted_up(n * n, -1), {n, n}, here);  // where the copy reads
    const Tensor back = matmul(arrived, same).to(here);
    ASSERT_TRUE(back.to_vector<float>() == values) << round;
    ASSERT_TRUE(arrived.to(cpu()).to_vector<float>() == values) << round;
    ASSERT_EQ(next.slice(0, 0, 1).slice(1, 0, 1).item<float>(), -1);
  }
  for (const std::int64_t size : {1, 3, 1000, 70'001}) {
    const Tensor bytes = (arange(0, size + 5, 1, {.dtype = DType::i32, .device = here}) % 100).to(DType::i8);
    EXPECT_EQ(bytes.slice(0, 3, size + 3).to(there).to_vector<std::int8_t>(),
              bytes.slice(0, 3, size + 3).to_vector<std::int8_t>());
  }
}

TEST_P(TwoGpus, ThreadsUseBothAtOnce) {
  const auto [here, there] = GetParam();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 40; ++i) {
        const bool swap = (t + i) % 2;
        const Device from = swap ? there : here, to = swap ? here : there;
        const std::vector<float> values = counted_up(200'000, static_cast<float>(t));
        const Tensor x = tensor(values, {200'000}, from), y = (x + 1).to(to) * 2;
        const std::vector<float> got = y.to_vector<float>();
        for (std::size_t k = 0; k < got.size(); ++k) wrong += got[k] != (values[k] + 1) * 2;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(TwoGpus, MixedOperandsAreRefused) {
  const Tensor a = ones({3}, GetParam().first), b = ones({3}, GetParam().second);
  expect_error(ErrorKind::device, {"add", GetParam().first.to_string(), GetParam().second.to_string()}, [&] { a + b; });
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TwoGpus);
INSTANTIATE_TEST_SUITE_P(Devices, TwoGpus, testing::ValuesIn(pairs()), [](const auto& info) {
  return device_name({info.param.first, 0}) + "_and_" + device_name({info.param.second, 0});
});

}  // namespace
}  // namespace tern::test
