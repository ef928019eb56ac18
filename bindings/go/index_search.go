// SPDX-License-Identifier: MIT

package polarquant

// #include "calls.h"
import "C"

import (
	"context"
	"unsafe"
)

// Search returns the k nearest rows of each of nq queries, nq·dim numbers: ids and scores, k for
// each query, best first; id −1 with score −Inf (L2: +Inf) where there are fewer. options may be
// nil. [ErrUnsupported] for options that the index has no use for.
//
// A k beyond both the rows held and 2^20 is refused, since results are allocated for it;
// [Index.SearchInto] takes any.
func (x *Index) Search(ctx context.Context, queries []float32, k int, options *SearchOptions) (ids []int64, scores []float32, err error) {
	object, err := x.use()
	if err != nil {
		return nil, nil, err
	}
	defer x.handle.release()
	nq, err := countRows("queries", queries, x.dim)
	if err != nil {
		return nil, nil, err
	}
	ids, scores, err = makeResults(nq, k, func() int { return int(C.polargo_index_ntotal(object)) })
	if err != nil {
		return nil, nil, err
	}
	if err := searchIndex(ctx, object, nq, queries, k, options, ids, scores); err != nil {
		return nil, nil, err
	}
	return ids, scores, nil
}

// SearchInto is Search into the caller's slices, of nq·k elements or more each. It allocates no
// memory where ctx cannot be done and no function is passed in. After an error they hold nothing of
// use.
func (x *Index) SearchInto(ctx context.Context, queries []float32, k int, options *SearchOptions, ids []int64, scores []float32) error {
	object, err := x.use()
	if err != nil {
		return err
	}
	defer x.handle.release()
	nq, err := countRows("queries", queries, x.dim)
	if err != nil {
		return err
	}
	if err := checkResults(nq, k, ids, scores); err != nil {
		return err
	}
	return searchIndex(ctx, object, nq, queries, k, options, ids, scores)
}

func searchIndex(ctx context.Context, object C.polargo_index, nq int, queries []float32, k int, options *SearchOptions, ids []int64, scores []float32) error {
	var search searchCall
	if err := search.start(ctx, options); err != nil {
		return err
	}
	return search.end(C.polargo_index_search(object, C.int64_t(nq), floatsOf(queries), C.int64_t(k),
		search.options, floatsOf(scores), idsOf(ids)))
}

// RangeSearch returns all rows within a radius of each of nq queries, nq·dim numbers: score >
// radius, or for L2 squared distance < radius. At finite exactness a few rows near the radius are
// left out. Where more than 64 rows a query are found, it searches twice. [ErrUnsupported] for
// graphs and refinements, and for NProbe and the like where the index has no use for them.
func (x *Index) RangeSearch(ctx context.Context, queries []float32, radius float32, options *SearchOptions) (*RangeResult, error) {
	object, err := x.use()
	if err != nil {
		return nil, err
	}
	defer x.handle.release()
	nq, err := countRows("queries", queries, x.dim)
	if err != nil {
		return nil, err
	}
	var search searchCall
	if err := search.start(ctx, options); err != nil {
		return nil, err
	}
	found, result := collectRange(nq, func(r *RangeResult) C.polargo_result {
		return C.polargo_index_range_search(object, C.int64_t(nq), floatsOf(queries), C.float(radius),
			search.options, C.int64_t(len(r.IDs)), idsOf(r.Lims), floatsOf(r.Scores), idsOf(r.IDs))
	})
	return found, search.end(result)
}

// Explain tells what Search would do for nq queries, 1 to 2^40, with these k and options: how it
// scans, rows, stages, and about how many bytes it reads. Nothing is searched. Lines of text for
// people; their words may change.
func (x *Index) Explain(nq, k int, options *SearchOptions) (string, error) {
	object, err := x.use()
	if err != nil {
		return "", err
	}
	defer x.handle.release()
	var search searchCall
	if err := search.start(context.Background(), options); err != nil {
		return "", err
	}
	buffer := make([]byte, 1024)
	for {
		var needed C.size_t
		result := C.polargo_index_explain(object, C.int64_t(nq), C.int64_t(k), search.options,
			(*C.char)(unsafe.Pointer(&buffer[0])), C.size_t(len(buffer)), &needed)
		if result.status != C.POLAR_OK {
			return "", search.end(result)
		}
		if int(needed) < len(buffer) {
			return string(buffer[:needed]), search.end(result)
		}
		buffer = make([]byte, int(needed)+1)
	}
}
