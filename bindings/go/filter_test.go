// SPDX-License-Identifier: MIT

package polarquant

import (
	"errors"
	"math"
	"reflect"
	"sync/atomic"
	"testing"
)

func TestFiltersKeepTheSameRows(t *testing.T) {
	const dim, n = 32, 200
	rows := someRows(1, n, dim)
	index := makeIndex(t, "Polar4", dim, rows)
	bits := make(Bitset, 2)
	var set IDSet
	for id := int64(60); id < 90; id++ {
		bits.Set(id)
		set = append(set, id)
	}
	prepared := must(PrepareFilter(bits))(t)
	defer prepared.Close()
	var calls atomic.Int64
	filters := map[string]Filter{
		"range": IDRange{60, 90},
		"bits":  bits,
		"ids":   set,
		"function": FilterFunc(func(id int64) bool {
			calls.Add(1)
			return id >= 60 && id < 90
		}),
		"prepared": prepared,
	}
	wanted, _, err := index.Search(background, rows[:4*dim], 40, everyRow(IDRange{60, 90}))
	check(t, err)
	if wanted[29] < 60 || wanted[30] != -1 {
		t.Fatal(wanted)
	}
	for name, filter := range filters {
		found, _, err := index.Search(background, rows[:4*dim], 40, everyRow(filter))
		check(t, err)
		if !reflect.DeepEqual(found, wanted) {
			t.Errorf("%s keeps %v", name, found)
		}
	}
	if calls.Load() == 0 {
		t.Error("the function was not called")
	}
	for name, filter := range filters {
		clone := must(index.Clone())(t)
		if removed := must(clone.RemoveFiltered(filter))(t); removed != 30 || clone.Len() != n-30 {
			t.Errorf("%s removes %d", name, removed)
		}
		check(t, clone.Close())
	}
}

func TestIDSetsAreSorted(t *testing.T) {
	if set := NewIDSet(5, 3, 5, 1, 3); !reflect.DeepEqual(set, IDSet{1, 3, 5}) {
		t.Fatal(set)
	}
	if set := NewIDSet(); len(set) != 0 {
		t.Fatal(set)
	}
	index := makeIndex(t, "Polar4", 8, someRows(1, 10, 8))
	_, _, err := index.Search(background, make([]float32, 8), 1, everyRow(IDSet{3, 1}))
	if !errors.Is(err, ErrBadArgument) {
		t.Fatal(err)
	}
	if ids, _, err := index.Search(background, make([]float32, 8), 1, everyRow(IDSet{})); err != nil || ids[0] != -1 {
		t.Fatal(ids, err)
	}
	if ids, _, err := index.Search(background, make([]float32, 8), 1, everyRow(Bitset{})); err != nil || ids[0] != -1 {
		t.Fatal(ids, err)
	}
	if ids, _, err := index.Search(background, make([]float32, 8), 10, everyRow(IDRange{4, math.MaxInt64})); err != nil || ids[5] == -1 || ids[6] != -1 {
		t.Fatal(ids, err)
	}
}

func TestFiltersThatAreNone(t *testing.T) {
	index := makeIndex(t, "Polar4", 8, someRows(1, 10, 8))
	closed := must(PrepareFilter(IDRange{0, 5}))(t)
	check(t, closed.Close())
	check(t, closed.Close())
	for _, c := range []struct {
		filter Filter
		wanted error
	}{
		{FilterFunc(nil), ErrBadArgument}, {(*PreparedFilter)(nil), ErrBadArgument}, {closed, ErrClosed},
		{&PreparedFilter{}, ErrClosed},
	} {
		if _, _, err := index.Search(background, make([]float32, 8), 1, everyRow(c.filter)); !errors.Is(err, c.wanted) {
			t.Errorf("%#v: %v", c.filter, err)
		}
		if _, err := PrepareFilter(c.filter); err == nil {
			t.Errorf("%#v can be prepared", c.filter)
		}
	}
	if _, err := PrepareFilter(nil); !errors.Is(err, ErrBadArgument) {
		t.Error(err)
	}
	if _, err := PrepareFilter(FilterFunc(func(int64) bool { return true })); !errors.Is(err, ErrBadArgument) {
		t.Error(err)
	}
	if _, err := index.RemoveFiltered(nil); !errors.Is(err, ErrBadArgument) {
		t.Error(err)
	}
}

func TestFilterFunctionMayUseTheIndex(t *testing.T) {
	const dim = 16
	rows := someRows(1, 50, dim)
	index := makeIndex(t, "Polar4", dim, rows)
	keep := FilterFunc(func(id int64) bool {
		ids, _, err := index.Search(background, rows[id*dim:(id+1)*dim], 1, &SearchOptions{NumThreads: 1})
		if err != nil || ids[0] != id {
			t.Error(ids, err)
		}
		if err := index.Add(background, rows, nil); err == nil {
			t.Error("a change inside a search")
		}
		return id == 7
	})
	ids, _, err := index.Search(background, rows[:dim], 1, everyRow(keep))
	check(t, err)
	if ids[0] != 7 {
		t.Fatal(ids)
	}
}
