// SPDX-License-Identifier: Apache-2.0
// One chunk, read by what its own metadata says: which types there are, where their constants lie, and any field of a
// value by its name. Constants stay in the chunk's bytes until somebody asks for them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "format/jfr/decoder.h"

namespace sonde::format::jfr {

struct FieldInfo {
  std::string name;
  std::uint64_t type = 0;
  bool is_constant = false;  // the number of a constant, not the value itself
  bool is_array = false;
};

struct TypeInfo {
  enum class Kind : std::uint8_t { kFields, kByte, kNumber, kFloat, kDouble, kText };
  std::string name;
  Kind kind = Kind::kFields;
  std::vector<FieldInfo> fields;
};

// A value somewhere in the chunk.
struct Place {
  std::uint64_t type = 0;
  std::size_t at = 0;
};

class ChunkReader {
 public:
  // The chunk that begins at `bytes`; what follows it is left alone.
  static Result<ChunkReader> open(Bytes bytes);

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] std::uint64_t start_ns() const { return start_ns_; }
  [[nodiscard]] std::uint64_t duration_ns() const { return duration_ns_; }

  // The number of the type, if the chunk knows it.
  [[nodiscard]] std::optional<std::uint64_t> type_named(std::string_view name) const;
  [[nodiscard]] const TypeInfo& type(std::uint64_t id) const { return types_.at(id); }

  // Visits events of these types, in their order.
  Result<void> for_each_event(const std::function<Result<void>(Place)>& visit) const;

  // Nothing if there is no such field, or it is null.
  [[nodiscard]] std::optional<Place> field(Place value, std::string_view name) const;  // constants are resolved
  [[nodiscard]] std::optional<std::uint64_t> number(Place value, std::string_view name) const;
  [[nodiscard]] std::string text(Place value, std::string_view name) const;
  // The number under which a constant is known in its pool: equal ones are the same value.
  [[nodiscard]] std::optional<std::uint64_t> key(Place value, std::string_view name) const;
  // Calls visit for each element of an array.
  Result<void> for_each_element(Place value, std::string_view name,
                                const std::function<Result<void>(Place)>& visit) const;

 private:
  explicit ChunkReader(Bytes bytes) : bytes_(bytes) {}

  Result<void> read_metadata(std::size_t at);
  Result<void> read_constants();
  Result<void> read_checkpoint(std::size_t at, std::size_t end);
  // Takes the decoder behind a value of that type.
  Result<void> skip(Decoder& decoder, std::uint64_t type, int nesting) const;
  Result<void> skip_field(Decoder& decoder, const FieldInfo& field, int nesting) const;
  // The decoder at a field of a value.
  [[nodiscard]] std::optional<Decoder> find(Place value, std::string_view name, const FieldInfo*& info) const;
  [[nodiscard]] std::string constant_text(std::uint64_t type, std::uint64_t key, int nesting) const;
  [[nodiscard]] std::string text_at(Decoder decoder, std::uint64_t type, int nesting) const;

  Bytes bytes_;
  std::uint64_t start_ns_ = 0;
  std::uint64_t duration_ns_ = 0;
  std::unordered_map<std::uint64_t, TypeInfo> types_;
  std::unordered_map<std::uint64_t, std::unordered_map<std::uint64_t, std::size_t>> constants_;  // type, key: place
};

}  // namespace sonde::format::jfr
