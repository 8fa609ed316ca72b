# Files compiled in batches, those of one folder as one: most of the compiler's time for a file is the text of its
# headers, so that from nothing all takes half as long, and after a change of one file longer. For CI, therefore. Files
# of a folder must then not meet in names: what is in an unnamed namespace has a name of its own in its folder. The
# small folders below src/ops, a primitive's folder and tests/every_device count as one there: batches are filled across
# them; so do the files of primitives that compute on the CPU, cpu*.cpp. What is not tern's speed (Eigen's
# factorisations, the examples, all that plans and does not compute) is optimised little then.
# What plans is optimised less there, and small operations take a sixth to a quarter longer: not for measurements.
option(TERN_BATCHES "Compile source files in batches: sooner from nothing, later after a change" OFF)

# in_batches(<list> <most> <alone> [SHARED]): where TERN_BATCHES is on, the list's files are replaced by batches of at
# most so many files. Those that match the regular expression <alone> stay as they are: such as have compiler options or
# definitions of their own. SHARED: files whose objects another build may take are not in batches with those whose it
# may not (cmake/TernShared.cmake): ten of 116 in tests/every_device, which were in six of 15 batches.
function(in_batches list most alone)
  if(NOT TERN_BATCHES)
    return()
  endif()
  set(result "")
  set(folders "")
  foreach(file IN LISTS ${list})
    if(file MATCHES "${alone}")
      list(APPEND result ${file})
      continue()
    endif()
    cmake_path(ABSOLUTE_PATH file)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
    cmake_path(GET folder PARENT_PATH folder)
    string(REGEX REPLACE "^(src/ops|src/primitives/[a-z]+|tests/every_device)/.*" "\\1" folder "${folder}")
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(file MATCHES "/src/primitives/[a-z/]+/cpu[a-z_]*[.]cpp$")
      set(folder src_primitives_cpu)
    endif()
    if("SHARED" IN_LIST ARGN)
      with_includes(${file} parts)
      any_has("${TERN_UNSHARED}" unshared ${parts})
      if(unshared)
        string(APPEND folder _unshared)
      endif()
    endif()
    list(APPEND folders ${folder})
    list(APPEND files_${folder} ${file})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    list(LENGTH files_${folder} count)
    math(EXPR last "(${count} - 1) / ${most}")
    foreach(number RANGE ${last})
      math(EXPR begin "${number} * ${most}")
      list(SUBLIST files_${folder} ${begin} ${most} batch)
      list(TRANSFORM batch REPLACE "(.+)" "#include \"\\1\"\n")
      list(JOIN batch "" text)
      # Among the files that are made: its path from the build folder is the same in tests/packaging.
      set(name ${TERN_GENERATED}/batches/${list}/${folder}_${number}.cpp)
      file(CONFIGURE OUTPUT ${name} CONTENT "${text}" @ONLY)
      # False alarms: a batch is the main file, where GCC expects no unnamed namespace from an #include; and more is
      # inlined there (GCC 12, std::array).
      set(options -Wno-subobject-linkage -Wno-array-bounds)
      if("${list}" STREQUAL "tern_sources" AND NOT "${folder}" MATCHES "^src_(cpu|primitives_cpu)")
        list(APPEND options $<$<CONFIG:Release>:-O1>)  # half to two thirds of -O3's time; what computes has -O3
      endif()
      set_source_files_properties(${name} PROPERTIES COMPILE_OPTIONS "${options}")
      list(APPEND result ${name})
    endforeach()
  endforeach()
  set(${list} ${result} PARENT_SCOPE)
endfunction()
