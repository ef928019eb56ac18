// SPDX-License-Identifier: MIT

package polarquant

// #include "calls.h"
import "C"

import (
	"context"
	"runtime"
	"sync"
	"unsafe"
)

// CodecOptions say how a codec is made. nil, and each field that is 0, is the default.
type CodecOptions struct {
	// Seed is that of the random rotation; 0: the default, 1.
	Seed uint64
	// Centre is dim numbers; nil: learned by Train, or 0 where KeepCentre is set.
	Centre []float32
	// KeepCentre leaves the centre as it is when the codec is trained.
	KeepCentre bool
	// NormUnit is a typical distance of a row from the centre, 2^-40 to 2^40; 0: learned, 1 before.
	NormUnit float64
}

// Codec turns vectors into codes that the caller stores, and scores and searches codes. It holds no
// vectors. Goroutines use one at once; Train waits for them, and they for Train. Functions that are
// passed to a call must not use the same codec.
type Codec struct {
	handle handle
	// change is held by Train alone; the library leaves that to its caller.
	change sync.RWMutex
	dim    int
	metric Metric
	spec   string
}

// Codes are the codes of Rows rows, one after the other, as [Codec.Encode] makes them. They are plain
// bytes, the same on every machine: code_bytes for each row ([CodecInfo.CodeBytes]), to be stored,
// cut and joined by row. "PolarPair…g128" codes groups of 128 rows.
type Codes struct {
	Bytes []byte
	Rows  int
}

// NewCodec returns a codec. spec is "Polar2", "Polar4+2-dense", "PolarTree4.2.2.2", …: [SpecHelp]
// lists all. dim is 1 to 65535. [ErrBadArgument] for others.
func NewCodec(spec string, dim int, metric Metric, options *CodecOptions) (*Codec, error) {
	if options == nil {
		options = &CodecOptions{}
	}
	text, err := closedText("spec", spec)
	if err != nil {
		return nil, err
	}
	numbers, err := asInt32("dim", dim)
	if err != nil {
		return nil, err
	}
	if options.Centre != nil {
		if err := checkLength("Centre", len(options.Centre), dim); err != nil {
			return nil, err
		}
	}
	var out C.polargo_codec
	result := C.polargo_codec_create(text, numbers, C.polar_metric(metric), C.uint64_t(options.Seed),
		asBool(!options.KeepCentre), C.double(options.NormUnit), floatsOf(options.Centre), &out)
	if err := errorOf(result); err != nil {
		return nil, err
	}
	return adoptCodec(out)
}

// LoadCodec returns the codec of a state of SaveState. [ErrCorruptData], [ErrNewerFormat] for bytes
// that are none.
func LoadCodec(state []byte) (*Codec, error) {
	var out C.polargo_codec
	result := C.polargo_codec_load_state(bytesOf(state), C.size_t(len(state)), &out)
	if err := errorOf(result); err != nil {
		return nil, err
	}
	return adoptCodec(out)
}

func adoptCodec(object C.polargo_codec) (*Codec, error) {
	var info C.polar_codec_info
	info.struct_size = C.uint32_t(unsafe.Sizeof(info))
	if err := errorOf(C.polargo_codec_get_info(object, &info)); err != nil {
		C.polargo_codec_destroy(object)
		return nil, err
	}
	c := &Codec{dim: int(info.dim), metric: Metric(info.metric)}
	c.spec = readText(func(buffer *C.char, capacity C.size_t) C.size_t {
		return C.polargo_codec_spec(object, buffer, capacity)
	})
	c.handle.set(uintptr(object), func(object uintptr) {
		C.polargo_codec_destroy(C.polargo_codec(object))
	})
	runtime.SetFinalizer(c, func(c *Codec) { c.handle.close() })
	return c, nil
}

// Close frees the codec, after the last call that uses it. It returns nil.
func (c *Codec) Close() error {
	if c.handle.close() {
		runtime.SetFinalizer(c, nil)
	}
	return nil
}

// use enters a call beside others, which is to end by leave.
func (c *Codec) use() (C.polargo_codec, error) {
	if err := c.handle.acquire(); err != nil {
		return 0, err
	}
	c.change.RLock()
	return C.polargo_codec(c.handle.object), nil
}

func (c *Codec) leave() {
	c.change.RUnlock()
	c.handle.release()
}

// Spec is the codec's name, in canonical form.
func (c *Codec) Spec() string { return c.spec }

// Dim is how many numbers a vector has.
func (c *Codec) Dim() int { return c.dim }

// Metric is how scores are measured.
func (c *Codec) Metric() Metric { return c.metric }

// Train learns the centre, the unit and, where the codec has them, codebooks from n ≥ 1 rows, n·dim
// numbers, a sample of what will be encoded. Optional for most codecs, required for "PolarPair…",
// "PolarTree…-online" and "…-pca", which needs 2·dim rows, better 10·dim. [ErrStateMismatch] once
// this codec has encoded anything.
func (c *Codec) Train(ctx context.Context, rows []float32, options *WorkOptions) error {
	if err := c.handle.acquire(); err != nil {
		return err
	}
	defer c.handle.release()
	c.change.Lock()
	defer c.change.Unlock()
	n, err := countRows("rows", rows, c.dim)
	if err != nil {
		return err
	}
	var work call
	given, err := work.startWork(ctx, options)
	if err != nil {
		return err
	}
	return work.end(C.polargo_codec_train(C.polargo_codec(c.handle.object), C.int64_t(n), floatsOf(rows), given))
}

// SaveState returns everything that decides the bytes of codes, for [LoadCodec].
func (c *Codec) SaveState() ([]byte, error) {
	object, err := c.use()
	if err != nil {
		return nil, err
	}
	defer c.leave()
	var needed C.size_t
	if err := errorOf(C.polargo_codec_save_state(object, nil, 0, &needed)); err != nil {
		return nil, err
	}
	state := make([]byte, int(needed))
	err = errorOf(C.polargo_codec_save_state(object, bytesOf(state), C.size_t(len(state)), &needed))
	if err != nil {
		return nil, err
	}
	return state, nil
}

// CheckSameState returns nil when codes of both codecs mix, else [ErrStateMismatch]; the text names
// what differs.
func (c *Codec) CheckSameState(other *Codec) error {
	if other == nil {
		return notAllowed("other", "nil", "a codec")
	}
	object, err := c.use()
	if err != nil {
		return err
	}
	defer c.leave()
	if other == c {
		return nil
	}
	second, err := other.use()
	if err != nil {
		return err
	}
	defer other.leave()
	return errorOf(C.polargo_codec_check_same_state(object, second))
}
