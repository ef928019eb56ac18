// SPDX-License-Identifier: MIT

package polarquant

// #include "calls.h"
import "C"

import (
	"math"
	"runtime"
	"unsafe"
)

// CUDAEncoder is what encoding needs of a trained codec, in a device's memory. Immutable;
// goroutines encode by one at once.
type CUDAEncoder struct {
	handle    handle
	dim       int
	codeBytes int
}

// NewCUDAEncoder copies what encoding needs of a codec, "Polar0.5" to "Polar5" of more than 64
// dimensions, rotated as they are by default or with "-norot"; [ErrUnsupported] for others, and for
// rows too long for the device. The codec may change, or be closed, afterwards.
func NewCUDAEncoder(codec *Codec, options *CUDAOptions) (*CUDAEncoder, error) {
	e := &CUDAEncoder{}
	err := withCodec(codec, options, func(object C.polargo_codec, given C.polargo_cuda_options) error {
		var out C.polargo_cuda_encoder
		if err := errorOf(C.polargo_cuda_encoder_create(object, given, &out)); err != nil {
			return err
		}
		e.handle.set(uintptr(out), func(object uintptr) {
			C.polargo_cuda_encoder_destroy(C.polargo_cuda_encoder(object))
		})
		var err error
		e.codeBytes, err = encodedBytes(object, 1)
		return err
	})
	if err != nil {
		e.handle.close()
		return nil, err
	}
	e.dim = codec.dim
	runtime.SetFinalizer(e, func(e *CUDAEncoder) { e.handle.close() })
	return e, nil
}

// withCodec does a call that copies something of a codec to a device.
func withCodec(codec *Codec, options *CUDAOptions, do func(object C.polargo_codec, given C.polargo_cuda_options) error) error {
	if codec == nil {
		return notAllowed("codec", "nil", "a codec")
	}
	object, err := codec.use()
	if err != nil {
		return err
	}
	defer codec.leave()
	given, err := cudaOptions(options)
	if err != nil {
		return err
	}
	return do(object, given)
}

// Close frees the encoder, after the last call that uses it. It returns nil.
func (e *CUDAEncoder) Close() error {
	if e.handle.close() {
		runtime.SetFinalizer(e, nil)
	}
	return nil
}

// Encode is [Codec.Encode] on the device: the same bytes.
func (e *CUDAEncoder) Encode(rows []float32, stream CUDAStream) (Codes, error) {
	n, err := countRows("rows", rows, e.dim)
	if err != nil {
		return Codes{}, err
	}
	bytes, err := product("rows", e.codeBytes, n)
	if err != nil {
		return Codes{}, err
	}
	codes := Codes{Bytes: make([]byte, bytes), Rows: n}
	err = e.encode(n, floatsOf(rows), bytesOf(codes.Bytes), stream)
	if err != nil {
		return Codes{}, err
	}
	return codes, nil
}

// EncodeMemory codes n rows of n·dim floats at the address rows into memory of n codes at the address
// codes, each in the host's memory or in the device's, where the caller keeps it until the call
// returns. A wrong address or size is undefined behaviour.
func (e *CUDAEncoder) EncodeMemory(n int, rows, codes CUDAMemory, stream CUDAStream) error {
	return e.encode(n, floatsAt(rows), bytesAt(codes), stream)
}

func (e *CUDAEncoder) encode(n int, rows *C.float, codes *C.uint8_t, stream CUDAStream) error {
	if err := e.handle.acquire(); err != nil {
		return err
	}
	defer e.handle.release()
	if n > math.MaxInt/max(e.codeBytes, 1) {
		return notAllowed("n", n, "a number of rows whose codes fit into memory")
	}
	return errorOf(C.polargo_cuda_encoder_encode(C.polargo_cuda_encoder(e.handle.object), C.int64_t(n),
		rows, codes, C.size_t(n*e.codeBytes), C.uintptr_t(stream)))
}

// CUDACodec is what decoding needs of a trained codec, in a device's memory: scores and weighted sums
// of rows that the caller holds, by heads as attention has its keys and values. Immutable;
// goroutines use one at once. Numbers are the CPU's up to the rounding of floats, and the same from
// call to call.
type CUDACodec struct {
	handle handle
	dim    int
}

// NewCUDACodec copies what decoding needs of any codec but "PolarScalar…" by L2 where dim is no
// multiple of 128: [ErrUnsupported]. The codec may change, or be closed, afterwards.
func NewCUDACodec(codec *Codec, options *CUDAOptions) (*CUDACodec, error) {
	var out C.polargo_cuda_codec
	err := withCodec(codec, options, func(object C.polargo_codec, given C.polargo_cuda_options) error {
		return errorOf(C.polargo_cuda_codec_create(object, given, &out))
	})
	if err != nil {
		return nil, err
	}
	c := &CUDACodec{dim: codec.dim}
	c.handle.set(uintptr(out), func(object uintptr) {
		C.polargo_cuda_codec_destroy(C.polargo_cuda_codec(object))
	})
	runtime.SetFinalizer(c, func(c *CUDACodec) { c.handle.close() })
	return c, nil
}

// Close frees the copy, after the last call that uses it. It returns nil.
func (c *CUDACodec) Close() error {
	if c.handle.close() {
		runtime.SetFinalizer(c, nil)
	}
	return nil
}

