// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/hotspot_decoder.h"

#include <algorithm>

#include "agent/vm/hotspot/nmethod_scopes.h"
#include "agent/vm/hotspot/safe_memory.h"

namespace sonde::agent::hotspot {
namespace {

constexpr int kMaxInlined = 256;
constexpr std::uint64_t kLargestPcs = 16 << 20;

// Number 0 if the method is not known.
StackFrame frame_in(const MethodTable::Entry& method, std::int32_t bci) {
  return {.method_id = method.id, .line = method.line_of(bci), .bci = static_cast<std::uint16_t>(bci < 0 ? 0 : bci)};
}

std::vector<PcScope> read_pcs(const Scopes& scopes) {
  if (scopes.pcs_end <= scopes.pcs || scopes.pcs_end - scopes.pcs > kLargestPcs) return {};
  std::vector<PcDesc> descs((scopes.pcs_end - scopes.pcs) / sizeof(PcDesc));
  if (!read_memory(scopes.pcs, descs.data(), descs.size() * sizeof(PcDesc))) return {};
  std::vector<PcScope> pcs;
  pcs.reserve(descs.size());
  for (const PcDesc& desc : descs) pcs.push_back({.pc_offset = desc.pc_offset, .scope = desc.scope_decode_offset});
  return pcs;
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
      const std::span<const StackFrame> inlined = compiled(
          {.pc = frame.what, .compile_id = frame.value(), .is_interrupted = frame.kind() == FrameKind::kInterrupted});
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

StackFrame HotspotDecoder::known_or_unloaded(const StackFrame& frame) {
  return frame.method_id != 0 ? frame : unloaded();
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
  frames.push_back(frame_in(method, bci));
}

std::span<const StackFrame> HotspotDecoder::compiled(const Place& place) {
  const std::span<const StackFrame> known = places_.find(place);
  return known.empty() ? places_.add(place, read_scopes(place)) : known;
}

// The nmethod that a place is in; 0 if its code has gone.
std::uint64_t HotspotDecoder::nmethod_of(const Place& place) const {
  const std::uint64_t nmethod = cache_.blob_of(place.pc);
  const bool is_there = nmethod != 0 && cache_.is_nmethod(nmethod) && cache_.compile_id(nmethod) == place.compile_id;
  return is_there ? nmethod : 0;
}

// Is it an instruction that makes or removes the frame? That is done for the compiled method itself. The JVM does not
// describe epilogues, so the next scope is that of whatever happens to lie behind one.
bool HotspotDecoder::is_at_edge(std::uint64_t nmethod, const Place& place) const {
  const CompiledCode code = cache_.code_of(nmethod);
  return place.is_interrupted &&
         FrameEdges(code).is_edge(static_cast<std::int64_t>(place.pc - cache_.code_begin(nmethod)));
}

StackFrame HotspotDecoder::own_frame(std::uint64_t nmethod, std::int32_t bci) {
  return known_or_unloaded(frame_in(methods_.find(cache_.method(nmethod)), bci));
}

std::vector<StackFrame> HotspotDecoder::read_scopes(const Place& place) {
  const std::uint64_t nmethod = nmethod_of(place);
  CompiledMethod* method = nmethod == 0 ? nullptr : compiled_methods_.find(place.compile_id);
  if (nmethod != 0 && method == nullptr) {
    std::vector<PcScope> pcs = read_pcs(scopes_of(cache_.layout(), nmethod));
    // What was read is kept, so it must not be of somebody who took the place meanwhile.
    if (nmethod_of(place) == nmethod) method = &compiled_methods_.add(place.compile_id, std::move(pcs));
  }
  if (method == nullptr) {
    const std::uint64_t noted = log_.place_of_compilation(static_cast<std::uint32_t>(place.compile_id));
    const std::uint32_t id = noted != 0 ? methods_.logged(noted).id : 0;
    if (id == 0) return {unloaded()};
    return {{.method_id = id, .line = 0, .bci = 0}};
  }
  if (is_at_edge(nmethod, place) && nmethod_of(place) == nmethod) return {own_frame(nmethod, 0)};
  std::vector<StackFrame> frames;
  // Where a call returns to, or an interrupted instruction begins, the one before ends, and that is the one that took
  // the time: processors wait for it before they let themselves be interrupted.
  std::int32_t at = method->scope_at(static_cast<std::int32_t>(place.pc - cache_.code_begin(nmethod)));
  for (int i = 0; at > 0 && i < kMaxInlined; ++i) {
    const Scope* scope = method->find(at);
    std::optional<Scope> read;
    if (scope == nullptr) {
      read = read_scope(nmethod, at);
      if (!read || nmethod_of(place) != nmethod) break;
      scope = &*read;
      // One whose method is not known is read again at the next place: each of them is to count as lost.
      if (read->frame.method_id != 0) compiled_methods_.add_scope(*method, at, *read);
    }
    frames.push_back(known_or_unloaded(scope->frame));
    at = scope->caller;
  }
  // Native wrappers, and instructions nothing is known of.
  if (frames.empty()) frames.push_back(own_frame(nmethod, -1));
  return frames;
}

std::optional<Scope> HotspotDecoder::read_scope(std::uint64_t nmethod, std::int32_t at) {
  const Scopes scopes = scopes_of(cache_.layout(), nmethod);
  std::uint8_t bytes[kScopeBytes] = {};
  if (!read_memory(scopes.data + static_cast<std::uint64_t>(at), bytes, sizeof bytes)) return {};
  const auto scope = parse_scope(bytes, cache_.layout().unsigned5_excludes_zero);
  if (!scope) return {};
  const auto method = read_value<std::uint64_t>(scopes.metadata + (std::uint64_t{scope->method} - 1) * 8);
  if (!method) return {};
  return Scope{.frame = frame_in(methods_.find(*method), scope->bci), .caller = scope->caller};
}

}  // namespace sonde::agent::hotspot
