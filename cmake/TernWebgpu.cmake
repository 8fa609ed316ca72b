# The WebGPU backend needs webgpu.h to be built, and a library (wgpu-native or Dawn) only when it runs. script/setup
# puts both into third_party/wgpu/.
find_path(TERN_WEBGPU_INCLUDE_DIR webgpu.h HINTS ${PROJECT_SOURCE_DIR}/third_party/wgpu PATH_SUFFIXES webgpu
          DOC "Folder of webgpu.h")
mark_as_advanced(TERN_WEBGPU_INCLUDE_DIR)
if(TERN_WEBGPU_INCLUDE_DIR)
  option(TERN_WEBGPU "Build the WebGPU backend" ON)
else()
  message(STATUS "tern: webgpu.h was not found, so the WebGPU backend is left out (script/setup fetches it)")
  set(TERN_WEBGPU OFF)
  set(TERN_WEBGPU_MISSING ON)
endif()
if(TERN_WEBGPU)
  file(GLOB webgpu_sources CONFIGURE_DEPENDS src/webgpu/*.cpp)
  list(FILTER webgpu_sources EXCLUDE REGEX "/absent.cpp$")
  list(APPEND tern_sources ${webgpu_sources})
  set(TERN_WEBGPU_LIBRARY_FILE ${PROJECT_SOURCE_DIR}/third_party/wgpu/libwgpu_native-release.so)
  if(EXISTS ${TERN_WEBGPU_LIBRARY_FILE})
    # What the build finds, for programs run from the build folder; installed ones look beside libtern.
    set_source_files_properties(src/webgpu/api.cpp PROPERTIES
                                COMPILE_DEFINITIONS TERN_WEBGPU_BUILT_WITH="${TERN_WEBGPU_LIBRARY_FILE}")
  endif()
else()
  # Kernels can be printed without it.
  list(APPEND tern_sources src/webgpu/absent.cpp src/webgpu/dialect.cpp src/webgpu/dialect_parts.cpp)
endif()
