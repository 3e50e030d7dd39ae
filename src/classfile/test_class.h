// SPDX-License-Identifier: Apache-2.0
// Classes for tests, without javac: the bytes of a class with one method, from the method's code.
//   TestClass cls;
//   cls.major_version = 48;
//   cls.code = {0x04, 0xac};                                      // by hand, or
//   assemble(cls, "iconst_1\n ireturn");                          // as text
//   const ParsedMethod method(cls);                               // method.code(), method.cls()
// Nothing here is checked as the JVM would: tests also need classes that no compiler writes.
//
// The text has one instruction per line, which labels may precede; `#` starts a comment:
//   loop: iload_0            | ldc 7        ldc 2.5f       ldc "text"      ldc a/B          ldc2_w 7
//         ifeq done          | invokestatic a/B.f(I)V      getfield a/B.x I
//         goto loop          | tableswitch 0 other: zero one              lookupswitch other: 5=five 9=nine
//   .catch from to handler   | .catch from to handler a/B  the exception table, in order
//   .line 12                 | the line of what follows
#pragma once

#include <gtest/gtest.h>

#include <charconv>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "classfile/class_file.h"
#include "classfile/code.h"

namespace sonde::classfile::testing {

struct TestException {
  std::uint32_t start, end, handler;
  PoolIndex type = {};
};

struct TestAttribute {
  std::string name;
  std::vector<std::uint8_t> content;
};

struct TestClass {
  std::uint16_t major_version = 61;
  std::uint16_t access_flags = kAccPublic;
  std::uint16_t method_flags = kAccPublic | kAccStatic;
  std::string name = "Test";
  std::string super_name = "java/lang/Object";
  std::string method_name = "f";
  std::string descriptor = "()V";
  std::string field_name;  // "": the class has no field; otherwise one, an int
  std::uint16_t field_flags = 0;
  std::uint16_t max_stack = 100;
  std::uint16_t max_locals = 100;
  std::vector<std::uint8_t> code;
  std::vector<TestException> exceptions;
  std::vector<std::pair<std::uint32_t, std::uint16_t>> lines;  // pc, line
  std::vector<TestAttribute> code_attributes;
  std::vector<TestAttribute> method_attributes;
  std::vector<TestAttribute> class_attributes;

  // Each gives the index of an entry, the same one for the same content.
  PoolIndex utf8(std::string_view text) {
    ByteWriter w;
    w.u1(1);
    w.u2(static_cast<std::uint16_t>(text.size()));
    w.text(text);
    return entry(w);
  }
  PoolIndex class_ref(std::string_view class_name) { return entry(7, utf8(class_name)); }
  PoolIndex string(std::string_view text) { return entry(8, utf8(text)); }
  PoolIndex integer(std::int32_t value) { return number(3, static_cast<std::uint32_t>(value)); }
  PoolIndex float_bits(std::uint32_t bits) { return number(4, bits); }
  PoolIndex long_integer(std::int64_t value) { return wide_number(5, static_cast<std::uint64_t>(value)); }
  PoolIndex double_bits(std::uint64_t bits) { return wide_number(6, bits); }
  PoolIndex name_and_type(std::string_view member, std::string_view type) {
    const PoolIndex index = utf8(member);
    return entry(12, index, utf8(type));
  }
  // Fieldref 9, Methodref 10, InterfaceMethodref 11.
  PoolIndex member(Tag tag, std::string_view owner, std::string_view member_name, std::string_view type) {
    const PoolIndex index = class_ref(owner);
    return entry(static_cast<std::uint8_t>(tag), index, name_and_type(member_name, type));
  }
  PoolIndex invoke_dynamic(std::uint16_t bootstrap, std::string_view member_name, std::string_view type) {
    return entry(18, PoolIndex(bootstrap), name_and_type(member_name, type));
  }
  // An entry given by its bytes, from the tag on.
  PoolIndex entry(const ByteWriter& bytes) {
    const std::string key(as_text(bytes.view()));
    if (const auto found = known_.find(key); found != known_.end()) return PoolIndex(found->second);
    pool_.bytes(bytes.view());
    const std::uint16_t index = next_index_;
    next_index_ = static_cast<std::uint16_t>(next_index_ + (key[0] == 5 || key[0] == 6 ? 2 : 1));
    known_.emplace(key, index);
    return PoolIndex(index);
  }

