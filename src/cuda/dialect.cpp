// CUDA C++ for NVRTC: no header is included. https://docs.nvidia.com/cuda/nvrtc/
#include "cuda/dialect.hpp"

#include <cmath>

#include "cuda/functions.hpp"
#include "gpu/text/printer.hpp"
#include "gpu/text/spelling.hpp"
#include "gpu/text/text.hpp"
#include "gpu/plan/horizontal.hpp"

namespace tern::detail_gpu {
namespace {

constexpr const char* kPrelude =
#include "cuda/prelude.cu.inc"
    ;

class Cuda final : public Dialect {
 public:
  explicit Cuda(bool halves, bool scores = false) : halves_(halves), scores_(scores) {}
  const Dialect& for_halves() const override;
  bool native() const override { return true; }
  bool has_parts() const override { return true; }
  bool joins_products() const override { return halves_; }
  bool reassociates() const override { return scores_; }
  /// f32 shares the functions of WGSL, whose accuracy is proved there; the others have CUDA's.
  std::string elementary(detail::Elementary elementary, detail::ComputeType type,
                   const std::vector<std::string>& arguments) const override {
    const Spelling& s = spelling_of(elementary);
    if (type != detail::ComputeType::f32) return fill_in(s.cuda, compute_type_name(type), arguments);
    const std::string_view name = wgsl_name(elementary);
    const std::string fast = cat(name, "_fast"), rough = cat(name, "_rough");
    if (scores_ && !name.empty() && !cuda_function(rough).empty()) return cat(rough, "(", join(arguments), ")");
    if (halves_ && !name.empty() && !cuda_function(fast).empty()) return cat(fast, "(", join(arguments), ")");
    return fill_in(s.wgsl, compute_type_name(type), arguments);
  }
  std::string elementary_of_number(detail::Elementary elementary, detail::ComputeType type,
                                   const std::vector<std::string>& arguments, const Number& b) const override {
    const double value = b.is_integer ? static_cast<double>(b.integer) : b.real;
    if (type != detail::ComputeType::f32 || !(value < 0 || value > 0)) return "";
    if (elementary == detail::Elementary::maximum) return cat("tern_max_number(", join(arguments), ")");
    if (elementary == detail::Elementary::minimum) return cat("tern_min_number(", join(arguments), ")");
    if (const float inverse = static_cast<float>(1 / value);
        scores_ && elementary == detail::Elementary::div && std::isnormal(inverse))
      return cat("tern_div_number(", join(arguments), ", ", literal(Number(inverse), type), ")");
    return "";
  }
  bool has_wide(detail::Elementary elementary, detail::ComputeType type) const override {
    const std::string_view pattern = spelling_of(elementary).cuda;
    const std::size_t end = pattern.find("_$t(");
    return end == pattern.npos || !cuda_function(cat(pattern.substr(0, end + 1), compute_type_name(type))).empty();
  }
  std::string param(int slot) const override { return cat("params.v[", slot, "]"); }
  std::string structure(const std::string& name, const std::vector<TypedName>& fields) const override {
    std::string text = cat("struct ", name, " {\n");
    for (const auto& [type, field] : fields) text += cat("  ", type, " ", field, ";\n");
    return text + "};\n";
  }
  std::string construct(const std::string& type, const std::vector<std::string>& values) const override {
    return cat(type, "{", join(values), "}");
  }
  std::string function_head(const std::string& name, const std::vector<TypedName>& parameters,
                            const std::string& result) const override {
    std::vector<std::string> list{"const Params& params"};
    for (const auto& [type, parameter] : parameters) list.push_back(cat(type, " ", parameter));
    return cat("TERN_DEVICE ", result, " ", name, "(", join(list), ") {\n");
  }
  std::string pure_function_head(const std::string& name, const std::vector<TypedName>& parameters,
                                 const std::string& result) const override {
    std::vector<std::string> list;
    for (const auto& [type, parameter] : parameters) list.push_back(cat(type, " ", parameter));
    return cat("TERN_DEVICE ", result, " ", name, "(", join(list), ") {\n");
  }
  std::string call(const std::string& name, const std::vector<std::string>& arguments) const override {
    return cat(name, "(params", arguments.empty() ? "" : ", ", join(arguments), ")");
  }
  std::string own_list(const TypedName& list, int count) const override {
    return cat(list.first, " ", list.second, "[", count, "];\n");
  }
  std::string barrier() const override { return "__syncthreads();\n"; }
  std::string from_neighbour(const std::string& value, int distance, int threads) const override {
    return cat("__shfl_xor_sync(", warp_mask(threads), ", ", value, ", ", distance, ")");
  }
  std::string from_invocation(const std::string& value, const std::string& lane, int threads) const override {
    return cat("__shfl_sync(", warp_mask(threads), ", ", value, ", ", lane, ")");
  }
  std::string element(int binding, int bytes, const std::string& index) const override {
    const std::string type = bytes == 16 ? std::string("vec4<u32>") : cat("u", 8 * bytes);
    return cat("((", type, "*)b", binding, ")[", index, "]");
  }
  std::string merge_word(int binding, const std::string& word, const std::string& mask,
                         const std::string& bits) const override {
    const std::string at = cat("b", binding, "[", word, "]");
    return cat(at, " = (", at, " & ~(", mask, ")) | (", bits, ");\n");  // no kernel asks for it: bytes are addressed
  }
  std::string atomic_load(int binding, const std::string& word) const override {
    return cat("b", binding, "[", word, "]");
  }
  std::string report_index(int binding, const std::string& launch, const std::string& index) const override {
    return cat("if (atomicCAS(&b", binding, "[0], 0u, ", launch, ") == 0u) { b", binding, "[1] = u32(", index,
               "); }\n");
  }
  std::string report_least(int binding, const std::string& launch, const std::string& value) const override {
    const std::string flags = cat("&b", binding);
    return cat("{\n  let seen = atomicCAS(", flags, "[0], 0u, ", launch, ");\n  if (seen == 0u || seen == ", launch,
               ") { atomicMax(", flags, "[1], ~u32(", value, ")); }\n}\n");
  }
  std::string module(const Module& m) const override {
    std::vector<std::string> parameters = binding_parameters(m);
    const std::string kernel = m.file ? from_file(m, parameters) : std::string();
    std::string text = cat("// ", m.title, "\n", kPrelude);
    text += cat("struct Params {\n  u32 v[", m.params, "];\n};\n");
    text += library(kernel + m.functions + m.body, cuda_function) + kernel + m.functions;
    if (m.file) return text;
    if (m.parts) return text + entry_of_parts(m, parameters);
    text += cat("extern \"C\" __global__ void __launch_bounds__(", m.threads, ") tern_kernel(",
                join(entry_parameters(m, parameters)),
                ") {\n  const u32 thread = threadIdx.x, group = blockIdx.x;\n");
    for (const Shared& s : m.shared) text += cat("  __shared__ ", s.type, " ", s.name, "[", s.count, "];\n");
    return text + indented(m.body) + "}\n";
  }

