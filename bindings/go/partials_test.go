// SPDX-License-Identifier: MIT

package polarquant

import (
	"context"
	"errors"
	"math"
	"reflect"
	"sort"
	"sync/atomic"
	"testing"
)

const (
	partialRows    = 3000
	partialQueries = 9
)

// indexInParts is an index with all rows, and its parts, each with the rows before it.
type indexInParts struct {
	whole     *Index
	parts     []*Index
	firstRows []int
}

// makeParts makes four parts, one of them empty. ids may be nil.
func makeParts(t testing.TB, description string, metric Metric, rows []float32, ids []int64) *indexInParts {
	t.Helper()
	trained := must(NewIndex(description, builtDim, metric))(t)
	defer trained.Close()
	check(t, trained.Train(background, rows[:2000*builtDim], nil))
	withRows := func(first, end int) *Index {
		index := must(trained.Clone())(t)
		t.Cleanup(func() { index.Close() })
		if x := rows[first*builtDim : end*builtDim]; ids == nil {
			check(t, index.Add(background, x, nil))
		} else {
			check(t, index.AddWithIDs(background, x, ids[first:end], nil))
		}
		return index
	}
	made := &indexInParts{whole: withRows(0, partialRows)}
	first := 0
	for _, end := range []int{700, 1900, 1900, partialRows} {
		made.parts, made.firstRows = append(made.parts, withRows(first, end)), append(made.firstRows, first)
		first = end
	}
	return made
}

// checkSame wants the answer of the whole from the parts.
func (p *indexInParts) checkSame(t *testing.T, queries []float32, options *SearchOptions) {
	t.Helper()
	for _, k := range []int{1, 10, 4000} {
		var partials [][]byte
		for i, part := range p.parts {
			partials = append(partials, must(part.SearchPartial(background, p.firstRows[i], queries, k, options))(t))
		}
		ids, scores, err := MergePartials(partials, len(queries)/builtDim, k)
		check(t, err)
		wantedIDs, wantedScores, err := p.whole.Search(background, queries, k, options)
		check(t, err)
		if !reflect.DeepEqual(ids, wantedIDs) || !reflect.DeepEqual(scores, wantedScores) {
			t.Errorf("%s, k %d, %+v: other answers", p.whole.Description(), k, options)
		}
	}
}

// twiceEachRow has ties.
func twiceEachRow(seed uint64) []float32 {
	half := someRows(seed, partialRows/2, builtDim)
	return append(append([]float32(nil), half...), half...)
}

func TestPartsAnswerAsOneIndex(t *testing.T) {
	rows, queries := twiceEachRow(1), someRows(2, partialQueries, builtDim)
	own, numbers := make([]int64, partialRows), countedIDs(0, partialRows)
	for i := range own {
		own[i] = int64(i * 7919 % 1000003)
	}
	for _, one := range []struct {
		description string
		metric      Metric
		nprobe      int
	}{{"Polar4", InnerProduct, 0}, {"IVF16,Polar2", L2, 5}, {"Polar2", Cosine, 0}} {
		for _, ids := range [][]int64{nil, own} {
			parts := makeParts(t, one.description, one.metric, rows, ids)
			parts.checkSame(t, queries, &SearchOptions{NProbe: one.nprobe})
			parts.checkSame(t, queries, &SearchOptions{NProbe: one.nprobe, Exactness: float32(math.Inf(1)), NumThreads: 2})
			if one.nprobe > 0 {
				continue
			}
			parts.checkSame(t, queries, nil)
			named, some := numbers, []int64{}
			if ids != nil {
				named = own
			}
			for i := 5; i < partialRows; i += 7 {
				some = append(some, named[i])
			}
			sort.Slice(some, func(i, j int) bool { return some[i] < some[j] })
			for _, filter := range []Filter{IDSet(some), IDRange{600, 2500},
				FilterFunc(func(id int64) bool { return id%4 == 1 })} {
				parts.checkSame(t, queries, &SearchOptions{Filter: filter})
			}
		}
	}
}

