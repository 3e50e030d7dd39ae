// SPDX-License-Identifier: Apache-2.0
// The text encoding of Utf8 constants (JVMS 4.4.7) and how it is shown to people.
//
// Modified UTF-8 differs from UTF-8 in two ways: U+0000 takes two bytes, and characters above U+FFFF are written as two
// surrogates of three bytes each. A lone surrogate is legal, so not every constant has a UTF-8 form; what has none, and
// what would disturb a terminal or a line-based reader, is shown as an escape.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sonde {

enum class Overlong : bool { kRejected, kAccepted };

// Whether every byte belongs to a well-formed character. HotSpot accepts more bytes than a character needs in classes
// before version 48; hence the second parameter.
bool is_valid_modified_utf8(std::string_view text, Overlong overlong = Overlong::kRejected);

// Appends `text` as UTF-8 on one line: \n, \t, \r and \\ as in Java; \uXXXX for other control and format characters and
// for lone surrogates; \xNN for bytes that are no modified UTF-8 at all. Stops with "..." after max_units UTF-16 units.
void append_printable(std::string& out, std::string_view text, std::size_t max_units = std::string_view::npos);
std::string printable(std::string_view text);

}  // namespace sonde
