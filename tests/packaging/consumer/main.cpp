#include <iostream>
#include <tern/tern.hpp>

int main() {
  const tern::Var a(tern::tensor({1.f, 2.f}));
  const tern::Var total = sum(a);
  std::cout << total.value() << '\n' << backward(total)[a] << '\n';
}
