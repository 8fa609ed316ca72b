// How dtypes are called in files, and how elements come from them and go to them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "process/files.hpp"
#include "tern/io.hpp"

namespace tern::io::detail {

/// THE table: a dtype, its letter in npy (the width follows from its size), and its name in safetensors, or "" where
/// that has no such type.
struct StoredType {
  DType dtype;
  char npy;
  std::string_view safetensors;
};
inline constexpr StoredType kStoredTypes[] = {
    {DType::boolean, 'b', "BOOL"}, {DType::u8, 'u', "U8"},   {DType::i8, 'i', "I8"},   {DType::i16, 'i', "I16"},
    {DType::i32, 'i', "I32"},      {DType::u32, 'u', "U32"}, {DType::i64, 'i', "I64"}, {DType::f16, 'f', "F16"},
    {DType::bf16, 'V', "BF16"},    {DType::f32, 'f', "F32"}, {DType::f64, 'f', "F64"}, {DType::c64, 'c', "C64"},
    {DType::c128, 'c', ""},
};
const StoredType& stored_type(DType dtype);

/// Throws io: "load_npy: the file x is damaged: expected ‹expected›, got ‹got›".
[[noreturn]] void damaged(std::string_view op, const std::string& path, const std::string& expected,
                          const std::string& got);
/// A text out of a file for a message: printable, and not long.
std::string shown(std::string_view text);

/// What a tensor in a file is like, checked against the rules of tern.
struct StoredTensor {
  DType dtype = DType::f32;
  Shape shape;
  bool columns_first = false;  // Fortran's order
  bool big_endian = false;
  std::uint64_t bytes = 0;
};
/// The bytes of so many elements; throws io where the sizes are no shape of a tensor.
std::uint64_t checked_bytes(std::string_view op, const std::string& path, const std::vector<std::uint64_t>& sizes,
                            DType dtype, Shape& shape);

/// Gives the next bytes of a tensor; throws io where there are none.
using ReadBytes = std::function<void(void* to, std::size_t bytes)>;
/// A tensor of the bytes that `read` gives.
Tensor from_stored(const StoredTensor& stored, const LoadOptions& options, const ReadBytes& read);
/// A tensor over bytes, which are its own; undefined where there is none: bytes that are not aligned, or not as memory
/// has them.
Tensor view_of_stored(const StoredTensor& stored, const std::shared_ptr<std::byte>& bytes);
/// The elements, row-major, in the CPU's memory, which the tensor `kept` holds.
std::string_view raw_bytes(const char* op, const Tensor& tensor, Tensor& kept);

// npy, of which npz is made, too.
std::string npy_header(const Tensor& tensor);
/// Reads the header; `available`: how many bytes there are in all.
StoredTensor read_npy_header(std::string_view op, const std::string& path, std::uint64_t available,
                             const ReadBytes& read);

}  // namespace tern::io::detail
