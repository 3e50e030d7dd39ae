// SPDX-License-Identifier: Apache-2.0
// Builds the text of a listing: numbers, columns and names in one chain, appended to a string that the caller owns.
//   out << Indent{6} << Right{pc, 5} << ": " << mnemonic << Column{24} << "// " << Name{cls.name()} << "\n";
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "classfile/access_flags.h"
#include "classfile/constant_pool.h"

namespace sonde::classfile {

struct Name {  // modified UTF-8, made printable
  std::string_view text;
};
struct Indent {
  std::size_t spaces;
};
struct Column {  // goes on at this column of the line, or one space further if that is passed
  std::size_t column;
};
struct Right {  // a number at the right end of a field
  std::int64_t value;
  std::size_t width;
};
struct Flags {  // "0x0009 public static"
  std::uint16_t value;
  FlagsOf what;
};
struct Index {  // "#12"
  PoolIndex index;
};

class Listing {
 public:
  explicit Listing(std::string& out) : out_(out) {}

  Listing& operator<<(std::string_view text) {
    out_ += text;
    return *this;
  }
  Listing& operator<<(const char* text) { return *this << std::string_view(text); }
  template <std::integral T>
  requires(!std::same_as<T, char>) Listing& operator<<(T number) {
    out_ += std::to_string(number);
    return *this;
  }
  Listing& operator<<(float number);   // "0.75f", "NaNf": shortest text that reads back as the same value
  Listing& operator<<(double number);  // "0.75d"
  Listing& operator<<(Name name);
  Listing& operator<<(Indent indent);
  Listing& operator<<(Column column);
  Listing& operator<<(Right right);
  Listing& operator<<(Flags flags);
  Listing& operator<<(Index index) { return *this << "#" << index.index.value(); }

  // What a constant is and says: "Method java/lang/Object.<init>()V", "String hello", "long 5l". Long text is cut.
  void constant(const ConstantPool& pool, PoolIndex index);
  // The same without the first word, and text whole: the right column of the constant pool.
  void constant_value(const ConstantPool& pool, PoolIndex index);
  // "[[Ljava/lang/String;" as "java.lang.String[][]"; what is no descriptor as it is.
  void java_type(std::string_view descriptor);
  // "(ILjava/lang/String;)" as "(int, java.lang.String)".
  void java_parameters(std::string_view method_descriptor);

 private:
  void member(const ConstantPool& pool, PoolIndex index);

  std::string& out_;
};

// "REF_invokeStatic"; "" if the kind is not one of 1..9.
std::string_view name_of_reference_kind(std::uint8_t kind);

}  // namespace sonde::classfile
