// expect: values must be of an element type
#include <tern/tern.hpp>

tern::Tensor names(const std::vector<const char*>& values) { return tern::tensor(values); }
