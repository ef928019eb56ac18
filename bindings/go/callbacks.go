// SPDX-License-Identifier: MIT

package polarquant

// #include <stdlib.h>
// #include "calls.h"
import "C"

import (
	"io"
	"runtime/cgo"
	"sync"
	"sync/atomic"
	"unsafe"
)

// callbacks are the functions of the caller's that one call of the library may call, from any of
// its threads. What one panics with is kept until the call has returned, since the library's
// frames cannot be unwound.
type callbacks struct {
	progress func(float64)
	keep     func(int64) bool
	writer   io.Writer
	reader   io.Reader
	// bytes were written or read; only one thread does that.
	bytes int64
	// err is what writer or reader returned.
	err error

	// stop, unless nil, ends the call once it is 1.
	stop     *int32
	mutex    sync.Mutex
	panicked bool
	value    any
}

// guard keeps a panic of the function that is deferred with it, and stops the call.
func (c *callbacks) guard(done *bool) {
	if *done {
		return
	}
	value := recover()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !c.panicked {
		c.panicked, c.value = true, value
	}
	if c.stop != nil {
		atomic.StoreInt32(c.stop, 1)
	}
}

// endCall panics as a function did.
func (c *callbacks) endCall(result C.polargo_result) {
	if c.panicked {
		C.free(unsafe.Pointer(result.text))
		panic(c.value)
	}
}

//export polargoProgress
func polargoProgress(handle C.uintptr_t, share C.double) (stops C.int32_t) {
	c := cgo.Handle(handle).Value().(*callbacks)
	done := false
	stops = 1 // after a panic, which may come when nobody looks at stop any more
	defer c.guard(&done)
	c.progress(float64(share))
	done = true
	return C.int32_t(atomic.LoadInt32(c.stop))
}

//export polargoKeep
func polargoKeep(handle C.uintptr_t, id C.int64_t) C.int32_t {
	c := cgo.Handle(handle).Value().(*callbacks)
	if atomic.LoadInt32(c.stop) != 0 {
		return 0
	}
	done := false
	defer c.guard(&done)
	keeps := c.keep(int64(id))
	done = true
	if keeps {
		return 1
	}
	return 0
}

//export polargoWrite
func polargoWrite(handle C.uintptr_t, data unsafe.Pointer, bytes C.size_t) (failed C.int32_t) {
	c := cgo.Handle(handle).Value().(*callbacks)
	done := false
	failed = 1
	defer c.guard(&done)
	n, err := c.writer.Write(unsafe.Slice((*byte)(data), int(bytes)))
	done = true
	c.bytes += int64(n)
	if err == nil && n != int(bytes) {
		err = io.ErrShortWrite
	}
	if err != nil {
		c.err = err
		return 1
	}
	return 0
}

//export polargoRead
func polargoRead(handle C.uintptr_t, data unsafe.Pointer, bytes C.size_t) (count C.int64_t) {
	c := cgo.Handle(handle).Value().(*callbacks)
	done := false
	count = -1
	defer c.guard(&done)
	buffer := unsafe.Slice((*byte)(data), int(bytes))
	n, err := 0, error(nil)
	if len(buffer) > 0 {
		n, err = io.ReadAtLeast(c.reader, buffer, 1)
	}
	done = true
	c.bytes += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
		return -1
	}
	return C.int64_t(n)
}
