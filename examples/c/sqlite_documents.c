/* SPDX-License-Identifier: MIT */
/* Keeps documents with vectors in an SQLite database. Link with -lsqlite3; the first argument is
 * the extension, polarquant_sqlite. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#define DIM 8

static void check(sqlite3* db, int code) {
  if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
  fprintf(stderr, "%s\n", sqlite3_errmsg(db));
  exit(1);
}

int main(int argc, char** argv) {
  sqlite3* db;
  sqlite3_stmt* statement;
  float vector[DIM];
  int row, i;
  if (argc != 2) return 2;
  check(NULL, sqlite3_open(":memory:", &db));
  check(db, sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL));
  check(db, sqlite3_load_extension(db, argv[1], NULL, NULL));
  check(db,
        sqlite3_exec(db, "CREATE VIRTUAL TABLE docs USING polar(embedding float[8], year INTEGER)",
                     NULL, NULL, NULL));

  check(db, sqlite3_exec(db, "BEGIN", NULL, NULL, NULL));
  check(db, sqlite3_prepare_v2(db, "INSERT INTO docs(rowid, embedding, year) VALUES (?, ?, ?)", -1,
                               &statement, NULL));
  for (row = 0; row < 1000; ++row) {
    for (i = 0; i < DIM; ++i) vector[i] = (float)((row * (i + 3)) % 101) - 50;
    check(db, sqlite3_bind_int(statement, 1, row));
    check(db, sqlite3_bind_blob(statement, 2, vector, sizeof vector, SQLITE_TRANSIENT));
    check(db, sqlite3_bind_int(statement, 3, 2000 + row % 25));
    check(db, sqlite3_step(statement));
    check(db, sqlite3_reset(statement));
  }
  check(db, sqlite3_finalize(statement));
  check(db, sqlite3_exec(db, "COMMIT", NULL, NULL, NULL));

  /* The nearest to the last row is the last row. */
  check(db,
        sqlite3_prepare_v2(db,
                           "SELECT rowid, distance FROM docs"
                           " WHERE embedding MATCH ? AND k = 3 AND year = 2024 ORDER BY distance",
                           -1, &statement, NULL));
  check(db, sqlite3_bind_blob(statement, 1, vector, sizeof vector, SQLITE_TRANSIENT));
  while (sqlite3_step(statement) == SQLITE_ROW)
    printf("row %d, distance %.2f\n", sqlite3_column_int(statement, 0),
           sqlite3_column_double(statement, 1));
  check(db, sqlite3_finalize(statement));
  return sqlite3_close(db) == SQLITE_OK ? 0 : 1;
}
