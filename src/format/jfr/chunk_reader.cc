// SPDX-License-Identifier: Apache-2.0
#include "format/jfr/chunk_reader.h"

#include <algorithm>
#include <charconv>

#include "format/jfr/types.h"

namespace sonde::format::jfr {
namespace {

constexpr int kMaxNesting = 16;  // of values in values, and of elements in elements
constexpr std::uint64_t kFirstUserType = 2;

Error malformed(std::string message, std::uint64_t at) {
  return {ErrorCode::kMalformed, std::move(message), {.path = {}, .byte_offset = at}};
}
Error truncated(std::string message, std::uint64_t at) {
  return {ErrorCode::kTruncated, std::move(message), {.path = {}, .byte_offset = at}};
}

struct Event {
  std::size_t end;
  std::uint64_t type;
  std::size_t body;
};

// The event at `at`; it lies inside the chunk.
Result<Event> event_at(Bytes chunk, std::size_t at) {
  Decoder decoder(chunk, at);
  const std::uint64_t size = decoder.number();
  const std::uint64_t type = decoder.number();
  if (decoder.overran() || size > chunk.size() - at) return truncated("an event is cut off", at);
  if (size < decoder.position() - at) return malformed("an event is smaller than its head", at);
  return Event{.end = at + size, .type = type, .body = decoder.position()};
}

TypeInfo::Kind kind_of(std::string_view name) {
  if (name == "boolean" || name == "byte") return TypeInfo::Kind::kByte;
  if (name == "short" || name == "char" || name == "int" || name == "long") return TypeInfo::Kind::kNumber;
  if (name == "float") return TypeInfo::Kind::kFloat;
  if (name == "double") return TypeInfo::Kind::kDouble;
  if (name == "java.lang.String") return TypeInfo::Kind::kText;
  return TypeInfo::Kind::kFields;
}

// The tree of elements in a metadata event, as far as it is about types.
class MetadataReader {
 public:
  MetadataReader(Decoder& decoder, std::unordered_map<std::uint64_t, TypeInfo>& types)
      : decoder_(decoder), types_(types) {}

  Result<void> run() {
    const std::uint64_t count = decoder_.number();
    if (count > decoder_.remaining()) return malformed("more strings than bytes", decoder_.position());
    for (std::uint64_t i = 0; i < count; ++i) strings_.push_back(decoder_.text().text);
    return element(nullptr, 0);
  }

 private:
  [[nodiscard]] std::string_view string_at(std::uint64_t index) const {
    return index < strings_.size() ? std::string_view(strings_[index]) : std::string_view();
  }
  static std::uint64_t number_of(std::string_view text) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  // `owner` is the type whose element this is.
  Result<void> element(TypeInfo* owner, int nesting) {
    if (nesting > kMaxNesting) return malformed("elements are nested too deeply", decoder_.position());
    const std::string_view kind = string_at(decoder_.number());
    std::string_view name;
    std::uint64_t id = 0;
    FieldInfo field;
    for (std::uint64_t left = decoder_.number(); left != 0 && !decoder_.overran(); --left) {
      const std::string_view key = string_at(decoder_.number());
      const std::string_view value = string_at(decoder_.number());
      if (key == "name") name = value;
      if (key == "id") id = number_of(value);
      if (key == "class") field.type = number_of(value);
      if (key == "constantPool") field.is_constant = value == "true";
      if (key == "dimension") field.is_array = value != "0";
    }
    TypeInfo* type = nullptr;
    if (kind == "class") {
      type = &types_[id];
      *type = {.name = std::string(name), .kind = kind_of(name), .fields = {}};
    } else if (kind == "field" && owner != nullptr) {
      field.name = name;
      owner->fields.push_back(std::move(field));
    }
    for (std::uint64_t left = decoder_.number(); left != 0; --left) {
      if (decoder_.overran()) break;
      TRY(element(type, nesting + 1));
    }
    if (decoder_.overran()) return truncated("ends too early", decoder_.position());
    return {};
  }

