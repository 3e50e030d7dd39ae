// SPDX-License-Identifier: Apache-2.0
// SQLite as values that close themselves and errors that are Results. The only place that includes sqlite3.h.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace sonde::store {

class Statement {
 public:
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  // Parameters, from left to right; what they point to must live until the next run().
  Statement& operator<<(std::uint64_t value);
  Statement& operator<<(std::string_view text);
  Statement& operator<<(Bytes blob);
  // Runs a statement that gives no rows; afterwards it takes new parameters.
  Result<void> run();

  // True if there is a row, whose columns can then be read.
  Result<bool> next();
  [[nodiscard]] std::uint64_t integer(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] Bytes blob(int column) const;  // until next()

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int next_parameter_ = 1;
};

class Database {
 public:
  enum class Access { kReadOnly, kCreate };
  static Result<Database> open(const std::filesystem::path& path, Access access);

  Result<void> execute(const std::string& sql);
  Result<Statement> prepare(const std::string& sql);
  // The first column of the first row; 0 if there is none.
  Result<std::uint64_t> integer(const std::string& sql);

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };
  explicit Database(sqlite3* db) : db_(db) {}

  std::unique_ptr<sqlite3, Close> db_;
};

}  // namespace sonde::store
