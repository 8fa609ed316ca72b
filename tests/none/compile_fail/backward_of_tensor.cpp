// expect: backward starts at a Var, for only operations on Vars are recorded: compute the loss from a Var
#include <tern/tern.hpp>

auto gradients(const tern::Tensor& loss) { return backward(loss); }
