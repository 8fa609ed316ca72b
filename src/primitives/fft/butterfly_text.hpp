// The lines of a butterfly, a transform of as many elements as its radix in registers, in what the GPU languages share.
#pragma once
#include <string>

namespace tern::detail_gpu::fft {

/// Lines that set y<0>r, y<0>i, … to the transform of x<0>r, x<0>i, …, where <k> is first + k. Names between begin with
/// t<first>. `type` is "f32" or "f64". The radix has no prime factor above kKernelPrimes'.
std::string butterfly_text(int radix, int first, const std::string& type);

/// A number of that type, as its 17 digits.
std::string constant_text(const std::string& type, double value);

}  // namespace tern::detail_gpu::fft
