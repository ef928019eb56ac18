/* SPDX-License-Identifier: MIT */
/* A column of vectors, as a database would keep it: codes in blocks, keys beside them, filters,
 * updates, deletes, and a codec state that is stored once. */
#include <polarquant/polarquant.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 5000
#define DIM 256
#define K 3

/* What the column keeps. The first three are written to disk, the codec is made from the state. */
typedef struct {
  uint8_t* state; /* of the codec; codes cannot be read without it */
  size_t state_bytes;
  polar_blocks blocks; /* the rows, and what is allocated for them */
  int64_t* keys;       /* primary key of each row */
  polar_codec* codec;
} vector_column;

static float vectors[ROWS * DIM];

/* Ends the program with the library's text unless the call worked. */
static void check(polar_status status) {
  char text[256];
  if (status == POLAR_OK) return;
  polar_last_error(text, sizeof text);
  fprintf(stderr, "%s\n", text);
  exit(1);
}

static void* allocate(size_t bytes) {
  /* Blocks begin on a 64-byte boundary; sizes are rounded up to one. */
  void* memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (memory == NULL) exit(1);
  return memory;
}

/* CREATE: one codec for the column, trained on a sample, its state stored. */
static void create_column(vector_column* column, int64_t sample_rows, const float* sample) {
  memset(column, 0, sizeof *column);
  check(polar_codec_create("Polar4", DIM, POLAR_METRIC_COSINE, NULL, &column->codec));
  /* Optional: learns the mean. */
  check(polar_codec_train(column->codec, sample_rows, sample, NULL));
  check(polar_codec_save_state(column->codec, NULL, 0, &column->state_bytes)); /* says the size */
  column->state = allocate(column->state_bytes);
  check(polar_codec_save_state(column->codec, column->state, column->state_bytes,
                               &column->state_bytes));
}

/* INSERT: vectors become codes, which are packed after the rows that are there. */
static void insert(vector_column* column, int64_t n, const float* x, const int64_t* keys) {
  const int64_t rows = column->blocks.rows;
  polar_blocks grown = {rows, NULL, 0};
  size_t codes_bytes, held_bytes;
  uint8_t* codes;
  int64_t* all_keys;

  check(polar_codec_encoded_bytes(column->codec, n, &codes_bytes));
  codes = allocate(codes_bytes);
  check(polar_codec_encode(column->codec, n, x, NULL, codes, codes_bytes));

  check(polar_blocks_bytes(column->codec, rows, &held_bytes));
  check(polar_blocks_bytes(column->codec, rows + n, &grown.bytes));
  grown.data = allocate(grown.bytes);
  if (rows > 0) memcpy(grown.data, column->blocks.data, held_bytes);
  check(polar_blocks_append(column->codec, &grown, n, codes, codes_bytes));

  all_keys = allocate((size_t)(rows + n) * sizeof *all_keys);
  if (rows > 0) memcpy(all_keys, column->keys, (size_t)rows * sizeof *all_keys);
  memcpy(all_keys + rows, keys, (size_t)n * sizeof *all_keys);

  free(codes);
  free(column->blocks.data);
  free(column->keys);
  column->blocks = grown;
  column->keys = all_keys;
}

/* UPDATE: another vector in the place of a row. */
static void update(vector_column* column, int64_t row, const float* x) {
  uint8_t code[1024];
  size_t code_bytes;
  check(polar_codec_encoded_bytes(column->codec, 1, &code_bytes));
  if (code_bytes > sizeof code) exit(1);
  check(polar_codec_encode(column->codec, 1, x, NULL, code, code_bytes));
  check(polar_blocks_overwrite(column->codec, &column->blocks, row, code, code_bytes));
}

/* DELETE: the last row takes the place of the one that goes, in the blocks and among the keys. */
static void delete_row(vector_column* column, int64_t row) {
  check(polar_blocks_swap_remove(column->codec, &column->blocks, row));
  column->keys[row] = column->keys[column->blocks.rows]; /* of what was the last row */
}

/* SELECT … WHERE bit … ORDER BY similarity LIMIT k: bit r of `allowed` says whether row r may be
 * returned; NULL allows all. */
static void select_nearest(const vector_column* column, const float* query,
                           const uint64_t* allowed) {
  polar_search_options options;
  polar_filter filter;
  float scores[K];
  int64_t rows[K];
  int i;

  polar_search_options_init(&options);
  if (allowed != NULL) {
    polar_filter_init(&filter);
    filter.kind = POLAR_FILTER_BITSET;
    filter.bitset.words = allowed;
    filter.bitset.num_bits = column->blocks.rows;
    options.filter = &filter;
  }
  check(polar_blocks_search(column->codec, &column->blocks, 1, query, K, &options, scores, rows));
  for (i = 0; i < K && rows[i] >= 0; ++i)
    printf("key %d, cosine about %.2f\n", (int)column->keys[rows[i]], scores[i]);
}

int main(void) {
  vector_column column;
  static int64_t keys[ROWS];
  static uint64_t even[(ROWS + 63) / 64];
  polar_codec* reopened;
  int i;

  /* Stands in for your embeddings. */
  for (i = 0; i < ROWS * DIM; ++i) vectors[i] = (float)rand() / (float)RAND_MAX - 0.5f;
  for (i = 0; i < ROWS; ++i) keys[i] = 10000 + i;

  create_column(&column, 2000, vectors);
  insert(&column, 4000, vectors, keys);
  insert(&column, 1000, vectors + 4000 * DIM, keys + 4000);
  printf("%d rows, %.0f bytes a row instead of %d\n", (int)column.blocks.rows,
         (double)column.blocks.bytes / (double)column.blocks.rows, (int)(DIM * sizeof(float)));
  select_nearest(&column, vectors + 7 * DIM, NULL);

  /* Only rows with even numbers. */
  for (i = 0; i < ROWS; i += 2) even[i / 64] |= (uint64_t)1 << (i % 64);
  printf("even rows:\n");
  select_nearest(&column, vectors + 7 * DIM, even);

  update(&column, 8, vectors + 7 * DIM); /* row 8 is now near row 7's vector, too */
  delete_row(&column, 7);
  printf("row 8 updated, row 7 deleted:\n");
  select_nearest(&column, vectors + 7 * DIM, NULL);

  /* A restart: the stored state gives the codec back, and the codes mean what they did. */
  check(polar_codec_load_state(column.state, column.state_bytes, &reopened));
  check(polar_codec_check_same_state(column.codec, reopened));
  polar_codec_destroy(column.codec);
  column.codec = reopened;
  printf("after a restart:\n");
  select_nearest(&column, vectors + 7 * DIM, NULL);

  polar_codec_destroy(column.codec);
  free(column.state);
  free(column.blocks.data);
  free(column.keys);
  return 0;
}
