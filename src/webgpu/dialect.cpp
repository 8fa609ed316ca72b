// WGSL: https://www.w3.org/TR/WGSL/
#include "webgpu/dialect.hpp"

#include <cmath>
#include <vector>

#include "gpu/text/kernel_file.hpp"
#include "gpu/text/spelling.hpp"
#include "gpu/text/text.hpp"
#include "webgpu/dialect_parts.hpp"

namespace tern::detail_gpu {
namespace {

constexpr const char* kSubgroupBuiltins =
    ",\n        @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_size) lanes: u32";

class Wgsl final : public Dialect {
 public:
  Wgsl(WgslAbilities abilities, bool halves) : abilities_(abilities), halves_(halves) {}
  const Dialect& for_halves() const override { return instance(abilities_, true); }
  /// A bound is one range of bits; numbers beyond it give way to it, NaN does not.
  std::string elementary_of_number(detail::Elementary elementary, detail::ComputeType type,
                                   const std::vector<std::string>& arguments, const Number& b) const override {
    const auto bound = static_cast<float>(b.is_integer ? static_cast<double>(b.integer) : b.real);
    if (type != detail::ComputeType::f32 || !std::isnormal(bound)) return "";
    if (elementary == detail::Elementary::maximum && bound < 0) return cat("tern_at_least(", join(arguments), ")");
    if (elementary == detail::Elementary::minimum && bound > 0) return cat("tern_at_most(", join(arguments), ")");
    return "";
  }
  static const Wgsl& instance(WgslAbilities abilities, bool halves);
  std::string elementary(detail::Elementary elementary, detail::ComputeType type,
                         const std::vector<std::string>& arguments) const override {
    return fill_in(spelling_of(elementary).wgsl, compute_type_name(type), arguments);
  }
  std::string param(int slot) const override { return cat("params.v[", slot / 4, "].", "xyzw"[slot % 4]); }
  std::string structure(const std::string& name, const std::vector<TypedName>& fields) const override {
    std::string text = cat("struct ", name, " {\n");
    for (const auto& [type, field] : fields) text += cat("  ", field, ": ", type, ",\n");
    return text + "}\n";
  }
  std::string construct(const std::string& type, const std::vector<std::string>& values) const override {
    return cat(type, "(", join(values), ")");
  }
  std::string function_head(const std::string& name, const std::vector<TypedName>& parameters,
                            const std::string& result) const override {
    std::vector<std::string> list;
    for (const auto& [type, parameter] : parameters) list.push_back(cat(parameter, ": ", type));
    return cat("fn ", name, "(", join(list), ") -> ", result, " {\n");
  }
  std::string pure_function_head(const std::string& name, const std::vector<TypedName>& parameters,
                                 const std::string& result) const override {
    return function_head(name, parameters, result);
  }
  std::string call(const std::string& name, const std::vector<std::string>& arguments) const override {
    return cat(name, "(", join(arguments), ")");
  }
  std::string barrier() const override { return "workgroupBarrier();\n"; }
  std::string barrier_of_memory() const override { return "storageBarrier();\nworkgroupBarrier();\n"; }
  std::string own_list(const TypedName& list, int count) const override {
    return cat("var ", list.second, ": array<", list.first, ", ", count, ">;\n");
  }
  std::string load_for_all(const std::string& name, const std::string& shared) const override {
    return cat("let ", name, " = workgroupUniformLoad(&", shared, "[0]);\n");
  }
  std::string merge_word(int binding, const std::string& word, const std::string& mask,
                         const std::string& bits) const override {
    const std::string at = cat("&b", binding, "[", word, "]");
    return cat("{\n  var old = atomicLoad(", at, ");\n  loop {\n    let tried = atomicCompareExchangeWeak(", at,
               ", old, (old & ~(", mask, ")) | (", bits,
               "));\n    if (tried.exchanged) { break; }\n    old = tried.old_value;\n  }\n}\n");
  }
  std::string atomic_load(int binding, const std::string& word) const override {
    return cat("atomicLoad(&b", binding, "[", word, "])");
  }
  std::string report_index(int binding, const std::string& launch, const std::string& index) const override {
    return cat("if (atomicCompareExchangeWeak(&b", binding, "[0], 0u, ", launch, ").exchanged) { atomicStore(&b",
               binding, "[1], u32(", index, ")); }\n");
  }
  std::string report_least(int binding, const std::string& launch, const std::string& value) const override {
    const std::string flags = cat("&b", binding);
    return cat("loop {\n  let seen = atomicCompareExchangeWeak(", flags, "[0], 0u, ", launch,
               ");\n  if (seen.exchanged || seen.old_value == ", launch, ") { atomicMax(", flags, "[1], ~u32(", value,
               ")); }\n  if (seen.exchanged || seen.old_value != 0u) { break; }\n}\n");
  }
  bool has_parts() const override { return true; }
  bool parts_by_switch() const override { return true; }
  std::string switched(const std::string& text, const SwitchedShape& shape) const override {
    return wgsl_of_parts(text, shape);
  }
  std::string module(const Module& m) const override {
    std::string text = cat("// ", m.title, "\n");
    if (m.subgroups && abilities_.enables_subgroups) text += "enable subgroups;\n";
    const Holes holes{{"zero", m.parts ? "params.v[0].y" : param(static_cast<int>(m.params))}};
    const auto variant_of = [&](std::string_view name) {
      const std::string function(variant(name));
      return name == "tern_keep" ? fill_holes(function, holes) : function;
    };
    if (m.parts) return text + library(m.functions + m.body, variant_of) + wgsl_parts_template(m);
    text += cat("struct Params { v: array<vec4<u32>, ", ceil_div(static_cast<std::int64_t>(m.params) + 1, 4), "> }\n");
    text += "@group(0) @binding(0) var<uniform> params: Params;\n";
    for (std::size_t k = 0; k < m.bindings.size(); ++k) text += wgsl_binding(m.bindings[k], k, cat("b", k));
    for (const Shared& s : m.shared) text += cat("var<workgroup> ", s.name, ": array<", s.type, ", ", s.count, ">;\n");
    text += library(m.functions + m.body, variant_of) + m.functions;
    text += cat("@compute @workgroup_size(", m.threads,
                ")\nfn main(@builtin(workgroup_id) group_id: vec3<u32>, @builtin(local_invocation_index) thread: u32",
                m.subgroups ? kSubgroupBuiltins : "", ") {\n  let group = group_id.x + group_id.y * ", param(0), ";\n");
    return text + indented(m.body) + "}\n";
  }