  std::vector<std::uint8_t> bytes() {
    ByteWriter rest;
    rest.u2(access_flags);
    rest.u2(class_ref(name).value());
    rest.u2(super_name.empty() ? 0 : class_ref(super_name).value());
    rest.u2(0);  // interfaces
    rest.u2(field_name.empty() ? 0 : 1);
    if (!field_name.empty()) {
      rest.u2(field_flags);
      rest.u2(utf8(field_name).value());
      rest.u2(utf8("I").value());
      rest.u2(0);  // attributes
    }
    rest.u2(1);
    rest.u2(method_flags);
    rest.u2(utf8(method_name).value());
    rest.u2(utf8(descriptor).value());
    std::vector<TestAttribute> of_method = method_attributes;
    if ((method_flags & (kAccAbstract | kAccNative)) == 0) of_method.insert(of_method.begin(), code_attribute());
    write(rest, of_method);
    write(rest, class_attributes);

    ByteWriter file;
    file.u4(kMagic);
    file.u2(0);
    file.u2(major_version);
    file.u2(next_index_);
    file.bytes(pool_.view());
    file.bytes(rest.view());
    return {file.view().begin(), file.view().end()};
  }

 private:
  PoolIndex entry(std::uint8_t tag, PoolIndex first) {
    ByteWriter w;
    w.u1(tag);
    w.u2(first.value());
    return entry(w);
  }
  PoolIndex entry(std::uint8_t tag, PoolIndex first, PoolIndex second) {
    ByteWriter w;
    w.u1(tag);
    w.u2(first.value());
    w.u2(second.value());
    return entry(w);
  }
  PoolIndex number(std::uint8_t tag, std::uint32_t value) {
    ByteWriter w;
    w.u1(tag);
    w.u4(value);
    return entry(w);
  }
  PoolIndex wide_number(std::uint8_t tag, std::uint64_t value) {
    ByteWriter w;
    w.u1(tag);
    w.u8(value);
    return entry(w);
  }
  void write(ByteWriter& out, const std::vector<TestAttribute>& attributes) {
    out.u2(static_cast<std::uint16_t>(attributes.size()));
    for (const TestAttribute& attribute : attributes) {
      out.u2(utf8(attribute.name).value());
      out.u4(static_cast<std::uint32_t>(attribute.content.size()));
      out.bytes(attribute.content);
    }
  }
  TestAttribute code_attribute() {
    ByteWriter w;
    w.u2(max_stack);
    w.u2(max_locals);
    w.u4(static_cast<std::uint32_t>(code.size()));
    w.bytes(code);
    w.u2(static_cast<std::uint16_t>(exceptions.size()));
    for (const TestException& e : exceptions) {
      w.u2(static_cast<std::uint16_t>(e.start));
      w.u2(static_cast<std::uint16_t>(e.end));
      w.u2(static_cast<std::uint16_t>(e.handler));
      w.u2(e.type.value());
    }
    std::vector<TestAttribute> attributes = code_attributes;
    if (!lines.empty()) {
      ByteWriter table;
      table.u2(static_cast<std::uint16_t>(lines.size()));
      for (const auto& [pc, line] : lines) {
        table.u2(static_cast<std::uint16_t>(pc));
        table.u2(line);
      }
      attributes.push_back({"LineNumberTable", {table.view().begin(), table.view().end()}});
    }
    write(w, attributes);
    return {"Code", {w.view().begin(), w.view().end()}};
  }

  ByteWriter pool_;
  std::map<std::string, std::uint16_t> known_;
  std::uint16_t next_index_ = 1;
};

// A class, parsed, and its method's Code. Stays where it is, since each part points at the one before.
class ParsedMethod {
 public:
  explicit ParsedMethod(TestClass& cls) : ParsedMethod(cls.bytes()) {}
  explicit ParsedMethod(std::vector<std::uint8_t> bytes)
      : bytes_(std::move(bytes)), cls_(ClassFile::parse(bytes_).value()), code_(parse(cls_)) {}
  ParsedMethod(const ParsedMethod&) = delete;
  ParsedMethod& operator=(const ParsedMethod&) = delete;

  [[nodiscard]] const ClassFile& cls() const { return cls_; }
  [[nodiscard]] const Member& member() const { return cls_.methods()[0]; }
  [[nodiscard]] const Code& code() const { return code_; }

