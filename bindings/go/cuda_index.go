// SPDX-License-Identifier: MIT

package polarquant

// #include "calls.h"
import "C"

import (
	"runtime"
)

// CUDAIndex is codes in the memory of one device or several, searched there: the CPU's rows and
// scores, to the bit. Immutable; goroutines search one at once.
type CUDAIndex struct {
	handle handle
	dim    int
}

// NewCUDAIndex copies an index that is one of "Polar0.5" to "Polar8" or a residual code, alone or in
// an inverted file ("IVF1024,Polar4"); [ErrUnsupported] for others. The index may change, or be
// closed, afterwards; the copy does not.
func NewCUDAIndex(index *Index, options *CUDAOptions) (*CUDAIndex, error) {
	if index == nil {
		return nil, notAllowed("index", "nil", "an index")
	}
	object, err := index.use()
	if err != nil {
		return nil, err
	}
	defer index.handle.release()
	given, err := cudaOptions(options)
	if err != nil {
		return nil, err
	}
	var out C.polargo_cuda_index
	if err := errorOf(C.polargo_cuda_index_from_index(object, given, &out)); err != nil {
		return nil, err
	}
	return adoptCUDAIndex(out, index.dim), nil
}

// NewCUDAIndexFromCodes copies codes; rows have their positions as ids. The codes are in memory twice
// meanwhile.
func NewCUDAIndexFromCodes(codec *Codec, codes Codes, options *CUDAOptions) (*CUDAIndex, error) {
	if codec == nil {
		return nil, notAllowed("codec", "nil", "a codec")
	}
	object, err := codec.use()
	if err != nil {
		return nil, err
	}
	defer codec.leave()
	given, err := cudaOptions(options)
	if err != nil {
		return nil, err
	}
	var out C.polargo_cuda_index
	result := C.polargo_cuda_index_from_codes(object, C.int64_t(codes.Rows), bytesOf(codes.Bytes),
		C.size_t(len(codes.Bytes)), given, &out)
	if err := errorOf(result); err != nil {
		return nil, err
	}
	return adoptCUDAIndex(out, codec.dim), nil
}

func adoptCUDAIndex(object C.polargo_cuda_index, dim int) *CUDAIndex {
	x := &CUDAIndex{dim: dim}
	x.handle.set(uintptr(object), func(object uintptr) {
		C.polargo_cuda_index_destroy(C.polargo_cuda_index(object))
	})
	runtime.SetFinalizer(x, func(x *CUDAIndex) { x.handle.close() })
	return x
}

// Close frees the copy, after the last call that uses it. It returns nil.
func (x *CUDAIndex) Close() error {
	if x.handle.close() {
		runtime.SetFinalizer(x, nil)
	}
	return nil
}

func (x *CUDAIndex) use() (C.polargo_cuda_index, error) {
	if err := x.handle.acquire(); err != nil {
		return 0, err
	}
	return C.polargo_cuda_index(x.handle.object), nil
}

// Dim is how many numbers a vector has.
func (x *CUDAIndex) Dim() int { return x.dim }

// Len is how many rows are held; 0 after Close.
func (x *CUDAIndex) Len() int {
	object, err := x.use()
	if err != nil {
		return 0
	}
	defer x.handle.release()
	return int(C.polargo_cuda_index_ntotal(object))
}

// MemoryBytes is how much memory of all devices it takes: codes, tables, and what searches keep to
// work in.
func (x *CUDAIndex) MemoryBytes() (int64, error) {
	object, err := x.use()
	if err != nil {
		return 0, err
	}
	defer x.handle.release()
	var bytes C.size_t
	err = errorOf(C.polargo_cuda_index_memory_bytes(object, &bytes))
	return int64(bytes), err
}

// Search is [Index.Search] on the device, which cannot be cancelled and tells no progress; queries
// and results are in the host's memory. EFSearch and KFactor are to be 0, and so is NProbe unless an
// inverted file was copied. An index on several devices takes the stream 0 alone.
func (x *CUDAIndex) Search(queries []float32, k int, options *SearchOptions, stream CUDAStream) (ids []int64, scores []float32, err error) {
	nq, err := countRows("queries", queries, x.dim)
	if err != nil {
		return nil, nil, err
	}
	ids, scores, err = makeResults(nq, k, x.Len)
	if err != nil {
		return nil, nil, err
	}
	if err := x.SearchInto(queries, k, options, stream, ids, scores); err != nil {
		return nil, nil, err
	}
	return ids, scores, nil
}

// SearchInto is Search into the caller's slices, of nq·k elements or more each. After an error they
// hold nothing of use.
func (x *CUDAIndex) SearchInto(queries []float32, k int, options *SearchOptions, stream CUDAStream, ids []int64, scores []float32) error {
	object, err := x.use()
	if err != nil {
		return err
	}
	defer x.handle.release()
	nq, err := countRows("queries", queries, x.dim)
	if err != nil {
		return err
	}
	if err := checkResults(nq, k, ids, scores); err != nil {
		return err
	}
	var search searchCall
	if err := search.start(nil, options); err != nil {
		return err
	}
	return search.end(C.polargo_cuda_index_search(object, C.int64_t(nq), floatsOf(queries),
		C.int64_t(k), search.options, C.uintptr_t(stream), floatsOf(scores), idsOf(ids)))
}
