# SPDX-License-Identifier: Apache-2.0
# Libraries of the host that are linked statically where the system has them so: `sonde` then runs where they are missing.
find_package(Threads REQUIRED)

function(sonde_static_library target header name)
  find_path(${target}_INCLUDE_DIR ${header} REQUIRED)
  find_library(${target}_LIBRARY NAMES lib${name}.a ${name} REQUIRED)
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE ${${target}_INCLUDE_DIR})
  target_link_libraries(${target} INTERFACE ${${target}_LIBRARY} ${ARGN})
endfunction()

sonde_static_library(sonde_sqlite3 sqlite3.h sqlite3 Threads::Threads ${CMAKE_DL_LIBS} m)
sonde_static_library(sonde_zstd zstd.h zstd)
