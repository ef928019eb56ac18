/* SPDX-License-Identifier: MIT */
/* Does one kind of work CALLS times, for instructions to be counted: what comes before is the same
 * for each number. Rows are encoded once and repeated, TIMES times. usage: searches KIND CALLS
 * TIMES; KIND is one, batch, dense, every-row or encode */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "polarquant/polarquant.h"

enum { DIM = 384, ROWS = 512, ENCODED = 64, QUERIES = 256, K = 10 };

static void check(polar_status status) {
  char text[512];
  if (status == POLAR_OK) return;
  polar_last_error(text, sizeof text);
  fprintf(stderr, "%s\n", text);
  exit(1);
}

/* Sums of three even numbers of (-1, 1), from the same seed. */
static void fill(float* to, int64_t count, uint32_t seed) {
  int64_t i;
  int part;
  for (i = 0; i < count; ++i) {
    to[i] = 0;
    for (part = 0; part < 3; ++part) {
      seed = seed * 1664525u + 1013904223u;
      to[i] += (float)(int32_t)seed / 2147483648.0f;
    }
  }
}

int main(int argc, char** argv) {
  static float rows[ROWS * DIM];
  static float queries[QUERIES * DIM];
  static float scores[QUERIES * K];
  static int64_t ids[QUERIES * K];
  const char* const kind = argc == 4 ? argv[1] : "";
  const int calls = argc == 4 ? atoi(argv[2]) : 0;
  const int times = argc == 4 ? atoi(argv[3]) : 1;
  const int64_t nq = strcmp(kind, "one") == 0 || strcmp(kind, "every-row") == 0 ? 1 : QUERIES;
  polar_codec* codec = NULL;
  polar_search_options options;
  uint8_t* codes;
  polar_blocks blocks = {0, NULL, 0};
  size_t bytes = 0, encoded_bytes = 0;
  int call, time;
  fill(rows, (int64_t)ROWS * DIM, 1);
  fill(queries, (int64_t)QUERIES * DIM, 2);
  polar_search_options_init(&options);
  options.num_threads = 1;
  if (strcmp(kind, "dense") == 0 || strcmp(kind, "every-row") == 0) options.exactness = INFINITY;
  check(polar_codec_create("Polar4", DIM, POLAR_METRIC_INNER_PRODUCT, NULL, &codec));
  check(polar_codec_encoded_bytes(codec, ROWS, &bytes));
  codes = malloc(bytes);
  if (codes == NULL) return 1;
  check(polar_codec_encode(codec, ROWS, rows, NULL, codes, bytes));
  check(polar_blocks_bytes(codec, (int64_t)ROWS * times, &blocks.bytes));
  blocks.data = aligned_alloc(64, (blocks.bytes + 63) / 64 * 64);
  if (blocks.data == NULL) return 1;
  for (time = 0; time < times; ++time)
    check(polar_blocks_append(codec, &blocks, ROWS, codes, bytes));
  check(polar_codec_encoded_bytes(codec, ENCODED, &encoded_bytes));
  for (call = 0; call < calls; ++call) {
    if (strcmp(kind, "encode") == 0)
      check(polar_codec_encode(codec, ENCODED, rows, NULL, codes, encoded_bytes));
    else
      check(polar_blocks_search(codec, &blocks, nq, queries, K, &options, scores, ids));
  }
  free(blocks.data);
  free(codes);
  polar_codec_destroy(codec);
  return 0;
}
