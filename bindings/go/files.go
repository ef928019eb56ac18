// SPDX-License-Identifier: MIT

package polarquant

// #include <stdlib.h>
// #include "calls.h"
import "C"

import (
	"io"
	"runtime/cgo"
)

// LoadOptions say how an index is loaded. nil is the defaults.
type LoadOptions struct {
	// MemoryMap leaves rows of the library's codes, flat and in inverted files, in the file, which is
	// mapped to memory; the index cannot be changed, and its rows are verified when they are first
	// used. The file may be removed or replaced meanwhile, but not be written to or cut short, which
	// ends the process. Not for ReadIndex.
	MemoryMap bool
	// TrustFAISS gives parts of FAISS's own ("IVF1024,Flat", "HNSW32,Flat", "PQ16") to FAISS's reader
	// unchecked: for files from whom you trust, since others can end the process, or worse. Without
	// it they are refused with [ErrUnsupported], and whatever a file says, it gives an index that
	// works or an error.
	TrustFAISS bool
}

// SaveOptions say how an index is saved. nil is the defaults.
type SaveOptions struct {
	// Verify reads the whole file back before it takes its name, and refuses it with
	// [ErrCorruptData] unless it makes an index of as many rows. The index is in memory twice
	// meanwhile.
	Verify bool
}

// Save writes the index to a file: rows, ids, what was trained, parameters. The file appears whole
// or not at all; after a failure one of that name is as it was, unless the error says that the new
// one is in place. A symbolic link stays, and what it names is made or replaced. [ErrIO] where the
// system refuses, [ErrUnsupported] where FAISS cannot write the index.
func (x *Index) Save(path string, options *SaveOptions) error {
	object, err := x.use()
	if err != nil {
		return err
	}
	defer x.handle.release()
	text, err := closedText("path", path)
	if err != nil {
		return err
	}
	return errorOf(C.polargo_index_save(object, text, asBool(options != nil && options.Verify)))
}

// WriteTo writes the bytes of Save's file to w, and returns how many it took. The error of w is the
// cause of an [ErrIO].
func (x *Index) WriteTo(w io.Writer) (int64, error) {
	object, err := x.use()
	if err != nil {
		return 0, err
	}
	defer x.handle.release()
	funcs := &callbacks{writer: w}
	handle := cgo.NewHandle(funcs)
	defer handle.Delete()
	result := C.polargo_index_save_to(object, C.uintptr_t(handle))
	funcs.endCall(result)
	if result.status != C.POLAR_OK {
		return funcs.bytes, errorBy(result, funcs.err)
	}
	return funcs.bytes, nil
}

// Load returns the index of a file of Save, made on any machine. Nothing in the file is trusted:
// [ErrCorruptData], [ErrNewerFormat], [ErrUnsupported], [ErrIO].
func Load(path string, options *LoadOptions) (*Index, error) {
	text, err := closedText("path", path)
	if err != nil {
		return nil, err
	}
	if options == nil {
		options = &LoadOptions{}
	}
	var out C.polargo_index
	result := C.polargo_index_load(text, asBool(options.MemoryMap), asBool(options.TrustFAISS), &out)
	if err := errorOf(result); err != nil {
		return nil, err
	}
	return adoptIndex(out)
}

// ReadIndex is Load from the bytes that r gives; none after the index is read. The error of r is the
// cause of an [ErrIO].
func ReadIndex(r io.Reader, options *LoadOptions) (*Index, error) {
	if options == nil {
		options = &LoadOptions{}
	}
	funcs := &callbacks{reader: r}
	handle := cgo.NewHandle(funcs)
	defer handle.Delete()
	var out C.polargo_index
	result := C.polargo_index_load_from(C.uintptr_t(handle), asBool(options.MemoryMap),
		asBool(options.TrustFAISS), &out)
	funcs.endCall(result)
	if result.status != C.POLAR_OK {
		return nil, errorBy(result, funcs.err)
	}
	return adoptIndex(out)
}

// Verify reads all that a memory-mapped index has in its file: [ErrCorruptData] unless it is what
// was saved. Other indexes were verified when they were loaded.
func (x *Index) Verify() error {
	object, err := x.use()
	if err != nil {
		return err
	}
	defer x.handle.release()
	return errorOf(C.polargo_index_verify(object))
}
