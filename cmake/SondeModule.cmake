# SPDX-License-Identifier: Apache-2.0
#
# sonde_module(NAME [GUEST] [EXECUTABLE program] [DEPENDS module...] [LIBS target...])
#
# Makes the targets of the folder src/NAME from the names of its files:
#   x.cc        the static library sonde_NAME
#   main.cc     with EXECUTABLE: the program, linked with that library
#   x_test.cc   NAME_test, one GoogleTest program for the folder, each test known to ctest
#   x_bench.cc  x_bench, a Google Benchmark program each (SONDE_BENCH)
#   x_fuzz.cc   x_fuzz, a libFuzzer program each (SONDE_FUZZ)
# A folder that has no sources yet gives an empty library, so that others can already depend on it.
# GUEST marks code that may run inside the target JVM: no exceptions, no run-time type information.

function(sonde_global_flags)
  # Designated initialisers leave fields out on purpose; GCC warns about it all the same.
  add_compile_options(-Wall -Wextra -Wpedantic -Wno-missing-field-initializers -fno-omit-frame-pointer)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_compile_options(-Wno-gnu-statement-expression)
  endif()
  if(SONDE_WERROR)
    add_compile_options(-Werror)
  endif()
  if(SONDE_SANITIZE)
    add_compile_options(-fsanitize=${SONDE_SANITIZE} -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${SONDE_SANITIZE})
    if(SONDE_SANITIZE MATCHES undefined)
      add_compile_options(-fno-sanitize=vptr)  # needs the type information that guest code is built without
    endif()
  endif()
  if(SONDE_FUZZ)
    if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
      message(FATAL_ERROR "SONDE_FUZZ needs Clang: use `cmake --preset fuzz`")
    endif()
    add_compile_options(-fsanitize=fuzzer-no-link)
  endif()
  if(SONDE_LTO)
    include(CheckIPOSupported)
    check_ipo_supported(RESULT lto_works LANGUAGES CXX)
    if(lto_works)
      set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON PARENT_SCOPE)
    endif()
  endif()
endfunction()

function(sonde_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "GUEST" "EXECUTABLE" "DEPENDS;LIBS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "sonde_module(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()

  set(folder ${CMAKE_SOURCE_DIR}/src/${name})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cc)
  file(GLOB tests CONFIGURE_DEPENDS ${folder}/*_test.cc)
  file(GLOB benches CONFIGURE_DEPENDS ${folder}/*_bench.cc)
  file(GLOB fuzzers CONFIGURE_DEPENDS ${folder}/*_fuzz.cc)
  list(REMOVE_ITEM sources ${tests} ${benches} ${fuzzers} ${folder}/main.cc)

  set(dependencies ${arg_LIBS})
  foreach(module IN LISTS arg_DEPENDS)
    list(APPEND dependencies sonde_${module})
  endforeach()

  if(sources)
    add_library(sonde_${name} STATIC ${sources})
    target_include_directories(sonde_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(sonde_${name} PUBLIC ${dependencies})
    if(arg_GUEST)
      target_compile_options(sonde_${name} PRIVATE -fno-exceptions -fno-rtti)
    endif()
  else()
    add_library(sonde_${name} INTERFACE)
    target_include_directories(sonde_${name} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(sonde_${name} INTERFACE ${dependencies})
  endif()

  if(arg_EXECUTABLE AND EXISTS ${folder}/main.cc)
    add_executable(${arg_EXECUTABLE} ${folder}/main.cc)
    target_link_libraries(${arg_EXECUTABLE} PRIVATE sonde_${name})
  endif()
  if(SONDE_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE sonde_${name} GTest::gmock GTest::gtest_main)
    gtest_discover_tests(${name}_test
      DISCOVERY_MODE PRE_TEST
      WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
      PROPERTIES LABELS ${name} TIMEOUT 120)
  endif()
  if(SONDE_BENCH)
    foreach(file IN LISTS benches)
      cmake_path(GET file STEM program)
      add_executable(${program} ${file})
      target_link_libraries(${program} PRIVATE sonde_${name} benchmark::benchmark_main)
    endforeach()
  endif()
  if(SONDE_FUZZ)
    foreach(file IN LISTS fuzzers)
      cmake_path(GET file STEM program)
      add_executable(${program} ${file})
      target_link_libraries(${program} PRIVATE sonde_${name})
      target_link_options(${program} PRIVATE -fsanitize=fuzzer)
    endforeach()
  endif()
endfunction()
