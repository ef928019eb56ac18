// SPDX-License-Identifier: MIT

package polarquant

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// together runs do in that many goroutines at once.
func together(n int, do func(worker int)) {
	var all sync.WaitGroup
	for worker := 0; worker < n; worker++ {
		all.Add(1)
		go func(worker int) {
			defer all.Done()
			do(worker)
		}(worker)
	}
	all.Wait()
}

var oneThread = &SearchOptions{NumThreads: 1}

func TestGoroutinesSearchOneIndexAndTheirOwn(t *testing.T) {
	const dim, n = 32, 400
	rows := someRows(1, n, dim)
	shared := makeIndex(t, "Polar4", dim, rows)
	prepared := must(PrepareFilter(IDRange{0, n}))(t)
	defer prepared.Close()
	together(8, func(worker int) {
		own := must(shared.Clone())(t)
		defer own.Close()
		ids, scores := make([]int64, 1), make([]float32, 1)
		options := &SearchOptions{NumThreads: 1, Filter: prepared}
		for i := worker; i < n; i += 8 {
			query := rows[i*dim : (i+1)*dim]
			for _, index := range []*Index{shared, own} {
				if err := index.SearchInto(background, query, 1, options, ids, scores); err != nil || ids[0] != int64(i) {
					t.Error(i, ids, err)
				}
			}
			if _, err := own.Remove([]int64{int64(i)}); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestSearchesRunBesideChanges(t *testing.T) {
	const dim, n = 32, 300
	rows := someRows(1, 2*n, dim)
	for _, description := range []string{"Polar4", "IVF4,Polar4"} {
		index := makeIndex(t, description, dim, rows[:n*dim])
		var over atomic.Bool
		var searches sync.WaitGroup
		for worker := 0; worker < 4; worker++ {
			searches.Add(1)
			go func() {
				defer searches.Done()
				for !over.Load() {
					ids, _, err := index.Search(background, rows[:dim], 1, oneThread)
					if err != nil || ids[0] != 0 || index.Len() < n {
						t.Error(ids, err)
						return
					}
				}
			}()
		}
		for i := 0; i < 50; i++ {
			check(t, index.AddWithIDs(background, rows[n*dim:(n+10)*dim], countedIDs(n, 10), nil))
			check(t, index.Update(background, []int64{5}, rows[(n+i)*dim:(n+i+1)*dim], nil))
			must(index.Remove(countedIDs(n, 10)))(t)
		}
		over.Store(true)
		searches.Wait()
	}
}

func TestCloseWhileOthersSearch(t *testing.T) {
	const dim = 32
	rows := someRows(1, 300, dim)
	for round := 0; round < 20; round++ {
		index := must(NewIndex("Polar4", dim, L2))(t)
		check(t, index.Add(background, rows, nil))
		codec := must(NewCodec("Polar4", dim, L2, nil))(t)
		codes := must(codec.Encode(background, rows, nil))(t)
		filter := must(PrepareFilter(IDRange{0, 50}))(t)
		var running atomic.Int64
		together(9, func(worker int) {
			if worker == 8 {
				for running.Load() < 4 {
					runtime.Gosched()
				}
				check(t, index.Close())
				check(t, codec.Close())
				check(t, filter.Close())
				check(t, index.Close())
				return
			}
			running.Add(1)
			for {
				var err error
				if worker%2 == 0 {
					_, _, err = index.Search(background, rows[:dim], 3, &SearchOptions{Filter: filter, NumThreads: 1})
				} else {
					_, _, err = codec.Search(background, rows[:dim], codes, 3, oneThread)
				}
				if errors.Is(err, ErrClosed) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
}

func TestCloseInsideASearch(t *testing.T) {
	const dim = 8
	rows := someRows(1, 20, dim)
	index := must(NewIndex("Polar4", dim, L2))(t)
	check(t, index.Add(background, rows, nil))
	ids, _, err := index.Search(background, rows[:dim], 1, everyRow(FilterFunc(func(id int64) bool {
		index.Close()
		return id == 3
	})))
	if err != nil || ids[0] != 3 {
		t.Fatal(ids, err)
	}
	if _, _, err := index.Search(background, rows[:dim], 1, nil); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
}

func TestMergesOfTheSameTwoIndexes(t *testing.T) {
	const dim = 16
	rows := someRows(1, 100, dim)
	first := makeIndex(t, "Polar4", dim, rows)
	second := must(first.Clone())(t)
	defer second.Close()
	must(second.RemoveFiltered(IDRange{0, 1000}))(t)
	together(4, func(worker int) {
		for i := 0; i < 50; i++ {
			err := error(nil)
			if worker%2 == 0 {
				err = first.Merge(background, second, nil)
			} else {
				err = second.Merge(background, first, nil)
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
	if first.Len()+second.Len() != 100 {
		t.Fatal(first.Len(), second.Len())
	}
}

func TestTrainWaitsForThoseWhoUseTheCodec(t *testing.T) {
	const dim = 32
	rows := someRows(1, 200, dim)
	codec := makeCodec(t, "Polar4", dim, L2)
	together(8, func(worker int) {
		for i := 0; i < 20; i++ {
			if worker == 0 {
				if err := codec.Train(background, rows, nil); err != nil && !errors.Is(err, ErrStateMismatch) {
					t.Error(err)
				}
			} else if worker == 1 && i == 15 {
				must(codec.Encode(background, rows, nil))(t)
			} else if _, err := codec.Info(); err != nil {
				t.Error(err)
			} else if query, err := codec.PrepareQuery(rows[:dim]); err != nil {
				t.Error(err)
			} else {
				query.Close()
			}
		}
	})
}

func TestBlocksChangeBesideSearches(t *testing.T) {
	const dim = 32
	rows := someRows(1, 100, dim)
	codec := makeCodec(t, "Polar4", dim, L2)
	codes := must(codec.Encode(background, rows, nil))(t)
	blocks := must(NewBlocks(codec))(t)
	check(t, blocks.Append(codes))
	together(6, func(worker int) {
		for i := 0; i < 50; i++ {
			if worker == 0 {
				check(t, blocks.Append(codes))
				check(t, blocks.SwapRemove(blocks.Len()-1))
			} else if ids, _, err := blocks.Search(background, rows[:dim], 1, oneThread); err != nil || ids[0] != 0 {
				t.Error(ids, err)
			}
		}
	})
}

func TestFinalizersFreeWhatIsNotClosed(t *testing.T) {
	const dim = 16
	rows := someRows(1, 50, dim)
	together(4, func(int) {
		for i := 0; i < 50; i++ {
			index := must(NewIndex("Polar4", dim, L2))(t)
			check(t, index.Add(background, rows, nil))
			if i%10 == 0 {
				runtime.GC()
			}
			// The index is in use until the call has returned, though nothing refers to it after.
			_, _, err := index.Search(background, rows[:dim], 3, oneThread)
			check(t, err)
		}
	})
	runtime.GC()
}

func TestCancelAndCloseBesideSearches(t *testing.T) {
	const dim = 32
	rows := someRows(1, 2000, dim)
	index := makeIndex(t, "Polar4", dim, rows)
	ctx, cancel := context.WithCancel(background)
	together(5, func(worker int) {
		for i := 0; i < 40; i++ {
			if worker == 4 && i == 20 {
				cancel()
			}
			_, _, err := index.Search(ctx, rows, 5, oneThread)
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	})
}
