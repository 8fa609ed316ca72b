// expect: make it a template over the element
#include <tern/tern.hpp>

struct Readings {
  tern::Tensor x, y;
};
TERN_FIELDS(Readings, x, y)

auto slope(const Readings& at) {
  return tern::grad([](const Readings& r) { return sum(r.x * r.y); })(at);
}
