// Every kind of kernel that is printed for GPUs, as a call that makes a device print it. Their texts are reviewed
// (kernels.cpp), and compiled alone (../cuda/compile.cpp, ../webgpu/compile.cpp), each in its usual dtype and a quarter
// of the others, with TERN_TEST_FULL=1 in all. Shapes are the smallest that have the kind, so that a person can read
// what changed. What a small call of an operation reaches needs no line here: samples.hpp. (Longer than other files: one
// list.)
#pragma once
#include <functional>
#include <vector>

#include "cuda/products/mma.hpp"
#include "cuda/products/wgmma.hpp"
#include "golden/printing.hpp"
#include "horizontal.hpp"
#include "primitives/attention/cuda/cuda_plan.hpp"
#include "primitives/convolution/kernels.hpp"

namespace tern::test {

struct Kind {
  // Where the text is reviewed. What CUDA prints of the same files as WebGPU is shown for WebGPU alone, and what
  // differs by little from others nowhere.
  enum Shown { in_both, in_wgsl, in_cuda, nowhere };
  const char* name;
  DType dtype;  // in which it is reviewed
  Shown shown;
  std::function<void(Printing&, DType)> call;
  int architecture = 80;  // of CUDA: the oldest that has its instructions
};

inline std::vector<Kind> elementwise_kinds() {
  using P = Printing;
  return {
      {"contiguous, in vectors", f32, Kind::in_both, [](P& p, DType d) { p.make({1000}, d) * p.make({1000}, d); }},
      {"packed halves", bf16, Kind::in_both, [](P& p, DType d) { p.make({1000}, d) * p.make({1000}, d); }},
      {"a broadcast row", f32, Kind::in_wgsl, [](P& p, DType d) { p.make({7, 5}, d) + p.make({5}, d); }},
      {"strided", f32, Kind::nowhere, [](P& p, DType d) { p.make({7, 5, 3}, d).permute({2, 0, 1}).contiguous(); }},
      {"components of vectors", f32, Kind::in_wgsl,
       [](P& p, DType d) { formula([](Vec<4> v, Expr s) { return v * s; })(p.make({9, 4}, d), 2); }},
      {"several results", f32, Kind::in_wgsl,
       [](P& p, DType d) {
         const Var x(p.make({64}, d)), y(p.make({64}, d));
         backward(x * y, p.make({64}, d));
       }},
      {"a gradient in one pass", f32, Kind::nowhere,
       [](P& p, DType d) { silu_mul_bwd(p.make({64}, d), p.make({64}, d), p.make({64}, d)); }},
      {"a gated activation", f16, Kind::in_wgsl, [](P& p, DType d) { silu_mul(p.make({64}, d), p.make({64}, d)); }},
      {"by index", f32, Kind::in_wgsl, [](P& p, DType d) { take(p.make({9, 4}, d), p.make({3}, i32)); }},
      {"across, in tiles", f32, Kind::in_both, [](P& p, DType d) { p.make({64, 48}, d).transpose(0, 1).contiguous(); }},
      {"across, with an operand along", f32, Kind::nowhere,
       [](P& p, DType d) { p.make({3, 64, 48}, d).transpose(1, 2) + p.make({3, 48, 64}, d); }},
      {"joined together", f32, Kind::nowhere, [](P& p, DType d) { concatenate({p.make({64}, d), p.make({7}, d)}); }},
      {"horizontally fused requests", f32, Kind::in_both,
       [](P& p, DType d) {
         step_horizontally({p.make({64}, d), p.make({8}, d)}, {p.make({64}, d), p.make({8}, d)},
                       [](std::size_t) { return 0.1; });
       }},
  };
}

inline std::vector<Kind> reducing_kinds() {
  using P = Printing;
  return {
      {"rows", f32, Kind::in_both, [](P& p, DType d) { softmax(p.make({300, 16}, d)); }},
      {"places of extremes", f32, Kind::in_wgsl, [](P& p, DType d) { argmax(p.make({300, 16}, d), {1}); }},
      {"places of extremes, of all", f32, Kind::nowhere, [](P& p, DType d) { argmin(p.make({70'000}, d)); }},
      {"rows with a mean and a variance", f32, Kind::in_wgsl,
       [](P& p, DType d) {
         row_formula(
             [](auto u) {
               auto c = u - mean(u);
               return c * mean(c * c);
             },
             p.make({300, 16}, d));
       }},
      {"rows with weights", f32, Kind::nowhere,
       [](P& p, DType d) { layer_norm(p.make({300, 16}, d), p.make({16}, d), p.make({16}, d)); }},
      {"rows whose values serve in several passes", f32, Kind::in_cuda,
       [](P& p, DType d) {
         row_formula(
             [](auto u) {
               auto y = sqrt(u), c = y - mean(y);
               return c / sqrt(mean(c * c) + 1) + y;
             },
             p.make({300, 128}, d));
       }},
      {"short rows", f32, Kind::in_both,
       [](P& p, DType d) {
         row_formula([](auto v, auto w) { return v / sqrt(sum(v * v)) * w; }, p.make({3000, 3}, d), p.make({3}, d));
       }},
      {"short rows of 16 bits", bf16, Kind::in_both, [](P& p, DType d) { sum(p.make({3000, 6}, d), {1}); }},
      {"the gradient of rows", f32, Kind::nowhere,
       [](P& p, DType d) {
         const Var x(p.make({300, 128}, d));
         backward(softmax(x), p.make({300, 128}, d));
       }},
      {"rows that step", f32, Kind::nowhere, [](P& p, DType d) { softmax(p.make({30, 101}, d)); }},
      {"sums of rows", f32, Kind::nowhere, [](P& p, DType d) { sum(p.make({30, 128}, d), {1}); }},
      {"columns", f32, Kind::in_wgsl, [](P& p, DType d) { sum(p.make({64, 300}, d), {0}); }},
      {"maxima of columns", f32, Kind::nowhere, [](P& p, DType d) { max(p.make({64, 300}, d), {0}); }},
      {"many elements to one result", f32, Kind::in_both, [](P& p, DType d) { sum(p.make({1 << 20}, d)); }},
  };
}

inline std::vector<Kind> product_kinds() {
  using P = Printing;
  return {
      {"product", f32, Kind::in_both,
       [](P& p, DType d) {
         matmul_bias_activation(p.make({40, 24}, d), p.make({24, 36}, d), p.make({36}, d), op::relu);
       }},
      {"small product", f32, Kind::nowhere, [](P& p, DType d) { matmul(p.make({40, 40}, d), p.make({40, 40}, d)); }},
      {"product of transposed matrices", f32, Kind::nowhere,
       [](P& p, DType d) { matmul(p.make({256, 256}, d).transpose(0, 1), p.make({256, 256}, d).transpose(0, 1)); }},
      {"few rows", f32, Kind::nowhere,
       [](P& p, DType d) {
         matmul_bias_activation(p.make({2, 600}, d), p.make({600, 64}, d), p.make({64}, d), op::relu);
       }},
      {"few rows, transposed", f32, Kind::nowhere,
       [](P& p, DType d) { matmul(p.make({3, 600}, d), p.make({64, 600}, d).transpose(0, 1)); }},
      {"few steps", f32, Kind::nowhere,
       [](P& p, DType d) {
         matmul_bias_activation(p.make({40, 2}, d), p.make({2, 64}, d), p.make({64}, d), op::relu);
       }},
      {"large product", f32, Kind::nowhere,
       [](P& p, DType d) { matmul(p.make({1024, 1024}, d), p.make({1024, 1024}, d)); }},
  };
}

/// By the kernels that the GPU languages share. On CUDA such are products over windows.
inline std::vector<Kind> convolution_kinds() {
  using P = Printing;
  const auto call = [](P& p, DType d) {
    if (p.in_cuda()) return;
    const ConvOptions same{.padding = 1};
    const Var x(p.make({2, 5, 6, 8}, d).permute({0, 3, 1, 2})), w(p.make({8, 8, 3, 3}, d));
    backward(conv2d(x, w, {}, same), p.make({2, 5, 6, 8}, d).permute({0, 3, 1, 2}));
  };
  const auto few = [](P& p, DType d) {
    if (p.in_cuda()) return;
    const Var x(p.make({2, 6, 8, 3}, d).permute({0, 3, 1, 2})), w(p.make({8, 3, 3, 3}, d));
    backward(conv2d(x, w, {}, {.stride = 2, .padding = 1}), p.make({2, 3, 4, 8}, d).permute({0, 3, 1, 2}));
  };
  const auto alone = [](P& p, DType d) {
    if (p.in_cuda()) return;
    const Var x(p.make({2, 24, 4}, d).permute({0, 2, 1})), w(p.make({4, 1, 2}, d));
    backward(conv1d(x, w, {}, {.groups = 4}), p.make({2, 23, 4}, d).permute({0, 2, 1}));
  };
  return {{"convolution, and its gradients", f32, Kind::in_wgsl, call},
          {"convolution of few channels, and its gradients", f32, Kind::in_wgsl, few},
          {"channels by themselves, and their gradients", f16, Kind::in_wgsl, alone}};
}

/// CUDA's kernels of f32 differ from those of 16-bit floats in how tiles are multiplied (../cuda/attention.cpp).
inline std::vector<Kind> attention_kinds() {
  using P = Printing;
  const auto alibi = [](auto score, auto, auto head, auto i, auto j, auto slope) {
    return score - slope * cast((head + 1) * abs(i - j), f32);
  };
  return {
      {"attention", f32, Kind::in_both,
       [=](P& p, DType d) {
         attention(p.make({1, 2, 8, 8}, d), p.make({1, 1, 8, 8}, d), p.make({1, 1, 8, 8}, d),
                   {.causal = true, .window = 4}, alibi, p.make({2, 1, 1}));
       }},
      {"attention on tensor cores", bf16, Kind::in_cuda,
       [=](P& p, DType d) {
         attention(p.make({1, 2, 8, 64}, d), p.make({1, 1, 8, 64}, d), p.make({1, 1, 8, 64}, d), {.causal = true},
                   alibi, p.make({2, 1, 1}));
       }},
      {"the gradients of attention on tensor cores", bf16, Kind::in_cuda,
       [=](P& p, DType d) {
         const Var q(p.make({1, 2, 8, 64}, d)), k(p.make({1, 1, 8, 64}, d)), v(p.make({1, 1, 8, 64}, d));
         backward(attention(q, k, v, {.causal = true}, alibi, p.make({2, 1, 1})), p.make({1, 2, 8, 64}, d));
       }},
      {"the gradients of attention", f32, Kind::in_wgsl,
       [=](P& p, DType d) {
         const Var q(p.make({1, 2, 8, 8}, d)), k(p.make({1, 1, 8, 8}, d)), v(p.make({1, 1, 8, 8}, d));
         backward(attention(q, k, v, {.causal = true}, alibi, p.make({2, 1, 1})), p.make({1, 2, 8, 8}, d));
       }},
  };
}

/// Of scan, sort and scatter, which launch several kernels each: the titles of their texts say which. (Longer than other
/// functions: it is one list.)
inline std::vector<Kind> line_kinds() {
  using P = Printing;
  return {
      {"scan", f32, Kind::in_wgsl, [](P& p, DType d) { cumsum(p.make({6, 1000}, d), 1); }},
      {"scan of short lines", f32, Kind::in_both, [](P& p, DType d) { cumsum(p.make({1000, 6}, d), 1); }},
      {"scan of short columns", f32, Kind::nowhere, [](P& p, DType d) { cumsum(p.make({6, 100}, d), 0); }},
      {"scan of a long line", f32, Kind::in_wgsl, [](P& p, DType d) { cumsum(p.make({20000}, d), 0); }},
      {"scan of columns", f32, Kind::in_wgsl, [](P& p, DType d) { cumsum(p.make({100, 2048}, d), 0); }},
      {"scan of one element each", f32, Kind::nowhere, [](P& p, DType d) { cumsum(p.make({6, 1001}, d), 1); }},
      {"scan backwards", f32, Kind::nowhere,
       [](P& p, DType d) {
         if (!is_floating(d)) return;
         for (const Shape& shape : {Shape{6, 100}, Shape{2, 20000}, Shape{2048, 100}}) {
           const Var x(p.make(shape, d));
           backward(cumsum(x, 1), p.make(shape, d));
         }
         const Var x(p.make({100, 2048}, d));
         backward(cumsum(x, 0), p.make({100, 2048}, d));
       }},
      {"scan of products, extremes and exponentials", f32, Kind::nowhere,
       [](P& p, DType d) {
         for (const Shape& shape : {Shape{6, 100}, Shape{20000}, Shape{2048, 100}}) {
           const Tensor x = p.make(shape, d);
           cumulative_prod(x, 0), cummax(x, 0), cummin(x, shape.rank() - 1);
           if (is_floating(d)) logcumsumexp(x, shape.rank() - 1);
         }
       }},
      {"sort", f32, Kind::in_wgsl, [](P& p, DType d) { sort(p.make({3, 8}, d), 1); }},
      {"sort of a line", f32, Kind::in_cuda, [](P& p, DType d) { sort(p.make({3, 3000}, d), 1); }},
      {"sort of a long line", f32, Kind::in_both, [](P& p, DType d) { sort(p.make({1 << 19}, d), 0); }},
      {"sort of long lines", f32, Kind::in_wgsl, [](P& p, DType d) { sort(p.make({2, 5000}, d), 1, true); }},
      {"sort of halves, read and written", bf16, Kind::in_wgsl, [](P& p, DType d) { sort(p.make({5000, 2}, d), 0); }},
      {"sort of halves where they lie", bf16, Kind::in_wgsl, [](P& p, DType d) { sort(p.make({2, 5000}, d), 1); }},
      {"sort of a line in subgroups", f32, Kind::in_wgsl,
       [](P& p, DType d) { p.in_subgroups([&] { sort(p.make({3, 2048}, d), 1); }); }},
      {"sort of a long line in subgroups", f32, Kind::in_wgsl,
       [](P& p, DType d) { p.in_subgroups([&] { sort(p.make({20'000}, d), 0); }); }},
      {"sort of a long line in subgroups that go on", f32, Kind::in_wgsl,
       [](P& p, DType d) { p.in_subgroups([&] { sort(p.make({20'000}, d), 0); }, true); }},
      {"order of booleans", f32, Kind::in_wgsl, [](P& p, DType) { argsort(p.make({20'000}, boolean), 0); }},
      {"ranks in a long line", f32, Kind::in_wgsl, [](P& p, DType d) { median(p.make({20'000}, d)); }},
      {"the first of a line", f32, Kind::in_wgsl, [](P& p, DType d) { topk(p.make({100000}, d), 3, 0); }},
      {"the first of many", f32, Kind::nowhere, [](P& p, DType d) { topk(p.make({2, 100000}, d), 3000, 1, false); }},
      {"scatter", f32, Kind::in_wgsl,
       [](P& p, DType d) { scatter_add(p.make({9, 4}, d), p.make({3}, i32), p.make({3, 4}, d)); }},
      {"scatter to many", f32, Kind::in_wgsl,
       [](P& p, DType d) { scatter_add(p.make({99, 4}, d), p.make({3000}, i32), p.make({3000, 4}, d)); }},
      {"scatter of a long table", f32, Kind::nowhere,
       [](P& p, DType d) { scatter_add(p.make({999, 4}, d), p.make({9000}, i32), p.make({9000, 4}, d)); }},
      {"scatter of rows to more", f32, Kind::in_wgsl,
       [](P& p, DType d) { scatter_add(p.make({9999, 4}, d), p.make({3000}, i32), p.make({3000, 4}, d)); }},
      {"scatter of many to few", f32, Kind::in_wgsl,
       [](P& p, DType d) { scatter_add(p.make({9, 4}, d), p.make({3000}, i32), p.make({3000, 4}, d)); }},
      {"scatter with a table for each line", f32, Kind::in_cuda,
       [](P& p, DType d) { scatter_add(p.make({9, 64}, d), p.make({300, 64}, i32), p.make({300, 64}, d)); }},
      {"scatter with a table for each line, whose entries lie together", f32, Kind::in_both,
       [](P& p, DType d) { scatter_add(p.make({64, 9}, d), p.make({64, 300}, i32), p.make({64, 300}, d), 1); }},
      {"scatter with a long table for each line, in subgroups", f32, Kind::in_wgsl,
       [](P& p, DType d) {
         p.in_subgroups(
             [&] { scatter_add(p.make({64, 3000}, d), p.make({64, 300}, i32), p.make({64, 300}, d), 1); });
       }},
      {"scatter of integers", i32, Kind::in_both,
       [](P& p, DType) { scatter_add(p.make({9}, i32), p.make({3000}, i32), p.make({3000}, i32)); }},
      {"scatter of integers of 64 bits", i64, Kind::in_cuda,
       [](P& p, DType) { scatter_add(p.make({9}, i64), p.make({3000}, i32), p.make({3000}, i64)); }},
      {"scatter of integers to many", i32, Kind::in_both,
       [](P& p, DType) { scatter_add(p.make({9999}, i32), p.make({3000}, i32), p.make({3000}, i32)); }},
      {"scatter of rows of integers", i32, Kind::nowhere,
       [](P& p, DType) { scatter_add(p.make({99, 4}, i32), p.make({3000}, i32), p.make({3000, 4}, i32)); }},
      {"scatter of long rows", f32, Kind::in_wgsl,
       [](P& p, DType d) { scatter_add(p.make({99, 128}, d), p.make({3000}, i32), p.make({3000, 128}, d)); }},
      {"scatter of long rows by a sorted table", f32, Kind::in_wgsl,
       [](P& p, DType d) { scatter_add(p.make({1999, 64}, d), p.make({65537}, i32), p.make({65537, 64}, d)); }},
  };
}

inline std::vector<Kind> matrix_kinds() {
  using P = Printing;
  return {
      {"cholesky of small matrices", f32, Kind::in_wgsl,
       [](P& p, DType d) { linalg::cholesky(p.make({9, 5, 5}, d)); }},
      {"exponentials of small matrices", f32, Kind::in_wgsl, [](P& p, DType d) { linalg::expm(p.make({9, 12, 12}, d)); }},
      {"lu of small matrices", f32, Kind::in_both, [](P& p, DType d) { linalg::lu_factor(p.make({9, 5, 7}, d)); }},
      {"lu of small matrices in a subgroup", f32, Kind::in_wgsl,
       [](P& p, DType d) { p.in_subgroups([&] { linalg::lu_factor(p.make({9, 17, 2}, d)); }); }},
      {"equations of small matrices", f32, Kind::in_both,
       [](P& p, DType d) { linalg::solve(p.make({9, 5, 5}, d), p.make({9, 5}, d)); }},
      {"solutions of small matrices", f32, Kind::in_wgsl,
       [](P& p, DType d) { linalg::solve(p.make({9, 5, 5}, d), p.make({9, 5, 5}, d)); }},
      {"solutions of few sides", f32, Kind::in_cuda,
       [](P& p, DType d) {
         linalg::lu_solve(p.make({9, 5, 5}, d), p.make({9, 5}, i32), p.make({9, 5, 2}, d));
       }},
      {"equations of 32 rows, and their gradients", f32, Kind::nowhere,
       [](P& p, DType d) {
         const Var a(p.make({9, 32, 32}, d));
         backward(linalg::solve(a, p.make({9, 32}, d)), p.make({9, 32}, d));
         p.in_subgroups([&] { linalg::solve(p.make({9, 32, 32}, d), p.make({9, 32}, d)); });
       }},
      {"solutions of larger ones, and their gradients", f32, Kind::nowhere,
       [](P& p, DType d) {
         const Var a(p.make({9, 32, 32}, d));
         backward(linalg::solve(a, p.make({9, 32, 40}, d)), p.make({9, 32, 40}, d));
       }},
      {"triangles of small matrices", f32, Kind::in_wgsl,
       [](P& p, DType d) { linalg::solve_triangular(p.make({9, 8, 8}, d), p.make({9, 8, 3}, d), true); }},
      {"lower triangles of small matrices", f32, Kind::nowhere,
       [](P& p, DType d) { linalg::solve_triangular(p.make({2, 1, 1}, d), p.make({1, 3}, d), false, true, true); }},
      {"qr of small matrices", f32, Kind::in_wgsl, [](P& p, DType d) { linalg::qr(p.make({9, 7, 5}, d)); }},
      {"complete qr of small matrices", f32, Kind::nowhere,
       [](P& p, DType d) { linalg::qr(p.make({9, 32, 3}, d), true), linalg::qr(p.make({9, 5, 1}, d), false); }},
      {"eigh of small matrices", f32, Kind::in_both, [](P& p, DType d) { linalg::eigh(p.make({9, 5, 5}, d)); }},
      {"eigenvalues of small matrices", f32, Kind::nowhere,
       [](P& p, DType d) {
         linalg::eigvalsh(p.make({9, 32, 32}, d)), linalg::eigh(p.make({9, 32, 32}, d));
         linalg::eigh(p.make({9, 7, 7}, d)), linalg::eigvalsh(p.make({9, 8, 8}, d));
       }},
      {"svd of small matrices", f32, Kind::in_wgsl, [](P& p, DType d) { linalg::svd(p.make({9, 7, 5}, d)); }},
      {"singular values of small matrices", f32, Kind::nowhere,
       [](P& p, DType d) {
         linalg::svdvals(p.make({9, 32, 32}, d)), linalg::svd(p.make({9, 32, 32}, d));
         linalg::svd(p.make({9, 3, 32}, d), true), linalg::svd(p.make({9, 1, 5}, d));
       }},
      {"spectra, a matrix a thread", f64, Kind::in_cuda,
       [](P& p, DType d) {
         linalg::qr(p.make({9, 3, 2}, d)), linalg::eigh(p.make({9, 2, 2}, d)), linalg::svd(p.make({9, 2, 2}, d));
       }},
      {"spectra of four rows, a matrix a thread", f32, Kind::nowhere,
       [](P& p, DType d) {
         linalg::qr(p.make({9, 4, 3}, d), true), linalg::eigh(p.make({9, 4, 4}, d)), linalg::svd(p.make({9, 2, 4}, d));
         linalg::qr(p.make({9, 1, 4}, d)), linalg::eigvalsh(p.make({9, 3, 3}, d));
         linalg::svdvals(p.make({9, 4, 3}, d));
       }},
  };
}

inline std::vector<Kind> large_matrix_kinds() {
  using P = Printing;
  return {
      {"large matrices, by the vendor's library", f32, Kind::in_cuda,
       [](P& p, DType d) {
         if (p.in_cuda()) linalg::cholesky(p.make({40, 40}, d));
       }},
      {"more of large matrices", f32, Kind::in_cuda,
       [](P& p, DType d) {
         if (!p.in_cuda()) return;
         const Tensor a = p.make({2, 40, 40}, d), b = p.make({2, 40, 3}, d);
         const Var v(a);
         backward(linalg::solve(v, b), b), linalg::solve_triangular(a, b, true, true, true), linalg::qr(a);
         linalg::eigh(a), linalg::svd(a), linalg::svd(p.make({2, 30, 40}, d)), linalg::svdvals(a);
       }},
      {"cholesky of a block", f32, Kind::in_wgsl, [](P& p, DType d) { linalg::cholesky(p.make({64, 40, 40}, d)); }},
      {"lu of a panel", f32, Kind::in_wgsl, [](P& p, DType d) { linalg::lu_factor(p.make({64, 40, 40}, d)); }},
      {"qr of a panel", f32, Kind::in_wgsl, [](P& p, DType d) { linalg::qr(p.make({64, 40, 40}, d)); }},
      {"large matrices by blocks", f32, Kind::nowhere,
       [](P& p, DType d) {  // more than a vendor's library takes
         const Tensor a = p.make({64, 40, 40}, d), b = p.make({64, 40, 3}, d);
         linalg::cholesky(a), linalg::cholesky_ex(a), linalg::lu_factor_ex(a);
         const Var v(a);
         backward(linalg::solve(v, b), b), linalg::solve_triangular(a, b, true), linalg::qr(a, true);
       }},
      {"eigenvalues by rotations of blocks", f32, Kind::in_wgsl,
       [](P& p, DType d) { linalg::eigh(p.make({64, 40, 40}, d)); }},
      {"singular values by rotations of blocks", f32, Kind::in_wgsl,
       [](P& p, DType d) { linalg::svd(p.make({64, 40, 40}, d)); }},
      {"matrices of four rows as formulas", f32, Kind::nowhere,
       [](P& p, DType d) {
         const Tensor a = p.make({9, 4, 4}, d);
         linalg::inv(a), linalg::det(a), linalg::slogdet(a), linalg::cholesky(a);
         const Var x(a);
         backward(linalg::solve(x, p.make({9, 4, 2}, d)), p.make({9, 4, 2}, d));
       }},
  };
}

/// Whatever the dtype, of complex numbers that it is the parts of, or f32.
inline std::vector<Kind> transform_kinds() {
  using P = Printing;
  return {
      {"transform", f32, Kind::in_wgsl, [](P& p, DType d) { fft::fft(p.make({3, 8}, complex_dtype(d))); }},
      {"transform of lines of odd factors", f32, Kind::in_wgsl,
       [](P& p, DType d) { fft::fft(p.make({3, 105}, complex_dtype(d))); }},
      {"transform to real lines, and its gradient", f32, Kind::in_wgsl,
       [](P& p, DType d) {
         if (!is_floating(d)) return;
         const Var x(p.make({3, 3}, complex_dtype(d)));
         backward(fft::irfft(x, 4), p.make({3, 4}, real_dtype(complex_dtype(d))));
         fft::irfft(x.value(), 5);
       }},
      {"transform of real lines with a large prime factor", f32, Kind::in_wgsl,
       [](P& p, DType d) { fft::rfft(p.make({3, 22}, d)); }},
      {"gradients of transforms of real lines, and of fewer elements", f32, Kind::in_wgsl,
       [](P& p, DType d) {
         if (!is_floating(d)) return;
         const Var x(p.make({2, 6}, real_dtype(complex_dtype(d))));
         backward(fft::rfft(x), p.make({2, 4}, complex_dtype(d)));
         backward(fft::fft(Var(p.make({2, 3}, complex_dtype(d))), 2), p.make({2, 2}, complex_dtype(d)));
       }},
      {"transform of columns, and of real lines", f32, Kind::nowhere,
       [](P& p, DType d) {
         const Tensor x = p.make({8, 64}, complex_dtype(d)), y = p.make({3, 12}, d);
         fft::fft(x, {}, 0), fft::ifft(x, {}, 0), fft::irfft(fft::rfft(y, 10), 14);
         if (!is_floating(d)) return;
         backward(fft::rfft(Var(y)), p.make({3, 7}, complex_dtype(d)));
         backward(fft::irfft(Var(p.make({3, 7}, complex_dtype(d)))), p.make({3, 12}, real_dtype(complex_dtype(d))));
       }},
      {"transform of long lines", f32, Kind::nowhere,
       [](P& p, DType d) {
         fft::ifft(p.make({6000}, complex_dtype(d))), fft::irfft(fft::rfft(p.make({2, 6000}, d), 7000), 6000);
       }},
  };
}

/// A product of 16-bit floats by units of NVIDIA's; nothing is printed of other dtypes, and for WebGPU.
inline void product_by(const std::function<bool(detail_gpu::GpuBackend&, const detail::GemmRequest&)>& units,
                       Printing& p, DType d) {
  if (!p.in_cuda() || (d != DType::f16 && d != DType::bf16)) return;
  p.multiply = units;
  matmul_bias_activation(p.make({200, 64}, d), p.make({64, 304}, d), p.make({304}, d), op::relu);
  p.multiply = nullptr;
}
/// A convolution of 16-bit floats with a bias by units of NVIDIA's, and the gradient of its kernels.
inline void convolution_by(const detail_cuda::MatrixUnits& units, const detail::ConvSizes& sizes, Printing& p,
                           DType d) {
  if (!p.in_cuda() || (d != DType::f16 && d != DType::bf16)) return;
  const Tensor x = p.make(sizes.of_x(), d), w = p.make(sizes.of_w(), d), y = p.make(sizes.of_y(), d);
  const Tensor bias = p.make({sizes.groups * sizes.o}, d).broadcast_to(sizes.of_y());
  const auto view = [](const Tensor& t) { return detail::view_over(t, t.shape()); };
  const detail::InputType types[] = {{d, false}, {d, false}};
  const detail::Operand operand{view(bias), {}, nullptr};
  const detail::View result = view(y);
  const auto* formula = detail::graph_of([](auto sum, auto b) { return sum + b; });
  detail_gpu::convolution_by_units(
      p,
      {"conv2d", sizes, view(x), view(w), &detail::type_program("conv2d", formula, types), {&operand, 1}, {&result, 1}},
      units);
  detail_gpu::convolution_weight_by_units(p, {"conv2d", sizes, view(x), view(y), view(w)}, units);
}
inline std::vector<Kind> unit_kinds() {
  using P = Printing;
  return {
      {"product on Hopper's matrix units", bf16, Kind::in_cuda,
       [](P& p, DType d) {
         product_by(
             [](auto& to, const auto& request) {
               return detail_cuda::run_wgmma(to, request, {90, 2}, true);
             },
             p, d);
       },
       90},
      {"convolution on Hopper's matrix units", bf16, Kind::in_cuda,
       [](P& p, DType d) {
         convolution_by({90, 2}, {2, 2, 1, 64, 64, {9, 10}, {9, 10}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, p, d);
       },
       90},
      {"channels convolved by themselves, and their gradients", bf16, Kind::in_cuda,
       [](P& p, DType d) {
         convolution_by({80, 2, 99 << 10}, {2, 2, 32, 1, 1, {5, 6}, {6, 7}, {3, 2}, {1, 1}, {1, 1}, {1, 1}}, p, d);
       }},
      {"channels convolved by themselves on tensor cores", bf16, Kind::in_cuda,
       [](P& p, DType d) {
         convolution_by({80, 2, 99 << 10}, {2, 2, 32, 1, 1, {14, 14}, {14, 14}, {7, 7}, {1, 1}, {1, 1}, {3, 3}}, p, d);
       }},
      {"attention on Hopper's matrix units", bf16, Kind::in_cuda,
       [](P& p, DType d) {
         if (!p.in_cuda() || (d != DType::f16 && d != DType::bf16)) return;
         P hopper(DeviceKind::cuda, p.take());
         const detail_cuda::MatrixUnits units{90, 2, 227 << 10};
         hopper.attend = [=](auto& to, const auto& r) { return detail_gpu::attention_by_wgmma(to, r, units); };
         hopper.attend_backward = [=](auto& to, const auto& r) {
           return detail_gpu::attention_backward_by_wgmma(to, r, units);
         };
         const Var q(hopper.make({1, 2, 80, 64}, d)), k(hopper.make({1, 1, 80, 64}, d));
         const Var y = attention(
             q, k, k, {.causal = true},
             [](auto score, auto, auto, auto i, auto j, auto slope) { return score - slope * cast(abs(i - j), f32); },
             hopper.make({2, 1, 1}));
         backward(y, hopper.make({1, 2, 80, 64}, d));
       },
       90},
      {"product on tensor cores", bf16, Kind::in_cuda,
       [](P& p, DType d) {
         product_by(
             [](auto& to, const auto& request) {
               return detail_cuda::run_mma(to, request, {80, 1, 163 << 10});
             },
             p, d);
       }},
  };
}

inline std::vector<Kind> every_kind() {
  std::vector<Kind> all;
  for (const auto& some : {elementwise_kinds(), reducing_kinds(), product_kinds(), convolution_kinds(),
                           attention_kinds(), line_kinds(),
                           transform_kinds(), matrix_kinds(), large_matrix_kinds(), unit_kinds()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

}  // namespace tern::test
