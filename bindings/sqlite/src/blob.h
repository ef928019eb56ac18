// SPDX-License-Identifier: MIT
// A column of blobs of a shadow table, read record by record straight into memory: by a statement
// they would be copied twice.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "shadow_tables.h"
#include "sql_error.h"

namespace polarquant::sqlite {

class Blob {
 public:
  Blob(ShadowTables& tables, std::string suffix, std::string column)
      : tables_(tables), suffix_(std::move(suffix)), column_(std::move(column)) {}
  ~Blob() { sqlite3_blob_close(blob_); }
  Blob(const Blob&) = delete;
  Blob& operator=(const Blob&) = delete;

  /// Fills `bytes` by the blob of a record that is there. False where it is of another size.
  bool read(int64_t rowid, std::span<uint8_t> bytes) {
    sqlite3* db = tables_.statements().db();
    const int opened = blob_ != nullptr
                           ? sqlite3_blob_reopen(blob_, rowid)
                           : sqlite3_blob_open(db, tables_.schema().c_str(),
                                               (tables_.table() + "_" + suffix_).c_str(),
                                               column_.c_str(), rowid, 0, &blob_);
    // What is no blob and no text cannot be opened.
    if (opened == SQLITE_ERROR) return false;
    if (opened != SQLITE_OK) throw connection_error(db, opened);
    if (static_cast<size_t>(sqlite3_blob_bytes(blob_)) != bytes.size()) return false;
    const int code = sqlite3_blob_read(blob_, bytes.data(), static_cast<int>(bytes.size()), 0);
    if (code != SQLITE_OK) throw connection_error(db, code);
    return true;
  }

 private:
  ShadowTables& tables_;
  std::string suffix_;
  std::string column_;
  sqlite3_blob* blob_ = nullptr;
};

}  // namespace polarquant::sqlite
