// What the kernels of linear algebra on GPUs share.
#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "gpu/plan/lines.hpp"
#include "primitives/linalg/kernels.hpp"

namespace tern::detail_gpu {

/// The words in which a kernel notes the first matrix that failed, for an error when the device is next waited for.
class Noted {
 public:
  /// `most`: the largest status.
  Noted(GpuBackend& backend, Plan& plan, bool batched, detail::PrimitiveId by, std::int64_t most);
  /// Statements that note it; matrix: u32, status: i32.
  std::string text(const std::string& matrix, const std::string& status) const;

 private:
  GpuBackend& backend_;
  Plan& plan_;
  View flags_;
  int access_;
  std::uint32_t statuses_;
};

/// A kernel over the matrices of a batch: views laid over its axes, which are merged, and rows and columns.
class MatrixPlan {
 public:
  MatrixPlan(GpuBackend& backend, const detail::MatrixRequest& r, char kind);
  /// The access of a view over the batch and these sizes: rows and columns, rows alone, or none.
  int add(const View& view, std::initializer_list<std::int64_t> sizes, bool written);
  /// The kernel notes what failed: the requests of `by`.
  void note_failures(detail::PrimitiveId by);
  /// `text` may use batch and noted.
  void launch(std::uint64_t groups, std::uint32_t threads, const std::function<std::string()>& text);
  std::string count() const { return backend.dialect().param(count_slot_); }
  Position at(const std::vector<std::string>& matrix, const std::string& row = "0u",
              const std::string& column = "0u") const {
    Position position{matrix, -1, 1};
    position.coordinates.push_back(row), position.coordinates.push_back(column);
    return position;
  }
  std::string module(const char* what, const std::string& body, std::vector<Shared> shared,
                     const std::string& functions = "", bool subgroups = false) const {
    return module_text(backend, plan, what, body, std::move(shared), functions, subgroups);
  }

  GpuBackend& backend;
  Plan plan;
  MergedAxes batch;
  std::optional<Noted> noted;

 private:
  struct Added {
    View view;
    bool written;
  };
  Shape space_;
  std::vector<Added> views_;
  std::vector<ByteRange> touched_;
  int count_slot_;
  std::int64_t most_;
  detail::PrimitiveId by_ = detail::PrimitiveId::count;
};

/// Sets a number of each matrix to 0: a view over the batch alone.
void clear_of_each(GpuBackend& backend, const detail::MatrixRequest& r, const View& of_each);

}  // namespace tern::detail_gpu
