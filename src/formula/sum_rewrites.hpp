// Sums written otherwise, as products and sums of sums that wait for fewer passes.
#pragma once
#include <functional>
#include <optional>

#include "formula/online_sums.hpp"
#include "formula/types.hpp"

namespace tern::detail {

class SumRewrites {
 public:
  /// emit(node): the step that holds a node in its own type.
  SumRewrites(Types& types, ProgramBuilder& builder, OnlineSums& online, std::function<int(const Node*)> emit)
      : types_(types), builder_(builder), online_(online), emit_(std::move(emit)) {}

  /// The sum node (of floats) written otherwise; undefined where it stays as it is.
  Expr rewritten(const Node& sum);

 private:
  /// A product apart: scalar · weight · power, of which any may be missing. Scalars do not vary along the reduced axes;
  /// the power is an exp(x - shift) or an x - mean(x).
  struct TermFactors {
    std::vector<std::pair<Elementary, const Node*>> scalars, weights;  // mul or div by it
    const Node* power = nullptr;
    bool negative = false;
  };
  /// A full value times (or divided by) scalars, the outermost first.
  struct SumTerm {
    const Node* value;
    bool negative;
    std::vector<std::pair<Elementary, const Node*>> scalars;
  };
  const Step& at(int step) const { return builder_.at(step); }
  bool take_apart(const Node* node, Elementary elementary, TermFactors& f, std::size_t depth = 0);
  bool split(const Node* node, bool negative, std::vector<SumTerm>& terms, std::size_t depth = 0) const;
  Expr scaled_sum(const Node& sum);
  Expr split_sum(const Node& sum);
  Expr typed(Expr e);

  Types& types_;
  ProgramBuilder& builder_;
  OnlineSums& online_;
  std::function<int(const Node*)> emit_;
};

}  // namespace tern::detail
