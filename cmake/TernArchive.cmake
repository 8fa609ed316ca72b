# The archive of CUDA kernels for machines that have NVIDIA's driver alone (src/cuda/kernel_archive.hpp): a tool made of
# the library itself prints everything that is registered, and NVRTC compiles it, where the build finds one.
set(TERN_CUDA_ARCHIVE_NAME cuda_kernels.archive)  # beside the installed libtern, too
set(archive_definitions TERN_CUDA_ARCHIVE_NAME="${TERN_CUDA_ARCHIVE_NAME}")
set_source_files_properties(src/cuda/kernel_archive.cpp PROPERTIES COMPILE_DEFINITIONS "${archive_definitions}")
find_library(TERN_NVRTC NAMES libnvrtc.so.13 libnvrtc.so.12 nvrtc
             HINTS ${PROJECT_SOURCE_DIR}/third_party/cuda/lib ENV TERN_CUDA_LIBRARIES
             PATHS /usr/local/cuda/lib64 DOC "NVRTC, for the archive of CUDA kernels")
mark_as_advanced(TERN_NVRTC)
set(TERN_CUDA_ARCHIVE_DEFAULT OFF)
if(TERN_NVRTC AND TERN_ZLIB AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CROSSCOMPILING AND NOT TERN_SANITIZE)
  set(TERN_CUDA_ARCHIVE_DEFAULT ON)
endif()
option(TERN_CUDA_ARCHIVE "Make the archive of CUDA kernels; without, CUDA needs NVRTC" ${TERN_CUDA_ARCHIVE_DEFAULT})
if(NOT TERN_CUDA_ARCHIVE)
  return()
endif()
if(NOT TERN_NVRTC OR NOT TERN_ZLIB)
  message(FATAL_ERROR "TERN_CUDA_ARCHIVE needs NVRTC (script/setup fetches it; TERN_NVRTC names it) "
                      "and zlib (Debian: zlib1g-dev)")
endif()

set(TERN_CUDA_ARCHIVE_SAMPLE 1 CACHE STRING "Compile one kernel of so many (for tests: it is no archive to run from)")
mark_as_advanced(TERN_CUDA_ARCHIVE_SAMPLE)
set(TERN_CUDA_ARCHIVE_FILE ${PROJECT_BINARY_DIR}/${TERN_CUDA_ARCHIVE_NAME})
# For programs run from the build folder; installed ones look beside libtern.
list(APPEND archive_definitions TERN_CUDA_ARCHIVE_BUILT="${TERN_CUDA_ARCHIVE_FILE}")
set_source_files_properties(src/cuda/kernel_archive.cpp PROPERTIES COMPILE_DEFINITIONS "${archive_definitions}")
add_executable(tern_archive_kernels tools/archive_kernels.cpp tools/archive_calls.cpp tools/registered_calls.cpp
                                    tools/pretended_driver.cpp tools/split_ptx.cpp ${entry_objects})
compiled_like_tern(tern_archive_kernels)
target_link_libraries(tern_archive_kernels PRIVATE tern)
cmake_path(GET TERN_NVRTC PARENT_PATH nvrtc_folder)
add_custom_command(OUTPUT ${TERN_CUDA_ARCHIVE_FILE}
                   COMMAND ${CMAKE_COMMAND} -E env TERN_CUDA_LIBRARIES=${nvrtc_folder}
                           $<TARGET_FILE:tern_archive_kernels> ${TERN_CUDA_ARCHIVE_FILE}
                           ${TERN_CUDA_ARCHIVE_SAMPLE}
                   DEPENDS tern_archive_kernels
                   COMMENT "Compiling CUDA kernels for machines without NVRTC" VERBATIM)
add_custom_target(tern_cuda_archive ALL DEPENDS ${TERN_CUDA_ARCHIVE_FILE})
