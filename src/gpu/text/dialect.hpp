// The words in which the GPU languages differ. Kernels are written once, in what the languages share: `let x = …;`,
// `var x = f32(0.0);`, if, for, calls, conversions as u32(x), bitcast<f32>(x), select(if_false, if_true, condition).
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "formula/elementary.hpp"
#include "gpu/plan/kernel.hpp"
#include "gpu/text/kernel_file.hpp"

namespace tern::detail_gpu {

/// A type and a name: a parameter of a function, or a field.
using TypedName = std::pair<std::string, std::string>;

/// Memory shared by a workgroup.
struct Shared {
  std::string type, name;
  int count = 0;
};

/// The parts of a kernel's text.
struct Module {
  std::string title;  // a comment: what the kernel is
  std::vector<Binding> bindings;
  std::size_t params = 0;  // words
  std::uint32_t threads = 256;
  std::vector<Shared> shared;
  std::string functions;  // structures and functions of the kernel's own
  std::string body;      // of the entry; sees `group` and `thread` (u32), binding k as b<k>, parameters through param()
  std::size_t maps = 0;  // box maps, which the entry sees as map0, map1, …
  bool subgroups = false;  // the body sees `lane` and `lanes`, and calls WGSL's functions of subgroups
  bool parts = false;    // does the work of several launches (horizontal.hpp), where the dialect has such kernels
  /// In place of functions and body a kernel from a file, with its entry, where the dialect has such kernels. Besides
  /// `holes` it may have $parameters, of the entry, $buffers, a member for each binding, and $buffer_names, `, b0, b1`.
  const char* file = nullptr;
  Holes holes = {};
};

/// What the text of a kernel of parts depends on where it chooses memory by statements.
struct SwitchedShape {
  std::size_t parts = 0;
  std::size_t params = 0;         // of a part, in vectors of four words
  std::vector<Binding> bindings;  // of a part
  std::vector<char> same;         // of each of them, whether it is the same memory for all parts: then one binding
  /// Where the parameters of part 0 begin, in vectors: behind the number of groups along x, and where each part's
  /// groups begin.
  std::size_t first_params() const { return 1 + (parts + 3) / 4; }
};

/// Neighbouring invocations that can pass values to each other.
inline constexpr int kWarp = 32;

class Dialect {
 public:
  virtual ~Dialect() = default;
  /// Whether memory is addressed by elements of any size and compute types of 64 bits exist; as Limits::native.
  virtual bool native() const { return false; }
  /// The element at an index of a binding that is taken as elements of so many bytes, an unsigned integer. Native only.
  virtual std::string element(int /*binding*/, int /*bytes*/, const std::string& /*index*/) const { return ""; }
  /// An elementary function applied to expressions of one compute type.
  virtual std::string elementary(detail::Elementary elementary, detail::ComputeType type,
                                 const std::vector<std::string>& arguments) const = 0;
  /// An elementary function whose second argument is a constant, where that is spelled otherwise; else empty.
  virtual std::string elementary_of_number(detail::Elementary, detail::ComputeType, const std::vector<std::string>&,
                                           const Number&) const {
    return "";
  }
  /// The dialect of kernels whose results are all f16 or bf16: functions may be quicker, off by a few units in the last
  /// place of f32 (Rule::ulp_half_cuda, ulp_half_wgsl).
  virtual const Dialect& for_halves() const { return *this; }
  /// Whether a product and a number are added with one rounding: an instruction less. (Not the sum of any two: of equal
  /// products the difference would not be 0.)
  virtual bool joins_products() const { return false; }
  /// Whether kernels can choose among bindings: those of parts.
  virtual bool has_parts() const { return false; }
  /// Whether they choose by statements, a binding for each part's memory, so that the text is one of so many parts:
  /// switched() makes it of what module() gave.
  virtual bool parts_by_switch() const { return false; }
  virtual std::string switched(const std::string& text, const SwitchedShape& /*shape*/) const { return text; }
  /// Whether there is one for a type of 64 bits.
  virtual bool has_wide(detail::Elementary, detail::ComputeType) const { return native(); }
  virtual std::string param(int slot) const = 0;  // a u32
  virtual std::string structure(const std::string& name, const std::vector<TypedName>& fields) const = 0;
  virtual std::string construct(const std::string& type, const std::vector<std::string>& values) const = 0;
  /// The head of a function that sees the parameters, up to and with its opening brace.
  virtual std::string function_head(const std::string& name, const std::vector<TypedName>& parameters,
                                    const std::string& result) const = 0;
  /// The same of one that does not: it is called by its name alone, in both languages alike.
  virtual std::string pure_function_head(const std::string& name, const std::vector<TypedName>& parameters,
                                         const std::string& result) const = 0;
  virtual std::string call(const std::string& name, const std::vector<std::string>& arguments) const = 0;
  virtual std::string barrier() const = 0;
  /// The same where invocations of a workgroup have written what others read in memory that all workgroups see.
  virtual std::string barrier_of_memory() const { return barrier(); }
  /// A list of an invocation's own, of any values.
  virtual std::string own_list(const TypedName& list, int count) const = 0;
  /// Lines that give all invocations the first element of workgroup memory as `name`, for conditions around barriers.
  virtual std::string load_for_all(const std::string& name, const std::string& shared) const {
    return barrier() + "let " + name + " = " + shared + "[0];\n" + barrier();
  }
  /// The value that the invocation whose number differs in the bits of `distance` has, or that number `type` has, both
  /// of the same warp of kWarp; all invocations of a workgroup of so many call it. Empty: there are no warps.
  virtual std::string from_neighbour(const std::string& /*value*/, int /*distance*/, int /*threads*/) const {
    return "";
  }
  virtual std::string from_invocation(const std::string& /*value*/, const std::string& /*type*/,
                                      int /*threads*/) const {
    return "";
  }
  /// Statements that put `bits` in place of the bits of `mask` in a word of an atomic binding.
  virtual std::string merge_word(int binding, const std::string& word, const std::string& mask,
                                 const std::string& bits) const = 0;
  virtual std::string atomic_load(int binding, const std::string& word) const = 0;
  /// Statements that note, once a launch, an index that is out of range.
  virtual std::string report_index(int binding, const std::string& launch, const std::string& index) const = 0;
  /// The same for the least value that a launch meets, which is noted as its complement.
  virtual std::string report_least(int binding, const std::string& launch, const std::string& value) const = 0;
  /// The whole text, with the library functions it needs.
  virtual std::string module(const Module& module) const = 0;
  /// Whether products may be put together, and sums take them unrounded, so that results are off by a few units in the
  /// last place (factored.hpp).
  virtual bool reassociates() const { return false; }
};

/// "f32", "i32", "u32", "f64", "i64": the names both languages use, WGSL without the last two.
const char* compute_type_name(detail::ComputeType type);

}  // namespace tern::detail_gpu
