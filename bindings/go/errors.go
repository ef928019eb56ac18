// SPDX-License-Identifier: MIT

package polarquant

// #include <stdlib.h>
// #include "calls.h"
import "C"

import (
	"errors"
	"fmt"
	"math"
	"unsafe"
)

// Status is the cause of an [Error]. Each is an error itself, to be asked for by errors.Is.
type Status int32

// The causes of errors, with the numbers of the C header.
const (
	// ErrBadArgument: an argument is outside what is allowed.
	ErrBadArgument Status = C.POLAR_ERROR_BAD_ARGUMENT
	// ErrUnsupported: this build, this codec or this kind of index cannot do it.
	ErrUnsupported Status = C.POLAR_ERROR_UNSUPPORTED
	// ErrNotTrained: Train must come first.
	ErrNotTrained Status = C.POLAR_ERROR_NOT_TRAINED
	// ErrNotFound: no row has this id.
	ErrNotFound Status = C.POLAR_ERROR_NOT_FOUND
	// ErrStateMismatch: codes, queries or codecs of different states met.
	ErrStateMismatch Status = C.POLAR_ERROR_STATE_MISMATCH
	// ErrOutOfMemory: an allocation of the library's failed.
	ErrOutOfMemory Status = C.POLAR_ERROR_OUT_OF_MEMORY
	// ErrCorruptData: stored bytes are damaged, or not the library's.
	ErrCorruptData Status = C.POLAR_ERROR_CORRUPT_DATA
	// ErrNewerFormat: stored bytes are of a newer format than the library.
	ErrNewerFormat Status = C.POLAR_ERROR_NEWER_FORMAT
	// ErrIO: reading or writing failed.
	ErrIO Status = C.POLAR_ERROR_IO
	// ErrCUDA: a CUDA call failed.
	ErrCUDA Status = C.POLAR_ERROR_CUDA
	// ErrCancelled: the context was done before the call was.
	ErrCancelled Status = C.POLAR_ERROR_CANCELLED
	// ErrInternal: a bug in the library; please report it.
	ErrInternal Status = C.POLAR_ERROR_INTERNAL
)

// Error is the library's name of the status: "bad argument", "not trained", …
func (s Status) Error() string {
	return "polarquant: " + C.GoString(C.polar_status_name(C.polar_status(s)))
}

// ErrClosed is returned by methods of an object that was closed, or that no function of this
// package made.
var ErrClosed = errors.New("polarquant: the object is closed")

// Error is what a call that fails returns.
type Error struct {
	// Status is the cause. errors.Is(err, Status) tells it too.
	Status Status
	// Text says which argument was wrong, its value, and what is allowed.
	Text string
	// Cause is the error of a context, an io.Writer or an io.Reader that ended the call, or nil.
	Cause error
}

// Error is the text, after the name of the package.
func (e *Error) Error() string {
	if e.Cause != nil {
		return "polarquant: " + e.Text + ": " + e.Cause.Error()
	}
	return "polarquant: " + e.Text
}

// Is reports whether target is the error's [Status].
func (e *Error) Is(target error) bool {
	status, ok := target.(Status)
	return ok && status == e.Status
}

// Unwrap returns the Cause.
func (e *Error) Unwrap() error { return e.Cause }

// errorOf returns nil for a call that worked, else its error, and frees the text.
func errorOf(result C.polargo_result) error {
	if result.status == C.POLAR_OK {
		return nil
	}
	return errorBy(result, nil)
}

func errorBy(result C.polargo_result, cause error) error {
	status := Status(result.status)
	text := C.GoString(C.polar_status_name(result.status))
	if result.text != nil {
		text = C.GoString(result.text)
		C.free(unsafe.Pointer(result.text))
	}
	return &Error{Status: status, Text: text, Cause: cause}
}

// notAllowed is the error of an argument that this package refuses, in the library's words.
func notAllowed(name string, value any, allowed string) error {
	text := fmt.Sprintf("%s: %v is not allowed; %s", name, value, allowed)
	return &Error{Status: ErrBadArgument, Text: text}
}

// asInt32 is a number that the library takes in 32 bits, of which it checks the range itself.
func asInt32(name string, value int) (C.int32_t, error) {
	if int(int32(value)) != value {
		return 0, notAllowed(name, value, fmt.Sprintf("at most %d", math.MaxInt32))
	}
	return C.int32_t(value), nil
}
