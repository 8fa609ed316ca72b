# The library, and in it the loops compiled ahead of time (src/cpu/tape/loops.hpp). They are printed by a tool that is
# made of the library's other objects, so these are a target of their own; they are compiled with what is set on tern.
set(TERN_LOOPS_DEFAULT ON)
if(CMAKE_CROSSCOMPILING OR TERN_SANITIZE)  # the tool must run here; with sanitizers they take the compiler minutes
  set(TERN_LOOPS_DEFAULT OFF)
endif()
option(TERN_COMPILED_LOOPS
       "Compile registered formulas ahead of time; without, the CPU interprets them" ${TERN_LOOPS_DEFAULT})

list(FILTER tern_sources EXCLUDE REGEX "src/cpu/tape/loops_none.cpp")
# Kernels of one SIMD target stay alone, too: they set the compiler's target for themselves.
in_batches(tern_sources 8
           "cuda/api|cuda/kernel_archive|webgpu/api|io/safetensors|lapack/eigen_|/lanes_|products/pairs_|cpu/simd/")
# The files of SIMD targets first: each takes the compiler minutes, and at the end one processor would wait.
add_library(tern_objects OBJECT ${target_files} ${tern_sources})
add_library(tern $<TARGET_OBJECTS:tern_objects> ${eigen_objects})

# compiled_like_tern <target>
function(compiled_like_tern target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PRIVATE $<TARGET_PROPERTY:tern,INCLUDE_DIRECTORIES>)
  target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:tern,COMPILE_DEFINITIONS>)
  target_compile_options(${target} PRIVATE $<TARGET_PROPERTY:tern,COMPILE_OPTIONS>)
endfunction()
compiled_like_tern(tern_objects)
if(TERN_SANITIZE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # A third of the time of a file is the text of its headers. The standard library's alone: names of tern's own headers
  # would meet those that a file which does not include them has for itself.
  target_precompile_headers(tern_objects PRIVATE <algorithm> <array> <atomic> <bit> <chrono> <cmath> <complex> <cstring>
                                                 <functional> <map> <memory> <mutex> <numeric> <optional> <set> <span>
                                                 <sstream> <string> <thread> <unordered_map> <utility> <variant>
                                                 <vector>)
  set_source_files_properties(${target_files} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)  # with options of their own
endif()

# The entries of operations (src/ops/entry.hpp), for tests and tools. They are linked as objects: nothing names them, so
# that a library would leave them out. docs/ops.md has the primitives' in front of what is made of them.
file(GLOB entry_sources CONFIGURE_DEPENDS src/primitives/*/*.trial.cpp src/primitives/*/*/*.trial.cpp)
file(GLOB composed_entry_sources CONFIGURE_DEPENDS src/ops/*.trial.cpp src/ops/*/*.trial.cpp src/optim/*.trial.cpp)
list(APPEND entry_sources ${composed_entry_sources})
in_batches(entry_sources 8 "compositions.trial.cpp" SHARED)
add_library(tern_entries OBJECT EXCLUDE_FROM_ALL ${entry_sources})
compiled_like_tern(tern_entries)
# As in tests/CMakeLists.txt, where the reasons are.
target_compile_options(tern_entries PRIVATE $<$<CONFIG:Release>:$<IF:$<BOOL:${TERN_BATCHES}>,-O0,-O1>>
                                            $<$<CONFIG:Sanitize>:-O0>
                                            $<$<CONFIG:Sanitize>:-fno-sanitize=all>)
if(TERN_PRECOMPILED_TESTS OR NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set_target_properties(tern_entries PROPERTIES CXX_COMPILER_LAUNCHER "")
  target_precompile_headers(tern_entries PRIVATE <tern/tern.hpp>)
  # It includes a header of tern.hpp's once more, with the entries in it.
  set_source_files_properties(src/ops/compositions.trial.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endif()
# What a program links for them.
share_objects(tern_entries shared_objects)
set(entry_objects $<TARGET_OBJECTS:tern_entries> ${shared_objects})

if(NOT TERN_COMPILED_LOOPS)
  target_sources(tern PRIVATE src/cpu/tape/loops_none.cpp)
  return()
endif()

add_executable(tern_print_loops tools/print_loops.cpp tools/registered_calls.cpp src/cpu/tape/loops_none.cpp
                                $<TARGET_OBJECTS:tern_objects> ${entry_objects})
compiled_like_tern(tern_print_loops)
target_link_options(tern_print_loops PRIVATE $<TARGET_PROPERTY:tern,INTERFACE_LINK_OPTIONS>)
target_link_libraries(tern_print_loops PRIVATE Threads::Threads hwy::hwy ${CMAKE_DL_LIBS}
                                               $<TARGET_NAME_IF_EXISTS:ZLIB::ZLIB>)

set(TERN_LOOP_SHARDS 2)  # files a target, for compilers that run side by side
set(TERN_LOOP_TARGET "" CACHE STRING "The one SIMD target that has compiled loops, for tests; empty: all have them")
mark_as_advanced(TERN_LOOP_TARGET)
set(loops_folder ${TERN_GENERATED}/loops)
set(loop_sources ${loops_folder}/loops.cpp)
set(loop_targets ${TERN_LOOP_TARGET})
if(NOT loop_targets)
  set(loop_targets ${TERN_CPU_TARGETS})
endif()
foreach(name IN LISTS loop_targets)
  math(EXPR last_shard "${TERN_LOOP_SHARDS} - 1")
  foreach(shard RANGE ${last_shard})
    list(APPEND loop_sources ${loops_folder}/loops_${name}_${shard}.cpp)
  endforeach()
endforeach()
file(MAKE_DIRECTORY ${loops_folder})
# The files are touched only where their text changes: what is newer than the tool is the stamp.
add_custom_command(OUTPUT ${loops_folder}/stamp
                   BYPRODUCTS ${loop_sources}
                   COMMAND tern_print_loops ${loops_folder} ${TERN_LOOP_SHARDS} ${loop_targets}
                   COMMAND ${CMAKE_COMMAND} -E touch ${loops_folder}/stamp
                   DEPENDS tern_print_loops
                   COMMENT "Printing the loops to compile ahead of time" VERBATIM)
add_custom_target(tern_loop_sources DEPENDS ${loops_folder}/stamp)
set_source_files_properties(${loop_sources} PROPERTIES GENERATED ON)
add_library(tern_loops OBJECT ${loop_sources})
add_dependencies(tern_loops tern_loop_sources)
compiled_like_tern(tern_loops)
target_compile_options(tern_loops PRIVATE -O2 ${simd_options})
target_sources(tern PRIVATE $<TARGET_OBJECTS:tern_loops>)
