// SPDX-License-Identifier: Apache-2.0
#include "classfile/printer.h"

#include "classfile/attribute_printer.h"
#include "classfile/code.h"
#include "classfile/code_printer.h"
#include "classfile/listing.h"

namespace sonde::classfile {
namespace {

constexpr std::uint16_t kAccSuper = 0x0020;
constexpr std::uint16_t kAccAnnotation = 0x2000;
constexpr std::uint16_t kAccEnum = 0x4000;
constexpr std::uint16_t kAccModule = 0x8000;
constexpr std::uint16_t kPreviewMinor = 65535;

std::string java_version(std::uint16_t major) {
  // 45 is both 1.0 and 1.1; the number after "1." was dropped with Java 5.
  const int version = major - 44;
  return "Java " + (version < 5 ? "1." + std::to_string(version) : std::to_string(version));
}

std::string_view kind_of(std::uint16_t flags) {
  if ((flags & kAccModule) != 0) return "module";
  if ((flags & kAccAnnotation) != 0) return "@interface";
  if ((flags & kAccInterface) != 0) return "interface";
  return (flags & kAccEnum) != 0 ? "enum" : "class";
}

void print_attributes(Listing& out, const ConstantPool& pool, const AttributeList& list, AttributeOwner owner,
                      std::size_t indent) {
  for (const Attribute& attribute : list) {
    if (owner == AttributeOwner::kMethod && attribute.name == attribute::kCode) continue;
    print_attribute(out, pool, attribute, owner, indent);
    out << "\n";
  }
}

void print_header(Listing& out, const ClassFile& cls) {
  const std::uint16_t flags = cls.access_flags();
  constexpr std::uint16_t kSaidByKind = kAccSuper | kAccInterface | kAccAnnotation | kAccEnum | kAccModule;
  // "abstract interface" says one thing twice.
  const std::uint16_t implied = (flags & kAccInterface) != 0 ? kSaidByKind | kAccAbstract : kSaidByKind;
  const std::string words = flag_words(static_cast<std::uint16_t>(flags & ~implied), FlagsOf::kClass);
  out << words << (words.empty() ? "" : " ") << kind_of(flags) << " " << Name{cls.name()};
  if (!cls.super_name().empty()) out << " extends " << Name{cls.super_name()};
  for (std::size_t i = 0; i < cls.interfaces().size(); ++i) {
    out << (i == 0 ? " implements " : ", ") << Name{cls.pool().class_name(cls.interfaces()[i])};
  }
  out << "\n  version: " << cls.major_version() << "." << cls.minor_version() << " ("
      << java_version(cls.major_version()) << (cls.minor_version() == kPreviewMinor ? ", preview features" : "")
      << (cls.is_newer_than_known() ? ", newer than this program knows" : "") << ")\n";
  out << "  flags: " << Flags{flags, FlagsOf::kClass} << "\n";
  out << "  this_class: " << Index{cls.this_class()} << ", super_class: " << Index{cls.super_class()} << "\n";
}

// The middle column of the constant pool: what the entry itself holds, which is indices for most.
void print_entry(Listing& out, const ConstantPool& pool, PoolIndex index) {
  const Bytes entry = pool.entry(index);
  const auto u2_at = [&entry](std::size_t at) { return Index{PoolIndex(load_u2(entry.data() + at))}; };
  switch (pool.tag(index)) {
    case Tag::kClass:
    case Tag::kString:
    case Tag::kMethodType:
    case Tag::kModule:
    case Tag::kPackage: out << u2_at(1); break;
    case Tag::kFieldref:
    case Tag::kMethodref:
    case Tag::kInterfaceMethodref: out << u2_at(1) << "." << u2_at(3); break;
    case Tag::kNameAndType: out << u2_at(1) << ":" << u2_at(3); break;
    case Tag::kDynamic:
    case Tag::kInvokeDynamic: out << pool.bootstrap_index(index) << ":" << u2_at(3); break;
    case Tag::kMethodHandle: out << pool.reference_kind(index) << ":" << u2_at(2); break;
    default: out.constant_value(pool, index); return;
  }
  out << Column{46} << "// ";
  out.constant_value(pool, index);
}

void print_pool(Listing& out, const ConstantPool& pool) {
  out << "Constant pool:\n";
  for (std::uint16_t i = 1; i < pool.count(); ++i) {
    const PoolIndex index(i);
    if (pool.tag(index) == Tag::kUnusable) continue;
    const std::size_t digits = std::to_string(i).size();
    out << Indent{digits < 6 ? 6 - digits : 1} << Index{index} << " = " << name_of(pool.tag(index)) << Column{30};
    print_entry(out, pool, index);
    out << "\n";
  }
}

void print_modifiers(Listing& out, const Member& member, FlagsOf what) {
  out << "\n  " << flag_words(member.access_flags, what) << (member.access_flags == 0 ? "" : " ");
}

void print_descriptor(Listing& out, const Member& member, FlagsOf what) {
  out << "    descriptor: " << Name{member.descriptor} << "\n    flags: " << Flags{member.access_flags, what} << "\n";
}

void print_fields(Listing& out, const ClassFile& cls) {
  if (cls.fields().empty()) return;
  out << "Fields: " << cls.fields().size() << "\n";
  for (const Member& field : cls.fields()) {
    print_modifiers(out, field, FlagsOf::kField);
    out.java_type(field.descriptor);
    out << " " << Name{field.name} << "\n";
    print_descriptor(out, field, FlagsOf::kField);
    print_attributes(out, cls.pool(), field.attributes, AttributeOwner::kField, 4);
  }
  out << "\n";
}

void print_one_method(Listing& out, const ClassFile& cls, const Member& method, const PrintOptions& options) {
  const std::size_t close = method.descriptor.rfind(')');
  print_modifiers(out, method, FlagsOf::kMethod);
  if (close != std::string_view::npos) out.java_type(method.descriptor.substr(close + 1));
  out << " " << Name{method.name};
  out.java_parameters(method.descriptor);
  out << "\n";
  print_descriptor(out, method, FlagsOf::kMethod);
  if (method.attributes.find(attribute::kCode)) {
    const Result<Code> code = Code::parse(cls, method);
    if (code.ok()) {
      print_code(out, *code, 4, !options.code_only);
    } else {
      out << "    Code: ";
      print_malformed(out, code.error());
      out << "\n";
    }
  }
  if (!options.code_only) print_attributes(out, cls.pool(), method.attributes, AttributeOwner::kMethod, 4);
}

}  // namespace

void print(const ClassFile& cls, const PrintOptions& options, std::string& text) {
  Listing out(text);
  print_header(out, cls);
  if (options.constant_pool && !options.code_only) print_pool(out, cls.pool());
  if (!options.code_only) {
    print_fields(out, cls);
    out << "Methods: " << cls.methods().size() << "\n";
  }
  for (const Member& method : cls.methods()) {
    if (!options.code_only || method.attributes.find(attribute::kCode)) print_one_method(out, cls, method, options);
  }
  out << "\n";
  if (!options.code_only) print_attributes(out, cls.pool(), cls.attributes(), AttributeOwner::kClass, 0);
}

void print_method(const ClassFile& cls, const Member& method, const PrintOptions& options, std::string& text) {
  Listing out(text);
  print_one_method(out, cls, method, options);
}

}  // namespace sonde::classfile
