// Tensors in the hands of other libraries, and theirs as tensors: mdspan and DLPack. Eigen: eigen.cpp.
#include <complex>
#include <memory>

#include "every_device/reference.hpp"
#include "every_device/tensors/mdspan.hpp"

namespace tern::test {
namespace {

class Interop : public EveryDevice {};
TERN_EVERY_DEVICE(Interop);

// ---- mdspan ----
using Matrix = md::mdspan<float, md::dextents<int, 2>>;
using ConstMatrix = md::mdspan<const float, md::dextents<int, 2>>;
using Columns = md::mdspan<float, md::dextents<std::size_t, 2>, md::layout_left>;
using Strided = md::mdspan<float, md::dextents<std::int64_t, 2>, md::layout_stride>;

TEST_P(Interop, SpansOfElementsWhereTheyLie) {
  Tensor x = counted({3, 4});
  if (device() != cpu()) {
    expect_error(ErrorKind::device, {"to_mdspan", ".to(cpu())"}, [&] { to_mdspan<Matrix>(x); });
    return;
  }
  const Matrix m = to_mdspan<Matrix>(x);
  md::at(m, 1, 2) = -6;
  EXPECT_EQ(x(1, 2).item<float>(), -6);
  EXPECT_EQ(m.extents().extent(0), 3);
  EXPECT_EQ(m.data_handle(), x.data_ptr<float>());
  const ConstMatrix seen = to_mdspan<ConstMatrix>(Var(x));
  EXPECT_EQ(md::at(seen, 2, 3), 11);
  const Columns columns = to_mdspan<Columns>(x.T());
  EXPECT_EQ(md::at(columns, 2, 1), -6);
  const Strided part = to_mdspan<Strided>(x.slice(0, 1, 3).slice(1, 0, {}, 2));
  EXPECT_EQ(md::at(part, 1, 1), 10);
  EXPECT_EQ(part.mapping().stride(0), 4);
  EXPECT_EQ(part.mapping().stride(1), 2);
  const Strided row = to_mdspan<Strided>(x.slice(0, 1, 2));
  EXPECT_GE(row.mapping().stride(0), 4);  // of an axis of one: past the others
  const auto number = to_mdspan<md::mdspan<const float, md::extents<int>>>(x(2, 3));
  EXPECT_EQ(md::at(number), 11);
  const auto none = to_mdspan<Strided>(zeros({0, 3}));
  EXPECT_EQ(none.extents().extent(0), 0);
  EXPECT_EQ(none.mapping().stride(1), 1);
}
TEST_P(Interop, SpansThatATensorIsNot) {
  if (device() != cpu()) return;
  Tensor x = counted({3, 4});
  expect_error(ErrorKind::dtype, {"to_mdspan", "f64[3, 4]", "f32", ".to(f32)"}, [&] { to_mdspan<Matrix>(x.to(f64)); });
  expect_error(ErrorKind::shape, {"to_mdspan", "f32[12]", "2 axes"}, [&] { to_mdspan<Matrix>(x.flatten()); });
  expect_error(ErrorKind::shape, {"to_mdspan", "layout", "contiguous()"}, [&] { to_mdspan<Matrix>(x.T()); });
  expect_error(ErrorKind::shape, {"to_mdspan", "layout"}, [&] { to_mdspan<Columns>(x); });
  expect_error(ErrorKind::shape, {"negative stride"}, [&] { to_mdspan<Strided>(x.slice(0, {}, {}, -1)); });
  expect_error(ErrorKind::shape, {"broadcast"}, [&] {
    to_mdspan<md::mdspan<const float, md::dextents<int, 2>, md::layout_stride>>(x.slice(0, 0, 1).broadcast_to({2, 4}));
  });
  using Three = md::mdspan<float, md::extents<int, 3, 3>>;
  expect_error(ErrorKind::shape, {"to_mdspan", "f32[3, 4]", "3", "axis 1"}, [&] { to_mdspan<Three>(x); });
  using Bytes = md::mdspan<float, md::dextents<signed char, 1>>;
  expect_error(ErrorKind::shape, {"indices"}, [&] { to_mdspan<Bytes>(zeros({128})); });
  EXPECT_EQ(to_mdspan<Bytes>(zeros({127})).extents().extent(0), 127);
  expect_error(ErrorKind::shape, {"to_mdspan"}, [] { to_mdspan<Matrix>(Tensor()); });
  const float constant[4] = {1, 2, 3, 4};
  expect_error(ErrorKind::unsupported, {"constant memory"}, [&] { to_mdspan<Matrix>(Tensor::view(constant, {2, 2})); });
  EXPECT_EQ(to_mdspan<ConstMatrix>(Tensor::view(constant, {2, 2})).data_handle(), constant);
  const Var v(x);
  const Var y = sum(square(v));
  to_mdspan<ConstMatrix>(x);
  EXPECT_NO_THROW(backward(y, {.keep_graph = true}));
  to_mdspan<Matrix>(x);  // counts as a write
  expect_error(ErrorKind::autograd, {}, [&] { backward(y); });
}
TEST_P(Interop, TensorsOfSpans) {
  if (device() != cpu()) return;
  std::vector<float> memory{0, 1, 2, 3, 4, 5};
  Tensor rows = from_mdspan(Matrix(memory.data(), Matrix::mapping_type(md::dextents<int, 2>(2, 3))));
  expect_values(rows, {2, 3}, {0, 1, 2, 3, 4, 5});
  rows += 1;
  EXPECT_EQ(memory[5], 6);
  expect_values(from_mdspan(to_mdspan<Columns>(rows.T())), {3, 2}, {1, 4, 2, 5, 3, 6});
  expect_values(from_mdspan(to_mdspan<Strided>(rows.slice(1, 0, {}, 2))), {2, 2}, {1, 3, 4, 6});
  Tensor seen = from_mdspan(to_mdspan<ConstMatrix>(rows));
  expect_error(ErrorKind::unsupported, {"constant memory"}, [&] { seen += 1; });
  auto owner = std::make_shared<std::vector<float>>(4, 7.0f);
  const std::weak_ptr<std::vector<float>> kept = owner;
  const Columns lent(owner->data(), Columns::mapping_type(md::dextents<std::size_t, 2>(2u, 2u)));
  Tensor t = from_mdspan(lent, std::move(owner));
  EXPECT_FALSE(kept.expired());
  t = {};
  EXPECT_TRUE(kept.expired());
}

// ---- DLPack ----
/// A sender's tensor over `memory`, which counts how often it was given back.
template <class Managed = DLManagedTensorVersioned> struct Sent {
  std::vector<std::int64_t> shape, strides;
  Managed managed{};
  int returned = 0;

  Sent(void* memory, DLDataType type, std::vector<std::int64_t> sizes, std::vector<std::int64_t> steps = {})
      : shape(std::move(sizes)), strides(std::move(steps)) {
    DLTensor& t = managed.dl_tensor;
    t.data = memory, t.device = {kDLCPU, 0}, t.ndim = static_cast<std::int32_t>(shape.size()), t.dtype = type;
    t.shape = shape.data(), t.strides = strides.empty() ? nullptr : strides.data();
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) { ++static_cast<Sent*>(self->manager_ctx)->returned; };
    if constexpr (requires { managed.version; }) managed.version = {1, 0};
  }
};
constexpr DLDataType kFloat{kDLFloat, 32, 1};

TEST_P(Interop, TensorsByDlpack) {
  Tensor x = counted({2, 3, 4});
  if (device().kind() == DeviceKind::webgpu) {
    expect_error(ErrorKind::device, {"to_dlpack", ".to(cpu())"}, [&] { to_dlpack(x); });
    return;
  }
  const Tensor part = x.permute({2, 0, 1}).slice(0, {}, {}, -2).slice(2, 1, 3);
  DLManagedTensorVersioned* const m = to_dlpack(part);
  const DLTensor& t = m->dl_tensor;
  EXPECT_EQ(m->version.major, 1u);
  EXPECT_EQ(m->flags, 0u);
  EXPECT_EQ(t.device.device_type, device() == cpu() ? kDLCPU : kDLCUDA);
  EXPECT_EQ(t.ndim, 3);
  EXPECT_EQ(std::vector(t.shape, t.shape + 3), (std::vector<std::int64_t>{2, 2, 2}));
  EXPECT_EQ(std::vector(t.strides, t.strides + 3), (std::vector<std::int64_t>{-2, 12, 4}));
  EXPECT_EQ(t.byte_offset, 0u);
  const Tensor same = from_dlpack(m);
  EXPECT_EQ(same.device(), device());
  expect_values(same, {2, 2, 2}, {7, 11, 19, 23, 5, 9, 17, 21});
  x *= 2;
  expect_values(same, {2, 2, 2}, {14, 22, 38, 46, 10, 18, 34, 42});
  DLManagedTensor* const old = to_dlpack<DLManagedTensor>(Var(x));
  EXPECT_EQ(old->dl_tensor.ndim, 3);
  expect_values(from_dlpack(old)[1][2], {4}, {40, 42, 44, 46});
}
TEST_P(Interop, DlpackOfEveryElementType) {
  if (device() != cpu()) return;
  const std::vector<std::pair<DType, DLDataType>> types{
      {boolean, {kDLBool, 8, 1}},  {u8, {kDLUInt, 8, 1}},    {i8, {kDLInt, 8, 1}},     {i16, {kDLInt, 16, 1}},
      {i32, {kDLInt, 32, 1}},      {u32, {kDLUInt, 32, 1}},  {i64, {kDLInt, 64, 1}},   {f16, {kDLFloat, 16, 1}},
      {bf16, {kDLBfloat, 16, 1}},  {f32, {kDLFloat, 32, 1}}, {f64, {kDLFloat, 64, 1}}, {c64, {kDLComplex, 64, 1}},
      {c128, {kDLComplex, 128, 1}}};
  EXPECT_EQ(types.size(), static_cast<std::size_t>(kDTypeCount));
  for (const auto& [dtype, type] : types) {
    const Tensor x = counted({2, 3}, dtype);
    auto* const m = to_dlpack(x);
    EXPECT_EQ(m->dl_tensor.dtype.code, type.code) << dtype;
    EXPECT_EQ(m->dl_tensor.dtype.bits, type.bits) << dtype;
    EXPECT_EQ(m->dl_tensor.dtype.lanes, 1) << dtype;
    const Tensor back = from_dlpack(m);
    EXPECT_EQ(back.dtype(), dtype);
    EXPECT_TRUE(all(back == x).item<bool>()) << dtype;
  }
  std::vector<std::byte> memory(64);
  for (const DLDataType type : {DLDataType{kDLFloat, 32, 4}, DLDataType{kDLInt, 4, 1}, DLDataType{kDLUInt, 16, 1},
                                DLDataType{kDLUInt, 64, 1}, DLDataType{kDLComplex, 32, 1}, DLDataType{kDLFloat, 8, 1},
                                DLDataType{kDLOpaqueHandle, 64, 1}, DLDataType{99, 32, 1}}) {
    Sent<> sent(memory.data(), type, {2});
    expect_error(ErrorKind::dtype, {"from_dlpack", std::to_string(type.bits).c_str(), "lanes"},
                 [&] { from_dlpack(&sent.managed); });
    EXPECT_EQ(sent.returned, 0) << "it is still the sender's";
  }
}
TEST_P(Interop, DlpackKeepsAndReturnsMemory) {
  if (device() != cpu()) return;
  std::vector<float> memory{0, 1, 2, 3, 4, 5, 6, 7};
  Sent<> sent(memory.data(), kFloat, {2, 2}, {4, 2});
  sent.managed.dl_tensor.byte_offset = 4;
  Tensor x = from_dlpack(&sent.managed);
  expect_values(x, {2, 2}, {1, 3, 5, 7});
  Tensor row = x[1];
  x = {};
  EXPECT_EQ(sent.returned, 0);
  row += 10;
  row = {};
  EXPECT_EQ(sent.returned, 1);
  EXPECT_EQ(memory[7], 17);

  Sent<DLManagedTensor> none(nullptr, kFloat, {0, 3});  // nothing lies nowhere
  EXPECT_EQ(from_dlpack(&none.managed).shape(), (Shape{0, 3}));
  EXPECT_EQ(none.returned, 1);
  Sent<> number(memory.data() + 3, kFloat, {});
  number.managed.deleter = nullptr;  // nobody asks for it back
  EXPECT_EQ(from_dlpack(&number.managed).item<float>(), 3);

  Tensor ours = counted({5});
  auto* const m = to_dlpack(ours);
  float* const elements = static_cast<float*>(m->dl_tensor.data);
  ours = {};  // the receiver holds it
  elements[4] = 40;
  EXPECT_EQ(elements[3] + elements[4], 43);
  m->deleter(m);
  auto* const empty = to_dlpack<DLManagedTensor>(zeros({3, 0}));
  EXPECT_EQ(empty->dl_tensor.data, nullptr);
  EXPECT_EQ(empty->dl_tensor.shape[0], 3);
  empty->deleter(empty);
}
TEST_P(Interop, DlpackForReading) {
  if (device() != cpu()) return;
  std::vector<float> memory{1, 2};
  Sent<> sent(memory.data(), kFloat, {2});
  sent.managed.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  Tensor x = from_dlpack(&sent.managed);
  expect_error(ErrorKind::unsupported, {"constant memory"}, [&] { x += 1; });
  auto* const again = to_dlpack(x);
  EXPECT_EQ(again->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
  again->deleter(again);
  expect_error(ErrorKind::unsupported, {"to_dlpack", "DLManagedTensorVersioned"},
               [&] { to_dlpack<DLManagedTensor>(x); });
  const Var v(counted({3}));
  const Var y = sum(square(v));
  auto* const m = to_dlpack(v, {.read_only = true});
  EXPECT_EQ(m->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
  m->deleter(m);
  EXPECT_NO_THROW(backward(y, {.keep_graph = true}));
  auto* const writable = to_dlpack(v);
  writable->deleter(writable);
  expect_error(ErrorKind::autograd, {}, [&] { backward(y); });
  // A broadcast view is handed over to be read.
  expect_error(ErrorKind::shape, {"to_dlpack", "broadcast"}, [&] { to_dlpack(counted({1}).broadcast_to({3})); });
  const Tensor spread = from_dlpack(to_dlpack(counted({1}).broadcast_to({3}), {.read_only = true}));
  expect_values(spread, {3}, {0, 0, 0});
}
TEST_P(Interop, DlpackThatIsRefused) {
  if (device() != cpu()) return;
  std::vector<float> memory(8);
  const auto refused = [&](ErrorKind kind, const std::vector<std::string>& parts, auto change) {
    Sent<> sent(memory.data(), kFloat, {2, 3}, {3, 1});
    change(sent.managed);
    expect_error(kind, parts, [&] { from_dlpack(&sent.managed); });
    EXPECT_EQ(sent.returned, 0) << "it is still the sender's";
  };
  using Managed = DLManagedTensorVersioned;
  refused(ErrorKind::device, {"from_dlpack", "10"}, [](Managed& m) { m.dl_tensor.device = {kDLROCM, 0}; });
  refused(ErrorKind::device, {"from_dlpack", "15"}, [](Managed& m) { m.dl_tensor.device = {kDLWebGPU, 0}; });
  refused(ErrorKind::device, {"from_dlpack", "f32", "4 bytes"}, [](Managed& m) { m.dl_tensor.byte_offset = 2; });
  refused(ErrorKind::shape, {"from_dlpack", "[2, -3]"}, [](Managed& m) { m.dl_tensor.shape[1] = -3; });
  refused(ErrorKind::shape, {"from_dlpack", "null"}, [](Managed& m) { m.dl_tensor.data = nullptr; });
  refused(ErrorKind::shape, {"from_dlpack", "shape"}, [](Managed& m) { m.dl_tensor.shape = nullptr; });
  refused(ErrorKind::shape, {"from_dlpack"}, [](Managed& m) { m.dl_tensor.ndim = -1; });
  refused(ErrorKind::shape, {"axes"}, [](Managed& m) { m.dl_tensor.ndim = 1000; });
  refused(ErrorKind::unsupported, {"from_dlpack", "version 2"}, [](Managed& m) { m.version.major = 2; });
  expect_error(ErrorKind::value, {"from_dlpack", "null"}, [] { from_dlpack(static_cast<Managed*>(nullptr)); });
  expect_error(ErrorKind::shape, {"to_dlpack"}, [] { to_dlpack(Tensor()); });
  Tensor y;
  const Tensor x = counted({3});
  const Graph g = capture(cpu(), [&] { y = x + 1; });
  expect_error(ErrorKind::unsupported, {"to_dlpack", "replay()"}, [&] { to_dlpack(y); });
  g.replay();
  expect_values(from_dlpack(to_dlpack(y)), {3}, {1, 2, 3});
}
/// data<T>() is data_ptr<T>().
TEST_P(Interop, DataByItsOtherName) {
  if (device() != cpu()) return;
  Tensor x = counted({3});
  EXPECT_EQ(x.data<float>(), x.data_ptr<float>());
  EXPECT_EQ(std::as_const(x).data<float>(), Var(x).data<float>());
}

}  // namespace
}  // namespace tern::test
