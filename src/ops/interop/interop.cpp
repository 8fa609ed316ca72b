// Tensors as other libraries are given them, and theirs as tensors: tern/interop.hpp.
#include "tern/interop.hpp"

#include <algorithm>
#include <string>

#include "backend/registry.hpp"
#include "backend/tensor_impl.hpp"

namespace tern {

using namespace detail;

namespace {

struct DlpackType {
  DType dtype;
  std::uint8_t code;  // a DLDataTypeCode; the bits are those of the element
};
constexpr std::uint8_t kBool = 6;  // kDLBool, which older headers lack
constexpr DlpackType kTypes[] = {
    {DType::boolean, kBool},   {DType::u8, kDLUInt},   {DType::i8, kDLInt},    {DType::i16, kDLInt},
    {DType::i32, kDLInt},      {DType::u32, kDLUInt},  {DType::i64, kDLInt},   {DType::f16, kDLFloat},
    {DType::bf16, kDLBfloat},  {DType::f32, kDLFloat}, {DType::f64, kDLFloat}, {DType::c64, kDLComplex},
    {DType::c128, kDLComplex},
};
static_assert(std::size(kTypes) == kDTypeCount);

DLDataType type_of(DType dtype) {
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes), [&](auto& t) { return t.dtype == dtype; });
  return {found->code, static_cast<std::uint8_t>(8 * dtype_size(dtype)), 1};
}
DType dtype_named(const DLDataType& type) {
  for (const DlpackType& t : kTypes)
    if (t.code == type.code && 8 * dtype_size(t.dtype) == type.bits && type.lanes == 1) return t.dtype;
  throw Error(ErrorKind::dtype, "from_dlpack: expected an element type that tern has, got the type of code " +
                                    std::to_string(type.code) + " with " + std::to_string(type.bits) + " bits and " +
                                    std::to_string(type.lanes) + " lanes");
}
Device device_named(const DLDevice& device) {
  if (const auto known = device_of_dlpack(device.device_type, device.device_id)) return *known;
  throw Error(ErrorKind::device,
              "from_dlpack: expected a tensor whose memory a backend takes, got one of device type " +
                  std::to_string(static_cast<int>(device.device_type)) + "; copy it to the CPU first");
}

/// What a receiver owns until it calls the deleter.
template <class Managed> struct Exported {
  Managed managed{};
  Tensor tensor;
  std::vector<std::int64_t> shape, strides;
};
template <class Managed> Managed* exported(const Tensor& x, bool read_only) {
  constexpr const char* op = "to_dlpack";
  void* const first = first_element(op, x, x.dtype(), !read_only);
  auto owner = std::make_unique<Exported<Managed>>();
  owner->tensor = x;
  owner->shape.assign(x.shape().begin(), x.shape().end());
  owner->strides.assign(x.strides().begin(), x.strides().end());
  DLTensor& t = owner->managed.dl_tensor;
  t.data = x.numel() > 0 ? first : nullptr;
  t.device = {static_cast<DLDeviceType>(detail::entry_of(x.device().kind()).dlpack[0]), x.device().index()};
  t.ndim = x.dim();
  t.dtype = type_of(x.dtype());
  t.shape = owner->shape.data();
  t.strides = owner->strides.data();
  Managed* const managed = &owner->managed;
  managed->manager_ctx = owner.release();
  managed->deleter = [](Managed* self) { delete static_cast<Exported<Managed>*>(self->manager_ctx); };
  return managed;
}
bool is_read_only(const char* op, const Tensor& x, DlpackOptions options) {
  return options.read_only || require_defined(op, "x", x).impl()->storage->read_only();
}

/// Gives the sender's memory back when no tensor holds it any more.
template <class Managed> struct Imported {
  Managed* managed = nullptr;
  Imported() = default;
  Imported(const Imported&) = delete;
  Imported& operator=(const Imported&) = delete;
  ~Imported() {
    if (managed && managed->deleter) managed->deleter(managed);
  }
};
void require_aligned(const std::byte* first, DType dtype) {
  const std::size_t unit = dtype_size(real_dtype(dtype)), past = reinterpret_cast<std::uintptr_t>(first) % unit;
  if (past == 0) return;
  throw Error(ErrorKind::device, "from_dlpack: the address of " + std::string(to_string(dtype)) +
                                     " elements must be a multiple of " + std::to_string(unit) + " bytes, it is " +
                                     std::to_string(past) + " bytes past one; copy the tensor first");
}
template <class Managed> Tensor imported(Managed* managed, bool read_only) {
  const DLTensor& t = managed->dl_tensor;
  const DType dtype = dtype_named(t.dtype);
  const Device device = device_named(t.device);
  if (t.ndim < 0 || t.ndim > kMaxRank)
    throw Error(ErrorKind::shape,
                "from_dlpack: expected 0 to " + std::to_string(kMaxRank) + " axes, got " + std::to_string(t.ndim));
  if (t.ndim > 0 && !t.shape) throw Error(ErrorKind::shape, "from_dlpack: the tensor has no shape");
  const auto rank = static_cast<std::size_t>(t.ndim);
  const Shape shape(std::vector<std::int64_t>(t.shape, t.shape + rank));
  for (const std::int64_t size : shape)
    if (size < 0) throw Error(ErrorKind::shape, "from_dlpack: expected sizes from 0 on, got " + to_string(shape));
  std::vector<std::int64_t> strides;
  if (t.strides) strides.assign(t.strides, t.strides + rank);
  auto* const first = t.data ? static_cast<std::byte*>(t.data) + t.byte_offset : nullptr;
  if (shape.numel() > 0 && !first) throw Error(ErrorKind::shape, "from_dlpack: the pointer is null");
  require_aligned(first, dtype);
  const auto owner = std::make_shared<Imported<Managed>>();
  const Tensor result = lent_elements(first, dtype, shape, strides, owner, device, read_only);
  owner->managed = managed;  // only now: where anything threw, the caller still owns it
  return result;
}

}  // namespace

DLManagedTensorVersioned* detail::to_dlpack_versioned(const Tensor& x, DlpackOptions options) {
  const bool read_only = is_read_only("to_dlpack", x, options);
  auto* const managed = exported<DLManagedTensorVersioned>(x, read_only);
  managed->version = {1, 1};  // what is filled in here
  managed->flags = read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  return managed;
}
DLManagedTensor* detail::to_dlpack_unversioned(const Tensor& x, DlpackOptions options) {
  if (is_read_only("to_dlpack", x, options))
    throw Error(ErrorKind::unsupported, "to_dlpack: DLManagedTensor cannot say that " + describe(x) +
                                            " is for reading only; make a DLManagedTensorVersioned, or clone() it");
  return exported<DLManagedTensor>(x, false);
}

Tensor from_dlpack(DLManagedTensorVersioned* managed) {
  if (!managed) throw Error(ErrorKind::value, "from_dlpack: the pointer is null");
  if (managed->version.major > 1)
    throw Error(ErrorKind::unsupported,
                "from_dlpack: expected version 1 of DLPack, got version " + std::to_string(managed->version.major));
  return imported(managed, (managed->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0);
}
Tensor from_dlpack(DLManagedTensor* managed) {
  if (!managed) throw Error(ErrorKind::value, "from_dlpack: the pointer is null");
  return imported(managed, false);
}

}  // namespace tern
