// What attention_wgmma.cu asks for beside attention_mma.cu: boxes of the operands, and the texts of its instructions.
#pragma once
#include "primitives/attention/cuda/cuda_plan.hpp"

namespace tern::detail_gpu::hopper {

/// Whether the copy engine can fetch boxes of a matrix [batch, heads, rows, elements].
bool in_boxes(const View& view, const Shape& shape);
/// Boxes of `rows` rows and 64 elements of it.
BoxMap boxes_of(const View& view, const Shape& shape, int rows);

/// The kernel's file, and the memory of a workgroup.
const char* kernel();
int shared_bytes(const MmaInstance& instance);
const char* backward_kernel(GradientOf of);
int backward_bytes(const MmaInstance& instance, GradientOf of);
/// The holes of the instance and its instructions.
void fill_instance(Holes& holes, const MmaInstance& instance);

}  // namespace tern::detail_gpu::hopper
