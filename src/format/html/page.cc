// SPDX-License-Identifier: Apache-2.0
#include "format/html/page.h"

#ifdef SONDE_PAGE
asm(R"(
  .section .rodata
  .global sonde_page
  .global sonde_page_end
sonde_page:
  .incbin ")" SONDE_PAGE R"("
sonde_page_end:
  .byte 0
  .previous
)");
// NOLINTBEGIN(readability-identifier-naming): these are names of the assembler
extern "C" const char sonde_page[];
extern "C" const char sonde_page_end[];
// NOLINTEND(readability-identifier-naming)
#endif

namespace sonde::format::html {

std::string_view page() {
#ifdef SONDE_PAGE
  return {sonde_page, static_cast<std::size_t>(sonde_page_end - sonde_page)};
#else
  return {};
#endif
}

}  // namespace sonde::format::html