  Decoder& decoder_;
  std::unordered_map<std::uint64_t, TypeInfo>& types_;
  std::vector<std::string> strings_;
};

}  // namespace

Result<ChunkReader> ChunkReader::open(Bytes bytes) {
  if (bytes.size() < kHeaderSize) return truncated("the header is cut off", bytes.size());
  if (!as_text(bytes).starts_with(kMagic)) return malformed("does not begin with FLR: no flight recording", 0);
  ByteReader header(bytes);
  header.skip(kMagic.size());
  const std::uint16_t major = header.u2();
  header.skip(2);
  const std::uint64_t size = header.u8();
  header.skip(8);  // the last checkpoint: all are found by going through the events
  const std::uint64_t metadata = header.u8();
  if (major != kMajor) return Error{ErrorCode::kUnsupported, "version " + std::to_string(major) + " is not known"};
  if (size > bytes.size()) {
    return truncated("declares " + std::to_string(size) + " bytes, " + std::to_string(bytes.size()) + " are there", 8);
  }
  if (size < kHeaderSize || metadata < kHeaderSize || metadata >= size) {
    return malformed("its sizes make no sense; it may not be finished", 8);
  }
  ChunkReader chunk(bytes.first(size));
  chunk.start_ns_ = header.u8();
  chunk.duration_ns_ = header.u8();
  header.skip(16);  // ticks: samples need no times
  header.skip(3);
  if ((header.u1() & 1) == 0) return Error{ErrorCode::kUnsupported, "numbers are not compressed"};
  if (Result<void> read = chunk.read_metadata(metadata); !read.ok()) return std::move(read).error().within("metadata");
  if (Result<void> read = chunk.read_constants(); !read.ok()) return std::move(read).error().within("constants");
  return chunk;
}

Result<void> ChunkReader::read_metadata(std::size_t at) {
  const Event event = TRY(event_at(bytes_, at));
  if (event.type != static_cast<std::uint64_t>(TypeId::kMetadata)) return malformed("is no metadata event", at);
  Decoder decoder(bytes_.first(event.end), event.body);
  for (int i = 0; i < 3; ++i) decoder.number();  // start, duration, its number
  return MetadataReader(decoder, types_).run();
}

Result<void> ChunkReader::read_constants() {
  for (std::size_t at = kHeaderSize; at < bytes_.size();) {
    const Event event = TRY(event_at(bytes_, at));
    if (event.type == static_cast<std::uint64_t>(TypeId::kCheckpoint)) TRY(read_checkpoint(event.body, event.end));
    at = event.end;
  }
  return {};
}

Result<void> ChunkReader::read_checkpoint(std::size_t at, std::size_t end) {
  Decoder decoder(bytes_.first(end), at);
  for (int i = 0; i < 3; ++i) decoder.number();  // start, duration, where the one before it is
  decoder.u1();                                  // kind
  for (std::uint64_t pools = decoder.number(); pools != 0 && !decoder.overran(); --pools) {
    const std::uint64_t type = decoder.number();
    if (!types_.contains(type))
      return malformed("type " + std::to_string(type) + " does not exist", decoder.position());
    auto& pool = constants_[type];
    for (std::uint64_t left = decoder.number(); left != 0 && !decoder.overran(); --left) {
      const std::uint64_t key = decoder.number();
      pool[key] = decoder.position();
      TRY(skip(decoder, type, 0));
    }
  }
  if (decoder.overran()) return truncated("a checkpoint ends too early", decoder.position());
  return {};
}

Result<void> ChunkReader::skip(Decoder& decoder, std::uint64_t type, int nesting) const {
  const auto it = types_.find(type);
  if (it == types_.end()) return malformed("type " + std::to_string(type) + " does not exist", decoder.position());
  if (nesting > kMaxNesting) return malformed("values are nested too deeply", decoder.position());
  switch (it->second.kind) {
    case TypeInfo::Kind::kByte: decoder.skip(1); break;
    case TypeInfo::Kind::kNumber: decoder.number(); break;
    case TypeInfo::Kind::kFloat: decoder.skip(4); break;
    case TypeInfo::Kind::kDouble: decoder.skip(8); break;
    case TypeInfo::Kind::kText: decoder.text(); break;
    case TypeInfo::Kind::kFields:
      for (const FieldInfo& field : it->second.fields) TRY(skip_field(decoder, field, nesting + 1));
  }
  return {};
}

Result<void> ChunkReader::skip_field(Decoder& decoder, const FieldInfo& field, int nesting) const {
  std::uint64_t count = 1;
  if (field.is_array) {
    count = decoder.number();
    if (count > decoder.remaining()) return malformed("an array has more elements than bytes", decoder.position());
  }
  for (; count != 0 && !decoder.overran(); --count) {
    if (field.is_constant) {
      decoder.number();
    } else {
      TRY(skip(decoder, field.type, nesting));
    }
  }
  return {};
}

std::optional<std::uint64_t> ChunkReader::type_named(std::string_view name) const {
  for (const auto& [id, type] : types_) {
    if (type.name == name) return id;
  }
  return std::nullopt;
}

Result<void> ChunkReader::for_each_event(const std::function<Result<void>(Place)>& visit) const {
  for (std::size_t at = kHeaderSize; at < bytes_.size();) {
    const Event event = TRY(event_at(bytes_, at));
    if (event.type >= kFirstUserType && types_.contains(event.type)) {
      Result<void> visited = visit({.type = event.type, .at = event.body});
      if (!visited.ok()) {
        Error error = std::move(visited).error().within("event " + types_.at(event.type).name);
        if (!error.where.byte_offset) error.where.byte_offset = at;
        return error;
      }
    }
    at = event.end;
  }
  return {};
}

std::optional<Decoder> ChunkReader::find(Place value, std::string_view name, const FieldInfo*& info) const {
  const auto it = types_.find(value.type);
  if (it == types_.end()) return std::nullopt;
  Decoder decoder(bytes_, value.at);
  for (const FieldInfo& field : it->second.fields) {
    if (field.name == name) {
      info = &field;
      return decoder;
    }
    if (!skip_field(decoder, field, 0).ok() || decoder.overran()) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> ChunkReader::key(Place value, std::string_view name) const {
  const FieldInfo* info = nullptr;
  auto decoder = find(value, name, info);
  if (!decoder || !info->is_constant || info->is_array) return std::nullopt;
  return decoder->number();
}

std::optional<Place> ChunkReader::field(Place value, std::string_view name) const {
  const FieldInfo* info = nullptr;
  auto decoder = find(value, name, info);
  if (!decoder || info->is_array) return std::nullopt;
  if (!info->is_constant) return Place{.type = info->type, .at = decoder->position()};
  const auto pool = constants_.find(info->type);
  if (pool == constants_.end()) return std::nullopt;
  const auto constant = pool->second.find(decoder->number());
  if (constant == pool->second.end()) return std::nullopt;
  return Place{.type = info->type, .at = constant->second};
}

std::optional<std::uint64_t> ChunkReader::number(Place value, std::string_view name) const {
  const FieldInfo* info = nullptr;
  auto decoder = find(value, name, info);
  if (!decoder || info->is_array || info->is_constant || !types_.contains(info->type)) return std::nullopt;
  const TypeInfo::Kind kind = types_.at(info->type).kind;
  if (kind == TypeInfo::Kind::kByte) return decoder->u1();
  if (kind == TypeInfo::Kind::kNumber) return decoder->number();
  return std::nullopt;
}

std::string ChunkReader::text(Place value, std::string_view name) const {
  const FieldInfo* info = nullptr;
  auto decoder = find(value, name, info);
  if (!decoder || info->is_array) return {};
  if (info->is_constant) return constant_text(info->type, decoder->number(), 0);
  return text_at(*decoder, info->type, 0);
}

std::string ChunkReader::constant_text(std::uint64_t type, std::uint64_t key, int nesting) const {
  const auto pool = constants_.find(type);
  if (pool == constants_.end()) return {};
  const auto constant = pool->second.find(key);
  if (constant == pool->second.end()) return {};
  return text_at(Decoder(bytes_, constant->second), type, nesting);
}

// A text, or a type that has nothing but a text (a Symbol).
std::string ChunkReader::text_at(Decoder decoder, std::uint64_t type, int nesting) const {
  const auto it = types_.find(type);
  if (it == types_.end() || nesting > kMaxNesting) return {};
  if (it->second.kind == TypeInfo::Kind::kText) {
    Decoder::Text text = decoder.text();
    return text.constant ? constant_text(type, *text.constant, nesting + 1) : std::move(text.text);
  }
  if (it->second.fields.size() != 1) return {};
  const FieldInfo& field = it->second.fields.front();
  if (field.is_array) return {};
  if (field.is_constant) return constant_text(field.type, decoder.number(), nesting + 1);
  return text_at(decoder, field.type, nesting + 1);
}

Result<void> ChunkReader::for_each_element(Place value, std::string_view name,
                                           const std::function<Result<void>(Place)>& visit) const {
  const FieldInfo* info = nullptr;
  auto decoder = find(value, name, info);
  if (!decoder || !info->is_array || info->is_constant) return {};
  const std::uint64_t count = decoder->number();
  if (count > decoder->remaining()) return malformed("an array has more elements than bytes", decoder->position());
  for (std::uint64_t i = 0; i < count && !decoder->overran(); ++i) {
    TRY(visit({.type = info->type, .at = decoder->position()}));
    TRY(skip(*decoder, info->type, 0));
  }
  return {};
}

}  // namespace sonde::format::jfr
