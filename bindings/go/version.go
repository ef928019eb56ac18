// SPDX-License-Identifier: MIT

package polarquant

// #include "calls.h"
import "C"

// Version is the version of the library that runs, "0.1.0".
func Version() string { return C.GoString(C.polar_version_string()) }

// VersionNumber is that version as major·10000 + minor·100 + patch.
func VersionNumber() int { return int(C.polar_version()) }

// SpecHelp is a text that lists every code's name, meaning and an example.
func SpecHelp() string {
	return readText(func(buffer *C.char, capacity C.size_t) C.size_t {
		return C.polar_spec_help(buffer, capacity)
	})
}
