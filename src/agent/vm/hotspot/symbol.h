// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. The text of HotSpot's Symbols: names of classes and methods, descriptors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "agent/vm/hotspot/layout.h"

namespace sonde::agent::hotspot {

// Empty if there is none at this address any more.
std::string read_symbol(const Layout& layout, std::uint64_t symbol);

// Of a symbol that is there as long as the text is used.
std::string_view symbol_text(const Layout& layout, std::uint64_t symbol);

}  // namespace sonde::agent::hotspot
