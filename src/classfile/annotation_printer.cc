// SPDX-License-Identifier: Apache-2.0
#include "classfile/annotation_printer.h"

#include <string>

namespace sonde::classfile {
namespace {

constexpr int kMaxDepth = 50;  // of values in values: far more than source nests, far less than the stack holds

class AnnotationPrinter {
 public:
  AnnotationPrinter(Listing& out, const ConstantPool& pool, const Attribute& attribute, std::size_t indent)
      : out_(out), pool_(pool), reader_(attribute.content), indent_(indent) {}

  Result<void> annotations() {
    for (std::uint16_t left = reader_.u2(); left > 0; --left) {
      out_ << "\n" << Indent{indent_};
      TRY(annotation(0));
    }
    return end();
  }

  Result<void> parameters() {
    const std::uint8_t count = reader_.u1();
    for (std::uint8_t i = 0; i < count; ++i) {
      for (std::uint16_t left = reader_.u2(); left > 0; --left) {
        out_ << "\n" << Indent{indent_} << "parameter " << i << ": ";
        TRY(annotation(0));
      }
    }
    return end();
  }

  Result<void> default_value() {
    out_ << " ";
    TRY(value(0));
    return end();
  }

 private:
  Result<void> end() {
    TRY(reader_.check("the annotations"));
    if (reader_.at_end()) return {};
    return malformed(std::to_string(reader_.remaining()) + " bytes follow the last one");
  }

  [[nodiscard]] Error malformed(std::string message) const {
    return {ErrorCode::kMalformed, std::move(message), {.path = {}, .byte_offset = reader_.position()}};
  }

  // The next index, which must name an entry of this kind.
  Result<PoolIndex> index_of(Tag expected) {
    const PoolIndex index(reader_.u2());
    TRY(reader_.check("an annotation"));
    if (pool_.is(index, expected)) return index;
    return malformed("#" + std::to_string(index.value()) + " is " + std::string(name_of(pool_.tag(index))) + ", not " +
                     std::string(name_of(expected)));
  }

  Result<void> annotation(int depth) {
    out_ << "@";
    out_.java_type(pool_.utf8(TRY(index_of(Tag::kUtf8))));
    const std::uint16_t count = reader_.u2();
    for (std::uint16_t i = 0; i < count; ++i) {
      out_ << (i == 0 ? "(" : ", ") << Name{pool_.utf8(TRY(index_of(Tag::kUtf8)))} << "=";
      TRY(value(depth + 1));
    }
    if (count != 0) out_ << ")";
    return {};
  }

  Result<void> value(int depth) {
    if (depth > kMaxDepth) return malformed("values nest deeper than " + std::to_string(kMaxDepth));
    const std::uint8_t tag = reader_.u1();
    switch (tag) {
      case 'B':
      case 'C':
      case 'I':
      case 'S': return number(Tag::kInteger);
      case 'D': return number(Tag::kDouble);
      case 'F': return number(Tag::kFloat);
      case 'J': return number(Tag::kLong);
      case 'Z': out_ << (pool_.u4_value(TRY(index_of(Tag::kInteger))) != 0 ? "true" : "false"); return {};
      case 's': out_ << "\"" << Name{pool_.utf8(TRY(index_of(Tag::kUtf8)))} << "\""; return {};
      case 'c':
        out_.java_type(pool_.utf8(TRY(index_of(Tag::kUtf8))));
        out_ << ".class";
        return {};
      case 'e':
        out_.java_type(pool_.utf8(TRY(index_of(Tag::kUtf8))));
        out_ << "." << Name{pool_.utf8(TRY(index_of(Tag::kUtf8)))};
        return {};
      case '@': return annotation(depth);
      case '[': return array(depth);
      default: break;
    }
    TRY(reader_.check("an annotation"));
    return malformed("unknown kind of value " + std::to_string(tag));
  }

  Result<void> number(Tag tag) {
    out_.constant_value(pool_, TRY(index_of(tag)));
    return {};
  }

  Result<void> array(int depth) {
    const std::uint16_t count = reader_.u2();
    out_ << "{";
    for (std::uint16_t i = 0; i < count; ++i) {
      if (i != 0) out_ << ", ";
      TRY(value(depth + 1));
    }
    out_ << "}";
    return {};
  }

  Listing& out_;
  const ConstantPool& pool_;
  ByteReader reader_;
  const std::size_t indent_;
};

}  // namespace

std::optional<Result<void>> print_annotations(Listing& out, const ConstantPool& pool, const Attribute& attribute,
                                              std::size_t indent) {
  AnnotationPrinter printer(out, pool, attribute, indent);
  const std::string_view name = attribute.name;
  if (name == "RuntimeVisibleAnnotations" || name == "RuntimeInvisibleAnnotations") return printer.annotations();
  if (name == "RuntimeVisibleParameterAnnotations" || name == "RuntimeInvisibleParameterAnnotations") {
    return printer.parameters();
  }
  if (name == "AnnotationDefault") return printer.default_value();
  return std::nullopt;
}

}  // namespace sonde::classfile
