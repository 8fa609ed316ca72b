// Sine, cosine and tangent beyond what the SIMD code reduces: exact argument reduction, one angle at a time.
#pragma once

namespace tern::detail_cpu {
/// For |x| >= 1. Error below 1.1 ulp up to the largest double; NaN for infinities and NaN.
double sine_of_huge(double x);
double cosine_of_huge(double x);
double tangent_of_huge(double x);  // within 3.2 ulp
}  // namespace tern::detail_cpu
