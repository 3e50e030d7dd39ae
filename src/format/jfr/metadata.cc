// SPDX-License-Identifier: Apache-2.0
// The metadata event: a table of strings, then a tree of elements with attributes, all by their places in that table.
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/jfr/types.h"

namespace sonde::format::jfr {
namespace {

struct Element {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<Element> children;
};

std::string id_text(TypeId id) { return std::to_string(static_cast<int>(id)); }

enum class FieldKind : std::uint8_t { kValue, kConstant, kArray };

Element field(const char* name, TypeId type, FieldKind kind = FieldKind::kValue) {
  Element element = {"field", {{"name", name}, {"class", id_text(type)}}, {}};
  if (kind == FieldKind::kConstant) element.attributes.emplace_back("constantPool", "true");
  if (kind == FieldKind::kArray) element.attributes.emplace_back("dimension", "1");
  return element;
}

Element annotation(TypeId type, const char* value) {
  return {"annotation", {{"class", id_text(type)}, {"value", value}}, {}};
}

Element start_time() {
  Element element = field("startTime", TypeId::kLong);
  element.children.push_back(annotation(TypeId::kTimestamp, "TICKS"));
  return element;
}

Element type(TypeId id, std::string_view name, std::vector<Element> fields = {}) {
  return {"class", {{"name", std::string(name)}, {"id", id_text(id)}}, std::move(fields)};
}

// One field, the text itself.
Element simple(TypeId id, const char* name, const char* field_name) {
  Element element = type(id, name, {field(field_name, TypeId::kString)});
  element.attributes.emplace_back("simpleType", "true");
  return element;
}

Element annotation_type(TypeId id, const char* name) {
  Element element = type(id, name, {field("value", TypeId::kString)});
  element.attributes.emplace_back("superType", "java.lang.annotation.Annotation");
  return element;
}

Element event(TypeId id, std::string_view name, const char* label, std::vector<Element> fields) {
  Element element = type(id, name, std::move(fields));
  element.attributes.emplace_back("superType", "jdk.jfr.Event");
  element.children.push_back(annotation(TypeId::kLabel, label));
  return element;
}

std::vector<Element> jdk_types() {
  constexpr FieldKind constant = FieldKind::kConstant;
  return {
      type(TypeId::kBoolean, "boolean"),
      type(TypeId::kInt, "int"),
      type(TypeId::kLong, "long"),
      type(TypeId::kString, "java.lang.String"),
      type(TypeId::kThread, "java.lang.Thread",
           {field("osName", TypeId::kString), field("osThreadId", TypeId::kLong), field("javaName", TypeId::kString),
            field("javaThreadId", TypeId::kLong), field("group", TypeId::kThreadGroup, constant)}),
      type(TypeId::kThreadGroup, "jdk.types.ThreadGroup",
           {field("parent", TypeId::kThreadGroup, constant), field("name", TypeId::kString)}),
      type(TypeId::kClass, "java.lang.Class",
           {field("classLoader", TypeId::kClassLoader, constant), field("name", TypeId::kSymbol, constant),
            field("package", TypeId::kPackage, constant), field("modifiers", TypeId::kInt)}),
      type(TypeId::kClassLoader, "jdk.types.ClassLoader",
           {field("type", TypeId::kClass, constant), field("name", TypeId::kSymbol, constant)}),
      type(TypeId::kPackage, "jdk.types.Package", {field("name", TypeId::kSymbol, constant)}),
      simple(TypeId::kSymbol, "jdk.types.Symbol", "string"),
      type(TypeId::kMethod, "jdk.types.Method",
           {field("type", TypeId::kClass, constant), field("name", TypeId::kSymbol, constant),
            field("descriptor", TypeId::kSymbol, constant), field("modifiers", TypeId::kInt),
            field("hidden", TypeId::kBoolean)}),
      type(TypeId::kStackFrame, "jdk.types.StackFrame",
           {field("method", TypeId::kMethod, constant), field("lineNumber", TypeId::kInt),
            field("bytecodeIndex", TypeId::kInt), field("type", TypeId::kFrameType, constant)}),
      type(TypeId::kStackTrace, "jdk.types.StackTrace",
           {field("truncated", TypeId::kBoolean), field("frames", TypeId::kStackFrame, FieldKind::kArray)}),
      simple(TypeId::kFrameType, "jdk.types.FrameType", "description"),
      simple(TypeId::kThreadState, "jdk.types.ThreadState", "name"),
      annotation_type(TypeId::kTimestamp, "jdk.jfr.Timestamp"),
      annotation_type(TypeId::kLabel, "jdk.jfr.Label"),
  };
}

Element types_of(std::span<const std::string_view> value_names) {
  constexpr FieldKind constant = FieldKind::kConstant;
  std::vector<Element> types = jdk_types();
  types.push_back(
      event(TypeId::kExecutionSample, kExecutionSample, "Method Profiling Sample",
            {start_time(), field("sampledThread", TypeId::kThread, constant),
             field("stackTrace", TypeId::kStackTrace, constant), field("state", TypeId::kThreadState, constant)}));
  std::vector<Element> context = {start_time(), field("eventThread", TypeId::kThread, constant),
                                  field("stackTrace", TypeId::kStackTrace, constant)};
  for (const std::string_view name : value_names) {
    context.push_back(field(std::string(name).c_str(), TypeId::kLong));
  }
  types.push_back(event(TypeId::kContext, kContextEvent, "Context", std::move(context)));
  types.push_back(event(TypeId::kNote, kNoteEvent, "Note", {start_time(), field("text", TypeId::kString)}));
  return {"metadata", {}, std::move(types)};
}

class TreeWriter {
 public:
  void write(const Element& element) {
    tree_.number(index(element.name));
    tree_.number(element.attributes.size());
    for (const auto& [key, value] : element.attributes) {
      tree_.number(index(key));
      tree_.number(index(value));
    }
    tree_.number(element.children.size());
    for (const Element& child : element.children) write(child);
  }

  void finish(Encoder& out) const {
    out.number(strings_.size());
    for (const std::string* text : strings_) out.text(*text);
    out.raw(tree_.bytes());
  }

 private:
  std::uint64_t index(const std::string& text) {
    const auto [it, is_new] = indexes_.try_emplace(text, strings_.size());
    if (is_new) strings_.push_back(&it->first);
    return it->second;
  }

  Encoder tree_;
  std::unordered_map<std::string, std::uint64_t> indexes_;
  std::vector<const std::string*> strings_;
};

}  // namespace

std::string metadata_body(std::uint64_t ticks, std::span<const std::string_view> value_names) {
  TreeWriter tree;
  tree.write({"root", {}, {types_of(value_names), {"region", {{"locale", "en_US"}, {"gmtOffset", "0"}}, {}}}});
  Encoder body;
  body.number(static_cast<std::uint64_t>(TypeId::kMetadata));
  body.number(ticks);
  body.number(0);  // duration
  body.number(1);  // its own number: there is one per chunk
  tree.finish(body);
  return std::string(body.bytes());
}

}  // namespace sonde::format::jfr