// Score returns [Codec.Score] of the codes.Rows rows of each of heads heads, for the nq queries of
// that head: heads·nq·dim numbers in, heads·nq·Rows scores out. codes.Bytes are those of the heads,
// one after the other. heads and nq are 0 to 65535.
func (c *CUDACodec) Score(heads int, queries []float32, codes Codes, stream CUDAStream) ([]float32, error) {
	nq, err := c.countOfHead("queries", heads, queries, c.dim)
	if err != nil {
		return nil, err
	}
	n, err := product("Codes.Rows", heads*nq, max(codes.Rows, 0))
	if err != nil {
		return nil, err
	}
	scores := make([]float32, n)
	err = c.score(heads, nq, queries, codes.Rows, bytesOf(codes.Bytes), len(codes.Bytes), floatsOf(scores), stream)
	if err != nil {
		return nil, err
	}
	return scores, nil
}

// ScoreMemory is Score of codes of codesBytes bytes and into heads·nq·rows floats at these addresses,
// each in the host's memory or in the device's, where the caller keeps it until the call returns. A
// wrong address or size is undefined behaviour.
func (c *CUDACodec) ScoreMemory(heads int, queries []float32, rows int, codes CUDAMemory, codesBytes int, scores CUDAMemory, stream CUDAStream) error {
	nq, err := c.countOfHead("queries", heads, queries, c.dim)
	if err != nil {
		return err
	}
	return c.score(heads, nq, queries, rows, bytesAt(codes), codesBytes, floatsAt(scores), stream)
}

func (c *CUDACodec) score(heads, nq int, queries []float32, rows int, codes *C.uint8_t, codesBytes int, scores *C.float, stream CUDAStream) error {
	if err := c.handle.acquire(); err != nil {
		return err
	}
	defer c.handle.release()
	return errorOf(C.polargo_cuda_codec_score(C.polargo_cuda_codec(c.handle.object), C.int64_t(heads),
		C.int64_t(nq), floatsOf(queries), C.int64_t(rows), codes, C.size_t(codesBytes),
		C.uintptr_t(stream), scores))
}

// Combine returns [Codec.Combine] of the codes.Rows rows of each of heads heads, by the nw vectors of
// weights of that head: heads·nw·Rows numbers in, heads·nw·dim out. heads and nw are 0 to 65535.
func (c *CUDACodec) Combine(heads int, weights []float32, codes Codes, stream CUDAStream) ([]float32, error) {
	nw, err := c.countOfHead("weights", heads, weights, codes.Rows)
	if err != nil {
		return nil, err
	}
	return c.combine(heads, nw, floatsOf(weights), codes.Rows, bytesOf(codes.Bytes), len(codes.Bytes), stream)
}

// CombineMemory is Combine of heads·nw·rows floats and codes of codesBytes bytes at these addresses,
// each in the host's memory or in the device's, where the caller keeps it until the call returns. A
// wrong address or size is undefined behaviour.
func (c *CUDACodec) CombineMemory(heads, nw int, weights CUDAMemory, rows int, codes CUDAMemory, codesBytes int, stream CUDAStream) ([]float32, error) {
	return c.combine(heads, nw, floatsAt(weights), rows, bytesAt(codes), codesBytes, stream)
}

func (c *CUDACodec) combine(heads, nw int, weights *C.float, rows int, codes *C.uint8_t, codesBytes int, stream CUDAStream) ([]float32, error) {
	if err := c.handle.acquire(); err != nil {
		return nil, err
	}
	defer c.handle.release()
	if heads < 0 || heads > math.MaxUint16 || nw < 0 || nw > math.MaxUint16 {
		return nil, notAllowed("heads or vectors of weights", max(heads, nw), "0 to 65535")
	}
	n, err := product("weights", heads*nw, c.dim)
	if err != nil {
		return nil, err
	}
	out := make([]float32, n)
	err = errorOf(C.polargo_cuda_codec_combine(C.polargo_cuda_codec(c.handle.object), C.int64_t(heads),
		C.int64_t(nw), weights, C.int64_t(rows), codes, C.size_t(codesBytes), C.uintptr_t(stream),
		floatsOf(out)))
	if err != nil {
		return nil, err
	}
	return out, nil
}

// countOfHead is how many vectors of `size` numbers each head has.
func (c *CUDACodec) countOfHead(name string, heads int, x []float32, size int) (int, error) {
	if c.dim == 0 {
		return 0, ErrClosed
	}
	if heads < 1 || heads > math.MaxUint16 {
		return 0, notAllowed("heads", heads, "1 to 65535")
	}
	if size < 1 {
		return 0, notAllowed("Codes.Rows", size, "1 or more")
	}
	numbers, err := product("Codes.Rows", heads, size)
	if err != nil {
		return 0, err
	}
	return countRows(name, x, numbers)
}

func floatsAt(address CUDAMemory) *C.float { return (*C.float)(pointerTo(address)) }

func bytesAt(address CUDAMemory) *C.uint8_t { return (*C.uint8_t)(pointerTo(address)) }

// pointerTo is an address of memory that is not Go's, or that the caller keeps.
func pointerTo(address CUDAMemory) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&address))
}
