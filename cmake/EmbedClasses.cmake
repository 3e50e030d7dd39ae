# SPDX-License-Identifier: Apache-2.0
# cmake -DHEADER=out.h -DFOLDER=dir -P EmbedClasses.cmake: the class files of java/runtime as arrays.
function(embed name file result)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  set(${result} "inline constexpr std::uint8_t ${name}[] = {${bytes}};\n" PARENT_SCOPE)
endfunction()
embed(kSondeRTClass "${FOLDER}/SondeRT.class" runtime)
embed(kSondeRTMemoryClass "${FOLDER}/SondeRT$Memory.class" memory)
embed(kSondeFlatClass "${FOLDER}/SondeFlat.class" flat)
embed(kSondeNodeClass "${FOLDER}/SondeNode.class" node)
embed(kSondeSamplingClass "${FOLDER}/SondeSampling.class" sampling)
embed(kSondeAgentsClass "${FOLDER}/SondeAgents.class" agents)
file(WRITE ${HEADER} "// Generated from java/runtime. Do not edit.\n#pragma once\n#include <cstdint>\nnamespace sonde::agent {\n${runtime}${memory}${flat}${node}${sampling}${agents}}\n")
