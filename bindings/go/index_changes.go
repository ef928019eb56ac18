// SPDX-License-Identifier: MIT

package polarquant

// #include "calls.h"
import "C"

import "context"

// Train learns what the index needs from n ≥ 1 rows, n·dim numbers, forgetting what it learned
// before. An inverted file needs a row for each list, better 39. [ErrStateMismatch] once it holds
// rows, but for those that it still keeps as floats (see Add), which are coded then.
func (x *Index) Train(ctx context.Context, rows []float32, options *WorkOptions) error {
	return x.work(ctx, "rows", rows, options, func(object C.polargo_index, n C.int64_t, work C.polargo_work) C.polargo_result {
		return C.polargo_index_train(object, n, floatsOf(rows), work)
	})
}

// TrainWithCentroids is Train with lists that were made elsewhere: centroids, NList·dim numbers,
// become the lists' as they are, and the code is trained on rows. For inverted files of one code
// ("IVF1024,Polar4", "IVF1024_HNSW32,Polar2"); [ErrUnsupported] for others.
func (x *Index) TrainWithCentroids(ctx context.Context, centroids, rows []float32, options *WorkOptions) error {
	return x.work(ctx, "rows", rows, options, func(object C.polargo_index, n C.int64_t, work C.polargo_work) C.polargo_result {
		return C.polargo_index_train_with_centroids(object, C.int64_t(len(centroids)/x.dim),
			floatsOf(centroids), n, floatsOf(rows), work)
	}, floatCheck{"centroids", centroids})
}

// Add adds n rows, n·dim numbers, with ids Len, Len + 1, … Where a row is refused, none is added.
//
// An index of one of the library's codes that was not trained keeps its rows as floats, and searches
// them exactly, until they are 1,000: from these, and from all others of the Add that brings them
// there, it learns its codes' centre and unit, and codes them. So recall does not depend on the
// pieces in which rows come. [ErrBadArgument] in an index whose rows have ids of the caller's,
// [ErrNotTrained] where Train must come first.
func (x *Index) Add(ctx context.Context, rows []float32, options *WorkOptions) error {
	return x.work(ctx, "rows", rows, options, func(object C.polargo_index, n C.int64_t, work C.polargo_work) C.polargo_result {
		return C.polargo_index_add(object, n, floatsOf(rows), work)
	})
}

// AddWithIDs is Add with ids of the caller's, one a row, each 0 or more and not in the index yet. An
// index takes rows with ids or rows without, not both. [ErrUnsupported] for a FAISS index that takes
// none; ",IDMap2" after its description gives it ids.
func (x *Index) AddWithIDs(ctx context.Context, rows []float32, ids []int64, options *WorkOptions) error {
	return x.work(ctx, "rows", rows, options, func(object C.polargo_index, n C.int64_t, work C.polargo_work) C.polargo_result {
		return C.polargo_index_add_with_ids(object, n, floatsOf(rows), idsOf(ids), work)
	}, idCheck{"ids", ids})
}

// AddToLists is AddWithIDs into lists of the caller's choice, one a row, each 0 to NList − 1, in the
// place of those whose centroids are nearest. For the indexes of TrainWithCentroids.
func (x *Index) AddToLists(ctx context.Context, rows []float32, ids, lists []int64, options *WorkOptions) error {
	return x.work(ctx, "rows", rows, options, func(object C.polargo_index, n C.int64_t, work C.polargo_work) C.polargo_result {
		return C.polargo_index_add_to_lists(object, n, floatsOf(rows), idsOf(ids), idsOf(lists), work)
	}, idCheck{"ids", ids}, idCheck{"lists", lists})
}

// Update codes rows, n·dim numbers, in the place of the rows with these n ids; of equal ids the last
// counts. [ErrNotFound] when an id is not in the index, [ErrUnsupported] unless the index is one of
// the library's codes, also in id maps, or an inverted file of one, also after vector transforms.
func (x *Index) Update(ctx context.Context, ids []int64, rows []float32, options *WorkOptions) error {
	return x.work(ctx, "rows", rows, options, func(object C.polargo_index, n C.int64_t, work C.polargo_work) C.polargo_result {
		return C.polargo_index_update(object, n, idsOf(ids), floatsOf(rows), work)
	}, idCheck{"ids", ids})
}

