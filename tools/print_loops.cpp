// Prints the loops that are compiled ahead of time (src/cpu/tape/loops.hpp), as C++ for Highway.
//
// It calls everything that is registered on tensors of a few elements, forward and backward, alone and as the epilogue
// of a product, and prints one loop for each that the tape looked for. So what is printed is what is looked for later,
// and a new formula needs no line here.
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/tape/loops.hpp"
#include "formula/rule.hpp"
#include "registered_calls.hpp"

namespace {

using namespace tern;
using detail_cpu::LoopArg;
using detail_cpu::LoopLanes;
using detail_cpu::LoopPlan;
using Words = std::vector<std::uint64_t>;

// ---- what is printed ----

std::vector<LoopPlan> plans;
void remember(const LoopPlan& plan) {
  static auto& known = *new std::set<Words>;
  if (known.insert(plan.words).second) plans.push_back(plan);
}

std::string literal(std::uint64_t bits) {
  const double value = std::bit_cast<double>(bits);
  if (value != value) return "std::numeric_limits<double>::quiet_NaN()";
  if (value - value != 0)
    return value > 0 ? "std::numeric_limits<double>::infinity()" : "-std::numeric_limits<double>::infinity()";
  char text[64];
  std::snprintf(text, sizeof text, "%a", value);
  return text;
}

/// Highway's tag of a vector with such lanes, in the text of a loop.
const char* tag_of(std::uint64_t lanes) {
  switch (static_cast<LoopLanes>(lanes)) {
    case LoopLanes::floats: return "d";
    case LoopLanes::integers: return "di";
    case LoopLanes::words: break;
  }
  return "du";
}
/// The parts of an op's word.
struct OpWord {
  explicit OpWord(std::uint64_t word)
      : which(static_cast<detail::Elementary>(word >> detail_cpu::kLoopFunctionBit)),
        fast(word >> detail_cpu::kLoopFastBit & 1),
        arity(word >> detail_cpu::kLoopArityBit & 31),
        lanes(word & 3) {}
  detail::Elementary which;
  bool fast;
  std::uint64_t arity, lanes;
  bool of_floats() const { return lanes == static_cast<std::uint64_t>(LoopLanes::floats); }
};

/// Reads a plan's words one after the other.
class Reader {
 public:
  explicit Reader(const Words& words) : words_(words) {}
  std::uint64_t next() { return words_[at_++]; }
  /// `number`: where not null, a constant is left a plain number, and that is noted.
  std::string argument(bool* number) {
    const std::uint64_t word = next(), index = word >> 2;
    switch (static_cast<LoopArg>(word & 3)) {
      case LoopArg::result: return "v" + std::to_string(index);
      case LoopArg::input: return "x" + std::to_string(index);
      case LoopArg::scalar: return "s[" + std::to_string(index) + "]";
      case LoopArg::constant: break;
    }
    const std::string value = literal(next());
    if (number && index == 0) {
      *number = true;
      return value;
    }
    const std::string tag = tag_of(index);
    return index == 0 ? "Num(d, " + value + ")"
                      : "hn::Set(" + tag + ", static_cast<hn::TFromD<decltype(" + tag + ")>>(" + value + "))";
  }

