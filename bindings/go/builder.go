// SPDX-License-Identifier: MIT

package polarquant

// #include "calls.h"
import "C"

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// BuilderOptions say how a [Builder] works. nil is the defaults.
type BuilderOptions struct {
	// MemoryBytes is the memory for rows of a part, 1 MiB or more; 0 is 1 GiB. What was trained, and
	// the floats of a call, come on top; leave as much again to the process.
	MemoryBytes int64
	// Replace has NewBuilder remove the parts of an earlier build, which it refuses else.
	Replace bool
}

// Builder makes an index file from rows that come in any number of calls, of more than memory holds.
//
// Rows are coded in an index in memory; when it has taken MemoryBytes, it is written as a part to the
// folder "PATH.parts" and emptied. Finish merges the parts: the file has the bytes that one index of
// all rows would be saved as. A build that ended before that, by Close, an error or a kill, goes on by
// [ResumeBuilder], after the rows of whole parts.
//
// Changes run one at a time, in whatever order goroutines come; a Progress function must not change
// the builder that calls it. Len and Written never wait, and tell what the last change left.
type Builder struct {
	handle  handle
	dim     int
	mutex   sync.Mutex // held by a change
	rows    atomic.Int64
	written atomic.Int64
}

// NewBuilder begins the file at path with rows coded as index codes them: a trained one without rows,
// of which a copy is kept. An index file at path stays as it is until the new one is whole.
//
// index is of one of the library's codes, alone ("Polar4") or in an inverted file
// ("IVF1024,Polar4"), also after vector transforms, in id maps and in refinements by such codes
// ("Polar2,Refine(Polar8)"); [ErrUnsupported] for graphs and FAISS's kinds. [ErrNotTrained] for one
// that was not trained, also where training is optional, since parts would learn from different
// rows. [ErrBadArgument] where the folder has parts of an earlier build, [ErrIO] while another
// builder, of another process too, has it.
func NewBuilder(index *Index, path string, options *BuilderOptions) (*Builder, error) {
	if index == nil {
		return nil, notAllowed("index", "nil", "an index")
	}
	object, err := index.use()
	if err != nil {
		return nil, err
	}
	defer index.handle.release()
	text, err := closedText("path", path)
	if err != nil {
		return nil, err
	}
	var out C.polargo_builder
	result := C.polargo_builder_create(object, text, builderOptions(options), &out)
	if err := errorOf(result); err != nil {
		return nil, err
	}
	return adoptBuilder(out), nil
}

// ResumeBuilder goes on with the build whose parts lie beside path, after the rows of whole parts,
// which Len tells. [ErrNotFound] where there is none; [ErrCorruptData] names a part that is missing,
// damaged where it is looked at, or of another build.
func ResumeBuilder(path string, options *BuilderOptions) (*Builder, error) {
	text, err := closedText("path", path)
	if err != nil {
		return nil, err
	}
	var out C.polargo_builder
	if err := errorOf(C.polargo_builder_resume(text, builderOptions(options), &out)); err != nil {
		return nil, err
	}
	return adoptBuilder(out), nil
}

func builderOptions(options *BuilderOptions) C.polargo_builder_options {
	if options == nil {
		return C.polargo_builder_options{}
	}
	return C.polargo_builder_options{
		replace:      asBool(options.Replace),
		memory_bytes: C.int64_t(options.MemoryBytes),
	}
}

// adoptBuilder returns the builder that owns this object of the library.
func adoptBuilder(object C.polargo_builder) *Builder {
	b := &Builder{dim: int(C.polargo_builder_dim(object))}
	b.handle.set(uintptr(object), func(object uintptr) {
		C.polargo_builder_destroy(C.polargo_builder(object))
	})
	b.count(object)
	runtime.SetFinalizer(b, func(b *Builder) { b.handle.close() })
	return b
}

// Close frees the builder, after the last call that uses it. Parts that were written stay; rows that
// were not are lost. It returns nil.
func (b *Builder) Close() error {
	if b.handle.close() {
		runtime.SetFinalizer(b, nil)
	}
	return nil
}

// Dim is how many numbers a vector has.
func (b *Builder) Dim() int { return b.dim }

// Len is how many rows were added, those of an earlier process's parts too.
func (b *Builder) Len() int { return int(b.rows.Load()) }

// Written is how many of them lie in whole parts: these stay when the process ends now.
func (b *Builder) Written() int { return int(b.written.Load()) }

// Add adds n rows, n·dim numbers, with ids Len, Len + 1, … After an error, in writing a part too, Len
// says how many of them are in.
func (b *Builder) Add(ctx context.Context, rows []float32, options *WorkOptions) error {
	n, err := countRows("rows", rows, b.dim)
	if err != nil {
		return err
	}
	return b.work(ctx, options, func(object C.polargo_builder, work C.polargo_work) C.polargo_result {
		return C.polargo_builder_add(object, C.int64_t(n), floatsOf(rows), work)
	})
}

// AddWithIDs is Add with ids of the caller's, one a row, each 0 or more. One that comes twice is
// found here within a part, and else by Finish: [ErrBadArgument]. A builder takes rows with ids or
// rows without, not both.
func (b *Builder) AddWithIDs(ctx context.Context, rows []float32, ids []int64, options *WorkOptions) error {
	n, err := countRows("rows", rows, b.dim)
	if err != nil {
		return err
	}
	if err := checkLength("ids", len(ids), n); err != nil {
		return err
	}
	return b.work(ctx, options, func(object C.polargo_builder, work C.polargo_work) C.polargo_result {
		return C.polargo_builder_add_with_ids(object, C.int64_t(n), floatsOf(rows), idsOf(ids), work)
	})
}

// WritePart writes the rows in memory as a part, as before a stop that is to lose none.
func (b *Builder) WritePart() error {
	return b.work(nil, nil, func(object C.polargo_builder, _ C.polargo_work) C.polargo_result {
		return C.polargo_builder_write_part(object)
	})
}

// Finish writes the index file, as [MergeFiles] does, and removes the folder of parts. Later changes
// fail with [ErrStateMismatch]. After an error, or the end of ctx, the parts are there still, and it
// can be called again.
func (b *Builder) Finish(ctx context.Context, options *WorkOptions) error {
	return b.work(ctx, options, func(object C.polargo_builder, work C.polargo_work) C.polargo_result {
		return C.polargo_builder_finish(object, work)
	})
}

// work does a change, alone.
func (b *Builder) work(ctx context.Context, options *WorkOptions,
	do func(object C.polargo_builder, work C.polargo_work) C.polargo_result) error {
	if err := b.handle.acquire(); err != nil {
		return err
	}
	defer b.handle.release()
	b.mutex.Lock()
	defer b.mutex.Unlock()
	object := C.polargo_builder(b.handle.object)
	var c call
	work, err := c.startWork(ctx, options)
	if err != nil {
		return err
	}
	// Also after a panic of Progress.
	defer b.count(object)
	return c.end(do(object, work))
}

func (b *Builder) count(object C.polargo_builder) {
	b.rows.Store(int64(C.polargo_builder_ntotal(object)))
	b.written.Store(int64(C.polargo_builder_written(object)))
}