 private:
  static std::vector<std::string> binding_parameters(const Module& m) {
    std::vector<std::string> parameters;
    for (std::size_t k = 0; k < m.bindings.size(); ++k) {
      const Binding& b = m.bindings[k];
      parameters.push_back(cat(b.written || b.atomic ? "" : "const ", b.vectors ? "vec4<u32>" : "u32",
                               b.aliased ? "* b" : "* __restrict__ b", k));
    }
    return parameters;
  }
  static std::vector<std::string> entry_parameters(const Module& m, std::vector<std::string> bindings) {
    for (std::size_t k = 0; k < m.maps; ++k) bindings.push_back(cat("const __grid_constant__ BoxMap map", k));
    bindings.push_back("const __grid_constant__ Params params");
    return bindings;
  }
  static std::string from_file(const Module& m, const std::vector<std::string>& bindings) {
    std::string buffers, names;
    for (std::size_t k = 0; k < bindings.size(); ++k) buffers += bindings[k] + ";\n", names += cat(", b", k);
    Holes holes = m.holes;
    holes["parameters"] = join(entry_parameters(m, bindings));
    holes["buffers"] = buffers, holes["buffer_names"] = names;
    return fill_holes(m.file, holes);
  }
  /// The entry of a kernel of parts: a workgroup finds its part, and sees its bindings and parameters by the usual
  /// names.
  static std::string entry_of_parts(const Module& m, const std::vector<std::string>& bindings) {
    const std::size_t most = most_parts(m.bindings.size(), m.params);
    std::string fields, names;
    for (std::size_t k = 0; k < bindings.size(); ++k)
      fields += "  " + bindings[k] + ";\n", names += cat("  ", bindings[k], " = part.b", k, ";\n");
    return cat("struct Part {\n", fields, "  Params params;\n};\nstruct Parts {\n  Part part[", most,
               "];\n  u32 groups[", most, "];\n};\nextern \"C\" __global__ void __launch_bounds__(", m.threads,
               ") tern_kernel(const __grid_constant__ Parts parts) {\n  const u32 thread = threadIdx.x;\n"
               "  u32 group = blockIdx.x, number = 0;\n"
               "  while (group >= parts.groups[number]) { group -= parts.groups[number++]; }\n"
               "  const Part& part = parts.part[number];\n  const Params& params = part.params;\n",
               names, indented(m.body), "}\n");
  }
  /// The lanes that there are.
  static std::string warp_mask(int threads) {
    return threads >= kWarp ? "0xffffffffu" : cat((1u << threads) - 1, "u");
  }
  bool halves_, scores_;
};

const Dialect& Cuda::for_halves() const {
  static const auto& instance = *new Cuda(true);  // outlives what is in static storage
  return instance;
}

}  // namespace

const Dialect& cuda_dialect() {
  static const auto& instance = *new Cuda(false);
  return instance;
}

const Dialect& cuda_dialect_of_scores() {
  static const auto& instance = *new Cuda(true, true);
  return instance;
}

}  // namespace tern::detail_gpu
