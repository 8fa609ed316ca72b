// name_bwd(grad, a, b) of every gated activation: the bits that recording and backward give.
#include "contract/compare.hpp"

namespace tern::contract {
namespace {

class Gated : public test::EveryDevice {};

template <class S, class Backward>
void check_gated(const char* name, const Pointwise<>& op, const Backward& bwd, Device device) {
  const std::vector<std::vector<S>> columns = tuple_inputs<S>(3, 1 << 12);
  std::vector<Tensor> x;
  for (const std::vector<S>& column : columns) x.push_back(tensor(column, Shape{column.size()}, device));
  const GatedGrads got = bwd(x[2], x[0], x[1]);
  const Var a(x[0]), b(x[1]);
  const Gradients want = backward(op(a, b), x[2]);
  Report report(std::string(name) + "_bwd " + std::string(to_string(dtype_of<S>)));
  const auto compare = [&](const char* which, const std::vector<S>& g, const std::vector<S>& w) {
    ASSERT_EQ(g.size(), w.size());
    for (std::size_t p = 0; p < g.size(); ++p)
      if (std::bit_cast<typename Bits<S>::type>(quiet(g[p])) != std::bit_cast<typename Bits<S>::type>(quiet(w[p])))
        report.add([&] {
          return which + (" at (" + hex(real(columns[0][p])) + ", " + hex(real(columns[1][p])) + "), grad " +
                          hex(real(columns[2][p])) + ": " + hex(real(g[p])) + ", backward gives " + hex(real(w[p])));
        });
  };
  compare("d_a", got.d_a.to_vector<S>(), want[a].to_vector<S>());
  compare("d_b", got.d_b.to_vector<S>(), want[b].to_vector<S>());
}

TEST_P(Gated, BackwardFunctionsAgreeWithRecording) {
#define TERN_FORMULA(name, ...)
#define TERN_GATED(name, activation)                                                                            \
  for_each_float([&](auto zero) {                                                                               \
    check_gated<decltype(zero)>(                                                                                \
        #name, op::name, [](const Tensor& g, const Tensor& a, const Tensor& b) { return name##_bwd(g, a, b); }, \
        device());                                                                                              \
  });
#include "tern/formulas.inc"
#undef TERN_FORMULA
#undef TERN_GATED
}
TERN_EVERY_DEVICE(Gated);

}  // namespace
}  // namespace tern::contract
