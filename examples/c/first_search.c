/* SPDX-License-Identifier: MIT */
/* Rows with ids are added, searched, removed, saved and loaded. */
#include <math.h>
#include <polarquant/polarquant.h>
#include <stdio.h>
#include <stdlib.h>

static void check(polar_status status) {
  char text[500];
  if (status == POLAR_OK) return;
  polar_last_error(text, sizeof text);
  fprintf(stderr, "%s: %s\n", polar_status_name(status), text);
  exit(1);
}

static void search(const polar_index* index, const float* query, int64_t k) {
  float scores[3];
  int64_t ids[3];
  check(polar_index_search(index, 1, query, k, NULL, scores, ids));
  for (int64_t i = 0; i < k; ++i) printf("%lld %.3f\n", (long long)ids[i], scores[i]);
}

int main(void) {
  static float rows[1000 * 64];
  static int64_t ids[1000];
  const int64_t removed = 142;
  polar_index* index = NULL;
  polar_index* loaded = NULL;
  for (int i = 0; i < 1000 * 64; ++i) rows[i] = (float)sin((i / 64 + 1) * (i % 64 + 1));
  for (int i = 0; i < 1000; ++i) ids[i] = 100 + i;

  check(polar_index_create("Polar4", 64, POLAR_METRIC_COSINE, &index));
  check(polar_index_add_with_ids(index, 1000, rows, ids, NULL));
  search(index, rows + 42 * 64, 3);
  check(polar_index_remove(index, 1, &removed, NULL));
  search(index, rows + 42 * 64, 1);

  check(polar_index_save(index, "first.polar", NULL));
  check(polar_index_load("first.polar", NULL, &loaded));
  printf("rows %lld\n", (long long)polar_index_ntotal(loaded));
  polar_index_destroy(loaded);
  polar_index_destroy(index);
  return 0;
}
