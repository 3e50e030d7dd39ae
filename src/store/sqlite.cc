// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite.h"

namespace sonde::store {
namespace {

Error error_of(sqlite3* db) {
  const int code = db != nullptr ? sqlite3_errcode(db) & 0xff : SQLITE_NOMEM;
  const std::string message = db != nullptr ? sqlite3_errmsg(db) : "out of memory";
  switch (code) {
    case SQLITE_NOTADB: return {ErrorCode::kMalformed, "is not a recording of Sonde"};
    case SQLITE_CORRUPT: return {ErrorCode::kMalformed, "is damaged: " + message};
    case SQLITE_ERROR: return {ErrorCode::kMalformed, "does not hold what a recording should: " + message};
    default: return {ErrorCode::kIo, message};
  }
}

}  // namespace

Statement& Statement::operator<<(std::uint64_t value) {
  sqlite3_bind_int64(statement_.get(), next_parameter_++, static_cast<sqlite3_int64>(value));
  return *this;
}

Statement& Statement::operator<<(std::string_view text) {
  sqlite3_bind_text64(statement_.get(), next_parameter_++, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

Statement& Statement::operator<<(Bytes blob) {
  sqlite3_bind_blob64(statement_.get(), next_parameter_++, blob.data(), blob.size(), SQLITE_STATIC);
  return *this;
}

Result<void> Statement::run() {
  const bool is_done = !TRY(next());
  SONDE_CHECK(is_done);
  return {};
}

Result<bool> Statement::next() {
  switch (sqlite3_step(statement_.get())) {
    case SQLITE_ROW: return true;
    case SQLITE_DONE:
      sqlite3_reset(statement_.get());
      next_parameter_ = 1;
      return false;
    default: return error_of(sqlite3_db_handle(statement_.get()));
  }
}

std::uint64_t Statement::integer(int column) const {
  return static_cast<std::uint64_t>(sqlite3_column_int64(statement_.get(), column));
}

std::string Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

Bytes Statement::blob(int column) const {
  const auto* data = static_cast<const std::uint8_t*>(sqlite3_column_blob(statement_.get(), column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

Result<Database> Database::open(const std::filesystem::path& path, Access access) {
  const int flags = access == Access::kReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, nullptr);
  Database database(raw);
  if (code != SQLITE_OK) return error_of(raw);
  // The file may come from anyone: nothing in its schema may do more than hold data.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  if (access == Access::kReadOnly) TRY(database.execute("PRAGMA cell_size_check = ON"));
  return database;
}

Result<void> Database::execute(const std::string& sql) {
  if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return error_of(db_.get());
  return {};
}

Result<Statement> Database::prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(db_.get(), sql.c_str(), static_cast<int>(sql.size()) + 1, &statement, nullptr);
  if (code != SQLITE_OK) return error_of(db_.get());
  return Statement(statement);
}

Result<std::uint64_t> Database::integer(const std::string& sql) {
  Statement statement = TRY(prepare(sql));
  return TRY(statement.next()) ? statement.integer(0) : 0;
}

}  // namespace sonde::store
