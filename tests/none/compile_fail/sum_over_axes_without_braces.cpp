// expect: several axes stand in braces, as in sum(x, {0, 1})
#include <tern/tern.hpp>

int main() { return tern::sum(tern::ones({2, 3}), 0, 1).dim(); }
