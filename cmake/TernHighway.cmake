# Makes sure that the target hwy::hwy exists: from a target of the surrounding project (FetchContent), from Highway's
# CMake package (which names it hwy::hwy or hwy), or from pkg-config. Used by tern's build and, where tern is a static
# library, by its installed package.
if(NOT TARGET hwy::hwy AND NOT TARGET hwy)
  find_package(HWY CONFIG QUIET)
endif()
if(NOT TARGET hwy::hwy AND TARGET hwy)
  add_library(hwy::hwy ALIAS hwy)
endif()
if(NOT TARGET hwy::hwy)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(TERN_HIGHWAY QUIET IMPORTED_TARGET libhwy)
  endif()
  if(TARGET PkgConfig::TERN_HIGHWAY)
    add_library(hwy::hwy INTERFACE IMPORTED)
    target_link_libraries(hwy::hwy INTERFACE PkgConfig::TERN_HIGHWAY)
  endif()
endif()
