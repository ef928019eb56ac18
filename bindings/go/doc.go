// SPDX-License-Identifier: MIT

// Package polarquant compresses embedding vectors and searches the codes without decoding them.
//
// Two levels. A [Codec] turns vectors into codes that the caller stores, and scores such codes. An
// [Index], made from a factory string such as "Polar4" or "IVF1024,Polar4", stores the codes itself.
// [Advise] measures which code suits a sample of vectors. The types named CUDA… work on GPUs. A
// [Builder] makes an index file of more rows than memory holds, [MergeFiles] one of several, and
// [OpenShards] searches several as one. [MergePartials] makes the answer of parts that
// several processes search.
//
// # Vectors
//
// Vectors are float32 in one flat slice, row after row: n rows of dim numbers are a slice of n·dim,
// and a length that is no multiple of dim is refused with [ErrBadArgument]. The C library reads the
// slice where it lies; it is never copied, and not kept after the call. Numbers must be finite.
//
// # Errors
//
// A call that fails returns an [*Error] with the library's text, and has changed nothing.
// errors.Is tells causes apart: errors.Is(err, polarquant.ErrNotTrained). A method of a closed
// object returns [ErrClosed].
//
// # Memory
//
// Objects hold memory of the C library, which Go's garbage collector does not see. Close frees it;
// an object that is not closed is freed by its finalizer some time after it became unreachable.
// Close may be called more than once, and while other goroutines use the object: their calls go on
// to their ends, the last one frees the memory, and new calls return [ErrClosed].
//
// # Goroutines
//
// All methods of all types may be called by several goroutines at once. Searches run side by side;
// what changes an object waits for those that read it where it must. Different objects never wait
// for one another. The library computes with OpenMP's threads, by default as many as there are
// processors, and OpenMP keeps some for each thread of the system that goroutines call it from. Where
// many goroutines search at once, a NumThreads of 1 serves more of them.
//
// # Long calls
//
// What may take long has a [context.Context] as its first argument and ends soon after that is
// done, with an error that is [ErrCancelled] and the context's own; nothing has changed then.
// context.Background costs nothing. A Progress function in the options is told how far the call is.
// Functions that are passed in run inside the call of the library, on any thread: they must not
// call runtime.Goexit, and a panic in one ends the call and goes on in its caller.
package polarquant
