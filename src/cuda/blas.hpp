// Matrix products by cuBLASLt.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/instruments/tuning.hpp"
#include "cuda/api.hpp"
#include "tern/dtype.hpp"

namespace tern::detail_cuda {

/// A matrix in memory: rows `stride` elements apart, neighbours within a row; or, transposed, columns.
struct BlasMatrix {
  DevicePointer data = 0;
  DType dtype = DType::f32;
  std::int64_t stride = 0;
  bool transposed = false;
  std::int64_t batch_stride = 0;  // 0: the same for all
};

/// out[m, n] = a[m, k]·b[k, n] for each of `batches`; out is not transposed. f16 and bf16 are accumulated in f32.
struct Product {
  std::int64_t m = 0, n = 0, k = 0, batches = 1;
  BlasMatrix a, b, out;
};

/// Products on one GPU. Layouts and algorithms are kept by shape; which of the algorithms cuBLASLt proposes is taken is
/// a measured choice for a class of shapes: its first was seen up to 13 % behind the best of eight.
class Products {
 public:
  Products(const BlasApi& api, std::string device_class) : api_(api), device_class_(std::move(device_class)) {}

  /// Queues the product; false where cuBLASLt has no algorithm for it. `workspace` is of kWorkspace bytes.
  bool run(const Product& product, Stream stream, DevicePointer workspace);
  static constexpr std::size_t kWorkspace = 32 << 20;

 private:
  struct BlasPlan {
    BlasOperation operation = nullptr;
    BlasLayout a = nullptr, b = nullptr, out = nullptr;
    std::vector<BlasChoice> found;  // what can run, the best guess first
    const detail::Choice* choice = nullptr;
  };
  const BlasPlan& plan(const Product& product);
  BlasLayout layout(const BlasMatrix& matrix, std::int64_t rows, std::int64_t columns, std::int64_t batches) const;

  const detail::Choice& choice(const Product& product) const;

  const BlasApi& api_;
  std::string device_class_;
  Blas handle_ = nullptr;
  std::unordered_map<std::string, BlasPlan> plans_;
};

}  // namespace tern::detail_cuda