func TestWhatPartialSearchesRefuse(t *testing.T) {
	rows, queries := twiceEachRow(3), someRows(4, partialQueries, builtDim)
	parts := makeParts(t, "IVF16,Polar4", L2, rows, nil)
	part := parts.parts[0]
	search := func(index *Index, firstRow int, queries []float32, k int, options *SearchOptions) error {
		_, err := index.SearchPartial(background, firstRow, queries, k, options)
		return err
	}
	filtered := &SearchOptions{Filter: IDSet{1, 2}}
	checkFailed(t, search(part, 0, queries, 3, filtered), ErrUnsupported, "options.filter")
	checkFailed(t, search(part, 0, queries, 0, nil), ErrBadArgument, "k: 0")
	checkFailed(t, search(part, -1, queries, 3, nil), ErrBadArgument, "first_row: -1")
	checkFailed(t, search(part, 0, queries[1:], 3, nil), ErrBadArgument, "queries")
	checkFailed(t, search(part, 0, make([]float32, 0), 3, &SearchOptions{NProbe: -1}), ErrBadArgument, "nprobe")
	untrained := must(NewIndex("IVF16,Polar4", builtDim, L2))(t)
	defer untrained.Close()
	checkFailed(t, search(untrained, 0, queries, 3, nil), ErrNotTrained, "")
	refined := must(NewIndex("Polar2,Refine(Polar8)", builtDim, L2))(t)
	defer refined.Close()
	check(t, refined.Add(background, rows[:100*builtDim], nil))
	checkFailed(t, search(refined, 0, queries, 3, nil), ErrUnsupported, "")
	ctx, cancel := context.WithCancel(background)
	cancel()
	_, err := part.SearchPartial(ctx, 0, queries, 3, nil)
	checkFailed(t, err, ErrCancelled, "")
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	flat := makeParts(t, "Polar4", L2, rows, nil).whole
	panicking := &SearchOptions{Filter: FilterFunc(func(int64) bool { panic("filter") })}
	if value := panicOf(func() { search(flat, 0, queries, 3, panicking) }); value != "filter" {
		t.Error(value)
	}
	none := must(part.SearchPartial(background, 0, nil, 3, nil))(t)
	if ids, scores, err := MergePartials([][]byte{none}, 0, 3); err != nil || len(ids)+len(scores) != 0 {
		t.Error(ids, scores, err)
	}
	check(t, part.Close())
	if err := search(part, 0, queries, 3, nil); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestHostilePartialsAreAnError(t *testing.T) {
	rows, queries := twiceEachRow(5), someRows(6, partialQueries, builtDim)
	merge := func(nq, k int, partials ...[]byte) error {
		_, _, err := MergePartials(partials, nq, k)
		return err
	}
	part := makeParts(t, "Polar4", L2, rows, nil).parts[0]
	good := must(part.SearchPartial(background, 0, queries, 3, nil))(t)
	for _, length := range []int{0, 1, 11, 40, len(good) - 1} {
		checkFailed(t, merge(partialQueries, 3, good, good[:length]), ErrCorruptData, "partials[1]")
	}
	checkFailed(t, merge(partialQueries, 3, nil), ErrCorruptData, "partials[0]")
	checkFailed(t, merge(partialQueries, 3, append(good[:len(good):len(good)], 0)), ErrCorruptData, "partials[0]")
	// Whatever byte is another one: an answer or an error.
	for at := range good {
		other := append([]byte(nil), good...)
		other[at] ^= 0x81
		merge(partialQueries, 3, good, other)
	}
	cosine := makeParts(t, "Polar4", Cosine, rows, nil).parts[0]
	other := must(cosine.SearchPartial(background, 0, queries, 3, nil))(t)
	checkFailed(t, merge(partialQueries, 3, good, other), ErrStateMismatch, "partials[1]")
	checkFailed(t, merge(partialQueries-1, 3, good), ErrBadArgument, "partials[0]: for 9 queries")
	checkFailed(t, merge(partialQueries, 4, good), ErrBadArgument, "partials[0]")
	checkFailed(t, merge(partialQueries, 0, good), ErrBadArgument, "k: 0")
	checkFailed(t, merge(partialQueries, -1, good), ErrBadArgument, "k: -1")
	checkFailed(t, merge(-1, 3, good), ErrBadArgument, "nq: -1")
	checkFailed(t, merge(math.MaxInt, 3, good), ErrBadArgument, "k")
	checkFailed(t, merge(partialQueries, math.MaxInt, good), ErrBadArgument, "k")
	checkFailed(t, merge(partialQueries, 3), ErrBadArgument, "n: 0")
}

func TestRowsAreAddedBesidePartialSearches(t *testing.T) {
	rows := someRows(7, partialRows, builtDim)
	index := trainedIndex(t, "Polar4", rows)
	check(t, index.Add(background, rows[:10*builtDim], nil))
	var added atomic.Bool
	go func() {
		defer added.Store(true)
		for first := 0; first < partialRows; first += 10 {
			if err := index.Add(background, rows[first*builtDim:(first+10)*builtDim], nil); err != nil {
				t.Error(err)
			}
		}
	}()
	for !added.Load() {
		partial := must(index.SearchPartial(background, 0, rows[:builtDim], partialRows, nil))(t)
		ids, _, err := MergePartials([][]byte{partial}, 1, partialRows)
		if check(t, err); ids[0] != 0 {
			t.Fatal(ids[0])
		}
	}
}
