include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
# The other kind of library than this build's; the build folder is kept, so that a second run compiles little.
if(SHARED)
  set(other OFF)
else()
  set(other ON)
endif()
configure_consumer(${SUBPROJECT} -D TERN_FROM=sources -D TERN_SOURCE=${TERN_SOURCE} -D BUILD_SHARED_LIBS=${other}
                   -D TERN_INSTALL=ON -D TERN_BATCHES=${BATCHES} -D TERN_LOOP_TARGET=${LOOP_TARGET}
                   -D TERN_CPU_TARGETS=${CPU_TARGETS} -D CMAKE_BUILD_TYPE=${BUILD_TYPE}
                   -D CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER})
build_and_run_consumer(${SUBPROJECT})
check_installed(${SUBPROJECT}/tern ${WORK}/installed)

# FetchContent, at its defaults: nothing of tern's own development, nothing to install, no build type chosen.
file(REMOVE_RECURSE ${WORK}/fetch)
configure_consumer(${WORK}/fetch -D TERN_FROM=fetch -D TERN_SOURCE=${TERN_SOURCE})
file(READ ${WORK}/fetch/CMakeCache.txt cache)
foreach(setting IN ITEMS TERN_BUILD_TESTS:BOOL=OFF TERN_BUILD_EXAMPLES:BOOL=OFF TERN_BUILD_BENCH:BOOL=OFF
                         TERN_INSTALL:BOOL=OFF)
  string(FIND "${cache}" "\n${setting}\n" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "inside another project, ${setting} is not the default")
  endif()
endforeach()
if(cache MATCHES "\nCMAKE_BUILD_TYPE:[A-Z]+=[^\n]" OR cache MATCHES "\nTERN_CCACHE:")
  message(FATAL_ERROR "tern changes the settings of the project around it")
endif()
