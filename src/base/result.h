// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value or an Error. The one way failures travel in Sonde: no exceptions cross our interfaces,
// and the agent is built without them. std::expected is C++23; this is the part of it we need.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace sonde {

enum class ErrorCode : std::uint8_t {
#define SONDE_ERROR(id, name, text, sentence) k##name = id,
#include "base/errors.def"
#undef SONDE_ERROR
};

// Stable, lower-case, hyphenated; part of JSON output.
std::string_view name_of(ErrorCode code);

// Where a failure was met, from the outside in: "Foo.class: method `a/B.c()V`, Code, pc 17 (byte 0x1f3)".
struct Location {
  std::string path;                          // element path, e.g. "method `a/B.c()V`, Code, pc 17"
  std::optional<std::uint64_t> byte_offset;  // from the start of the bytes that were handed to the parser
};

struct Error {
  ErrorCode code;
  std::string message;  // a sentence fragment: the thing, the value, what was expected
  Location where = {};

  // Puts an outer element in front of the path: within("method `f()V`") turns "pc 3" into "method `f()V`, pc 3".
  [[nodiscard]] Error within(std::string_view outer) &&;
  // The byte offset becomes relative to an enclosing block that starts at `base`.
  [[nodiscard]] Error shifted(std::uint64_t base) &&;
  [[nodiscard]] std::string to_string() const;
};

// Our own bug: never the answer to bad input. The host and the tests stop; the agent must not use it.
#define SONDE_CHECK(condition)                                                           \
  do {                                                                                   \
    if (!(condition)) [[unlikely]] {                                                     \
      std::fprintf(stderr, "%s:%d: CHECK failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)

template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] T& value() & { return *checked(std::get_if<0>(&state_)); }
  [[nodiscard]] const T& value() const& { return *checked(std::get_if<0>(&state_)); }
  [[nodiscard]] T value() && { return std::move(*checked(std::get_if<0>(&state_))); }
  [[nodiscard]] const Error& error() const& { return *checked(std::get_if<1>(&state_)); }
  [[nodiscard]] Error error() && { return std::move(*checked(std::get_if<1>(&state_))); }

  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }

 private:
  template <typename P>
  static P* checked(P* pointer) {
    SONDE_CHECK(pointer != nullptr);
    return pointer;
  }
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  void value() const { SONDE_CHECK(ok()); }
  [[nodiscard]] const Error& error() const& { return *error_; }
  [[nodiscard]] Error error() && { return std::move(*error_); }

 private:
  std::optional<Error> error_;
};

// Unwraps a Result, or returns its Error from the enclosing function. Usable as an expression:
//   const Code code = TRY(method.code());
#define TRY(expression)                        \
  (__extension__({                             \
    auto sonde_result_ = (expression);         \
    if (!sonde_result_.ok()) [[unlikely]] {    \
      return std::move(sonde_result_).error(); \
    }                                          \
    std::move(sonde_result_).value();          \
  }))

}  // namespace sonde