// Upsert is Update that adds the rows whose ids are not in the index. For an index whose rows have
// ids of the caller's; [ErrUnsupported] for id maps too.
func (x *Index) Upsert(ctx context.Context, ids []int64, rows []float32, options *WorkOptions) error {
	return x.work(ctx, "rows", rows, options, func(object C.polargo_index, n C.int64_t, work C.polargo_work) C.polargo_result {
		return C.polargo_index_upsert(object, n, idsOf(ids), floatsOf(rows), work)
	}, idCheck{"ids", ids})
}

// Remove removes the rows with these ids, in any order, and returns how many went; ids that are not
// held are passed over. Rows without ids of the caller's are numbered anew, from 0; where an index
// cannot do that (inverted files, id maps), and where it cannot remove at all (FAISS's NSG and packed
// lists), [ErrUnsupported].
func (x *Index) Remove(ids []int64) (removed int, err error) {
	object, err := x.use()
	if err != nil {
		return 0, err
	}
	defer x.handle.release()
	var count C.int64_t
	err = errorOf(C.polargo_index_remove(object, C.int64_t(len(ids)), idsOf(ids), &count))
	return int(count), err
}

// RemoveFiltered removes the rows that a search with this filter would find among, and returns how
// many went. [ErrBadArgument] for nil. A FilterFunc that panics removes the rows that it had kept
// before.
func (x *Index) RemoveFiltered(filter Filter) (removed int, err error) {
	object, err := x.use()
	if err != nil {
		return 0, err
	}
	defer x.handle.release()
	var search searchCall
	if err := search.start(context.Background(), &SearchOptions{Filter: filter}); err != nil {
		return 0, err
	}
	var count C.int64_t
	err = search.end(C.polargo_index_remove_filtered(object, search.options.filter, &count))
	return int(count), err
}

// Merge moves all rows of another index after those of this one; other is empty afterwards and stays
// usable. Ids of the caller's stay and must differ, other rows are numbered on. Both must be made
// and trained alike: [ErrStateMismatch], with the part that differs, when their codes do not mix
// (train before sharding, or give all shards one state by Clone). [ErrUnsupported] for kinds whose
// rows cannot be moved: graphs, refinements, FAISS's packed lists. An error leaves both as they
// were.
func (x *Index) Merge(ctx context.Context, other *Index, options *WorkOptions) error {
	if other == nil {
		return notAllowed("other", "nil", "an index")
	}
	from, err := other.use()
	if err != nil {
		return err
	}
	defer other.handle.release()
	return x.work(ctx, "rows", nil, options, func(object C.polargo_index, _ C.int64_t, work C.polargo_work) C.polargo_result {
		return C.polargo_index_merge(object, from, work)
	})
}

// rowCheck is a slice of which the length belongs to that of n rows of dim numbers.
type rowCheck interface {
	check(n, dim int) error
}

type idCheck struct {
	name string
	ids  []int64
}

func (c idCheck) check(n, dim int) error { return checkLength(c.name, len(c.ids), n) }

type floatCheck struct {
	name string
	rows []float32
}

func (c floatCheck) check(n, dim int) error {
	_, err := countRows(c.name, c.rows, dim)
	return err
}

// work does a long call on the index with n rows, after checks of all lengths.
func (x *Index) work(ctx context.Context, name string, rows []float32, options *WorkOptions,
	do func(object C.polargo_index, n C.int64_t, work C.polargo_work) C.polargo_result, others ...rowCheck) error {
	object, err := x.use()
	if err != nil {
		return err
	}
	defer x.handle.release()
	n, err := countRows(name, rows, x.dim)
	if err != nil {
		return err
	}
	for _, other := range others {
		if err := other.check(n, x.dim); err != nil {
			return err
		}
	}
	var c call
	work, err := c.startWork(ctx, options)
	if err != nil {
		return err
	}
	return c.end(do(object, C.int64_t(n), work))
}
