// SPDX-License-Identifier: MIT

package polarquant

// #include "calls.h"
import "C"

import (
	"context"
	"runtime/cgo"
	"sync/atomic"
	"time"
)

// WorkOptions say how a call works that trains, encodes, adds, scores or the like. nil is the
// defaults.
type WorkOptions struct {
	// NumThreads is 0 to 1024; 0 is OpenMP's default.
	NumThreads int
	// Progress, unless nil, is told now and then what share of the work is done, 0 to 1, as far as
	// that is known.
	Progress func(done float64)
}

// call is what one call of the library needs beside its arguments: how it is stopped, and the
// functions of the caller's that it may call.
type call struct {
	ctx context.Context
	// stop is read by C until the call returns.
	stop    *int32
	watcher *time.Timer
	ended   chan struct{}
	funcs   *callbacks
	handle  cgo.Handle
}

// start begins a call. After nil was returned, end must be called.
func (c *call) start(ctx context.Context, progress func(float64), keep func(int64) bool) error {
	c.ctx = ctx
	if ctx != nil && ctx.Done() != nil {
		if err := ctx.Err(); err != nil {
			return &Error{Status: ErrCancelled, Text: "the call was cancelled", Cause: err}
		}
		c.stopWhenDone(ctx)
	}
	if progress != nil || keep != nil {
		if c.stop == nil {
			c.stop = new(int32)
		}
		c.funcs = &callbacks{progress: progress, keep: keep, stop: c.stop}
		c.handle = cgo.NewHandle(c.funcs)
	}
	return nil
}

// watchDelay is how long a call runs before its context is watched, so that short calls need no
// goroutine for that.
const watchDelay = time.Millisecond

// stopWhenDone leaves it to C to look whether the call is to stop: asking Go from a thread that is
// not Go's costs more than most searches.
func (c *call) stopWhenDone(ctx context.Context) {
	stop, ended := new(int32), make(chan struct{})
	c.stop, c.ended = stop, ended
	c.watcher = time.AfterFunc(watchDelay, func() {
		select {
		case <-ctx.Done():
			atomic.StoreInt32(stop, 1)
		case <-ended:
		}
	})
}

// watch is what C looks at.
func (c *call) watch() C.polargo_watch {
	watch := C.polargo_watch{stop: (*C.int32_t)(c.stop)}
	if c.funcs != nil && c.funcs.progress != nil {
		watch.callbacks = C.uintptr_t(c.handle)
	}
	return watch
}

// end ends the call that start began. It panics as a function of the caller's did.
func (c *call) end(result C.polargo_result) error {
	if c.watcher != nil && !c.watcher.Stop() {
		close(c.ended)
	}
	if c.funcs != nil {
		c.handle.Delete()
		c.funcs.endCall(result)
	}
	if result.status == C.POLAR_OK {
		return nil
	}
	if Status(result.status) == ErrCancelled && c.ctx != nil {
		return errorBy(result, c.ctx.Err())
	}
	return errorBy(result, nil)
}

// startWork begins a call with these options.
func (c *call) startWork(ctx context.Context, options *WorkOptions) (C.polargo_work, error) {
	if options == nil {
		options = &WorkOptions{}
	}
	threads, err := asInt32("NumThreads", options.NumThreads)
	if err != nil {
		return C.polargo_work{}, err
	}
	if err := c.start(ctx, options.Progress, nil); err != nil {
		return C.polargo_work{}, err
	}
	return C.polargo_work{num_threads: threads, watch: c.watch()}, nil
}
