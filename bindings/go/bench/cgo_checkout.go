// SPDX-License-Identifier: MIT

//go:build polarquant_checkout

package main

// The library of the repository that this package lies in, built into build/. What CGO_CFLAGS and
// CGO_LDFLAGS name comes before it.

// #cgo CFLAGS: -I${SRCDIR}/../../../include
// #cgo LDFLAGS: -L${SRCDIR}/../../../build/lib -lpolarquant -Wl,-rpath,${SRCDIR}/../../../build/lib
import "C"
