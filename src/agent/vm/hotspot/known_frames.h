// SPDX-License-Identifier: Apache-2.0
// Context: [agent], Java threads in a native method or at a trapped store, many at once. The call sites on a thread's
// own stack, without the JVM's help: what its data say of a return address in compiled code, or of a method that is
// interpreted, is read when a frame is met for the first time and holds as long as these are there. While a method is
// on the stack its data are.
//
// Most of a stack is as it was when the thread was sampled before. Frames that still are where they were, return to
// where they did, and are of the same code are not walked again; to see that, no frame has to be waited for.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "agent/session/published_table.h"
#include "agent/vm/hotspot/code_cache.h"
#include "agent/vm/hotspot/own_stack_x64.h"

namespace sonde::agent::hotspot {

// What the samples of a method's callees have to know of it.
struct MethodSites {
  bool is_ours = false;            // of those that take the sample
  std::uint32_t first_site = 0;    // 0: not of interest
  std::vector<std::uint32_t> pcs;  // of the other sites

  // The site at a bytecode index; 0 if there is none.
  [[nodiscard]] std::uint32_t at(std::int64_t bci) const;
};

// A return address in compiled code or in a stub. In most cases all of it is in one line of the processor's caches:
// they hold something else by the time of the next sample, and a walk waits for one frame after the other.
struct alignas(64) KnownPlace {
  static constexpr std::size_t kInside = 6;

  std::uint64_t key;      // the address
  std::uint64_t nmethod;  // 0: of a stub, which stays
  std::uint32_t compile_id;
  std::uint32_t words;  // size of the frame
  std::uint16_t sites;  // how many of the methods that are inlined here, and of the compiled one, are of interest
  bool is_ours : 1;
  bool is_innermost_of_interest : 1;  // but for what is ours
  bool is_end : 1;                    // of a virtual thread
  std::uint32_t inside[kInside];
  std::unique_ptr<const std::uint32_t[]> outside;  // all sites if there are too many for the line

  // The outermost first.
  [[nodiscard]] const std::uint32_t* begin() const { return sites <= kInside ? inside : outside.get(); }
};
static_assert(sizeof(KnownPlace) == 64);

// A method that is interpreted. While it is on the stack all this is; it is the same one if all of it is the same.
struct KnownMethod {
  std::uint64_t key;  // address of the Method
  std::uint64_t const_method;
  std::uint64_t pool;
  std::uint64_t holder;
  std::uint64_t class_name;
  const MethodSites* sites;

  [[nodiscard]] bool is_same(const KnownMethod& other) const {
    return const_method == other.const_method && pool == other.pool && holder == other.holder &&
           class_name == other.class_name;
  }
};

// The stack of a thread when it was sampled last, the outermost frame first, with the call sites of all callers of the
// sampled method. What is read of every frame each time lies close together.
class KnownPath {
 public:
  enum class Kind : std::uint32_t { kCompiled, kDeoptimized, kStub, kInterpreted, kCallStub, kEnd };
  struct Frame {
    std::uint64_t pc;
    std::uint64_t sp;
    std::uint64_t nmethod;
    std::uint32_t compile_id;
    Kind kind;
  };
  struct Rest {
    std::uint64_t fp;
    const KnownPlace* place;    // null: it is interpreted, or a call stub
    const KnownMethod* method;  // null: it is not interpreted
    std::uint64_t bcp;
    std::uint64_t hash;          // of all sites up to here
    std::uint32_t site;          // of one that is interpreted
    std::uint32_t sites;         // of this frame
    std::uint32_t sites_so_far;  // of this frame and all that called it
  };

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(frames.size()); }
  [[nodiscard]] OwnFrame at(std::uint32_t i) const {
    return {.pc = frames[i].pc, .sp = frames[i].sp, .fp = rests[i].fp};
  }
  [[nodiscard]] std::uint64_t hash() const { return frames.empty() ? of.seed : rests.back().hash; }
  // Of the outermost `count` frames.
  [[nodiscard]] std::uint32_t sites_of(std::uint32_t count) const {
    return count == 0 ? 0 : rests[count - 1].sites_so_far;
  }
  // Calls use(site) for all sites of the frames from `first` on, the outermost first.
  template <typename Use>
  void for_each_site(std::uint32_t first, Use&& use) const {
    for (std::uint32_t i = first; i < size(); ++i) for_each_site_of(rests[i], use);
  }
  template <typename Use>
  static void for_each_site_of(const Rest& rest, Use&& use) {
    for (std::uint32_t j = 0; j < rest.sites; ++j) use(rest.place != nullptr ? rest.place->begin()[j] : rest.site);
  }

