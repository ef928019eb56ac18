// SPDX-License-Identifier: MIT

package polarquant

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestRowsAreFoundRemovedAndReplaced(t *testing.T) {
	const dim = 32
	rows := someRows(1, 100, dim)
	index := makeIndex(t, "Polar4", dim, rows)
	if index.Len() != 100 || !index.IsTrained() || index.Dim() != dim || index.Metric() != L2 || index.Description() != "Polar4" {
		t.Fatal("the index tells another shape")
	}
	ids, scores, err := index.Search(background, rows[:3*dim], 2, nil)
	check(t, err)
	if len(ids) != 6 || len(scores) != 6 || ids[0] != 0 || ids[2] != 1 || ids[4] != 2 {
		t.Fatal(ids)
	}
	if removed := must(index.Remove([]int64{1, 1000, 2}))(t); removed != 2 {
		t.Fatal(removed)
	}
	if removed := must(index.RemoveFiltered(IDRange{90, 200}))(t); removed != 10 {
		t.Fatal(removed)
	}
	check(t, index.Update(background, []int64{5}, rows[7*dim:8*dim], nil))
	ids, _, err = index.Search(background, rows[7*dim:8*dim], 2, nil)
	check(t, err)
	if !reflect.DeepEqual(NewIDSet(ids...), IDSet{5, 7}) {
		t.Fatal(ids)
	}
	if err := index.Update(background, []int64{1}, rows[:dim], nil); !errors.Is(err, ErrNotFound) {
		t.Fatal(err)
	}
	check(t, index.Upsert(background, []int64{1, 5}, rows[dim:3*dim], nil))
	if index.Len() != 89 {
		t.Fatal(index.Len())
	}
}

func TestWhereThereAreFewerRowsTheIDIsNone(t *testing.T) {
	rows := someRows(1, 2, 8)
	index := must(NewIndex("Polar4", 8, L2))(t)
	defer index.Close()
	check(t, index.Add(background, rows, nil))
	ids, scores, err := index.Search(background, rows[:8], 3, nil)
	check(t, err)
	if ids[2] != -1 || scores[2] < 1e38 {
		t.Fatal(ids, scores)
	}
	ids, _, err = index.Search(background, nil, 3, nil)
	check(t, err)
	if len(ids) != 0 {
		t.Fatal(ids)
	}
	check(t, index.Add(background, nil, nil))
}

func TestResultsGoIntoTheCallersSlices(t *testing.T) {
	const dim = 32
	rows := someRows(1, 100, dim)
	index := makeIndex(t, "Polar4", dim, rows)
	ids, scores := make([]int64, 11), make([]float32, 11)
	ids[10] = 12345
	check(t, index.SearchInto(background, rows[:2*dim], 5, nil, ids, scores))
	wantedIDs, wantedScores, err := index.Search(background, rows[:2*dim], 5, nil)
	check(t, err)
	if !reflect.DeepEqual(ids[:10], wantedIDs) || !reflect.DeepEqual(scores[:10], wantedScores) || ids[10] != 12345 {
		t.Fatal(ids)
	}
	allocations := testing.AllocsPerRun(100, func() {
		if err := index.SearchInto(background, rows[:dim], 5, nil, ids, scores); err != nil {
			t.Fatal(err)
		}
	})
	if allocations != 0 {
		t.Fatalf("%v allocations", allocations)
	}
}

func TestRangeSearchFindsMoreThanItHasMemoryForAtFirst(t *testing.T) {
	const dim = 16
	rows := someRows(1, 500, dim)
	index := makeIndex(t, "Polar4", dim, rows)
	found := must(index.RangeSearch(background, rows[:2*dim], 1e9, everyRow(nil)))(t)
	ids, scores := found.Query(1)
	if len(found.IDs) != 1000 || len(ids) != 500 || len(scores) != 500 || ids[0] != 1 {
		t.Fatal(len(found.IDs), len(ids))
	}
	found = must(index.RangeSearch(background, rows[:2*dim], -1, nil))(t)
	if len(found.IDs) != 0 || len(found.Lims) != 3 {
		t.Fatal(found)
	}
	found = must(index.RangeSearch(background, nil, 1, nil))(t)
	if len(found.IDs) != 0 || len(found.Lims) != 1 {
		t.Fatal(found)
	}
}

