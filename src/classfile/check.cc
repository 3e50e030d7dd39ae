// SPDX-License-Identifier: Apache-2.0
#include "classfile/check.h"

#include <algorithm>
#include <string>

#include "classfile/check_attributes.h"
#include "classfile/check_code.h"
#include "classfile/check_pool.h"
#include "classfile/descriptor.h"
#include "classfile/findings.h"
#include "classfile/name_rules.h"

namespace sonde::classfile {
namespace {

constexpr std::uint16_t kAccModule = 0x8000;
constexpr std::uint32_t kMaxArgumentSlots = 255;

void check_class(Findings& findings) {
  const ClassFile& cls = findings.cls();
  if (cls.name().starts_with('[')) findings.add(quoted(cls.name()) + " is an array", "this_class");
  const bool may_lack_super = cls.name() == "java/lang/Object" || (cls.access_flags() & kAccModule) != 0;
  if (cls.super_class().value() == 0 && !may_lack_super)
    findings.add("is 0, which only java/lang/Object may have", "super_class");
  if (cls.super_name().starts_with('[')) findings.add(quoted(cls.super_name()) + " is an array", "super_class");
  for (const PoolIndex interface : cls.interfaces()) {
    const std::string_view name = cls.pool().class_name(interface);
    if (name.starts_with('[')) findings.add(quoted(name) + " is an array", "interfaces");
  }
}

void check_field(const Member& field, Findings& findings) {
  const Findings::Scope scope(findings, "field", field);
  if (!is_unqualified_name(field.name)) findings.add(quoted(field.name) + " is no field name", {});
  if (!is_type_descriptor(field.descriptor)) findings.add(quoted(field.descriptor) + " is no field descriptor", {});
  check_attributes(field.attributes, AttributeOwner::kField, findings);
}

void check_signature(const Member& method, Findings& findings) {
  if (!is_method_name(method.name)) findings.add(quoted(method.name) + " is no method name", {});
  if (!is_method_descriptor(method.descriptor))
    return findings.add(quoted(method.descriptor) + " is no method descriptor", {});
  const std::uint32_t slots =
      MethodDescriptor::parse(method.descriptor)->parameter_slots() + (method.has(kAccStatic) ? 0 : 1);
  if (slots > kMaxArgumentSlots) {
    findings.add(
        "takes " + std::to_string(slots) + " slots of arguments, more than " + std::to_string(kMaxArgumentSlots), {});
  }
  if (method.name.starts_with('<') && !method.descriptor.ends_with(")V")) findings.add("returns a value", {});
}

void check_method(const Member& method, Findings& findings, Code& code) {
  const Findings::Scope scope(findings, "method", method);
  check_signature(method, findings);
  const auto codes = std::count_if(method.attributes.begin(), method.attributes.end(),
                                   [](const Attribute& attribute) { return attribute.name == attribute::kCode; });
  // A class initializer has code whatever its flags say (JVMS 4.6).
  const bool without = (method.has(kAccNative) || method.has(kAccAbstract)) && method.name != "<clinit>";
  if (codes != (without ? 0 : 1)) {
    findings.add(
        "has " + std::to_string(codes) + " Code attributes, but is " + (without ? "" : "not ") + "native or abstract",
        {});
  }
  check_attributes(method.attributes, AttributeOwner::kMethod, findings);
  if (codes == 0) return;
  Result<void> parsed = Code::parse_into(findings.cls(), method, code);
  if (parsed.ok()) return check_code(code, findings);
  findings.add_located(std::move(parsed).error());
}

// No two fields, and no two methods, may share name and descriptor (JVMS 4.5, 4.6).
void check_duplicates(const std::vector<Member>& members, std::string_view kind, Findings& findings) {
  std::vector<const Member*> sorted;
  sorted.reserve(members.size());
  for (const Member& member : members) sorted.push_back(&member);
  const auto key = [](const Member* m) { return std::pair(m->name, m->descriptor); };
  std::sort(sorted.begin(), sorted.end(), [&](const Member* a, const Member* b) { return key(a) < key(b); });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (key(sorted[i - 1]) != key(sorted[i])) continue;
    const Findings::Scope scope(findings, kind, *sorted[i]);
    findings.add("exists twice", {});
  }
}

}  // namespace

std::vector<Error> check(const ClassFile& cls) {
  Findings findings(cls);
  check_pool(findings);
  check_class(findings);
  for (const Member& field : cls.fields()) check_field(field, findings);
  Code code;
  for (const Member& method : cls.methods()) check_method(method, findings, code);
  check_duplicates(cls.fields(), "field", findings);
  check_duplicates(cls.methods(), "method", findings);
  check_attributes(cls.attributes(), AttributeOwner::kClass, findings);
  return std::move(findings).take();
}

}  // namespace sonde::classfile
