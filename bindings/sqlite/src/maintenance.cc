// SPDX-License-Identifier: MIT
// The commands that look at a whole table: integrity-check and rebuild.
#include "polar_table.h"
#include "sql_error.h"

namespace polarquant::sqlite {

void PolarTable::check_integrity() {
  flush();
  // What memory holds may be right where the tables no longer are.
  rows_.reset();
  rows().verify();
  const auto wrong = [this](int64_t id, const std::string& what) {
    return damaged(name() + "_rows, row " + std::to_string(id) + ": " + what);
  };
  int64_t count = 0;
  Use use(tables_.statements(), tables_.queries().read_slots);
  for (; use.next(); ++count) {
    const int64_t id = use.integer(0);
    const int64_t slot = use.integer(1);
    if (slot < 0 || slot >= rows_->count()) throw wrong(id, "its slot is " + std::to_string(slot));
    if (rows_->id(slot) != id)
      throw wrong(id, "its slot is that of row " + std::to_string(rows_->id(slot)));
  }
  // Ids of rows differ, so those of slots do, and each slot's is there.
  if (count != rows_->count())
    throw damaged(name() + "_rows: " + std::to_string(count) + " rows, of which " +
                  std::to_string(rows_->count()) + " are stored");
  if (!definition_.has_auxiliary()) return;
  Use lost(tables_.statements(), tables_.queries().read_lost_auxiliary);
  if (lost.next())
    throw damaged(name() + "_auxiliary: row " + std::to_string(lost.integer(0)) +
                  " is here or in " + name() + "_rows alone");
}

void PolarTable::rebuild() {
  flush();  // what is new is whole
  use_codec(read_state().codec_version);
  version_ = 0;
  change([&] {
    rows_->salvage([this](int64_t id) {
      return Use(tables_.statements(), tables_.queries().read_slot).with(id).next();
    });
    Use(tables_.statements(), tables_.queries().forget_slots).run();
    for (int64_t slot = 0; slot < rows_->count(); ++slot)
      Use(tables_.statements(), tables_.queries().write_slot)
          .with(slot)
          .with(rows_->id(slot))
          .run();
    Use(tables_.statements(), tables_.queries().delete_lost_rows).run();
    if (definition_.has_auxiliary()) {
      Use(tables_.statements(), tables_.queries().delete_lost_auxiliary).run();
      Use(tables_.statements(), tables_.queries().add_lost_auxiliary).run();
    }
    write_state();
  });
}

}  // namespace polarquant::sqlite
