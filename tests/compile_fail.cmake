# cmake -D COMPILER=… -D SOURCE=… -D INCLUDE=… -D PRECOMPILED=… -P compile_fail.cmake
# PRECOMPILED is a folder that may hold tern/tern.hpp, precompiled.
file(STRINGS ${SOURCE} first_line LIMIT_COUNT 1)
if(NOT first_line MATCHES "^// expect: (.+)$")
  message(FATAL_ERROR "${SOURCE}: the first line must be \"// expect: <text of the compiler's message>\"")
endif()
set(expected "${CMAKE_MATCH_1}")
execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only -I ${PRECOMPILED} -I ${INCLUDE} -I ${INCLUDE}/../src
                        ${SOURCE}
                RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(result EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles, and must not")
endif()
string(FIND "${output}" "${expected}" position)
if(position EQUAL -1)
  message(FATAL_ERROR "${SOURCE} does not compile, but the message lacks \"${expected}\":\n${output}")
endif()
