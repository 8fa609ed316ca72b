// A primitive: what has a kernel of its own. Everything else is composed of primitives.
//
// A primitive is described by the type of its requests. The type lists the views of a request and its cost; the
// dispatcher (backend/run.hpp), captures, reports and the cache of planned requests know no more of it.
#pragma once
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "backend/views.hpp"
#include "formula/program.hpp"

namespace tern::detail {

class Backend;

#define TERN_PRIMITIVE(name, Request) struct Request;
#include "primitives/primitives.inc"
#undef TERN_PRIMITIVE

/// The place of a primitive in a backend's table.
enum class PrimitiveId : int {
#define TERN_PRIMITIVE(name, Request) name,
#include "primitives/primitives.inc"
#undef TERN_PRIMITIVE
  count
};

/// The id of the primitive with this type of requests.
template <class Request> inline constexpr PrimitiveId primitive_id = PrimitiveId::count;
#define TERN_PRIMITIVE(name, Request) \
  template <> inline constexpr PrimitiveId primitive_id<Request> = PrimitiveId::name;
#include "primitives/primitives.inc"
#undef TERN_PRIMITIVE

struct Primitive;
/// A kernel as a backend's table holds it: `request` is of the primitive's type.
using Kernel = void (*)(Backend& backend, const Primitive& primitive, const void* request);

/// A kernel and the family of backends it is for: "cpu", "gpu" (all whose kernels are texts), "cuda", "webgpu".
struct FamilyKernel {
  const char* family;
  Kernel kernel;
};

struct Primitive {
  PrimitiveId id;
  const char* name;  // in reports
  std::span<const FamilyKernel> kernels;
  /// Carries a request out by other primitives, on backends that have no kernel for it; may be null.
  Kernel composition = nullptr;
};
/// Defined in the primitive's folder.
template <class Request> const Primitive& primitive_of();

namespace kernel_types {
template <class Function> struct Of;
template <class B, class R> struct Of<void (*)(B&, const R&)> {
  using OfBackend = B;
  using OfRequest = R;
};
}  // namespace kernel_types
/// `function(backend, request)` as a kernel. Its first parameter is the class of backends it is for.
template <auto function> constexpr Kernel kernel_of() {
  using Types = kernel_types::Of<decltype(function)>;
  return [](Backend& backend, const Primitive&, const void* request) {
    function(static_cast<typename Types::OfBackend&>(backend), *static_cast<const typename Types::OfRequest*>(request));
  };
}

/// What is told about the views of a request: Request::views(request, visitor) calls these, what is read before what is
/// written. Shapes are those of the space a view is laid over. Visitors derive from this one and hide what they need.
template <class Visitor> struct ViewVisitor {
  /// Read, whole.
  void reads(const View&, const Shape&) {}
  /// Written, whole. A view without storage was not asked for.
  void writes(const View&, const Shape&) {}
  /// Read and written in part; as many elements are written as `source` has.
  void updates(const View&, const View& /*source*/, const Shape&) {}
  /// The operands and results of a program, whose input `first` is inputs[0]. (Visitors of a copy take the spans by
  /// reference and may put others in their place.)
  void program(const Program&, int /*first*/, std::span<const Operand>, std::span<const View> /*outputs*/,
               const Shape&) {}
  /// Requests that are horizontally fused.
  template <class R> void each(std::span<const R> requests) {
    for (const R& request : requests) R::views(request, static_cast<Visitor&>(*this));
  }
};
struct AnyVisitor : ViewVisitor<AnyVisitor> {};
/// Takes the numbers and shapes of a request, with sizes and types of its views: all that a plan may depend on.
struct AnyParameters {
  template <class T> void operator()(const T&) {}
};

/// What a primitive's type of requests offers. It is copied into recordings, so it owns nothing but numbers and shapes.
/// It may also have `bool notes_status() const`: whether a GPU's kernels note in the backend's flags what failed, as
/// linear algebra's do. The flags are then among the memory that a prepared request uses (gpu/plan/prepared.hpp); those
/// of a request that reads positions always are.
template <class R> concept Request =
    std::is_trivially_copyable_v<R> && primitive_id<R> != PrimitiveId::count &&
    requires(const R& request, AnyVisitor visitor, AnyParameters parameters) {
      { request.op } -> std::convertible_to<const char*>;  // the operation's name, for messages
      R::views(request, visitor);
      request.parameters(parameters);  // everything else that says what is computed
      { request.flops() } -> std::convertible_to<std::int64_t>;
      { request.text() } -> std::convertible_to<std::string>;  // for reports: "[64, 64]"
    };

/// A program's FLOPs where full values have `full` elements and reduced ones `reduced`.
std::int64_t flops_of(const Program& program, std::int64_t full, std::int64_t reduced);
/// "kernel 0123456789abcdef"
std::string kernel_text(const Program& program);

}  // namespace tern::detail
