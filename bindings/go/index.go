// SPDX-License-Identifier: MIT

package polarquant

// #include "calls.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// Index stores vectors as codes, and finds the k nearest to a query.
//
// Searches run beside each other, and beside changes where they can: while rows are coded for an
// index that is one code alone or an inverted file of one. They see all of a change or nothing of
// it. Changes run one at a time.
type Index struct {
	handle      handle
	dim         int
	metric      Metric
	description string
}

// NewIndex returns an empty index. description is a code alone ("Polar2"), a FAISS factory string
// with one in it ("PCA128,Polar4", "IVF1024,Polar4", "Polar2,RFlat"), or any FAISS factory string.
// dim is 1 to 65535. [ErrBadArgument] for others, [ErrUnsupported] where the library was built
// without FAISS.
func NewIndex(description string, dim int, metric Metric) (*Index, error) {
	text, err := closedText("description", description)
	if err != nil {
		return nil, err
	}
	numbers, err := asInt32("dim", dim)
	if err != nil {
		return nil, err
	}
	var out C.polargo_index
	result := C.polargo_index_create(text, numbers, C.polar_metric(metric), &out)
	if err := errorOf(result); err != nil {
		return nil, err
	}
	return adoptIndex(out)
}

// adoptIndex returns the index that owns this object of the library.
func adoptIndex(object C.polargo_index) (*Index, error) {
	var info C.polar_index_info
	info.struct_size = C.uint32_t(unsafe.Sizeof(info))
	if err := errorOf(C.polargo_index_get_info(object, &info)); err != nil {
		C.polargo_index_destroy(object)
		return nil, err
	}
	x := &Index{dim: int(info.dim), metric: Metric(info.metric)}
	x.description = readText(func(buffer *C.char, capacity C.size_t) C.size_t {
		return C.polargo_index_description(object, buffer, capacity)
	})
	x.handle.set(uintptr(object), func(object uintptr) {
		C.polargo_index_destroy(C.polargo_index(object))
	})
	runtime.SetFinalizer(x, func(x *Index) { x.handle.close() })
	return x, nil
}

// Close frees the index, after the last call that uses it. It returns nil.
func (x *Index) Close() error {
	if x.handle.close() {
		runtime.SetFinalizer(x, nil)
	}
	return nil
}

// use enters a call, which is to end by x.handle.release.
func (x *Index) use() (C.polargo_index, error) {
	if err := x.handle.acquire(); err != nil {
		return 0, err
	}
	return C.polargo_index(x.handle.object), nil
}

// Description is the factory string that the index was made from.
func (x *Index) Description() string { return x.description }

// Dim is how many numbers a vector has.
func (x *Index) Dim() int { return x.dim }

// Metric is how nearness is measured.
func (x *Index) Metric() Metric { return x.metric }

// Len is how many rows are held; 0 after Close.
func (x *Index) Len() int {
	object, err := x.use()
	if err != nil {
		return 0
	}
	defer x.handle.release()
	return int(C.polargo_index_ntotal(object))
}

// IsTrained reports whether rows can be added; false when Train must come first, and after Close.
func (x *Index) IsTrained() bool {
	object, err := x.use()
	if err != nil {
		return false
	}
	defer x.handle.release()
	return C.polargo_index_is_trained(object) != 0
}

// NList is how many lists an inverted file has; 0 for other indexes, and after Close.
func (x *Index) NList() int {
	object, err := x.use()
	if err != nil {
		return 0
	}
	defer x.handle.release()
	return int(C.polargo_index_nlist(object))
}

// NProbe is how many lists of an inverted file are searched for each query where the options name
// no number: 1 in a new index. Files keep it. 0 for other indexes, and after Close.
func (x *Index) NProbe() int {
	object, err := x.use()
	if err != nil {
		return 0
	}
	defer x.handle.release()
	return int(C.polargo_index_nprobe(object))
}

// SetNProbe sets NProbe to 1 or more; beyond the lists there are, all are searched.
// [ErrUnsupported] for an index that is no inverted file.
func (x *Index) SetNProbe(nprobe int) error {
	object, err := x.use()
	if err != nil {
		return err
	}
	defer x.handle.release()
	return errorOf(C.polargo_index_set_nprobe(object, C.int64_t(nprobe)))
}

// CodeSize is how many bytes a row's code takes, without ids and graph links. [ErrUnsupported]
// where rows share codes, or FAISS does not tell.
func (x *Index) CodeSize() (int, error) {
	object, err := x.use()
	if err != nil {
		return 0, err
	}
	defer x.handle.release()
	var bytes C.size_t
	err = errorOf(C.polargo_index_code_size(object, &bytes))
	return int(bytes), err
}

// MemoryBytes is how much memory the index takes: codes, ids, what was trained; not what lies in a
// mapped file.
func (x *Index) MemoryBytes() (int64, error) {
	object, err := x.use()
	if err != nil {
		return 0, err
	}
	defer x.handle.release()
	var bytes C.size_t
	err = errorOf(C.polargo_index_memory_bytes(object, &bytes))
	return int64(bytes), err
}

// Clone returns an index like this one, in memory, which can be changed.
func (x *Index) Clone() (*Index, error) {
	object, err := x.use()
	if err != nil {
		return nil, err
	}
	defer x.handle.release()
	var out C.polargo_index
	if err := errorOf(C.polargo_index_clone(object, &out)); err != nil {
		return nil, err
	}
	return adoptIndex(out)
}

// Reconstruct returns the stored form of the row with this id, dim numbers; normalized for Cosine.
// [ErrNotFound] for an id that no row has, [ErrUnsupported] for an index that keeps no way back from
// id to row ("IDMap,…" where "IDMap2,…" does).
func (x *Index) Reconstruct(id int64) ([]float32, error) {
	row := make([]float32, x.dim)
	if err := x.ReconstructInto(id, row); err != nil {
		return nil, err
	}
	return row, nil
}

// ReconstructInto is Reconstruct into a slice of dim numbers.
func (x *Index) ReconstructInto(id int64, row []float32) error {
	object, err := x.use()
	if err != nil {
		return err
	}
	defer x.handle.release()
	if err := checkLength("row", len(row), x.dim); err != nil {
		return err
	}
	return errorOf(C.polargo_index_reconstruct(object, C.int64_t(id), floatsOf(row)))
}
