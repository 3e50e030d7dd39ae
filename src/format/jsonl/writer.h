// SPDX-License-Identifier: Apache-2.0
// JSON Lines: one context per line, self values only, the outermost frame first.
//   {"thread":"main","stack":["App.main([Ljava/lang/String;)V","App.parse()I"],"calls":3,"bytecodes":42}
// Every line is unique: call sites and threads of the same name are summed. The order depends on names only, so equal
// profiles give equal files.
#pragma once

#include "format/sink.h"
#include "profile/profile.h"

namespace sonde::format::jsonl {

// False if the sink refused something.
bool write(const profile::Profile& profile, const Sink& sink);

}  // namespace sonde::format::jsonl
