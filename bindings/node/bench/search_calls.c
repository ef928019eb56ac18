/* SPDX-License-Identifier: MIT */
/* Nanoseconds of one search by the C functions, for overhead.mjs to compare with: the median of
 * rounds. usage: search_calls ROWS DIM K ROUNDS */
#define _POSIX_C_SOURCE 199309L
#include <math.h>
#include <polarquant/polarquant.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 2000 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int compare(const void* a, const void* b) {
  double first = *(const double*)a, second = *(const double*)b;
  return (first > second) - (first < second);
}

int main(int argc, char** argv) {
  const int rows = argc > 1 ? atoi(argv[1]) : 1, dim = argc > 2 ? atoi(argv[2]) : 64;
  const int k = argc > 3 ? atoi(argv[3]) : 3, rounds = argc > 4 ? atoi(argv[4]) : 15;
  float* x = malloc(sizeof *x * (size_t)rows * (size_t)dim);
  float* scores = malloc(sizeof *scores * (size_t)k);
  int64_t* ids = malloc(sizeof *ids * (size_t)k);
  double* times = malloc(sizeof *times * (size_t)rounds);
  polar_index* index;
  int round, i;
  for (i = 0; i < rows * dim; ++i) x[i] = (float)sin((i / dim + 1.0) * (i % dim + 1.0));
  if (polar_index_create("Polar4", dim, POLAR_METRIC_COSINE, &index) != POLAR_OK ||
      polar_index_train(index, rows, x, NULL) != POLAR_OK ||
      polar_index_add(index, rows, x, NULL) != POLAR_OK) {
    return 1;
  }
  for (round = 0; round < rounds; ++round) {
    const double begin = now();
    for (i = 0; i < CALLS; ++i) {
      if (polar_index_search(index, 1, x, k, NULL, scores, ids) != POLAR_OK) return 1;
    }
    times[round] = (now() - begin) / CALLS;
  }
  qsort(times, (size_t)rounds, sizeof *times, compare);
  printf("%.0f\n", times[rounds / 2]);
  polar_index_destroy(index);
  return 0;
}
