// DLPack of CUDA's tensors, on the pretended driver, whose memory is the host's.
#include "backend/tensor_impl.hpp"
#include "fake.hpp"

namespace tern::test {
namespace {

using Interop = FakeCuda;

TEST_F(Interop, TensorsByDlpack) {
  Tensor x = zeros({4, 6});
  auto* const m = to_dlpack(x.slice(0, 1, 4).slice(1, 0, 6, 2));
  const DLTensor& t = m->dl_tensor;
  EXPECT_EQ(t.device.device_type, kDLCUDA);
  EXPECT_EQ(t.device.device_id, 0);
  EXPECT_EQ(t.strides[0], 6);
  EXPECT_EQ(t.strides[1], 2);
  EXPECT_EQ(static_cast<std::byte*>(t.data), static_cast<std::byte*>(x.impl()->storage->data()) + 6 * sizeof(float));
  EXPECT_THROW(x.data_ptr<float>(), Error);
  const Tensor same = from_dlpack(m);
  EXPECT_EQ(same.device(), cuda());
  EXPECT_EQ(same.shape(), (Shape{3, 3}));
  EXPECT_EQ(same.strides(), (Strides{6, 2}));
}
TEST_F(Interop, MemoryByDlpack) {
  unsigned long long address = 0;
  ASSERT_EQ(driver_->cuMemAlloc_v2(&address, 64), 0);
  static int returned = 0;
  std::int64_t shape[] = {2, 3};
  DLManagedTensor managed{};
  managed.dl_tensor = {.data = reinterpret_cast<void*>(address),
                       .device = {kDLCUDA, 0},
                       .ndim = 2,
                       .dtype = {kDLBfloat, 16, 1},
                       .shape = shape,
                       .strides = nullptr,
                       .byte_offset = 6};
  managed.deleter = [](DLManagedTensor*) { ++returned; };
  Tensor x = from_dlpack(&managed);
  EXPECT_EQ(x.dtype(), bf16);
  EXPECT_EQ(x.device(), cuda());
  EXPECT_EQ(static_cast<std::byte*>(x.impl()->storage->data()) + 2 * x.impl()->offset,
            reinterpret_cast<std::byte*>(address) + 6);
  x = {};
  synchronize(cuda());
  EXPECT_EQ(returned, 1);
  managed.dl_tensor.byte_offset = 7;
  expect_error_at_once(ErrorKind::device, {"from_dlpack", "bf16", "2 bytes"}, [&] { from_dlpack(&managed); });
  managed.dl_tensor.byte_offset = 60;  // four bytes are left
  expect_error_at_once(ErrorKind::shape, {"view"}, [&] { from_dlpack(&managed); });
  managed.dl_tensor.device.device_id = 99;
  expect_error_at_once(ErrorKind::device, {"99"}, [&] { from_dlpack(&managed); });
  EXPECT_EQ(returned, 1) << "what was refused is still the sender's";
}

}  // namespace
}  // namespace tern::test
