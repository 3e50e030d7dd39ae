// SPDX-License-Identifier: Apache-2.0
// The sampled part of ingest: trees of samples become threads of the profile, beside those of counted calls, and the
// timeline follows them.
#pragma once

#include <functional>
#include <unordered_map>

#include "arena/reader.h"
#include "profile/profile.h"

namespace sonde::profile {

TimeSampling sampling_of(const arena::SamplingInfo& info);

// `threads` are the names by tree id; method_of is asked for the method of each node.
void add_samples(const arena::Reader& reader, Profile& profile, arena::Damage& damage,
                 const std::unordered_map<std::uint32_t, Thread>& threads,
                 const std::function<MethodId(const arena::SampleContext&)>& method_of);

}  // namespace sonde::profile
