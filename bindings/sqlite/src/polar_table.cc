// SPDX-License-Identifier: MIT
#include "polar_table.h"

#include <algorithm>
#include <utility>

#include "code_pages.h"
#include "pending_rows.h"
#include "sql_error.h"
#include "stored_format.h"
#include "vector_value.h"

namespace polarquant::sqlite {
namespace {

/// Rows that come are coded when they are so many, by all threads.
constexpr size_t kMostNewRows = 4096;

int64_t random_version() {
  int64_t version = 0;
  sqlite3_randomness(sizeof version, &version);
  return (version & INT64_MAX) | 1;
}

Codec load_codec(std::span<const uint8_t> state) {
  polar_codec* codec = nullptr;
  check(polar_codec_load_state(state.data(), state.size(), &codec));
  return Codec(codec);
}

std::vector<uint8_t> state_bytes(const polar_codec* codec) {
  size_t needed = 0;
  check(polar_codec_save_state(codec, nullptr, 0, &needed));
  std::vector<uint8_t> bytes(needed);
  check(polar_codec_save_state(codec, bytes.data(), bytes.size(), &needed));
  return bytes;
}

}  // namespace

PolarTable::PolarTable(sqlite3* db, std::string schema, std::string table,
                       TableDefinition definition, SharedMemoryLimit limit)
    : db_(db),
      definition_(std::move(definition)),
      limit_(std::move(limit)),
      tables_(db, std::move(schema), std::move(table), definition_) {
  const Codec codec = make_codec(definition_.code, definition_.dim, definition_.metric);
  size_t bytes = 0;
  check(polar_blocks_bytes(codec.get(), 0, &bytes));  // refuses codes that have no blocks
}

void PolarTable::create() { tables_.create(); }

void PolarTable::require_whole() const {
  if (broken_since_)
    throw refused("a change of table " + name() + " failed half-way; it must be rolled back first");
}

// ---- What memory holds ----

StoredRows& PolarTable::rows() {
  flush();
  refresh();
  return *rows_;
}
StoredRows& PolarTable::current_rows() {
  require_whole();
  if (!is_current_) refresh();
  is_current_ = true;
  return *rows_;
}

PolarTable::State PolarTable::read_state() {
  Use use(tables_.statements(), tables_.queries().read_state);
  if (!use.next()) throw damaged(name() + "_state: its row is not there");
  if (use.integer(0) != kFormat)
    throw damaged(name() + "_state: format " + std::to_string(use.integer(0)) +
                  ", where this library reads " + std::to_string(kFormat));
  return {use.integer(1), use.integer(2), use.integer(3)};
}
void PolarTable::use_codec(int64_t codec_version) {
  if (rows_ != nullptr && codec_version == codec_version_) return;
  version_ = 0;
  rows_ = codec_version == 0 ? std::make_unique<PendingRows>(tables_, definition_)
                             : stored_codec_rows();
  codec_version_ = codec_version;
}
void PolarTable::refresh() {
  const State state = read_state();
  if (rows_ != nullptr && state.version == version_) return;
  if (state.rows < 0 || state.rows > int64_t{1} << 40)
    throw damaged(name() + "_state: " + std::to_string(state.rows) + " rows");
  use_codec(state.codec_version);
  version_ = 0;
  rows_->refresh(state.rows);
  version_ = state.version;
}
std::unique_ptr<StoredRows> PolarTable::stored_codec_rows() {
  Use use(tables_.statements(), tables_.queries().read_codec);
  if (!use.next()) throw damaged(name() + "_state: its row is not there");
  if (use.bytes(0).empty()) throw damaged(name() + "_state: its codec is not there");
  Codec codec = load_codec(use.bytes(0));
  const polar_codec_info info = codec_info(codec.get());
  const Codec declared = make_codec(definition_.code, definition_.dim, definition_.metric);
  if (info.dim != definition_.dim || info.metric != definition_.metric ||
      codec_spec(codec.get()) != codec_spec(declared.get()))
    throw damaged(name() + "_state: its codec is not that of the table's declaration");
  return std::make_unique<CodePages>(tables_, std::move(codec), *limit_);
}

// ---- Writing ----

void PolarTable::append_new() {
  if (new_ids_.empty()) return;
  change([&] {
    rows_->append(new_ids_, new_vectors_);
    new_ids_.clear();
    new_vectors_.clear();
    if (codec_version_ == 0 && rows_->count() >= rows_to_learn()) learn();
  });
  limit_changes();
}
void PolarTable::flush() {
  require_whole();
  append_new();
  if (rows_ != nullptr && rows_->has_changes()) change([&] { write_state(); });
}
void PolarTable::write_state() {
  const int64_t version = random_version();
  rows_->write(version);
  Use(tables_.statements(), tables_.queries().write_state).with(version).with(rows_->count()).run();
  version_ = version;
}

int64_t PolarTable::rows_to_learn() const {
  const Codec codec = make_codec(definition_.code, definition_.dim, definition_.metric);
  if (codec_info(codec.get()).is_trained != 0) return kRowsToLearn;
  return std::max<int64_t>(kRowsToLearn, int64_t{10} * definition_.dim);
}
void PolarTable::learn() {
  const auto& pending = dynamic_cast<const PendingRows&>(*rows_);
  Codec codec = make_codec(definition_.code, definition_.dim, definition_.metric);
  check(polar_codec_train(codec.get(), pending.count(), pending.vectors().data(), nullptr));
  const std::vector<uint8_t> state = state_bytes(codec.get());
  auto pages = std::make_unique<CodePages>(tables_, std::move(codec), *limit_);
  pages->append(pending.ids(), pending.vectors());
  Use(tables_.statements(), tables_.queries().delete_all_pending).run();
  const int64_t version = random_version();
  Use(tables_.statements(), tables_.queries().write_codec).with(version).with(state).run();
  rows_ = std::move(pages);
  codec_version_ = version;
}
void PolarTable::train() {
  if (current_rows(); codec_version_ != 0)
    throw refused("train: the codec has learned already, and the vectors are not kept");
  flush();
  if (rows_->count() == 0) throw refused("train: there are no rows to learn from");
  change([&] {
    learn();
    write_state();
  });
}

void PolarTable::sync() { flush(); }

void PolarTable::rollback() noexcept {
  new_ids_.clear();
  new_vectors_.clear();
  if (rows_ != nullptr) rows_->forget_changes();
  version_ = 0;
  is_current_ = false;
  broken_since_.reset();
  savepoint_ = -1;
  ++rollbacks_;
}
void PolarTable::open_savepoint(int savepoint) {
  // A rollback to it takes back what comes after it alone.
  flush();
  savepoint_ = savepoint;
}
void PolarTable::roll_back_to(int savepoint) noexcept {
  const bool is_whole = !broken_since_ || *broken_since_ >= savepoint;
  const std::optional<int> broken = broken_since_;
  rollback();
  if (!is_whole) broken_since_ = broken;
  savepoint_ = savepoint;
}

// ---- Rows ----

std::optional<int64_t> PolarTable::find_slot(int64_t id) {
  Use use(tables_.statements(), tables_.queries().read_slot);
  if (!use.with(id).next()) return std::nullopt;
  const int64_t slot = use.integer(0);
  if (slot < 0 || slot >= rows_->count() + std::ssize(new_ids_))
    throw damaged(name() + "_rows, row " + std::to_string(id) + ": its slot is " +
                  std::to_string(slot));
  return slot;
}
int64_t PolarTable::slot(int64_t id) {
  const std::optional<int64_t> slot = find_slot(id);
  if (!slot) throw damaged(name() + "_rows: row " + std::to_string(id) + " is not there");
  return *slot;
}

SqlError PolarTable::id_is_taken() const {
  return {SQLITE_CONSTRAINT_ROWID, "UNIQUE constraint failed: " + name() + ".rowid"};
}

int64_t PolarTable::insert(std::optional<int64_t> id, std::span<sqlite3_value*> values,
                           bool replace) {
  current_rows();
  const auto dim = static_cast<size_t>(definition_.dim);
  const std::vector<float> vector =
      read_vector(db_, values[definition_.vector_column],
                  definition_.columns[definition_.vector_column].name, dim);
  if (id && find_slot(*id)) {
    if (!replace) throw id_is_taken();
    update(*id, *id, values, false);
    return *id;
  }
  if (new_ids_.size() >= kMostNewRows) append_new();
  change([&] {
    Use row(tables_.statements(), tables_.queries().insert_row);
    if (id) {
      row.with(*id);
    } else {
      row.with_null();
    }
    row.with(rows_->count() + std::ssize(new_ids_));
    for (size_t i = 0; i < values.size(); ++i)
      if (definition_.columns[i].kind == ColumnKind::metadata) row.with(values[i]);
    row.run();
    if (!id) id = sqlite3_last_insert_rowid(db_);
    if (definition_.has_auxiliary()) {
      Use auxiliary(tables_.statements(), tables_.queries().write_auxiliary);
      auxiliary.with(*id);
      for (size_t i = 0; i < values.size(); ++i)
        if (definition_.columns[i].kind == ColumnKind::auxiliary) auxiliary.with(values[i]);
      auxiliary.run();
    }
    new_vectors_.insert(new_vectors_.end(), vector.begin(), vector.end());
    new_ids_.push_back(*id);
  });
  return *id;
}

void PolarTable::update(int64_t id, int64_t new_id, std::span<sqlite3_value*> values,
                        bool replace) {
  current_rows();
  slot(id);
  sqlite3_value* value = values[definition_.vector_column];
  std::vector<float> vector;
  if (sqlite3_value_nochange(value) == 0)
    vector = read_vector(db_, value, definition_.columns[definition_.vector_column].name,
                         static_cast<size_t>(definition_.dim));
  if (new_id != id && find_slot(new_id)) {
    if (!replace) throw id_is_taken();
    remove(new_id);
  }
  append_new();
  change([&] {
    const int64_t at = slot(id);
    if (!vector.empty()) rows_->overwrite(at, vector);
    if (new_id != id) rows_->set_id(at, new_id);
    update_columns(id, new_id, values);
  });
  limit_changes();
}
void PolarTable::update_columns(int64_t id, int64_t new_id, std::span<sqlite3_value*> values) {
  Use row(tables_.statements(), tables_.queries().update_row);
  row.with(new_id);
  for (size_t i = 0; i < values.size(); ++i)
    if (definition_.columns[i].kind == ColumnKind::metadata) row.with(values[i]);
  row.with(id).run();
  if (new_id != id && definition_.has_auxiliary())
    Use(tables_.statements(), tables_.queries().move_auxiliary).with(new_id).with(id).run();
  for (size_t i = 0; i < values.size(); ++i) {
    const Column& column = definition_.columns[i];
    // A large text that stays is not read either.
    if (column.kind != ColumnKind::auxiliary || sqlite3_value_nochange(values[i]) != 0) continue;
    Use(tables_.statements(), "UPDATE " + tables_.name("auxiliary") + " SET " +
                                  quoted(column.name) + " = ? WHERE polar_id = ?")
        .with(values[i])
        .with(new_id)
        .run();
  }
}

void PolarTable::remove(int64_t id) {
  current_rows();
  append_new();
  const int64_t at = slot(id);
  const int64_t last = rows_->count() - 1;
  const int64_t last_id = rows_->id(last);
  if (rows_->id(at) != id)
    throw damaged(name() + "_rows, row " + std::to_string(id) + ": its slot is that of row " +
                  std::to_string(rows_->id(at)));
  change([&] {
    rows_->take_out(at);
    Use(tables_.statements(), tables_.queries().delete_row).with(id).run();
    if (definition_.has_auxiliary())
      Use(tables_.statements(), tables_.queries().delete_auxiliary).with(id).run();
    if (last_id != id)
      Use(tables_.statements(), tables_.queries().write_slot).with(at).with(last_id).run();
  });
  limit_changes();
}

}  // namespace polarquant::sqlite
