# SPDX-License-Identifier: Apache-2.0
#
# sonde_e2e_test(AREA.CASE [SCRIPT file] [TIMEOUT seconds] [FIXTURE name] [ARGS argument...])
#
# A test that runs the program `sonde`: SCRIPT (run.py of the folder) with its path and ARGS. Exit code 77 means that
# something which the test needs is not there. With sanitizers there are none: a JVM does not run under them.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

function(sonde_e2e_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SCRIPT;TIMEOUT;FIXTURE" "ARGS")
  if(NOT SONDE_TESTS OR NOT TARGET sonde OR SONDE_SANITIZE)
    return()
  endif()
  if(NOT arg_SCRIPT)
    set(arg_SCRIPT run.py)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_test(NAME ${name}
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/${arg_SCRIPT} $<TARGET_FILE:sonde> ${arg_ARGS})
  string(REGEX REPLACE "\\..*" "" area ${name})
  # COST: long tests start first, so that none of them runs alone at the end.
  set_tests_properties(${name} PROPERTIES LABELS ${area} TIMEOUT ${arg_TIMEOUT} COST ${arg_TIMEOUT} SKIP_RETURN_CODE 77)
  if(arg_FIXTURE)
    set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED ${arg_FIXTURE})
  endif()
endfunction()
