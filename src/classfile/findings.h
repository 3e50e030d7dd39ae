// SPDX-License-Identifier: Apache-2.0
// Where the parts of check() put what they find. The path of elements around a finding is kept as a chain on the stack
// and turned into text only if something is found, which is almost never.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "classfile/class_file.h"

namespace sonde::classfile {

// A name of the class in a message: `a/B`, printable.
std::string quoted(std::string_view text);

class Findings {
 public:
  explicit Findings(const ClassFile& cls) : cls_(cls) {}

  [[nodiscard]] const ClassFile& cls() const { return cls_; }
  [[nodiscard]] const ConstantPool& pool() const { return cls_.pool(); }

  void add(std::string message, std::string path, std::optional<std::uint64_t> byte_offset = std::nullopt);
  void add(Error error);
  // An error that names the elements around it already.
  void add_located(Error error) { errors_.push_back(std::move(error)); }
  [[nodiscard]] std::vector<Error> take() && { return std::move(errors_); }

  // While it lives, findings are in this field, method or attribute.
  class Scope {
   public:
    Scope(Findings& findings, std::string_view kind, const Member& member) : Scope(findings, kind) {
      member_ = &member;
    }
    Scope(Findings& findings, std::string_view name) : findings_(findings), outer_(findings.scope_), kind_(name) {
      findings.scope_ = this;
    }
    ~Scope() { findings_.scope_ = outer_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    friend class Findings;
    Findings& findings_;
    const Scope* outer_;
    std::string_view kind_;
    const Member* member_ = nullptr;
  };

 private:
  const ClassFile& cls_;
  const Scope* scope_ = nullptr;
  std::vector<Error> errors_;
};

}  // namespace sonde::classfile
