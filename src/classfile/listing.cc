// SPDX-License-Identifier: Apache-2.0
#include "classfile/listing.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>

#include "base/modified_utf8.h"
#include "base/primitive_name.h"
#include "classfile/descriptor.h"

namespace sonde::classfile {
namespace {

// Enough of a string constant to recognise it beside an instruction.
constexpr std::size_t kMaxTextInComment = 120;

template <typename T>
void append_floating(std::string& out, T value, char suffix) {
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value < 0 ? "-Infinity" : "Infinity";
  } else {
    std::array<char, 64> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    const std::string_view digits(text.data(), static_cast<std::size_t>(end - text.data()));
    out += digits;
    if (digits.find_first_of(".e") == std::string_view::npos) out += ".0";
  }
  out += suffix;
}

std::string_view word_for(Tag tag) {
  switch (tag) {
    case Tag::kInteger: return "int ";
    case Tag::kFloat: return "float ";
    case Tag::kLong: return "long ";
    case Tag::kDouble: return "double ";
    case Tag::kClass: return "class ";
    case Tag::kString: return "String ";
    case Tag::kFieldref: return "Field ";
    case Tag::kMethodref: return "Method ";
    case Tag::kInterfaceMethodref: return "InterfaceMethod ";
    case Tag::kMethodHandle: return "MethodHandle ";
    case Tag::kMethodType: return "MethodType ";
    case Tag::kDynamic: return "Dynamic ";
    case Tag::kInvokeDynamic: return "InvokeDynamic ";
    case Tag::kModule: return "module ";
    case Tag::kPackage: return "package ";
    default: return {};
  }
}

}  // namespace

std::string_view name_of_reference_kind(std::uint8_t kind) {
  static constexpr std::array<std::string_view, 10> kNames = {"",
                                                              "REF_getField",
                                                              "REF_getStatic",
                                                              "REF_putField",
                                                              "REF_putStatic",
                                                              "REF_invokeVirtual",
                                                              "REF_invokeStatic",
                                                              "REF_invokeSpecial",
                                                              "REF_newInvokeSpecial",
                                                              "REF_invokeInterface"};
  return kind < kNames.size() ? kNames[kind] : "";
}

Listing& Listing::operator<<(float number) {
  append_floating(out_, number, 'f');
  return *this;
}

Listing& Listing::operator<<(double number) {
  append_floating(out_, number, 'd');
  return *this;
}

Listing& Listing::operator<<(Name name) {
  append_printable(out_, name.text);
  return *this;
}

Listing& Listing::operator<<(Indent indent) {
  out_.append(indent.spaces, ' ');
  return *this;
}

Listing& Listing::operator<<(Column column) {
  const std::size_t newline = out_.rfind('\n');
  const std::size_t at = out_.size() - (newline == std::string::npos ? 0 : newline + 1);
  return *this << Indent{at < column.column ? column.column - at : 1};
}

Listing& Listing::operator<<(Right right) {
  const std::string digits = std::to_string(right.value);
  if (digits.size() < right.width) *this << Indent{right.width - digits.size()};
  return *this << digits;
}

Listing& Listing::operator<<(Flags flags) {
  *this << "0x";
  for (int shift = 12; shift >= 0; shift -= 4) out_ += "0123456789abcdef"[flags.value >> shift & 0xF];
  if (flags.value != 0) *this << " " << flag_words(flags.value, flags.what);
  return *this;
}

void Listing::member(const ConstantPool& pool, PoolIndex index) {
  const MemberRef ref = pool.member(index);
  if (!ref.class_name.empty()) *this << Name{ref.class_name} << ".";
  *this << Name{ref.name};
  if (!ref.descriptor.starts_with('(')) *this << ":";
  *this << Name{ref.descriptor};
}

void Listing::constant_value(const ConstantPool& pool, PoolIndex index) {
  switch (pool.tag(index)) {
    case Tag::kUtf8: *this << Name{pool.utf8(index)}; break;
    case Tag::kInteger: *this << static_cast<std::int32_t>(pool.u4_value(index)); break;
    case Tag::kFloat: *this << std::bit_cast<float>(pool.u4_value(index)); break;
    case Tag::kLong: *this << static_cast<std::int64_t>(pool.u8_value(index)) << "l"; break;
    case Tag::kDouble: *this << std::bit_cast<double>(pool.u8_value(index)); break;
    case Tag::kNameAndType: {
      const NameAndType pair = pool.name_and_type(index);
      *this << Name{pair.name} << (pair.descriptor.starts_with('(') ? "" : ":") << Name{pair.descriptor};
      break;
    }
    case Tag::kMethodHandle:
      *this << name_of_reference_kind(pool.reference_kind(index)) << " ";
      member(pool, pool.reference_index(index));
      break;
    case Tag::kDynamic:
    case Tag::kInvokeDynamic:
      *this << pool.bootstrap_index(index) << ":";
      member(pool, index);
      break;
    case Tag::kFieldref:
    case Tag::kMethodref:
    case Tag::kInterfaceMethodref: member(pool, index); break;
    case Tag::kUnusable: *this << "<malformed: " << Index{index} << " is no entry>"; break;
    default: *this << Name{pool.class_name(index)};
  }
}

void Listing::constant(const ConstantPool& pool, PoolIndex index) {
  const Tag tag = pool.tag(index);
  *this << word_for(tag);
  if (tag == Tag::kString) {
    append_printable(out_, pool.class_name(index), kMaxTextInComment);
  } else {
    constant_value(pool, index);
  }
}

void Listing::java_type(std::string_view descriptor) {
  const std::size_t dimensions = descriptor.find_first_not_of('[');
  const bool is_type = descriptor == "V" || (!descriptor.empty() && first_type(descriptor).size() == descriptor.size());
  if (!is_type) {
    *this << Name{descriptor};
    return;
  }
  std::string_view element = descriptor.substr(dimensions);
  if (element[0] == 'L') {
    std::string dotted(element.substr(1, element.size() - 2));
    for (char& c : dotted) c = c == '/' ? '.' : c;
    *this << Name{dotted};
  } else {
    *this << primitive_name(element[0]);
  }
  for (std::size_t i = 0; i < dimensions; ++i) *this << "[]";
}

void Listing::java_parameters(std::string_view method_descriptor) {
  const auto parsed = MethodDescriptor::parse(method_descriptor);
  if (!parsed) return;
  *this << "(";
  for (std::string_view rest = parsed->parameters(); !rest.empty();) {
    const std::string_view type = first_type(rest);
    java_type(type);
    rest.remove_prefix(type.size());
    if (!rest.empty()) *this << ", ";
  }
  *this << ")";
}

}  // namespace sonde::classfile
