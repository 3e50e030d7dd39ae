// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/layout.h"

#include <string>
#include <tuple>

namespace sonde::agent::hotspot {
namespace {

template <typename T>
T read(std::uint64_t address) {
  return *reinterpret_cast<const T*>(address);
}

// Asks for one thing after the other and remembers the first that is missing.
class Finder {
 public:
  explicit Finder(const VmStructs& structs) : structs_(structs) {}

  std::uint32_t offset(const char* type, const char* field) {
    const auto found = structs_.offset(type, field);
    if (!found) miss(std::string(type) + "::" + field);
    return static_cast<std::uint32_t>(found.value_or(0));
  }
  // Of a field that moved from one class to another between versions.
  std::uint32_t offset_in_either(const char* type, const char* other, const char* field) {
    return structs_.offset(type, field) ? offset(type, field) : offset(other, field);
  }
  std::uint64_t address(const char* type, const char* field) {
    const auto found = structs_.address(type, field);
    if (!found) miss(std::string(type) + "::" + field);
    return found.value_or(0);
  }
  std::uint32_t size(const char* type) {
    const auto found = structs_.size(type);
    if (!found) miss(std::string("size of ") + type);
    return static_cast<std::uint32_t>(found.value_or(0));
  }
  [[nodiscard]] bool has(const char* type, const char* field) const { return structs_.offset(type, field).has_value(); }
  [[nodiscard]] const VmStructs& structs() const { return structs_; }
  void miss(std::string what) {
    if (missing_.empty()) missing_ = std::move(what);
  }
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  const VmStructs& structs_;
  std::string missing_;
};

void find_threads(Finder& find, Layout& l) {
  l.thread_anchor = find.offset("JavaThread", "_anchor");
  l.thread_state = find.offset("JavaThread", "_thread_state");
  l.thread_stack_base = find.offset_in_either("JavaThread", "Thread", "_stack_base");
  l.thread_stack_size = find.offset_in_either("JavaThread", "Thread", "_stack_size");
  l.thread_osthread = find.offset_in_either("JavaThread", "Thread", "_osthread");
  l.osthread_id = find.offset("OSThread", "_thread_id");
  l.anchor_sp = find.offset("JavaFrameAnchor", "_last_Java_sp");
  l.anchor_pc = find.offset("JavaFrameAnchor", "_last_Java_pc");
  l.anchor_fp = find.offset("JavaFrameAnchor", "_last_Java_fp");
  l.wrapper_anchor = find.offset("JavaCallWrapper", "_anchor");
  const auto wrapper = find.structs().constant("frame::entry_frame_call_wrapper_offset");
  if (!wrapper) find.miss("frame::entry_frame_call_wrapper_offset");
  l.entry_frame_wrapper = static_cast<std::int32_t>(wrapper.value_or(0));
}

void find_code_cache(Finder& find, Layout& l) {
  l.heaps = find.address("CodeCache", "_heaps");
  l.code_low = find.address("CodeCache", "_low_bound");
  l.code_high = find.address("CodeCache", "_high_bound");
  l.array_length = find.offset("GrowableArrayBase", "_len");
  l.array_data = find.offset("GrowableArray<int>", "_data");
  l.heap_memory = find.offset("CodeHeap", "_memory");
  l.heap_segments = find.offset("CodeHeap", "_segmap");
  l.heap_log2_segment = find.offset("CodeHeap", "_log2_segment_size");
  l.space_low = find.offset("VirtualSpace", "_low");
  l.space_high = find.offset("VirtualSpace", "_high");
  l.block_header_size = find.size("HeapBlock");
  l.block_used = find.offset("HeapBlock::Header", "_used");
}

void find_blobs(Finder& find, Layout& l) {
  l.blob_name = find.offset("CodeBlob", "_name");
  std::tie(l.image_low, l.image_high) = VmStructs::image();
  l.blob_frame_size = find.offset("CodeBlob", "_frame_size");
  l.blob_size = find.offset("CodeBlob", "_size");
  l.code_is_offset = find.has("CodeBlob", "_code_offset");
  l.blob_code = find.offset("CodeBlob", l.code_is_offset ? "_code_offset" : "_code_begin");
  l.blob_frame_complete = find.offset("CodeBlob", "_frame_complete_offset");
  l.frame_complete_is_short = find.structs().field_type("CodeBlob", "_frame_complete_offset") == "int16_t";
  l.nmethod_method = find.offset_in_either("nmethod", "CompiledMethod", "_method");
  l.nmethod_compile_id = find.offset("nmethod", "_compile_id");
  l.nmethod_orig_pc = find.offset("nmethod", "_orig_pc_offset");
  l.deopt_handler_is_offset = find.has("nmethod", "_deopt_handler_offset");
  l.nmethod_deopt_handler = l.deopt_handler_is_offset ? find.offset("nmethod", "_deopt_handler_offset")
                                                      : find.offset("CompiledMethod", "_deopt_handler_begin");
}

// Which bytecodes a program counter of compiled code stands for.
void find_scopes(Finder& find, Layout& l) {
  l.has_immutable_data = find.has("nmethod", "_immutable_data");
  l.nmethod_scopes_pcs = find.offset("nmethod", "_scopes_pcs_offset");
  if (l.has_immutable_data) {
    l.nmethod_immutable_data = find.offset("nmethod", "_immutable_data");
    l.nmethod_scopes_data = find.offset("nmethod", "_scopes_data_offset");
    l.nmethod_scopes_pcs_end = l.nmethod_scopes_data;
  } else {
    l.nmethod_scopes_data = find.offset("CompiledMethod", "_scopes_data_begin");
    l.nmethod_scopes_pcs_end = find.offset("nmethod", "_dependencies_offset");
  }
  l.has_mutable_data = find.has("CodeBlob", "_mutable_data");
  if (l.has_mutable_data) {
    l.blob_mutable_data = find.offset("CodeBlob", "_mutable_data");
    l.nmethod_metadata = find.offset("CodeBlob", "_relocation_size");
  } else {
    l.nmethod_metadata = find.offset("nmethod", "_metadata_offset");
  }
  if (find.size("PcDesc") != 16 || find.offset("PcDesc", "_pc_offset") != 0 ||
      find.offset("PcDesc", "_scope_decode_offset") != 4) {
    find.miss("PcDesc as we know it");
  }
}

void find_interpreter(Finder& find, Layout& l) {
  const std::uint64_t code = find.address("AbstractInterpreter", "_code");
  const std::uint32_t buffer = find.offset("StubQueue", "_stub_buffer");
  const std::uint32_t limit = find.offset("StubQueue", "_buffer_limit");
  const std::uint64_t stub_return = find.address("StubRoutines", "_call_stub_return_address");
  if (!find.missing().empty()) return;
  const auto queue = read<std::uint64_t>(code);
  if (queue == 0) return find.miss("the interpreter");
  l.interpreter_low = read<std::uint64_t>(queue + buffer);
  l.interpreter_high = l.interpreter_low + read<std::uint32_t>(queue + limit);
  l.call_stub_return = read<std::uint64_t>(stub_return);
  l.continuation_return_at = find.structs().address("ContinuationEntry", "_return_pc").value_or(0);
}

void find_methods(Finder& find, Layout& l) {
  l.method_const = find.offset("Method", "_constMethod");
  l.method_access_flags = find.offset("Method", "_access_flags");
  l.const_pool = find.offset("ConstMethod", "_constants");
  l.const_flags = find.has("ConstMethod", "_flags") ? find.offset("ConstMethod", "_flags")
                                                    : find.offset("ConstMethod", "_flags._flags");
  l.const_code_size = find.offset("ConstMethod", "_code_size");
  l.const_name = find.offset("ConstMethod", "_name_index");
  l.const_signature = find.offset("ConstMethod", "_signature_index");
  l.const_size = find.size("ConstMethod");
  auto has_lines = find.structs().constant("ConstMethod::_has_linenumber_table");
  if (!has_lines) has_lines = find.structs().constant("ConstMethodFlags::_misc_has_linenumber_table");
  l.const_has_lines = static_cast<std::uint32_t>(has_lines.value_or(0));
  l.pool_holder = find.offset("ConstantPool", "_pool_holder");
  l.pool_source_file = find.offset("ConstantPool", "_source_file_name_index");
  l.pool_length = find.offset("ConstantPool", "_length");
  l.pool_size = find.size("ConstantPool");
  l.klass_name = find.offset("Klass", "_name");
  l.symbol_length = find.offset("Symbol", "_length");
  l.symbol_body = find.offset("Symbol", "_body");
}

int jdk_version(const VmStructs& structs) {
  const auto major = structs.address("Abstract_VM_Version", "_vm_major_version");
  return major ? read<std::int32_t>(*major) : 0;
}

}  // namespace

Result<Layout> find_layout(const VmStructs& structs) {
  const int version = jdk_version(structs);
  if (version < 17 || version > 25) {
    return Error{ErrorCode::kUnsupported, "the layout of JDK " + std::to_string(version) + " is not known"};
  }
  Layout layout{};
  Finder find(structs);
  find_threads(find, layout);
  find_code_cache(find, layout);
  find_blobs(find, layout);
  find_scopes(find, layout);
  find_methods(find, layout);
  find_interpreter(find, layout);
  layout.unsigned5_excludes_zero = version >= 20;
  layout.access_flags_is_short = version >= 25;
  if (layout.const_size > 256 || layout.pool_size > 256) find.miss("ConstMethod as we know it");
  if (!find.missing().empty()) {
    return Error{ErrorCode::kUnsupported, "the JVM does not describe " + find.missing()};
  }
  return layout;
}

}  // namespace sonde::agent::hotspot
