// expect: R::views(request, visitor)
#include "backend/primitive.hpp"
struct tern::detail::ScanRequest {
  const char* op;
  template <class Add> void parameters(Add&&) const {}
  std::int64_t flops() const { return 0; }
  std::string text() const { return ""; }
};
static_assert(tern::detail::Request<tern::detail::ScanRequest>);
