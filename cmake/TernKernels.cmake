# Kernels in files of their own language: src/<path>.cu or .wgsl becomes generated/<path>.cu.inc, a string literal,
# without the comment the file begins with, which describes the kernel to its readers. generated/kernel_files.inc lists
# all of them for tests, {"<path>", its text}.
file(GLOB_RECURSE kernel_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cu ${PROJECT_SOURCE_DIR}/src/*.wgsl)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${kernel_files})
set(kernel_list "")
foreach(file IN LISTS kernel_files)
  file(READ ${file} text)
  string(REGEX REPLACE "^(//[^\n]*\n)+" "" text "${text}")
  cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/src OUTPUT_VARIABLE name)
  file(CONFIGURE OUTPUT ${TERN_GENERATED}/${name}.inc CONTENT "R\"kernel(${text})kernel\"\n" @ONLY)
  string(APPEND kernel_list "{\"${name}\",\n#include \"${name}.inc\"\n},\n")
endforeach()
file(CONFIGURE OUTPUT ${TERN_GENERATED}/kernel_files.inc CONTENT "${kernel_list}" @ONLY)
