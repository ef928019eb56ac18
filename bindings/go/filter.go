// SPDX-License-Identifier: MIT

package polarquant

// #include "calls.h"
import "C"

import (
	"runtime"
	"sort"
)

// Filter says which rows a search may return, or a removal takes, by id: a [Bitset], an [IDSet], an
// [IDRange], a [FilterFunc] or a [*PreparedFilter]. Rows that it leaves out cost next to nothing.
// The slices of one are read where they lie, and must not change during a call.
type Filter interface {
	// enter returns how C sees it. The user, unless nil, is to be released after the call.
	enter() (filter C.polargo_filter, user *handle, err error)
}

// Bitset keeps the ids whose bit is 1: bit id%64 of word id/64. Ids from 64·len on are left out.
type Bitset []uint64

// Set makes the bit of an id 1. It panics for an id that the bitset has no bit for.
func (b Bitset) Set(id int64) { b[id/64] |= 1 << (id % 64) }

func (b Bitset) enter() (filter C.polargo_filter, user *handle, err error) {
	filter.kind = C.POLAR_FILTER_BITSET
	filter.words, filter.count = wordsOf(b), C.int64_t(len(b))
	return filter, nil, nil
}

// IDSet keeps the ids it lists, ascending, without repeats. NewIDSet makes one of any ids.
type IDSet []int64

// NewIDSet returns the ids, in any order and repeated or not, as an IDSet of its own.
func NewIDSet(ids ...int64) IDSet {
	sorted := append(IDSet(nil), ids...)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i] < sorted[j] })
	kept := sorted[:0]
	for i, id := range sorted {
		if i == 0 || id != sorted[i-1] {
			kept = append(kept, id)
		}
	}
	return kept
}

func (s IDSet) enter() (filter C.polargo_filter, user *handle, err error) {
	filter.kind = C.POLAR_FILTER_IDS
	filter.ids, filter.count = idsOf(s), C.int64_t(len(s))
	return filter, nil, nil
}

// IDRange keeps the ids from First to before End; with an End of math.MaxInt64, all from First on.
type IDRange struct {
	First, End int64
}

func (r IDRange) enter() (filter C.polargo_filter, user *handle, err error) {
	filter.kind = C.POLAR_FILTER_RANGE
	filter._range = C.polar_id_range{first: C.int64_t(r.First), end: C.int64_t(r.End)}
	return filter, nil, nil
}

// FilterFunc keeps the ids for which it returns true. It is called for row after row, from any
// thread and from several at once, which is slow. It may search the index that is searched.
type FilterFunc func(id int64) bool

func (f FilterFunc) enter() (filter C.polargo_filter, user *handle, err error) {
	if f == nil {
		return filter, nil, notAllowed("filter", "a nil FilterFunc", "a function")
	}
	// The call that it is for adds its handle.
	filter.kind = C.POLAR_FILTER_CALLBACK
	return filter, nil, nil
}

// PreparedFilter is a filter for many searches. It has copies of its bits or ids, and keeps what
// searches found: which rows of an index it leaves. The first search of an index, and the first one
// after each change of its rows, finds that; those that follow need not. One serves any number of
// indexes and goroutines at once. Make one by [PrepareFilter], and Close it.
type PreparedFilter struct {
	handle handle
}

// PrepareFilter returns a filter that keeps what this one keeps now. [ErrBadArgument] for a
// FilterFunc, whose answers may change, a PreparedFilter, and nil.
func PrepareFilter(filter Filter) (*PreparedFilter, error) {
	if filter == nil {
		return nil, notAllowed("filter", "nil", "a Bitset, an IDSet or an IDRange")
	}
	given, user, err := filter.enter()
	if err != nil {
		return nil, err
	}
	if user != nil {
		defer user.release()
	}
	var out C.polargo_prepared_filter
	if err := errorOf(C.polargo_prepared_filter_create(given, &out)); err != nil {
		return nil, err
	}
	f := &PreparedFilter{}
	f.handle.set(uintptr(out), func(object uintptr) {
		C.polargo_prepared_filter_destroy(C.polargo_prepared_filter(object))
	})
	runtime.SetFinalizer(f, func(f *PreparedFilter) { f.handle.close() })
	return f, nil
}

// Close frees the filter, after the last search that uses it. It returns nil.
func (f *PreparedFilter) Close() error {
	if f.handle.close() {
		runtime.SetFinalizer(f, nil)
	}
	return nil
}

func (f *PreparedFilter) enter() (filter C.polargo_filter, user *handle, err error) {
	if f == nil {
		return filter, nil, notAllowed("filter", "a nil PreparedFilter", "one of PrepareFilter")
	}
	if err := f.handle.acquire(); err != nil {
		return filter, nil, err
	}
	filter.kind = C.POLAR_FILTER_PREPARED
	filter.prepared = C.polargo_prepared_filter(f.handle.object)
	return filter, &f.handle, nil
}
