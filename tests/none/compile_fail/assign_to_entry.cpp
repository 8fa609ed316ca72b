// expect: write through a view with copy_from
#include <tern/tern.hpp>

void set_first(tern::Tensor& x) { x[0] = 1.0; }
