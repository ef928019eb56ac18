// SPDX-License-Identifier: MIT
#include "statement.h"

#include <new>
#include <utility>

#include "sql_error.h"

namespace polarquant::sqlite {

Statement::Statement(sqlite3* db, const std::string& sql) {
  const int code = sqlite3_prepare_v3(db, sql.c_str(), static_cast<int>(sql.size() + 1),
                                      SQLITE_PREPARE_PERSISTENT, &statement_, nullptr);
  if (code != SQLITE_OK) throw connection_error(db, code);
}
Statement::~Statement() { sqlite3_finalize(statement_); }

std::unique_ptr<Statement> StatementCache::take(const std::string& sql) {
  const auto found = idle_.find(sql);
  if (found == idle_.end() || found->second.empty()) return std::make_unique<Statement>(db_, sql);
  std::unique_ptr<Statement> statement = std::move(found->second.back());
  found->second.pop_back();
  return statement;
}
void StatementCache::give_back(const std::string& sql,
                               std::unique_ptr<Statement> statement) noexcept {
  try {
    if (idle_.size() >= kMostTexts && !idle_.contains(sql)) idle_.clear();
    idle_[sql].push_back(std::move(statement));
  } catch (const std::bad_alloc&) {
    // It is prepared again when it is needed.
  }
}

Use::~Use() {
  reset();
  cache_.give_back(sql_, std::move(statement_));
}
void Use::reset() noexcept {
  // What failed was thrown where it did.
  sqlite3_reset(statement_->get());
  sqlite3_clear_bindings(statement_->get());
  bound_ = 0;
}

Use& Use::with(int64_t value) {
  check(sqlite3_bind_int64(statement_->get(), ++bound_, value));
  return *this;
}
Use& Use::with(std::span<const uint8_t> bytes) {
  // A null pointer would be NULL.
  const void* data = bytes.empty() ? "" : static_cast<const void*>(bytes.data());
  check(sqlite3_bind_blob64(statement_->get(), ++bound_, data, bytes.size(), SQLITE_STATIC));
  return *this;
}
Use& Use::with(std::string_view text) {
  check(sqlite3_bind_text64(statement_->get(), ++bound_, text.data(), text.size(), SQLITE_STATIC,
                            SQLITE_UTF8));
  return *this;
}
Use& Use::with(sqlite3_value* value) {
  check(sqlite3_bind_value(statement_->get(), ++bound_, value));
  return *this;
}

Use& Use::with_null() {
  check(sqlite3_bind_null(statement_->get(), ++bound_));
  return *this;
}
Use& Use::with_pointer(void* pointer, const char* type) {
  check(sqlite3_bind_pointer(statement_->get(), ++bound_, pointer, type, nullptr));
  return *this;
}

bool Use::next() {
  const int code = sqlite3_step(statement_->get());
  if (code == SQLITE_DONE) return false;
  if (code != SQLITE_ROW) check(code);
  return true;
}
void Use::run() {
  while (next()) {
  }
}

int64_t Use::integer(int column) const {
  if (sqlite3_column_type(statement_->get(), column) == SQLITE_NULL) return -1;
  return sqlite3_column_int64(statement_->get(), column);
}
std::span<const uint8_t> Use::bytes(int column) const {
  const auto* data = static_cast<const uint8_t*>(sqlite3_column_blob(statement_->get(), column));
  const int size = sqlite3_column_bytes(statement_->get(), column);
  if (data == nullptr && size > 0) throw std::bad_alloc();
  return {data, static_cast<size_t>(size)};
}

void Use::check(int code) const {
  if (code != SQLITE_OK) throw connection_error(cache_.db(), code);
}

std::string quoted(std::string_view name) {
  std::string text(1, '"');
  for (const char c : name) text.append(c == '"' ? 2 : 1, c);
  return text + '"';
}

}  // namespace polarquant::sqlite
