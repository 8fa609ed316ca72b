#!/bin/sh
# Adds one line to formulas.inc in a copy of the sources, builds it, and requires the formula everywhere: as a function
# in every float type, in the autograd to third order, as an epilogue, and in the generated reference.
# Usage: run.sh <source folder> <work folder> <C++ compiler>
set -eu
source=$1 work=$2 compiler=$3
rm -rf "$work/tree"
mkdir -p "$work/tree"
cp -r "$source/include" "$source/src" "$source/cmake" "$source/tools" "$source/CMakeLists.txt" "$work/tree/"
echo 'TERN_FORMULA(synthetic_cube, [](auto x) { return x * x * x; })' >> "$work/tree/include/tern/formulas.inc"
cmake -S "$work/tree" -B "$work/build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DTERN_BUILD_TESTS=OFF -DTERN_BUILD_EXAMPLES=OFF \
  -DTERN_BUILD_TOOLS=ON -DTERN_CUDA_PACK=OFF -DCMAKE_INSTALL_PREFIX="$work/prefix" > "$work/configure.log"
cmake --build "$work/build" > "$work/build.log" || { tail -50 "$work/build.log"; exit 1; }
"$work/build/tools/ops_reference" | grep -q '`synthetic_cube`' || { echo 'missing: the row of docs/ops.md'; exit 1; }
cmake --install "$work/build" > "$work/install.log"
cmake -S "$source/tests/one_place" -B "$work/check" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$work/prefix" > "$work/check.log"
cmake --build "$work/check" >> "$work/check.log" || { tail -50 "$work/check.log"; exit 1; }
"$work/check/check"
