#include "io/stored.hpp"

#include <algorithm>
#include <bit>
#include <complex>
#include <limits>
#include <memory>
#include <utility>

#include "backend/instruments/trace.hpp"
#include "backend/memory/elements.hpp"
#include "backend/recording/capture.hpp"
#include "backend/tensor_impl.hpp"

namespace tern::io::detail {

static_assert(std::endian::native == std::endian::little, "files are read and written as they lie in memory");

const StoredType& stored_type(DType dtype) {
  return *std::find_if(std::begin(kStoredTypes), std::end(kStoredTypes),
                       [&](const StoredType& type) { return type.dtype == dtype; });
}

void damaged(std::string_view op, const std::string& path, const std::string& expected, const std::string& got) {
  throw Error(ErrorKind::io, std::string(op) + ": the file " + path + " is not one that can be read: expected " +
                                 expected + ", got " + got);
}

std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 60;
  std::string result = "'";
  for (const char c : text.substr(0, kMost)) result += c >= ' ' && c != '\x7f' ? c : '?';
  return result + (text.size() > kMost ? "…'" : "'");
}

std::string joined(const std::string& before, std::string_view name) {
  return before.empty() ? std::string(name) : before + "." + std::string(name);
}
std::string_view next_name(std::string_view& names) {
  const std::size_t end = names.find(',');
  const std::string_view name = names.substr(0, end);
  names.remove_prefix(end == std::string_view::npos ? names.size() : end + 1);
  names.remove_prefix(std::min(names.find_first_not_of(' '), names.size()));
  return name;
}

/// i64 holds the bits of both numbers.
Named state_of(const Generator& generator) {
  const auto number = [](std::uint64_t n) {
    return full({}, static_cast<std::int64_t>(n), {.dtype = DType::i64, .device = cpu()});
  };
  return {{"seed", number(generator.seed)}, {"position", number(generator.position)}};
}
void set_state(Generator& generator, const Named& state) {
  const auto number = [&](const char* name) { return static_cast<std::uint64_t>(state.at(name).item<std::int64_t>()); };
  generator = Generator(number("seed"), number("position"));
}

std::uint64_t checked_bytes(std::string_view op, const std::string& path, const std::vector<std::uint64_t>& sizes,
                            DType dtype, Shape& shape) {
  if (sizes.size() > static_cast<std::size_t>(kMaxRank))
    damaged(op, path, "at most " + std::to_string(kMaxRank) + " axes", std::to_string(sizes.size()));
  std::uint64_t bytes = dtype_size(dtype);
  bool empty = false;
  for (const std::uint64_t size : sizes) {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    // Sizes beside a 0 must fit, too: they are multiplied for the strides.
    if (size > kMost || (size > 0 && bytes > kMost / size))
      damaged(op, path, "sizes whose product fits 63 bits", "an axis of " + std::to_string(size));
    if (size == 0) empty = true;
    else bytes *= size;
    shape.push_back(static_cast<std::int64_t>(size));
  }
  return empty ? 0 : bytes;
}

namespace {

constexpr std::size_t kTransferBytes = std::size_t{4} << 20;  // bytes on the way to a device

/// Bytes as a file has them to bytes as memory has them.
void to_native(const StoredTensor& stored, std::byte* bytes, std::size_t count) {
  const std::size_t size = dtype_size(real_dtype(stored.dtype));  // the parts of complex numbers are turned one by one
  if (stored.dtype == DType::boolean)                             // anything but 0 and 1 is no bool of C++
    std::transform(bytes, bytes + count, bytes, [](std::byte b) { return std::byte{b != std::byte{0}}; });
  if (stored.big_endian && size > 1)
    for (std::size_t i = 0; i < count; i += size) std::reverse(bytes + i, bytes + i + size);
}

void fill(const StoredTensor& stored, const Tensor& to, const ReadBytes& read) {
  tern::detail::Storage& storage = *to.impl()->storage;
  tern::detail::Backend& backend = storage.backend();
  if (backend.device() == cpu() && !tern::detail::current_capture()) {
    auto* const bytes = static_cast<std::byte*>(storage.data());
    read(bytes, stored.bytes);
    return to_native(stored, bytes, stored.bytes);
  }
  const std::unique_ptr<std::byte[]> part(new std::byte[std::min<std::uint64_t>(kTransferBytes, stored.bytes)]);
  for (std::uint64_t done = 0; done < stored.bytes;) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kTransferBytes, stored.bytes - done));
    read(part.get(), count);
    to_native(stored, part.get(), count);
    tern::detail::upload(backend, storage, done, part.get(), count);
    done += count;
  }
}

}  // namespace

Tensor from_stored(const StoredTensor& stored, const LoadOptions& options, const ReadBytes& read) {
  Shape laid = stored.shape;
  if (stored.columns_first) std::reverse(&laid[0], &laid[0] + laid.size());
  Tensor tensor = tern::detail::make_stored_tensor(laid, stored.dtype, tern::detail::backend_of(options.device));
  if (stored.bytes > 0) fill(stored, tensor, read);
  if (stored.columns_first && laid.rank() > 1) {
    Axes order;
    for (int axis = laid.rank(); axis-- > 0;) order.push_back(axis);
    tensor = tensor.permute(order);
  }
  return options.dtype ? tensor.to(*options.dtype) : tensor;
}

Tensor view_of_stored(const StoredTensor& stored, const std::shared_ptr<std::byte>& bytes) {
  std::byte* const first = bytes.get();
  const bool aligned = reinterpret_cast<std::uintptr_t>(first) % dtype_size(real_dtype(stored.dtype)) == 0;
  if (!aligned || stored.bytes == 0 || stored.big_endian || stored.columns_first) return {};
  if (stored.dtype == DType::boolean &&
      !std::all_of(first, first + stored.bytes, [](std::byte b) { return b <= std::byte{1}; }))
    return {};
  auto impl = tern::detail::make_pooled<tern::detail::TensorImpl>();
  impl->dtype = stored.dtype, impl->shape = stored.shape, impl->numel = stored.shape.numel();
  impl->strides = tern::detail::contiguous_strides(stored.shape);
  tern::detail::borrow(*impl, first, bytes, cpu());
  return Tensor(std::move(impl));
}

std::string_view raw_bytes(const char* op, const Tensor& tensor, Tensor& kept) {
  tern::detail::require_defined(op, "the tensor", tensor);
  kept = tensor.to(cpu()).contiguous();
  const auto bytes = [&]<class T>(std::type_identity<T>) {
    return std::string_view(reinterpret_cast<const char*>(kept.data_ptr<const T>()),
                            static_cast<std::size_t>(kept.numel()) * sizeof(T));
  };
  if (kept.dtype() == DType::c64) return bytes(std::type_identity<std::complex<float>>());
  if (kept.dtype() == DType::c128) return bytes(std::type_identity<std::complex<double>>());
  return tern::detail::with_element(kept.dtype(), bytes);
}

}  // namespace tern::io::detail
