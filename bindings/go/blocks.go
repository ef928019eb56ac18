// SPDX-License-Identifier: MIT

package polarquant

// #include "calls.h"
import "C"

import (
	"context"
	"math"
	"sync"
	"unsafe"
)

// blockAlignment is where the library wants blocks to begin.
const blockAlignment = 64

// Blocks are codes in blocks of 64 rows, what searches read fastest, for programs that keep ids of
// their own. Rows are searched by position; codes go in and come out unchanged. The memory is Go's,
// so that there is nothing to close. Searches run side by side; changes wait for them. Functions that
// are passed to a search must not use the same blocks.
type Blocks struct {
	codec *Codec
	mutex sync.RWMutex
	rows  int
	data  []byte // begins on a boundary of blockAlignment
}

// NewBlocks returns blocks without rows, for codes of this codec, which must stay open:
// "Polar0.5" to "Polar8" and residual codes; [ErrUnsupported] for others.
func NewBlocks(codec *Codec) (*Blocks, error) {
	if codec == nil {
		return nil, notAllowed("codec", "nil", "a codec")
	}
	object, err := codec.use()
	if err != nil {
		return nil, err
	}
	defer codec.leave()
	b := &Blocks{codec: codec}
	if err := b.reserve(object, 0); err != nil {
		return nil, err
	}
	return b, nil
}

// Codec is whose codes they are.
func (b *Blocks) Codec() *Codec { return b.codec }

// Len is how many rows are held.
func (b *Blocks) Len() int {
	b.mutex.RLock()
	defer b.mutex.RUnlock()
	return b.rows
}

// MemoryBytes is how much memory they take, with that for further rows.
func (b *Blocks) MemoryBytes() int64 {
	b.mutex.RLock()
	defer b.mutex.RUnlock()
	return int64(len(b.data))
}

// change does a call on the codec's object and these blocks alone.
func (b *Blocks) change(do func(object C.polargo_codec) error) error {
	if b.codec == nil {
		return ErrClosed
	}
	object, err := b.codec.use()
	if err != nil {
		return err
	}
	defer b.codec.leave()
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return do(object)
}

// read does a call that leaves the blocks as they are.
func (b *Blocks) read(do func(object C.polargo_codec) error) error {
	if b.codec == nil {
		return ErrClosed
	}
	object, err := b.codec.use()
	if err != nil {
		return err
	}
	defer b.codec.leave()
	b.mutex.RLock()
	defer b.mutex.RUnlock()
	return do(object)
}

// held is how C sees the blocks.
func (b *Blocks) held() C.polar_blocks {
	return C.polar_blocks{rows: C.int64_t(b.rows), data: bytesOf(b.data), bytes: C.size_t(len(b.data))}
}

// reserve makes memory for that many rows; for a quarter more when it must grow.
func (b *Blocks) reserve(object C.polargo_codec, rows int) error {
	needed, err := blocksBytes(object, rows)
	if err != nil || needed <= len(b.data) {
		return err
	}
	if more := b.rows + b.rows/4; more > rows {
		if needed, err = blocksBytes(object, more); err != nil {
			return err
		}
	}
	memory := make([]byte, needed+blockAlignment)
	begin := int(-uintptr(unsafe.Pointer(&memory[0])) % blockAlignment)
	data := memory[begin : begin+needed : begin+needed]
	copy(data, b.data)
	b.data = data
	return nil
}

func blocksBytes(object C.polargo_codec, rows int) (int, error) {
	var bytes C.size_t
	if err := errorOf(C.polargo_blocks_bytes(object, C.int64_t(rows), &bytes)); err != nil {
		return 0, err
	}
	if uint64(bytes) > math.MaxInt/2 {
		return 0, &Error{Status: ErrOutOfMemory, Text: "the blocks are larger than memory"}
	}
	return int(bytes), nil
}

// Append adds coded rows after those held.
func (b *Blocks) Append(codes Codes) error {
	return b.change(func(object C.polargo_codec) error {
		// Before memory is made for so many rows.
		bytes, err := encodedBytes(object, codes.Rows)
		if err != nil {
			return err
		}
		if err := checkLength("Codes.Bytes", len(codes.Bytes), bytes); err != nil {
			return err
		}
		if err := b.reserve(object, b.rows+codes.Rows); err != nil {
			return err
		}
		var rows C.int64_t
		result := C.polargo_blocks_append(object, b.held(), C.int64_t(codes.Rows), bytesOf(codes.Bytes),
			C.size_t(len(codes.Bytes)), &rows)
		b.rows = int(rows)
		return errorOf(result)
	})
}