 private:
  static Code parse(const ClassFile& cls) {
    auto code = Code::parse(cls, cls.methods().at(0));
    EXPECT_TRUE(code.ok()) << code.error().to_string();
    return std::move(code).value();
  }
  std::vector<std::uint8_t> bytes_;
  ClassFile cls_;
  Code code_;
};

// Text to code bytes, exception table and lines of a class. Mistakes in the text fail the test.
class Assembler {
 public:
  explicit Assembler(TestClass& cls) : cls_(cls) {}

  void assemble(std::string_view text) {
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line.substr(0, line.find('#')));
      Words tokens;
      for (std::string word; words >> word;) tokens.push_back(word);
      while (!tokens.empty() && tokens[0].back() == ':') {
        labels_[tokens[0].substr(0, tokens[0].size() - 1)] = pc();
        tokens.erase(tokens.begin());
      }
      if (!tokens.empty()) line_of(tokens);
    }
    for (const Fixup& fixup : fixups_) resolve(fixup);
    for (const Words& entry : catches_) {
      const PoolIndex type = entry.size() > 4 ? cls_.class_ref(entry[4]) : PoolIndex();
      cls_.exceptions.push_back({label(entry[1]), label(entry[2]), label(entry[3]), type});
    }
    cls_.code.assign(out_.view().begin(), out_.view().end());
  }

 private:
  using Words = std::vector<std::string>;
  struct Fixup {
    std::size_t at;
    std::uint32_t base;
    bool is_wide;
    std::string label;
  };

  [[nodiscard]] std::uint32_t pc() const { return static_cast<std::uint32_t>(out_.size()); }

  std::uint32_t label(const std::string& name) {
    EXPECT_TRUE(labels_.contains(name)) << "no label " << name;
    return labels_[name];
  }
  void resolve(const Fixup& fixup) {
    const std::uint32_t offset = label(fixup.label) - fixup.base;
    if (fixup.is_wide) return out_.patch_u4(fixup.at, offset);
    out_.patch_u2(fixup.at, static_cast<std::uint16_t>(offset));
  }
  void offset_to(const std::string& name, std::uint32_t base, bool is_wide) {
    fixups_.push_back({out_.size(), base, is_wide, name});
    out_.zeros(is_wide ? 4 : 2);
  }
  static std::int64_t number(std::string_view word) {
    std::int64_t value = 0;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), value);
    EXPECT_TRUE(parsed.ec == std::errc() && parsed.ptr == word.data() + word.size()) << "no number: " << word;
    return value;
  }

  void line_of(const Words& words) {
    if (words[0] == ".catch") return catches_.push_back(words);
    if (words[0] == ".line") return cls_.lines.push_back({pc(), static_cast<std::uint16_t>(number(words[1]))});
    for (std::uint8_t value = 0; is_opcode(value); ++value) {
      if (kOpcodes[value].mnemonic == words[0]) return instruction(static_cast<Opcode>(value), words);
    }
    ADD_FAILURE() << "no instruction " << words[0];
  }

  void instruction(Opcode opcode, const Words& words) {
    const std::uint32_t start = pc();
    out_.u1(static_cast<std::uint8_t>(opcode));
    const auto operand = [&](std::size_t i) { return number(words.at(i)); };
    switch (info_of(opcode).format) {
      case OperandFormat::none: return;
      case OperandFormat::s1:
      case OperandFormat::local:
      case OperandFormat::newarray: return out_.u1(static_cast<std::uint8_t>(operand(1)));
      case OperandFormat::s2: return out_.u2(static_cast<std::uint16_t>(operand(1)));
      case OperandFormat::iinc:
        out_.u1(static_cast<std::uint8_t>(operand(1)));
        return out_.u1(static_cast<std::uint8_t>(operand(2)));
      case OperandFormat::pool1: return out_.u1(static_cast<std::uint8_t>(constant(opcode, words).value()));
      case OperandFormat::pool2: return out_.u2(constant(opcode, words).value());
      case OperandFormat::invokeinterface:
      case OperandFormat::invokedynamic:
        out_.u2(constant(opcode, words).value());
        out_.u1(opcode == Opcode::invokeinterface ? 1 : 0);  // the count, which nothing here reads
        return out_.u1(0);
      case OperandFormat::multianewarray:
        out_.u2(cls_.class_ref(words.at(1)).value());
        return out_.u1(static_cast<std::uint8_t>(operand(2)));
      case OperandFormat::branch2: return offset_to(words.at(1), start, false);
      case OperandFormat::branch4: return offset_to(words.at(1), start, true);
      case OperandFormat::tableswitch:
      case OperandFormat::lookupswitch: return select(opcode, start, words);
      case OperandFormat::wide: return wide(words);
    }
  }

  void wide(const Words& words) {  // wide iload 300, wide iinc 300 1000
    const auto inner = static_cast<std::uint32_t>(words.at(1) == "iinc" ? 2 : 1);
    line_of(words.at(1) == "iinc" ? Words{"iinc", "0", "0"} : Words{words.at(1), "0"});
    out_.truncate(out_.size() - inner);
    for (std::uint32_t i = 0; i < inner; ++i) out_.u2(static_cast<std::uint16_t>(number(words.at(2 + i))));
  }

  void select(Opcode opcode, std::uint32_t start, const Words& words) {
    out_.zeros(switch_operands(start) - pc());
    const bool is_table = opcode == Opcode::tableswitch;
    std::size_t at = is_table ? 2 : 1;
    const std::string& fallback = words.at(at++);
    offset_to(fallback.substr(0, fallback.size() - 1), start, true);
    const auto count = static_cast<std::uint32_t>(words.size() - at);
    const auto low = is_table ? static_cast<std::uint32_t>(number(words[1])) : count;
    out_.u4(low);
    if (is_table) out_.u4(low + count - 1);
    for (; at < words.size(); ++at) {
      const std::size_t equals = words[at].find('=');
      if (!is_table) out_.u4(static_cast<std::uint32_t>(number(words[at].substr(0, equals))));
      offset_to(is_table ? words[at] : words[at].substr(equals + 1), start, true);
    }
  }

  PoolIndex constant(Opcode opcode, const Words& words) {
    const std::string& word = words.at(1);
    const std::size_t dot = word.find('.');
    switch (opcode) {
      case Opcode::ldc:
      case Opcode::ldc_w:
        if (word[0] == '"') return cls_.string(word.substr(1, word.size() - 2));
        if (word[0] != '-' && (word[0] < '0' || word[0] > '9')) return cls_.class_ref(word);
        if (word.back() == 'f') return cls_.float_bits(std::bit_cast<std::uint32_t>(std::stof(word)));
        return cls_.integer(static_cast<std::int32_t>(number(word)));
      case Opcode::ldc2_w:
        if (dot != std::string::npos) return cls_.double_bits(std::bit_cast<std::uint64_t>(std::stod(word)));
        return cls_.long_integer(number(word));
      case Opcode::getstatic:
      case Opcode::putstatic:
      case Opcode::getfield:
      case Opcode::putfield: return cls_.member(Tag::kFieldref, word.substr(0, dot), word.substr(dot + 1), words.at(2));
      case Opcode::invokevirtual:
      case Opcode::invokespecial:
      case Opcode::invokestatic:
      case Opcode::invokeinterface:
      case Opcode::invokedynamic: return callee(opcode, word, dot);
      default: return cls_.class_ref(word);
    }
  }

  PoolIndex callee(Opcode opcode, const std::string& word, std::size_t dot) {
    const std::size_t parenthesis = word.find('(');
    const std::size_t name = dot == std::string::npos || dot > parenthesis ? 0 : dot + 1;  // invokedynamic has no class
    const std::string method = word.substr(name, parenthesis - name);
    const std::string type = word.substr(parenthesis);
    if (opcode == Opcode::invokedynamic) return cls_.invoke_dynamic(0, method, type);
    const Tag tag = opcode == Opcode::invokeinterface ? Tag::kInterfaceMethodref : Tag::kMethodref;
    return cls_.member(tag, word.substr(0, dot), method, type);
  }

  TestClass& cls_;
  ByteWriter out_;
  std::map<std::string, std::uint32_t> labels_;
  std::vector<Fixup> fixups_;
  std::vector<Words> catches_;
};

inline void assemble(TestClass& cls, std::string_view text) { Assembler(cls).assemble(text); }

}  // namespace sonde::classfile::testing
