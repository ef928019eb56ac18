// SPDX-License-Identifier: MIT

//go:build linux

package main

// #include <malloc.h>
import "C"

// allocatedBytes is how much of C's memory is in use.
func allocatedBytes() int64 {
	info := C.mallinfo2()
	return int64(info.uordblks) + int64(info.hblkhd)
}
