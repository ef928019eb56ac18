// SPDX-License-Identifier: MIT

package main

/*
#include <polarquant/polarquant.h>
#include <stdlib.h>

// An index of n rows; NULL after a failure.
static polar_index* make_index(const char* description, int32_t dim, int64_t n, const float* x) {
  polar_index* index = NULL;
  if (polar_index_create(description, dim, POLAR_METRIC_L2, &index) != POLAR_OK) return NULL;
  if (polar_index_train(index, n, x, NULL) == POLAR_OK &&
      polar_index_add(index, n, x, NULL) == POLAR_OK)
    return index;
  polar_index_destroy(index);
  return NULL;
}

// Searches that many times, with options of its own each time where with_options is set.
static polar_status search(const polar_index* index, const float* q, int64_t k, int64_t times,
                           int with_options, float* scores, int64_t* ids) {
  int64_t i;
  for (i = 0; i < times; ++i) {
    polar_search_options options;
    const polar_search_options* given = NULL;
    polar_status status;
    if (with_options) {
      polar_search_options_init(&options);
      options.num_threads = 1;
      given = &options;
    }
    status = polar_index_search(index, 1, q, k, given, scores, ids);
    if (status != POLAR_OK) return status;
  }
  return POLAR_OK;
}
*/
import "C"

import (
	"log"
	"unsafe"
)

// cIndex is an index that C alone uses.
type cIndex struct {
	object *C.polar_index
	scores []float32
	ids    []int64
}

func newCIndex(description string, dim int, x []float32, k int) *cIndex {
	text := C.CString(description)
	defer C.free(unsafe.Pointer(text))
	object := C.make_index(text, C.int32_t(dim), C.int64_t(len(x)/dim), (*C.float)(&x[0]))
	if object == nil {
		log.Fatal("C makes no index")
	}
	return &cIndex{object, make([]float32, k), make([]int64, k)}
}

// search searches that many times in one loop of C.
func (c *cIndex) search(q []float32, times int, withOptions bool) {
	flag := C.int(0)
	if withOptions {
		flag = 1
	}
	status := C.search(c.object, (*C.float)(&q[0]), C.int64_t(len(c.ids)), C.int64_t(times), flag,
		(*C.float)(&c.scores[0]), (*C.int64_t)(&c.ids[0]))
	if status != C.POLAR_OK {
		log.Fatal("a search in C failed")
	}
}

func (c *cIndex) close() { C.polar_index_destroy(c.object) }
