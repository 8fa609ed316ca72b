// expect: norm takes axes in braces
#include <tern/tern.hpp>

int main() { return tern::norm(tern::ones({2, 3}), 1).dim(); }
