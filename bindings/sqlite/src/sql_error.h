// SPDX-License-Identifier: MIT
// Errors on their way to SQLite: thrown with SQLite's result code and a text, and caught where
// SQLite calls us. No exception leaves the extension.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "sqlite_api.h"

namespace polarquant::sqlite {

class SqlError : public std::exception {
 public:
  SqlError(int code, std::string text) : code_(code), text_(std::move(text)) {}

  int code() const { return code_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  int code_;
  std::string text_;
};

/// Stored bytes that are not what was written. The text names the shadow table and the row.
inline SqlError damaged(const std::string& text) { return {SQLITE_CORRUPT_VTAB, text}; }

/// What is wrong with something that a user wrote.
inline SqlError refused(const std::string& text) { return {SQLITE_ERROR, text}; }

/// What a call into SQLite on this connection failed with.
inline SqlError connection_error(sqlite3* db, int code) { return {code, sqlite3_errmsg(db)}; }

/// Runs `call`, which returns nothing, and returns SQLite's code. *text becomes the text of a
/// failure, to be freed by sqlite3_free; what it was before is freed.
template <typename Call>
int catch_errors(char** text, const Call& call) noexcept {
  const auto fail = [text](int code, const char* what) {
    sqlite3_free(*text);
    *text = sqlite3_mprintf("%s", what);
    return code;
  };
  try {
    call();
    return SQLITE_OK;
  } catch (const SqlError& error) {
    return fail(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  } catch (const std::exception& error) {
    return fail(SQLITE_INTERNAL, error.what());
  }
}

}  // namespace polarquant::sqlite
