// expect: request.flops()
#include "backend/primitive.hpp"
struct tern::detail::ScanRequest {
  const char* op;
  template <class Self, class Visitor> static void views(Self&, Visitor&&) {}
  template <class Add> void parameters(Add&&) const {}
  std::string text() const { return ""; }
};
static_assert(tern::detail::Request<tern::detail::ScanRequest>);
