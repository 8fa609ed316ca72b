#!/bin/sh
# Makes a copy of the sources in which four strangers were added, each in one place:
#   a formula                a line of formulas.inc,
#   an operation             the entry that docs/add_an_operation.md shows, at the end of compositions.hpp,
#   a primitive, rotate      a folder and a line of primitives.inc,
#   a backend, counting      a folder and a line of backends.inc.
# script/test --one-place builds it, and requires them wherever such things are. Files keep their times, so that a
# second build compiles only what changed.
# Usage: add.sh <source folder> <folder of the copy>
set -eu
source=$1 tree=$2
rm -rf "$tree"
mkdir -p "$tree"
for part in include src cmake tools tests docs bench examples script \
            CMakeLists.txt README.md CONTRIBUTING.md LICENSE NOTICE .clang-format; do
  cp -a "$source/$part" "$tree/"
done
[ ! -d "$source/third_party" ] || ln -s "$source/third_party" "$tree/third_party"
# add_line <file> <line>
add_line() {
  echo "$2" >> "$tree/$1"
  touch -r "$source/$1" "$tree/$1"
}
add_line include/tern/formulas.inc 'TERN_FORMULA(synthetic_cube, [](auto x) { return x * x * x; })'
cp -a "$source/tests/one_place/rotate" "$tree/src/primitives/"
add_line src/primitives/primitives.inc 'TERN_PRIMITIVE(rotate, RotateRequest)'
cp -a "$source/tests/one_place/counting" "$tree/src/"
add_line include/tern/backends.inc 'TERN_BACKEND(counting)'
add_line include/tern/compositions.hpp \
  "$(sed -n '/^```cpp$/,/^```$/p' "$source/docs/add_an_operation.md" | grep -v '^```')"
cp -a "$source/tests/one_place/strangers.cpp" "$tree/tests/every_device/"
cp -a "$source/tests/one_place/strangers_text.cpp" "$tree/tests/cuda/"
