// What a reverse sweep carries: a cotangent, and where it is 0 because a branch was not taken.
#pragma once
#include <vector>

#include "formula/graph.hpp"

namespace tern::detail {

/// A branch that was taken where a condition holds, or where it does not.
struct Guard {
  const Node* condition = nullptr;
  bool holds = true;
  friend bool operator==(const Guard&, const Guard&) = default;
};
/// Where all of its guards let pass; the outermost first.
using Branch = std::vector<Guard>;
/// Where one branch at least lets pass; everywhere, if there is none.
using Live = std::vector<Branch>;

/// The gradient of a node so far. A branch that is not taken contributes exactly 0, although the derivatives of what it
/// computes may be infinite there: sqrt(x) in where(x > 0, sqrt(x), 0). 0 times such a derivative would be NaN. So the
/// sweep multiplies what is `open`, and the choice is made behind the product.
struct Cotangent {
  Expr value;  // exactly 0 but where it is live
  Expr open;   // the same where it is live, anything elsewhere
  Live live;
  bool chosen_late = false;  // `value` is the choice between `open` and 0, not one made before

  bool defined() const { return value.defined(); }
};

/// What reaches an argument through an elementary function: `closed` and `open` are the elementary function's rule
/// applied to from.value and from.open.
Cotangent passed(const Cotangent& from, Expr closed, Expr open);
/// Whether no condition varies along the reduced axes.
bool varies_by_row_only(const Live& live);
/// Which rows may have a live element: the conditions that do not vary along the reduced axes.
Live rows_of(const Live& live);
/// Adds a contribution.
void accumulate(Cotangent& sum, const Cotangent& contribution);

}  // namespace tern::detail
