// SPDX-License-Identifier: Apache-2.0
#include "classfile/findings.h"

#include "base/modified_utf8.h"

namespace sonde::classfile {

std::string quoted(std::string_view text) { return "`" + printable(text) + "`"; }

void Findings::add(Error error) {
  for (const Scope* scope = scope_; scope != nullptr; scope = scope->outer_) {
    std::string outer(scope->kind_);
    if (scope->member_ != nullptr) outer += " " + quoted(qualified_name(cls_, *scope->member_));
    error = std::move(error).within(outer);
  }
  errors_.push_back(std::move(error));
}

void Findings::add(std::string message, std::string path, std::optional<std::uint64_t> byte_offset) {
  add(Error{ErrorCode::kMalformed, std::move(message), {.path = std::move(path), .byte_offset = byte_offset}});
}

}  // namespace sonde::classfile
