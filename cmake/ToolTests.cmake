# SPDX-License-Identifier: Apache-2.0
# The checks of tools/ that are quick enough to run with the unit tests.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

function(sonde_tool_test name)
  add_test(NAME tools.${name} COMMAND ${ARGN} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(tools.${name} PROPERTIES LABELS tools TIMEOUT 60)
endfunction()

sonde_tool_test(check_deps ${Python3_EXECUTABLE} tools/check_deps)
sonde_tool_test(check_deps_test ${Python3_EXECUTABLE} tools/check_deps_test.py)
sonde_tool_test(check_exports tools/check_exports ${CMAKE_BINARY_DIR}/libsonde.so)
sonde_tool_test(gen_docs ${Python3_EXECUTABLE} tools/gen_docs --check)
