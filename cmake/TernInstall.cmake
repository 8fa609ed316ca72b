# Installs tern and its CMake package: find_package(tern) gives tern::tern. Nothing in it names this machine's paths.
include(CMakePackageConfigHelpers)
set(tern_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tern)
get_target_property(TERN_LIBRARY_TYPE tern TYPE)

install(TARGETS tern EXPORT tern-targets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tern DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.inc")
install(EXPORT tern-targets NAMESPACE tern:: DESTINATION ${tern_package_dir})
# The WebGPU library that script/setup fetched, where tern looks for it first: in tern/ beside its own library. A
# program with a static tern finds it through its run path (tern-config.cmake).
set(TERN_WEBGPU_INSTALLED OFF)
if(TERN_WEBGPU AND EXISTS ${TERN_WEBGPU_LIBRARY_FILE})
  set(TERN_WEBGPU_INSTALLED ON)
  install(PROGRAMS ${TERN_WEBGPU_LIBRARY_FILE} DESTINATION ${CMAKE_INSTALL_LIBDIR}/tern RENAME libtern_wgpu.so)
endif()
if(TERN_CUDA_ARCHIVE)
  install(FILES ${TERN_CUDA_ARCHIVE_FILE} DESTINATION ${CMAKE_INSTALL_LIBDIR}/tern)
endif()
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tern-config.cmake.in ${PROJECT_BINARY_DIR}/tern-config.cmake
                              INSTALL_DESTINATION ${tern_package_dir} PATH_VARS CMAKE_INSTALL_LIBDIR)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tern-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tern-config.cmake ${PROJECT_BINARY_DIR}/tern-config-version.cmake
              ${PROJECT_SOURCE_DIR}/cmake/TernHighway.cmake
        DESTINATION ${tern_package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE
        DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/tern OPTIONAL)
