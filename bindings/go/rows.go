// SPDX-License-Identifier: MIT

package polarquant

// #include "calls.h"
import "C"

import (
	"fmt"
	"math/bits"
	"strings"
	"unsafe"
)

// countRows is the number of rows of dim numbers that a flat slice holds. dim is 0 in an object that
// no function of this package made.
func countRows(name string, x []float32, dim int) (int, error) {
	if dim == 0 {
		return 0, ErrClosed
	}
	n := len(x) / dim
	if n*dim != len(x) {
		return 0, notAllowed(name, fmt.Sprintf("%d numbers", len(x)), fmt.Sprintf("a multiple of %d", dim))
	}
	return n, nil
}

// checkLength refuses a slice of another length than is wanted.
func checkLength(name string, length, wanted int) error {
	if length != wanted {
		return notAllowed(name, fmt.Sprintf("a length of %d", length), fmt.Sprint(wanted))
	}
	return nil
}

// product is a·b, both 0 or more, of elements of at most 8 bytes.
func product(name string, a, b int) (int, error) {
	high, low := bits.Mul64(uint64(a), uint64(b))
	const most = 1 << (bits.UintSize - 5)
	if high != 0 || low > most {
		return 0, notAllowed(name, b, fmt.Sprintf("at most %d for %d", most/max(a, 1), a))
	}
	return int(low), nil
}

func max(a, b int) int {
	if a > b {
		return a
	}
	return b
}

// The addresses of slices, as C takes them; that of an empty one is NULL.

func floatsOf(x []float32) *C.float {
	if len(x) == 0 {
		return nil
	}
	return (*C.float)(unsafe.Pointer(&x[0]))
}

func idsOf(x []int64) *C.int64_t {
	if len(x) == 0 {
		return nil
	}
	return (*C.int64_t)(unsafe.Pointer(&x[0]))
}

func bytesOf(x []byte) *C.uint8_t {
	if len(x) == 0 {
		return nil
	}
	return (*C.uint8_t)(unsafe.Pointer(&x[0]))
}

func wordsOf(x []uint64) *C.uint64_t {
	if len(x) == 0 {
		return nil
	}
	return (*C.uint64_t)(unsafe.Pointer(&x[0]))
}

// closedText is a text as C takes it, closed by 0.
func closedText(name, text string) (*C.char, error) {
	if strings.IndexByte(text, 0) >= 0 {
		return nil, notAllowed(name, fmt.Sprintf("%q", text), "a text without the byte 0")
	}
	closed := append([]byte(text), 0)
	return (*C.char)(unsafe.Pointer(&closed[0])), nil
}

// closedTexts are texts one after the other, each closed by 0; NULL for none.
func closedTexts(name string, texts []string) (*C.char, error) {
	var closed []byte
	for _, text := range texts {
		if _, err := closedText(name, text); err != nil {
			return nil, err
		}
		closed = append(append(closed, text...), 0)
	}
	if len(closed) == 0 {
		return nil, nil
	}
	return (*C.char)(unsafe.Pointer(&closed[0])), nil
}

// readText is a text that the library copies.
func readText(copyInto func(buffer *C.char, capacity C.size_t) C.size_t) string {
	length := int(copyInto(nil, 0))
	for {
		buffer := make([]byte, length+1)
		needed := int(copyInto((*C.char)(unsafe.Pointer(&buffer[0])), C.size_t(len(buffer))))
		if needed <= length {
			return string(buffer[:needed])
		}
		length = needed
	}
}

// asBool is a bool as C takes it.
func asBool(b bool) C.int32_t {
	if b {
		return 1
	}
	return 0
}
