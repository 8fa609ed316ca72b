// expect: make a tensor of other values, as in tern::tensor(values)
#include <tern/tern.hpp>

tern::Var normed(const tern::Var& x, const std::vector<float>& w) { return layer_norm(x, w, w); }
