#!/bin/sh
# What is added in one place must be everywhere. In a copy of the sources this adds
#   a formula                a line of formulas.inc,
#   an operation             the entry that docs/add_an_operation.md shows, at the end of compositions.hpp,
#   a primitive, rotate      a folder and a line of primitives.inc,
#   a backend, counting      a folder and a line of backends.inc,
# builds it, and runs programs against it that require them wherever such things are: check.cpp, parts.cpp, and the
# contract tests of operations.
# Usage: run.sh <source folder> <work folder> <C++ compiler>
set -eu
source=$1 work=$2 compiler=$3
rm -rf "$work/tree"
mkdir -p "$work/tree"
cp -r "$source/include" "$source/src" "$source/cmake" "$source/tools" "$source/CMakeLists.txt" "$work/tree/"
[ ! -d "$source/third_party" ] || ln -s "$source/third_party" "$work/tree/third_party"
echo 'TERN_FORMULA(synthetic_cube, [](auto x) { return x * x * x; })' >> "$work/tree/include/tern/formulas.inc"
cp -r "$source/tests/one_place/rotate" "$work/tree/src/primitives/"
echo 'TERN_PRIMITIVE(rotate, RotateRequest)' >> "$work/tree/src/primitives/primitives.inc"
cp -r "$source/tests/one_place/counting" "$work/tree/src/"
echo 'TERN_BACKEND(counting)' >> "$work/tree/include/tern/backends.inc"
sed -n '/^```cpp$/,/^```$/p' "$source/docs/add_an_operation.md" | grep -v '^```' >> "$work/tree/include/tern/compositions.hpp"
mkdir -p "$work/tree/tests/every_device" "$work/tree/docs"
cp "$source"/tests/*.hpp "$work/tree/tests/"
for file in every_operation.cpp operations.cpp orders.cpp result_line.cpp reference.hpp derivatives.hpp trials.hpp entries.hpp; do
  cp "$source/tests/every_device/$file" "$work/tree/tests/every_device/"
done
cmake -S "$work/tree" -B "$work/build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DTERN_BUILD_TESTS=OFF -DTERN_BUILD_EXAMPLES=OFF \
  -DTERN_BUILD_TOOLS=ON -DTERN_CUDA_PACK=OFF -DCMAKE_INSTALL_PREFIX="$work/prefix" > "$work/configure.log"
cmake --build "$work/build" > "$work/build.log" || { tail -50 "$work/build.log"; exit 1; }
"$work/build/tools/ops_reference" | grep -q '`synthetic_cube`' || { echo 'missing: the row of docs/ops.md'; exit 1; }
"$work/build/tools/ops_reference" > "$work/tree/docs/ops.md"
grep -q '`softmax_pool` | `x, scores, axis = -1` | yes' "$work/tree/docs/ops.md" || { echo 'missing: the row of the operation'; exit 1; }
cmake --install "$work/build" > "$work/install.log"
cmake -S "$source/tests/one_place" -B "$work/check" -G Ninja -DTERN_TREE="$work/tree" -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_PREFIX_PATH="$work/prefix" > "$work/check.log"
cmake --build "$work/check" >> "$work/check.log" || { tail -50 "$work/check.log"; exit 1; }
"$work/check/check"
"$work/check/parts"
TERN_TEST_OPERATION=softmax_pool "$work/check/contract" --gtest_brief=1 > "$work/contract.log" || { tail -50 "$work/contract.log"; exit 1; }
echo 'one entry in one file is all it takes'