 private:
  const Words& words_;
  std::size_t at_ = 0;
};

std::string print_loop(const LoopPlan& plan, std::size_t index) {
  Reader read(plan.words);
  const std::uint64_t inputs = read.next(), scalars = read.next(), ops = read.next(), outputs = read.next();
  std::ostringstream text;
  text << "struct Loop" << index << " {\n  static constexpr int kInputs = " << inputs << ", kScalars = " << scalars
       << ", kOutputs = " << outputs << ";\n"
       << "  template <class D, class A>\n  static HWY_INLINE void Step(D d, const A& access, const hn::Vec<D>* s) {\n"
       << "    const hn::RebindToSigned<D> di;\n    const hn::RebindToUnsigned<D> du;\n"
       << "    (void)di, (void)du, (void)s;\n";
  for (std::uint64_t i = 0; i < inputs; ++i) {
    const auto lanes = static_cast<LoopLanes>(read.next());
    const std::string at = "(d, " + std::to_string(i) + ")";
    text << "    const auto x" << i << " = "
         << (lanes == LoopLanes::floats  ? "access.Load" + at
             : lanes == LoopLanes::words ? "hn::BitCast(du, access.Integers" + at + ")"
                                         : "access.Integers" + at)
         << ";\n";
  }
  for (std::uint64_t i = 0; i < ops; ++i) {
    const OpWord op(read.next());
    std::string arguments;
    bool number = false;  // the last argument is
    for (std::uint64_t a = 0; a < op.arity; ++a)
      arguments += ", " + read.argument(op.arity == 2 && a == 1 && op.of_floats() ? &number : nullptr);
    const std::string name = std::string("SimdFunction<Elementary::") + detail::rule_of(op.which).name + ">";
    text << "    const auto v" << i << " = ";
    if (op.which == detail::Elementary::cast) text << "CastTo(" << tag_of(op.lanes);
    else if (op.arity == 2 && number) text << "RunNumber<" << name << ">(d";
    else text << name << (op.fast ? "::RunFast(" : "::Run(") << tag_of(op.lanes);
    text << arguments << ");\n";
  }
  for (std::uint64_t i = 0; i < outputs; ++i) text << "    access.Store(d, v" << read.next() << ", " << i << ");\n";
  text << "  }\n};\n";
  return text.str();
}

/// One operation on floats that gives floats.
bool is_one_of_floats(const LoopPlan& plan) {
  constexpr std::size_t kOps = 2;
  if (plan.words[kOps] != 1) return false;
  const OpWord op(plan.words[4 + plan.words[0]]);
  return op.of_floats() && detail::rule_of(op.which).gives == detail::Gives::same;
}

/// Whether it computes with words, which there are beside f32 alone.
bool has_words(const std::string& loop) {
  return loop.find("(du,") != std::string::npos;
}

/// The instances of a loop. Fast-math variants are of results of 16 bits: such loops take those from memory, too, and
/// so do single operations.
std::string instances(const LoopPlan& plan, const std::string& loop, std::size_t index) {
  const std::string name = "N::Loop" + std::to_string(index), run = "&N::RunLoop<" + name;
  const std::string halves = ", N::HalfLoop<" + name + ", DType::f16>(), N::HalfLoop<" + name + ", DType::bf16>()";
  const bool fast = loop.find("::RunFast(") != std::string::npos,
             integers = loop.find("access.Integers(") != std::string::npos;
  const std::string wide = fast || has_words(loop) ? ", nullptr" : ", " + run + ", double>";
  return run + ", float>" + wide + (!integers && (fast || is_one_of_floats(plan)) ? halves : ", nullptr, nullptr");
}

constexpr const char* kMade = "// Made by tools/print_loops.cpp.\n";

std::string print_shard(const std::string& target, std::size_t shard, std::size_t shards) {
  std::ostringstream text, table;
  text << kMade << "#include <hwy/detect_targets.h>\n#undef HWY_TARGET\n#define HWY_TARGET HWY_" << target
       << "\n#include <limits>\n\n#include \"cpu/simd/kernel_table.hpp\"\n#include "
          "\"cpu/simd/loops-inl.h\"\n\nHWY_BEFORE_NAMESPACE();\n"
       << "namespace tern::detail_cpu {\nnamespace HWY_NAMESPACE {\nnamespace {\n";
  for (std::size_t i = shard; i < plans.size(); i += shards) {
    const std::string loop = print_loop(plans[i], i);
    text << loop;
    table << "  to[" << i << "] = {" << instances(plans[i], loop, i) << "};\n";
  }
  text << "}  // namespace\n}  // namespace HWY_NAMESPACE\nvoid loops_" << target << "_" << shard
       << "(LoopFunctions* to) {\n  namespace N = HWY_NAMESPACE;\n"
       << "  (void)to;\n" << table.str() << "}\n}  // namespace tern::detail_cpu\nHWY_AFTER_NAMESPACE();\n";
  return text.str();
}

std::string print_table(const std::vector<std::string>& targets, std::size_t shards) {
  std::ostringstream text;
  text << kMade << "#include <string_view>\n\n#include \"cpu/tape/loops.hpp\"\n\nnamespace tern::detail_cpu {\n";
  for (const std::string& target : targets)
    for (std::size_t s = 0; s < shards; ++s) text << "void loops_" << target << "_" << s << "(LoopFunctions* to);\n";
  text << "namespace {\n";
  for (std::size_t i = 0; i < plans.size(); ++i) {
    text << "constexpr std::uint64_t words" << i << "[] = {";
    for (const std::uint64_t word : plans[i].words) text << word << "u,";
    text << "};\n";
  }
  text << "constexpr LoopKey keys[] = {\n";
  for (std::size_t i = 0; i < plans.size(); ++i)
    text << "    {words" << i << ", " << plans[i].words.size() << "},\n";
  text << "};\n}  // namespace\nLoopKeys loop_keys() { return {keys, " << plans.size() << "}; }\n"
       << "void fill_loops(const char* target, LoopFunctions* functions) {\n";
  for (const std::string& target : targets) {
    text << "  if (std::string_view(target) == \"" << target << "\") ";
    for (std::size_t s = 0; s < shards; ++s) text << (s ? ", " : "") << "loops_" << target << "_" << s << "(functions)";
    text << ";\n";
  }
  text << "}\n}  // namespace tern::detail_cpu\n";
  return text.str();
}

/// Nothing is written where the file has this text, so that nothing is compiled again.
void write(const std::string& path, const std::string& text) {
  std::ifstream before(path);
  std::stringstream old;
  old << before.rdbuf();
  if (before && old.str() == text) return;
  std::ofstream file(path);
  file << text;
  if (!file.flush()) {
    std::fprintf(stderr, "print_loops: cannot write %s\n", path.c_str());
    std::exit(1);
  }
}

constexpr const char* kUsage =
    "Usage: print_loops FOLDER SHARDS TARGET...\n\n"
    "Writes FOLDER/loops_<target>_<shard>.cpp for each SIMD target of Highway (AVX3, NEON, ...) and FOLDER/loops.cpp,\n"
    "the table of them: what the build compiles ahead of time of all registered formulas.\n";

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    std::fputs(kUsage, stdout);
    return 0;
  }
  const int shards = argc > 3 ? std::atoi(argv[2]) : 0;
  if (shards < 1) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  const std::string folder = argv[1];
  const std::vector<std::string> targets(argv + 3, argv + argc);
  detail_cpu::listen_to_loops(&remember);
  for (const DType dtype : {f32, f64, bf16}) {
    tools::call_registered(dtype, {4, 4});
    tools::call_later(dtype, {4, 4});
  }
  const auto count = static_cast<std::size_t>(shards);
  for (const std::string& target : targets)
    for (std::size_t s = 0; s < count; ++s)
      write(folder + "/loops_" + target + "_" + std::to_string(s) + ".cpp", print_shard(target, s, count));
  write(folder + "/loops.cpp", print_table(targets, count));
  return 0;
}
