// expect: nested braces go to rank 3
#include <tern/tern.hpp>

tern::Tensor block() { return tern::tensor({{{{1.0, 2.0}}}, {{{3.0, 4.0}}}}); }
