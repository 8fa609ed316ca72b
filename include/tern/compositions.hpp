// Operations composed of others: no kernel and no rule of their own. All there is of one stands here (how to write one:
// docs/add_an_operation.md); the entries, in TERN_ENTRIES, are compiled into tests and tools only.
#pragma once
#include "tern/ops.hpp"

namespace tern {

/// x converted; the gradient is converted back.
template <TensorOrVar T> T cast(const T& x, DType dtype) { return x.to(dtype); }

}  // namespace tern

#ifdef TERN_ENTRIES
#include "ops/entry.hpp"

namespace tern::operations {

const Entries entry_of_cast{{
    .name = "cast",
    .family = Family::compositions,
    .arguments = "x, dtype",
    .says = "x converted; the gradient is converted back",
    .tolerance = {0, "no element changes"},
    .samples = {{.shapes = [](Sizes s) { return std::vector<Shape>{{s.rows, s.columns}}; },
                 .call = [](const auto& x) { return cast(x, dtype_size(x.dtype()) == 2 ? f32 : x.dtype()); },
                 .reference = [](const auto& x) { return x; }}},
    .bad = {{ErrorKind::shape, {"undefined Tensor"}, [](auto make) { cast(decltype(make({}))(), f32); }}},
}};

}  // namespace tern::operations
#endif
