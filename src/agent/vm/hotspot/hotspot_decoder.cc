// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/hotspot_decoder.h"

#include <algorithm>

#include "agent/vm/hotspot/safe_memory.h"
#include "agent/vm/hotspot/unsigned5.h"

namespace sonde::agent::hotspot {
namespace {

constexpr std::size_t kMaxPlaces = 1 << 18;  // then the table starts again
constexpr int kMaxInlined = 256;
constexpr std::uint64_t kLargestPcs = 16 << 20;

struct PcDesc {  // pcDesc.hpp
  std::int32_t pc_offset;
  std::int32_t scope_decode_offset;
  std::int32_t obj_decode_offset;
  std::int32_t flags;
};
static_assert(sizeof(PcDesc) == 16);

// The parts of an nmethod that say which bytecodes its instructions stand for.
struct Scopes {
  std::uint64_t pcs;
  std::uint64_t pcs_end;
  std::uint64_t data;
  std::uint64_t metadata;
};

Scopes scopes_of(const Layout& layout, std::uint64_t nmethod) {
  const auto number = [&](std::uint32_t field) { return std::uint64_t{load<std::uint32_t>(nmethod + field)}; };
  Scopes scopes{};
  if (layout.has_immutable_data) {
    const auto base = load<std::uint64_t>(nmethod + layout.nmethod_immutable_data);
    scopes.pcs = base + number(layout.nmethod_scopes_pcs);
    scopes.pcs_end = base + number(layout.nmethod_scopes_pcs_end);
    scopes.data = base + number(layout.nmethod_scopes_data);
  } else {
    scopes.pcs = nmethod + number(layout.nmethod_scopes_pcs);
    scopes.pcs_end = nmethod + number(layout.nmethod_scopes_pcs_end);
    scopes.data = load<std::uint64_t>(nmethod + layout.nmethod_scopes_data);
  }
  scopes.metadata = layout.has_mutable_data
                        ? load<std::uint64_t>(nmethod + layout.blob_mutable_data) + number(layout.nmethod_metadata)
                        : nmethod + number(layout.nmethod_metadata);
  return scopes;
}

// The first description at or behind an offset: that of a call is at its return address, that of other instructions
// at their end.
std::int32_t scope_at(const Scopes& scopes, std::int32_t pc_offset) {
  if (scopes.pcs_end <= scopes.pcs || scopes.pcs_end - scopes.pcs > kLargestPcs) return 0;
  std::vector<PcDesc> descs((scopes.pcs_end - scopes.pcs) / sizeof(PcDesc));
  if (!read_memory(scopes.pcs, descs.data(), descs.size() * sizeof(PcDesc))) return 0;
  const auto found = std::lower_bound(descs.begin(), descs.end(), pc_offset,
                                      [](const PcDesc& desc, std::int32_t offset) { return desc.pc_offset < offset; });
  return found == descs.end() ? 0 : found->scope_decode_offset;
}

}  // namespace

void HotspotDecoder::decode(const RawSample& sample, std::span<const RawFrame> entries, std::vector<StackFrame>& frames,
                            std::vector<std::uint16_t>& counts) {
  if (const std::uint32_t doubts = doubts_.load(); doubts != seen_doubts_) {
    seen_doubts_ = doubts;
    methods_.doubt();
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const RawFrame& frame = entries[i];
    const std::size_t before = frames.size();
    if (frame.kind() == FrameKind::kInterpreted || frame.kind() == FrameKind::kLogged) {
      decode_interpreted(frame, i == 0 ? &sample : nullptr, frames);
    } else if (frame.kind() == FrameKind::kStub) {
      frames.push_back({.method_id = names_.id_of_pseudo("[" + stub_name(frame.what) + "]"), .line = 0, .bci = 0});
    } else if (frame.kind() != FrameKind::kMark) {
      const std::vector<StackFrame>& inlined = compiled({.pc = frame.what, .compile_id = frame.value()});
      frames.insert(frames.end(), inlined.begin(), inlined.end());
    }
    counts.push_back(static_cast<std::uint16_t>(frames.size() - before));
  }
}

// "StubRoutines (initial stubs)", as HotSpot calls it.
std::string HotspotDecoder::stub_name(std::uint64_t pc) const {
  const std::uint64_t blob = cache_.blob_of(pc);
  if (blob == 0) return "code outside of any stub";
  char text[64] = {};
  read_memory(load<std::uint64_t>(blob + cache_.layout().blob_name), text, sizeof text - 1);
  return text;
}

StackFrame HotspotDecoder::unloaded() {
  arena_.count(Counter::kFramesUnloaded);
  return {.method_id = names_.id_of_pseudo("[unloaded code]"), .line = 0, .bci = 0};
}

// `top`: the sample whose innermost frame this is; null for other frames.
void HotspotDecoder::decode_interpreted(const RawFrame& frame, const RawSample* top, std::vector<StackFrame>& frames) {
  const bool is_logged = frame.kind() == FrameKind::kLogged;
  const MethodTable::Entry& method = is_logged ? methods_.logged(frame.what) : methods_.find(frame.what);
  // Before a method has its frame, the walker can only guess which one it is; its caller is certain.
  if (method.id == 0 && top != nullptr && frame.value() == 0) return;
  if (method.id == 0) return frames.push_back(unloaded());
  std::int32_t bci = top != nullptr ? method.bci_of(top->top_bcp) : -1;
  if (bci < 0) bci = method.bci_of(frame.value());
  frames.push_back(
      {.method_id = method.id, .line = method.line_of(bci), .bci = static_cast<std::uint16_t>(bci < 0 ? 0 : bci)});
}

const std::vector<StackFrame>& HotspotDecoder::compiled(const Place& place) {
  if (places_.size() >= kMaxPlaces) places_.clear();
  const auto [entry, is_new] = places_.try_emplace(place);
  if (is_new) entry->second = read_scopes(place);
  return entry->second;
}

// scopeDesc.cpp: a scope is its caller's scope, a method and a bytecode index; the outermost has no caller.
std::vector<StackFrame> HotspotDecoder::read_scopes(const Place& place) {
  std::vector<StackFrame> frames;
  const std::uint64_t nmethod = cache_.blob_of(place.pc);
  if (nmethod == 0 || !cache_.is_nmethod(nmethod) || cache_.compile_id(nmethod) != place.compile_id) {
    const std::uint64_t noted = log_.place_of_compilation(static_cast<std::uint32_t>(place.compile_id));
    const std::uint32_t id = noted != 0 ? methods_.logged(noted).id : 0;
    if (id == 0) return {unloaded()};
    return {{.method_id = id, .line = 0, .bci = 0}};
  }
  const Layout& layout = cache_.layout();
  const auto add = [&](std::uint64_t address, std::int32_t bci) {
    const MethodTable::Entry& method = methods_.find(address);
    if (method.id == 0) return frames.push_back(unloaded());
    frames.push_back(
        {.method_id = method.id, .line = method.line_of(bci), .bci = static_cast<std::uint16_t>(bci < 0 ? 0 : bci)});
  };
  const Scopes scopes = scopes_of(layout, nmethod);
  std::int32_t scope = scope_at(scopes, static_cast<std::int32_t>(place.pc - cache_.code_begin(nmethod)));
  for (int i = 0; scope > 0 && i < kMaxInlined; ++i) {
    std::uint8_t bytes[15] = {};
    if (!read_memory(scopes.data + static_cast<std::uint64_t>(scope), bytes, sizeof bytes)) break;
    Unsigned5Reader reader(bytes, layout.unsigned5_excludes_zero);
    const auto caller = reader.next();
    const auto index = reader.next();
    const auto bci = reader.next();
    if (!caller || !index || !bci || *index == 0) break;
    const auto method = read_value<std::uint64_t>(scopes.metadata + (std::uint64_t{*index} - 1) * 8);
    if (!method) break;
    add(*method, static_cast<std::int32_t>(*bci) - 1);
    scope = static_cast<std::int32_t>(*caller);
  }
  // Native wrappers, and instructions nothing is known of.
  if (frames.empty()) add(cache_.method(nmethod), -1);
  return frames;
}

}  // namespace sonde::agent::hotspot
