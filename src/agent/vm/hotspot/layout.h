// SPDX-License-Identifier: Apache-2.0
// The ledger: where HotSpot keeps what a stack walker and its decoder read, for every JDK Sonde knows. Offsets come
// from the JVM itself (vm_structs.h); what the tables do not say is written here, once, with the version it holds for.
//
//   what                                    JDK 17..20        JDK 21..25
//   code of a blob                          _code_begin       blob + _code_offset (24 on), else _code_begin
//   kind of a blob                          its name          _kind (23 on), else its name
//   scopes and pcs of an nmethod            in the nmethod    in _immutable_data (23 on)
//   metadata of an nmethod                  in the nmethod    in _mutable_data, behind the relocations (25)
//   UNSIGNED5 streams                       any byte          0 excluded (20 on)
//   interpreter frame, x64                  method -3, bytecode pointer -8: both
//
// A JVM that lacks one of these fields has a layout we do not know; samples are then taken by AsyncGetCallTrace.
#pragma once

#include <cstdint>

#include "agent/vm/hotspot/vm_structs.h"
#include "base/result.h"

namespace sonde::agent::hotspot {

// Plain numbers: the handler reads them.
struct Layout {
  // Thread, JavaFrameAnchor, JavaCallWrapper, OSThread
  std::uint32_t thread_anchor;
  std::uint32_t thread_state;
  std::uint32_t thread_stack_base;
  std::uint32_t thread_stack_size;
  std::uint32_t thread_osthread;
  std::uint32_t osthread_id;
  std::uint32_t anchor_sp;
  std::uint32_t anchor_pc;
  std::uint32_t anchor_fp;
  std::uint32_t wrapper_anchor;
  std::int32_t entry_frame_wrapper;  // words from the frame pointer

  // CodeCache, CodeHeap, HeapBlock
  std::uint64_t heaps;     // address of CodeCache::_heaps
  std::uint64_t code_low;  // address of CodeCache::_low_bound
  std::uint64_t code_high;
  std::uint32_t array_length;
  std::uint32_t array_data;
  std::uint32_t heap_memory;
  std::uint32_t heap_segments;
  std::uint32_t heap_log2_segment;
  std::uint32_t space_low;
  std::uint32_t space_high;
  std::uint32_t block_header_size;
  std::uint32_t block_used;

  // CodeBlob, nmethod
  std::uint32_t blob_name;
  std::uint64_t image_low = 1;  // of the JVM's library, where blobs have their names
  std::uint64_t image_high = ~std::uint64_t{0};
  std::uint32_t blob_frame_size;
  std::uint32_t blob_size;
  std::uint32_t blob_code;  // _code_begin or _code_offset
  std::uint32_t blob_frame_complete;
  std::uint32_t nmethod_method;
  std::uint32_t nmethod_compile_id;
  std::uint32_t nmethod_deopt_handler;
  std::uint32_t nmethod_orig_pc;
  std::uint32_t nmethod_scopes_pcs;
  std::uint32_t nmethod_scopes_pcs_end;
  std::uint32_t nmethod_scopes_data;
  std::uint32_t nmethod_immutable_data;
  std::uint32_t nmethod_metadata;  // _metadata_offset, or _relocation_size
  std::uint32_t blob_mutable_data;
  bool code_is_offset;
  bool frame_complete_is_short;
  bool deopt_handler_is_offset;
  bool has_immutable_data;
  bool has_mutable_data;
  bool unsigned5_excludes_zero;

  // Interpreter and stubs
  std::uint64_t interpreter_low;
  std::uint64_t interpreter_high;
  std::uint64_t call_stub_return;
  std::uint64_t continuation_return_at;  // where the JVM notes where virtual threads end; 0 before JDK 21

  // Method, ConstMethod, ConstantPool, InstanceKlass, Symbol
  std::uint32_t method_const;
  std::uint32_t method_access_flags;
  std::uint32_t const_pool;
  std::uint32_t const_flags;
  std::uint32_t const_code_size;
  std::uint32_t const_name;
  std::uint32_t const_signature;
  std::uint32_t const_size;  // of the struct: bytecodes follow
  std::uint32_t const_has_lines;
  std::uint32_t pool_holder;
  std::uint32_t pool_source_file;
  std::uint32_t pool_length;
  std::uint32_t pool_size;  // of the struct: entries follow
  std::uint32_t klass_name;
  std::uint32_t symbol_length;
  std::uint32_t symbol_body;
  bool access_flags_is_short;
};

// Words from the frame pointer of an interpreted frame (frame_x86.hpp, the same in JDK 17 to 25).
inline constexpr int kInterpretedSenderSp = -1;
inline constexpr int kInterpretedMethod = -3;
inline constexpr int kInterpretedLocals = -7;
inline constexpr int kInterpretedBcp = -8;

// JavaThreadState
inline constexpr std::uint32_t kThreadInNative = 4;
inline constexpr std::uint32_t kThreadInVm = 6;
inline constexpr std::uint32_t kThreadInJava = 8;
inline constexpr std::uint32_t kThreadBlocked = 10;

// Of the JVM in this process, once it is initialised; an error names the first thing that is missing.
Result<Layout> find_layout(const VmStructs& structs);

}  // namespace sonde::agent::hotspot
