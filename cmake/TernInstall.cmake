# Installs tern and its CMake package: find_package(tern) gives tern::tern. Nothing in it names this machine's paths.
include(CMakePackageConfigHelpers)
set(tern_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tern)
get_target_property(TERN_LIBRARY_TYPE tern TYPE)

install(TARGETS tern EXPORT tern-targets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tern DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.inc")
install(EXPORT tern-targets NAMESPACE tern:: DESTINATION ${tern_package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tern-config.cmake.in ${PROJECT_BINARY_DIR}/tern-config.cmake
                              INSTALL_DESTINATION ${tern_package_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tern-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tern-config.cmake ${PROJECT_BINARY_DIR}/tern-config-version.cmake
              ${PROJECT_SOURCE_DIR}/cmake/TernHighway.cmake
        DESTINATION ${tern_package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/tern OPTIONAL)