// Get returns the codes of count rows from row first on, exactly as they were packed.
func (b *Blocks) Get(first, count int) (codes Codes, err error) {
	err = b.read(func(object C.polargo_codec) error {
		if count < 0 || count > b.rows {
			return notAllowed("count", count, "0 to the rows held")
		}
		bytes, err := encodedBytes(object, count)
		if err != nil {
			return err
		}
		codes = Codes{Bytes: make([]byte, bytes), Rows: count}
		return errorOf(C.polargo_blocks_get(object, b.held(), C.int64_t(first), C.int64_t(count),
			bytesOf(codes.Bytes), C.size_t(len(codes.Bytes))))
	})
	if err != nil {
		return Codes{}, err
	}
	return codes, nil
}

// Overwrite puts the code of one row in the place of row `row`.
func (b *Blocks) Overwrite(row int, code []byte) error {
	return b.change(func(object C.polargo_codec) error {
		return errorOf(C.polargo_blocks_overwrite(object, b.held(), C.int64_t(row), bytesOf(code),
			C.size_t(len(code))))
	})
}

// Remove takes out the rows whose bit is 1; the others keep their order. Bits that are missing are 0;
// [ErrBadArgument] for more words than the rows need.
func (b *Blocks) Remove(removed Bitset) error {
	return b.change(func(object C.polargo_codec) error {
		words := (b.rows + 63) / 64
		if len(removed) > words {
			return notAllowed("removed", len(removed), "at most a word for each 64 rows held")
		}
		if len(removed) < words {
			removed = append(make(Bitset, 0, words), removed...)[:words]
		}
		var rows C.int64_t
		result := C.polargo_blocks_remove(object, b.held(), wordsOf(removed), &rows)
		b.rows = int(rows)
		return errorOf(result)
	})
}

// SwapRemove takes out row `row`, whose place the last one takes.
func (b *Blocks) SwapRemove(row int) error {
	return b.change(func(object C.polargo_codec) error {
		var rows C.int64_t
		result := C.polargo_blocks_swap_remove(object, b.held(), C.int64_t(row), &rows)
		b.rows = int(rows)
		return errorOf(result)
	})
}

// Search is [Codec.Search] of the rows held.
func (b *Blocks) Search(ctx context.Context, queries []float32, k int, options *SearchOptions) (ids []int64, scores []float32, err error) {
	if b.codec == nil {
		return nil, nil, ErrClosed
	}
	nq, err := countRows("queries", queries, b.codec.dim)
	if err != nil {
		return nil, nil, err
	}
	ids, scores, err = makeResults(nq, k, b.Len)
	if err != nil {
		return nil, nil, err
	}
	if err := b.SearchInto(ctx, queries, k, options, ids, scores); err != nil {
		return nil, nil, err
	}
	return ids, scores, nil
}

// SearchInto is [Codec.SearchInto] of the rows held.
func (b *Blocks) SearchInto(ctx context.Context, queries []float32, k int, options *SearchOptions, ids []int64, scores []float32) error {
	return b.read(func(object C.polargo_codec) error {
		nq, err := countRows("queries", queries, b.codec.dim)
		if err != nil {
			return err
		}
		if err := checkResults(nq, k, ids, scores); err != nil {
			return err
		}
		var search searchCall
		if err := search.start(ctx, options); err != nil {
			return err
		}
		return search.end(C.polargo_blocks_search(object, b.held(), C.int64_t(nq), floatsOf(queries),
			C.int64_t(k), search.options, floatsOf(scores), idsOf(ids)))
	})
}

// RangeSearch is [Codec.RangeSearch] of the rows held.
func (b *Blocks) RangeSearch(ctx context.Context, queries []float32, radius float32, options *SearchOptions) (found *RangeResult, err error) {
	err = b.read(func(object C.polargo_codec) error {
		nq, err := countRows("queries", queries, b.codec.dim)
		if err != nil {
			return err
		}
		var search searchCall
		if err := search.start(ctx, options); err != nil {
			return err
		}
		var result C.polargo_result
		found, result = collectRange(nq, func(r *RangeResult) C.polargo_result {
			return C.polargo_blocks_range_search(object, b.held(), C.int64_t(nq), floatsOf(queries),
				C.float(radius), search.options, C.int64_t(len(r.IDs)), idsOf(r.Lims), floatsOf(r.Scores),
				idsOf(r.IDs))
		})
		return search.end(result)
	})
	return found, err
}
