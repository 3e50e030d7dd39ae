// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/known_frames.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include "agent/vm/hotspot/nmethod_scopes.h"
#include "agent/vm/hotspot/symbol.h"

namespace sonde::agent::hotspot {
namespace {

constexpr std::uint16_t kMaxInlined = 256;
const MethodSites kNothing;

void leave(OwnStack& stack, const KnownPath& found) {
  switch (found.frames.back().kind) {
    case KnownPath::Kind::kCompiled:
    case KnownPath::Kind::kDeoptimized:
    case KnownPath::Kind::kStub: return stack.leave_frame(found.rests.back().place->words);
    case KnownPath::Kind::kInterpreted: return stack.leave_interpreted();
    case KnownPath::Kind::kCallStub: return stack.leave_call_stub();
    case KnownPath::Kind::kEnd: return stack.stop();
  }
}

}  // namespace

void KnownPath::be_of(const Of& whom) {
  if (whom != of) resize(0);
  of = whom;
}

void KnownPath::append(const KnownPath& found) {
  std::uint64_t sum = hash();
  std::uint32_t sites = sites_of(size());
  for (std::uint32_t i = found.size(); i-- > 0;) {
    frames.push_back(found.frames[i]);
    Rest& rest = rests.emplace_back(found.rests[i]);
    for_each_site_of(rest, [&](std::uint32_t site) { sum = (sum + site) * 0x9e3779b97f4a7c15; });
    sites += rest.sites;
    rest.hash = sum;
    rest.sites_so_far = sites;
  }
}

std::uint32_t MethodSites::at(std::int64_t bci) const {
  if (first_site == 0) return 0;
  const auto pc = static_cast<std::uint32_t>(bci);
  const auto site = std::ranges::lower_bound(pcs, pc);
  const bool is_call = site != pcs.end() && *site == pc;
  return first_site + (is_call ? 1 + static_cast<std::uint32_t>(site - pcs.begin()) : 0);
}

KnownFrames::KnownFrames(const Layout& layout, SitesByName& names) : names_(names) {
  static std::atomic<std::uint32_t> made{0};
  number_ = ++made;
  cache_.find(layout);
}

bool KnownFrames::find(OwnStack& stack, bool is_at_store, std::uint64_t region, std::uint64_t seed, KnownPath& path,
                       std::uint32_t& kept) {
  static thread_local KnownPath found;  // from the innermost frame outwards
  found.resize(0);
  path.be_of({.finder = number_, .region = region, .seed = seed});
  kept = count_same(stack, path);  // at most
  for (bool is_sampled = false; stack.is_good() && !stack.is_at_end(); leave(stack, found)) {
    while (kept > 0 && path.frames[kept - 1].sp < stack.now().sp) --kept;
    if (kept > 0 && path.at(kept - 1) == stack.now()) break;
    const bool is_store = is_at_store && found.size() == 0;
    if (!look_up(stack, found, is_sampled) && !(learn(stack, is_store) && look_up(stack, found, is_sampled))) break;
  }
  const bool is_met = stack.is_good() && kept > 0 && path.at(kept - 1) == stack.now();
  const bool is_end = stack.is_good() && stack.is_at_end();
  if (!is_met) kept = 0;
  path.resize(kept);
  if ((!is_met && !is_end) || !has_same_methods(path)) {
    path.resize(0);
    return false;
  }
  path.append(found);
  return true;
}

bool KnownFrames::is_walkable(std::uint64_t pc) const {
  const std::uint64_t blob = cache_.blob_of(pc);
  return blob != 0 && !cache_.is_deoptimization(blob) && (cache_.is_nmethod(blob) || cache_.frame_size(blob) >= 2);
}

// These frames are alive, so that their methods can be looked at.
bool KnownFrames::has_same_methods(const KnownPath& path) const {
  for (std::uint32_t i = 0; i < path.size(); ++i) {
    const bool is_interpreted = path.frames[i].kind == KnownPath::Kind::kInterpreted;
    if (is_interpreted && !look_at(path.rests[i].method->key).is_same(*path.rests[i].method)) return false;
  }
  return true;
}

std::uint32_t KnownFrames::count_same(const OwnStack& stack, const KnownPath& path) const {
  if (!stack.is_good() || path.size() == 0 || path.frames[0].sp >= stack.end()) return 0;
  std::uint32_t same = 0;
  while (same < path.size() && path.frames[same].sp > stack.now().sp && is_same(stack, path, same)) ++same;
  return same;
}

// Is it still the same code, and called by the same frame? That is read from where a frame was; whether it is one is
// known when the walk comes there.
bool KnownFrames::is_same(const OwnStack& stack, const KnownPath& path, std::uint32_t i) const {
  const KnownPath::Frame& frame = path.frames[i];
  if (frame.nmethod != 0 && cache_.difference_from(frame.nmethod, frame.compile_id) != 0) return false;
  if (frame.kind == KnownPath::Kind::kEnd) return i == 0;
  if (frame.kind == KnownPath::Kind::kCallStub) {
    const OwnFrame caller = stack.caller_of_call_stub(path.at(i));
    return i == 0 ? caller.pc == 0 : caller == path.at(i - 1);
  }
  if (i == 0) return false;
  if (frame.kind == KnownPath::Kind::kInterpreted) {
    const OwnFrame at = path.at(i);
    return stack.caller_of_interpreted(at) == path.at(i - 1) && OwnStack::bcp_of(at) == path.rests[i].bcp &&
           OwnStack::method_of(at) == path.rests[i].method->key;
  }
  if (frame.kind == KnownPath::Kind::kDeoptimized &&
      stack.original_pc(frame.sp, frame.nmethod) != path.rests[i].place->key) {
    return false;
  }
  const KnownPath::Frame& caller = path.frames[i - 1];
  const bool has_pointer = caller.kind == KnownPath::Kind::kInterpreted || caller.kind == KnownPath::Kind::kCallStub;
  return load<std::uint64_t>(caller.sp - 8) == caller.pc &&
         (!has_pointer || stack.caller_at(caller.sp) == path.at(i - 1));
}

const KnownPlace* KnownFrames::find_place(const OwnStack& stack) const {
  const std::uint64_t pc = stack.now().pc;
  if (const KnownPlace* place = places_.find(pc); place != nullptr && is_there(*place)) return place;
  if (stack.is_interpreted() || stack.is_call_stub()) return nullptr;
  const std::uint64_t nmethod = cache_.blob_of(pc);
  if (nmethod == 0 || !cache_.is_nmethod(nmethod) || pc != cache_.deopt_handler(nmethod)) return nullptr;
  const KnownPlace* place = places_.find(stack.original_pc(stack.now().sp, nmethod));
  return place != nullptr && is_there(*place) ? place : nullptr;
}

bool KnownFrames::look_up(const OwnStack& stack, KnownPath& found, bool& is_sampled) const {
  using Kind = KnownPath::Kind;
  const OwnFrame& at = stack.now();
  if (const KnownPlace* place = find_place(stack); place != nullptr) {
    const bool is_code = place->nmethod != 0;
    const Kind kind = is_code ? Kind::kCompiled : Kind::kStub;
    found.frames.push_back({.pc = at.pc,
                            .sp = at.sp,
                            .nmethod = place->nmethod,
                            .compile_id = place->compile_id,
                            .kind = place->is_end         ? Kind::kEnd
                                    : place->key != at.pc ? Kind::kDeoptimized
                                                          : kind});
    const bool is_sampled_here = !is_sampled && !place->is_ours && is_code;
    is_sampled = is_sampled || is_sampled_here;
    const std::uint32_t left_out = is_sampled_here && place->is_innermost_of_interest ? 1 : 0;
    found.rests.push_back({.place = place, .sites = place->sites - left_out});
    return true;
  }
  if (stack.is_call_stub()) {
    found.frames.push_back({.pc = at.pc, .sp = at.sp, .kind = Kind::kCallStub});
    found.rests.push_back({.fp = at.fp});
    return true;
  }
  const KnownMethod* method = stack.is_interpreted() ? find_method(OwnStack::method_of(at)) : nullptr;
  if (method == nullptr) return false;
  const std::uint64_t bcp = OwnStack::bcp_of(at);
  const std::uint32_t site =
      method->sites->at(static_cast<std::int64_t>(bcp - method->const_method - cache_.layout().const_size));
  found.frames.push_back({.pc = at.pc, .sp = at.sp, .kind = Kind::kInterpreted});
  found.rests.push_back(
      {.fp = at.fp, .method = method, .bcp = bcp, .site = site, .sites = is_sampled && site != 0 ? 1U : 0U});
  is_sampled = is_sampled || !method->sites->is_ours;
  return true;
}

const KnownMethod* KnownFrames::find_method(std::uint64_t method) const {
  const KnownMethod* known = methods_.find(method);
  return known != nullptr && look_at(method).is_same(*known) ? known : nullptr;
}

KnownMethod KnownFrames::look_at(std::uint64_t method) const {
  const Layout& layout = cache_.layout();
  const auto const_method = load<std::uint64_t>(method + layout.method_const);
  const auto pool = load<std::uint64_t>(const_method + layout.const_pool);
  const auto holder = load<std::uint64_t>(pool + layout.pool_holder);
  return {.key = method,
          .const_method = const_method,
          .pool = pool,
          .holder = holder,
          .class_name = load<std::uint64_t>(holder + layout.klass_name),
          .sites = nullptr};
}

bool KnownFrames::learn(const OwnStack& stack, bool is_at_store) {
  const std::lock_guard lock(mutex_);
  if (stack.is_interpreted()) return sites_of(OwnStack::method_of(stack.now())) != nullptr;
  if (find_place(stack) != nullptr) return true;  // another thread was first
  if (!is_walkable(stack.now().pc)) return false;
  const std::uint64_t blob = cache_.blob_of(stack.now().pc);
  KnownPlace place{};
  place.key = stack.now().pc;
  place.words = static_cast<std::uint32_t>(cache_.frame_size(blob));
  if (!cache_.is_nmethod(blob)) {
    learn_place(std::move(place), {});
    return true;
  }
  if (place.key == cache_.deopt_handler(blob)) place.key = stack.original_pc(stack.now().sp, blob);
  place.nmethod = blob;
  place.compile_id = cache_.compile_id(blob);
  place.is_end = cache_.is_continuation_entry(blob);
  const std::vector<Frame> frames = describe(blob, place.key, is_at_store);
  if (frames.empty()) return false;
  learn_place(std::move(place), frames);
  return true;
}

std::vector<KnownFrames::Frame> KnownFrames::describe(std::uint64_t nmethod, std::uint64_t pc, bool is_at_store) {
  const Layout& layout = cache_.layout();
  if (cache_.is_native(nmethod)) {
    return {{.method = sites_of(load<std::uint64_t>(nmethod + layout.nmethod_method)), .bci = -1}};
  }
  const Scopes scopes = scopes_of(layout, nmethod);
  const auto* pcs = reinterpret_cast<const PcDesc*>(scopes.pcs);          // NOLINT(performance-no-int-to-ptr)
  const auto* pcs_end = reinterpret_cast<const PcDesc*>(scopes.pcs_end);  // NOLINT(performance-no-int-to-ptr)
  const auto offset = static_cast<std::int32_t>(pc - cache_.code_begin(nmethod));
  const PcDesc* desc = std::ranges::lower_bound(pcs, pcs_end, offset, {}, &PcDesc::pc_offset);
  // C1 describes a region by where its last instruction begins: if the store is that, and nothing comes after it.
  const bool is_last = desc == pcs_end || desc->scope_decode_offset == 0;
  if (is_at_store && is_last && desc != pcs) --desc;
  if (desc == pcs_end || (desc->pc_offset != offset && !is_at_store)) return {};
  std::vector<Frame> frames;
  for (std::int32_t scope = desc->scope_decode_offset; scope > 0;) {
    if (frames.size() == kMaxInlined) return {};
    // No more of them is read than the numbers have.
    const std::uint64_t bytes = scopes.data + static_cast<std::uint64_t>(scope);
    const auto& text =
        *reinterpret_cast<const std::uint8_t(*)[kScopeBytes]>(bytes);  // NOLINT(performance-no-int-to-ptr)
    const auto read = parse_scope(text, layout.unsigned5_excludes_zero);
    if (!read) return {};
    const auto method = load<std::uint64_t>(scopes.metadata + std::uint64_t{read->method - 1} * 8);
    frames.push_back({.method = sites_of(method), .bci = read->bci});
    scope = read->caller;
  }
  return frames;
}

const MethodSites* KnownFrames::sites_of(std::uint64_t method) {
  if (const KnownMethod* known = find_method(method); known != nullptr) return known->sites;
  KnownMethod known = look_at(method);
  const auto code_length = load<std::uint16_t>(known.const_method + cache_.layout().const_code_size);
  MethodSites sites = names_.sites_of(name_of(method), code_length);
  const bool is_of_interest = sites.is_ours || sites.first_site != 0;
  known.sites = is_of_interest ? &sites_.emplace_back(std::move(sites)) : &kNothing;
  const MethodSites* found = known.sites;
  if (!methods_.add(std::make_unique<const KnownMethod>(known))) is_full_ = true;
  return found;
}

std::string KnownFrames::name_of(std::uint64_t method) const {
  const Layout& layout = cache_.layout();
  const KnownMethod parts = look_at(method);
  const auto text = [&](std::uint32_t index_field) {
    const auto index = load<std::uint16_t>(parts.const_method + index_field);
    return symbol_text(layout, load<std::uint64_t>(parts.pool + layout.pool_size + std::uint64_t{index} * 8));
  };
  std::string name(symbol_text(layout, parts.class_name));
  return name.append(".").append(text(layout.const_name)).append(text(layout.const_signature));
}

void KnownFrames::learn_place(KnownPlace place, std::span<const Frame> frames) {
  // Probes are inlined into the sampled method, what they call to take the sample is not.
  const auto sampled = std::ranges::find_if(frames, [](const Frame& frame) { return !frame.method->is_ours; });
  place.is_ours = sampled == frames.end() && !frames.empty();
  place.is_innermost_of_interest = sampled != frames.end() && sampled->method->first_site != 0;
  std::vector<std::uint32_t> sites;
  for (std::size_t i = frames.size(); i-- > 0;) {
    const std::uint32_t site = frames[i].method->at(frames[i].bci);
    if (site != 0) sites.push_back(site);
  }
  place.sites = static_cast<std::uint16_t>(sites.size());  // there are no more than kMaxInlined
  std::uint32_t* to = place.inside;
  if (place.sites > KnownPlace::kInside) {
    auto outside = std::make_unique<std::uint32_t[]>(place.sites);
    to = outside.get();
    place.outside = std::move(outside);
  }
  std::ranges::copy(sites, to);
  if (!places_.add(std::make_unique<const KnownPlace>(std::move(place)))) is_full_ = true;
}

}  // namespace sonde::agent::hotspot
