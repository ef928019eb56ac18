// SPDX-License-Identifier: MIT

package polarquant

// #include "calls.h"
import "C"

import (
	"context"
	"fmt"
)

// SearchOptions say how a search works. nil, and each field that is 0, is the default.
type SearchOptions struct {
	// Filter says which rows may be returned, by id; nil: every row.
	Filter Filter
	// Exactness is how sure rows are left out without being scored, in standard deviations of what a
	// row's sign bits say about its score. The default, 2.25, loses at most .001 of recall@10 on real
	// embeddings; float32(math.Inf(1)) scores every row. Read by codes with signs ("Polar2" and
	// above) of 64 dimensions and more. [ErrUnsupported] for graphs, unless it is the default.
	Exactness float32
	// NProbe is how many lists of an inverted file are searched for each query; 0: the index's own,
	// [Index.NProbe]. [ErrUnsupported] for other indexes.
	NProbe int
	// EFSearch is how many nodes the search of a graph keeps; 0: 16. [ErrUnsupported] for other
	// indexes.
	EFSearch int
	// KFactor is how many rows a refinement ("Polar2,RFlat") scores again for each query, as a
	// multiple of k, 1 or more; 0: the index's own. [ErrUnsupported] for other indexes.
	KFactor float64
	// NumThreads is 0 to 1024; 0 is OpenMP's default.
	NumThreads int
	// Progress, unless nil, is told now and then what share is done, 0 to 1, one call at a time but
	// from any thread.
	Progress func(done float64)
}

// searchCall is the call of a search.
type searchCall struct {
	call
	options C.polargo_search
	filter  *handle
}

// start begins a search. After nil was returned, end must be called.
func (s *searchCall) start(ctx context.Context, options *SearchOptions) error {
	if options == nil {
		if err := s.call.start(ctx, nil, nil); err != nil {
			return err
		}
		s.options.watch = s.watch()
		return nil
	}
	threads, err := asInt32("NumThreads", options.NumThreads)
	if err != nil {
		return err
	}
	s.options = C.polargo_search{
		num_threads: threads,
		exactness:   C.float(options.Exactness),
		nprobe:      C.int64_t(options.NProbe),
		ef_search:   C.int64_t(options.EFSearch),
		k_factor:    C.double(options.KFactor),
	}
	keep, err := s.enterFilter(options.Filter)
	if err != nil {
		return err
	}
	if err := s.call.start(ctx, options.Progress, keep); err != nil {
		s.releaseFilter()
		return err
	}
	s.options.watch = s.watch()
	if keep != nil {
		s.options.filter.callbacks = C.uintptr_t(s.call.handle)
	}
	return nil
}

// enterFilter returns the function that the filter is, if it is one.
func (s *searchCall) enterFilter(filter Filter) (keep func(int64) bool, err error) {
	if filter == nil {
		return nil, nil
	}
	if function, ok := filter.(FilterFunc); ok {
		keep = function
	}
	s.options.filter, s.filter, err = filter.enter()
	return keep, err
}

func (s *searchCall) releaseFilter() {
	if s.filter != nil {
		s.filter.release()
	}
}

// end ends the search.
func (s *searchCall) end(result C.polargo_result) error {
	s.releaseFilter()
	return s.call.end(result)
}

// mostSpare is the k up to which results are allocated although there are fewer rows.
const mostSpare = 1 << 20

// makeResults returns ids and scores for nq queries, of rows that are counted when need be.
func makeResults(nq, k int, rows func() int) ([]int64, []float32, error) {
	if k < 0 {
		k = 0 // the library refuses it, and says so
	}
	if k > mostSpare {
		if held := max(rows(), mostSpare); k > held {
			return nil, nil, notAllowed("k", k, fmt.Sprintf("1 to %d, the rows held or %d", held, mostSpare))
		}
	}
	n, err := product("k", nq, k)
	if err != nil {
		return nil, nil, err
	}
	return make([]int64, n), make([]float32, n), nil
}

// checkResults refuses slices too short for nq queries.
func checkResults(nq, k int, ids []int64, scores []float32) error {
	if k < 0 {
		return nil // the library refuses it, and says so
	}
	n, err := product("k", nq, k)
	if err != nil {
		return err
	}
	for _, given := range [...]struct {
		name   string
		length int
	}{{"ids", len(ids)}, {"scores", len(scores)}} {
		if given.length < n {
			return notAllowed(given.name, fmt.Sprintf("a length of %d", given.length),
				fmt.Sprintf("at least %d for %d queries and k = %d", n, nq, k))
		}
	}
	return nil
}

// RangeResult is what a range search found.
type RangeResult struct {
	// Lims has one number more than there are queries: the rows of query q are Lims[q] to
	// Lims[q+1] − 1 of IDs and Scores.
	Lims []int64
	// IDs are those of all queries' rows, best first for each query.
	IDs []int64
	// Scores are those of the same rows.
	Scores []float32
}

// Query returns ids and scores of query q, counted from 0.
func (r *RangeResult) Query(q int) (ids []int64, scores []float32) {
	first, end := r.Lims[q], r.Lims[q+1]
	return r.IDs[first:end], r.Scores[first:end]
}

// rangeCapacity is how many rows a range search has memory for at first, for each query.
const rangeCapacity = 64

// collectRange searches until all that is found has memory. search writes at most as many rows as
// the result has memory for, and tells in Lims how many there are.
func collectRange(nq int, search func(r *RangeResult) C.polargo_result) (*RangeResult, C.polargo_result) {
	r := &RangeResult{Lims: make([]int64, nq+1)}
	found := rangeCapacity * nq
	for {
		r.IDs, r.Scores = make([]int64, found), make([]float32, found)
		result := search(r)
		if result.status != C.POLAR_OK {
			return nil, result
		}
		// More than before where rows were added meanwhile.
		if found = int(r.Lims[nq]); found <= len(r.IDs) {
			r.IDs, r.Scores = r.IDs[:found], r.Scores[:found]
			return r, result
		}
	}
}
