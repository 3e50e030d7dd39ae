// SPDX-License-Identifier: Apache-2.0
// What a file should say about the recording it came from, for formats that have room for remarks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"

namespace sonde::format {

// "loss: MethodsTooLarge 3: methods left as they were because …": every counter that is not zero, and damage.
std::vector<std::string> losses_of(const profile::Profile& profile);

// What was recorded and how, then the losses.
std::vector<std::string> comments_of(const profile::Profile& profile);

// The way back: what a line of comments_of says is put into the profile; any other line says nothing.
void read_comment(std::string_view line, profile::Profile& profile);

}  // namespace sonde::format
