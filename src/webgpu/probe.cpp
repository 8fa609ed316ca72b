#include "webgpu/probe.hpp"

#include <array>
#include <string>

namespace tern::detail_webgpu {
namespace {

/// Numbers in f32 and what f16 makes of them, rounded to nearest, ties to even.
struct HalfProbe {
  std::uint32_t number, half;
};
constexpr std::array<HalfProbe, 17> kHalves{{
    {0x3f801000, 0x3c00},
    {0x3f801001, 0x3c01},
    {0x3f803000, 0x3c02},  // at and beside the middle of neighbours
    {0xbf803000, 0xbc02},
    {0x477fefff, 0x7bff},
    {0x477ff000, 0x7c00},  // the largest, and what rounds to infinity
    {0x7f7fffff, 0x7c00},
    {0xff7fffff, 0xfc00},
    {0x7f800000, 0x7c00},
    {0xff800000, 0xfc00},
    {0x33000000, 0x0000},
    {0x33000001, 0x0001},
    {0x33c00000, 0x0002},  // subnormal numbers
    {0xb3800000, 0x8001},
    {0x387fc000, 0x03ff},
    {0x387fe000, 0x0400},
    {0x80000000, 0x8000},
}};
constexpr std::uint32_t kNan = 0x7fc00000;

}  // namespace

/// Whether fma(a, a, c) with a = 1 + 2^-12 and c = -(1 + 2^-11) keeps the 2^-24 that a product rounded first loses,
/// whether the least f16 arrives as 2^-24, and what is packed. The numbers are parameters, so that nothing is folded.
detail_gpu::WgslAbilities probe(WebGpuDevice& gpu, const std::shared_ptr<detail::Storage>& seen) {
  constexpr std::size_t kFirst = 4, kCount = kHalves.size() + 1;
  static const auto& text = *new std::string(
      "// probe\nstruct Params { v: array<vec4<u32>, " + std::to_string((kFirst + kCount + 3) / 4) +
      "> }\n@group(0) @binding(0) var<uniform> params: Params;\n"
      "@group(0) @binding(1) var<storage, read_write> b0: array<u32>;\n"
      "@compute @workgroup_size(1) fn main() {\n"
      "  let a = bitcast<f32>(params.v[0].y);\n"
      "  b0[0] = bitcast<u32>(fma(a, a, bitcast<f32>(params.v[0].z)));\n"
      "  b0[1] = bitcast<u32>(unpack2x16float(params.v[0].w).x);\n"
      "  for (var i = " +
      std::to_string(kFirst) + "u; i < " + std::to_string(kFirst + kCount) +
      "u; i += 1u) {\n"
      "    b0[i] = pack2x16float(vec2<f32>(bitcast<f32>(params.v[i / 4u][i & 3u]), 0.0)) & 0xffffu;\n  }\n}\n");
  detail_gpu::Launch launch;
  launch.op = "probe", launch.key = "probe", launch.groups = 1, launch.threads = 1;
  launch.params = {0, 0x3f800800u, 0xbf801000u, 1u};
  for (const HalfProbe& h : kHalves) launch.params.push_back(h.number);
  launch.params.push_back(kNan);
  launch.bindings = {{seen.get(), 0, 256, true, false, false}};
  gpu.launch(launch, [] { return text; });
  std::array<std::uint32_t, kFirst + kCount> words{};
  gpu.download(*static_cast<Buffer*>(seen->data()), 0, words.data(), sizeof words);
  bool packs = (words.back() & 0x7fff) > 0x7c00;
  for (std::size_t i = 0; i < kHalves.size(); ++i) packs &= words[kFirst + i] == kHalves[i].half;
  return {words[0] == 0x33800000u, words[1] == 0x33800000u, packs, gpu.has_wide_integers(),
          gpu.enables_subgroups()};
}

}  // namespace tern::detail_webgpu
