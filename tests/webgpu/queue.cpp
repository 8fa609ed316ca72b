// The queue: batches, order of uploads, packed writes, faults.
#include "../every_device/reference.hpp"
#include "webgpu/webgpu_backend.hpp"

namespace tern::test {
namespace {

class Queue : public testing::Test {
 protected:
  void SetUp() override { set_default_device(webgpu()); }
  void TearDown() override { set_default_device(cpu()); }
};

TEST_F(Queue, ManyKernelsAreOneSubmissionAndOneWait) {
  Tensor x = ones({1000});
  const auto before = detail_webgpu::queue_counts(0);
  for (int i = 0; i < 50; ++i) x = x * 1.5 - 0.5;
  EXPECT_EQ(x.to_vector<float>()[999], 1.0f);
  const auto after = detail_webgpu::queue_counts(0);
  EXPECT_EQ(after.submissions - before.submissions, 1u);
  EXPECT_EQ(after.waits - before.waits, 1u);
}
/// A write through the queue would overtake kernels that are recorded and not submitted.
TEST_F(Queue, UploadsKeepTheirPlace) {
  for (const std::size_t count : {std::size_t{8}, std::size_t{1} << 20}) {  // staged, and written directly
    const Tensor a = tensor(std::vector<float>(count, 1.0f));
    Tensor x = a + 0;
    const Tensor y = x * 2;
    x.copy_from(tensor(std::vector<float>(count, 5.0f)));
    const Tensor z = x * 2;
    EXPECT_EQ(y.to_vector<float>()[count - 1], 2.0f);
    EXPECT_EQ(z.to_vector<float>()[count - 1], 10.0f);
  }
}
TEST_F(Queue, MemoryGoesRound) {
  const Tensor x = ones({1 << 20});
  for (int i = 0; i < 200; ++i) EXPECT_EQ((x + i).slice(0, 5, 6).item<float>(), 1.0f + static_cast<float>(i));
}
TEST_F(Queue, ManyKernelsAreSubmittedMeanwhile) {
  Tensor x = ones({64});
  synchronize(webgpu());
  const auto before = detail_webgpu::queue_counts(0);
  for (int i = 0; i < 600; ++i) x = x + 1;
  const auto recorded = detail_webgpu::queue_counts(0);
  EXPECT_EQ(recorded.submissions - before.submissions, 2u) << "after 256 kernels and after 512";
  EXPECT_EQ(recorded.waits, before.waits);
  EXPECT_EQ(x.to_vector<float>()[63], 601.0f);
}
/// Memory the program let go of is held by commands that are not submitted: with too much of it, they are.
TEST_F(Queue, MemoryThatWaitsToBeFreedIsSubmitted) {
  const Tensor x = ones({2 << 20});
  synchronize(webgpu());
  release_memory(webgpu());  // larger pieces that were left would be counted whole
  const auto before = detail_webgpu::queue_counts(0);
  const std::uint64_t limit = detail_webgpu::set_most_waiting_bytes(0, 16 << 20);
  for (std::int64_t i = 0; i < 8; ++i) x.slice(0, 0, (1 << 20) + (i << 17)) * 2;  // 4 MiB and more, never of one size
  const auto several = detail_webgpu::queue_counts(0);
  EXPECT_EQ(several.submissions - before.submissions, 2u) << "of 43 MiB in all";
  for (int i = 0; i < 20; ++i) x.slice(0, 0, 1 << 20) * 2;  // one size: the same memory serves all
  EXPECT_EQ(detail_webgpu::queue_counts(0).submissions, several.submissions);
  detail_webgpu::set_most_waiting_bytes(0, limit);
}
/// Elements of packed types share words with their neighbours: writes into a slice leave those alone.
TEST_F(Queue, PackedSlicesAtOddPlaces) {
  for (const DType dtype : {boolean, u8, i8, i16, f16, bf16})
    for (const std::int64_t begin : {0, 1, 2, 3, 5})
      for (const std::int64_t length : {1, 2, 3, 4, 7, 8}) {
        Tensor x = zeros({20}, dtype);
        Tensor part = x.slice(0, begin, begin + length);
        part.copy_from(ones({length}, dtype));
        std::vector<double> want(20, 0.0);
        for (std::int64_t i = 0; i < length; ++i) want[static_cast<std::size_t>(begin + i)] = 1;
        ASSERT_EQ(doubles(x), want) << to_string(dtype) << " from " << begin << ", " << length;
        Tensor rows = zeros({4, 5}, dtype);
        Tensor column = rows.slice(1, begin % 5, begin % 5 + 1);
        column.copy_from(ones({4, 1}, dtype));
        ASSERT_EQ(sum(rows.to(f32)).item<float>(), 4.0f) << to_string(dtype);
        ASSERT_EQ(doubles(rows.slice(1, begin % 5, begin % 5 + 1)), (std::vector<double>{1, 1, 1, 1}));
      }
}
TEST_F(Queue, DtypesWithoutKernelsAreRefusedByName) {
  for (const DType dtype : {f64, i64}) {
    expect_error(ErrorKind::unsupported, {"full", std::string(to_string(dtype)), "webgpu:0"},
                 [&] { zeros({2}, dtype); });
    expect_error(ErrorKind::unsupported, {"to", std::string(to_string(dtype)), "webgpu:0"},
                 [&] { ones({2}).to(dtype); });
    expect_error(ErrorKind::unsupported, {std::string(to_string(dtype)), "webgpu:0"},
                 [&] { zeros({2}, {.dtype = dtype, .device = cpu()}).to(webgpu()); });
  }
}
TEST_F(Queue, MoreMemoryThanThereIsIsRefused) {
  expect_error(ErrorKind::out_of_memory, {}, [] { zeros({std::int64_t{1} << 44}); });
  EXPECT_EQ(ones({3}).to_vector<float>(), (std::vector<float>{1, 1, 1}));
}
TEST_F(Queue, IndicesOutOfRangeArriveWithTheNextWait) {
  const Tensor x = ones({5, 2}), y = take(x, tensor({7}));
  expect_error(ErrorKind::index, {"take", "7", "5", "f32[5, 2]"}, [&] { y.to_vector<float>(); });
  EXPECT_EQ(doubles(take(x, tensor({1}))), (std::vector<double>{1, 1}));
}
/// What stands behind the last index in memory is loaded along with it, and no error.
TEST_F(Queue, IndicesBehindTheLastAreNotChecked) {
  for (const std::int64_t count : {1, 2, 3, 5, 6}) {
    const Tensor garbage = full({8}, 1000000, i32);
    Tensor indices = garbage.clone();
    indices = Tensor();  // its memory is given out again
    indices = zeros({count}, i32);
    EXPECT_EQ(take(ones({4}), indices).to_vector<float>(), std::vector<float>(static_cast<std::size_t>(count), 1.0f));
  }
}
/// Last, as it takes the device away.
TEST_F(Queue, ZALostDeviceIsReplaced) {
  const Tensor host = tensor({1.0f, 2.0f}).to(cpu());
  const Tensor gone = ones({4});
  detail_webgpu::lose_device(0);
  expect_error(ErrorKind::backend, {"lost", "webgpu:0"}, [&] { (gone + 1).to_vector<float>(); });
  EXPECT_EQ(doubles(host), (std::vector<double>{1, 2}));
  EXPECT_EQ(doubles(host.to(webgpu()) + 1), (std::vector<double>{2, 3}));
}

}  // namespace
}  // namespace tern::test
