// SPDX-License-Identifier: MIT

package polarquant

// #include "calls.h"
import "C"

import (
	"context"
	"runtime"
)

// Query is a vector prepared for one codec, to be scored many times. Immutable.
type Query struct {
	handle handle
}

// PrepareQuery returns a query of dim numbers.
func (c *Codec) PrepareQuery(q []float32) (*Query, error) {
	object, err := c.use()
	if err != nil {
		return nil, err
	}
	defer c.leave()
	if err := checkLength("q", len(q), c.dim); err != nil {
		return nil, err
	}
	var out C.polargo_query
	if err := errorOf(C.polargo_query_prepare(object, floatsOf(q), &out)); err != nil {
		return nil, err
	}
	return adoptQuery(out), nil
}

// PrepareQueryFromCode returns the query that is the vector of row `row`, 0 to Rows − 1, of codes.
func (c *Codec) PrepareQueryFromCode(codes Codes, row int) (*Query, error) {
	object, err := c.use()
	if err != nil {
		return nil, err
	}
	defer c.leave()
	var out C.polargo_query
	result := C.polargo_query_prepare_from_code(object, C.int64_t(codes.Rows), bytesOf(codes.Bytes),
		C.size_t(len(codes.Bytes)), C.int64_t(row), &out)
	if err := errorOf(result); err != nil {
		return nil, err
	}
	return adoptQuery(out), nil
}

func adoptQuery(object C.polargo_query) *Query {
	q := &Query{}
	q.handle.set(uintptr(object), func(object uintptr) {
		C.polargo_query_destroy(C.polargo_query(object))
	})
	runtime.SetFinalizer(q, func(q *Query) { q.handle.close() })
	return q
}

// Close frees the query, after the last call that uses it. It returns nil.
func (q *Query) Close() error {
	if q.handle.close() {
		runtime.SetFinalizer(q, nil)
	}
	return nil
}

// Score returns a score for each row of codes: estimates of ⟨q,x⟩, of the cosine, or of ‖q−x‖²,
// which can be slightly below 0. [ErrStateMismatch] for a query of another codec.
func (c *Codec) Score(ctx context.Context, query *Query, codes Codes, options *WorkOptions) ([]float32, error) {
	if _, err := c.countDecoded(codes); err != nil {
		return nil, err
	}
	scores := make([]float32, codes.Rows)
	if err := c.ScoreInto(ctx, query, codes, scores, options); err != nil {
		return nil, err
	}
	return scores, nil
}

// ScoreInto is Score into a slice of Rows numbers. After an error it holds nothing of use.
func (c *Codec) ScoreInto(ctx context.Context, query *Query, codes Codes, scores []float32, options *WorkOptions) error {
	if query == nil {
		return notAllowed("query", "nil", "one of PrepareQuery")
	}
	if err := query.handle.acquire(); err != nil {
		return err
	}
	defer query.handle.release()
	return c.work(ctx, options, func(object C.polargo_codec, work C.polargo_work) C.polargo_result {
		return C.polargo_codec_score(object, C.polargo_query(query.handle.object), C.int64_t(codes.Rows),
			bytesOf(codes.Bytes), C.size_t(len(codes.Bytes)), work, floatsOf(scores))
	}, lengthCheck{"scores", len(scores), codes.Rows})
}

// Search returns the k best rows of codes for each of nq queries, nq·dim numbers: ids, which are row
// positions, and scores, k for each query, best first, ties by lower id; id −1 with score −Inf (L2:
// +Inf) where there are fewer. options may be nil; NProbe, EFSearch and KFactor are not for codes.
// A k beyond both Rows and 2^20 is refused; [Codec.SearchInto] takes any.
func (c *Codec) Search(ctx context.Context, queries []float32, codes Codes, k int, options *SearchOptions) (ids []int64, scores []float32, err error) {
	nq, err := countRows("queries", queries, c.dim)
	if err != nil {
		return nil, nil, err
	}
	ids, scores, err = makeResults(nq, k, func() int { return codes.Rows })
	if err != nil {
		return nil, nil, err
	}
	if err := c.SearchInto(ctx, queries, codes, k, options, ids, scores); err != nil {
		return nil, nil, err
	}
	return ids, scores, nil
}

// SearchInto is Search into the caller's slices, of nq·k elements or more each. After an error they
// hold nothing of use.
func (c *Codec) SearchInto(ctx context.Context, queries []float32, codes Codes, k int, options *SearchOptions, ids []int64, scores []float32) error {
	object, err := c.use()
	if err != nil {
		return err
	}
	defer c.leave()
	nq, err := countRows("queries", queries, c.dim)
	if err != nil {
		return err
	}
	if err := checkResults(nq, k, ids, scores); err != nil {
		return err
	}
	var search searchCall
	if err := search.start(ctx, options); err != nil {
		return err
	}
	return search.end(C.polargo_codec_search(object, C.int64_t(nq), floatsOf(queries),
		C.int64_t(codes.Rows), bytesOf(codes.Bytes), C.size_t(len(codes.Bytes)), C.int64_t(k),
		search.options, floatsOf(scores), idsOf(ids)))
}

// RangeSearch returns all rows of codes within a radius of each of nq queries, nq·dim numbers: score
// > radius, or for L2 squared distance < radius, by Score; ids are row positions. At finite
// exactness a few rows near the radius are left out. Where more than 64 rows a query are found, it
// searches twice.
func (c *Codec) RangeSearch(ctx context.Context, queries []float32, codes Codes, radius float32, options *SearchOptions) (*RangeResult, error) {
	object, err := c.use()
	if err != nil {
		return nil, err
	}
	defer c.leave()
	nq, err := countRows("queries", queries, c.dim)
	if err != nil {
		return nil, err
	}
	var search searchCall
	if err := search.start(ctx, options); err != nil {
		return nil, err
	}
	found, result := collectRange(nq, func(r *RangeResult) C.polargo_result {
		return C.polargo_codec_range_search(object, C.int64_t(nq), floatsOf(queries),
			C.int64_t(codes.Rows), bytesOf(codes.Bytes), C.size_t(len(codes.Bytes)), C.float(radius),
			search.options, C.int64_t(len(r.IDs)), idsOf(r.Lims), floatsOf(r.Scores), idsOf(r.IDs))
	})
	return found, search.end(result)
}
