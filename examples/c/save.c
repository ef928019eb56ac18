/* SPDX-License-Identifier: MIT */
/* Saves an index to a file and opens it there, memory-mapped. */
#include <polarquant/polarquant.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 1000
#define DIM 384
#define K 3

static float rows[ROWS * DIM];

/* Ends the program with the library's text unless the call worked. */
static void check(polar_status status) {
  char text[256];
  if (status == POLAR_OK) return;
  polar_last_error(text, sizeof text);
  fprintf(stderr, "%s\n", text);
  exit(1);
}

int main(void) {
  const char* path = "vectors.polarquant";
  polar_index *index, *mapped;
  polar_load_options options;
  float scores[K];
  int64_t ids[K];
  int i;

  /* Stands in for your embeddings. */
  for (i = 0; i < ROWS * DIM; ++i) rows[i] = (float)rand() / (float)RAND_MAX - 0.5f;

  check(polar_index_create("Polar2", DIM, POLAR_METRIC_COSINE, &index));
  check(polar_index_add(index, ROWS, rows, NULL));
  check(polar_index_save(index, path, NULL));
  polar_index_destroy(index);

  polar_load_options_init(&options);
  options.memory_map = 1; /* the rows stay in the file */
  check(polar_index_load(path, &options, &mapped));
  check(polar_index_verify(mapped)); /* optional: searches verify what they read */

  /* The nearest to row 7 is row 7. */
  check(polar_index_search(mapped, 1, rows + 7 * DIM, K, NULL, scores, ids));
  for (i = 0; i < K; ++i) printf("row %d, cosine about %.2f\n", (int)ids[i], scores[i]);

  polar_index_destroy(mapped);
  remove(path);
  return 0;
}
