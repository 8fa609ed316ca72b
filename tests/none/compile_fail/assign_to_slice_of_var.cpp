// expect: x.value().slice(0, 0, 1).copy_from(values)
#include <tern/tern.hpp>

void clear_first_row(tern::Var& x) { x.slice(0, 0, 1) = tern::Var(tern::zeros({1, 3})); }