  // Whose stack it is, and who knows its places.
  struct Of {
    std::uint32_t finder = 0;
    std::uint64_t region = 0;
    std::uint64_t seed = 0;  // of hashes
    bool operator==(const Of&) const = default;
  };
  // Forgets everything if it was of somebody else.
  void be_of(const Of& whom);
  void resize(std::uint32_t size) {
    frames.resize(size);
    rests.resize(size);
  }
  // What was found from the innermost frame outwards, as the innermost ones of this path.
  void append(const KnownPath& found);

  Of of;
  std::vector<Frame> frames;
  std::vector<Rest> rests;
};

// Who knows methods by their names.
class SitesByName {
 public:
  // "pkg/Class.method(descriptor)type". Context: any thread.
  virtual MethodSites sites_of(const std::string& method, std::uint32_t code_length) = 0;

 protected:
  ~SitesByName() = default;
};

class KnownFrames {
 public:
  // Once the JVM is initialised.
  KnownFrames(const Layout& layout, SitesByName& names);

  // Brings the path up to date with the stack; its outermost frames are the `kept` ones that were there before. False,
  // and an empty path, if there is a frame that cannot be known, as those of a virtual thread that lie in the heap. A
  // path is of one region (shadow_stacks.h) at a time; its hash begins with `seed` and goes on from site to site as in
  // SondeSteps.
  bool find(std::uint64_t java_thread, std::uint64_t region, std::uint64_t seed, KnownPath& path, std::uint32_t& kept) {
    OwnStack stack(cache_, java_thread);
    return find(stack, false, region, seed, path, kept);
  }
  // The same of a thread that may be in compiled code: at a store, behind which `pc` is.
  bool find_from(std::uint64_t java_thread, std::uint64_t pc, std::uint64_t sp, std::uint64_t region,
                 std::uint64_t seed, KnownPath& path, std::uint32_t& kept) {
    if (!cache_.contains(pc)) return find(java_thread, region, seed, path, kept);
    OwnStack stack(cache_, java_thread, {.pc = pc, .sp = sp, .fp = 0});
    return find(stack, true, region, seed, path, kept);
  }
  // Nothing can be added any more: classes came and went, or code was compiled again and again.
  [[nodiscard]] bool is_full() const { return is_full_.load(); }

 private:
  bool find(OwnStack& stack, bool is_at_store, std::uint64_t region, std::uint64_t seed, KnownPath& path,
            std::uint32_t& kept);
  // A method, inlined or not, and where it is.
  struct Frame {
    const MethodSites* method;
    std::int64_t bci;
  };

  [[nodiscard]] bool is_there(const KnownPlace& place) const {
    return place.nmethod == 0 || cache_.difference_from(place.nmethod, place.compile_id) == 0;
  }
  // How many of the path's frames are as they were.
  [[nodiscard]] std::uint32_t count_same(const OwnStack& stack, const KnownPath& path) const;
  [[nodiscard]] bool is_same(const OwnStack& stack, const KnownPath& path, std::uint32_t i) const;
  // The place that the walk is at; null if it is not in compiled code or not known.
  [[nodiscard]] const KnownPlace* find_place(const OwnStack& stack) const;
  // Adds the frame that the walk is at; false if it is not known.
  bool look_up(const OwnStack& stack, KnownPath& found, bool& is_sampled) const;
  [[nodiscard]] const KnownMethod* find_method(std::uint64_t method) const;
  [[nodiscard]] KnownMethod look_at(std::uint64_t method) const;
  // Code that has no frame of known size, or none that the JVM tells anything of.
  [[nodiscard]] bool is_walkable(std::uint64_t pc) const;
  [[nodiscard]] bool has_same_methods(const KnownPath& path) const;
  // Reads what the JVM has to say of the frame that the walk is at; false if that is nothing we understand.
  bool learn(const OwnStack& stack, bool is_at_store);
  // The methods at a return address in compiled code, or at the instruction before `pc`, the innermost first; empty if
  // that is not known. HotSpot describes calls, and regions of code by their ends.
  std::vector<Frame> describe(std::uint64_t nmethod, std::uint64_t pc, bool is_at_store);
  const MethodSites* sites_of(std::uint64_t method);
  [[nodiscard]] std::string name_of(std::uint64_t method) const;
  void learn_place(KnownPlace place, std::span<const Frame> frames);

  std::uint32_t number_;  // of this object; others in the same process had others
  CodeCache cache_;
  SitesByName& names_;
  PublishedTable<KnownPlace, 15> places_;
  PublishedTable<KnownMethod, 13> methods_;
  std::atomic<bool> is_full_{false};
  std::mutex mutex_;  // held while something is added to the tables; guards what follows
  std::deque<MethodSites> sites_;
};

}  // namespace sonde::agent::hotspot