func TestInvertedFiles(t *testing.T) {
	const dim = 16
	rows := someRows(1, 400, dim)
	index := must(NewIndex("IVF4,Polar4", dim, L2))(t)
	defer index.Close()
	if index.IsTrained() {
		t.Fatal("it is trained")
	}
	if err := index.Add(background, rows, nil); !errors.Is(err, ErrNotTrained) {
		t.Fatal(err)
	}
	check(t, index.TrainWithCentroids(background, rows[:4*dim], rows, nil))
	lists := make([]int64, 400)
	for i := range lists {
		lists[i] = int64(i % 4)
	}
	check(t, index.AddToLists(background, rows, countedIDs(0, 400), lists, nil))
	if index.NList() != 4 || index.NProbe() != 1 {
		t.Fatal(index.NList(), index.NProbe())
	}
	check(t, index.SetNProbe(3))
	if index.NProbe() != 3 {
		t.Fatal(index.NProbe())
	}
	text := must(index.Explain(1, 10, &SearchOptions{NProbe: 4}))(t)
	if !strings.Contains(text, "scan") {
		t.Fatal(text)
	}
	ids, _, err := index.Search(background, rows[9*dim:10*dim], 1, &SearchOptions{NProbe: 4})
	check(t, err)
	if ids[0] != 9 {
		t.Fatal(ids)
	}
	if size := must(index.CodeSize())(t); size <= 0 {
		t.Fatal(size)
	}
	if bytes := must(index.MemoryBytes())(t); bytes < 400*8 {
		t.Fatal(bytes)
	}
}

func TestMergeAndClone(t *testing.T) {
	const dim = 32
	rows := someRows(1, 300, dim)
	first := makeIndex(t, "Polar4", dim, rows[:200*dim])
	second := must(first.Clone())(t)
	defer second.Close()
	must(second.RemoveFiltered(IDRange{0, 1 << 40}))(t)
	check(t, second.AddWithIDs(background, rows[200*dim:], countedIDs(200, 100), nil))
	check(t, first.Merge(background, second, &WorkOptions{NumThreads: 1}))
	if first.Len() != 300 || second.Len() != 0 {
		t.Fatal(first.Len(), second.Len())
	}
	other := makeIndex(t, "Polar4", dim, rows[100*dim:])
	if err := first.Merge(background, other, nil); !errors.Is(err, ErrStateMismatch) && !errors.Is(err, ErrBadArgument) {
		t.Fatal(err)
	}
	if err := first.Merge(background, first, nil); !errors.Is(err, ErrBadArgument) {
		t.Fatal(err)
	}
	if err := first.Merge(background, nil, nil); !errors.Is(err, ErrBadArgument) {
		t.Fatal(err)
	}
}

func TestGraphsAndRefinements(t *testing.T) {
	const dim = 16
	rows := someRows(1, 200, dim)
	for _, c := range []struct {
		description string
		options     SearchOptions
	}{
		{"HNSW8,Polar4", SearchOptions{EFSearch: 100}},
		{"Polar2,RFlat", SearchOptions{KFactor: 10}},
	} {
		index := must(NewIndex(c.description, dim, L2))(t)
		check(t, index.Train(background, rows, nil))
		check(t, index.Add(background, rows, nil))
		ids, _, err := index.Search(background, rows[:dim], 1, &c.options)
		check(t, err)
		if ids[0] != 0 {
			t.Fatal(c.description, ids)
		}
		if _, _, err := index.Search(background, rows[:dim], 1, &SearchOptions{NProbe: 2}); !errors.Is(err, ErrUnsupported) {
			t.Fatal(err)
		}
		check(t, index.Close())
	}
}