 private:
  std::string_view variant(std::string_view name) const {
    if (halves_)
      if (const std::string_view fast = wgsl_function(cat(name, "_where_halves")); !fast.empty()) return fast;
    if (abilities_.fused_fma && name == "tern_residual") return wgsl_function("tern_residual_where_fused");
    if (abilities_.exact_half && name == "tern_f16_factor") return wgsl_function("tern_f16_factor_where_exact");
    if (abilities_.exact_half && name == "tern_f16_bits_to_f32")
      return wgsl_function("tern_f16_bits_to_f32_where_exact");
    if (abilities_.exact_half && name == "tern_f16_first") return wgsl_function("tern_f16_first_where_exact");
    if (abilities_.exact_half && name == "tern_f16_second") return wgsl_function("tern_f16_second_where_exact");
    if (abilities_.exact_half_store && name == "tern_f32_to_f16_bits")
      return wgsl_function("tern_f32_to_f16_bits_where_exact");
    if (abilities_.exact_half_store && name == "tern_f32_pair_to_f16")
      return wgsl_function("tern_f32_pair_to_f16_where_exact");
    if (abilities_.wide_integers && name == "tern_mul_high_u32") return wgsl_function("tern_mul_high_u32_where_wide");
    return wgsl_function(name);
  }

  WgslAbilities abilities_;
  bool halves_;
};

const Wgsl& Wgsl::instance(WgslAbilities abilities, bool halves) {
  static const auto& instances = *new auto([] {  // outlive what is in static storage
    std::vector<Wgsl> all;
    for (unsigned i = 0; i < 64; ++i)
      all.push_back(Wgsl({(i & 1) != 0, (i & 2) != 0, (i & 4) != 0, (i & 8) != 0, (i & 16) != 0}, (i & 32) != 0));
    return all;
  }());
  return instances[abilities.fused_fma | abilities.exact_half << 1 | abilities.exact_half_store << 2 |
                   abilities.wide_integers << 3 | abilities.enables_subgroups << 4 | halves << 5];
}

}  // namespace

const Dialect& wgsl(WgslAbilities abilities) { return Wgsl::instance(abilities, false); }

const char* compute_type_name(detail::ComputeType type) {
  constexpr const char* names[] = {"f32", "f64", "i32", "u32", "i64"};
  return names[static_cast<int>(type)];
}

}  // namespace tern::detail_gpu
