#!/bin/sh
# Adds to a copy of the sources a formula, one line in formulas.inc, and an operation composed of others, the entry that
# docs/add_an_operation.md shows, at the end of compositions.hpp. Builds it, and requires both everywhere: as functions of
# Tensors and Vars, in the autograd to third order, in the generated reference; the formula as an epilogue; the operation
# in the contract tests, on every device.
# Usage: run.sh <source folder> <work folder> <C++ compiler>
set -eu
source=$1 work=$2 compiler=$3
rm -rf "$work/tree"
mkdir -p "$work/tree"
cp -r "$source/include" "$source/src" "$source/cmake" "$source/tools" "$source/CMakeLists.txt" "$work/tree/"
echo 'TERN_FORMULA(synthetic_cube, [](auto x) { return x * x * x; })' >> "$work/tree/include/tern/formulas.inc"
sed -n '/^```cpp$/,/^```$/p' "$source/docs/add_an_operation.md" | grep -v '^```' >> "$work/tree/include/tern/compositions.hpp"
mkdir -p "$work/tree/tests/every_device" "$work/tree/docs"
cp "$source"/tests/*.hpp "$work/tree/tests/"
for file in every_operation.cpp operations.cpp orders.cpp result_line.cpp reference.hpp derivatives.hpp trials.hpp entries.hpp; do
  cp "$source/tests/every_device/$file" "$work/tree/tests/every_device/"
done
[ ! -e "$source/third_party" ] || ln -s "$(readlink -f "$source/third_party")" "$work/tree/third_party"  # WebGPU
cmake -S "$work/tree" -B "$work/build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DTERN_BUILD_TESTS=OFF -DTERN_BUILD_EXAMPLES=OFF \
  -DTERN_BUILD_TOOLS=ON -DTERN_CUDA_PACK=OFF -DCMAKE_INSTALL_PREFIX="$work/prefix" > "$work/configure.log"
cmake --build "$work/build" > "$work/build.log" || { tail -50 "$work/build.log"; exit 1; }
"$work/build/tools/ops_reference" | grep -q '`synthetic_cube`' || { echo 'missing: the row of docs/ops.md'; exit 1; }
"$work/build/tools/ops_reference" > "$work/tree/docs/ops.md"
grep -q '`softmax_pool` | `x, scores, axis = -1` | yes' "$work/tree/docs/ops.md" || { echo 'missing: the row of the operation'; exit 1; }
cmake --install "$work/build" > "$work/install.log"
cmake -S "$source/tests/one_place" -B "$work/check" -G Ninja -DTERN_TREE="$work/tree" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$work/prefix" > "$work/check.log"
cmake --build "$work/check" >> "$work/check.log" || { tail -50 "$work/check.log"; exit 1; }
"$work/check/check"
TERN_TEST_OPERATION=softmax_pool "$work/check/contract" --gtest_brief=1 > "$work/contract.log" || { tail -50 "$work/contract.log"; exit 1; }
echo 'one entry in one file is all it takes'
