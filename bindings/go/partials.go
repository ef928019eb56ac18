// SPDX-License-Identifier: MIT

package polarquant

// #include <stdlib.h>
// #include "calls.h"
import "C"

import (
	"context"
	"unsafe"
)

// SearchPartial returns what [MergePartials] needs of this part of an index for the k rows nearest to
// each of nq queries, nq·dim numbers: bytes, to be sent to whoever merges them. Parts may lie in
// processes of any kind.
//
// firstRow is how many rows the parts before this one have. Ids that are positions, and a filter over
// them, are those of the whole. Options and errors are those of Search; besides, [ErrUnsupported] for
// refinements and graphs, and for a filter over an inverted file, whose lists are chosen by what the
// filter keeps of all parts: search these by Search, and take the best of all.
func (x *Index) SearchPartial(ctx context.Context, firstRow int, queries []float32, k int, options *SearchOptions) ([]byte, error) {
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
	var partial *C.uint8_t
	var bytes C.size_t
	result := C.polargo_index_search_partial(object, C.int64_t(firstRow), C.int64_t(nq), floatsOf(queries),
		C.int64_t(k), search.options, &partial, &bytes)
	defer C.free(unsafe.Pointer(partial))
	if err := search.end(result); err != nil {
		return nil, err
	}
	return append([]byte(nil), unsafe.Slice((*byte)(partial), int(bytes))...), nil
}

// MergePartials returns the answer of the whole, to the bit that of one index with all rows, from
// what [Index.SearchPartial] found in its parts for the same nq queries and k: ids and scores as
// [Index.Search] returns them.
//
// There are one or more partials, in the order of the parts' rows. [ErrBadArgument] for those of
// another nq or k, [ErrStateMismatch] for those of indexes of different kinds, [ErrCorruptData] for
// other bytes.
func MergePartials(partials [][]byte, nq, k int) (ids []int64, scores []float32, err error) {
	sizes := make([]C.size_t, len(partials)+1)
	// One byte more, so that C gets an address where all partials are empty.
	total := 1
	for i, partial := range partials {
		sizes[i] = C.size_t(len(partial))
		total += len(partial)
	}
	all := make([]byte, 0, total)
	for _, partial := range partials {
		all = append(all, partial...)
	}
	// A negative nq is refused by the library, and each row takes more than one byte.
	ids, scores, err = makeResults(max(nq, 0), k, func() int { return total })
	if err != nil {
		return nil, nil, err
	}
	err = errorOf(C.polargo_merge_partials(C.int64_t(len(partials)), bytesOf(all[:total]), &sizes[0], C.int64_t(nq),
		C.int64_t(k), floatsOf(scores), idsOf(ids)))
	if err != nil {
		return nil, nil, err
	}
	return ids, scores, nil
}
