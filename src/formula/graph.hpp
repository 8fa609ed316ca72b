// The interned expression graph: what a formula is once it has been traced.
//
// Nodes are hash-consed for the life of the process, so equal expressions are one pointer and a graph's address is its
// key. Nothing here holds a tensor's size or the value of a parameter: memory grows with the program text only.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "formula/index_set.hpp"
#include "formula/elementary.hpp"
#include "formula/rule.hpp"
#include "tern/formula.hpp"

namespace tern::detail {

struct Definition;

enum class NodeKind : std::uint8_t {
  input,       // argument `index` of the formula; `full` false: it has one element along the reduced axes
  constant,    // `number`
  extent,      // number of elements along the reduced axes
  elementary,  // `elementary` of `args`; cast: `index` is the DType, or kCastLike; index: `index` is the axis; sum: see
               // axis_sums
  call,        // a formula with a declared derivative, kept whole until differentiation is done
};

struct Node {
  NodeKind kind = NodeKind::constant;
  Elementary elementary = Elementary::count;
  bool full = false;     // varies along the reduced axes
  bool reduces = false;  // it depends on what the reduced axes are: a reduction, an extent or an ordinal stands in it
  bool calls = false;    // a call stands in it
  int index = 0;
  Number number;
  const Definition* definition = nullptr;
  std::vector<const Node*> args;
  std::uint64_t hash = 0;   // of the content: names and structure, the same in every process
  std::uint64_t serial = 0;  // arguments have smaller ones
};

/// An interned list of output nodes with the number of inputs (parameters included).
struct FormulaGraph {
  std::vector<const Node*> outputs;
  int inputs = 0;
  bool reduces = false;  // it depends on what the reduced axes are
  /// A sum in it names its axis (`index` -1 or -2; else 0: the reduced axes): it cannot be typed until that is
  /// rewritten.
  bool axis_sums = false;
  bool complex = false;  // complex numbers stand in it whatever the operands are: it cannot be typed
  std::uint64_t key = 0;
  const FormulaGraph* inlined = nullptr;  // the same with calls replaced by their values (itself where there are none)
  IndexSet used_inputs;     // some output depends on it
  IndexSet reduced_inputs;  // it has one element along the reduced axes

  struct Caches;                   // gradients and typed programs derived from this graph
  std::unique_ptr<Caches> caches;
};

/// A formula whose derivative was declared: call(x…) = value(x…), ∂call/∂x_i = derivative output i, or what a function
/// gives where it is asked for: in that the same formula may stand.
struct Definition {
  using PartialsOf = std::vector<Expr> (*)(std::span<const Expr> x);
  const FormulaGraph* value = nullptr;
  const FormulaGraph* derivative = nullptr;  // same inputs, one output for each differentiable input; or null
  PartialsOf partials = nullptr;
  std::vector<Expr> partials_at(std::span<const Expr> x) const;
};

/// Indices of `cast` nodes to the type of args[1]: a conversion, and that of a gradient, which no integer gets.
inline constexpr int kCastLike = -2, kCastGradient = -1;
/// Index of `index` nodes that count within the reduced axes.
inline constexpr int kOrdinalAxis = 1 << 20;

/// The formula that this thread is tracing, for messages.
const char* traced_name();
/// Throws shape: argument `index` of `what` is an Expr that nothing was assigned to.
[[noreturn]] void fail_undefined(const char* what, std::size_t index);
Expr make_input(int index, bool full = true);
Expr make_constant(Number number);
Expr make_extent();
/// Interns elementary(args…) after rewrites that keep rounding (x - (-y), …; while a Derivation lives, more of them).
/// Throws shape where an argument is undefined.
Expr make_elementary(Elementary elementary, std::initializer_list<Expr> args, int index = 0);
/// The argument whose bits elementary(args…) has for every input (x·1, x / 1, x - 0, -(-x), where(c, a, a)), or
/// nothing.
Expr same_as_argument(Elementary elementary, std::span<const Node* const> args);
/// While one lives, what this thread makes is a derivative, whose operands are floats: elementary functions go that
/// give back an argument. In a formula they stay until it has been typed, for x / 1 is an error where x is an integer.
class Derivation {
 public:
  Derivation();
  ~Derivation();
  Derivation(const Derivation&) = delete;
  Derivation& operator=(const Derivation&) = delete;
};
Expr make_call(const Definition* definition, std::span<const Expr> args);
const Definition* make_definition(const FormulaGraph* value, const FormulaGraph* derivative,
                                  Definition::PartialsOf partials = nullptr);
/// Throws unsupported where there are more than kMostInputs.
const FormulaGraph* make_graph(std::span<const Expr> outputs, int inputs);
/// The formula that gives its operand: what copies.
const FormulaGraph* identity_graph();

/// Whether x is the constant 0 (of either sign) or a given constant.
bool is_zero(Expr x);
bool is_constant(Expr x, double value);

/// The nodes the outputs' values depend on, arguments before their users, in an order that the graph alone decides (a
/// gradient's sums, and kernels made beforehand, rest on it). A coordinate depends on no value.
std::vector<const Node*> topological(std::span<const Node* const> outputs);

/// The inputs that expressions depend on, those past the last there can be left out.
IndexSet inputs_of(std::span<const Expr> expressions);

/// Rebuilds expressions with some nodes replaced; one object shares its work between calls.
class Rewriter {
 public:
  explicit Rewriter(bool inline_calls = false) : inline_calls_(inline_calls) {}
  void replace(const Node* from, Expr to) { map_[from] = to; }
  Expr operator()(Expr x);

 private:
  Expr rebuilt(const Node* node);
  bool inline_calls_;
  std::unordered_map<const Node*, Expr> map_;
};

/// graph's outputs with its inputs replaced by `args` (parameters included).
std::vector<Expr> substitute(const FormulaGraph* graph, std::span<const Expr> args);

}  // namespace tern::detail
