// Prints parts of a program as functions of a GPU language.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "formula/program.hpp"
#include "gpu/text/dialect.hpp"

namespace tern::detail_gpu {

/// A printed function: the steps it takes as parameters and those it returns.
struct Function {
  std::string name, text;
  std::vector<int> sources, results;
};

class ProgramPrinter {
 public:
  /// `slots`: for each step that is a plain number or the extent, the parameter that holds it; else -1.
  ProgramPrinter(const detail::Program& program, const Dialect& dialect, std::vector<int> slots)
      : program_(program), dialect_(dialect), slots_(std::move(slots)) {}

  /// A function of the steps for which `is_source` holds (as far as they are needed) that returns `wanted`.
  Function function(const std::string& name, const std::vector<int>& wanted,
                    const std::function<bool(int)>& is_source) const;
  /// A function of the program's inputs, which must all be needed, that returns step `wanted`; it reads no parameter of
  /// the kernel, and is called without them.
  std::string pure_function(const std::string& name, int wanted) const;
  /// Result i of a call, where `value` names what the call gave.
  static std::string result(const Function& function, const std::string& value, std::size_t i);
  /// The type a step's value has inside a kernel.
  std::string type(int step) const;
  /// A step that is no source, of the names v0, v1, … of its arguments.
  std::string expression(int step) const;
  const detail::Program& program() const { return program_; }
  const Dialect& dialect() const { return dialect_; }
  /// The value a reduction starts from.
  std::string identity(int step) const;
  /// Two partial results of a reduction joined.
  std::string combined(int step, const std::string& a, const std::string& b) const;

 private:
  /// A line for each of the steps, but sources, that computing `wanted` takes.
  std::string lines(const std::vector<char>& needed, const std::vector<int>& wanted,
                    const std::function<bool(int)>& is_source) const;
  /// For each step that adds a number to a product which nothing else needs, or subtracts one of the other, that
  /// product, where the dialect rounds both once and the function is the whole program; else -1.
  std::vector<int> joined_products(const std::vector<char>& needed, const std::vector<int>& wanted,
                                   const std::function<bool(int)>& is_source) const;
  std::string sum_of_product(int step, const std::vector<int>& joined) const;
  std::string wrapped(const detail::Step& step) const;
  static std::string name_of(int step) { return "v" + std::to_string(step); }
  const detail::Step& at(int step) const { return program_.steps[static_cast<std::size_t>(step)]; }

  const detail::Program& program_;
  const Dialect& dialect_;
  std::vector<int> slots_;
};

/// The dialect for a kernel with these outputs.
const Dialect& dialect_for(const Dialect& dialect, const detail::Program& program, const std::vector<int>& wanted);

/// For each step, whether computing `wanted` takes it.
std::vector<char> needed_steps(const detail::Program& program, const std::vector<int>& wanted,
                               const std::function<bool(int)>& is_source);
/// The sources that computing `wanted` takes, in order.
std::vector<int> sources_of(const detail::Program& program, const std::vector<int>& wanted,
                            const std::function<bool(int)>& is_source);
/// A number as a literal of a compute type.
std::string literal(const Number& number, detail::ComputeType type);
/// The highest or the lowest number of a compute type, of floats an infinity.
std::string extreme_literal(bool highest, detail::ComputeType type);
/// The type a step's value has in a kernel. Where there are no numbers of 64 bits, f64 only serves to round an integer
/// once, and is f32.
detail::ComputeType kernel_type(const detail::Step& step, bool native);
/// The dtype of the first step that no kernel of 32-bit numbers can hold; f32 where there is none.
DType unsupported_dtype(const detail::Program& program);

}  // namespace tern::detail_gpu
