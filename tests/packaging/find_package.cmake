include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
check_installed(${TERN_BUILD} ${WORK})
