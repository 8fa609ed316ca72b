// Holes of kernels that stand in files (src/gpu/text/kernel_file.hpp).
#include "gpu/text/kernel_file.hpp"

#include <gtest/gtest.h>

namespace tern::test {
namespace {

using detail_gpu::fill_holes;
using detail_gpu::Holes;

TEST(KernelFile, HolesAreFilledWhereverTheyStand) {
  EXPECT_EQ(fill_holes("x = $a + $b_2;\n", {{"a", "1u"}, {"b_2", "k"}}), "x = 1u + k;\n");
  EXPECT_EQ(fill_holes("f($outer)", {{"outer", "g($inner)"}, {"inner", "x"}}), "f(g(x))");
}

TEST(KernelFile, LinesAreIndentedAsTheirHole) {
  EXPECT_EQ(fill_holes("{\n  $lines\n}\n", {{"lines", "a;\nif (b) {\n  c;\n}\n"}}),
            "{\n  a;\n  if (b) {\n    c;\n  }\n}\n");
  EXPECT_EQ(fill_holes("  let x = $value;\n", {{"value", "f(\na)"}}), "  let x = f(\na);\n");
}

TEST(KernelFile, ALineOfAnEmptyHoleGoes) {
  EXPECT_EQ(fill_holes("a;\n  $none\nb;\n", {{"none", ""}}), "a;\nb;\n");
  EXPECT_EQ(fill_holes("a$none;\n", {{"none", ""}}), "a;\n");
}

TEST(KernelFile, StepsAreUnrolled) {
  EXPECT_EQ(fill_holes("{\n  $for e in $elements\n    s$e += $x_$e + ${e}u;\n  $end\n}\n",
                       {{"elements", "0 1"}, {"x_0", "a"}, {"x_1", "b"}}),
            "{\n  s0 += a + 0u;\n  s1 += b + 1u;\n}\n");
  EXPECT_EQ(fill_holes("a;\n$for e in $none\n  b;\n$end\nc;\n", {{"none", ""}}), "a;\nc;\n");
  EXPECT_EQ(fill_holes("$for i in 0 1\n  $for k in x y\n    ${k}_$i\n  $end\n$end\n", {}), "x_0\ny_0\nx_1\ny_1\n");
}

TEST(KernelFile, FillingsTakeArguments) {
  EXPECT_EQ(fill_holes("x = $max($mul(a, $b), f(c, d));\n",
                       {{"max", "tern_max(${0}, ${1})"}, {"mul", "(${0} * ${1})"}, {"b", "b[0]"}}),
            "x = tern_max((a * b[0]), f(c, d));\n");
  EXPECT_EQ(fill_holes("$bits(x)", {{"bits", "bitcast<u32>"}}), "bitcast<u32>(x)");  // takes none
}

TEST(KernelFile, PiecesAreFilledAsTheirFileDefinesThem) {
  Holes holes = detail_gpu::pieces(
      "// What is for readers.\n$define mean(sum, count)\n  $sum / $count\n$end\n\n"
      "$define means\n  $for e in $all\n    let ${m}_$e = $mean(s$e, $n);\n  $end\n$end\n");
  holes["all"] = "0 1", holes["n"] = "8u", holes["m"] = "y";
  EXPECT_EQ(fill_holes("{\n  $means\n}\n", holes), "{\n  let y_0 = s0 / 8u;\n  let y_1 = s1 / 8u;\n}\n");
}

TEST(KernelFileDeathTest, AHoleWithoutAFillingIsNamed) {
  EXPECT_DEATH(fill_holes("f($tile_m, $tile_n)", {{"tile_m", "8u"}}), "nothing fills the hole \\$tile_n");
}

}  // namespace
}  // namespace tern::test
