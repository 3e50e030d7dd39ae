// SPDX-License-Identifier: Apache-2.0
#include "classfile/check_pool.h"

#include <string>

#include "base/modified_utf8.h"
#include "classfile/check_attributes.h"
#include "classfile/name_rules.h"

namespace sonde::classfile {
namespace {

constexpr std::uint16_t kStrictUtf8Major = 48;  // HotSpot accepts overlong forms before
constexpr std::uint16_t kStaticInterfaceMethodsMajor = 52;

class PoolChecker {
 public:
  explicit PoolChecker(Findings& findings) : findings_(findings), pool_(findings.pool()) {
    bootstrap_methods_ = bootstrap_method_count(findings.cls());
  }

  void entry(PoolIndex index) {
    switch (pool_.tag(index)) {
      case Tag::kUtf8: utf8(index); break;
      case Tag::kClass:
        if (!is_class_or_array(pool_.class_name(index)))
          bad(index, quoted(pool_.class_name(index)) + " is no class name");
        break;
      case Tag::kMethodType:
        if (!is_method_descriptor(pool_.class_name(index))) {
          bad(index, quoted(pool_.class_name(index)) + " is no method descriptor");
        }
        break;
      case Tag::kFieldref: field(index); break;
      case Tag::kMethodref:
      case Tag::kInterfaceMethodref: method(index, pool_.member(index)); break;
      case Tag::kDynamic:
        bootstrap(index);
        field(index);
        break;
      case Tag::kInvokeDynamic:
        bootstrap(index);
        method(index, pool_.member(index));
        break;
      case Tag::kMethodHandle: method_handle(index); break;
      default: break;
    }
  }

 private:
  void bad(PoolIndex index, std::string message) {
    findings_.add(std::string(name_of(pool_.tag(index))) + " " + std::move(message),
                  "constant pool entry #" + std::to_string(index.value()), pool_.offset(index));
  }

  void utf8(PoolIndex index) {
    const auto overlong =
        findings_.cls().major_version() < kStrictUtf8Major ? Overlong::kAccepted : Overlong::kRejected;
    if (!is_valid_modified_utf8(pool_.utf8(index), overlong)) {
      bad(index, quoted(pool_.utf8(index).substr(0, 80)) + " is not valid modified UTF-8");
    }
  }

  void field(PoolIndex index) {
    const MemberRef ref = pool_.member(index);
    if (!is_unqualified_name(ref.name)) bad(index, "has the name " + quoted(ref.name));
    if (!is_type_descriptor(ref.descriptor))
      bad(index, "has " + quoted(ref.descriptor) + ", which is no field descriptor");
  }

  void method(PoolIndex index, const MemberRef& ref) {
    // Nothing may refer to a class initializer.
    if (!is_method_name(ref.name) || ref.name == "<clinit>") bad(index, "has the name " + quoted(ref.name));
    if (!is_method_descriptor(ref.descriptor)) {
      bad(index, "has " + quoted(ref.descriptor) + ", which is no method descriptor");
    } else if (ref.name == "<init>" && (pool_.tag(index) != Tag::kMethodref || !ref.descriptor.ends_with(")V"))) {
      bad(index, "names a constructor with the descriptor " + quoted(ref.descriptor));
    }
  }

  void bootstrap(PoolIndex index) {
    if (pool_.bootstrap_index(index) < bootstrap_methods_) return;
    bad(index, "names bootstrap method " + std::to_string(pool_.bootstrap_index(index)) + " of " +
                   std::to_string(bootstrap_methods_));
  }

  // JVMS 4.4.8.
  void method_handle(PoolIndex index) {
    const std::uint8_t kind = pool_.reference_kind(index);
    const PoolIndex target = pool_.reference_index(index);
    const Tag tag = pool_.tag(target);
    const bool is_init = pool_.member(target).name == "<init>";
    bool fits = false;
    if (kind >= 1 && kind <= 4) {
      fits = tag == Tag::kFieldref;
    } else if (kind == 5 || kind == 8) {
      fits = tag == Tag::kMethodref && is_init == (kind == 8);
    } else if (kind == 6 || kind == 7) {
      const bool interface_fits = findings_.cls().major_version() >= kStaticInterfaceMethodsMajor;
      fits = !is_init && (tag == Tag::kMethodref || (tag == Tag::kInterfaceMethodref && interface_fits));
    } else if (kind == 9) {
      fits = !is_init && tag == Tag::kInterfaceMethodref;
    }
    if (!fits) {
      bad(index, "of kind " + std::to_string(kind) + " points at " + std::string(name_of(tag)) + " " +
                     quoted(pool_.member(target).name));
    }
  }

  Findings& findings_;
  const ConstantPool& pool_;
  std::uint32_t bootstrap_methods_;
};

}  // namespace

void check_pool(Findings& findings) {
  PoolChecker checker(findings);
  for (std::uint16_t i = 1; i < findings.pool().count(); ++i) checker.entry(PoolIndex(i));
}

}  // namespace sonde::classfile
