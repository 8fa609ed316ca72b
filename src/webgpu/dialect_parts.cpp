#include "webgpu/dialect_parts.hpp"

#include <bit>

#include "gpu/text/text.hpp"

namespace tern::detail_gpu {
namespace {

constexpr const char* kDeclarations = R"(struct Params { v: array<vec4<u32>, $vectors> }
@group(0) @binding(0) var<uniform> params: Params;
$bindings
var<private> part: u32;
var<private> first_param: u32;
$memory
)";
// A workgroup finds its part among where the groups of each begin, and its own number in that part.
constexpr const char* kEntry = R"(
fn main(@builtin(workgroup_id) group_id: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let group_of_all = group_id.x + group_id.y * params.v[0].x;
  for (var step = ${half}u; step > 0u; step /= 2u) {
    let next = part + step;
    if (next < ${parts}u && params.v[1u + next / 4u][next % 4u] <= group_of_all) { part = next; }
  }
  let group = group_of_all - params.v[1u + part / 4u][part % 4u];
  first_param = ${first_params}u + part * ${params_of_part}u;
)";

/// The parameters of a part: those words of a kernel's that its text names.
std::string of_part(const std::string& text) {
  static constexpr std::string_view kParams = "params.v[";
  std::string result;
  std::size_t from = 0;
  for (std::size_t at; (at = text.find(kParams, from)) != text.npos; from = at) {
    at += kParams.size();
    const std::size_t end = text.find(']', at);
    result += cat(text.substr(from, at - from), "first_param + ", text.substr(at, end - at), "u");
    at = end;
  }
  return result + text.substr(from);
}

/// A function of binding k's memory: `statement` does something with memory called `name`.
template <class Statement>
std::string chosen(const SwitchedShape& shape, std::size_t k, const std::string& head, const Statement& statement,
                   const char* before = "", const char* after = "") {
  std::string lines = before;
  if (shape.same[k]) {
    lines += cat("  ", statement(cat("b", k)), "\n");
  } else {
    lines += "  switch part {\n";
    for (std::size_t i = 0; i < shape.parts; ++i)
      lines += cat("    ", i + 1 < shape.parts ? cat("case ", i, "u") : std::string("default"), ": { ",
                   statement(cat("b", k, "_", i)), " }\n");
    lines += "  }\n";
  }
  return cat("fn ", head, " {\n", lines, after, "}\n");
}

/// The functions by which a kernel sees binding k.
std::string memory_of(const SwitchedShape& shape, std::size_t k, const std::string& text) {
  const Binding& b = shape.bindings[k];
  const std::string unit = b.vectors ? "vec4<u32>" : "u32";
  std::string functions;
  if (text.find(cat("read", k, "(")) != text.npos)
    functions += chosen(
        shape, k, cat("read", k, "(i: u32) -> ", unit),
        [&](const std::string& name) { return cat("x = ", name, "[i];"); }, cat("  var x: ", unit, ";\n").c_str(),
        "  return x;\n");
  if (text.find(cat("write", k, "(")) != text.npos)
    functions += chosen(shape, k, cat("write", k, "(i: u32, x: ", unit, ")"),
                        [&](const std::string& name) { return cat(name, "[i] = x;"); });
  if (text.find(cat("write_word", k, "(")) != text.npos)
    functions += chosen(shape, k, cat("write_word", k, "(i: u32, word: u32, x: u32)"),
                        [&](const std::string& name) { return cat(name, "[i][word] = x;"); });
  return functions;
}

}  // namespace

std::string wgsl_binding(const Binding& b, std::size_t k, const std::string& name) {
  const char* type = b.atomic ? "atomic<u32>" : b.vectors ? "vec4<u32>" : "u32";
  return cat("@group(0) @binding(", k + 1, ") var<storage, ", b.written || b.atomic ? "read_write" : "read", "> ", name,
             ": array<", type, ">;\n");
}

std::string wgsl_parts_template(const Module& m) {
  return cat(kDeclarations, of_part(m.functions), "@compute @workgroup_size(", m.threads, ")", kEntry,
             indented(of_part(m.body)), "}\n");
}

std::string wgsl_of_parts(const std::string& text, const SwitchedShape& shape) {
  Holes holes;
  std::string &bindings = holes["bindings"], &memory = holes["memory"];
  std::size_t number = 0;
  for (std::size_t k = 0; k < shape.bindings.size(); ++k) {
    if (shape.same[k]) bindings += wgsl_binding(shape.bindings[k], number++, cat("b", k));
    for (std::size_t i = 0; i < shape.parts && !shape.same[k]; ++i)
      bindings += wgsl_binding(shape.bindings[k], number++, cat("b", k, "_", i));
    memory += memory_of(shape, k, text);
  }
  holes["vectors"] = cat(shape.first_params() + shape.parts * shape.params);
  holes["half"] = cat(std::bit_ceil(shape.parts) / 2), holes["parts"] = cat(shape.parts);
  holes["first_params"] = cat(shape.first_params()), holes["params_of_part"] = cat(shape.params);
  return fill_holes(text, holes);
}

}  // namespace tern::detail_gpu
